//! Values that operations use from outside of themselves, and copies of operations elsewhere.

use super::{Blk, Op, Val, edit};
use crate::Result;
use melior::ir::{block::BlockLike, operation::OperationLike};
use std::collections::HashMap;

/// True if a value is defined outside of an operation.
pub fn is_outside(value: Val<'_>, op: Op<'_>) -> bool {
    let mut parent = match edit::defining_op(value) {
        Some(definer) => definer.parent_operation(),
        None => edit::owner_block(value).and_then(|(block, _)| block.parent_operation()),
    };
    while let Some(current) = parent {
        if edit::same(current, op) {
            return false;
        }
        parent = current.parent_operation();
    }
    true
}

/// The values from outside that an operation and all that is in it uses, each once.
pub fn captured<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let mut found: Vec<Val<'c>> = vec![];
    for user in edit::walk(op).into_iter().chain([op]) {
        for operand in super::operands(user) {
            if is_outside(operand, op) && !found.contains(&operand) {
                found.push(operand);
            }
        }
    }
    found
}

/// Copies operations to the end of a block. What they use is replaced where a replacement is known.
pub struct Copy<'c> {
    block: Blk<'c>,
    values: HashMap<super::Id, Val<'c>>,
    /// True if the producers of other operands are copied too.
    is_elsewhere: bool,
}

impl<'c> Copy<'c> {
    /// Copies to the end of a block that knows nothing of the place that they come from: what else
    /// they use is copied too, such as constants and views.
    pub fn to(block: Blk<'c>) -> Self {
        Self { block, values: HashMap::new(), is_elsewhere: true }
    }

    /// Copies to the end of a block at the same place.
    pub fn nearby(block: Blk<'c>) -> Self {
        Self { block, values: HashMap::new(), is_elsewhere: false }
    }

    /// Sets the replacement of a value in the copies.
    pub fn replace(&mut self, value: Val<'c>, with: Val<'c>) {
        self.values.insert(super::id(value), with);
    }

    /// Replacement of a value in the copies: itself unless something else is known.
    pub fn value(&self, value: Val<'c>) -> Val<'c> {
        self.values.get(&super::id(value)).copied().unwrap_or(value)
    }

    fn needed(&self, op: Op<'c>) -> Vec<Val<'c>> {
        if self.is_elsewhere { captured(op) } else { vec![] }
    }

    /// Copies an operation. Its results are replaced by those of the copy from then on.
    pub fn op(&mut self, op: Op<'c>) -> Result<Op<'c>> {
        for operand in self.needed(op) {
            if !self.values.contains_key(&super::id(operand))
                && let Some(definer) = edit::defining_op(operand)
            {
                self.op(definer)?;
            }
        }
        let copy = edit::clone_to_end(op, self.block);
        for user in edit::walk(copy).into_iter().chain([copy]) {
            for (index, operand) in super::operands(user).into_iter().enumerate() {
                if let Some(value) = self.values.get(&super::id(operand)) {
                    edit::set_operand(user, index, *value)?;
                }
            }
        }
        for (of, is) in super::results(op).into_iter().zip(super::results(copy)) {
            self.replace(of, is);
        }
        Ok(copy)
    }
}
