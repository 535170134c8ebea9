//! Products of matrices.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, graph, view::OpView},
    sizes::{
        Bounding, Dim,
        mask::{Neutral, integers},
    },
};

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] = &[
        (graph::MatMul::NAME, matmul),
        (graph::MatMulInteger::NAME, matmul),
        (graph::QLinearMatMul::NAME, quantized),
        (graph::Gemm::NAME, gemm),
        (graph::Einsum::NAME, einsum),
    ];
    rules.iter().find(|(known, _)| *known == name).map(|(_, rule)| *rule)
}

/// Reads the padding of two operands as zero along axes that are summed over. Both, since a product of zero and what is
/// no number is no number.
fn contract<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    places: [(usize, usize); 2],
) -> Result<()> {
    let dims = places.map(|(index, axis)| s.dims(ir::operands(op)[index])[axis].clone());
    s.same(&dims[0], &dims[1], "multiplies rows with columns of")?;
    if dims[0].is_known() {
        return Ok(());
    }
    if let Some(view) = graph::MatMulInteger::of(op)
        && (view.a_zero_point().is_some() || view.b_zero_point().is_some())
    {
        let zeros = [view.a_zero_point(), view.b_zero_point()];
        let both =
            [0, 1].map(|at| Summed { operand: places[at].0, axis: places[at].1, zero: zeros[at] });
        return without_zero_point(s, b, op, both);
    }
    for (index, axis) in places {
        s.mask_operand(b, op, index, (&[axis], Neutral::Zero))?;
    }
    Ok(())
}

/// An operand of integers that are summed along an axis, and its zero point.
struct Summed<'c> {
    operand: usize,
    axis: usize,
    zero: Option<Val<'c>>,
}

/// Reads the padding of one of two operands of integers as its zero point along the axis that is summed over. That of
/// the other one does not matter then, as integers are all numbers.
fn without_zero_point<'c>(
    s: &mut Bounding<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    both: [Summed<'c>; 2],
) -> Result<()> {
    for Summed { operand: index, axis, zero } in both {
        let Some(zero) = zero else {
            return s.mask_operand(b, op, index, (&[axis], Neutral::Zero));
        };
        let dims = s.dims(zero);
        if dims.iter().any(|dim| dim.as_known() != Some(1)) {
            continue;
        }
        let zero = graph::Reshape::build(
            b,
            zero,
            integers(b, &[0], &[])?,
            graph::ReshapeAttrs { allowzero: true },
        )?
        .y();
        let masked = s.masked_with(b, ir::operands(op)[index], &[axis], zero)?;
        return ir::edit::set_operand(op, index, masked);
    }
    Err(Error::invalid(
        "sums integers whose zero points differ over a size that is known at run time",
    ))
}

fn quantized<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let Some(view) = graph::QLinearMatMul::of(op) else {
        return Err(Error::internal("a product that is not as ODS has it"));
    };
    let (left, right) = (s.dims(view.a()), s.dims(view.b()));
    let (rows, columns) = (left.len(), right.len());
    if rows < 2 || columns < 2 {
        return Err(Error::invalid("is of matrices only where sizes are known at run time"));
    }
    // Scales and zero points for each row or column have as many elements.
    let per = [
        (view.a_scale(), &left[rows - 2]),
        (view.a_zero_point(), &left[rows - 2]),
        (view.b_scale(), &right[columns - 1]),
        (view.b_zero_point(), &right[columns - 1]),
    ];
    for (numbers, dim) in per {
        if let [along] = &s.dims(numbers)[..]
            && along.as_known() != Some(1)
        {
            s.same(dim, along, "has slices, and numbers for slices, of")?;
        }
    }
    let shared = [left[rows - 1].clone(), right[columns - 2].clone()];
    s.same(&shared[0], &shared[1], "multiplies rows with columns of")?;
    if !shared[0].is_known() {
        let a = Summed { operand: 0, axis: rows - 1, zero: Some(view.a_zero_point()) };
        let b_side = Summed { operand: 3, axis: columns - 2, zero: Some(view.b_zero_point()) };
        without_zero_point(s, b, op, [a, b_side])?;
    }
    let mut dims = s.broadcast(&[left[..rows - 2].to_vec(), right[..columns - 2].to_vec()])?;
    dims.extend([left[rows - 2].clone(), right[columns - 1].clone()]);
    Ok(Outcome::Stays(vec![dims]))
}

