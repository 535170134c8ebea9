//! Limits on the cutting of convolutions into tiles.

use super::{CACHE_BYTES, GROWTH};

/// Limits on the tiles of convolutions.
#[derive(Clone, Copy, Debug)]
pub struct Tiles {
    /// Results along each axis of the window, if they are given; 1 for no tiles.
    pub results: Option<i64>,
    /// Bytes by which the filters of a module may grow yet.
    pub room: i64,
    /// True if the constants of the module stay in the last level of cache from one run to the
    /// next.
    pub(super) near: bool,
    /// Bytes that a convolution of integers may work in.
    pub(super) memory: i64,
}

impl Tiles {
    /// Limits for a module with so many bytes of constants: packages grow by no more than a half,
    /// but for small ones.
    pub fn of(results: Option<i64>, constants: i64) -> Self {
        let near = constants <= CACHE_BYTES / 2;
        Self { results, room: constants / 2 + GROWTH, near, memory: i64::MAX }
    }

    /// The same for a convolution of integers that may work in so many bytes.
    pub fn in_memory(self, memory: i64) -> Self {
        Self { memory, ..self }
    }
}
