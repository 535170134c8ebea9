//! `tir-double-buffer`: loads the next tile while the current one is computed on.
//!
//! In a loop without loops in it, each load that is waited for in the same iteration gets a buffer
//! of two halves. The first tile is loaded before the loop; an iteration waits for its own tile,
//! starts to load the next one into the other half, and computes. The last iteration has nothing
//! more to load, so it stands behind the loop.

use crate::{
    Error,
    ir::{self, Blk, Builder, Op, OpSpec, Val, edit, memref, tir, view::OpView},
    pass::{OptionValues, Pass, PassError, PassOptions},
    tile::plan::Pool,
};
use melior::ir::{
    Region, Type, ValueLike, attribute::DenseI32ArrayAttribute, block::BlockLike,
    operation::OperationLike,
};
use std::collections::HashMap;

crate::pass_options! {
    /// Options of `tir-double-buffer`.
    pub struct Options {
        enable: bool = "true", "Whether to do anything, for targets that make it an option";
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

/// What halves of buffers start at multiples of, in bytes, where no pool says so.
const HALF_ALIGNMENT: i64 = 64;

/// Values of a copy of some operations, by the values of the original.
type Map<'c> = HashMap<usize, Val<'c>>;

/// A load of a loop that can run ahead.
struct Load<'c> {
    alloc: Op<'c>,
    /// The part of the buffer that is loaded, if not all of it.
    part: Option<Op<'c>>,
    start: tir::DmaStart<'c>,
    wait: Op<'c>,
}

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    if !options.enable {
        return Ok(());
    }
    let pools = Pool::of_function(function).map_err(|error| PassError::at(&function, error))?;
    // The list is made first: with a loop goes its body, of which nothing may be touched. A loop
    // around it is not transformed.
    let loops: Vec<_> =
        edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "scf.for").collect();
    for op in loops {
        if let Some(stream) = Stream::of(op, &pools) {
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
    loads: Vec<Load<'c>>,
}

/// The value of an `arith.constant` of an integer.
fn index_constant(value: Val<'_>) -> Option<i64> {
    let op = edit::defining_op(value).filter(|op| ir::op_name(*op) == "arith.constant")?;
    ir::attr_i64(op, "value")
}

fn key(value: Val<'_>) -> usize {
    value.to_raw().ptr as usize
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
        let alone = |load: &Load<'c>| {
            let channel = channel(&load.start);
            channel.is_some_and(|channel| used.iter().filter(|c| **c == channel).count() == 1)
        };
        // Of several tiles of one buffer there is memory for two, not for two and those that follow.
        let sources: Vec<_> = ops
            .iter()
            .filter_map(|op| tir::DmaStart::of(*op))
            .map(|start| memref::base(start.source()))
            .collect();
        let single = |load: &Load<'c>| {
            let source = memref::base(load.start.source());
            sources.iter().filter(|other| **other == source).count() == 1
        };
        // The memory of a pool that says no to this is used up by single tiles.
        let allowed = |load: &Load<'c>| {
            let buffer = ir::result0(load.alloc).ok();
            let pool = buffer.and_then(|buffer| pool_of(pools, buffer.r#type()));
            pool.is_none_or(|pool| pool.dma.double_buffer)
        };
        let loads: Vec<_> = ops
            .iter()
            .filter_map(|op| Self::load(*op, body))
            .filter(|load| alone(load) && single(load) && allowed(load))
            .collect();
        let stored: Vec<_> = ops
            .iter()
            .filter_map(|op| tir::DmaStart::of(*op))
            .map(|start| memref::base(start.target()))
            .collect();
        let reads_stored = |load: &Load<'c>| stored.contains(&memref::base(load.start.source()));
        (!loads.is_empty() && !loads.iter().any(reads_stored)).then_some(Self {
            pools,
            loops,
            body,
            count,
            loads,
        })
    }

    /// The load that `start` begins, if its buffer and its wait are in the same iteration.
    fn load(start: Op<'c>, body: Blk<'c>) -> Option<Load<'c>> {
        let start = tir::DmaStart::of(start)?;
        let here =
            |op: &Op<'c>| op.block().is_some_and(|block| block.to_raw().ptr == body.to_raw().ptr);
        let defining = edit::defining_op(start.target()).filter(here)?;
        let (alloc, part) = match ir::op_name(defining) {
            "memref.alloc" => (defining, None),
            // Rows of a tile that are filled up are loaded in part.
            "memref.subview" if is_start_of_buffer(defining) => {
                (edit::defining_op(*ir::operands(defining).first()?)?, Some(defining))
            }
            _ => return None,
        };
        let is_alloc = ir::op_name(alloc) == "memref.alloc" && here(&alloc);
        let unshared = part.is_none_or(|part| ir::users(start.target()).len() == 1 && here(&part));
        if !is_alloc || !unshared {
            return None;
        }
        let waits = ir::users(start.token());
        let [wait] = waits[..] else { return None };
        let is_wait = tir::DmaWait::of(wait).is_some() && here(&wait);
        let outside = edit::defining_op(memref::base(start.source())).is_none_or(|op| !here(&op));
        (is_wait && outside).then_some(Load { alloc, part, start, wait })
    }

    fn transform(&self) -> Result<(), PassError<'c>> {
        let before = Builder::before(self.loops)?;
        let mut buffers = vec![];
        for load in &self.loads {
            buffers.push(self.buffer(&before, load)?);
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
    ) -> Result<Op<'c>, PassError<'c>> {
        let location = before.location;
        let mut types = vec![(before.index_type(), location)];
        types.extend(first.iter().map(|token| (token.r#type(), location)));
        let region = Region::new();
        let block = edit::append_block(&region, &types);
        let b = Builder::at_end(before.context, block, location);
        let arguments = edit::arguments(block);
        let iv = arguments[0];
        for token in &arguments[1..] {
            tir::DmaWait::build(&b, *token, &[])?;
        }
        let next = b.binary("arith.addi", iv, b.index(1)?)?;
        let two = b.index(2)?;
        let other = b.binary("arith.remui", next, two)?;
        let tokens = self.start_loads(&b, next, other, buffers)?;
        let half = b.binary("arith.remui", iv, two)?;
        self.compute(&b, iv, half, buffers)?;
        b.create("scf.yield", OpSpec { operands: &tokens, ..Default::default() })?;
        let bounds = [before.index(0)?, before.index(self.count - 1)?, before.index(1)?];
        let results: Vec<_> = first.iter().map(|token| token.r#type()).collect();
        let spec = OpSpec {
            operands: &[&bounds, first].concat(),
            results: &results,
            regions: vec![region],
            ..Default::default()
        };
        Ok(before.create("scf.for", spec)?)
    }

    /// Memory for two tiles.
    fn buffer(&self, b: &Builder<'c>, load: &Load<'c>) -> Result<Val<'c>, PassError<'c>> {
        let old = ir::result0(load.alloc)?.r#type();
        let element = ir::element_type(old);
        let pool = memref::space(old)
            .ok_or_else(|| PassError::at(&load.alloc, "is loaded, but in no pool"))?;
        let elements = 2 * self.padded(old);
        let ty = b.parse_type(&format!("memref<{elements}x{element}, #tir.space<\"{pool}\">>"))?;
        let segments = DenseI32ArrayAttribute::new(b.context, &[0, 0]).into();
        let attributes = vec![("operandSegmentSizes", segments)];
        Ok(b.op1_with("memref.alloc", &[], ty, attributes)?)
    }

    /// One half of a buffer, in the shape of the tile.
    fn half(
        &self,
        b: &Builder<'c>,
        load: &Load<'c>,
        buffer: Val<'c>,
        half: Val<'c>,
    ) -> crate::Result<Val<'c>> {
        let old = ir::result0(load.alloc)?.r#type();
        self.view(b, old, old, (buffer, half))
    }

    /// A view of one half of a buffer for tiles of type `whole`: in the shape of `old`.
    fn view(
        &self,
        b: &Builder<'c>,
        whole: Type<'c>,
        old: Type<'c>,
        (buffer, half): (Val<'c>, Val<'c>),
    ) -> crate::Result<Val<'c>> {
        let dims = ir::dims(old);
        let strides = memref::static_strides(old)
            .ok_or_else(|| Error::internal("a tile with unknown strides"))?;
        let text = |list: &[i64], separator: &str| {
            list.iter().map(i64::to_string).collect::<Vec<_>>().join(separator)
        };
        let ty = b.parse_type(&format!(
            "memref<{}x{}, strided<[{}], offset: ?>, #tir.space<\"{}\">>",
            text(&dims, "x"),
            ir::element_type(old),
            text(&strides, ", "),
            memref::space(old).unwrap_or_default()
        ))?;
        let offset = b.binary("arith.muli", half, b.index(self.padded(whole))?)?;
        let attributes = vec![
            ("static_offsets", b.i64s_attr(&[ir::DYNAMIC])),
            ("static_sizes", b.i64s_attr(&dims)),
            ("static_strides", b.i64s_attr(&strides)),
            ("operandSegmentSizes", DenseI32ArrayAttribute::new(b.context, &[1, 1, 0, 0]).into()),
        ];
        b.op1_with("memref.reinterpret_cast", &[buffer, offset], ty, attributes)
    }

    /// Starts the loads of iteration `iv` into halves.
    fn start_loads(
        &self,
        b: &Builder<'c>,
        iv: Val<'c>,
        half: Val<'c>,
        buffers: &[Val<'c>],
    ) -> Result<Vec<Val<'c>>, PassError<'c>> {
        let mut map = self.map(iv);
        let mut tokens = vec![];
        for (load, buffer) in self.loads.iter().zip(buffers) {
            self.copy_address(b, load.start.source(), &mut map)?;
            let whole = ir::result0(load.alloc)?;
            let target = load.start.target();
            let tile = self.view(b, whole.r#type(), target.r#type(), (*buffer, half))?;
            map.insert(key(target), tile);
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
    ) -> Result<(), PassError<'c>> {
        let here = edit::defining_op(value).filter(|op| {
            op.block().is_some_and(|block| block.to_raw().ptr == self.body.to_raw().ptr)
        });
        let Some(op) = here.filter(|_| !map.contains_key(&key(value))) else { return Ok(()) };
        for operand in ir::operands(op) {
            self.copy_address(b, operand, map)?;
        }
        let new = copy(b, op, map)?;
        insert_results(map, op, new);
        Ok(())
    }

    /// Copies what an iteration does besides its loads.
    fn compute(
        &self,
        b: &Builder<'c>,
        iv: Val<'c>,
        half: Val<'c>,
        buffers: &[Val<'c>],
    ) -> Result<(), PassError<'c>> {
        let mut map = self.map(iv);
        for (load, buffer) in self.loads.iter().zip(buffers) {
            map.insert(key(ir::result0(load.alloc)?), self.half(b, load, *buffer, half)?);
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

    /// Elements of a half.
    fn padded(&self, ty: Type<'c>) -> i64 {
        let alignment = pool_of(self.pools, ty).map_or(HALF_ALIGNMENT, |pool| pool.alignment);
        let bytes = ir::size::element_bytes(ir::element_type(ty)).map_or(1, |bytes| bytes as i64);
        let step = (alignment / bytes).max(1);
        let count: i64 = ir::dims(ty).iter().product();
        (count + step - 1) / step * step
    }

    fn map(&self, iv: Val<'c>) -> Map<'c> {
        edit::arguments(self.body).first().map(|old| (key(*old), iv)).into_iter().collect()
    }
}

/// Whether a view of a buffer starts where the buffer does.
fn is_start_of_buffer(view: Op<'_>) -> bool {
    ir::attr_i64s(view, "static_offsets").is_some_and(|offsets| offsets.iter().all(|at| *at == 0))
}

/// The pool that a buffer is in, if it is declared.
fn pool_of<'p>(pools: &'p [Pool], ty: Type<'_>) -> Option<&'p Pool> {
    let space = memref::space(ty)?;
    pools.iter().find(|pool| pool.name == space)
}

fn insert_results<'c>(map: &mut Map<'c>, old: Op<'c>, new: Op<'c>) {
    map.extend(ir::results(old).into_iter().map(key).zip(ir::results(new)));
}

/// A copy of an operation without regions, whose operands are looked up.
fn copy<'c>(b: &Builder<'c>, op: Op<'c>, map: &Map<'c>) -> crate::Result<Op<'c>> {
    let new = b.insert_clone(op);
    for (index, operand) in ir::operands(op).into_iter().enumerate() {
        if let Some(value) = map.get(&key(operand)) {
            edit::set_operand(new, index, *value)?;
        }
    }
    Ok(new)
}
