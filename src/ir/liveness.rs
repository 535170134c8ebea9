//! Live ranges of buffers.

use super::{Op, Val, calls, edit, effects, types};
use melior::ir::{BlockLike, RegionLike, ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, HashMap, HashSet};

/// Points in the run of a function: each operation has one where it starts and one where it ends.
/// Operations inside of it lie between them, as do those of its callee.
pub struct Timeline {
    points: HashMap<super::Id, (usize, usize)>,
    /// For each call of a known function, the callee's summary.
    calls: HashMap<super::Id, Run>,
    length: usize,
}

/// Summary of a function's timeline for its callers.
#[derive(Clone, Debug)]
pub struct Run {
    /// Number of points in the function.
    pub length: usize,
    /// First and last use of each argument; none if uses may be at any time.
    pub arguments: Vec<Option<(usize, usize)>>,
}

/// The use of one buffer.
#[derive(Debug)]
pub struct Lifetime<'c> {
    /// The first point at which the buffer or an alias is used.
    pub start: usize,
    /// The last such point.
    pub end: usize,
    /// Operations that free it.
    pub deallocs: Vec<Op<'c>>,
}

impl Timeline {
    /// Numbers the operations of a function; `runs` has the functions that it may call.
    pub fn of(function: Op<'_>, runs: &BTreeMap<String, Run>) -> Self {
        let mut timeline = Self { points: HashMap::new(), calls: HashMap::new(), length: 0 };
        timeline.number(function, runs, &mut 0);
        timeline.length = timeline.span(function).1 + 1;
        timeline
    }

    fn number(&mut self, op: Op<'_>, runs: &BTreeMap<String, Run>, next: &mut usize) {
        let start = *next;
        *next += 1;
        for inner in super::ops_of(op) {
            self.number(inner, runs, next);
        }
        if let Some(run) = calls::callee(op).and_then(|name| runs.get(&name)) {
            *next += run.length;
            self.calls.insert(super::id(op), run.clone());
        }
        self.points.insert(super::id(op), (start, *next));
        *next += 1;
    }

    /// The summary for callers of the function. The times of its arguments are only told if
    /// [`calls::shares_bytes`], so that nothing else relies on them.
    pub fn run<'c>(&self, function: Op<'c>) -> Run {
        let block = edit::entry_block(function);
        let arguments = block.map(edit::arguments).unwrap_or_default();
        let exact = calls::shares_bytes(function);
        let used = |argument: &Val<'c>| {
            let lifetime = self.uses(function, vec![*argument]).ok()?;
            Some((lifetime.start.min(lifetime.end), lifetime.end))
        };
        let arguments = arguments.iter().map(|value| used(value).filter(|_| exact)).collect();
        Run { length: self.length, arguments }
    }

    /// Start and end of an operation.
    pub fn span(&self, op: Op<'_>) -> (usize, usize) {
        self.points.get(&super::id(op)).copied().unwrap_or_default()
    }

    /// Live range of the buffer that `alloc` makes, through all its aliases. The error says why the
    /// buffer cannot be planned.
    pub fn lifetime<'c>(&self, alloc: Op<'c>) -> Result<Lifetime<'c>, (Op<'c>, &'static str)> {
        let at = self.span(alloc);
        if ancestors(alloc).any(effects::runs_at_once) {
            return Err((
                alloc,
                "is inside of a parallel loop, where each thread needs a buffer \
                 of its own: allocate it outside",
            ));
        }
        let mut lifetime = self.uses(alloc, super::results(alloc))?;
        if lifetime.start == usize::MAX {
            (lifetime.start, lifetime.end) = at;
        }
        Ok(lifetime)
    }

    /// Live range of a buffer that `alloc` makes, or that is an argument of the function `alloc`.
    fn uses<'c>(
        &self,
        alloc: Op<'c>,
        mut work: Vec<Val<'c>>,
    ) -> Result<Lifetime<'c>, (Op<'c>, &'static str)> {
        let mut lifetime = Lifetime { start: usize::MAX, end: 0, deallocs: vec![] };
        let mut seen = HashSet::new();
        while let Some(value) = work.pop() {
            if !seen.insert(super::id(value)) {
                continue;
            }
            for user in super::users(value) {
                if super::op_name(user) == "memref.dealloc" {
                    lifetime.deallocs.push(user);
                    continue;
                }
                let (start, end) = self.outermost(user, value, alloc);
                lifetime.start = lifetime.start.min(start);
                lifetime.end = lifetime.end.max(end);
                work.extend(aliases(user, alloc)?);
            }
        }
        Ok(lifetime)
    }

    /// The span of the outermost operation around `user` that is not also around `alloc`. A use in
    /// a loop counts for the whole loop, unless the buffer is made anew in each iteration. In a
    /// call it is the time in which the callee uses `value`.
    fn outermost<'c>(&self, user: Op<'c>, value: Val<'c>, alloc: Op<'c>) -> (usize, usize) {
        let made = self.span(alloc);
        let mut span = self.in_call(user, value).unwrap_or_else(|| self.span(user));
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

impl Timeline {
    /// Range in which the callee of `call` uses `value`.
    fn in_call<'c>(&self, call: Op<'c>, value: Val<'c>) -> Option<(usize, usize)> {
        let run = self.calls.get(&super::id(call))?;
        let begin = self.begin(call);
        let mut all: Option<(usize, usize)> = None;
        for argument in calls::arguments_of(call, value)? {
            let (start, end) = (*run.arguments.get(argument)?)?;
            let old = all.unwrap_or((usize::MAX, 0));
            all = Some((old.0.min(begin + start), old.1.max(begin + end)));
        }
        all
    }

    /// The point at which the callee begins.
    pub fn begin(&self, call: Op<'_>) -> usize {
        self.span(call).0 + 1
    }

    /// Number of points.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The smallest of `ops` that runs at a point.
    pub fn at<'c>(&self, point: usize, ops: &[Op<'c>]) -> Option<Op<'c>> {
        let around = |op: &&Op<'c>| (self.span(**op).0..=self.span(**op).1).contains(&point);
        let length = |op: &&Op<'c>| self.span(**op).1 - self.span(**op).0;
        ops.iter().filter(around).min_by_key(length).copied()
    }
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
    if let Some(parent) = parent.filter(|_| user.next_in_block().is_none()) {
        let inside = ancestors(alloc).any(|op| edit::same(op, parent));
        if inside && effects::repeats(parent) {
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
