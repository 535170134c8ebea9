//! Parts of buffers: work on parts that are apart needs no order.

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
    /// What a value has of the buffer that it comes from; all of it, if that is not known.
    pub fn of(value: Val<'_>) -> Self {
        let buffer = ir::id(root(value).0);
        // Places in a block of bytes are counted from there.
        let known = memref::extent(value).filter(|_| ir::id(memref::base(value)) == buffer);
        let (begin, end) = known.unwrap_or((0, u64::MAX));
        Self { buffer, begin, end }
    }

    /// Whether there are bytes that both have.
    pub fn meets(&self, other: &Self) -> bool {
        self.buffer == other.buffer && self.begin < other.end && other.begin < self.end
    }
}