fn matmul<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let operands = ir::operands(op);
    let (left, right) = (s.dims(operands[0]), s.dims(operands[1]));
    let (rows, columns) = (left.len(), right.len());
    if rows == 0 || columns == 0 {
        return Err(Error::invalid("is of scalars"));
    }
    contract(s, b, op, [(0, rows - 1), (1, columns.saturating_sub(2))])?;
    let lead = |dims: &[Dim]| dims[..dims.len().saturating_sub(2)].to_vec();
    let mut dims = s.broadcast(&[lead(&left), lead(&right)])?;
    if rows > 1 {
        dims.push(left[rows - 2].clone());
    }
    if columns > 1 {
        dims.push(right[columns - 1].clone());
    }
    Ok(Outcome::Stays(vec![dims]))
}

fn gemm<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let flag = |name: &str| usize::from(ir::attr_bool(op, name).unwrap_or(false));
    let (ta, tb) = (flag("trans_a"), flag("trans_b"));
    let operands = ir::operands(op);
    let (left, right) = (s.dims(operands[0]), s.dims(operands[1]));
    contract(s, b, op, [(0, 1 - ta), (1, tb)])?;
    Ok(Outcome::Stays(vec![vec![left[ta].clone(), right[1 - tb].clone()]]))
}

fn einsum<'c>(s: &mut Bounding<'c>, b: &Builder<'c>, op: Op<'c>) -> Result<Outcome<'c>> {
    s.materialize_all(b, op)?;
    let equation: String =
        ir::attr_str(op, "equation").unwrap_or_default().split_whitespace().collect();
    // Without a result it has the labels that occur once, in the order of the alphabet.
    let implicit: String = {
        let mut labels: Vec<char> =
            equation.chars().filter(|label| label.is_alphabetic()).collect();
        labels.sort_unstable();
        let once = |label: &&char| labels.iter().filter(|other| other == label).count() == 1;
        labels.iter().filter(once).collect()
    };
    let (inputs, output) = equation.split_once("->").unwrap_or((&equation, &implicit));
    if equation.contains('.') {
        return Err(Error::invalid(
            "has dots in its equation and sizes that are known at run time",
        ));
    }
    let mut sizes: Vec<(char, Dim)> = vec![];
    for (index, labels) in inputs.split(',').enumerate() {
        let dims = s.dims(ir::operands(op)[index]);
        let mut summed = vec![];
        for (axis, (label, dim)) in labels.chars().zip(dims).enumerate() {
            match sizes.iter_mut().find(|(known, _)| *known == label) {
                Some((_, known)) if known.as_known() == Some(1) => *known = dim,
                Some((_, known)) if *known == dim || dim.as_known() == Some(1) => {}
                Some((_, known)) => {
                    let known = known.clone();
                    s.same(&known, &dim, &format!("has along `{label}`"))?;
                }
                None => sizes.push((label, dim)),
            }
            if !output.contains(label) {
                summed.push(axis);
            }
        }
        s.mask_operand(b, op, index, (&summed, Neutral::Zero))?;
    }
    let dims = output.chars().map(|label| {
        let found = sizes.iter().find(|(known, _)| *known == label);
        found
            .map(|(_, dim)| dim.clone())
            .ok_or_else(|| Error::invalid("has a label that no operand has"))
    });
    Ok(Outcome::Stays(vec![dims.collect::<Result<_>>()?]))
}
