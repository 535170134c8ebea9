//! Types of buffers, and the memory that they are in.

use crate::{Error, Result, ffi};
use melior::{
    Context,
    ir::{Attribute, AttributeLike, Type, TypeLike},
};
use mlir_sys as sys;
pub use phaseline_toolkit::ir::memref::*;

/// The pool that a memref is in; none for the host's memory and other types.
pub fn space(ty: Type<'_>) -> Option<String> {
    // SAFETY: the kinds are checked; the accessors of tir take any attribute.
    unsafe {
        if !sys::mlirTypeIsAMemRef(ty.to_raw()) {
            return None;
        }
        let space = sys::mlirMemRefTypeGetMemorySpace(ty.to_raw());
        if space.ptr.is_null()
            || ffi::phlTirAttrKind(space) != ffi::PhlTirAttrKind::PHL_TIR_ATTR_SPACE
        {
            return None;
        }
        Some(super::text(ffi::phlTirAttrName(space)))
    }
}

/// The pool that a memref is in: empty for the host's memory, none for a memory space that is no
/// `#tir.space`, and for other types.
pub fn space_or_host(ty: Type<'_>) -> Option<String> {
    // SAFETY: the kind is checked first.
    let is_host =
        ty.is_mem_ref() && unsafe { sys::mlirMemRefTypeGetMemorySpace(ty.to_raw()) }.ptr.is_null();
    if is_host { Some(String::new()) } else { space(ty) }
}

/// The same memref in a memory space, or in the host's memory; other types as they are.
pub fn with_space<'c>(context: &'c Context, ty: Type<'c>, space: Option<&str>) -> Result<Type<'c>> {
    if !ty.is_mem_ref() {
        return Ok(ty);
    }
    super::origin::check_home(context, &ty, || format!("{ty}, which is put into a space,"))?;
    let attribute = match space {
        None => None,
        Some(name) => Some(space_attr(context, name)?),
    };
    let dims = super::dims(ty);
    // SAFETY: the kind was checked; the shape has as many numbers as is said.
    unsafe {
        let layout = sys::mlirMemRefTypeGetLayout(ty.to_raw());
        let none = sys::mlirAttributeGetNull();
        let space = attribute.map_or(none, |attribute: Attribute<'c>| attribute.to_raw());
        let element = super::element_type(ty).to_raw();
        let raw =
            sys::mlirMemRefTypeGet(element, dims.len() as isize, dims.as_ptr(), layout, space);
        Ok(Type::from_raw(raw))
    }
}

/// `#tir.space<"NAME">`.
fn space_attr<'c>(context: &'c Context, name: &str) -> Result<Attribute<'c>> {
    Attribute::parse(context, &format!("#tir.space<{name:?}>"))
        .ok_or_else(|| Error::internal(format!("'{name}' is no name of a memory space")))
}

/// Name, bytes and alignment that a `#tir.pool` declares.
pub fn pool(attribute: Attribute<'_>) -> Option<(String, u64, u64)> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first.
    unsafe {
        if ffi::phlTirAttrKind(raw) != ffi::PhlTirAttrKind::PHL_TIR_ATTR_POOL {
            return None;
        }
        let (bytes, alignment) =
            (ffi::phlTirPoolAttrBytes(raw) as u64, ffi::phlTirPoolAttrAlignment(raw) as u64);
        Some((super::text(ffi::phlTirAttrName(raw)), bytes, alignment))
    }
}

/// The text of a `#tir.name`.
pub fn name(attribute: Attribute<'_>) -> Option<String> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first.
    unsafe {
        (ffi::phlTirAttrKind(raw) == ffi::PhlTirAttrKind::PHL_TIR_ATTR_NAME)
            .then(|| super::text(ffi::phlTirAttrName(raw)))
    }
}
