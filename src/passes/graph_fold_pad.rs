//! `graph-fold-pad`: zeros that are put around an image only for a convolution become its pads.

use crate::{
    ir::{self, Op, Val, edit},
    lower::{Elements, normalize_axis},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{ValueLike, attribute::DenseI64ArrayAttribute};

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-fold-pad",
    summary: "Fold zero padding into the convolution that it is for",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(function) {
        if ir::op_name(op) == "graph.pad"
            && let Some((conv, pads)) = foldable(op)
        {
            fold(op, conv, &pads);
        }
    }
    Ok(())
}

/// The convolution that is the only user of a pad, and the pads that it has after folding.
fn foldable<'c>(pad: Op<'c>) -> Option<(Op<'c>, Vec<i64>)> {
    let users = ir::users(ir::result0(pad));
    let [conv] = users[..] else { return None };
    let is_image = ir::op_name(conv) == "graph.conv"
        && ir::operands(conv).iter().position(|value| *value == ir::result0(pad)) == Some(0);
    let mode = ir::attr_str(pad, "mode").unwrap_or_default();
    if !is_image || !(mode.is_empty() || mode == "constant") {
        return None;
    }
    let added = amounts(pad)?;
    let rank = added.len() / 2;
    let (before, after) = added.split_at(rank);
    let outside = before[..2].iter().chain(&after[..2]).any(|amount| *amount != 0);
    if rank < 3 || outside || added.iter().any(|amount| *amount < 0) {
        return None;
    }
    let spatial = rank - 2;
    let mut pads = ir::attr_i64s(conv, "pads").filter(|pads| !pads.is_empty());
    let pads = pads.get_or_insert_with(|| vec![0; 2 * spatial]);
    for (pad, amount) in pads.iter_mut().zip(before[2..].iter().chain(&after[2..])) {
        // Negative pads cut off what the zeros add; together they are not one padding.
        if *pad < 0 {
            return None;
        }
        *pad += amount;
    }
    Some((conv, pads.clone()))
}

/// What is added before and after each dimension, if that is known and zero is added.
fn amounts(pad: Op<'_>) -> Option<Vec<i64>> {
    let sizes = crate::lower::operand_segments(pad)?;
    let operands = ir::operands(pad);
    let operand = |group: usize| -> Option<Val<'_>> {
        let at = sizes[..group].iter().sum::<i32>() as usize;
        (sizes[group] > 0).then(|| operands[at])
    };
    if let Some(value) = operand(2)
        && Elements::of_value(value)?.floats().iter().any(|value| *value != 0.0)
    {
        return None;
    }
    let rank = ir::dims(operand(0)?.r#type()).len();
    let given = Elements::of_value(operand(1)?)?.ints();
    let axes = match operand(3) {
        Some(axes) => Elements::of_value(axes)?.ints(),
        None => (0..rank as i64).collect(),
    };
    if given.len() != 2 * axes.len() || rank < 2 {
        return None;
    }
    let mut amounts = vec![0; 2 * rank];
    for (index, axis) in axes.iter().enumerate() {
        let axis = normalize_axis(*axis, rank);
        *amounts.get_mut(axis)? = given[index];
        *amounts.get_mut(rank + axis)? = given[axes.len() + index];
    }
    Some(amounts)
}

fn fold<'c>(pad: Op<'c>, conv: Op<'c>, pads: &[i64]) {
    let attribute = DenseI64ArrayAttribute::new(ir::context_of(conv), pads).into();
    edit::set_attr(conv, "pads", attribute);
    let source = ir::operands(pad)[0];
    // SAFETY: the convolution has operands, and the image is live.
    unsafe { mlir_sys::mlirOperationSetOperand(conv.to_raw(), 0, Val::to_raw(&source)) };
    edit::erase(pad);
}
