//! Memory of dropped buffers, which others of the same size get.

use super::{AlignedBuffer, TensorError};
use std::sync::{Arc, Mutex, PoisonError};

/// Buffers that come back here when they are dropped: to zero a large one, and to touch its memory for the first
/// time, takes longer than many a layer.
#[derive(Debug)]
pub struct Spare {
    buffers: Mutex<Vec<AlignedBuffer>>,
    /// Number of buffers that are kept, at most.
    most: usize,
}

impl Spare {
    /// Keeps up to `most` buffers for as long as it lives.
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Self { buffers: Mutex::new(vec![]), most })
    }

    /// A buffer of `len` bytes, which are 0 or what was left in them.
    ///
    /// # Errors
    /// The system refuses the memory.
    pub fn take(self: &Arc<Self>, len: usize) -> Result<AlignedBuffer, TensorError> {
        let kept = {
            let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
            let place = buffers.iter().position(|buffer| buffer.as_ref().len() == len);
            place.map(|place| buffers.swap_remove(place))
        };
        let mut buffer = kept.map_or_else(|| AlignedBuffer::zeroed(len), Ok)?;
        buffer.home = Arc::downgrade(self);
        Ok(buffer)
    }

    /// Takes a buffer back.
    pub(super) fn keep(&self, buffer: AlignedBuffer) {
        let mut buffers = self.buffers.lock().unwrap_or_else(PoisonError::into_inner);
        if buffers.len() < self.most {
            buffers.push(buffer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{super::AlignedBuffer, Spare};

    fn address(buffer: &AlignedBuffer) -> *const u8 {
        buffer.as_ref().as_ptr()
    }

    #[test]
    fn a_dropped_buffer_is_the_next_of_its_size() {
        let spare = Spare::new(1);
        let (first, second) = (spare.take(128).unwrap(), spare.take(128).unwrap());
        let place = address(&first);
        assert_ne!(place, address(&second), "two at once share memory");
        drop(first);
        assert_ne!(address(&spare.take(64).unwrap()), place, "the size differs");
        assert_eq!(address(&spare.take(128).unwrap()), place);
    }

    #[test]
    fn no_more_are_kept_than_there_is_room_for() {
        let spare = Spare::new(1);
        let two = [spare.take(64).unwrap(), spare.take(64).unwrap()];
        drop(two);
        assert_eq!(spare.buffers.lock().unwrap().len(), 1);
    }

    #[test]
    fn a_buffer_outlives_its_spare() {
        let spare = Spare::new(1);
        let mut buffer = spare.take(64).unwrap();
        drop(spare);
        buffer.as_mut_slice().fill(7);
        assert_eq!(buffer.as_ref(), [7; 64]);
    }
}
