//! The calls of a chain for one stripe of the last one's result, and stripes that are alike.

use crate::{
    expr::Expr,
    tile::{
        choose::names_ends,
        keep::Call,
        plan::{Plan, Window},
    },
};

/// A call, and which of its tensors is the result of the call before.
#[derive(Clone, Debug)]
pub struct Link {
    /// The call.
    pub call: Call,
    /// The tensor, by its place; nothing for the first call.
    pub reads: Option<usize>,
}

/// A part of a dimension of a tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The dimension.
    pub dim: usize,
    /// Its first position in the first stripe.
    pub start: i64,
    /// Positions from one stripe to the next.
    pub step: i64,
    /// Number of positions.
    pub size: i64,
}

/// A tensor of which a stripe keeps the rows that the next one reads as well, at the start of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ring {
    /// The tensor, by its place.
    pub tensor: usize,
    /// The dimension of its rows.
    pub dim: usize,
    /// The first of the rows that are kept, in the stripe before.
    pub from: i64,
    /// Rows of its own that a stripe finds there; the others are loaded.
    pub kept: i64,
    /// Rows of the buffer: the most of all stripes.
    pub rows: i64,
}

/// A call as it is computed for one stripe.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// The call on parts of its tensors.
    pub call: Call,
    /// For each tensor, its part for the stripe; empty for all of it.
    pub slices: Vec<Vec<Slice>>,
    /// The tensors that are the same for all stripes and are loaded once for them.
    pub held: Vec<usize>,
    /// The tensors that keep rows from stripe to stripe.
    pub rings: Vec<Ring>,
}

/// Stripes in a row that differ only in where they are.
#[derive(Clone, Debug, PartialEq)]
pub struct Stripes {
    /// Number of stripes.
    pub count: i64,
    /// The calls of each.
    pub parts: Vec<Part>,
}

/// The stripes of a size along a loop of the last call; none where a call cannot be cut like that.
pub(super) fn stripes(
    links: &[Link],
    (place, size): (usize, i64),
    rings: bool,
) -> Option<Vec<Stripes>> {
    let l = links.last()?.call.plan.loops.get(place)?;
    let mut runs: Vec<Stripes> = vec![];
    let mut before: Option<Vec<Part>> = None;
    for piece in l.pieces(size) {
        let mut parts = stripe(links, place, piece.start, piece.size)?;
        if rings {
            let next = parts.clone();
            add_rings(&mut parts, before.as_deref())?;
            before = Some(next);
        }
        let is_next = runs.last_mut().is_some_and(|run| append(run, &parts));
        if !is_next {
            runs.push(Stripes { count: 1, parts });
        }
    }
    Some(runs)
}

/// The rows that a stripe has from the one before; none where rows are not adjacent in their pool.
pub(super) fn add_rings(parts: &mut [Part], before: Option<&[Part]>) -> Option<()> {
    for (place, part) in parts.iter_mut().enumerate() {
        for tensor in 0..part.call.reads {
            let Some(dim) = part.ring_of(tensor) else { continue };
            let slice = |part: &Part| {
                part.slices.get(tensor)?.iter().find(|slice| slice.dim == dim).copied()
            };
            let own = slice(part)?;
            let old = before.and_then(|before| slice(before.get(place)?));
            let end = old.map_or(own.start, |old| old.start + old.size);
            let kept = (end - own.start).clamp(0, own.size);
            let from = old.map_or(0, |old| if kept > 0 { own.start - old.start } else { 0 });
            part.rings.push(Ring { tensor, dim, from, kept, rows: own.size });
            part.call.plan.tensors.get_mut(tensor)?.kept = true;
        }
    }
    Some(())
}

impl Part {
    /// The dimension of the rows that a tensor may keep from one stripe to the next: the only one that stripes cut,
    /// outside of all others.
    fn ring_of(&self, tensor: usize) -> Option<usize> {
        let slices = self.slices.get(tensor)?;
        let [slice] = slices.as_slice() else { return None };
        let (found, _) = self.call.home(tensor)?;
        let dim = found.dims.get(slice.dim)?;
        let outside = found.dims.get(..slice.dim)?;
        let along = found.ring.is_some_and(|along| along == dim.cut);
        let l = self.call.plan.loops.get(dim.loop_place()?)?;
        let overlaps = l.windows.get(dim.window_place()?).is_some_and(overlaps);
        (along && overlaps && outside.iter().all(|dim| dim.size == 1)).then_some(slice.dim)
    }

    /// Bytes of a row of a ring.
    pub fn row_bytes(&self, ring: &Ring) -> i64 {
        let tensor = self.call.plan.tensors.get(ring.tensor);
        let dims = tensor.map(|tensor| tensor.dims.as_slice()).unwrap_or_default();
        let inside = dims.get(ring.dim + 1..).unwrap_or_default();
        let element = tensor.map_or(1, |tensor| tensor.element);
        inside.iter().map(|dim| dim.size).fold(element, i64::saturating_mul)
    }
}

