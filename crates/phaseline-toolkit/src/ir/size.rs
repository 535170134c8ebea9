//! Sizes of types in memory.

use melior::ir::{Type, TypeLike};
use mlir_sys as sys;

/// Alignment of arena and constants, and of every buffer in them, in bytes.
pub const ALIGNMENT: i64 = 64;

/// The bytes that an element takes in an array of it; none for types without a fixed size.
pub fn element_bytes(ty: Type<'_>) -> Option<u64> {
    // SAFETY: each accessor is called on the kind of type that it is for.
    unsafe {
        let raw = ty.to_raw();
        if sys::mlirTypeIsAIndex(raw) {
            return Some(8);
        }
        if sys::mlirTypeIsAInteger(raw) {
            let bits = u64::from(sys::mlirIntegerTypeGetWidth(raw));
            return Some(bits.div_ceil(8).max(1).next_power_of_two());
        }
        if sys::mlirTypeIsAFloat(raw) {
            return Some(u64::from(sys::mlirFloatTypeGetWidth(raw)).div_ceil(8));
        }
        if sys::mlirTypeIsAComplex(raw) {
            let part = element_bytes(Type::from_raw(sys::mlirComplexTypeGetElementType(raw)))?;
            return part.checked_mul(2);
        }
        if sys::mlirTypeIsAVector(raw) {
            return elements(ty)?.checked_next_power_of_two();
        }
        None
    }
}

/// The bits of an element, if several are in a byte where ONNX stores them: 2 or 4.
pub fn packed_bits(element: Type<'_>) -> Option<usize> {
    // SAFETY: each accessor is called on the kind of type that it is for.
    let bits = unsafe {
        let raw = element.to_raw();
        if sys::mlirTypeIsAInteger(raw) {
            sys::mlirIntegerTypeGetWidth(raw)
        } else if sys::mlirTypeIsAFloat(raw) {
            sys::mlirFloatTypeGetWidth(raw)
        } else {
            8
        }
    };
    matches!(bits, 2 | 4).then_some(bits as usize)
}

/// The bytes of a shaped type whose dimensions are all known, without holes.
pub fn bytes(ty: Type<'_>) -> Option<u64> {
    elements(ty)
}

fn elements(ty: Type<'_>) -> Option<u64> {
    let element = element_bytes(super::element_type(ty))?;
    super::static_dims(ty)?
        .into_iter()
        .try_fold(element, |total, dim| total.checked_mul(u64::try_from(dim).ok()?))
}
