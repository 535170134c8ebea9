//! Reading attributes, types and structure of operations.

use super::{Op, Val};
use crate::{Error, Result};
use melior::ir::{
    Attribute, Location, RegionLike, Type, TypeLike, ValueLike,
    block::{BlockLike, BlockRef},
    operation::{OperationLike, OperationRef},
};
use mlir_sys as sys;

/// The operation's full name, such as `graph.conv`.
pub fn op_name<'c>(op: Op<'c>) -> &'c str {
    let identifier = op.name();
    // SAFETY: identifiers live as long as the context.
    unsafe { std::str::from_utf8(bytes(sys::mlirIdentifierStr(identifier.to_raw()))).unwrap_or("") }
}

/// The bytes of a string of MLIR. An empty one may have no address, which a slice must have.
///
/// # Safety
/// The string lives as long as `'a`.
pub unsafe fn bytes<'a>(text: sys::MlirStringRef) -> &'a [u8] {
    if text.length == 0 {
        return &[];
    }
    // SAFETY: the caller's contract.
    unsafe { std::slice::from_raw_parts(text.data.cast::<u8>(), text.length) }
}

/// A string of MLIR, copied.
///
/// # Safety
/// The string is live during the call.
pub unsafe fn text(text: sys::MlirStringRef) -> String {
    // SAFETY: the caller's contract.
    String::from_utf8_lossy(unsafe { bytes(text) }).into_owned()
}

/// All operands.
pub fn operands<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.operands().collect()
}

/// All results.
pub fn results<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    op.results().map(Into::into).collect()
}

/// The first result; an error for an operation that has none.
pub fn result0(op: Op<'_>) -> Result<Val<'_>> {
    match op.result(0) {
        Ok(result) => Ok(result.into()),
        Err(_) => Err(Error::internal(format!("'{}' has no result", op_name(op)))),
    }
}

/// Origin of a value: the location of its operation or argument.
pub fn location_of(value: Val<'_>) -> Location<'_> {
    // SAFETY: any value has a location, which lives as long as the context.
    unsafe { Location::from_raw(sys::mlirValueGetLocation(value.to_raw())) }
}

/// The operations of a block, in order. The list is taken before it is returned, so the block may
/// be changed while it is walked.
pub fn ops<'c>(block: BlockRef<'c, 'c>) -> Vec<Op<'c>> {
    let mut found = vec![];
    let mut next = block.first_operation();
    while let Some(op) = next {
        found.push(op);
        next = op.next_in_block();
    }
    found
}

/// The operations directly inside of all blocks of all regions of `op`.
pub fn ops_of<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let mut found = vec![];
    for region in op.regions() {
        let mut block = region.first_block();
        while let Some(current) = block {
            found.extend(ops(current));
            block = current.next_in_region();
        }
    }
    found
}

/// The operations that use `value`, once per use, in MLIR's order (most recent use first).
pub fn users<'c>(value: Val<'c>) -> Vec<Op<'c>> {
    let mut found = vec![];
    // SAFETY: walks the use list of a live value.
    unsafe {
        let mut next = sys::mlirValueGetFirstUse(value.to_raw());
        while !sys::mlirOpOperandIsNull(next) {
            found.push(OperationRef::from_raw(sys::mlirOpOperandGetOwner(next)));
            next = sys::mlirOpOperandGetNextUse(next);
        }
    }
    found
}

/// The operations that use the results of `op`, as [`users`] gives them.
pub fn users_of<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    results(op).into_iter().flat_map(users).collect()
}

/// True if `value` is used at least `count` times; unlike counting [`users`], quick for a value with
/// thousands of uses.
pub fn has_uses(value: Val<'_>, count: usize) -> bool {
    // SAFETY: walks the use list of a live value.
    unsafe {
        let mut next = sys::mlirValueGetFirstUse(value.to_raw());
        for _ in 1..count {
            if sys::mlirOpOperandIsNull(next) {
                return false;
            }
            next = sys::mlirOpOperandGetNextUse(next);
        }
        count == 0 || !sys::mlirOpOperandIsNull(next)
    }
}

/// True if the type is a ranked tensor.
pub fn is_tensor(ty: Type<'_>) -> bool {
    ty.is_ranked_tensor()
}

/// True if the type is a ranked memref.
pub fn is_memref(ty: Type<'_>) -> bool {
    ty.is_mem_ref()
}

/// The dimensions of a shaped type; unknown ones are [`super::DYNAMIC`].
pub fn dims(ty: Type<'_>) -> Vec<i64> {
    // SAFETY: the accessors are called on shaped types only.
    unsafe {
        let raw = ty.to_raw();
        if !sys::mlirTypeIsAShaped(raw) || !sys::mlirShapedTypeHasRank(raw) {
            return vec![];
        }
        (0..sys::mlirShapedTypeGetRank(raw))
            .map(|i| sys::mlirShapedTypeGetDimSize(raw, i as isize))
            .collect()
    }
}

/// The dimensions when all of them are known: no dimensions for a type without a shape, `None` for an unranked one.
pub fn static_dims(ty: Type<'_>) -> Option<Vec<i64>> {
    // SAFETY: the rank is asked of shaped types only.
    let is_unranked = unsafe {
        let raw = ty.to_raw();
        sys::mlirTypeIsAShaped(raw) && !sys::mlirShapedTypeHasRank(raw)
    };
    if is_unranked {
        return None;
    }
    let found = dims(ty);
    found.iter().all(|dim| *dim >= 0).then_some(found)
}

