//! Tensors in host memory: what is read from and written to files, fed to and taken from models.

mod buffer;
mod compare;
mod dtype;
mod element;
mod random;
mod spare;

use std::fmt;

use bytes::Bytes;
use half::{bf16, f16};
use thiserror::Error;

pub use buffer::{AlignedBuffer, BUFFER_ALIGN};
pub use compare::{Comparison, Worst, compare};
pub use dtype::{DType, onnx_type_name};
pub use element::{ElementType, SmallType, pack, unpack};
pub use random::SplitMix64;
pub use spare::Spare;

/// Fault of a tensor, or of the use of one.
#[derive(Clone, Debug, Error, PartialEq)]
pub enum TensorError {
    /// The data has another length than type and shape ask for.
    #[error("{dtype} tensor of shape {shape:?} needs {want} bytes, but {got} are given")]
    Length {
        /// Element type.
        dtype: DType,
        /// Shape.
        shape: Vec<usize>,
        /// Bytes that type and shape need.
        want: usize,
        /// Bytes given.
        got: usize,
    },
    /// The number of elements or bytes does not fit the address space.
    #[error("tensor of shape {shape:?} is too large")]
    TooLarge {
        /// Shape.
        shape: Vec<usize>,
    },
    /// The system refused the memory.
    #[error("cannot allocate {bytes} bytes for a tensor")]
    OutOfMemory {
        /// Bytes asked for.
        bytes: usize,
    },
    /// The element types differ.
    #[error("element type is {got}, expected {want}")]
    TypeMismatch {
        /// Type found.
        got: DType,
        /// Type expected.
        want: DType,
    },
    /// The shapes differ.
    #[error("shape is {got:?}, expected {want:?}")]
    ShapeMismatch {
        /// Shape found.
        got: Vec<usize>,
        /// Shape expected.
        want: Vec<usize>,
    },
}

impl From<TensorError> for crate::Error {
    fn from(error: TensorError) -> Self {
        Self::Invalid(error.to_string())
    }
}

/// A Rust type that is the element of a tensor.
///
/// # Safety
/// The type must have the size of `DTYPE`. Each bit pattern that a tensor of that type may hold
/// must be a value of it: any, except that booleans are 0 or 1.
pub unsafe trait Element: Copy + Default + 'static {
    /// The element type that this Rust type stands for.
    const DTYPE: DType;
}

macro_rules! elements {
    ($($rust:ty => $dtype:ident),* $(,)?) => {
        $(
            // SAFETY: fixed-width types of this size; `Tensor` keeps booleans at 0 or 1.
            unsafe impl Element for $rust { const DTYPE: DType = DType::$dtype; }
        )*
    };
}
elements!(bool => Bool, i8 => I8, i16 => I16, i32 => I32, i64 => I64, u8 => U8, u16 => U16,
    u32 => U32, u64 => U64, f16 => F16, bf16 => BF16, f32 => F32, f64 => F64);

/// An immutable, dense, row-major tensor. Cloning shares the data.
///
/// The data is aligned at least to its element type, and to [`BUFFER_ALIGN`] where this module
/// allocated it; bytes are in the machine's order; booleans are 0 or 1.
#[derive(Clone)]
pub struct Tensor {
    dtype: DType,
    shape: Vec<usize>,
    data: Bytes,
}

/// Number of elements of `shape`, provided that their bytes fit the address space.
pub fn element_count(dtype: DType, shape: &[usize]) -> Result<usize, TensorError> {
    // A zero anywhere makes the tensor empty, however large the other dimensions are.
    if shape.contains(&0) {
        return Ok(0);
    }
    shape
        .iter()
        .try_fold(1usize, |count, &dim| count.checked_mul(dim))
        .filter(|count| {
            count.checked_mul(dtype.size()).is_some_and(|bytes| isize::try_from(bytes).is_ok())
        })
        .ok_or_else(|| TensorError::TooLarge { shape: shape.to_vec() })
}

impl Tensor {
    /// A tensor over shared bytes: not copied unless they are misaligned for the element type, or
    /// are booleans other than 0 and 1 (which become 1).
    pub fn from_bytes(dtype: DType, shape: &[usize], data: Bytes) -> Result<Tensor, TensorError> {
        check_length(dtype, shape, data.len())?;
        let stray_bool = dtype == DType::Bool && !are_bools(&data);
        if !stray_bool && (data.as_ptr() as usize).is_multiple_of(dtype.size()) {
            return Ok(Tensor { dtype, shape: shape.to_vec(), data });
        }
        Self::from_buffer(dtype, shape, AlignedBuffer::copy_of(&data)?)
    }

