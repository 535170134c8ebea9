//! Memory of functions that call each other: one plan for all of them.
//!
//! A function's buffers lie in its frame, at the same distances from its start in every call. A
//! callee runs at points between those of the caller, so buffers of both are planned together. The
//! callee's frame may overlap the caller's buffers, as long as buffers that share bytes are in use
//! at different times. An opaque function is planned alone, and its frame is one buffer of its
//! callers.

use super::{Buffer, PlanError, Span};

/// A function.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// Number of points of its run, those of its calls included.
    pub length: usize,
    /// Its own buffers, in use at its own points.
    pub buffers: Vec<Buffer>,
    /// The calls of functions that stand before it in the list.
    pub calls: Vec<Call>,
    /// True if its callers know nothing of the buffers in its frame.
    pub opaque: bool,
}

/// A call.
#[derive(Clone, Copy, Debug)]
pub struct Call {
    /// Place of the called function in the list.
    pub callee: usize,
    /// The caller's points from the beginning of the call to its end.
    pub span: Span,
    /// The caller's point at which the callee's first one is.
    pub start: usize,
}

/// The memory of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Frame {
    /// Its size; 0 for a function that needs none.
    pub bytes: u64,
    /// Offsets of the function's buffers in it.
    pub buffers: Vec<u64>,
    /// Offsets in it of the frames of the function's calls.
    pub calls: Vec<u64>,
    /// Lower bound of its size, for a function whose frame is planned alone.
    pub bound: Option<Bound>,
}

/// Lower bound of any plan of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bound {
    /// The most bytes that are in use at one point, in calls too.
    pub bytes: u64,
    /// The function that runs at this point.
    pub function: usize,
    /// The point, one of that function.
    pub point: usize,
}

/// Plans functions, those called before those that call them. With a guard, nothing shares bytes,
/// and so many are free after each buffer.
pub fn plan(functions: &[Function], guard: u64) -> Result<Vec<Frame>, PlanError> {
    let opaque: Vec<bool> = functions.iter().map(|function| function.opaque).collect();
    let together = attempt(functions, &opaque, guard)?;
    let mut calls = vec![0_usize; functions.len()];
    for call in functions.iter().flat_map(|function| &function.calls) {
        calls[call.callee] += 1;
    }
    let tight = together.iter().all(|frame| frame.bound.is_none_or(|b| b.bytes == frame.bytes));
    if tight || calls.iter().all(|calls| *calls < 2) {
        return Ok(together);
    }
    // One place for all calls of a function costs bytes where the calls differ much.
    let several: Vec<bool> = opaque.iter().zip(&calls).map(|(o, calls)| *o || *calls > 1).collect();
    let apart = attempt(functions, &several, guard)?;
    let bytes = |frames: &[Frame]| sum_of_roots(functions, frames);
    Ok(if bytes(&apart) < bytes(&together) { with_bounds_of(apart, &together) } else { together })
}

/// Lower bound of any plan, in bytes of the frames of functions that nobody calls.
pub fn least(functions: &[Function]) -> u64 {
    let opaque: Vec<bool> = functions.iter().map(|function| function.opaque).collect();
    let roots = roots(functions, &opaque);
    let mut frames = vec![Frame::default(); functions.len()];
    for root in (0..functions.len()).filter(|root| roots[*root] == *root) {
        let region = Region { functions, roots: &roots, root };
        let (_, buffers) = region.buffers(&frames, &region.instances(), 0);
        frames[root].bytes = super::lower_bound(&buffers).0;
    }
    sum_of_roots(functions, &frames)
}

/// The bytes of the frames of functions that nobody calls.
pub fn sum_of_roots(functions: &[Function], frames: &[Frame]) -> u64 {
    let mut called = vec![false; functions.len()];
    for call in functions.iter().flat_map(|function| &function.calls) {
        called[call.callee] = true;
    }
    let roots = frames.iter().zip(called).filter(|(_, called)| !called);
    roots.map(|(frame, _)| frame.bytes).fold(0, u64::saturating_add)
}

