//! `poison-dead-buffers`: fills dead bytes of the arena, so that a read of them shows in the
//! results.
//!
//! Behind each step of the main function all bytes that were last used there get a pattern. It is
//! NaN as f16, bf16 and f32, and a large number as an integer. Before the first step all bytes get
//! it that hold no input. Live ranges are read from the IR as `verify-plan` does
//! ([`crate::planned`]), not asked of the planner. A run takes longer; its results are the same
//! unless something reads what is dead.

use crate::{
    Result,
    ir::{self, Builder, Op, OpSpec, Val, calls::CallGraph, edit, func, memref, size::ALIGNMENT},
    lower::loops::{Bounds, count_between},
    pass::{OptionValues, Pass, PassError},
    planned::{self, Memory, Order, Place},
};
use melior::ir::{ValueLike, block::BlockLike, r#type::MemRefType};
use std::collections::BTreeMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "poison-dead-buffers",
    summary: "Fill dead bytes of the arena with NaN",
    anchor: "builtin.module",
    options: &[],
    dialects: &["arith", "memref", "scf"],
    run,
};

/// Twice the upper half of a NaN of f32, which is one of f16 and bf16 as well.
const PATTERN: i64 = 0x7fc0_7fc0;

fn run<'c>(module: Op<'c>, _: &OptionValues) -> std::result::Result<(), PassError<'c>> {
    let Some(main) = func::main(module) else { return Ok(()) };
    let Some(block) = edit::entry_block(main).filter(|block| block.next_in_region().is_none())
    else {
        return Ok(());
    };
    let effects = planned::effects(&CallGraph::of(module)?)?;
    let ops = edit::walk(main);
    let places = planned::places(main, &ops)?;
    let order = Order::of(main, &ops, &effects);
    let mut arenas: BTreeMap<&Memory, Vec<&Place<'c>>> = BTreeMap::new();
    for place in places.iter().filter(|place| matches!(place.memory, Memory::Arena(_))) {
        arenas.entry(&place.memory).or_default().push(place);
    }
    let steps = ir::ops(block);
    let points: Vec<_> = steps.iter().map(|step| order.span(*step)).collect();
    let mut fills: Vec<(Op<'c>, Val<'c>, Bytes)> = vec![];
    for places in arenas.into_values() {
        let Some((arena, bytes)) = places.first().and_then(|place| block_of(place)) else {
            continue;
        };
        let uses: Vec<_> = planned::uses_of(&order, main, &places)
            .into_iter()
            .map(|one| (one.span, (one.offset, one.offset.saturating_add(one.size))))
            .collect();
        for (step, dead) in dead(&uses, &points, bytes) {
            fills.extend(dead.into_iter().map(|bytes| (steps[step], arena, bytes)));
        }
    }
    for (step, arena, bytes) in fills {
        fill(step, arena, bytes)?;
    }
    Ok(())
}

/// The first byte and one behind the last.
type Bytes = (u64, u64);

/// A use: its span and its bytes.
type Use = (planned::Span, Bytes);

/// The block of the host's memory that a place is in, and its bytes.
fn block_of<'c>(place: &Place<'c>) -> Option<(Val<'c>, u64)> {
    let arena = *ir::operands(place.op).first()?;
    let is_host = memref::space_or_host(arena.r#type()).is_some_and(|space| space.is_empty());
    let bytes = ir::size::bytes(arena.r#type()).filter(|_| is_host)?;
    Some((arena, bytes))
}

/// Bytes that die at each step: dead before it, and not before the previous one.
fn dead(uses: &[Use], points: &[planned::Span], bytes: u64) -> Vec<(usize, Vec<Bytes>)> {
    let mut found = vec![];
    for (step, (start, _)) in points.iter().enumerate() {
        let ended: Vec<Bytes> = match step.checked_sub(1).map(|before| points[before]) {
            None => vec![(0, bytes)],
            Some((since, _)) => {
                let ends = uses.iter().filter(|((_, end), _)| (since..*start).contains(end));
                ends.map(|(_, bytes)| *bytes).collect()
            }
        };
        if ended.is_empty() {
            continue;
        }
        let live: Vec<Bytes> = uses
            .iter()
            .filter(|((first, last), _)| first < start && last >= start)
            .map(|(_, bytes)| *bytes)
            .collect();
        let dead = without(ended, live);
        if !dead.is_empty() {
            found.push((step, dead));
        }
    }
    found
}

/// The bytes of some ranges that are in none of others, from a multiple of the alignment on.
fn without(mut ranges: Vec<Bytes>, mut others: Vec<Bytes>) -> Vec<Bytes> {
    ranges.sort_unstable();
    others.sort_unstable();
    let mut found: Vec<Bytes> = vec![];
    let mut done = 0;
    for (begin, end) in ranges {
        let mut at = begin.max(done);
        for (from, to) in others.iter().filter(|(_, to)| *to > begin) {
            if *from >= end {
                break;
            }
            found.push((at, *from));
            at = at.max(*to);
        }
        found.push((at, end));
        done = done.max(end);
    }
    let whole = |(begin, end): &Bytes| (begin.next_multiple_of(ALIGNMENT as u64), end / 4 * 4);
    found.iter().map(whole).filter(|(begin, end)| begin < end).collect()
}

/// Writes the pattern before a step.
fn fill<'c>(step: Op<'c>, arena: Val<'c>, (begin, end): Bytes) -> Result<()> {
    let b = Builder::before(step)?;
    let words = i64::try_from((end - begin) / 4).unwrap_or(0);
    let word = b.int(32);
    let ty = MemRefType::new(word, &[words], None, None).into();
    let begin = b.index(i64::try_from(begin).unwrap_or(0))?;
    let place = b.op1("memref.view", &[arena, begin], ty)?;
    let pattern = b.constant_int(word, PATTERN)?;
    let bounds = Bounds { from: b.index(0)?, to: b.index(words)? };
    count_between(&b, bounds, &[], |b, index, _| {
        let operands = &[pattern, place, index];
        b.create("memref.store", OpSpec { operands, ..Default::default() })?;
        Ok(vec![])
    })?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{dead, without};

    #[test]
    fn what_others_use_is_left_out() {
        assert_eq!(without(vec![(0, 256)], vec![(64, 100), (90, 130)]), [(0, 64), (192, 256)]);
        assert_eq!(without(vec![(0, 128), (64, 256)], vec![]), [(0, 128), (128, 256)]);
        assert_eq!(without(vec![(64, 128)], vec![(0, 256)]), []);
    }

    #[test]
    fn bytes_are_dead_once_their_last_use_is_over() {
        // The first buffer is used by steps 0 and 1, the second, over half of it, by step 2.
        let uses = [((0, 3), (0, 128)), ((4, 5), (64, 128))];
        let steps = [(0, 1), (2, 3), (4, 5), (6, 7)];
        let found = dead(&uses, &steps, 256);
        let expected = [(0, vec![(0, 256)]), (2, vec![(0, 128)]), (3, vec![(64, 128)])];
        assert_eq!(found, expected);
    }
}
