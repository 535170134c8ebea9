//! The search for buffers that share bytes while both are in use.

use std::collections::{BTreeMap, BTreeSet};

/// The use of some bytes of a memory for some time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The first point of the program at which the bytes matter.
    pub start: usize,
    /// The last one, itself included.
    pub end: usize,
    /// The first byte.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// The buffer that this is a use of.
    pub buffer: usize,
}

/// Two uses of the same bytes at the same time, the one that starts first before the other.
pub type Clash = (Use, Use);

/// The first clash of different buffers in the order of the program.
///
/// Takes n log n steps: uses at one time are disjoint as long as nothing has clashed, so a new one
/// can only meet its neighbours.
pub fn clash(uses: &[Use]) -> Option<Clash> {
    let mut order: Vec<&Use> = uses.iter().filter(|piece| piece.size > 0).collect();
    order.sort_by_key(|piece| (piece.start, piece.offset, piece.buffer));
    let mut active: BTreeMap<u64, &Use> = BTreeMap::new();
    // Ends and offsets of what is active.
    let mut ends: BTreeSet<(usize, u64)> = BTreeSet::new();
    for piece in order {
        while let Some((end, offset)) = ends.first().copied().filter(|(end, _)| *end < piece.start)
        {
            ends.remove(&(end, offset));
            active.remove(&offset);
        }
        let last = piece.offset.saturating_add(piece.size - 1);
        let before = active.range(..=last).next_back().map(|(_, other)| **other);
        if let Some(other) = before.filter(|o| o.offset.saturating_add(o.size - 1) >= piece.offset)
        {
            if other.buffer != piece.buffer {
                return Some((other, *piece));
            }
            // One buffer at two times that touch: its longer use counts.
            if other.end >= piece.end {
                continue;
            }
            ends.remove(&(other.end, other.offset));
        }
        active.insert(piece.offset, piece);
        ends.insert((piece.end, piece.offset));
    }
    None
}
