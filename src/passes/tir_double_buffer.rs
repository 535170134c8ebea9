//! `tir-double-buffer`: loads the next tile while the current one is computed on.
//!
//! In a loop without loops in it, each load that is waited for in the same iteration gets a buffer
//! of two halves. The first tile is loaded before the loop; an iteration waits for its own tile,
//! starts to load the next one into the other half, and computes. The last iteration has nothing
//! more to load, so it stands behind the loop. Loads of tiles that the pool has no room for twice
//! stay where they are: large tiles come first.

use crate::{
    ir::{self, Blk, Builder, Op, Val, edit, memref, tir, view::OpView},
    pass::{OptionValues, Pass, PassError, PassOptions},
    tile::{
        attribute::pools_of,
        halves::{
            Map, Transfer, copy, index_constant, insert_results, is_in, loop_with, pool_of, view,
        },
        pool::Pool,
        room::Rooms,
    },
};
use melior::ir::{ValueLike, operation::OperationLike};

crate::pass_options! {
    /// Options of `tir-double-buffer`.
    pub struct Options {
        enable: bool = "true", "Enable the pass, for targets with an option for it";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "tir-double-buffer",
    summary: "Load the next tile while the current one is computed on",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["arith", "memref", "scf", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    if !options.enable {
        return Ok(());
    }
    let pools = pools_of(function).map_err(|error| PassError::at(&function, error))?;
    // The list is made first: with a loop goes its body, of which nothing may be touched. A loop
    // around it is not transformed.
    let loops: Vec<_> =
        edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "scf.for").collect();
    let rooms = Rooms::of(function, &pools);
    for op in loops {
        let Some(mut stream) = Stream::of(op, &pools) else { continue };
        // The others are waited for, as the choice of tiles takes it.
        stream.loads = rooms.twice(op, stream.loads, |load| load.alloc);
        if !stream.loads.is_empty() {
            stream.transform()?;
        }
    }
    Ok(())
}

/// A loop with loads that can run ahead.
struct Stream<'c, 'p> {
    pools: &'p [Pool],
    loops: Op<'c>,
    body: Blk<'c>,
    count: i64,
    loads: Vec<Transfer<'c>>,
}

impl<'c, 'p> Stream<'c, 'p> {
    fn of(loops: Op<'c>, pools: &'p [Pool]) -> Option<Self> {
        let operands = ir::operands(loops);
        let bound = |index: usize| index_constant(*operands.get(index)?);
        let (0, count, 1) = (bound(0)?, bound(1)?, bound(2)?) else { return None };
        let body = edit::entry_block(loops)?;
        let ops = ir::ops(body);
        if operands.len() != 3 || count < 2 || ops.iter().any(|op| op.region_count() > 0) {
            return None;
        }
        // Each pool has channels of its own.
        let channel = |start: &tir::DmaStart<'c>| {
            let ends = [start.source(), start.target()];
            let pool = ends.iter().find_map(|end| memref::space(end.r#type()));
            Some((pool, start.static_channel()?))
        };
        let used: Vec<_> =
            ops.iter().filter_map(|op| channel(&tir::DmaStart::of(*op)?)).collect();
        // A transfer that runs through the whole loop has its channel to itself.
        let alone = |load: &Transfer<'c>| {
            let channel = channel(&load.start);
            channel.is_some_and(|channel| used.iter().filter(|c| **c == channel).count() == 1)
        };
        // Of several tiles of one buffer there is memory for two, not for two and those that follow.
        let sources: Vec<_> = ops
            .iter()
            .filter_map(|op| tir::DmaStart::of(*op))
            .map(|start| memref::base(start.source()))
            .collect();
        let single = |load: &Transfer<'c>| {
            let source = memref::base(load.start.source());
            sources.iter().filter(|other| **other == source).count() == 1
        };
        // The memory of a pool that says no to this is used up by single tiles.
        let allowed = |load: &Transfer<'c>| {
            let buffer = ir::result0(load.alloc).ok();
            let pool = buffer.and_then(|buffer| pool_of(pools, buffer.r#type()));
            pool.is_none_or(|pool| pool.dma.double_buffer)
        };
        let loads: Vec<_> = ops
            .iter()
            .filter_map(|op| tir::DmaStart::of(*op))
            .filter_map(|start| Transfer::of(start, (start.target(), start.source()), body))
            .filter(|load| alone(load) && single(load) && allowed(load))
            .collect();
        let stored: Vec<_> = ops
            .iter()
            .filter_map(|op| tir::DmaStart::of(*op))
            .map(|start| memref::base(start.target()))
            .collect();
        let reads_stored = |load: &Transfer<'c>| stored.contains(&memref::base(load.start.source()));
        (!loads.is_empty() && !loads.iter().any(reads_stored)).then_some(Self {
            pools,
            loops,
            body,
            count,
            loads,
        })
    }

    fn transform(&self) -> Result<(), PassError<'c>> {
        let before = Builder::before(self.loops)?;
        let mut buffers = vec![];
        for load in &self.loads {
            buffers.push(load.buffer(&before, self.pools)?);
        }
        let zero = before.index(0)?;
        let first = self.start_loads(&before, zero, zero, &buffers)?;
        let rest = self.build_loop(&before, &first, &buffers)?;
        let last = before.index(self.count - 1)?;
        for token in ir::results(rest) {
            tir::DmaWait::build(&before, token, &[])?;
        }
        let half = before.index((self.count - 1) % 2)?;
        self.compute(&before, last, half, &buffers)?;
        edit::erase(self.loops);
        Ok(())
    }

    /// The loop of all iterations but the last, which carries the loads under way.
    fn build_loop(
        &self,
        before: &Builder<'c>,
        first: &[Val<'c>],
        buffers: &[Val<'c>],
    ) -> crate::Result<Op<'c>> {
        loop_with(before, (0, self.count - 1), first, |b, arguments| {
            let iv = arguments[0];
            for token in &arguments[1..] {
                tir::DmaWait::build(b, *token, &[])?;
            }
            let next = b.binary("arith.addi", iv, b.index(1)?)?;
            let two = b.index(2)?;
            let other = b.binary("arith.remui", next, two)?;
            let tokens = self.start_loads(b, next, other, buffers)?;
            let half = b.binary("arith.remui", iv, two)?;
            self.compute(b, iv, half, buffers)?;
            Ok(tokens)
        })
    }

    /// One half of a buffer, in the shape of the tile.
    fn half(
        &self,
        b: &Builder<'c>,
        load: &Transfer<'c>,
        buffer: Val<'c>,
        half: Val<'c>,
    ) -> crate::Result<Val<'c>> {
        let tile = ir::result0(load.alloc)?.r#type();
        view(b, self.pools, (tile, tile), (buffer, half))
    }

    /// Starts the loads of iteration `iv` into halves.
    fn start_loads(
        &self,
        b: &Builder<'c>,
        iv: Val<'c>,
        half: Val<'c>,
        buffers: &[Val<'c>],
    ) -> crate::Result<Vec<Val<'c>>> {
        let mut map = self.map(iv);
        let mut tokens = vec![];
        for (load, buffer) in self.loads.iter().zip(buffers) {
            self.copy_address(b, load.start.source(), &mut map)?;
            for array in load.start.with() {
                self.copy_address(b, array, &mut map)?;
            }
            let whole = ir::result0(load.alloc)?;
            let target = load.start.target();
            let tile = view(b, self.pools, (whole.r#type(), target.r#type()), (*buffer, half))?;
            map.insert(ir::id(target), tile);
            tokens.push(ir::result0(copy(b, load.start.op(), &map)?)?);
        }
        Ok(tokens)
    }

    /// Copies the operations in the loop that `value` is computed by.
    fn copy_address(
        &self,
        b: &Builder<'c>,
        value: Val<'c>,
        map: &mut Map<'c>,
    ) -> crate::Result<()> {
        let here = edit::defining_op(value).filter(|op| is_in(*op, self.body));
        let Some(op) = here.filter(|_| !map.contains_key(&ir::id(value))) else { return Ok(()) };
        for operand in ir::operands(op) {
            self.copy_address(b, operand, map)?;
        }
        let new = copy(b, op, map)?;
        insert_results(map, op, new);
        Ok(())
    }

    /// Copies the operations of an iteration except its loads.
    fn compute(
        &self,
        b: &Builder<'c>,
        iv: Val<'c>,
        half: Val<'c>,
        buffers: &[Val<'c>],
    ) -> crate::Result<()> {
        let mut map = self.map(iv);
        for (load, buffer) in self.loads.iter().zip(buffers) {
            map.insert(ir::id(ir::result0(load.alloc)?), self.half(b, load, *buffer, half)?);
        }
        for op in ir::ops(self.body) {
            let replaced = self.loads.iter().any(|load| {
                [Some(load.alloc), load.part, Some(load.start.op()), Some(load.wait)]
                    .iter()
                    .flatten()
                    .any(|old| edit::same(*old, op))
            });
            if !replaced && ir::op_name(op) != "scf.yield" {
                let new = copy(b, op, &map)?;
                insert_results(&mut map, op, new);
            }
        }
        Ok(())
    }

    fn map(&self, iv: Val<'c>) -> Map<'c> {
        edit::arguments(self.body).first().map(|old| (ir::id(*old), iv)).into_iter().collect()
    }
}