/// The element type of a shaped type, or the type itself.
pub fn element_type(ty: Type<'_>) -> Type<'_> {
    // SAFETY: asked of shaped types only.
    unsafe {
        if sys::mlirTypeIsAShaped(ty.to_raw()) {
            Type::from_raw(sys::mlirShapedTypeGetElementType(ty.to_raw()))
        } else {
            ty
        }
    }
}

/// Bits of an integer type; `None` for other types.
///
/// melior's `IntegerType::try_from` prints the type into its error, which is slow where most
/// types are not integers.
pub fn integer_width(ty: Type<'_>) -> Option<u32> {
    // SAFETY: the kind is checked first.
    unsafe {
        sys::mlirTypeIsAInteger(ty.to_raw()).then(|| sys::mlirIntegerTypeGetWidth(ty.to_raw()))
    }
}

/// True if a type, or its elements, are f32.
pub fn is_f32(ty: Type<'_>) -> bool {
    // SAFETY: any type may be asked.
    unsafe { sys::mlirTypeIsAF32(element_type(ty).to_raw()) }
}

/// True if a type, or its elements, are f64.
pub fn is_f64(ty: Type<'_>) -> bool {
    // SAFETY: any type may be asked.
    unsafe { sys::mlirTypeIsAF64(element_type(ty).to_raw()) }
}

/// True if the element type is a float.
pub fn is_float(ty: Type<'_>) -> bool {
    element_type(ty).is_float()
}

fn attr<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    op.attribute(name).ok()
}

/// An integer attribute.
pub fn attr_i64(op: Op<'_>, name: &str) -> Option<i64> {
    let raw = attr(op, name)?.to_raw_attr();
    // SAFETY: the kind is checked first. Unsigned and signed types have accessors of their own.
    unsafe {
        if !sys::mlirAttributeIsAInteger(raw) {
            return None;
        }
        let ty = sys::mlirAttributeGetType(raw);
        Some(if sys::mlirTypeIsAInteger(ty) && sys::mlirIntegerTypeIsUnsigned(ty) {
            sys::mlirIntegerAttrGetValueUInt(raw) as i64
        } else if sys::mlirTypeIsAInteger(ty) && sys::mlirIntegerTypeIsSigned(ty) {
            sys::mlirIntegerAttrGetValueSInt(raw)
        } else {
            sys::mlirIntegerAttrGetValueInt(raw)
        })
    }
}

/// A boolean attribute; a unit attribute counts as true.
pub fn attr_bool(op: Op<'_>, name: &str) -> Option<bool> {
    let raw = attr(op, name)?.to_raw_attr();
    // SAFETY: the kind is checked first.
    unsafe {
        if sys::mlirAttributeIsAUnit(raw) {
            Some(true)
        } else if sys::mlirAttributeIsABool(raw) {
            Some(sys::mlirBoolAttrGetValue(raw))
        } else {
            attr_i64(op, name).map(|value| value != 0)
        }
    }
}

/// A float attribute.
pub fn attr_f64(op: Op<'_>, name: &str) -> Option<f64> {
    let raw = attr(op, name)?.to_raw_attr();
    // SAFETY: the kind is checked first.
    unsafe { sys::mlirAttributeIsAFloat(raw).then(|| sys::mlirFloatAttrGetValueDouble(raw)) }
}

/// A list of integers: a dense array, or an array of integer attributes.
pub fn attr_i64s(op: Op<'_>, name: &str) -> Option<Vec<i64>> {
    // SAFETY: the attribute lives as long as the operation.
    i64s(unsafe { melior::ir::Attribute::from_raw(attr(op, name)?.to_raw_attr()) })
}

/// The integers of a list.
pub fn i64s(list: melior::ir::Attribute<'_>) -> Option<Vec<i64>> {
    let raw = list.to_raw_attr();
    // SAFETY: the kind is checked first; indices are in range.
    unsafe {
        if sys::mlirAttributeIsADenseI64Array(raw) {
            let count = sys::mlirDenseArrayGetNumElements(raw);
            return Some((0..count).map(|i| sys::mlirDenseI64ArrayGetElement(raw, i)).collect());
        }
        if !sys::mlirAttributeIsAArray(raw) {
            return None;
        }
        (0..sys::mlirArrayAttrGetNumElements(raw))
            .map(|i| {
                let element = sys::mlirArrayAttrGetElement(raw, i);
                sys::mlirAttributeIsAInteger(element)
                    .then(|| sys::mlirIntegerAttrGetValueInt(element))
            })
            .collect()
    }
}

/// A string attribute.
pub fn attr_str(op: Op<'_>, name: &str) -> Option<String> {
    string_of(attr(op, name)?.to_raw_attr())
}

/// A list of string attributes.
pub fn attr_strs(op: Op<'_>, name: &str) -> Option<Vec<String>> {
    let raw = attr(op, name)?.to_raw_attr();
    // SAFETY: the kind is checked first; indices are in range.
    unsafe {
        if !sys::mlirAttributeIsAArray(raw) {
            return None;
        }
        (0..sys::mlirArrayAttrGetNumElements(raw))
            .map(|i| string_of(sys::mlirArrayAttrGetElement(raw, i)))
            .collect()
    }
}

fn string_of(raw: sys::MlirAttribute) -> Option<String> {
    // SAFETY: the kind is checked first; the string lives as long as the context.
    unsafe { sys::mlirAttributeIsAString(raw).then(|| text(sys::mlirStringAttrGetValue(raw))) }
}

trait RawAttr {
    fn to_raw_attr(&self) -> sys::MlirAttribute;
}

impl RawAttr for Attribute<'_> {
    fn to_raw_attr(&self) -> sys::MlirAttribute {
        use melior::ir::AttributeLike;
        self.to_raw()
    }
}
