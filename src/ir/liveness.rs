//! When buffers are in use.

use super::{Op, Val, edit, types};
use melior::ir::{BlockLike, RegionLike, ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, BTreeSet};

/// Operations with regions from which a buffer may be handed out, because they run at most once.
const ONCE: [&str; 3] = ["scf.if", "scf.execute_region", "scf.index_switch"];

/// Operations whose regions run many times at once.
const PARALLEL: [&str; 3] = ["scf.parallel", "scf.forall", "omp.parallel"];

/// Points in the run of a function: each operation has one where it starts and one where it ends,
/// and what is inside of it lies between them.
pub struct Timeline {
    points: BTreeMap<usize, (usize, usize)>,
}

/// The use of one buffer.
#[derive(Debug)]
pub struct Lifetime<'c> {
    /// The first point at which the buffer or an alias is used.
    pub start: usize,
    /// The last one.
    pub end: usize,
    /// Operations that free it.
    pub deallocs: Vec<Op<'c>>,
}

impl Timeline {
    /// Numbers the operations of a function.
    pub fn of(function: Op<'_>) -> Self {
        let mut timeline = Self { points: BTreeMap::new() };
        timeline.number(function, &mut 0);
        timeline
    }

    fn number(&mut self, op: Op<'_>, next: &mut usize) {
        let start = *next;
        *next += 1;
        for inner in super::ops_of(op) {
            self.number(inner, next);
        }
        self.points.insert(key(op), (start, *next));
        *next += 1;
    }

    /// Start and end of an operation.
    pub fn span(&self, op: Op<'_>) -> (usize, usize) {
        self.points.get(&key(op)).copied().unwrap_or_default()
    }

    /// When the buffer that `alloc` makes is in use, through all its aliases. The error says what
    /// keeps the buffer from being planned.
    pub fn lifetime<'c>(&self, alloc: Op<'c>) -> Result<Lifetime<'c>, (Op<'c>, &'static str)> {
        let at = self.span(alloc);
        let mut lifetime = Lifetime { start: usize::MAX, end: 0, deallocs: vec![] };
        let mut seen = BTreeSet::new();
        let mut work = super::results(alloc);
        if ancestors(alloc).any(|op| PARALLEL.contains(&super::op_name(op))) {
            return Err((
                alloc,
                "is inside of a parallel loop, where each thread needs a buffer \
                 of its own: allocate it outside",
            ));
        }
        while let Some(value) = work.pop() {
            if !seen.insert(value.to_raw().ptr as usize) {
                continue;
            }
            for user in super::users(value) {
                if super::op_name(user) == "memref.dealloc" {
                    lifetime.deallocs.push(user);
                    continue;
                }
                let (start, end) = self.outermost(user, alloc);
                lifetime.start = lifetime.start.min(start);
                lifetime.end = lifetime.end.max(end);
                work.extend(aliases(user, alloc)?);
            }
        }
        if lifetime.start == usize::MAX {
            (lifetime.start, lifetime.end) = at;
        }
        Ok(lifetime)
    }

    /// The span of the outermost operation around `user` that is not also around `alloc`: a use in
    /// a loop counts for the whole loop, unless the buffer is made anew in each iteration.
    fn outermost(&self, user: Op<'_>, alloc: Op<'_>) -> (usize, usize) {
        let made = self.span(alloc);
        let mut span = self.span(user);
        for ancestor in ancestors(user) {
            let around = self.span(ancestor);
            if around.0 <= made.0 && made.1 <= around.1 {
                break;
            }
            span = around;
        }
        span
    }
}

fn key(op: Op<'_>) -> usize {
    op.to_raw().ptr as usize
}

fn ancestors<'c>(op: Op<'c>) -> impl Iterator<Item = Op<'c>> {
    std::iter::successors(op.parent_operation(), |op| op.parent_operation())
        .take_while(|op| super::op_name(*op) != "func.func")
}

/// The values through which the buffer may be used after it was given to `user`.
fn aliases<'c>(user: Op<'c>, alloc: Op<'c>) -> Result<Vec<Val<'c>>, (Op<'c>, &'static str)> {
    let name = super::op_name(user);
    if matches!(name, "func.return" | "llvm.return") {
        return Err((
            user,
            "returns a buffer that is allocated in the function: only buffers \
             given to it can be written to",
        ));
    }
    if name == "memref.extract_aligned_pointer_as_index" {
        return Err((user, "takes the address of a buffer whose memory is not planned yet"));
    }
    let mut found: Vec<Val<'c>> = super::results(user);
    for region in user.regions() {
        let mut block = region.first_block();
        while let Some(current) = block {
            found.extend(edit::arguments(current));
            block = current.next_in_region();
        }
    }
    let parent = user.parent_operation().filter(|parent| super::op_name(*parent) != "func.func");
    if let Some(parent) = parent.filter(|_| is_terminator(name)) {
        let inside = ancestors(alloc).any(|op| edit::same(op, parent));
        if inside && !ONCE.contains(&super::op_name(parent)) {
            return Err((
                user,
                "carries a buffer that is allocated in a loop to the next \
                 iteration: allocate it before the loop",
            ));
        }
        found.extend(super::results(parent));
        for region in parent.regions() {
            found.extend(region.first_block().map(edit::arguments).unwrap_or_default());
        }
    }
    found.retain(|value| types::keeps_buffer(value.r#type()));
    Ok(found)
}

fn is_terminator(name: &str) -> bool {
    matches!(name, "scf.yield" | "scf.condition" | "affine.yield" | "cf.br" | "cf.cond_br")
}
