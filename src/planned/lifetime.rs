//! When the bytes of a buffer matter.
//!
//! An access that overwrites all of a buffer starts a new life of it. Control flow is read as what
//! it may do: what is in use across an iteration of a loop is in use during the whole loop.

use crate::ir::{self, Op, Val, call_extern::CallExtern, edit, tir};
use melior::ir::{RegionLike, ValueLike, block::BlockLike, operation::OperationLike};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Operations whose regions run at most once.
const ONCE: [&str; 3] = ["scf.if", "scf.execute_region", "scf.index_switch"];

/// Operations that write each element of their last operand and read nothing of it.
const FILLS: [&str; 5] =
    ["linalg.fill", "linalg.copy", "memref.copy", "linalg.transpose", "linalg.broadcast"];

/// From the first point at which a buffer is in use to the last, itself included.
pub type Span = (usize, usize);

/// The order in which the operations of a function run: each has a point where it starts and one
/// where it ends, and what is inside of it lies between them.
pub struct Order {
    // Only looked up, so that its own order is of no effect.
    points: HashMap<usize, Span>,
}

/// An operation that uses a buffer.
struct Access<'c> {
    /// The operations around it, from the one in the block where the buffer is made to itself.
    path: Vec<Op<'c>>,
    /// Whether the whole buffer is overwritten.
    overwrites: bool,
}

impl Order {
    /// Numbers the operations of a function, given as [`edit::walk`] lists them.
    pub fn of(function: Op<'_>, ops: &[Op<'_>]) -> Self {
        let mut points = HashMap::with_capacity(ops.len());
        let mut open: Vec<(Op<'_>, usize)> = vec![];
        let mut next = 0;
        for op in ops {
            let parent = op.parent_operation();
            while let Some((last, start)) = open.pop() {
                if parent.is_some_and(|parent| edit::same(parent, last)) {
                    open.push((last, start));
                    break;
                }
                points.insert(key(last), (start, next));
                next += 1;
            }
            open.push((*op, next));
            next += 1;
        }
        for (last, start) in open.into_iter().rev() {
            points.insert(key(last), (start, next));
            next += 1;
        }
        points.insert(key(function), (0, next));
        Self { points }
    }

    /// Start and end of an operation of the function.
    pub fn span(&self, op: Op<'_>) -> Span {
        self.points.get(&key(op)).copied().unwrap_or_default()
    }
}

/// The times at which `buffer`, made by `op`, is in use, through all its aliases.
pub fn spans<'c>(order: &Order, function: Op<'c>, op: Op<'c>, buffer: Val<'c>) -> Vec<Span> {
    let users = accesses(buffer);
    let inside = |root: &Op<'c>| -> Option<Vec<Access<'c>>> {
        let access = |(user, overwrites): &(Op<'c>, bool)| {
            Some(Access { path: path(*user, *root)?, overwrites: *overwrites })
        };
        users.iter().map(access).collect()
    };
    // The innermost operation around the buffer that it does not leave.
    let mut around = std::iter::successors(op.parent_operation(), |op| op.parent_operation())
        .take_while(|op| !edit::same(*op, function))
        .chain([function]);
    let Some((root, found)) = around.find_map(|root| Some((root, inside(&root)?))) else {
        return vec![order.span(function)];
    };
    let exposed = users
        .iter()
        .any(|(user, _)| ir::op_name(*user) == "memref.extract_aligned_pointer_as_index");
    if several_blocks(root) || exposed {
        return vec![order.span(root)];
    }
    let mut found: Vec<&Access<'c>> = found.iter().collect();
    found.sort_by_key(|access| access.path.last().map(|op| order.span(*op)));
    let mut scan = Scan { order, spans: vec![] };
    let before = scan.region(&found, 0, None);
    if let (Some(end), Some(first)) = (before, found.first().and_then(|access| access.outermost()))
    {
        scan.spans.push((order.span(first).0, end));
    }
    scan.spans
}

impl<'c> Access<'c> {
    /// The access as part of the operation that may run it many times.
    fn outermost(&self) -> Option<Op<'c>> {
        let repeats = |op: &&Op<'c>| !ONCE.contains(&ir::op_name(**op));
        self.path.iter().find(repeats).or(self.path.last()).copied()
    }
}

/// Walks accesses backward, from where a content is last used to where it is written.
struct Scan<'a> {
    order: &'a Order,
    spans: Vec<Span>,
}