/// Byte ranges of the guards in a function's frame, those of its calls included.
pub fn gaps(
    functions: &[Function],
    frames: &[Frame],
    function: usize,
    guard: u64,
) -> Vec<(u64, u64)> {
    let (function, frame) = (&functions[function], &frames[function]);
    let mut all = vec![];
    for (buffer, offset) in function.buffers.iter().zip(&frame.buffers) {
        let end = offset + buffer.size;
        all.push((end, end + guard));
    }
    for (call, offset) in function.calls.iter().zip(&frame.calls) {
        let callee = &frames[call.callee];
        let inside = gaps(functions, frames, call.callee, guard);
        all.extend(inside.into_iter().map(|gap| (gap.0 + offset, gap.1 + offset)));
        if callee.bound.is_some() && callee.bytes > 0 {
            let end = offset + callee.bytes;
            all.push((end, end + guard));
        }
    }
    all.sort_unstable();
    all.dedup();
    all
}

/// A bound from exact times holds for other plans too, and says more than one from frames as wholes.
fn with_bounds_of(mut frames: Vec<Frame>, exact: &[Frame]) -> Vec<Frame> {
    for (frame, exact) in frames.iter_mut().zip(exact) {
        if exact.bound.is_some() {
            frame.bound = exact.bound;
        }
    }
    frames
}

fn attempt(functions: &[Function], opaque: &[bool], guard: u64) -> Result<Vec<Frame>, PlanError> {
    let roots = roots(functions, opaque);
    let mut frames = vec![Frame::default(); functions.len()];
    for root in 0..functions.len() {
        if roots[root] == root {
            Region { functions, roots: &roots, root }.plan(&mut frames, guard)?;
        }
    }
    Ok(frames)
}

/// For each function the one with which it is planned: itself if nobody calls it, if it is opaque,
/// or if functions that are planned apart call it.
fn roots(functions: &[Function], opaque: &[bool]) -> Vec<usize> {
    let mut reached: Vec<Vec<usize>> = vec![vec![]; functions.len()];
    let mut roots: Vec<usize> = (0..functions.len()).collect();
    for index in (0..functions.len()).rev() {
        if let ([only], false) = (&*reached[index], opaque[index]) {
            roots[index] = *only;
        }
        for call in &functions[index].calls {
            if !reached[call.callee].contains(&roots[index]) {
                reached[call.callee].push(roots[index]);
            }
        }
    }
    roots
}

/// Functions that are planned together.
struct Region<'a> {
    functions: &'a [Function],
    roots: &'a [usize],
    root: usize,
}

/// Owner of a place: a function's buffer, or the frame of an opaque function that it calls.
enum Slot {
    Buffer(usize, usize),
    Call(usize, usize),
}

