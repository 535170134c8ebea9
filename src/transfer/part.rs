//! Parts of buffers: work on disjoint parts needs no order.

use super::access::root;
use crate::ir::{self, Val, memref};

/// Bytes of a buffer from the first to the last that are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    buffer: ir::Id,
    begin: u64,
    end: u64,
}

impl Part {
    /// Part of the buffer behind a value that the value has; all of it, if that is not known.
    pub fn of(value: Val<'_>) -> Self {
        let buffer = ir::id(root(value).0);
        // Places in a block of bytes are counted from there.
        let known = memref::extent(value).filter(|_| ir::id(memref::base(value)) == buffer);
        let (begin, end) = known.unwrap_or((0, u64::MAX));
        Self { buffer, begin, end }
    }

    /// True if both have bytes in common.
    pub fn meets(&self, other: &Self) -> bool {
        self.buffer == other.buffer && self.begin < other.end && other.begin < self.end
    }
}
