//! An operation together with values that stand for its operands, as in the middle of a conversion:
//! what MLIR calls an adaptor. The accessors by name are generated from ODS by
//! `dialects/op_views.rs`, one set for each operation; a view ([`super::graph::Conv`]) has the same
//! names for the operands that the operation itself has.

use super::{
    Op, Val,
    view::{self, OpView},
};
use melior::ir::operation::OperationLike;
use std::ops::Deref;

/// The view `V` of an operation, and the value of each of its operands. Accessors of operands give
/// these values; attributes are those of the view.
#[derive(Clone, Copy, Debug)]
pub struct Adaptor<'a, 'c, V> {
    op: V,
    values: &'a [Val<'c>],
}

impl<'a, 'c, V: OpView<'c>> Adaptor<'a, 'c, V> {
    /// The operation with `values` in place of its operands; none if `op` is another operation than
    /// V's, or if it has not as many operands.
    pub fn of(op: Op<'c>, values: &'a [Val<'c>]) -> Option<Self> {
        let op = V::of(op)?;
        (op.op().operand_count() == values.len()).then_some(Self { op, values })
    }

    /// The operation itself: its accessors give the operands that it has.
    pub fn view(self) -> V {
        self.op
    }
}

impl<V> Deref for Adaptor<'_, '_, V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.op
    }
}

/// The values of a variadic operand of the declaration. [`view::fits`] has seen that there are as
/// many as ODS says.
pub(super) fn operands<'a, 'c, V: OpView<'c>>(
    adaptor: Adaptor<'a, 'c, V>,
    index: usize,
) -> &'a [Val<'c>] {
    &adaptor.values[view::operand_range(adaptor.op.op(), V::INFO, index)]
}

pub(super) fn operand_if_present<'c, V: OpView<'c>>(
    adaptor: Adaptor<'_, 'c, V>,
    index: usize,
) -> Option<Val<'c>> {
    operands(adaptor, index).first().copied()
}

pub(super) fn operand<'c, V: OpView<'c>>(adaptor: Adaptor<'_, 'c, V>, index: usize) -> Val<'c> {
    adaptor.values[view::operand_range(adaptor.op.op(), V::INFO, index).start]
}
