//! Types of buffers.

use super::effects;
use crate::{Error, Result};
use melior::{
    Context,
    ir::{
        Type, TypeLike,
        r#type::{IntegerType, MemRefType},
    },
};
use mlir_sys as sys;

/// A buffer of so many bytes.
pub fn bytes<'c>(context: &'c Context, size: u64) -> Result<Type<'c>> {
    let size = i64::try_from(size)
        .map_err(|_| Error::invalid(format!("a buffer of {size} bytes is too large")))?;
    let byte = IntegerType::new(context, 8).into();
    Ok(MemRefType::new(byte, &[size], None, None).into())
}

/// A memref of other sizes in the same memory. It has a layout, with these strides and this offset, if the given one has.
pub fn reshaped<'c>(
    context: &'c Context,
    ty: Type<'c>,
    dims: &[i64],
    (strides, offset): (&[i64], i64),
) -> Result<Type<'c>> {
    super::origin::check_home(context, &ty, || format!("{ty}, which is reshaped,"))?;
    // SAFETY: the kind is checked; shape and strides have as many numbers as is said.
    unsafe {
        if !sys::mlirTypeIsAMemRef(ty.to_raw()) {
            return Err(Error::internal("a type that is no memref is reshaped"));
        }
        let given = sys::mlirMemRefTypeGetLayout(ty.to_raw());
        let rank = dims.len() as isize;
        let layout = match sys::mlirAttributeIsAStridedLayout(given) {
            true => sys::mlirStridedLayoutAttrGet(
                context.to_raw(),
                offset,
                strides.len() as isize,
                strides.as_ptr(),
            ),
            false => sys::mlirAttributeGetNull(),
        };
        let space = sys::mlirMemRefTypeGetMemorySpace(ty.to_raw());
        let element = super::element_type(ty).to_raw();
        Ok(Type::from_raw(sys::mlirMemRefTypeGet(element, rank, dims.as_ptr(), layout, space)))
    }
}

/// Strides and offset of a memref, in elements; unknown ones are [`super::DYNAMIC`]. None for a
/// layout without strides.
pub fn strides(ty: Type<'_>) -> Option<(Vec<i64>, i64)> {
    let rank = super::dims(ty).len();
    let mut strides = vec![0_i64; rank];
    let mut offset = 0_i64;
    // SAFETY: the kind is checked; there is room for one stride per dimension.
    let result = unsafe {
        if !sys::mlirTypeIsAMemRef(ty.to_raw()) {
            return None;
        }
        sys::mlirMemRefTypeGetStridesAndOffset(ty.to_raw(), strides.as_mut_ptr(), &mut offset)
    };
    (result.value != 0).then_some((strides, offset))
}

/// The strides of a memref whose strides are all known.
pub fn static_strides(ty: Type<'_>) -> Option<Vec<i64>> {
    let (strides, _) = strides(ty)?;
    strides.iter().all(|stride| *stride != super::DYNAMIC).then_some(strides)
}

/// Strides of a row-major buffer.
pub fn row_major(dims: &[i64]) -> Vec<i64> {
    let mut strides = vec![1; dims.len()];
    for index in (1..dims.len()).rev() {
        strides[index - 1] = strides[index] * dims[index];
    }
    strides
}

/// True if an operation gives a view of the buffer that is its first operand, in which elements are where the types
/// say. A buffer at a place of a block of bytes is none.
pub fn is_view(op: super::Op<'_>) -> bool {
    is_alias(op) && super::op_name(op) != "memref.view"
}

/// True if an operation gives another name to the bytes of its first operand: a view, or a buffer at a
/// place of a block of bytes.
pub fn is_alias(op: super::Op<'_>) -> bool {
    let source = effects::view_source(op);
    source.is_some() && source == super::operands(op).first().copied()
}

/// True if an alias has all elements of what it is one of.
pub fn is_whole(op: super::Op<'_>) -> bool {
    is_view(op) && !effects::is_part(op)
}

/// The value that a buffer is a part of, through views.
pub fn base<'c>(mut value: super::Val<'c>) -> super::Val<'c> {
    while let Some(op) = super::edit::defining_op(value) {
        match super::operands(op).first() {
            Some(source) if is_view(op) => value = *source,
            _ => break,
        }
    }
    value
}

/// The first byte of a buffer, and one behind the last, counted from the buffer that it is a part of
/// ([`base`]); there may be others in between. None where that is not known.
pub fn extent(value: super::Val<'_>) -> Option<(u64, u64)> {
    let ty = melior::ir::ValueLike::r#type(&value);
    let (strides, offset) = strides(ty)?;
    let dims = super::static_dims(ty)?;
    let is_known = |number: &i64| *number != super::DYNAMIC && *number >= 0;
    if !is_known(&offset) || !strides.iter().all(is_known) {
        return None;
    }
    let elements = dims.iter().product::<i64>();
    if elements < 1 {
        return Some((0, 0));
    }
    let element = super::size::element_bytes(super::element_type(ty))?;
    let mut last = offset;
    for (size, stride) in dims.iter().zip(&strides) {
        last = last.checked_add((size - 1).checked_mul(*stride)?)?;
    }
    let byte = |place: i64| u64::try_from(place).ok()?.checked_mul(element);
    Some((byte(offset)?, byte(last.checked_add(1)?)?))
}
