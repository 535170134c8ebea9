//! The memory that tiles are in, and its DMA.

use serde::{Deserialize, Serialize};

/// The memory that tiles are in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Its size, without what is free at the start.
    pub bytes: i64,
    /// Bytes at its start that stay free, so that no tile is at offset 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub base: i64,
    /// Bytes of what stays in it beside the tensors of the call.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub taken: i64,
    /// Alignment of buffers in it, in bytes.
    pub alignment: i64,
    /// Bytes that the innermost dimension of a tile is filled up to a multiple of; 0 for none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub row: i64,
    /// Transfers to it and back.
    pub dma: Dma,
}

/// DMA of a pool: transfers to it and back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dma {
    /// Number of channels; the last one stores.
    pub channels: i64,
    /// The most dimensions of a transfer.
    pub dims: i64,
    /// Double buffering: the next tile is loaded while one is computed on, so that two must fit.
    pub double_buffer: bool,
    /// Overlapped stores: the next tile is computed while one is stored, so that two must fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub overlap_stores: bool,
    /// True if results may stay for the calls that read them (`keep-results`).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub keep_results: bool,
    /// Prototype of the function that starts a transfer into the pool, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<String>,
    /// Prototype of the function that starts a transfer out of it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
    /// Prototype of the function that makes of a tile what the store would, and leaves it in `keep_in`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep: Option<String>,
    /// The pool that `keep` writes to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_in: Option<String>,
    /// Prototype of the function that moves the end of a tile to its start, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift: Option<String>,
    /// The cost of that: an expression as `cost` is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shift_cost: Option<String>,
    /// Prototype of the function that waits; without it transfers are over when they return.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// Cost of a transfer: an expression over `runs`, `run_bytes` and `bytes`.
    pub cost: String,
}

impl Pool {
    /// Elements of the innermost dimension of a tile when `size` are filled up to whole rows.
    pub fn filled(&self, size: i64, element: i64) -> i64 {
        let step = (self.row / element.max(1)).max(1);
        size.saturating_add(step - 1) / step * step
    }

    /// Bytes that the call has of it.
    pub fn room(&self) -> i64 {
        self.bytes.saturating_sub(self.taken)
    }

    /// Bytes that a buffer takes of it.
    pub fn aligned(&self, bytes: i64) -> i64 {
        let alignment = self.alignment.max(1);
        bytes.saturating_add(alignment - 1) / alignment * alignment
    }
}

fn is_zero(number: &i64) -> bool {
    *number == 0
}
