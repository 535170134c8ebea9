//! Activation functions on f32 and f64 elements, in forms that neither overflow to NaN nor lose
//! small results.

use super::float::{add, arith, at_least, at_most, div, mul, number, sub};
use crate::{
    Result,
    ir::{self, Builder, Op, Val},
};

/// Emits an activation; `None` when there is none of this name.
pub(super) fn emit<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    name: &str,
    args: &[Val<'c>],
) -> Result<Option<Val<'c>>> {
    let x = args[0];
    let attr = |name, default| number(b, x, ir::attr_f64(op, name).unwrap_or(default));
    let value = match name {
        "relu" => at_least(b, x, number(b, x, 0.0)?)?,
        "leaky_relu" => scale_negative(b, x, attr("alpha", 0.01)?)?,
        "prelu" => scale_negative(b, x, args[1])?,
        "thresholded_relu" => {
            b.select(b.cmpf("ogt", x, attr("alpha", 1.0)?)?, x, number(b, x, 0.0)?)?
        }
        "elu" => {
            let negative = mul(b, attr("alpha", 1.0)?, exp_minus_1(b, x)?)?;
            b.select(b.cmpf("olt", x, number(b, x, 0.0)?)?, negative, x)?
        }
        "celu" => celu(b, x, attr("alpha", 1.0)?)?,
        "selu" => {
            let negative = mul(b, attr("alpha", 1.673_263_192_176_818_8)?, exp_minus_1(b, x)?)?;
            let y = b.select(b.cmpf("ole", x, number(b, x, 0.0)?)?, negative, x)?;
            mul(b, attr("gamma", 1.050_701_022_148_132_3)?, y)?
        }
        "sigmoid" => sigmoid(b, x)?,
        "swish" => mul(b, x, sigmoid(b, mul(b, attr("alpha", 1.0)?, x)?)?)?,
        "hard_sigmoid" => {
            let y = add(b, mul(b, attr("alpha", 0.2)?, x)?, attr("beta", 0.5)?)?;
            clamp_unit(b, y)?
        }
        "hard_swish" => {
            let y = add(b, mul(b, x, number(b, x, 1.0 / 6.0)?)?, number(b, x, 0.5)?)?;
            mul(b, x, clamp_unit(b, y)?)?
        }
        "softplus" => softplus(b, x)?,
        "softsign" => {
            let magnitude = arith(b, "math.absf", &[x])?;
            div(b, x, add(b, number(b, x, 1.0)?, magnitude)?)?
        }
        "mish" => mish(b, x)?,
        "gelu" => gelu(b, op, x)?,
        "shrink" => shrink(b, x, attr("bias", 0.0)?, attr("lambd", 0.5)?)?,
        _ => return Ok(None),
    };
    Ok(Some(value))
}

fn scale_negative<'c>(b: &Builder<'c>, x: Val<'c>, slope: Val<'c>) -> Result<Val<'c>> {
    b.select(b.cmpf("olt", x, number(b, x, 0.0)?)?, mul(b, x, slope)?, x)
}

fn exp_minus_1<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    arith(b, "math.expm1", &[x])
}

/// `max(0, x) + min(0, alpha * (e^(x / alpha) - 1))`.
fn celu<'c>(b: &Builder<'c>, x: Val<'c>, alpha: Val<'c>) -> Result<Val<'c>> {
    let zero = number(b, x, 0.0)?;
    let negative = mul(b, alpha, exp_minus_1(b, div(b, x, alpha)?)?)?;
    add(b, at_least(b, x, zero)?, at_most(b, negative, zero)?)
}

/// `1 / (1 + e^-x)`, or `e^x / (1 + e^x)` below zero, where e^-x may be infinite.
fn sigmoid<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let one = number(b, x, 1.0)?;
    let magnitude = arith(b, "math.absf", &[x])?;
    let exp = arith(b, "math.exp", &[arith(b, "arith.negf", &[magnitude])?])?;
    let over = b.select(b.cmpf("olt", x, number(b, x, 0.0)?)?, exp, one)?;
    div(b, over, add(b, one, exp)?)
}

fn clamp_unit<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    at_most(b, at_least(b, x, number(b, x, 0.0)?)?, number(b, x, 1.0)?)
}

/// `ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)`, in which nothing overflows.
fn softplus<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let magnitude = arith(b, "math.absf", &[x])?;
    let exp = arith(b, "math.exp", &[arith(b, "arith.negf", &[magnitude])?])?;
    let rest = arith(b, "math.log1p", &[exp])?;
    add(b, at_least(b, x, number(b, x, 0.0)?)?, rest)
}

/// `x * tanh(ln(1 + e^x))`. With `n = e^x (e^x + 2)` the tangent is `n / (n + 2)`, which is 1 in
/// working precision long before e^x is large.
fn mish<'c>(b: &Builder<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let two = number(b, x, 2.0)?;
    let exp = arith(b, "math.exp", &[at_most(b, x, number(b, x, 40.0)?)?])?;
    let n = mul(b, exp, add(b, exp, two)?)?;
    mul(b, x, div(b, n, add(b, n, two)?)?)
}

fn gelu<'c>(b: &Builder<'c>, op: Op<'c>, x: Val<'c>) -> Result<Val<'c>> {
    let inner = if ir::attr_str(op, "approximate").as_deref() == Some("tanh") {
        let cube = mul(b, mul(b, x, x)?, x)?;
        let sum = add(b, x, mul(b, number(b, x, 0.044715)?, cube)?)?;
        let scale = std::f64::consts::FRAC_2_PI.sqrt();
        arith(b, "math.tanh", &[mul(b, number(b, x, scale)?, sum)?])?
    } else {
        let scale = std::f64::consts::FRAC_1_SQRT_2;
        arith(b, "math.erf", &[mul(b, x, number(b, x, scale)?)?])?
    };
    let half = mul(b, number(b, x, 0.5)?, x)?;
    mul(b, half, add(b, number(b, x, 1.0)?, inner)?)
}

fn shrink<'c>(b: &Builder<'c>, x: Val<'c>, bias: Val<'c>, lambda: Val<'c>) -> Result<Val<'c>> {
    let below = b.cmpf("olt", x, arith(b, "arith.negf", &[lambda])?)?;
    let above = b.cmpf("ogt", x, lambda)?;
    let high = b.select(above, sub(b, x, bias)?, number(b, x, 0.0)?)?;
    b.select(below, add(b, x, bias)?, high)
}