    /// A tensor that takes over a filled buffer.
    pub fn from_buffer(
        dtype: DType,
        shape: &[usize],
        mut buffer: AlignedBuffer,
    ) -> Result<Tensor, TensorError> {
        check_length(dtype, shape, buffer.as_ref().len())?;
        if dtype == DType::Bool && !are_bools(buffer.as_ref()) {
            buffer.as_mut_slice().iter_mut().for_each(|byte| *byte = u8::from(*byte != 0));
        }
        Ok(Tensor { dtype, shape: shape.to_vec(), data: Bytes::from_owner(buffer) })
    }

    /// A tensor with a copy of `values`.
    pub fn from_slice<T: Element>(shape: &[usize], values: &[T]) -> Result<Tensor, TensorError> {
        // SAFETY: elements are plain data without padding; a `u8` view of them is always valid.
        let bytes = unsafe {
            std::slice::from_raw_parts(values.as_ptr().cast::<u8>(), size_of_val(values))
        };
        Self::from_buffer(T::DTYPE, shape, AlignedBuffer::copy_of(bytes)?)
    }

    /// A tensor of rank 0.
    pub fn scalar<T: Element>(value: T) -> Result<Tensor, TensorError> {
        Self::from_slice(&[], &[value])
    }

    /// A tensor of zeros.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Tensor, TensorError> {
        let bytes = element_count(dtype, shape)? * dtype.size();
        Self::from_buffer(dtype, shape, AlignedBuffer::zeroed(bytes)?)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }

    /// Dimensions; empty for a scalar.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len() / self.dtype.size()
    }

    /// True when there are no elements.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The data in row-major order.
    pub fn bytes(&self) -> &Bytes {
        &self.data
    }

    /// True when the data starts at a multiple of `align` bytes.
    pub fn is_aligned_to(&self, align: usize) -> bool {
        (self.data.as_ptr() as usize).is_multiple_of(align)
    }

    /// The elements, when they are of type `T`.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        // An empty tensor may stand on any address, so it does not use its pointer.
        (T::DTYPE == self.dtype).then(|| match self.len() {
            0 => &[][..],
            // SAFETY: type, length and alignment are invariants of the tensor.
            len => unsafe { std::slice::from_raw_parts(self.data.as_ptr().cast::<T>(), len) },
        })
    }

    /// The same data under another shape with as many elements.
    pub fn reshaped(&self, shape: &[usize]) -> Result<Tensor, TensorError> {
        check_length(self.dtype, shape, self.data.len())?;
        Ok(Tensor { dtype: self.dtype, shape: shape.to_vec(), data: self.data.clone() })
    }

    /// All elements as `f64`; 64-bit integers are rounded, booleans become 0 and 1.
    pub fn to_f64(&self) -> Vec<f64> {
        match self.dtype {
            DType::F16 => self.map(|v: f16| v.to_f64()),
            DType::BF16 => self.map(|v: bf16| v.to_f64()),
            DType::F32 => self.map(|v: f32| f64::from(v)),
            DType::F64 => self.map(|v: f64| v),
            _ => self.to_i128().into_iter().map(|v| v as f64).collect(),
        }
    }

    /// All elements as `i128`; floats are truncated and saturate, NaN becomes 0.
    pub fn to_i128(&self) -> Vec<i128> {
        match self.dtype {
            DType::Bool => self.map(|v: bool| i128::from(v)),
            DType::I8 => self.map(|v: i8| i128::from(v)),
            DType::I16 => self.map(|v: i16| i128::from(v)),
            DType::I32 => self.map(|v: i32| i128::from(v)),
            DType::I64 => self.map(|v: i64| i128::from(v)),
            DType::U8 => self.map(|v: u8| i128::from(v)),
            DType::U16 => self.map(|v: u16| i128::from(v)),
            DType::U32 => self.map(|v: u32| i128::from(v)),
            DType::U64 => self.map(|v: u64| i128::from(v)),
            _ => self.to_f64().into_iter().map(|v| v as i128).collect(),
        }
    }

    /// All elements as `i64`, when this is an integer or boolean tensor and each one fits.
    pub fn to_i64(&self) -> Option<Vec<i64>> {
        if self.dtype.is_float() {
            return None;
        }
        self.to_i128().into_iter().map(|v| i64::try_from(v).ok()).collect()
    }

    fn map<T: Element, U>(&self, f: impl Fn(T) -> U) -> Vec<U> {
        self.as_slice::<T>().unwrap_or_default().iter().map(|v| f(*v)).collect()
    }
}

