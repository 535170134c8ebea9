//! `toy-lower`: tensors become vectors, and operations those of `arith` and `vector`. A conversion by patterns on typed
//! views, with a type converter.

use crate::toy;
use phaseline_toolkit::{
    ir::{
        Op, OpSpec, Val, convert::Conversion, edit, elements, op_name, results, static_dims,
        type_of, types,
    },
    pass,
};

/// True if an operation of the dialect has a shape that is not known.
fn is_open(op: &Op<'_>) -> bool {
    let is_open = |y: &Val<'_>| static_dims(type_of(*y)).is_none();
    op_name(*op).starts_with("toy.") && results(*op).iter().any(is_open)
}

fn conversion() -> Conversion<'static> {
    Conversion::new()
        .legal(["arith", "vector"])
        .illegal(["toy"])
        .types(|_, ty| types::vector_like(ty))
        .signatures()
        .pattern::<toy::Constant>("constant", |op, _, rewriter| {
            let ty = rewriter.convert(type_of(op.y()))?;
            let value = vec![("value", elements::dense(ty, &elements::bytes(op.value())?)?)];
            let made = rewriter.builder()?.op1_with("arith.constant", &[], ty, value)?;
            rewriter.replace(&[made])
        })
        .pattern::<toy::Add>("add", |_, operands, rewriter| {
            let (a, b) = (operands.get(0)?, operands.get(1)?);
            let sum = rewriter.builder()?.binary("arith.addf", a, b)?;
            rewriter.replace(&[sum])
        })
        .pattern::<toy::Mul>("mul", |_, operands, rewriter| {
            let (a, b) = (operands.get(0)?, operands.get(1)?);
            let product = rewriter.builder()?.binary("arith.mulf", a, b)?;
            rewriter.replace(&[product])
        })
        .pattern::<toy::Transpose>("transpose", |op, operands, rewriter| {
            let (builder, ty) = (rewriter.builder()?, rewriter.convert(type_of(op.y()))?);
            let order = vec![("permutation", builder.i64s_attr(&[1, 0]))];
            let made = builder.op1_with("vector.transpose", &[operands.get(0)?], ty, order)?;
            rewriter.replace(&[made])
        })
        .pattern::<toy::Reshape>("reshape", |op, operands, rewriter| {
            let ty = rewriter.convert(type_of(op.y()))?;
            let made = rewriter.builder()?.op1("vector.shape_cast", &[operands.get(0)?], ty)?;
            rewriter.replace(&[made])
        })
        .pattern::<toy::Print>("print", |_, operands, rewriter| {
            let spec = OpSpec { operands: &[operands.get(0)?], ..OpSpec::default() };
            rewriter.builder()?.create("vector.print", spec)?;
            rewriter.erase()
        })
}

pass! {
    pub Lower = "toy-lower" on "builtin.module" makes ["arith", "vector"]:
        "Lower to arithmetic on vectors", |cx| {
        if let Some(open) = edit::walk(cx.op()).into_iter().find(is_open) {
            let what = "has a result of open shape: inline and toy-infer-shapes come first";
            return Err(cx.error(open, what));
        }
        cx.convert(&conversion())
    }
}
