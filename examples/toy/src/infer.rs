//! Inference of shapes, by MLIR's interface: each operation says what its operands make of its result.

use crate::toy;
use phaseline_toolkit::{
    Toolkit,
    ir::{Attribute, Type, Val, type_of, types},
    pass,
};

type Inferred<'c> = Result<Vec<Type<'c>>, String>;

/// Both operands have the shape of the result, as far as it is known.
fn binary<'c>(operands: &[Val<'c>], _: Attribute<'c>) -> Inferred<'c> {
    let [a, b] = [type_of(operands[0]), type_of(operands[1])];
    match (types::shape(a), types::shape(b)) {
        (Some(of_a), Some(of_b)) if of_a != of_b => Err(format!("has operands {a} and {b}")),
        (None, Some(_)) => Ok(vec![b]),
        _ => Ok(vec![a]),
    }
}

fn transpose<'c>(operands: &[Val<'c>], _: Attribute<'c>) -> Inferred<'c> {
    let x = type_of(operands[0]);
    let Some(mut shape) = types::shape(x) else { return Ok(vec![x]) };
    shape.reverse();
    types::with_shape(x, &shape).map(|ty| vec![ty]).map_err(|error| error.to_string())
}

pass! {
    pub InferShapes = "toy-infer-shapes" on "func.func": "Infer shapes of tensors", |cx| {
        cx.infer_types()?;
        Ok(())
    }
}

pub fn add_to(toolkit: Toolkit) -> Toolkit {
    toolkit
        .infer::<toy::Add>(binary)
        .infer::<toy::Mul>(binary)
        .infer::<toy::Transpose>(transpose)
        .infer::<toy::Cast>(|operands, _| Ok(vec![type_of(operands[0])]))
}