impl Region<'_> {
    fn plan(&self, frames: &mut [Frame], guard: u64) -> Result<(), PlanError> {
        let instances = self.instances();
        let (slots, buffers) = self.buffers(frames, &instances, guard);
        let plan = super::plan(&buffers)?;
        let extents = self.extents(&slots, &buffers, &plan.offsets);
        let begin = |function: usize| extents[function].map_or(0, |extent| extent.0);
        for index in self.members() {
            let function = &self.functions[index];
            let calls = function.calls.iter().map(|call| match extents[call.callee] {
                Some((start, _)) if self.has(call.callee) => start - begin(index),
                _ => 0,
            });
            frames[index] = Frame {
                // Buffers without elements need a place too, of which nothing is touched.
                bytes: extents[index].map_or(0, |(begin, end)| (end - begin).max(1)),
                buffers: vec![0; function.buffers.len()],
                calls: calls.collect(),
                bound: None,
            };
        }
        for (slot, offset) in slots.iter().zip(&plan.offsets) {
            match slot {
                Slot::Buffer(function, index) => {
                    frames[*function].buffers[*index] = offset - begin(*function);
                }
                Slot::Call(function, index) => {
                    frames[*function].calls[*index] = offset - begin(*function);
                }
            }
        }
        frames[self.root].bound = Some(self.bound(&instances, &plan));
        Ok(())
    }

    /// Begin and end of each frame, from the start of the root's.
    fn extents(
        &self,
        slots: &[Slot],
        buffers: &[Buffer],
        offsets: &[u64],
    ) -> Vec<Option<(u64, u64)>> {
        let align = buffers.iter().map(|buffer| buffer.align).max().unwrap_or(1);
        let mut extents: Vec<Option<(u64, u64)>> = vec![None; self.functions.len()];
        let mut add = |function: usize, begin: u64, end: u64| {
            let old = extents[function].unwrap_or((u64::MAX, 0));
            extents[function] = Some((old.0.min(begin / align * align), old.1.max(end)));
        };
        for ((slot, buffer), offset) in slots.iter().zip(buffers).zip(offsets) {
            let (Slot::Buffer(function, _) | Slot::Call(function, _)) = slot;
            add(*function, *offset, offset + buffer.size);
        }
        for index in self.members() {
            for call in self.functions[index].calls.iter().filter(|call| self.has(call.callee)) {
                if let Some((begin, end)) = extents[call.callee] {
                    let old = extents[index].unwrap_or((u64::MAX, 0));
                    extents[index] = Some((old.0.min(begin), old.1.max(end)));
                }
            }
        }
        extents
    }

    fn has(&self, function: usize) -> bool {
        function != self.root && self.roots[function] == self.root
    }

    fn members(&self) -> impl Iterator<Item = usize> {
        (0..=self.root).filter(|function| self.roots[*function] == self.root)
    }

    /// Each run of each function, with the point at which it begins, in order.
    fn instances(&self) -> Vec<Vec<usize>> {
        let mut found = vec![vec![]; self.functions.len()];
        let mut work = vec![(self.root, 0)];
        while let Some((function, begin)) = work.pop() {
            found[function].push(begin);
            let calls = self.functions[function].calls.iter();
            let known = calls.filter(|call| self.has(call.callee));
            work.extend(known.map(|call| (call.callee, begin + call.start)));
        }
        found.iter_mut().for_each(|begins| begins.sort_unstable());
        found
    }

    fn buffers(
        &self,
        frames: &[Frame],
        instances: &[Vec<usize>],
        guard: u64,
    ) -> (Vec<Slot>, Vec<Buffer>) {
        let (mut slots, mut found) = (vec![], vec![]);
        let mut add = |slot: Slot, function: usize, size: u64, align: u64, spans: &[Span]| {
            let shifted = instances[function].iter().flat_map(|begin| {
                spans.iter().map(move |(start, end)| (begin + start, begin + end))
            });
            let spans = match guard {
                0 => shifted.collect(),
                _ => vec![(0, usize::MAX - 1)],
            };
            slots.push(slot);
            found.push(Buffer { size: size.saturating_add(guard), align, spans });
        };
        for index in self.members() {
            let function = &self.functions[index];
            for (place, buffer) in function.buffers.iter().enumerate() {
                let slot = Slot::Buffer(index, place);
                add(slot, index, buffer.size, buffer.align, &buffer.spans);
            }
            for (place, call) in function.calls.iter().enumerate() {
                let bytes = frames[call.callee].bytes;
                if !self.has(call.callee) && bytes > 0 {
                    let align = self.align(call.callee);
                    add(Slot::Call(index, place), index, bytes, align, &[call.span]);
                }
            }
        }
        (slots, found)
    }

    /// Alignment of a function's frame.
    fn align(&self, function: usize) -> u64 {
        let function = &self.functions[function];
        let own = function.buffers.iter().map(|buffer| buffer.align);
        own.chain(function.calls.iter().map(|call| self.align(call.callee))).max().unwrap_or(1)
    }

    fn bound(&self, instances: &[Vec<usize>], plan: &super::Plan) -> Bound {
        let mut found = Bound { bytes: plan.lower_bound, function: self.root, point: plan.fullest };
        // What is called begins later than who calls it.
        let mut latest = 0;
        for function in self.members() {
            for begin in &instances[function] {
                let inside = begin + self.functions[function].length;
                if *begin >= latest && (*begin..inside).contains(&plan.fullest) {
                    latest = *begin;
                    (found.function, found.point) = (function, plan.fullest - begin);
                }
            }
        }
        found
    }
}
