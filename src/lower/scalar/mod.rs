//! The arithmetic of one element of each elementwise `graph` op.
//!
//! Arguments may be scalars, or vectors whose lanes are elements; the kernels' epilogues use the
//! latter. Float arithmetic allows contraction into fused multiply-add and nothing else, so NaN
//! and infinities behave as ONNX defines. 16-bit floats are computed in f32.

mod activation;
mod cast;
pub mod float;
mod integer;
mod quant;
pub mod small_float;

pub use cast::{convert, is_bf16, is_f16, narrow, wide_type, widen};
pub use float::scalar_constant;
pub use quant::{Quantized, dequantize, lookup};

use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, Val,
        types::{is_unsigned, signless},
    },
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Emits the computation of one element of an elementwise op. `args` are one element of each of
/// the op's operands, converted to signless; attributes are read from `op`. `unsigned` says
/// whether the first operand is unsigned in the graph (for `where`, it has no meaning).
pub fn emit_scalar<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    args: &[Val<'c>],
    unsigned: bool,
) -> Result<Val<'c>> {
    let name = ir::op_name(op).strip_prefix("graph.").unwrap_or_default();
    let first =
        *args.first().ok_or_else(|| Error::internal("an elementwise op without operands"))?;
    match (name, args) {
        ("identity", _) => return Ok(first),
        ("where", [condition, yes, no]) => return b.select(*condition, *yes, *no),
        ("bitcast", _) => return cast::reinterpret(b, first, element_of_result(b, op)?),
        ("cast", _) => return cast::emit(b, op, first, unsigned),
        _ => {}
    }
    if !ir::is_float(first.r#type()) {
        return match emit_float_of_int(b, op, name, args, unsigned)? {
            Some(value) => Ok(value),
            None => integer::emit(b, op, name, args, unsigned)?.ok_or_else(|| unknown(op)),
        };
    }
    let wide: Vec<_> = args.iter().map(|arg| widen(b, *arg)).collect::<Result<_>>()?;
    let result = match activation::emit(b, op, name, &wide)? {
        Some(value) => value,
        None => float::emit(b, op, name, &wide)?.ok_or_else(|| unknown(op))?,
    };
    narrow(b, result, element_of_result(b, op)?)
}

/// Emits the computation of one element of an elementwise op, or of a quantization whose
/// parameters are operands like others, as [`emit_scalar`] does.
pub fn emit_element<'c>(b: &Builder<'c>, op: Op<'c>, args: &[Val<'c>]) -> Result<Val<'c>> {
    match quant::emit(b, op, args)? {
        Some(value) => Ok(value),
        None => emit_scalar(b, op, args, operand_unsigned(op, 0)),
    }
}

/// The few ops that compute in floats although their operand may be an integer.
fn emit_float_of_int<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    name: &str,
    args: &[Val<'c>],
    unsigned: bool,
) -> Result<Option<Val<'c>>> {
    let float = match (name, args) {
        ("shrink", _) => b.f32(),
        ("pow", [_, exponent]) if ir::is_float(exponent.r#type()) => b.f64(),
        // A vector has no loop per lane.
        ("pow", [base, _]) if ir::dims(base.r#type()).len() == 1 => b.f64(),
        _ => return Ok(None),
    };
    let mut wide = vec![];
    for (index, arg) in args.iter().enumerate() {
        let sign = if index == 0 { unsigned } else { operand_unsigned(op, index) };
        wide.push(convert(b, *arg, sign, b.like(arg.r#type(), float), false)?);
    }
    let result = match activation::emit(b, op, name, &wide)? {
        Some(value) => value,
        None => float::emit(b, op, name, &wide)?.ok_or_else(|| unknown(op))?,
    };
    let ty = b.like(result.r#type(), element_of_result(b, op)?);
    convert(b, result, false, ty, unsigned).map(Some)
}

fn operand_unsigned(op: Op<'_>, index: usize) -> bool {
    op.operand(index).is_ok_and(|value| is_unsigned(value.r#type()))
}

/// Element type of the op's result after conversion.
fn element_of_result<'c>(b: &Builder<'c>, op: Op<'c>) -> Result<Type<'c>> {
    let value: Val<'c> = op.result(0).map_err(ir::unexpected)?.into();
    Ok(ir::element_type(signless(b.context, value.r#type())))
}

fn unknown(op: Op<'_>) -> Error {
    Error::internal(format!("{} has no scalar form for its types", ir::op_name(op)))
}
