//! The base of typed views of operations. The crate `phaseline-build` generates the views from ODS, one for each
//! operation of a dialect.

mod parts;

pub use crate::op_info::{Arity, AttrInfo, AttrKind, OpInfo, ValueInfo};
pub use parts::Parts;

use super::{Op, Val};
use melior::ir::{Attribute, AttributeLike, Type, ValueLike, operation::OperationLike};
use mlir_sys as sys;
use std::ops::Range;

/// A typed view of an operation of one kind, such as `graph.conv`.
pub trait OpView<'c>: Copy {
    /// The same view of operations of another lifetime.
    type At<'p>: OpView<'p>;

    /// The declaration of the operation in ODS.
    const INFO: &'static OpInfo;

    /// The view of `op`; none if it is another operation, or lacks operands, results or attributes
    /// that ODS demands.
    fn of(op: Op<'c>) -> Option<Self>;

    /// The operation.
    fn op(self) -> Op<'c>;

    /// The view of the operation that a value is the result of, if it is one of this kind.
    fn making(value: Val<'c>) -> Option<Self> {
        super::edit::defining_op(value).and_then(Self::of)
    }

    /// True if `op` is one of this kind.
    fn is(op: Op<'c>) -> bool {
        super::op_name(op) == Self::INFO.name
    }
}

/// The positions of the values of a declared operand among all operands.
pub fn operand_range(op: Op<'_>, info: &OpInfo, index: usize) -> Range<usize> {
    range(info.operands, op.operand_count(), segments(op, info), index)
}

/// True if an operation has the name, operands, results and attributes that ODS demands, so that
/// the accessors of its view find what they look for.
pub fn fits(op: Op<'_>, info: &OpInfo) -> bool {
    super::op_name(op) == info.name
        && groups(info.operands, op.operand_count(), segments(op, info)).is_some()
        && groups(info.results, op.result_count(), None).is_some()
        && info.attributes.iter().all(|attribute| {
            attribute.optional
                || attribute.default.is_some()
                || attribute.kind == AttrKind::Bool
                || op.attribute(attribute.name).is_ok()
        })
}

/// The number of values of each operand, where the operation says.
fn segments(op: Op<'_>, info: &OpInfo) -> Option<Vec<usize>> {
    if !info.segments {
        return None;
    }
    let raw = op.attribute("operandSegmentSizes").ok()?.to_raw();
    // SAFETY: the kind is checked first; indices are in range.
    unsafe {
        if !sys::mlirAttributeIsADenseI32Array(raw) {
            return None;
        }
        (0..sys::mlirDenseArrayGetNumElements(raw))
            .map(|index| usize::try_from(sys::mlirDenseI32ArrayGetElement(raw, index)).ok())
            .collect()
    }
}

/// The share of `count` values of each declared one; none if they do not come out.
fn groups(
    declared: &[ValueInfo],
    count: usize,
    segments: Option<Vec<usize>>,
) -> Option<Vec<Range<usize>>> {
    let fixed = declared.iter().filter(|value| value.arity == Arity::One).count();
    let free = count.checked_sub(fixed)?;
    let sizes = segments.unwrap_or_else(|| {
        let size = |value: &ValueInfo| if value.arity == Arity::One { 1 } else { free };
        declared.iter().map(size).collect()
    });
    let right = sizes.len() == declared.len()
        && sizes.iter().sum::<usize>() == count
        && declared.iter().zip(&sizes).all(|(value, size)| match value.arity {
            Arity::One => *size == 1,
            Arity::Optional => *size <= 1,
            Arity::Variadic => true,
        });
    let mut start = 0;
    right.then(|| {
        let range = |size: usize| {
            start += size;
            start - size..start
        };
        sizes.into_iter().map(range).collect()
    })
}

fn range(values: &[ValueInfo], count: usize, sizes: Option<Vec<usize>>, at: usize) -> Range<usize> {
    groups(values, count, sizes).and_then(|groups| groups.get(at).cloned()).unwrap_or_default()
}

/// The values of one operand. [`fits`] has seen that there are as many as ODS says.
pub fn operands<'c>(op: Op<'c>, info: &OpInfo, index: usize) -> Vec<Val<'c>> {
    operand_range(op, info, index).filter_map(|at| op.operand(at).ok()).collect()
}

#[doc(hidden)]
pub fn operand_if_present<'c>(op: Op<'c>, info: &OpInfo, index: usize) -> Option<Val<'c>> {
    operands(op, info, index).into_iter().next()
}

#[doc(hidden)]
pub fn operand<'c>(op: Op<'c>, info: &OpInfo, index: usize) -> Val<'c> {
    operands(op, info, index).swap_remove(0)
}

#[doc(hidden)]
pub fn results<'c>(op: Op<'c>, info: &OpInfo, index: usize) -> Vec<Val<'c>> {
    let range = range(info.results, op.result_count(), None, index);
    range.filter_map(|at| op.result(at).ok()).map(Into::into).collect()
}

#[doc(hidden)]
pub fn result<'c>(op: Op<'c>, info: &OpInfo, index: usize) -> Val<'c> {
    results(op, info, index)[0]
}

#[doc(hidden)]
pub fn int(op: Op<'_>, name: &str) -> Option<i64> {
    super::attr_i64(op, name)
}

#[doc(hidden)]
pub fn flag(op: Op<'_>, name: &str) -> Option<bool> {
    super::attr_bool(op, name)
}

#[doc(hidden)]
pub fn unit(op: Op<'_>, name: &str) -> bool {
    super::attr_bool(op, name).unwrap_or(false)
}

#[doc(hidden)]
pub fn float(op: Op<'_>, name: &str) -> Option<f64> {
    super::attr_f64(op, name)
}

#[doc(hidden)]
pub fn ints(op: Op<'_>, name: &str) -> Option<Vec<i64>> {
    super::attr_i64s(op, name)
}

#[doc(hidden)]
pub fn attribute<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    op.attribute(name).ok()
}

#[doc(hidden)]
pub fn string<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    let raw = op.attribute(name).ok()?.to_raw();
    // SAFETY: the kind is checked first; the string lives as long as the context.
    unsafe {
        let text = sys::mlirAttributeIsAString(raw).then(|| sys::mlirStringAttrGetValue(raw))?;
        std::str::from_utf8(super::bytes(text)).ok()
    }
}

#[doc(hidden)]
pub fn symbol<'c>(op: Op<'c>, name: &str) -> Option<&'c str> {
    let raw = op.attribute(name).ok()?.to_raw();
    // SAFETY: as above.
    unsafe {
        let is_symbol = sys::mlirAttributeIsAFlatSymbolRef(raw);
        let text = is_symbol.then(|| sys::mlirFlatSymbolRefAttrGetValue(raw))?;
        std::str::from_utf8(super::bytes(text)).ok()
    }
}

#[doc(hidden)]
pub fn ty<'c>(op: Op<'c>, name: &str) -> Option<Type<'c>> {
    let raw = op.attribute(name).ok()?.to_raw();
    // SAFETY: the kind is checked first; types live as long as the context.
    unsafe {
        sys::mlirAttributeIsAType(raw).then(|| Type::from_raw(sys::mlirTypeAttrGetValue(raw)))
    }
}

/// A list about the spatial dimensions of `image`; an empty one stands for `value` everywhere.
pub fn window(op: Op<'_>, name: &str, image: Val<'_>, sides: usize, value: i64) -> Vec<i64> {
    let spatial = super::dims(image.r#type()).len().saturating_sub(2);
    let list = super::attr_i64s(op, name).filter(|list| !list.is_empty());
    list.unwrap_or_else(|| vec![value; sides * spatial])
}
