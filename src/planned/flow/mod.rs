//! Check of the writes that each read of a buffer sees: recorded before memory is reused, and
//! compared afterwards.
//!
//! Before passes that reuse memory or change the order of operations, [`record`] writes on each operation which of
//! the others its reads may see. Afterwards [`check`] follows the buffers anew: a read may see no other
//! write that is newer than one of those, and all of those come before it. What was written before all of them is
//! no harm: it is what the buffer had before. Both rest on the operations, views and loops alone, and
//! share nothing with those passes.

mod place;
mod range;
mod tensors;
#[cfg(test)]
mod tests;
mod tree;
mod walk;

use crate::{
    ir::{self, Op, Val, attribute, edit, func, names, types},
    pass::PassError,
};
use melior::ir::{
    ValueLike,
    attribute::{DenseI64ArrayAttribute, IntegerAttribute},
    operation::OperationLike,
    r#type::IntegerType,
};
use place::{HANDED_ON, Place};
use std::collections::{BTreeMap, BTreeSet};
use tree::{Access, Tree};
use walk::{Content, Sight, Walk};

/// Numbers of writes; 0 is what is there from the start, [`NOTHING`] that nothing may be there.
type Writes = BTreeSet<i64>;

/// Stands for a write where a read may see none: what is there then is of no use to anybody.
const NOTHING: i64 = -1;

/// The writes that a read may see: in the first iteration of all loops around it, and in any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Seen {
    first: Writes,
    any: Writes,
    /// Number of loops that may have written over what they had written themselves.
    lossy: i64,
}

/// Number of such loops that stands for no bound.
const LIMIT: i64 = i64::MAX;

/// Writes on each operation of a function that uses buffers its number, and which numbers its reads may see.
/// Functions that would take long, such as long rows of unrolled code in deep loops, are left out.
pub fn record(function: Op<'_>) {
    let ops = edit::walk(function);
    // Only what a function makes itself is memory that passes reuse.
    if !ops.iter().any(makes_values) {
        return;
    }
    if ops.iter().any(|op| ir::results(*op).iter().any(|value| ir::is_tensor(value.r#type()))) {
        for (op, number, seen) in tensors::seen(&ops) {
            write(op, number, &seen);
        }
        return;
    }
    let Some(tree) = Tree::of(function) else { return };
    let numbers: Vec<_> = (1..).map(Some).take(tree.accesses.len()).collect();
    let mut seen: Vec<BTreeMap<usize, Seen>> = vec![BTreeMap::new(); tree.accesses.len()];
    let mut note = |sight: &Sight<'_>| -> Result<(), std::convert::Infallible> {
        let seen = seen[sight.access].entry(sight.operand).or_default();
        let nothing = sight.seen.is_empty().then_some(NOTHING);
        let writes = || {
            let writers = sight.seen.iter().flat_map(|content| content.writers.iter().copied());
            writers.chain(nothing)
        };
        if sight.is_first {
            seen.first.extend(writes());
        }
        seen.any.extend(writes());
        seen.lossy =
            sight.seen.iter().map(|content| sight.lossy(content)).fold(seen.lossy, i64::max);
        Ok(())
    };
    let mut walk = Walk::new(&tree, &numbers, false);
    let Ok(()) = walk.run(&tree.steps, &mut note);
    if walk.has_given_up() {
        return;
    }
    for ((access, number), seen) in tree.accesses.iter().zip(1..).zip(&seen) {
        write(access.op, number, seen);
    }
}

/// True if an operation makes a buffer or a tensor.
fn makes_values(op: &Op<'_>) -> bool {
    let makes =
        |value: &Val<'_>| ir::is_tensor(value.r#type()) || types::keeps_buffer(value.r#type());
    !matches!(ir::op_name(*op), "memref.get_global")
        && !ir::memref::is_alias(*op)
        && ir::results(*op).iter().any(makes)
}

fn write(op: Op<'_>, number: i64, seen: &BTreeMap<usize, Seen>) {
    let context = ir::context_of(op);
    let word = IntegerType::new(context, 64).into();
    edit::set_attr(op, names::ACCESS, IntegerAttribute::new(word, number).into());
    let seen = written(seen);
    if !seen.is_empty() {
        let seen = DenseI64ArrayAttribute::new(context, &seen);
        edit::set_attr(op, names::SEES, seen.into());
    }
}

/// Fails for a read that does not see what [`record`] wrote down, and forgets that.
pub fn check<'c>(function: Op<'c>) -> Result<(), PassError<'c>> {
    if !edit::walk(function).iter().any(|op| op.has_attribute(names::ACCESS)) {
        return Ok(());
    }
    let Some(tree) = Tree::of(function) else { return Ok(()) };
    let number =
        |access: &Access<'c>| access.op.attribute(names::ACCESS).ok().and_then(attribute::int);
    let numbers: Vec<_> = tree.accesses.iter().map(number).collect();
    if numbers.iter().all(Option::is_none) {
        return Ok(());
    }
    let seen = |access: &Access<'c>| {
        read(&ir::attr_i64s(access.op, names::SEES).unwrap_or_default()).unwrap_or_default()
    };
    let wanted: Vec<_> = tree.accesses.iter().map(seen).collect();
    let mut judge = |sight: &Sight<'_>| {
        // What loops hand on may be any of several buffers.
        let access = &tree.accesses[sight.access];
        let is_known = |(operand, place): &(usize, Place)| {
            *operand != sight.operand || place.root != HANDED_ON
        };
        if !access.reads.iter().all(is_known) {
            return Ok(());
        }
        let wanted = wanted[sight.access].get(&sight.operand);
        wanted.map_or(Ok(()), |wanted| judge(function, &tree.accesses, sight, wanted))
    };
    Walk::new(&tree, &numbers, true).run(&tree.steps, &mut judge)?;
    for op in edit::walk(function) {
        edit::remove_attr(op, names::ACCESS);
        edit::remove_attr(op, names::SEES);
    }
    Ok(())
}

