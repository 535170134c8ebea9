//! `graph.constant`.

use crate::{
    Result,
    ir::{self, OpSpec, Val, constant::Elements, graph::ConstantAdaptor},
    lower::Lowering,
};

/// Becomes `arith.constant` of signless elements; blobs are shared.
fn constant<'c>(l: &Lowering<'c>, op: ConstantAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let elements =
        Elements::new(op.value()).ok_or_else(|| l.unsupported("constants without data"))?;
    let value = elements.signless(&l.b)?;
    let ty = l.result_type(0)?;
    let spec = OpSpec { results: &[ty], attributes: vec![("value", value)], ..Default::default() };
    Ok(ir::results(l.b.create("arith.constant", spec)?))
}

super::lowerings! { Constant => constant }
