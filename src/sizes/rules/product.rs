//! Products of matrices.

use super::{Outcome, Rule};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, graph, op_name},
    sizes::{Bounding, Dim, mask::Neutral},
};

pub(super) fn rule<'c>(name: &str) -> Option<Rule<'c>> {
    let rules: &[(&str, Rule<'c>)] = &[
        (graph::MatMul::NAME, matmul),
        (graph::MatMulInteger::NAME, matmul),
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
    if op_name(op) == graph::MatMulInteger::NAME && ir::operands(op).len() > 2 {
        return Err(Error::invalid(
            "sums integers with zero points over a size that is known at run time",
        ));
    }
    for (index, axis) in places {
        s.mask_operand(b, op, index, (&[axis], Neutral::Zero))?;
    }
    Ok(())
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