impl Scan<'_> {
    /// The accesses of one region, whose operations are at `depth` of the paths. `after` is the last
    /// point after the region at which its content is in use; the result is the same for before.
    fn region(
        &mut self,
        accesses: &[&Access<'_>],
        depth: usize,
        after: Option<usize>,
    ) -> Option<usize> {
        let mut live = after;
        let same = |a: &&Access<'_>, b: &&Access<'_>| edit::same(a.path[depth], b.path[depth]);
        for group in accesses.chunk_by(same).collect::<Vec<_>>().into_iter().rev() {
            let op = group[0].path[depth];
            let (start, end) = self.order.span(op);
            let deeper: Vec<_> =
                group.iter().copied().filter(|access| access.path.len() > depth + 1).collect();
            if deeper.len() == group.len() {
                live = self.nested(op, &deeper, depth + 1, live);
            } else if group.iter().all(|access| access.overwrites) && group.len() == 1 {
                self.spans.push((start, live.unwrap_or(end)));
                live = None;
            } else {
                live = Some(live.unwrap_or(end));
            }
        }
        live
    }

    /// The accesses inside of the regions of `op`.
    fn nested(
        &mut self,
        op: Op<'_>,
        accesses: &[&Access<'_>],
        depth: usize,
        after: Option<usize>,
    ) -> Option<usize> {
        let whole = Some(after.unwrap_or(self.order.span(op).1));
        let once = ONCE.contains(&ir::op_name(op));
        if several_blocks(op) || (after.is_some() && !once) {
            return whole;
        }
        let kept = self.spans.len();
        let mut live = after;
        let region =
            |access: &&Access<'_>| access.path[depth].block().map(|b| b.to_raw().ptr as usize);
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

fn key(op: Op<'_>) -> usize {
    op.to_raw().ptr as usize
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

/// The operations that use a buffer or what refers to it, each once, with whether it overwrites
/// the whole buffer.
fn accesses<'c>(buffer: Val<'c>) -> Vec<(Op<'c>, bool)> {
    let mut found: BTreeMap<usize, (Op<'c>, bool)> = BTreeMap::new();
    let mut seen = HashSet::new();
    // With whether the alias has all elements of the buffer.
    let mut work = vec![(buffer, true)];
    while let Some((value, whole)) = work.pop() {
        if !seen.insert(value.to_raw().ptr as usize) {
            continue;
        }
        for user in ir::users(value) {
            let overwrites = whole && overwrites(user, value);
            // Used twice by one operation, it is read too.
            found
                .entry(key(user))
                .and_modify(|(_, all)| *all = false)
                .or_insert((user, overwrites));
            let whole = whole && keeps_all(user);
            work.extend(aliases(user).into_iter().map(|alias| (alias, whole)));
        }
    }
    found.into_values().filter(|(op, _)| !is_view(*op)).collect()
}

/// Operations that only make another name for a buffer: no use of its bytes.
fn is_view(op: Op<'_>) -> bool {
    keeps_all(op)
        || matches!(
            ir::op_name(op),
            "memref.subview"
                | "memref.reinterpret_cast"
                | "memref.view"
                | "memref.dim"
                | "memref.extract_strided_metadata"
        )
}

fn keeps_all(op: Op<'_>) -> bool {
    matches!(
        ir::op_name(op),
        "memref.cast"
            | "memref.collapse_shape"
            | "memref.expand_shape"
            | "memref.assume_alignment"
            | "memref.transpose"
            | "memref.memory_space_cast"
    )
}

/// Whether `op` writes every element of `value`, and reads none.
fn overwrites<'c>(op: Op<'c>, value: Val<'c>) -> bool {
    let operands = ir::operands(op);
    let uses = operands.iter().filter(|operand| **operand == value).count();
    let last = operands.last().is_some_and(|last| *last == value);
    match ir::op_name(op) {
        _ if uses != 1 => false,
        name if FILLS.contains(&name) => last,
        tir::DmaCopy::NAME | tir::DmaStart::NAME => operands.get(1) == Some(&value),
        tir::CallExtern::NAME => {
            !op.has_attribute("accumulate")
                && CallExtern::of(op).is_some_and(|call| call.groups[2].contains(&value))
        }
        _ => false,
    }
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
    let hands_on = matches!(
        ir::op_name(user),
        "scf.yield" | "scf.condition" | "affine.yield" | "cf.br" | "cf.cond_br" | "cf.switch"
    );
    if let Some(parent) = user.parent_operation().filter(|_| hands_on) {
        if ir::op_name(parent) != "func.func" || several_blocks(parent) {
            blocks_of(parent);
        }
        found.extend(ir::results(parent));
    }
    found.retain(|value| ir::types::keeps_buffer(value.r#type()));
    found
}
