//! Convolutions and products of 16-bit floats that were widened, on machines that multiply pairs of them.
//!
//! `graph-widen-half` has them computed on f32. If the image is widened bf16 and the constant
//! weights are exact in bf16, products of pairs of bf16 are the same. They are added to f32 in
//! another order, and with 0 for numbers below 2^-126. f16 stays widened: AVX512-FP16 adds to f16,
//! which is less than what is computed elsewhere.

use super::kernel::{
    Contraction, Element, Halves, Isa, Tiles, Types, Winograd,
    recognize::{Kernel, Recognized, attention::attention, recognize},
    weights,
};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, constant::Elements, edit, graph, view::OpView},
};
use half::f16;
use melior::ir::{ValueLike, attribute::TypeAttribute, operation::OperationLike};

/// Points from which on weights are f32 in memory.
const MANY_POINTS: i64 = 16;
/// Weights below this many elements are in a cache, whatever they are.
const FEW_WEIGHTS: i64 = 1 << 14;
/// The bits of an f32 that bf16 lacks.
const LOST: u32 = 0xffff;

/// Changes a kernel to multiply pairs of bf16 if that is faster; returns its image then.
pub fn narrow<'c>(
    op: Op<'c>,
    found: &mut Recognized<'c>,
    machine: (Isa, Tiles),
) -> Result<Option<Val<'c>>> {
    let Some(image) = image(op.operand(found.x).map_err(ir::unexpected)?) else { return Ok(None) };
    let Some(narrow) = narrowed(op, found, machine)? else { return Ok(None) };
    found.kernel = Kernel::Contraction(narrow);
    Ok(Some(match image {
        (x, None) => x,
        (x, Some(order)) => graph::Transpose::build(&Builder::before(op)?, x, &order)?.y(),
    }))
}

/// The bf16 that an image is made of, and the order of its dimensions in the image if that is another one.
fn image(value: Val<'_>) -> Option<(Val<'_>, Option<Vec<i64>>)> {
    let transpose = edit::defining_op(value).and_then(graph::Transpose::of);
    let Some(transpose) = transpose else { return Some((widened(value)?, None)) };
    let alone = !ir::has_uses(value, 2);
    Some((widened(transpose.x()).filter(|_| alone)?, Some(transpose.perm())))
}

