//! Live ranges of buffers.
//!
//! An access that overwrites all of a buffer starts a new life of it. Control flow is read as what
//! it may do: what is in use across an iteration of a loop is in use during the whole loop.

use super::{
    Order, Span,
    inside::{AFTER, Argument, Lives},
};
use crate::ir::{self, Op, Val, calls::arguments_of, edit, effects, memref};
use indexmap::IndexMap;
use melior::ir::{RegionLike, ValueLike, block::BlockLike, operation::OperationLike};
use std::collections::HashSet;

/// The operation that takes the address of a buffer.
const ADDRESS: &str = "memref.extract_aligned_pointer_as_index";

/// An operation that uses a buffer.
pub(super) struct Access<'e, 'c> {
    /// The operations around it, from the one in the block where the buffer is made to itself.
    path: Vec<Op<'c>>,
    touch: Touch<'e, 'c>,
}

/// Use of a buffer by an operation.
#[derive(Clone, Copy)]
struct Touch<'e, 'c> {
    op: Op<'c>,
    /// True if the whole buffer is overwritten.
    overwrites: bool,
    /// Use of the buffer inside of a call that is looked into.
    inside: Option<Inside<'e>>,
}

/// The use of a buffer inside of a call, in points of the caller.
#[derive(Clone, Copy)]
struct Inside<'e> {
    first: usize,
    last: usize,
    /// The first point of what is called, and what that does with the whole buffer.
    whole: Option<(usize, &'e Argument)>,
}

impl<'e, 'c> Order<'e, 'c> {
    /// Use of `value` inside of `call`; `whole` is true if the value has all of the buffer.
    fn inside(&self, call: Op<'c>, value: Val<'c>, whole: bool) -> Option<Inside<'e>> {
        let effect = self.effect(call)?;
        let places = arguments_of(call, value)?;
        let begin = self.begin(call);
        let mut all: Option<Inside<'e>> = None;
        for place in &places {
            let argument = effect.arguments.get(*place)?.as_ref()?;
            let whole = Some((begin, argument)).filter(|_| whole && places.len() == 1);
            let one = Inside { first: begin + argument.first, last: begin + argument.last, whole };
            all = Some(all.map_or(one, |other| other.and(one)));
        }
        all
    }
}

/// The times at which `buffer`, made by `op`, is in use, through all its aliases.
pub fn spans<'c>(
    order: &Order<'_, 'c>,
    function: Op<'c>,
    op: Op<'c>,
    buffer: Val<'c>,
) -> Vec<Span> {
    let users = accesses(order, buffer);
    // The innermost operation around the buffer that it does not leave.
    let mut around = std::iter::successors(op.parent_operation(), |op| op.parent_operation())
        .take_while(|op| !edit::same(*op, function))
        .chain([function]);
    let Some((root, found)) = around.find_map(|root| Some((root, inside(&users, root)?))) else {
        return vec![order.span(function)];
    };
    if several_blocks(root) || is_exposed(&users) {
        return vec![order.span(root)];
    }
    let found = in_order(order, &found);
    let mut scan = Scan { order, spans: vec![] };
    let before = scan.region(&found, 0, None);
    if let (Some(end), Some(first)) = (before, found.first()) {
        scan.spans.push((first.span(order).0, end));
    }
    scan.spans
}

/// Use of an argument by `function`; none if that may be anything at any time.
pub(super) fn argument<'c>(
    order: &Order<'_, 'c>,
    function: Op<'c>,
    value: Val<'c>,
) -> Option<Argument> {
    let users = accesses(order, value);
    let found = inside(&users, function)?;
    if several_blocks(function) || is_exposed(&users) {
        return None;
    }
    let found = in_order(order, &found);
    let lives = |after: Option<usize>| {
        let mut scan = Scan { order, spans: vec![] };
        let before = scan.region(&found, 0, after);
        Lives { before, spans: scan.spans }
    };
    let uses = || found.iter().map(|access| access.span(order));
    Some(Argument {
        first: uses().map(|span| span.0).min().unwrap_or(0),
        last: uses().map(|span| span.1).max().unwrap_or(0),
        dropped: lives(None),
        kept: lives(Some(AFTER)),
    })
}

