//! Memory planning: places in one arena for buffers that live at known times.
//!
//! Nothing here knows MLIR; `plan-memory` finds the buffers and rewrites the program.

mod pack;
#[cfg(test)]
mod tests;

use thiserror::Error;

/// A buffer that lives from one point of the program to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer {
    /// Bytes.
    pub size: u64,
    /// Power of two that its offset is a multiple of.
    pub align: u64,
    /// The first point at which it is in use.
    pub start: usize,
    /// The last point at which it is in use, itself included.
    pub end: usize,
}

impl Buffer {
    /// Whether both are in use at some point.
    pub fn meets(&self, other: &Buffer) -> bool {
        self.start <= other.end && other.start <= self.end
    }
}

/// Where the buffers are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The offset of each buffer, in the order in which they were given.
    pub offsets: Vec<u64>,
    /// Size of the arena.
    pub peak: u64,
    /// No arena can be smaller: the most bytes that are in use at one point.
    pub lower_bound: u64,
}

/// Why a plan is not valid.
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
    let lower_bound = lower_bound(buffers);
    let offsets = pack::pack(buffers, lower_bound);
    let ends = buffers.iter().zip(&offsets).map(|(buffer, offset)| offset + buffer.size);
    let plan = Plan { peak: ends.max().unwrap_or(0), offsets, lower_bound };
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
    // Sorted by start, only buffers up to the end of the current one can meet it.
    let mut order: Vec<usize> = (0..placed.len()).collect();
    order.sort_by_key(|index| buffers[*index].start);
    for (position, &first) in order.iter().enumerate() {
        let (a, a_offset) = placed[first];
        let later =
            order[position + 1..].iter().take_while(|index| buffers[**index].start <= a.end);
        for &second in later {
            let (b, b_offset) = placed[second];
            let shares = *a_offset < b_offset + b.size && *b_offset < a_offset + a.size;
            if shares && a.size > 0 && b.size > 0 {
                return Err(PlanError::Overlap(first.min(second), first.max(second)));
            }
        }
    }
    Ok(())
}

/// The most bytes in use at one point.
fn lower_bound(buffers: &[Buffer]) -> u64 {
    let mut events: Vec<(usize, bool, u64)> = vec![];
    for buffer in buffers {
        // At one point what starts counts before what ends, as ends are included.
        events.push((buffer.start, false, buffer.size));
        events.push((buffer.end, true, buffer.size));
    }
    events.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, ends, size) in events {
        if ends {
            now -= size;
        } else {
            now += size;
            most = most.max(now);
        }
    }
    most
}
