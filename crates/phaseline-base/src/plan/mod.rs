//! Memory planning: places in one arena for buffers that live at known times.
//!
//! Nothing here knows MLIR; `plan-memory` finds the buffers and rewrites the program.

pub mod order;
mod pack;
pub mod program;
#[cfg(test)]
mod program_tests;
#[cfg(test)]
mod tests;

use thiserror::Error;

/// From the first point of the program at which bytes are in use to the last, itself included.
pub type Span = (usize, usize);

/// A buffer that is in use at some times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Bytes.
    pub size: u64,
    /// Power of two that its offset is a multiple of.
    pub align: u64,
    /// Its live ranges, in order and disjoint. A buffer of a function that is called from several
    /// places is in use in each of its calls.
    pub spans: Vec<Span>,
}

impl Buffer {
    /// A buffer that is in use once.
    pub fn once(size: u64, align: u64, span: Span) -> Self {
        Self { size, align, spans: vec![span] }
    }
}

/// Places of buffers in an arena, and its size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The offset of each buffer, in the order in which they were given.
    pub offsets: Vec<u64>,
    /// Size of the arena.
    pub peak: u64,
    /// Lower bound of the arena's size: the most bytes that are in use at one point.
    pub lower_bound: u64,
    /// The first point at which so many are in use.
    pub fullest: usize,
}

/// Fault of a plan that is not valid.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum PlanError {
    /// There are not as many offsets as buffers.
    #[error("the plan has {offsets} offsets for {buffers} buffers")]
    Count {
        /// Offsets given.
        offsets: usize,
        /// Buffers given.
        buffers: usize,
    },
    /// An offset is not aligned.
    #[error("buffer {0} is not aligned")]
    Misaligned(usize),
    /// A buffer ends beyond the arena.
    #[error("buffer {0} ends outside of the arena")]
    Outside(usize),
    /// Two buffers that are in use at the same time share bytes.
    #[error("buffers {0} and {1} overlap while both are in use")]
    Overlap(usize, usize),
    /// The sizes do not fit 64 bits.
    #[error("the buffers are too large to be planned")]
    TooLarge,
}

/// Places buffers. The result is valid: [`validate`] has checked it.
pub fn plan(buffers: &[Buffer]) -> Result<Plan, PlanError> {
    let total = buffers
        .iter()
        .try_fold(0_u64, |sum, buffer| sum.checked_add(buffer.size)?.checked_add(buffer.align));
    if total.is_none_or(|total| total > i64::MAX as u64) {
        return Err(PlanError::TooLarge);
    }
    let (lower_bound, fullest) = lower_bound(buffers);
    let offsets = pack::pack(buffers, lower_bound);
    let ends = buffers.iter().zip(&offsets).map(|(buffer, offset)| offset + buffer.size);
    let plan = Plan { peak: ends.max().unwrap_or(0), offsets, lower_bound, fullest };
    validate(buffers, &plan)?;
    Ok(plan)
}

/// Checks that every buffer is inside of the arena and aligned, and apart from all others that are
/// in use when it is.
pub fn validate(buffers: &[Buffer], plan: &Plan) -> Result<(), PlanError> {
    if plan.offsets.len() != buffers.len() {
        let (offsets, buffers) = (plan.offsets.len(), buffers.len());
        return Err(PlanError::Count { offsets, buffers });
    }
    let placed: Vec<_> = buffers.iter().zip(&plan.offsets).collect();
    for (index, (buffer, offset)) in placed.iter().enumerate() {
        if !offset.is_multiple_of(buffer.align) {
            return Err(PlanError::Misaligned(index));
        }
        if offset.checked_add(buffer.size).is_none_or(|end| end > plan.peak) {
            return Err(PlanError::Outside(index));
        }
    }
    // Sorted by start, only spans up to the end of the current one can meet it.
    let mut uses: Vec<(Span, usize)> = vec![];
    for (index, buffer) in buffers.iter().enumerate() {
        uses.extend(buffer.spans.iter().map(|span| (*span, index)));
    }
    uses.sort_unstable();
    for (position, &((_, end), first)) in uses.iter().enumerate() {
        let (a, a_offset) = placed[first];
        let later = uses[position + 1..].iter().take_while(|((start, _), _)| *start <= end);
        for &(_, second) in later.filter(|(_, second)| *second != first) {
            let (b, b_offset) = placed[second];
            let shares = *a_offset < b_offset + b.size && *b_offset < a_offset + a.size;
            if shares && a.size > 0 && b.size > 0 {
                return Err(PlanError::Overlap(first.min(second), first.max(second)));
            }
        }
    }
    Ok(())
}

/// The most bytes in use at one point, and the first such point.
pub fn lower_bound(buffers: &[Buffer]) -> (u64, usize) {
    let mut events: Vec<(usize, bool, u64)> = vec![];
    for buffer in buffers {
        for (start, end) in &buffer.spans {
            // At one point what starts counts before what ends, as ends are included.
            events.push((*start, false, buffer.size));
            events.push((*end, true, buffer.size));
        }
    }
    events.sort_unstable();
    let (mut now, mut most, mut fullest) = (0, 0, 0);
    for (point, ends, size) in events {
        if ends {
            now -= size;
        } else {
            now += size;
            if now > most {
                (most, fullest) = (now, point);
            }
        }
    }
    (most, fullest)
}
