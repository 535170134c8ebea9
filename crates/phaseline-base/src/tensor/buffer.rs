//! Aligned memory that becomes the storage of a tensor.

use std::alloc::{Layout, alloc, alloc_zeroed, dealloc};
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
    /// Start of the allocation.
    block: NonNull<u8>,
    data: NonNull<u8>,
    len: usize,
    /// Store that takes the memory back on drop, if there is one.
    pub(super) home: Weak<Spare>,
}

// SAFETY: the buffer owns its memory exclusively, as a `Vec<u8>` does.
unsafe impl Send for AlignedBuffer {}
// SAFETY: as above; a shared one is only read.
unsafe impl Sync for AlignedBuffer {}

impl AlignedBuffer {
    /// Allocates `len` zero bytes; an error, not an abort, when the system refuses.
    pub fn zeroed(len: usize) -> Result<Self, TensorError> {
        // SAFETY: as `allocate` promises; the bytes are zero.
        unsafe { Self::allocate(len, alloc_zeroed) }
    }

    /// Allocates a copy of `bytes`.
    pub fn copy_of(bytes: &[u8]) -> Result<Self, TensorError> {
        // SAFETY: as `allocate` promises; the bytes are those that are copied, before anybody reads them.
        unsafe {
            let buffer = Self::allocate(bytes.len(), alloc)?;
            buffer.data.copy_from_nonoverlapping(NonNull::from(bytes).cast(), bytes.len());
            Ok(buffer)
        }
    }

    /// Memory of `len` bytes.
    ///
    /// # Safety
    /// `allocate` may be called with any layout whose size is not zero, and gives memory of it or null. The bytes
    /// are initialised by it or by the caller.
    unsafe fn allocate(
        len: usize,
        allocate: unsafe fn(Layout) -> *mut u8,
    ) -> Result<Self, TensorError> {
        let home = Weak::new();
        if len == 0 {
            let data = NonNull::<Line>::dangling().cast();
            return Ok(Self { block: data, data, len, home });
        }
        let refused = || TensorError::OutOfMemory { bytes: len };
        let layout = block(len).ok_or_else(refused)?;
        // SAFETY: the layout has a size that is not zero; the start of the data is inside.
        unsafe {
            let block = NonNull::new(allocate(layout)).ok_or_else(refused)?;
            let data = block.add(block.align_offset(BUFFER_ALIGN));
            Ok(Self { block, data, len, home })
        }
    }

    /// The bytes, for filling.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: `data` points to `len` initialised bytes that this value owns.
        unsafe { std::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }
}

/// The block that `len` aligned bytes are in. Allocators align to [`BLOCK_ALIGN`] by themselves: asked for more,
/// they clear memory that the system gives cleared, and touch all of it.
fn block(len: usize) -> Option<Layout> {
    const BLOCK_ALIGN: usize = align_of::<u64>();
    Layout::from_size_align(len.checked_add(BUFFER_ALIGN - BLOCK_ALIGN)?, BLOCK_ALIGN).ok()
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
        let Self { block: memory, data, len, .. } = *self;
        if let Some(spare) = mem::take(&mut self.home).upgrade() {
            spare.keep(Self { block: memory, data, len, home: Weak::new() });
        } else if let Some(layout) = block(len).filter(|_| len > 0) {
            // SAFETY: allocated in `allocate` with this very layout.
            unsafe { dealloc(memory.as_ptr(), layout) };
        }
    }
}
