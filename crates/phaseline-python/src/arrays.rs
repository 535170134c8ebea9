//! Arrays in and out: anything with a buffer or `__dlpack__` becomes a tensor without a copy if it is dense, and what a run
//! gives has both.

use crate::{dlpack, strides::gather};
use bytes::Bytes;
use phaseline_runtime::{DType, Tensor};
use pyo3::{
    buffer::PyUntypedBuffer,
    exceptions::{PyBufferError, PyTypeError},
    ffi,
    prelude::*,
    types::{PyDict, PyTuple},
};
use std::{
    ffi::{CStr, c_int},
    ptr,
};

/// An output of a run. `numpy.asarray` and `from_dlpack` take it without a copy.
#[pyclass(frozen, module = "phaseline")]
pub struct Array {
    tensor: Tensor,
    shape: Vec<ffi::Py_ssize_t>,
    strides: Vec<ffi::Py_ssize_t>,
}

impl Array {
    /// An array that has a tensor for itself.
    pub fn new(tensor: Tensor) -> Self {
        let shape: Vec<_> = tensor.shape().iter().map(|dim| *dim as ffi::Py_ssize_t).collect();
        let mut strides = vec![];
        let mut stride = tensor.dtype().size() as ffi::Py_ssize_t;
        for dim in shape.iter().rev() {
            strides.push(stride);
            stride *= (*dim).max(1);
        }
        strides.reverse();
        Self { tensor, shape, strides }
    }
}

#[pymethods]
impl Array {
    /// The element type, by numpy's name.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.tensor.dtype().numpy_name()
    }

    /// The dimensions.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.tensor.shape())
    }

    #[pyo3(signature = (**_options))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        _options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        dlpack::give(py, &self.tensor)
    }

    fn __dlpack_device__(&self) -> (i32, i32) {
        (dlpack::CPU, 0)
    }

    fn __len__(&self) -> PyResult<usize> {
        let first = self.tensor.shape().first().copied();
        first.ok_or_else(|| PyTypeError::new_err("a scalar has no length"))
    }

    fn __repr__(&self) -> String {
        format!("<phaseline.Array {}{:?}>", self.dtype(), self.tensor.shape())
    }

    /// Fills a buffer in; bfloat16 is given as its bits.
    unsafe fn __getbuffer__(
        slf: Bound<'_, Self>,
        view: *mut ffi::Py_buffer,
        flags: c_int,
    ) -> PyResult<()> {
        if view.is_null() {
            return Err(PyBufferError::new_err("there is no view"));
        }
        let array = slf.get();
        let tensor = &array.tensor;
        let wants = |flag: c_int| flags & flag == flag;
        // SAFETY: the view is ours to fill, and it keeps the array, which owns all that it points to. The memory is on the
        // heap and nobody else has the tensor, so that who holds the array may write there.
        unsafe {
            (*view).buf = tensor.bytes().as_ptr().cast_mut().cast();
            (*view).len = tensor.bytes().len() as ffi::Py_ssize_t;
            (*view).readonly = 0;
            (*view).itemsize = tensor.dtype().size() as ffi::Py_ssize_t;
            (*view).format = match wants(ffi::PyBUF_FORMAT) {
                true => format_of(tensor.dtype()).as_ptr().cast_mut(),
                false => ptr::null_mut(),
            };
            (*view).ndim = array.shape.len() as c_int;
            (*view).shape = match wants(ffi::PyBUF_ND) {
                true => array.shape.as_ptr().cast_mut(),
                false => ptr::null_mut(),
            };
            (*view).strides = match wants(ffi::PyBUF_STRIDES) {
                true => array.strides.as_ptr().cast_mut(),
                false => ptr::null_mut(),
            };
            (*view).suboffsets = ptr::null_mut();
            (*view).internal = ptr::null_mut();
            (*view).obj = slf.into_ptr();
        }
        Ok(())
    }
}

/// The type in the words of `struct`.
fn format_of(dtype: DType) -> &'static CStr {
    match dtype {
        DType::Bool => c"?",
        DType::I8 => c"b",
        DType::I16 => c"h",
        DType::I32 => c"i",
        DType::I64 => c"l",
        DType::U8 => c"B",
        DType::U16 | DType::BF16 => c"H",
        DType::U32 => c"I",
        DType::U64 => c"L",
        DType::F16 => c"e",
        DType::F32 => c"f",
        DType::F64 => c"d",
    }
}

