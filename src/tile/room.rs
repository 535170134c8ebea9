//! Headroom of a pool for second buffers in a loop.

use super::{halves::pool_of, pool::Pool};
use crate::{
    ir::{self, Op, edit, liveness::Timeline, size},
    plan::{Buffer, plan},
};
use melior::ir::ValueLike;
use std::{cmp::Reverse, collections::BTreeMap};

/// The buffers of a function in its pools, and their live ranges.
pub struct Rooms<'p> {
    pools: &'p [Pool],
    timeline: Timeline,
    buffers: Vec<Tile<'p>>,
}

struct Tile<'p> {
    buffer: ir::Id,
    pool: &'p Pool,
    bytes: i64,
    span: (usize, usize),
}

impl<'p> Rooms<'p> {
    /// Looks at a function whose tiles are in `pools`.
    pub fn of(function: Op<'_>, pools: &'p [Pool]) -> Self {
        let timeline = Timeline::of(function, &BTreeMap::new());
        let allocs = edit::walk(function).into_iter();
        let buffers = allocs
            .filter(|op| ir::op_name(*op) == "memref.alloc")
            .filter_map(|op| {
                let buffer = ir::result0(op).ok()?;
                let pool = pool_of(pools, buffer.r#type())?;
                let bytes = pool.aligned(i64::try_from(size::bytes(buffer.r#type())?).ok()?);
                // A buffer that cannot be followed is in use all the time.
                let span = timeline
                    .lifetime(op)
                    .map_or((0, timeline.length()), |lifetime| (lifetime.start, lifetime.end));
                Some(Tile { buffer: ir::id(buffer), pool, bytes, span })
            })
            .collect();
        Self { pools, timeline, buffers }
    }

    /// The buffers that have headroom for a second one while a loop runs around them: large ones
    /// come first.
    pub fn twice<'c, T>(
        &self,
        loops: Op<'c>,
        wanted: Vec<T>,
        alloc: impl Fn(&T) -> Op<'c>,
    ) -> Vec<T> {
        let bytes = |one: &T| {
            let buffer = ir::result0(alloc(one)).ok().map(ir::id);
            let tile = self.buffers.iter().find(|tile| Some(tile.buffer) == buffer);
            tile.map_or(0, |tile| tile.bytes)
        };
        let mut order: Vec<usize> = (0..wanted.len()).collect();
        order.sort_by_key(|index| Reverse(bytes(&wanted[*index])));
        let (mut allocs, mut granted) = (vec![], vec![]);
        for index in order {
            allocs.push(alloc(&wanted[index]));
            if self.has_two(loops, &allocs) {
                granted.push(index);
            } else {
                allocs.pop();
            }
        }
        let all = wanted.into_iter().enumerate();
        all.filter(|(index, _)| granted.contains(index)).map(|(_, one)| one).collect()
    }

    /// True if each of these buffers has headroom for a second one while a loop runs around them.
    fn has_two<'c>(&self, loops: Op<'c>, allocs: &[Op<'c>]) -> bool {
        let around = self.timeline.span(loops);
        let twice: Vec<ir::Id> =
            allocs.iter().filter_map(|op| ir::result0(*op).ok()).map(ir::id).collect();
        let is_used = |tile: &&Tile<'_>| tile.span.0 <= around.1 && tile.span.1 >= around.0;
        self.pools.iter().all(|pool| {
            let here = self.buffers.iter().filter(is_used);
            let buffers: Vec<Buffer> = here
                .filter(|tile| tile.pool.name == pool.name)
                .map(|tile| {
                    let (bytes, span) = match twice.contains(&tile.buffer) {
                        true => (tile.bytes.saturating_mul(2), around),
                        false => (tile.bytes, tile.span),
                    };
                    let (bytes, align) = (u64::try_from(bytes), u64::try_from(pool.alignment));
                    Buffer::once(bytes.unwrap_or(u64::MAX), align.unwrap_or(1), span)
                })
                .collect();
            let room = u64::try_from(pool.bytes).unwrap_or(0);
            plan(&buffers).is_ok_and(|found| found.peak <= room)
        })
    }
}
