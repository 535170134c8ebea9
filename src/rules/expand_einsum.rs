//! Sums of products in index notation as matrix products, which have kernels.
//!
//! The labels of two operands fall into four classes. Labels of both and the result count matrices.
//! Labels of one operand and the result are its rows or columns. Labels of both alone are summed
//! over; a label of one operand alone is summed over first. With each class next to each other the
//! operands are matrices.

use crate::{
    Result,
    host::kernel::Element,
    ir::{
        self, Builder, Op, Val,
        constant::{Elements, index_list},
        edit, graph,
        rewrite::{Rewriter, Rule},
        types::with_element,
        view::OpView,
    },
    lower::{
        equation::Equation,
        scalar::{is_bf16, is_f16},
    },
};
use melior::ir::ValueLike;
use std::collections::HashMap;

/// A tensor with a label for each dimension.
#[derive(Clone)]
struct Term<'c> {
    labels: Vec<u32>,
    value: Val<'c>,
}

/// The classes of the labels of two terms.
struct Classes {
    batch: Vec<u32>,
    rows: Vec<u32>,
    columns: Vec<u32>,
    summed: Vec<u32>,
}

/// Einsums.
pub const EINSUM: Rule =
    Rule { name: "expand-einsum", root: graph::Einsum::NAME, benefit: 1, apply: expand };

/// Products of variable matrices that are read transposed or multiplied by a number.
pub const GEMM: Rule =
    Rule { name: "plain-gemm", root: graph::Gemm::NAME, benefit: 1, apply: plain_gemm };

/// Puts matrix products in place of an einsum of floats whose sizes are known, if it is made of such.
fn expand<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(op) = graph::Einsum::of(op) else { return Ok(false) };
    let inputs = op.inputs();
    let Some(steps) = plan(op) else { return Ok(false) };
    let b = r.before(op.op())?;
    let mut terms = steps.operands.into_iter().zip(&inputs);
    let Some((labels, first)) = terms.next() else { return Ok(false) };
    let mut sum = Term { labels, value: *first };
    for ((labels, value), result) in terms.zip(steps.results) {
        sum = product(&b, &steps.sizes, [sum, Term { labels, value: *value }], result)?;
    }
    r.retype_uses(op.y(), sum.value);
    r.erase(op.op())?;
    Ok(true)
}

