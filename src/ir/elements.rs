//! The data of constants.

use super::{Op, edit, size};
use crate::{Error, Result, ffi};
use melior::ir::{Attribute, AttributeLike, Type, TypeLike, operation::OperationLike};
use mlir_sys as sys;
use std::borrow::Cow;

/// Bytes that a constant with one value everywhere may become: a few characters of text stand for
/// any number of them.
const MAX_REPEATED: usize = 1 << 32;

/// The bytes of an elements attribute as they are in memory: row-major, one byte for a boolean.
/// Borrowed from the attribute where its storage has that form, so that weights are not copied.
pub fn bytes<'c>(attribute: Attribute<'c>) -> Result<Cow<'c, [u8]>> {
    let raw = attribute.to_raw();
    // SAFETY: elements attributes have a shaped type; the data lives as long as the context.
    let (ty, stored) = unsafe {
        if !sys::mlirAttributeIsAElements(raw) {
            return Err(Error::internal("the value of a constant is not an elements attribute"));
        }
        let mut length = 0;
        let data = ffi::phlElementsBytes(raw, &mut length);
        let stored: &'c [u8] = if data.is_null() || length == 0 {
            &[]
        } else {
            std::slice::from_raw_parts(data.cast::<u8>(), length)
        };
        (Type::from_raw(sys::mlirAttributeGetType(raw)), stored)
    };
    let wanted = size::bytes(ty).and_then(|bytes| usize::try_from(bytes).ok());
    let wanted =
        wanted.ok_or_else(|| Error::internal(format!("a constant of type {ty} has no size")))?;
    // SAFETY: as above; the accessors are those for the kind of attribute.
    unsafe {
        if sys::mlirAttributeIsADenseElements(raw) {
            let splat = sys::mlirDenseElementsAttrIsSplat(raw);
            if splat && wanted > MAX_REPEATED {
                return Err(Error::invalid(format!(
                    "a constant of type {ty} takes {wanted} bytes; those with one value everywhere \
                     may take {MAX_REPEATED}"
                )));
            }
            if is_boolean(ty) {
                return Ok(booleans(raw, wanted).into());
            }
            if splat && !stored.is_empty() {
                return Ok(stored.repeat(wanted / stored.len()).into());
            }
        }
    }
    if stored.len() != wanted {
        return Err(Error::invalid(format!(
            "a constant of type {ty} has {} bytes of data, expected {wanted}",
            stored.len()
        )));
    }
    Ok(stored.into())
}

/// The value that a constant has everywhere, if it has one.
pub fn splat(attribute: Attribute<'_>) -> Option<Attribute<'_>> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first.
    unsafe {
        let one = sys::mlirAttributeIsADenseElements(raw) && sys::mlirDenseElementsAttrIsSplat(raw);
        one.then(|| Attribute::from_raw(sys::mlirDenseElementsAttrGetSplatValue(raw)))
    }
}

/// Fails if the text that `root` was parsed from left weights out.
pub fn check_data(root: Op<'_>) -> Result<()> {
    for op in std::iter::once(root).chain(edit::walk(root)) {
        for (name, value) in op.attributes() {
            // SAFETY: the kind is checked first; the call reads the size of live data.
            let missing = unsafe {
                let mut length = 0;
                sys::mlirAttributeIsADenseResourceElements(value.to_raw())
                    && size::bytes(Type::from_raw(sys::mlirAttributeGetType(value.to_raw())))
                        .is_some_and(|bytes| bytes > 0)
                    && (ffi::phlElementsBytes(value.to_raw(), &mut length).is_null() || length == 0)
            };
            if missing {
                let name = name.as_string_ref().as_str().unwrap_or_default();
                return Err(Error::invalid(format!(
                    "the data of attribute '{name}' of '{}' is not in the IR: --dump-phases leaves \
                     weights out unless --dump-weights is given; --emit prints them",
                    super::op_name(op)
                )));
            }
        }
    }
    Ok(())
}

fn is_boolean(ty: Type<'_>) -> bool {
    // SAFETY: the kind is checked first.
    unsafe {
        let element = super::element_type(ty).to_raw();
        sys::mlirTypeIsAInteger(element) && sys::mlirIntegerTypeGetWidth(element) == 1
    }
}

/// # Safety
/// `raw` is a dense attribute of booleans with `count` elements.
unsafe fn booleans(raw: sys::MlirAttribute, count: usize) -> Vec<u8> {
    // SAFETY: the caller's contract.
    unsafe {
        if sys::mlirDenseElementsAttrIsSplat(raw) {
            return vec![u8::from(sys::mlirDenseElementsAttrGetBoolSplatValue(raw) != 0); count];
        }
        (0..count)
            .map(|index| u8::from(sys::mlirDenseElementsAttrGetBoolValue(raw, index as isize)))
            .collect()
    }
}

/// A `dense` attribute with a copy of `data`, which is row-major and has at least a byte for each
/// element; equal ones are one attribute.
pub fn dense<'c>(ty: Type<'c>, data: &[u8]) -> Result<Attribute<'c>> {
    // SAFETY: a live type; MLIR checks the length, and reads the data during the call only.
    unsafe {
        let raw =
            sys::mlirDenseElementsAttrRawBufferGet(ty.to_raw(), data.len(), data.as_ptr().cast());
        Attribute::from_option_raw(raw).ok_or_else(|| Error::internal("MLIR refused a constant"))
    }
}

/// A `dense_resource` attribute that takes over `data`, which is aligned to `align` bytes.
pub fn resource<'c, T>(ty: Type<'c>, name: &str, data: T, align: usize) -> Result<Attribute<'c>>
where
    T: AsRef<[u8]> + Send + Sync + 'static,
{
    unsafe extern "C" fn free<T>(
        user: *mut std::ffi::c_void,
        _: *const std::ffi::c_void,
        _: usize,
        _: usize,
    ) {
        // SAFETY: `user` is the box leaked below, and MLIR calls this once.
        drop(unsafe { Box::from_raw(user.cast::<T>()) });
    }
    let owner = Box::new(data);
    let (address, length) = (owner.as_ref().as_ref().as_ptr(), owner.as_ref().as_ref().len());
    // SAFETY: a live type has a live context.
    let name = unsafe { super::context::resource_name(sys::mlirTypeGetContext(ty.to_raw()), name) };
    let name = melior::StringRef::new(&name);
    // SAFETY: the bytes stay where they are until MLIR frees their owner.
    unsafe {
        let raw = sys::mlirUnmanagedDenseResourceElementsAttrGet(
            ty.to_raw(),
            name.to_raw(),
            address.cast_mut().cast(),
            length,
            align,
            false,
            Some(free::<T>),
            Box::into_raw(owner).cast(),
        );
        Attribute::from_option_raw(raw).ok_or_else(|| Error::internal("MLIR refused a resource"))
    }
}
