//! Aligned, zeroed memory that becomes the storage of a tensor.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::mem;
use std::ptr::NonNull;
use std::sync::Weak;

use super::{TensorError, spare::Spare};

/// Alignment of buffers allocated here: one cache line, and the widest vector register.
pub const BUFFER_ALIGN: usize = 64;

/// A zero-initialised byte buffer aligned to [`BUFFER_ALIGN`].
///
/// Filled through [`AlignedBuffer::as_mut_slice`], then handed to
/// [`Tensor::from_buffer`](super::Tensor::from_buffer), after which the bytes are immutable.
#[derive(Debug)]
pub struct AlignedBuffer {
    data: NonNull<u8>,
    len: usize,
    /// Where the memory goes afterwards, if anywhere.
    pub(super) home: Weak<Spare>,
}

// SAFETY: the buffer owns its memory exclusively, as a `Vec<u8>` does.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above; a shared one is only read.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Allocates `len` zero bytes; an error, not an abort, when the system refuses.
    pub fn zeroed(len: usize) -> Result<Self, TensorError> {
        if len == 0 {
            return Ok(Self { data: NonNull::<Line>::dangling().cast(), len, home: Weak::new() });
        }
        let refused = || TensorError::OutOfMemory { bytes: len };
        let layout = Layout::from_size_align(len, BUFFER_ALIGN).map_err(|_| refused())?;
        // SAFETY: the layout has a size that is not zero.
        let data = NonNull::new(unsafe { alloc_zeroed(layout) }).ok_or_else(refused)?;
        Ok(Self { data, len, home: Weak::new() })
    }

    /// Allocates a copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Result<Self, TensorError> {
        let mut buffer = Self::zeroed(bytes.len())?;
        buffer.as_mut_slice().copy_from_slice(bytes);
        Ok(buffer)
    }

    /// The bytes, for filling.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: `data` points to `len` initialised bytes that this value owns.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

/// Gives the dangling pointer of an empty buffer the promised alignment.
#[repr(align(64))]
struct Line;

impl AsRef<[u8]> for AlignedBuffer {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: `data` points to `len` initialised bytes that this value owns.
        unsafe { std::slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }
}

impl Drop for AlignedBuffer {
    fn drop(&mut self) {
        if let Some(spare) = mem::take(&mut self.home).upgrade() {
            spare.keep(Self { data: self.data, len: self.len, home: Weak::new() });
        } else if self.len > 0 {
            // SAFETY: allocated in `zeroed` with this very layout, whose validity it checked.
            unsafe {
                let layout = Layout::from_size_align_unchecked(self.len, BUFFER_ALIGN);
                dealloc(self.data.as_ptr(), layout);
            }
        }
    }
}