/// True if a call by itself may keep rows from stripe to stripe.
pub fn has_ring(call: &Call) -> bool {
    let along = |tensor: usize| {
        let (found, pool) = call.home(tensor)?;
        let along = usize::try_from(found.ring.filter(|_| pool.dma.shift.is_some())?).ok()?;
        let own = call.plan.loops.get(along)?.windows.iter();
        Some(own.filter(|window| window.tensor == found.name).any(overlaps))
    };
    (0..call.reads).any(|tensor| along(tensor) == Some(true))
}

/// True if neighbouring positions of a loop read positions in common.
fn overlaps(window: &Window) -> bool {
    (window.kernel - 1).saturating_mul(window.dilation) + 1 > window.stride
}

/// Lengthens a run by a stripe, if that is as the others are and one step further.
fn append(run: &mut Stripes, parts: &[Part]) -> bool {
    let pairs = || {
        let slices = |parts: &[Part]| -> Vec<Slice> {
            parts.iter().flat_map(|part| part.slices.iter().flatten().copied()).collect()
        };
        slices(&run.parts).into_iter().zip(slices(parts))
    };
    let same = run.parts.len() == parts.len()
        && run
            .parts
            .iter()
            .zip(parts)
            .all(|(old, new)| old.call.plan == new.call.plan && old.rings == new.rings)
        && pairs().all(|(old, new)| {
            (old.dim, old.size) == (new.dim, new.size)
                && (run.count == 1 || old.start + old.step * run.count == new.start)
        });
    if !same {
        return false;
    }
    if run.count == 1 {
        for (part, new) in run.parts.iter_mut().zip(parts) {
            for (old, new) in part.slices.iter_mut().flatten().zip(new.slices.iter().flatten()) {
                old.step = new.start - old.start;
            }
        }
    }
    run.count += 1;
    true
}

/// The calls for the positions of one stripe of the last call's loop.
pub(super) fn stripe(
    links: &[Link],
    mut place: usize,
    mut start: i64,
    mut size: i64,
) -> Option<Vec<Part>> {
    let mut parts: Vec<Part> = vec![];
    for (index, link) in links.iter().enumerate().rev() {
        let mut part = restrict(&link.call, place, start, size)?;
        if let Some(next) = links.get(index + 1) {
            // The result of this call is what the next one reads.
            let written = part.call.plan.tensors.get_mut(link.call.reads)?;
            written.kept = true;
            let read = parts.last()?.call.plan.tensors.get(next.reads?)?;
            if !written.dims.iter().map(|dim| dim.size).eq(read.dims.iter().map(|dim| dim.size)) {
                return None;
            }
        }
        if let (Some(_), Some(reads)) = (index.checked_sub(1), link.reads) {
            let [slice] = part.slices.get(reads)?.as_slice() else { return None };
            (start, size) = (slice.start, slice.size);
            let producer = links.get(index - 1)?;
            let written = producer.call.plan.tensors.get(producer.call.reads)?;
            let dim = written.dims.get(slice.dim)?;
            if dim.window_place().is_some() || dim.divisor != 1 {
                return None;
            }
            place = dim.loop_place()?;
            part.call.home(reads)?;
            part.call.plan.tensors.get_mut(reads)?.kept = true;
        }
        parts.push(part);
    }
    parts.reverse();
    Some(parts)
}

/// A call for some positions of a loop; none if it would be another call.
fn restrict(call: &Call, place: usize, start: i64, size: i64) -> Option<Part> {
    let l = call.plan.loops.get(place)?;
    if l.reduce || knows_ends(&call.plan, &l.name) {
        return None;
    }
    let piece = l.piece(start, size);
    let mut plan = Plan { tiles: None, ..call.plan.clone() };
    let mut slices = vec![];
    for tensor in &mut plan.tensors {
        let mut own = vec![];
        for (dim, cut) in tensor.dims.iter_mut().enumerate() {
            if cut.loop_place() != Some(place) {
                continue;
            }
            let (start, size) = match cut.window_place() {
                Some(window) => {
                    let reach = piece.reaches.get(window)?;
                    (reach.start, reach.size)
                }
                None if piece.start % cut.divisor != 0 => return None,
                None if piece.size % cut.divisor != 0 && !piece.last => return None,
                None => (piece.start / cut.divisor, (piece.size + cut.divisor - 1) / cut.divisor),
            };
            cut.size = size;
            own.push(Slice { dim, start, step: 0, size });
        }
        slices.push(own);
    }
    let own = plan.loops.get_mut(place)?;
    own.extent = size;
    for (window, reach) in own.windows.iter_mut().zip(&piece.reaches) {
        (window.input, window.pad) = (reach.size, reach.pad);
    }
    Some(Part { call: Call { plan, reads: call.reads }, slices, held: vec![], rings: vec![] })
}

/// True if anything of a call depends on which piece of a loop is the first or the last.
fn knows_ends(plan: &Plan, name: &str) -> bool {
    let given = plan.tensors.iter().flat_map(|tensor| &tensor.given).map(|given| &given.value);
    let args = plan.args.iter().map(|argument| &argument.value);
    let mut texts = args.chain(given).chain(&plan.require).filter(|text| !text.is_empty());
    texts.any(|text| Expr::parse(text).is_ok_and(|expr| names_ends(&expr, name)))
}