/// A type by a buffer's format.
fn dtype_of(format: &CStr, size: usize) -> Option<DType> {
    let text = format.to_str().ok()?;
    let native = if cfg!(target_endian = "little") { '<' } else { '>' };
    let text = text.trim_start_matches(['@', '=', native]);
    let mut letters = text.chars();
    let (letter, None) = (letters.next()?, letters.next()) else { return None };
    Some(match (letter, size) {
        ('?', 1) => DType::Bool,
        ('b', 1) => DType::I8,
        ('B' | 'c', 1) => DType::U8,
        ('h' | 'i' | 'l' | 'q' | 'n', 2) => DType::I16,
        ('h' | 'i' | 'l' | 'q' | 'n', 4) => DType::I32,
        ('h' | 'i' | 'l' | 'q' | 'n', 8) => DType::I64,
        ('H' | 'I' | 'L' | 'Q' | 'N', 2) => DType::U16,
        ('H' | 'I' | 'L' | 'Q' | 'N', 4) => DType::U32,
        ('H' | 'I' | 'L' | 'Q' | 'N', 8) => DType::U64,
        ('e', 2) => DType::F16,
        ('f' | 'd', 4) => DType::F32,
        ('f' | 'd', 8) => DType::F64,
        _ => return None,
    })
}

/// The memory of a dense buffer.
struct Dense {
    /// Held, so that the memory stays.
    _buffer: PyUntypedBuffer,
    start: usize,
    bytes: usize,
}

impl AsRef<[u8]> for Dense {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the buffer has so many bytes there, and is held.
        unsafe { std::slice::from_raw_parts(self.start as *const u8, self.bytes) }
    }
}

/// Makes a tensor of an object with a buffer or `__dlpack__`. `bits` says that elements of two bytes are bfloat16.
///
/// # Errors
/// The object has neither, or elements of a type that Phaseline does not have.
pub fn tensor(object: &Bound<'_, PyAny>, bits: bool) -> PyResult<Tensor> {
    if let Ok(array) = object.cast::<Array>() {
        return Ok(array.get().tensor.clone());
    }
    // SAFETY: the object is live.
    let has_buffer = unsafe { ffi::PyObject_CheckBuffer(object.as_ptr()) == 1 };
    let buffer = match has_buffer {
        true => PyUntypedBuffer::get(object),
        false => Err(PyTypeError::new_err("there is no buffer")),
    };
    match buffer {
        Ok(buffer) => of_buffer(buffer, bits),
        Err(_) if object.hasattr("__dlpack__")? => dlpack::take(object),
        Err(_) => Err(PyTypeError::new_err(format!(
            "an input is a {}, which has neither a buffer nor __dlpack__: give a numpy array or a tensor of the CPU",
            object.get_type().name()?
        ))),
    }
}

fn of_buffer(buffer: PyUntypedBuffer, bits: bool) -> PyResult<Tensor> {
    let item = buffer.item_size();
    let dtype = dtype_of(buffer.format(), item).ok_or_else(|| {
        PyTypeError::new_err(format!(
            "the array has elements of format '{}', which Phaseline does not have: convert it, for example by astype",
            buffer.format().to_string_lossy()
        ))
    })?;
    let dtype = if bits && dtype == DType::U16 { DType::BF16 } else { dtype };
    let (shape, bytes) = (buffer.shape().to_vec(), buffer.len_bytes());
    let data = match (bytes, buffer.is_c_contiguous()) {
        (0, _) => Bytes::new(),
        (_, true) => {
            let start = buffer.buf_ptr() as usize;
            Bytes::from_owner(Dense { start, bytes, _buffer: buffer })
        }
        (_, false) => {
            let mut copy = Vec::with_capacity(bytes);
            // SAFETY: shape and strides are those of the live buffer.
            unsafe {
                gather(
                    buffer.buf_ptr().cast::<u8>().cast_const(),
                    &shape,
                    buffer.strides(),
                    item,
                    &mut copy,
                );
            }
            Bytes::from(copy)
        }
    };
    Tensor::from_bytes(dtype, &shape, data).map_err(|error| PyTypeError::new_err(error.to_string()))
}