/// True if all bytes are 0 or 1. Looks at eight at a time, as masks are large.
fn are_bools(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    let all = words.iter().fold(0, |all, word| all | u64::from_ne_bytes(*word));
    all & u64::from_ne_bytes([0xfe; 8]) == 0 && rest.iter().all(|byte| *byte <= 1)
}

fn check_length(dtype: DType, shape: &[usize], got: usize) -> Result<(), TensorError> {
    let want = element_count(dtype, shape)? * dtype.size();
    if want == got {
        return Ok(());
    }
    Err(TensorError::Length { dtype, shape: shape.to_vec(), want, got })
}

impl PartialEq for Tensor {
    /// Equality of type, shape and bits (so that a NaN equals itself).
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype && self.shape == other.shape && self.data == other.data
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Tensor({}{:?}", self.dtype, self.shape)?;
        if self.len() <= 16 {
            write!(f, ", {:?}", self.to_f64())?;
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_round_trip() {
        let t = Tensor::from_slice(&[2, 3], &[1i32, 2, 3, 4, 5, 6]).unwrap();
        assert_eq!((t.dtype(), t.shape(), t.len()), (DType::I32, &[2, 3][..], 6));
        assert_eq!(t.as_slice::<i32>().unwrap(), [1, 2, 3, 4, 5, 6]);
        assert!(t.as_slice::<f32>().is_none());
        assert!(t.is_aligned_to(BUFFER_ALIGN));
        assert_eq!(t.reshaped(&[6]).unwrap().to_i64().unwrap(), [1, 2, 3, 4, 5, 6]);
        let b = Tensor::from_slice(&[2], &[true, false]).unwrap();
        assert_eq!(b.as_slice::<bool>().unwrap(), [true, false]);
        assert_eq!(Tensor::scalar(2.5f32).unwrap().to_f64(), [2.5]);
    }

    #[test]
    fn shared_bytes_are_copied_only_when_they_must() {
        let buffer = AlignedBuffer::copy_of(&[0, 1, 2, 0, 1, 2, 3, 4, 5]).unwrap();
        let bytes = Bytes::from_owner(buffer);
        let aligned = Tensor::from_bytes(DType::F32, &[2], bytes.slice(0..8)).unwrap();
        assert_eq!(aligned.bytes().as_ptr(), bytes.as_ptr());
        let moved = Tensor::from_bytes(DType::F32, &[2], bytes.slice(1..9)).unwrap();
        assert!(moved.is_aligned_to(4));
        assert_eq!(&moved.bytes()[..], &bytes[1..9]);
        let bools = Tensor::from_bytes(DType::Bool, &[3], bytes.slice(0..3)).unwrap();
        assert_eq!(bools.as_slice::<bool>().unwrap(), [false, true, true]);
    }

    #[test]
    fn empty_and_huge_shapes() {
        let t = Tensor::zeros(DType::F64, &[0, usize::MAX, 7]).unwrap();
        assert!(t.is_empty());
        assert_eq!(t.as_slice::<f64>().unwrap(), [0f64; 0]);
        assert!(matches!(
            Tensor::zeros(DType::F32, &[usize::MAX, 2]),
            Err(TensorError::TooLarge { .. })
        ));
        assert!(Tensor::zeros(DType::U8, &[1 << 62]).is_err());
    }

    #[test]
    fn wrong_length_names_both_sizes() {
        let message = Tensor::from_bytes(DType::F32, &[2], Bytes::from_static(&[0; 7]))
            .unwrap_err()
            .to_string();
        assert_eq!(message, "float32 tensor of shape [2] needs 8 bytes, but 7 are given");
    }

    #[test]
    fn conversions() {
        let t = Tensor::from_slice(&[2], &[u64::MAX, 1]).unwrap();
        assert_eq!(t.to_i128(), [i128::from(u64::MAX), 1]);
        assert_eq!(t.to_i64(), None);
        let h = Tensor::from_slice(&[1], &[f16::from_f32(1.5)]).unwrap();
        assert_eq!(h.to_f64(), [1.5]);
    }
}
