//! `graph-widen-half`: convolutions, products, pools and softmax of 16-bit floats compute on f32.
//!
//! Sums of products of 16-bit floats are f32 wherever they are computed, and rounded once, so
//! operands may as well be widened before. Host kernels multiply f32; those that multiply bf16 find
//! it behind the casts (`host/halves.rs`). Constants are widened here, as are those that a network
//! itself casts to f32 for a product or a convolution. Kernels store them as 16-bit floats again
//! where that is faster.

use crate::{
    Result,
    host::kernel::weights,
    ir::{
        self, Builder, Op, Val, constant::Elements, edit, graph, op_name, types::with_element,
        view::OpView,
    },
    lower::scalar::{is_bf16, is_f16},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{
    Attribute, Type, ValueLike,
    attribute::TypeAttribute,
};
use std::collections::HashMap;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-widen-half",
    summary: "Let convolutions, products, pools and softmax of 16-bit floats compute on f32",
    anchor: "func.func",
    options: &[],
    dialects: &["graph"],
    run,
};

/// Operations that have kernels on f32. A maximum is one of the elements, and all others sum in f32.
const WIDENED: &[&str] = &[
    graph::AveragePool::NAME,
    graph::Conv::NAME,
    graph::ConvTranspose::NAME,
    graph::Gemm::NAME,
    graph::GlobalAveragePool::NAME,
    graph::GlobalMaxPool::NAME,
    graph::LogSoftmax::NAME,
    graph::MatMul::NAME,
    graph::MaxPool::NAME,
    graph::Softmax::NAME,
];

/// Operations that multiply with weights.
const WEIGHTED: &[&str] =
    &[graph::Conv::NAME, graph::ConvTranspose::NAME, graph::Gemm::NAME, graph::MatMul::NAME];

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let mut wide = Widened { values: HashMap::new(), constants: 0 };
    for op in edit::entry_block(function).map(ir::ops).unwrap_or_default() {
        let results = ir::results(op);
        if let [result] = results[..]
            && WIDENED.contains(&op_name(op))
            && is_half(result)
        {
            wide.widen(op, result)?;
        } else if WEIGHTED.contains(&op_name(op)) {
            wide.widen_casts(op)?;
        }
    }
    Ok(())
}

/// A constant of floats of up to 16 bits that a value is cast from to f32.
fn cast_constant(value: Val<'_>) -> Option<Val<'_>> {
    let cast = graph::Cast::of(edit::defining_op(value)?)?;
    let (from, to) = (ir::element_type(cast.x().r#type()), ir::element_type(value.r#type()));
    let is_small = ir::is_float(from) && ir::types::bits(from).is_some_and(|bits| bits <= 16);
    (is_small && ir::is_f32(to) && Elements::of_value(cast.x()).is_some()).then(|| cast.x())
}

/// True for a tensor of 16-bit floats of known sizes.
fn is_half(value: Val<'_>) -> bool {
    let element = ir::element_type(value.r#type());
    ir::static_dims(value.r#type()).is_some() && (is_f16(element) || is_bf16(element))
}

struct Widened<'c> {
    /// The f32 form of values, by the pointer of the value. A cast stands where it was first
    /// needed, which is before all later ones.
    values: HashMap<ir::Id, Val<'c>>,
    /// Number of constants made.
    constants: usize,
}

impl<'c> Widened<'c> {
    fn widen(&mut self, op: Op<'c>, result: Val<'c>) -> Result<()> {
        let b = Builder::before(op)?;
        let mut operands = vec![];
        for operand in ir::operands(op) {
            operands.push(if is_half(operand) { self.value(&b, operand)? } else { operand });
        }
        let wide = b.insert_clone(op);
        for (index, operand) in operands.into_iter().enumerate() {
            edit::set_operand(wide, index, operand)?;
        }
        let computed = ir::result0(wide)?;
        edit::set_type(computed, with_element(result.r#type(), b.f32()));
        let narrow = cast(&b, computed, result.r#type())?;
        // Users on f32 read it only after it was rounded.
        edit::replace_uses(result, narrow);
        edit::erase(op);
        Ok(())
    }

    /// Has an operation on f32 read the constants that are cast for it.
    fn widen_casts(&mut self, op: Op<'c>) -> Result<()> {
        for (index, operand) in ir::operands(op).into_iter().enumerate() {
            let Some(constant) = cast_constant(operand) else { continue };
            // At the constant: what is made for one operation is there for all that read it.
            let Some(definer) = edit::defining_op(constant) else { continue };
            let wide = self.value(&Builder::before(definer)?, constant)?;
            edit::set_operand(op, index, wide)?;
            if let Some(cast) = edit::defining_op(operand)
                && ir::users_of(cast).is_empty()
            {
                edit::erase(cast);
            }
        }
        Ok(())
    }

    fn value(&mut self, b: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
        let key = ir::id(value);
        if let Some(known) = self.values.get(&key) {
            return Ok(*known);
        }
        let wide = match Elements::of_value(value) {
            Some(elements) if elements.is_splat() => {
                let dims = ir::dims(value.r#type());
                weights::splat(b, &dims, elements.float(0) as f32)?
            }
            Some(elements) => {
                self.constants += 1;
                let values = elements.floats().into_iter().map(|value| value as f32).collect();
                let name = format!("widened_{}", self.constants);
                weights::constant(b, &ir::dims(value.r#type()), values, &name)?
            }
            None => cast(b, value, with_element(value.r#type(), b.f32()))?,
        };
        self.values.insert(key, wide);
        Ok(wide)
    }
}

fn cast<'c>(b: &Builder<'c>, value: Val<'c>, ty: Type<'c>) -> Result<Val<'c>> {
    let to: Attribute<'c> = TypeAttribute::new(ir::element_type(ty)).into();
    b.op1_with(graph::Cast::NAME, &[value], ty, vec![("to", to)])
}