/// Changes composites whose results are widened for such kernels only. They give bf16, which is
/// widened after them.
pub fn keep<'c>(
    ops: &[Op<'c>],
    is_candidate: fn(Op<'c>) -> bool,
    machine: (Isa, Tiles),
) -> Result<()> {
    if machine.0.halves == Halves::None {
        return Ok(());
    }
    for op in ops.iter().copied().filter(|op| is_candidate(*op)) {
        let Some((cast, end)) = last_cast(op) else { continue };
        let result = ir::result0(op)?;
        let users = ir::users_of(op);
        let read = users.iter().map(|user| {
            Ok::<_, crate::Error>(is_candidate(*user) && reads_halves(*user, result, machine)?)
        });
        if users.is_empty() || !read.collect::<Result<Vec<_>>>()?.into_iter().all(|reads| reads) {
            continue;
        }
        let stores_any = recognize(op).is_some_and(|found| match &found.kernel {
            Kernel::Contraction(_) | Kernel::Depthwise(_) => true,
            Kernel::Other { kernel, .. } => kernel.stores_any(),
        });
        if !stores_any && attention(op).is_none() {
            continue;
        }
        let (wide, inner) = (result.r#type(), cast.x());
        edit::set_type(result, inner.r#type());
        edit::set_operand(end, 0, inner)?;
        edit::erase(cast.op());
        let next = op.next_in_block().ok_or_else(|| Error::internal("a composite at the end"))?;
        let b = Builder::before(next)?.with_location(op.location());
        let to = TypeAttribute::new(ir::element_type(wide)).into();
        let again = b.op1_with(graph::Cast::NAME, &[result], wide, vec![("to", to)])?;
        for user in users {
            for (index, operand) in ir::operands(user).into_iter().enumerate() {
                if operand == result {
                    edit::set_operand(user, index, again)?;
                }
            }
        }
    }
    Ok(())
}

/// The last operation of a composite, if it widens bf16 that nothing else in there reads, and what yields its result.
fn last_cast(composite: Op<'_>) -> Option<(graph::Cast<'_>, Op<'_>)> {
    let body = ir::ops_of(composite);
    let [.., _, end] = body[..] else { return None };
    let yielded = ir::operands(end);
    let [value] = yielded[..] else { return None };
    let cast = graph::Cast::of(edit::defining_op(value)?)?;
    let is_inside = edit::defining_op(cast.x()).is_some();
    let is_wide = Element::of(value.r#type()) == Some(Element::F32);
    let alone = ir::users_of(cast.op()).len() == 1;
    (is_inside && is_wide && alone && widened(value).is_some()).then_some((cast, end))
}

/// True if a composite's kernel would read a value as bf16, and read it as its image only.
fn reads_halves<'c>(user: Op<'c>, value: Val<'c>, machine: (Isa, Tiles)) -> Result<bool> {
    let Some(found) = recognize(user) else { return Ok(false) };
    let places = ir::operands(user);
    let is_image =
        places.iter().enumerate().all(|(place, operand)| (*operand == value) == (place == found.x));
    Ok(is_image && narrowed(user, &found, machine)?.is_some())
}

/// The contraction of a composite on bf16, if it takes less time so, and its weights are numbers that bf16 has.
fn narrowed(
    op: Op<'_>,
    found: &Recognized<'_>,
    machine: (Isa, Tiles),
) -> Result<Option<Contraction>> {
    let (Kernel::Contraction(spec), Some(weights)) = (&found.kernel, &found.weights) else {
        return Ok(None);
    };
    let is_plain = weights.source.is_some()
        && weights.scales.is_none()
        && weights.integers.is_none()
        && weights.scale == 1.0;
    if spec.types != Types::F32 || !is_plain {
        return Ok(None);
    }
    // Weights are looked at last: there are many.
    let narrow = best(spec, machine);
    Ok(narrow.filter(|_| op.operand(weights.operand).is_ok_and(is_exact)))
}

/// Changes a kernel of few points, which waits for its weights, to read these as 16-bit floats if
/// they are exact in such.
pub fn store<'c>(op: Op<'c>, found: &mut Recognized<'c>, isa: Isa) -> Result<()> {
    let (Kernel::Contraction(spec), Some(weights)) = (&mut found.kernel, &found.weights) else {
        return Ok(());
    };
    let is_plain = weights.source.is_some()
        && weights.scales.is_none()
        && weights.integers.is_none()
        && weights.scale == 1.0;
    let count = spec.groups * spec.channels * spec.reduction();
    if spec.types != Types::F32
        || !is_plain
        || spec.has_matrices()
        || spec.points() >= MANY_POINTS
        || count < FEW_WEIGHTS
    {
        return Ok(());
    }
    let Some(elements) = Elements::of_value(op.operand(weights.operand).map_err(ir::unexpected)?)
    else {
        return Ok(());
    };
    let Some(values) = weights::floats_of::<f32>(&elements) else { return Ok(()) };
    let in_f16 = |value: &f32| f16::from_f32(*value).to_f32().to_bits() == value.to_bits();
    if values.iter().all(in_bf16) {
        spec.types.weights = Element::BF16;
    } else if isa.f16 && values.iter().all(in_f16) {
        spec.types.weights = Element::F16;
    }
    Ok(())
}

fn in_bf16(value: &f32) -> bool {
    value.to_bits() & LOST == 0
}

/// The bf16 value that a cast widens.
fn widened(value: Val<'_>) -> Option<Val<'_>> {
    let x = graph::Cast::of(edit::defining_op(value)?)?.x();
    (Element::of(x.r#type()) == Some(Element::BF16)).then_some(x)
}

/// True for a constant whose numbers are all exact in bf16.
fn is_exact(value: Val<'_>) -> bool {
    let Some(elements) = Elements::of_value(value) else { return false };
    weights::floats_of::<f32>(&elements).is_some_and(|values| values.iter().all(in_bf16))
}

/// The contraction on bf16, if it takes less time than on f32.
fn best(spec: &Contraction, (isa, tiles): (Isa, Tiles)) -> Option<Contraction> {
    let mut narrow = Contraction { types: Types::HALVES, ..spec.clone() };
    let others = (spec.batch * spec.groups * spec.planes) as f64;
    let cost = match isa.halves {
        Halves::None => return None,
        Halves::Vectors => narrow.cost_of_vectors(isa),
        Halves::Matrices => {
            let (amx, cost) = narrow.amx_of_halves(isa)?;
            narrow.amx = Some(amx);
            cost * others
        }
    };
    let wide = match Winograd::of(spec, isa, tiles) {
        Some(tiled) => tiled.cost(isa, tiles),
        None => spec.cost_of_vectors(isa),
    };
    (cost < wide).then_some(narrow)
}
