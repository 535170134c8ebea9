//! Transpositions between the layouts of calls and those of the model.

use super::{definer, replace_uses};
use crate::{
    Error, Result,
    ir::{self, Builder, Op, Val, edit, graph, view::OpView},
};
use melior::ir::{Type, operation::OperationLike};

/// Removes transposes that undo another one of the list, and those that nothing uses.
pub fn cancel<'c>(transposes: &mut Vec<Op<'c>>) {
    for after in transposes.iter().copied().filter_map(graph::Transpose::of) {
        let Some(before) = definer(after.x()).and_then(graph::Transpose::of) else { continue };
        let (first, second) = (before.perm(), after.perm());
        let undone = second.iter().enumerate().all(|(place, dim)| {
            usize::try_from(*dim).ok().and_then(|dim| first.get(dim)) == Some(&(place as i64))
        });
        if undone {
            replace_uses(after.y(), before.x());
        }
    }
    // Later ones use earlier ones: from the back, so that chains go at once.
    loop {
        let count = transposes.len();
        transposes.retain(|op| {
            let used = !ir::users_of(*op).is_empty();
            if !used {
                edit::erase(*op);
            }
            used
        });
        if transposes.len() == count {
            return;
        }
    }
}

/// The transposes that belong to a region: those between two of its operations.
pub fn within<'c>(region: &[Op<'c>], transposes: &[Op<'c>]) -> Vec<Op<'c>> {
    let mut all = region.to_vec();
    let has = |all: &[Op<'c>], op: Op<'c>| all.iter().any(|other| edit::same(*other, op));
    loop {
        let found = transposes.iter().copied().find(|op| {
            let source = ir::operands(*op).first().copied().and_then(definer);
            let users = ir::users_of(*op);
            !has(&all, *op)
                && source.is_some_and(|source| has(&all, source))
                && users.iter().any(|user| has(&all, *user))
        });
        match found {
            Some(op) => all.push(op),
            None => return all,
        }
    }
}

/// Builds behind an operation, under its name.
pub(super) fn builder_after<'c>(op: Op<'c>) -> Result<Builder<'c>> {
    match op.next_in_block() {
        Some(next) => Ok(Builder::before(next)?.with_location(op.location())),
        None => Err(Error::internal("a match at the end of a block")),
    }
}

/// A tensor type with its dimensions in another order.
pub(super) fn permuted<'c>(b: &Builder<'c>, ty: Type<'c>, permutation: &[usize]) -> Type<'c> {
    let dims = ir::dims(ty);
    let dims: Vec<i64> = permutation.iter().map(|dim| dims[*dim]).collect();
    b.tensor(&dims, ir::element_type(ty))
}

/// A tensor with its dimensions in another order.
pub(super) fn transposed<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    permutation: &[usize],
) -> Result<Val<'c>> {
    let perm: Vec<i64> = permutation.iter().map(|dim| *dim as i64).collect();
    Ok(graph::Transpose::build(b, value, &perm)?.y())
}