/// The accesses as seen from `root`, if all are inside of it.
fn inside<'e, 'c>(users: &[Touch<'e, 'c>], root: Op<'c>) -> Option<Vec<Access<'e, 'c>>> {
    users.iter().map(|touch| Some(Access { path: path(touch.op, root)?, touch: *touch })).collect()
}

fn in_order<'a, 'e, 'c>(
    order: &Order<'_, 'c>,
    accesses: &'a [Access<'e, 'c>],
) -> Vec<&'a Access<'e, 'c>> {
    let mut found: Vec<_> = accesses.iter().collect();
    found.sort_by_key(|access| access.path.last().map(|op| order.span(*op)));
    found
}

/// True if the buffer's address is taken.
fn is_exposed(users: &[Touch<'_, '_>]) -> bool {
    users.iter().any(|touch| ir::op_name(touch.op) == ADDRESS)
}

impl<'c> Access<'_, 'c> {
    /// The points of the operation that may run the access many times.
    fn span(&self, order: &Order<'_, 'c>) -> Span {
        let repeats = |op: &&Op<'c>| op.region_count() == 0 || effects::repeats(**op);
        let outermost = self.path.iter().find(repeats).copied().unwrap_or(self.touch.op);
        match self.touch.inside {
            Some(inside) if edit::same(outermost, self.touch.op) => (inside.first, inside.last),
            _ => order.span(outermost),
        }
    }
}

impl Inside<'_> {
    /// The use of both of two parts.
    fn and(self, other: Self) -> Self {
        Self { first: self.first.min(other.first), last: self.last.max(other.last), whole: None }
    }
}

/// Walks accesses backward, from where a content is last used to where it is written.
struct Scan<'a, 'e, 'c> {
    order: &'a Order<'e, 'c>,
    spans: Vec<Span>,
}

impl<'c> Scan<'_, '_, 'c> {
    /// The accesses of one region, whose operations are at `depth` of the paths. `after` is the last
    /// point after the region at which its content is in use; the result is the same for before.
    fn region(
        &mut self,
        accesses: &[&Access<'_, 'c>],
        depth: usize,
        after: Option<usize>,
    ) -> Option<usize> {
        let mut live = after;
        let same =
            |a: &&Access<'_, 'c>, b: &&Access<'_, 'c>| edit::same(a.path[depth], b.path[depth]);
        for group in accesses.chunk_by(same).collect::<Vec<_>>().into_iter().rev() {
            let op = group[0].path[depth];
            let (start, end) = self.order.span(op);
            let deeper: Vec<_> =
                group.iter().copied().filter(|access| access.path.len() > depth + 1).collect();
            if deeper.len() == group.len() {
                live = self.nested(op, &deeper, depth + 1, live);
            } else if let ([_], Some(inside)) = (group, group[0].touch.inside) {
                live = self.call(&inside, live);
            } else if group.iter().all(|access| access.touch.overwrites) && group.len() == 1 {
                self.spans.push((start, live.unwrap_or(end)));
                live = None;
            } else {
                live = Some(live.unwrap_or(end));
            }
        }
        live
    }

    /// A call that is looked into.
    fn call(&mut self, inside: &Inside<'_>, after: Option<usize>) -> Option<usize> {
        let Some((begin, argument)) = inside.whole else {
            return Some(after.unwrap_or(inside.last));
        };
        let lives = if after.is_some() { &argument.kept } else { &argument.dropped };
        let point = |end: usize| match end {
            AFTER => after.unwrap_or(inside.last),
            end => begin + end,
        };
        let spans = lives.spans.iter().map(|(start, end)| (begin + start, point(*end)));
        self.spans.extend(spans);
        lives.before.map(point)
    }

