//! Reading and changing operations from outside of this crate: what passes of an embedder need beside
//! [`super::Builder`], with each part looked at. The same for the crate's own passes, whose parts are
//! of one session, is in [`super::edit`].

use super::{Blk, Op, Val, edit, origin};
use crate::{Error, Result};
use melior::{
    Context,
    ir::{
        Attribute, Location, Region, RegionLike, Type, ValueLike, block::BlockLike,
        operation::OperationLike,
    },
};

/// The type of a value.
pub fn type_of<'c>(value: Val<'c>) -> Type<'c> {
    value.r#type()
}

/// The location of an operation.
pub fn location<'c>(op: Op<'c>) -> Location<'c> {
    op.location()
}

/// The operation around an operation; none for that of a module.
pub fn parent<'c>(op: Op<'c>) -> Option<Op<'c>> {
    op.parent_operation()
}

/// An attribute of an operation, inherent or discardable.
pub fn attr<'c>(op: Op<'c>, name: &str) -> Option<Attribute<'c>> {
    op.attribute(name).ok()
}

/// True if an operation and all that is in it are valid; diagnostics say what is not.
pub fn verify(op: Op<'_>) -> bool {
    op.verify()
}

/// Sets an attribute, inherent or discardable.
///
/// # Errors
/// The attribute is of another session, or the name is empty.
pub fn set_attr<'c>(op: Op<'c>, name: &str, value: Attribute<'c>) -> Result<()> {
    super::context::check_change()?;
    super::context::check_own(op)?;
    if name.is_empty() {
        let name = super::op_name(op);
        return Err(Error::invalid(format!("an attribute of '{name}' has no name")));
    }
    origin::check_home(&op, &value, || {
        format!("the attribute '{name}' of '{}'", super::op_name(op))
    })?;
    edit::set_attr(op, name, value);
    Ok(())
}

/// Makes every use of `of` a use of `with`, a value of the same type and module. The verifier
/// checks dominance.
///
/// # Errors
/// The types differ, or the values are of two modules; or this is inside of a rule, which has its
/// rewriter.
pub fn replace_uses<'c>(of: Val<'c>, with: Val<'c>) -> Result<()> {
    super::context::check_free()?;
    check_type(of, with)?;
    for user in super::users(of) {
        super::context::check_own(user)?;
        check_inside(user, with)?;
    }
    edit::replace_uses(of, with);
    Ok(())
}

/// Gives an operation another operand, of the same type and module.
///
/// # Errors
/// As [`replace_uses`]; or there is no such operand.
pub fn set_operand<'c>(op: Op<'c>, index: usize, value: Val<'c>) -> Result<()> {
    super::context::check_free()?;
    super::context::check_own(op)?;
    if let Some(old) = super::operands(op).get(index) {
        check_type(*old, value)?;
    }
    check_inside(op, value)?;
    edit::set_operand(op, index, value)
}

/// Moves an operation in front of another one of the same module.
///
/// # Errors
/// One of them is in no block, or one is inside of the other. A call inside of a rule fails as
/// well.
pub fn move_before<'c>(op: Op<'c>, other: Op<'c>) -> Result<()> {
    super::context::check_free()?;
    super::context::check_own(op)?;
    super::context::check_own(other)?;
    let around = |op: Op<'c>| std::iter::successors(Some(op), |op| op.parent_operation());
    let outermost = |op: Op<'c>| around(op).last().map(super::id);
    if op.block().is_none()
        || other.block().is_none()
        || outermost(op) != outermost(other)
        || around(other).any(|around| edit::same(around, op))
        || super::context::is_run_on(op)
    {
        let name = super::op_name(op);
        return Err(Error::invalid(format!("'{name}' cannot be moved there")));
    }
    edit::move_before(op, other);
    Ok(())
}

fn check_type(old: Val<'_>, new: Val<'_>) -> Result<()> {
    origin::check_home(&old, &new, || "a value that takes the place of another one".to_owned())?;
    match old.r#type() == new.r#type() {
        true => Ok(()),
        false => Err(Error::invalid(format!(
            "a value of type {} was to take the place of one of type {}",
            new.r#type(),
            old.r#type()
        ))),
    }
}

fn check_inside<'c>(user: Op<'c>, value: Val<'c>) -> Result<()> {
    let name = super::op_name(user);
    match user.block() {
        Some(block) => origin::check_value(block, value, name),
        None => Err(Error::invalid(format!("'{name}' is in no block"))),
    }
}

/// A dictionary attribute.
///
/// # Errors
/// An entry is of another session.
pub fn dictionary<'c>(
    context: &'c Context,
    entries: &[(String, Attribute<'c>)],
) -> Result<Attribute<'c>> {
    for (name, value) in entries {
        origin::check_home(context, value, || format!("the entry '{name}' of a dictionary"))?;
    }
    Ok(edit::dictionary_attr(context, entries))
}

/// A region with one block of these arguments, for [`super::OpSpec`]. What is in the block is created
/// once the operation has it ([`edit::entry_block`]).
pub fn region<'c>(arguments: &[(Type<'c>, Location<'c>)]) -> Region<'c> {
    let region = Region::new();
    edit::append_block(&region, arguments);
    region
}

/// The blocks of a region.
pub(crate) fn blocks<'c>(region: &Region<'c>) -> impl Iterator<Item = Blk<'c>> {
    // SAFETY: the blocks live as long as what the region becomes a part of.
    let first = region.first_block().map(|block| unsafe { Blk::from_raw(block.to_raw()) });
    std::iter::successors(first, |block| block.next_in_region())
}