fn judge<'c>(
    function: Op<'c>,
    accesses: &[Access<'c>],
    sight: &Sight<'_>,
    wanted: &Seen,
) -> Result<(), PassError<'c>> {
    let lossy = wanted.lossy;
    let wanted = if sight.is_first { &wanted.first } else { &wanted.any };
    if wanted.is_empty() {
        return Ok(());
    }
    let op = accesses[sight.access].op;
    let name = func::symbol(function);
    let fault = |what: String| Err(PassError::at(&op, format!("in '{name}' {what}")));
    let is_end = sight.is_first || sight.is_last;
    if is_end && !wanted.iter().all(|write| sight.done.contains(write)) {
        return fault("reads a buffer before what it is to read is written there".to_owned());
    }
    let is_wanted =
        |content: &&&Content| content.writers.iter().any(|write| wanted.contains(write));
    let known: Vec<_> = sight.seen.iter().filter(is_wanted).collect();
    if known.is_empty() && wanted.contains(&NOTHING) {
        return Ok(());
    }
    if known.is_empty() {
        return fault("reads a buffer that has nothing of what it is to read".to_owned());
    }
    if known.iter().any(|content| content.lossy > lossy) {
        return fault(
            "reads a buffer of which each iteration has written over the one before".to_owned(),
        );
    }
    let others = sight.seen.iter().filter(|content| !is_wanted(content));
    for other in others {
        let is_lost =
            |content: &&&&Content| content.time < other.time && sight.meet(content, other);
        if known.iter().any(|content| is_lost(&content)) {
            let by = other.by.map(|by| accesses[by].op);
            let place = by.map(|op| format!("{} at {}", ir::op_name(op), op.location()));
            return fault(format!(
                "reads a buffer after {} has written over what it is to read",
                place.unwrap_or_default()
            ));
        }
    }
    Ok(())
}

/// Attribute form of what reads may see. Each operand has its number, the number of loops that may
/// have written over what they had written, and two lists of runs of writes. The first list has the
/// writes that it may see in the first iteration of all loops around it, the second those that it
/// may see at all. A list has its length, then begin and end of each run.
fn written(seen: &BTreeMap<usize, Seen>) -> Vec<i64> {
    let mut list = vec![];
    for (operand, seen) in seen {
        list.extend([*operand as i64, seen.lossy]);
        for writes in [&seen.first, &seen.any] {
            let runs = runs(writes);
            list.push(runs.len() as i64);
            list.extend(runs.into_iter().flatten());
        }
    }
    list
}

/// Begin and end of each row of numbers that follow each other.
fn runs(writes: &Writes) -> Vec<[i64; 2]> {
    let mut runs: Vec<[i64; 2]> = vec![];
    for write in writes {
        match runs.last_mut() {
            Some([_, end]) if *end == *write => *end += 1,
            _ => runs.push([*write, *write + 1]),
        }
    }
    runs
}

/// The reads that [`written`] gave; none for anything else.
fn read(list: &[i64]) -> Option<BTreeMap<usize, Seen>> {
    let mut numbers = list.iter().copied();
    let mut found = BTreeMap::new();
    while let Some(operand) = numbers.next() {
        let lossy = numbers.next()?;
        let mut writes = || -> Option<Writes> {
            let mut writes = Writes::new();
            for _ in 0..numbers.next()? {
                let (begin, end) = (numbers.next()?, numbers.next()?);
                // As many as there may be operations.
                writes.extend(begin..end.min(begin.saturating_add(1 << 24)));
            }
            Some(writes)
        };
        let seen = Seen { first: writes()?, any: writes()?, lossy };
        found.insert(usize::try_from(operand).ok()?, seen);
    }
    Some(found)
}