/// Puts a transposition in front of the second matrix of a `gemm`, and multiplies the first by
/// `alpha`. Kernels read the second transposed only where it is constant and can be packed.
fn plain_gemm<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(op) = graph::Gemm::of(op) else { return Ok(false) };
    let known = [op.a(), op.b()].iter().all(|value| Element::of(value.r#type()).is_some());
    let plain = !op.trans_b() && op.alpha() == 1.0;
    // Dequantized weights are packed as integers, or become a constant (`quantized/layers.rs`).
    let weights = edit::defining_op(op.b())
        .and_then(graph::DequantizeLinear::of)
        .map_or(op.b(), |dequantize| dequantize.x());
    let is_constant = Elements::of_value(weights).is_some();
    // The product of a matrix of 16-bit floats with `alpha` would be rounded once more.
    let element = ir::element_type(op.a().r#type());
    let rounds = op.alpha() != 1.0 && (is_f16(element) || is_bf16(element));
    if plain || !known || !ir::is_float(op.a().r#type()) || is_constant || rounds {
        return Ok(false);
    }
    let b = r.before(op.op())?;
    let a = if op.alpha() == 1.0 {
        op.a()
    } else {
        let ty = b.tensor(&[], ir::element_type(op.a().r#type()));
        let alpha = b.parse_attr(&format!("dense<{:.17e}> : {ty}", op.alpha()))?;
        graph::Mul::build(&b, op.a(), graph::Constant::build(&b, alpha)?.y())?.y()
    };
    let right =
        if op.trans_b() { graph::Transpose::build(&b, op.b(), &[1, 0])?.y() } else { op.b() };
    let attributes =
        graph::GemmAttrs { alpha: 1.0, beta: op.beta(), trans_a: op.trans_a(), trans_b: false };
    let new = graph::Gemm::build(&b, a, right, op.c(), attributes)?;
    r.retype_uses(op.y(), new.y());
    r.erase(op.op())?;
    Ok(true)
}

/// An einsum as products of two terms from the left.
struct Steps {
    operands: Vec<Vec<u32>>,
    /// The labels of each product.
    results: Vec<Vec<u32>>,
    sizes: HashMap<u32, i64>,
}

fn plan(op: graph::Einsum<'_>) -> Option<Steps> {
    let (inputs, y) = (op.inputs(), op.y());
    let element = ir::element_type(y.r#type());
    // Kernels multiply floats, 16-bit floats as f32; others gain nothing.
    let halves = is_f16(element) || is_bf16(element);
    let floats = halves || Element::of(y.r#type()).is_some_and(Element::is_float);
    if !floats || inputs.len() < 2 {
        return None;
    }
    let shapes: Vec<_> =
        inputs.iter().map(|value| ir::static_dims(value.r#type())).collect::<Option<_>>()?;
    let ranks: Vec<_> = shapes.iter().map(Vec::len).collect();
    let Equation { operands, result } = Equation::parse(op.equation(), &ranks)?;
    let mut sizes = HashMap::new();
    for (label, size) in operands.iter().flatten().zip(shapes.iter().flatten()) {
        // Sizes that differ broadcast; nothing is to be summed where one is 0.
        if *size == 0 || *sizes.entry(*label).or_insert(*size) != *size {
            return None;
        }
    }
    let mut results = vec![];
    let mut left = operands[0].clone();
    for (at, right) in operands.iter().enumerate().skip(1) {
        let needed = |label: &u32| {
            result.contains(label) || operands[at + 1..].iter().flatten().any(|l| l == label)
        };
        let next = if at + 1 == operands.len() {
            result.clone()
        } else {
            let own = right.iter().filter(|label| !left.contains(label));
            left.iter().chain(own).copied().filter(needed).collect()
        };
        let classes = Classes::of(&left, right, &next)?;
        // A sum of 16-bit floats of one term alone would be rounded before the product.
        let alone = |labels: &[u32], other: &[u32]| {
            labels.iter().any(|label| !other.contains(label) && !next.contains(label))
        };
        if classes.summed.is_empty() || halves && (alone(&left, right) || alone(right, &left)) {
            return None;
        }
        left.clone_from(&next);
        results.push(next);
    }
    Some(Steps { operands, results, sizes })
}

impl Classes {
    /// `None` if a label occurs twice in one of the lists: a diagonal.
    fn of(a: &[u32], b: &[u32], result: &[u32]) -> Option<Self> {
        let distinct =
            |labels: &[u32]| (1..labels.len()).all(|i| !labels[..i].contains(&labels[i]));
        if ![a, b, result].into_iter().all(distinct) {
            return None;
        }
        let of_result = |first: bool, second: bool| {
            let fits = |label: &&u32| a.contains(label) == first && b.contains(label) == second;
            result.iter().filter(fits).copied().collect::<Vec<_>>()
        };
        let summed = a.iter().filter(|label| b.contains(label) && !result.contains(label));
        Some(Self {
            batch: of_result(true, true),
            rows: of_result(true, false),
            columns: of_result(false, true),
            summed: summed.copied().collect(),
        })
    }
}

/// The product of two terms, with its dimensions in the order of `result`.
fn product<'c>(
    b: &Builder<'c>,
    sizes: &HashMap<u32, i64>,
    terms: [Term<'c>; 2],
    result: Vec<u32>,
) -> Result<Term<'c>> {
    let constant = |term: &Term<'c>| Elements::of_value(term.value).is_some();
    let [left, right] = terms;
    // Kernels pack constant columns; otherwise what lies innermost in the result are columns.
    let innermost = result
        .last()
        .is_some_and(|last| left.labels.contains(last) && !right.labels.contains(last));
    let turned = match (constant(&left), constant(&right)) {
        (true, false) => true,
        (false, true) => false,
        _ => innermost,
    };
    let (left, right) = if turned { (right, left) } else { (left, right) };
    let left = summed_alone(b, left, &right.labels, &result)?;
    let right = summed_alone(b, right, &left.labels, &result)?;
    let Some(Classes { batch, rows, columns, summed }) =
        Classes::of(&left.labels, &right.labels, &result)
    else {
        return Err(crate::Error::internal("a product of diagonals"));
    };
    let size = |labels: &[u32]| labels.iter().map(|label| sizes[label]).product::<i64>();
    let shape = |matrix: [&[u32]; 2]| {
        // Batches stay apart, so that what follows need not be told from reshapes.
        let mut shape: Vec<i64> = batch.iter().map(|label| sizes[label]).collect();
        shape.extend(matrix.map(size));
        shape
    };
    let ordered = |term: Term<'c>, first: &[u32], second: &[u32]| {
        let order = [&batch, first, second].concat();
        let value = transpose(b, &term, &order)?;
        reshape(b, value, &shape([first, second]))
    };
    let x = ordered(left, &rows, &summed)?;
    let w = ordered(right, &summed, &columns)?;
    let y = graph::MatMul::build(b, x, w)?.y();
    let labels = [batch, rows, columns].concat();
    let dims: Vec<i64> = labels.iter().map(|label| sizes[label]).collect();
    let apart = Term { value: reshape(b, y, &dims)?, labels };
    let value = transpose(b, &apart, &result)?;
    Ok(Term { labels: result, value })
}

/// A term without the labels that neither the other one nor the result has.
fn summed_alone<'c>(
    b: &Builder<'c>,
    term: Term<'c>,
    other: &[u32],
    result: &[u32],
) -> Result<Term<'c>> {
    let stays = |label: &u32| other.contains(label) || result.contains(label);
    let axes: Vec<i64> =
        (0..).zip(&term.labels).filter(|(_, label)| !stays(label)).map(|(axis, _)| axis).collect();
    if axes.is_empty() {
        return Ok(term);
    }
    let attributes = graph::ReduceSumAttrs { axes, keepdims: false };
    let value = graph::ReduceSum::build(b, term.value, attributes)?.y();
    Ok(Term { labels: term.labels.into_iter().filter(stays).collect(), value })
}

/// The value of a term with its dimensions in another order.
fn transpose<'c>(b: &Builder<'c>, term: &Term<'c>, order: &[u32]) -> Result<Val<'c>> {
    let perm: Vec<i64> = order
        .iter()
        .filter_map(|label| term.labels.iter().position(|own| own == label))
        .map(|axis| axis as i64)
        .collect();
    if perm.is_sorted() {
        return Ok(term.value);
    }
    Ok(graph::Transpose::build(b, term.value, &perm)?.y())
}

pub(super) fn reshape<'c>(b: &Builder<'c>, value: Val<'c>, dims: &[i64]) -> Result<Val<'c>> {
    if ir::dims(value.r#type()) == dims {
        return Ok(value);
    }
    let shape = index_list(b, dims)?;
    let ty = with_element(b.tensor(dims, b.f32()), ir::element_type(value.r#type()));
    b.op1(graph::Reshape::NAME, &[value, shape], ty)
}
