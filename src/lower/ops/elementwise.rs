//! Elementwise ops: one `linalg.generic` over the result, operands broadcast by their maps.

use crate::{
    Result,
    ir::{Val, graph::IdentityAdaptor},
    lower::{Lowering, scalar::emit_scalar},
};

/// Any elementwise operation.
pub fn lower<'c>(lowering: &Lowering<'c>, inputs: &[Val<'c>]) -> Result<Vec<Val<'c>>> {
    let unsigned = lowering.is_unsigned(0);
    let value = lowering.elementwise(inputs, lowering.result_type(0)?, |b, args| {
        emit_scalar(b, lowering.op, args, unsigned)
    })?;
    Ok(vec![value])
}

fn identity<'c>(_: &Lowering<'c>, op: IdentityAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    Ok(vec![op.x()])
}

// Operations of this family that need no arithmetic; all others are [`lower`]ed by their formula.
super::lowerings! { Identity => identity }
