//! Lowering of the graph dialect to linalg, tensor, arith, math and scf on tensors.
//!
//! Each `graph` op has one function that builds its replacement: a [`LowerFn`] in the table of
//! its family, `ops/*.rs`. The pass `convert-graph-to-linalg` walks a function in order and calls
//! them. Integers are signless afterwards, so a lowering asks the *old* op whether a value is
//! unsigned: [`Lowering::is_unsigned`].

pub mod blocks;
pub mod carried;
pub mod chains;
pub mod convert;
pub mod equation;
pub mod generic;
pub mod loops;
pub mod nests;
pub mod neutral;
pub mod operands;
pub mod ops;
pub mod padding;
pub mod reduction;
pub mod scalar;
pub mod shape;
pub mod sums;

pub use generic::{Aff, Iter};

use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, types::signless},
};
use melior::ir::{Type, ValueLike, operation::OperationLike};

/// Builds the replacement of a `graph` op in front of it. The values are the op's operands after
/// conversion; the result has one value for each of the op's results, of the converted type.
///
/// What a family writes is typed: `fn gather(l: &Lowering, op: GatherAdaptor) -> ...`, which the
/// table of the family turns into this, see `ops/mod.rs`.
pub type LowerFn = for<'c> fn(&Lowering<'c>, &[Val<'c>]) -> Result<Vec<Val<'c>>>;

/// Context of a lowering.
#[derive(Clone, Copy)]
pub struct Lowering<'c> {
    /// Inserts in front of the op, with its location.
    pub b: Builder<'c>,
    /// The op that is lowered; its operands and types are still those of the graph.
    pub op: Op<'c>,
}

/// The lowering of the op `name`, such as `graph.conv`.
pub fn lowering(name: &str) -> Option<LowerFn> {
    let found = ops::TABLES
        .iter()
        .flat_map(|table| table.iter())
        .find(|(candidate, _)| *candidate == name)
        .map(|(_, lower)| *lower);
    let elementwise = || ir::view::info_of(name).is_some_and(|info| info.elementwise);
    found.or_else(|| elementwise().then_some(ops::elementwise::lower as LowerFn))
}

impl<'c> Lowering<'c> {
    /// Type of an operand in the graph.
    pub fn operand_type(&self, index: usize) -> Result<Type<'c>> {
        Ok(self.op.operand(index).map_err(ir::unexpected)?.r#type())
    }

    /// Type of a result after conversion.
    pub fn result_type(&self, index: usize) -> Result<Type<'c>> {
        let value: Val<'c> = self.op.result(index).map_err(ir::unexpected)?.into();
        Ok(signless(self.b.context, value.r#type()))
    }

    /// The dimensions of a result.
    pub fn result_dims(&self, index: usize) -> Result<Vec<i64>> {
        Ok(ir::dims(self.result_type(index)?))
    }

    /// True if an operand has unsigned elements in the graph. Booleans count as unsigned.
    pub fn is_unsigned(&self, operand: usize) -> bool {
        self.op.operand(operand).is_ok_and(|value| ir::types::is_unsigned(value.r#type()))
    }

    /// True if a result has unsigned elements in the graph.
    pub fn is_unsigned_result(&self, index: usize) -> bool {
        self.op.result(index).is_ok_and(|value| ir::types::is_unsigned(value.r#type()))
    }

    /// An integer attribute, or `default`.
    pub fn int(&self, name: &str, default: i64) -> i64 {
        ir::attr_i64(self.op, name).unwrap_or(default)
    }

    /// A boolean attribute, or `default`.
    pub fn flag(&self, name: &str, default: bool) -> bool {
        ir::attr_bool(self.op, name).unwrap_or(default)
    }

    /// A float attribute, or `default`.
    pub fn float(&self, name: &str, default: f64) -> f64 {
        ir::attr_f64(self.op, name).unwrap_or(default)
    }

    /// An integer list attribute; `count` times `default` when it is empty or absent.
    pub fn ints(&self, name: &str, count: usize, default: i64) -> Vec<i64> {
        ir::attr_i64s(self.op, name)
            .filter(|list| !list.is_empty())
            .unwrap_or_else(|| vec![default; count])
    }

    /// An axis attribute, counted from the first dimension.
    pub fn axis(&self, name: &str, default: i64, rank: usize) -> usize {
        normalize_axis(self.int(name, default), rank)
    }

    /// An error about something in this op that has no lowering.
    pub fn unsupported(&self, what: impl std::fmt::Display) -> Error {
        Error::unsupported(format!("has no lowering for {what}"))
    }
}

/// An axis counted from the first dimension; negative ones count from the end.
pub fn normalize_axis(axis: i64, rank: usize) -> usize {
    let rank = rank as i64;
    let positive = if axis < 0 { axis + rank } else { axis };
    positive.clamp(0, rank) as usize
}
