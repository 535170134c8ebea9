//! The data of constants.

pub use super::blob::Data;
use super::{Builder, Op, blob, edit, func, size};
use crate::{Error, Result, ffi};
use bytes::Bytes;
use melior::ir::{Attribute, AttributeLike, BlockLike, Type, TypeLike, operation::OperationLike};
use mlir_sys as sys;

/// Bytes that a constant with one value everywhere may become: a few characters of text stand for
/// any number of them.
const MAX_REPEATED: usize = 1 << 32;

/// The bytes of an elements attribute as they are in memory: row-major, one byte for a boolean.
/// Not copied where its storage has that form.
pub fn bytes<'c>(attribute: Attribute<'c>) -> Result<Data<'c>> {
    let raw = attribute.to_raw();
    // SAFETY: any attribute may be asked.
    let ty = unsafe {
        if !sys::mlirAttributeIsAElements(raw) {
            return Err(Error::internal("the value of a constant is not an elements attribute"));
        }
        Type::from_raw(sys::mlirAttributeGetType(raw))
    };
    let stored = blob::stored(attribute).unwrap_or(Data::Kept(&[]));
    let wanted = size::bytes(ty).and_then(|bytes| usize::try_from(bytes).ok());
    let wanted =
        wanted.ok_or_else(|| Error::internal(format!("a constant of type {ty} has no size")))?;
    // SAFETY: the accessors are those for the kind of attribute.
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
    Ok(stored)
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
    super::attribute::dense(ty, data)
}

/// The name of new data in a function, which comes first: functions are rewritten side by side, and MLIR numbers
/// equal names in the order in which they come.
pub fn name_in(b: &Builder<'_>, name: &str) -> String {
    let mut op = b.block().parent_operation();
    while let Some(inside) = op.filter(|op| super::op_name(*op) != "func.func") {
        op = inside.parent_operation();
    }
    op.map_or_else(|| name.to_owned(), |function| format!("{}.{name}", func::symbol(function)))
}

/// A `dense_resource` attribute that takes over `data`, which is aligned to `align` bytes.
pub fn resource<'c, T>(ty: Type<'c>, name: &str, data: T, align: usize) -> Result<Attribute<'c>>
where
    T: AsRef<[u8]> + Send + 'static,
{
    blob::resource(ty, name, Bytes::from_owner(data), align)
}
