//! `tir-overlap-stores`: computes the next tile while the last one is stored.
//!
//! In a loop without loops in it, the tile of each store that is waited for in the same iteration
//! gets a buffer of two halves. The first iteration stands before the loop. Each of the others
//! computes into one half while the other one is stored, and waits for that before it starts its
//! own store. The last stores are waited for behind the loop. Pools ask for it (`overlap-stores`),
//! as it takes their memory.

use crate::{
    ir::{self, Blk, Builder, Op, Val, edit, memref, tir, view::OpView},
    pass::{OptionValues, Pass, PassError},
    tile::{
        attribute::pools_of,
        halves::{
            Map, Transfer, copy, index_constant, insert_results, loop_with, pool_of, view,
        },
        pool::Pool,
        room::Rooms,
    },
};
use melior::ir::{ValueLike, operation::OperationLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "tir-overlap-stores",
    summary: "Compute the next tile while the last one is stored",
    anchor: "func.func",
    options: &[],
    dialects: &["arith", "memref", "scf", "tir"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let pools = pools_of(function).map_err(|error| PassError::at(&function, error))?;
    if !pools.iter().any(|pool| pool.dma.overlap_stores) {
        return Ok(());
    }
    // The list is made first: with a loop goes its body, which has no loops.
    let loops: Vec<_> =
        edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "scf.for").collect();
    let rooms = Rooms::of(function, &pools);
    for op in loops {
        let Some(mut stream) = Stream::of(op, &pools) else { continue };
        stream.stores = rooms.twice(op, stream.stores, |store| store.alloc);
        if !stream.stores.is_empty() {
            stream.transform()?;
        }
    }
    Ok(())
}

/// A loop with stores that other tiles may be computed beside.
struct Stream<'c, 'p> {
    pools: &'p [Pool],
    loops: Op<'c>,
    body: Blk<'c>,
    bounds: (i64, i64),
    stores: Vec<Transfer<'c>>,
}

/// The pool and the channel of a transfer.
fn channel(start: tir::DmaStart<'_>) -> (Option<String>, Option<i64>) {
    let ends = [start.source(), start.target()];
    let pool = ends.iter().find_map(|end| memref::space(end.r#type()));
    (pool, start.static_channel())
}

impl<'c, 'p> Stream<'c, 'p> {
    fn of(loops: Op<'c>, pools: &'p [Pool]) -> Option<Self> {
        let operands = ir::operands(loops);
        let bound = |index: usize| index_constant(*operands.get(index)?);
        let (first, end, 1) = (bound(0)?, bound(1)?, bound(2)?) else { return None };
        let body = edit::entry_block(loops)?;
        let ops = ir::ops(body);
        if end - first < 2 || ops.iter().any(|op| op.region_count() > 0) {
            return None;
        }
        let mut stream = Self { pools, loops, body, bounds: (first, end), stores: vec![] };
        stream.stores = ops.iter().filter_map(|op| stream.store(*op, &ops)).collect();
        (!stream.stores.is_empty()).then_some(stream)
    }

    /// The store that `start` begins, if its tile and its wait are in the same iteration, and nothing
    /// else there uses its channel or what it writes.
    fn store(&self, start: Op<'c>, ops: &[Op<'c>]) -> Option<Transfer<'c>> {
        let start = tir::DmaStart::of(start)?;
        pool_of(self.pools, start.source().r#type()).filter(|pool| pool.dma.overlap_stores)?;
        let found = Transfer::of(start, (start.source(), start.target()), self.body)?;
        let target = memref::base(start.target());
        let others = ops.iter().filter(|op| !edit::same(**op, start.op()));
        let meets = |op: &Op<'c>| {
            let used = ir::operands(*op).iter().any(|value| memref::base(*value) == target);
            let is_view = ir::results(*op).iter().any(|value| ir::is_memref(value.r#type()));
            let same = tir::DmaStart::of(*op).is_some_and(|op| channel(op) == channel(start));
            used && !is_view || same
        };
        let alone = start.static_channel().is_some() && !others.clone().any(meets);
        alone.then_some(found)
    }

    fn transform(&self) -> Result<(), PassError<'c>> {
        let before = Builder::before(self.loops)?;
        let mut buffers = vec![];
        for store in &self.stores {
            buffers.push(store.buffer(&before, self.pools)?);
        }
        let (first, end) = self.bounds;
        let carried = &ir::operands(self.loops)[3..];
        let values = [&[before.index(first)?], carried].concat();
        let half = before.index(first.rem_euclid(2))?;
        let once = self.iterate(&before, &values, (half, &buffers), &[])?;
        let rest = self.rest(&before, &once, &buffers, (first + 1, end))?;
        let results = ir::results(rest);
        for (old, new) in ir::results(self.loops).into_iter().zip(&results) {
            edit::replace_uses(old, *new);
        }
        for token in &results[carried.len()..] {
            tir::DmaWait::build(&before, *token, &[])?;
        }
        edit::erase(self.loops);
        Ok(())
    }

    /// The loop of all iterations but the first, which carries what the old one did, and the stores
    /// under way.
    fn rest(
        &self,
        before: &Builder<'c>,
        start: &[Val<'c>],
        buffers: &[Val<'c>],
        bounds: (i64, i64),
    ) -> crate::Result<Op<'c>> {
        loop_with(before, bounds, start, |b, arguments| {
            let (values, tokens) = arguments.split_at(arguments.len() - self.stores.len());
            let half = b.binary("arith.remui", arguments[0], b.index(2)?)?;
            self.iterate(b, values, (half, buffers), tokens)
        })
    }

    /// One iteration on the values of the body's arguments: what it yields, then the stores that it
    /// starts, each when the one before it is done.
    fn iterate(
        &self,
        b: &Builder<'c>,
        values: &[Val<'c>],
        (half, buffers): (Val<'c>, &[Val<'c>]),
        under_way: &[Val<'c>],
    ) -> crate::Result<Vec<Val<'c>>> {
        let arguments = edit::arguments(self.body).into_iter().map(ir::id);
        let mut map: Map<'c> = arguments.zip(values.iter().copied()).collect();
        for (store, buffer) in self.stores.iter().zip(buffers) {
            let tile = ir::result0(store.alloc)?;
            let whole = view(b, self.pools, (tile.r#type(), tile.r#type()), (*buffer, half))?;
            map.insert(ir::id(tile), whole);
            if store.part.is_some() {
                let part = store.start.source();
                let used = view(b, self.pools, (tile.r#type(), part.r#type()), (*buffer, half))?;
                map.insert(ir::id(part), used);
            }
        }
        let (mut yielded, mut tokens) = (vec![], vec![]);
        for op in ir::ops(self.body) {
            if ir::op_name(op) == "scf.yield" {
                let operands = ir::operands(op).into_iter();
                yielded = operands.map(|v| map.get(&ir::id(v)).copied().unwrap_or(v)).collect();
                continue;
            }
            let gone = |store: &Transfer<'c>| {
                let gone = [Some(store.alloc), store.part, Some(store.wait)];
                gone.iter().flatten().any(|old| edit::same(*old, op))
            };
            if self.stores.iter().any(gone) {
                continue;
            }
            let place = self.stores.iter().position(|store| edit::same(store.start.op(), op));
            if let Some(token) = place.and_then(|place| under_way.get(place)) {
                tir::DmaWait::build(b, *token, &[])?;
            }
            let new = copy(b, op, &map)?;
            if place.is_some() {
                tokens.push(ir::result0(new)?);
            }
            insert_results(&mut map, op, new);
        }
        yielded.append(&mut tokens);
        Ok(yielded)
    }
}
