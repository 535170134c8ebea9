//! Tensors of other libraries by DLPack: what `__dlpack__` gives and takes.

use crate::strides::{gather, is_dense};
use bytes::Bytes;
use phaseline_runtime::{DType, Tensor};
use pyo3::{
    exceptions::{PyBufferError, PyTypeError},
    ffi,
    prelude::*,
};
use std::{
    ffi::{CStr, c_void},
    ptr,
};

/// The CPU, among the kinds of devices.
pub const CPU: i32 = 1;

/// The name of a capsule whose tensor nobody has taken yet.
const NAME: &CStr = c"dltensor";
/// The name of one that was taken.
const USED: &CStr = c"used_dltensor";

#[repr(C)]
#[derive(Clone, Copy)]
struct Device {
    kind: i32,
    id: i32,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct DataType {
    code: u8,
    bits: u8,
    lanes: u16,
}

#[repr(C)]
struct View {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    dtype: DataType,
    shape: *mut i64,
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`.
#[repr(C)]
struct Managed {
    view: View,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// Codes of types by DLPack.
const TYPES: [(DType, u8, u8); 13] = [
    (DType::Bool, 6, 8),
    (DType::I8, 0, 8),
    (DType::I16, 0, 16),
    (DType::I32, 0, 32),
    (DType::I64, 0, 64),
    (DType::U8, 1, 8),
    (DType::U16, 1, 16),
    (DType::U32, 1, 32),
    (DType::U64, 1, 64),
    (DType::F16, 2, 16),
    (DType::BF16, 4, 16),
    (DType::F32, 2, 32),
    (DType::F64, 2, 64),
];

/// A tensor that another library owns; given back when this is dropped.
struct Owned(*mut Managed);

// SAFETY: DLPack's deleters may be called on any thread.
unsafe impl Send for Owned {}
// SAFETY: the tensor is only read.
unsafe impl Sync for Owned {}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: the capsule gave the tensor to this, and nothing reads it any more.
        unsafe {
            if let Some(delete) = (*self.0).deleter {
                delete(self.0);
            }
        }
    }
}

/// The memory of a dense tensor of another library.
struct Dense {
    owned: Owned,
    bytes: usize,
}

impl AsRef<[u8]> for Dense {
    fn as_ref(&self) -> &[u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: `take` has found so many bytes there, and the tensor lives as long as this.
        unsafe { std::slice::from_raw_parts(address(&(*self.owned.0).view), self.bytes) }
    }
}

fn address(view: &View) -> *const u8 {
    view.data.cast::<u8>().cast_const().wrapping_add(view.byte_offset as usize)
}

/// Takes the tensor of an object with `__dlpack__`. A dense one is not copied.
///
/// # Errors
/// It is on a device, or of a type that Phaseline does not have.
pub fn take(object: &Bound<'_, PyAny>) -> PyResult<Tensor> {
    let device = object.call_method0("__dlpack_device__")?;
    let kind: i32 = device.get_item(0)?.extract()?;
    if kind != CPU {
        return Err(PyTypeError::new_err(format!(
            "the array is on device {kind} of DLPack, and networks take arrays of the CPU: copy it there first"
        )));
    }
    let capsule = object.call_method0("__dlpack__")?;
    // SAFETY: the capsule is live, and is asked for its name first; renaming it makes the tensor ours.
    let owned = unsafe {
        let raw = capsule.as_ptr();
        if ffi::PyCapsule_IsValid(raw, NAME.as_ptr()) == 0 {
            return Err(PyTypeError::new_err("__dlpack__ gave no capsule of a 'dltensor'"));
        }
        let pointer = ffi::PyCapsule_GetPointer(raw, NAME.as_ptr()).cast::<Managed>();
        if pointer.is_null() || ffi::PyCapsule_SetName(raw, USED.as_ptr()) != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        Owned(pointer)
    };
    // SAFETY: the tensor is live; shape and strides have `ndim` elements, if they are there.
    let (view, shape, strides) = unsafe {
        let view = &(*owned.0).view;
        let rank = usize::try_from(view.ndim).unwrap_or(0);
        let list = |start: *mut i64| match start.is_null() || rank == 0 {
            true => None,
            false => Some(std::slice::from_raw_parts(start, rank).to_vec()),
        };
        (view, list(view.shape).unwrap_or_default(), list(view.strides))
    };
    let code = (view.dtype.code, view.dtype.bits);
    let dtype =
        TYPES.iter().find(|(_, kind, bits)| (*kind, *bits) == code && view.dtype.lanes == 1);
    let Some((dtype, ..)) = dtype.copied() else {
        return Err(PyTypeError::new_err(format!(
            "the array has elements of DLPack's type {} with {} bits, which Phaseline does not have: convert it",
            code.0, code.1
        )));
    };
    let dims: Vec<usize> = shape.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).collect();
    let item = dtype.size();
    let strides: Option<Vec<isize>> =
        strides.map(|list| list.iter().map(|stride| *stride as isize * item as isize).collect());
    let bytes = dims.iter().product::<usize>() * item;
    let data = match strides.filter(|strides| !is_dense(&dims, strides, item)) {
        None => Bytes::from_owner(Dense { bytes, owned }),
        Some(strides) => {
            let mut copy = Vec::with_capacity(bytes);
            // SAFETY: shape and strides are those of the live tensor.
            unsafe { gather(address(view), &dims, &strides, item, &mut copy) };
            Bytes::from(copy)
        }
    };
    Tensor::from_bytes(dtype, &dims, data).map_err(|error| PyTypeError::new_err(error.to_string()))
}

/// The memory that an exported tensor keeps.
struct Exported {
    managed: Managed,
    shape: Vec<i64>,
    _tensor: Tensor,
}

unsafe extern "C" fn delete(managed: *mut Managed) {
    // SAFETY: `give` made it, and it is deleted once.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Exported>()) });
}

unsafe extern "C" fn end(capsule: *mut ffi::PyObject) {
    // SAFETY: the capsule is live; a tensor that was not taken is deleted here.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            let managed = ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast::<Managed>();
            delete(managed);
        }
    }
}

/// A capsule with the memory of a tensor.
///
/// # Errors
/// Its type is none of DLPack's.
pub fn give<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    let found = TYPES.iter().find(|(dtype, ..)| *dtype == tensor.dtype());
    let (_, code, bits) =
        found.ok_or_else(|| PyBufferError::new_err("DLPack does not have this type"))?;
    let shape: Vec<i64> = tensor.shape().iter().map(|dim| *dim as i64).collect();
    let view = View {
        data: tensor.bytes().as_ptr().cast_mut().cast(),
        device: Device { kind: CPU, id: 0 },
        ndim: i32::try_from(shape.len()).unwrap_or(0),
        dtype: DataType { code: *code, bits: *bits, lanes: 1 },
        shape: ptr::null_mut(),
        strides: ptr::null_mut(),
        byte_offset: 0,
    };
    let managed = Managed { view, context: ptr::null_mut(), deleter: Some(delete) };
    let exported = Box::into_raw(Box::new(Exported { managed, shape, _tensor: tensor.clone() }));
    // SAFETY: the box is ours until the capsule has it; its addresses stay.
    unsafe {
        (*exported).managed.view.shape = (*exported).shape.as_mut_ptr();
        (*exported).managed.context = exported.cast();
        let managed = &raw mut (*exported).managed;
        let capsule = ffi::PyCapsule_New(managed.cast(), NAME.as_ptr(), Some(end));
        if capsule.is_null() {
            delete(managed);
        }
        Bound::from_owned_ptr_or_err(py, capsule)
    }
}