    /// The accesses inside of the regions of `op`.
    fn nested(
        &mut self,
        op: Op<'c>,
        accesses: &[&Access<'_, 'c>],
        depth: usize,
        after: Option<usize>,
    ) -> Option<usize> {
        let whole = Some(after.unwrap_or(self.order.span(op).1));
        let once = !effects::repeats(op);
        if several_blocks(op) || (after.is_some() && !once) {
            return whole;
        }
        let kept = self.spans.len();
        let mut live = after;
        let region = |access: &&Access<'_, 'c>| access.path[depth].block().map(ir::id);
        for part in accesses.chunk_by(|a, b| region(a) == region(b)) {
            if let Some(end) = self.region(part, depth, after) {
                live = Some(live.map_or(end, |other| other.max(end)));
            }
        }
        if live.is_some() && !once {
            // Read in an iteration before it is written: of the one before.
            self.spans.truncate(kept);
            return whole;
        }
        live
    }
}

fn several_blocks(op: Op<'_>) -> bool {
    op.regions().any(|region| region.first_block().is_some_and(|b| b.next_in_region().is_some()))
}

/// The operations from one directly inside of `root` down to `op`; none if it is elsewhere.
fn path<'c>(op: Op<'c>, root: Op<'c>) -> Option<Vec<Op<'c>>> {
    let mut path = vec![op];
    loop {
        let parent = path.last()?.parent_operation()?;
        if edit::same(parent, root) {
            path.reverse();
            return Some(path);
        }
        path.push(parent);
    }
}

/// The operations that use a buffer or what refers to it, each once.
fn accesses<'e, 'c>(order: &Order<'e, 'c>, buffer: Val<'c>) -> Vec<Touch<'e, 'c>> {
    let mut found: IndexMap<ir::Id, Touch<'e, 'c>> = IndexMap::new();
    let mut seen = HashSet::new();
    // With whether the alias has all elements of the buffer.
    let mut work = vec![(buffer, true)];
    while let Some((value, whole)) = work.pop() {
        if !seen.insert(ir::id(value)) {
            continue;
        }
        let mut once = HashSet::new();
        for user in ir::users(value).into_iter().filter(|user| once.insert(ir::id(*user))) {
            let overwrites = whole && overwrites(user, value);
            let inside = order.inside(user, value, whole);
            // Used twice by one operation, it is read too.
            found
                .entry(ir::id(user))
                .and_modify(|touch| {
                    touch.overwrites = false;
                    touch.inside = touch.inside.zip(inside).map(|(a, b)| a.and(b));
                })
                .or_insert(Touch { op: user, overwrites, inside });
            let whole = whole && memref::is_whole(user);
            work.extend(aliases(user).into_iter().map(|alias| (alias, whole)));
        }
    }
    found.into_values().filter(|touch| !is_view(touch.op)).collect()
}

/// Operations that only look at a buffer or make another name for it: no use of its bytes. What ends a block hands on
/// what it is given, and an address may be used anywhere.
fn is_view(op: Op<'_>) -> bool {
    let is_plain = op.region_count() == 0 && op.next_in_block().is_some();
    let is_address = ir::op_name(op) == ADDRESS;
    memref::is_alias(op) || is_plain && !is_address && effects::touches_nothing(op)
}

/// True if `op` writes every element of `value`, and reads none.
fn overwrites<'c>(op: Op<'c>, value: Val<'c>) -> bool {
    let uses = ir::operands(op).iter().filter(|operand| **operand == value).count();
    uses == 1 && effects::overwrites(op).contains(&value)
}

/// The values through which a buffer may be used after it was given to `user`.
fn aliases<'c>(user: Op<'c>) -> Vec<Val<'c>> {
    let mut found = ir::results(user);
    let mut blocks_of = |op: Op<'c>| {
        for region in op.regions() {
            let mut block = region.first_block();
            while let Some(current) = block {
                found.extend(edit::arguments(current));
                block = current.next_in_region();
            }
        }
    };
    blocks_of(user);
    let is_end = user.next_in_block().is_none();
    if let Some(parent) = user.parent_operation().filter(|_| is_end) {
        if ir::op_name(parent) != "func.func" || several_blocks(parent) {
            blocks_of(parent);
        }
        found.extend(ir::results(parent));
    }
    found.retain(|value| ir::types::keeps_buffer(value.r#type()));
    found
}
