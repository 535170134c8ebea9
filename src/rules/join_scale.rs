//! `join-scale`: weights that a network widens itself. Integers that are cast and multiplied with a
//! scale are dequantized ones. The same then holds for them: kernels read them as integers, or they
//! are floats in the package.

use crate::{
    Result,
    host::kernel::weights,
    ir::{
        self, Op, Val,
        constant::Elements,
        edit,
        graph::{self, DequantizeLinear, DequantizeLinearAttrs},
        rewrite::{Rewriter, Rule},
        view::OpView,
    },
};
use melior::ir::ValueLike;

/// The rule.
pub const RULE: Rule = Rule { name: "join-scale", root: graph::Mul::NAME, benefit: 1, apply };

/// Makes a dequantization of `cast(integers) * scale`.
fn apply<'c>(r: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(product) = graph::Mul::of(op) else { return Ok(false) };
    let (a, b) = (product.a(), product.b());
    let Some((x, scale)) = integers_of(a).zip(Some(b)).or_else(|| integers_of(b).zip(Some(a)))
    else {
        return Ok(false);
    };
    let builder = r.before(op)?;
    let dims = ir::dims(x.r#type());
    let ty = product.y().r#type();
    if ir::dims(ty) != dims || ir::element_type(ty) != builder.f32() {
        return Ok(false);
    }
    let along = ir::dims(scale.r#type());
    let axis = match along.iter().rposition(|dim| *dim != 1) {
        None => 0,
        Some(at) if along.iter().filter(|dim| **dim != 1).count() == 1 => {
            at + dims.len() - along.len()
        }
        _ => return Ok(false),
    };
    let Some(scales) = weights::floats::<f32>(scale) else { return Ok(false) };
    let shape = if scales.len() == 1 { vec![] } else { vec![scales.len() as i64] };
    let scale = weights::constant(&builder, &shape, scales, "stored_scales")?;
    let attributes = DequantizeLinearAttrs { axis: axis as i64, ..Default::default() };
    let made = DequantizeLinear::build(&builder, x, scale, None, attributes)?;
    r.retype_uses(product.y(), made.y());
    r.erase(op)?;
    Ok(true)
}

/// The constant bytes that a value is a cast of.
fn integers_of(value: Val<'_>) -> Option<Val<'_>> {
    let x = graph::Cast::of(edit::defining_op(value)?)?.x();
    let bytes = ir::integer_width(ir::element_type(x.r#type())) == Some(8);
    (bytes && Elements::of_value(x).is_some()).then_some(x)
}
