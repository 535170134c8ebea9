//! Changing operations, and walking them.
//!
//! Embedders read, set attributes ([`super::set_attr`]) and [`remove`] operations. What moves, copies and destroys them is
//! the crate's own: nothing checks that values, operations and blocks fit together.

pub use super::remove::remove;

use super::{Blk, Op, Val};
use crate::{Error, Result, ffi};
use melior::{
    Context,
    ir::{
        Attribute, AttributeLike, Block, BlockRef, Location, Module, OperationRef, Region,
        RegionLike, Type, TypeLike, ValueLike,
        block::BlockLike,
        operation::{OperationBuilder, OperationLike},
    },
};
use mlir_sys as sys;

/// Every operation inside of `op`, itself excluded, an operation before those in its regions. The
/// list is taken before it is returned, so what is listed may be changed, and [removed](remove).
pub fn walk<'c>(op: Op<'c>) -> Vec<Op<'c>> {
    let mut found = vec![];
    let mut stack: Vec<Op<'c>> = super::ops_of(op).into_iter().rev().collect();
    while let Some(op) = stack.pop() {
        found.push(op);
        stack.extend(super::ops_of(op).into_iter().rev());
    }
    found
}

/// The first block of the first region, which a function that is only declared has not.
pub fn entry_block<'c>(op: Op<'c>) -> Option<Blk<'c>> {
    op.regions().next()?.first_block()
}

unchecked! {
    /// Appends a block with these arguments to a region that an operation is about to take over.
    pub fn append_block<'c>(region: &Region<'c>, arguments: &[(Type<'c>, Location<'c>)]) -> Blk<'c> {
        let block = region.append_block(Block::new(arguments));
        // SAFETY: the block belongs to the region, and through that to the operation.
        unsafe { Blk::from_raw(block.to_raw()) }
    }
}

/// The arguments of a block.
pub fn arguments<'c>(block: Blk<'c>) -> Vec<Val<'c>> {
    (0..block.argument_count())
        .filter_map(|index| block.argument(index).ok())
        .map(Into::into)
        .collect()
}

unchecked! {
    /// Sets an attribute of the same session, inherent or discardable.
    pub fn set_attr<'c>(op: Op<'c>, name: &str, value: Attribute<'c>) {
        let name = melior::StringRef::new(name);
        // SAFETY: the operation is live and the name is copied.
        unsafe { sys::mlirOperationSetAttributeByName(op.to_raw(), name.to_raw(), value.to_raw()) }
    }
}

/// Removes an attribute; true if there was one. Where nothing may be changed, it stays.
pub fn remove_attr(op: Op<'_>, name: &str) -> bool {
    if super::context::check_change().is_err() {
        return false;
    }
    let name = melior::StringRef::new(name);
    // SAFETY: the operation is live.
    unsafe { sys::mlirOperationRemoveAttributeByName(op.to_raw(), name.to_raw()) }
}

unchecked! {
    /// Makes every use of `of` a use of `with`.
    pub fn replace_uses(of: Val<'_>, with: Val<'_>) {
        // SAFETY: both values are live and of one type, which the verifier checks after the pass.
        unsafe { sys::mlirValueReplaceAllUsesOfWith(of.to_raw(), with.to_raw()) }
    }
}

unchecked! {
    /// Makes every use of `of` a use of `with`, but for those by `exception`.
    pub fn replace_uses_except(of: Val<'_>, with: Val<'_>, exception: Op<'_>) {
        let mut exceptions = [exception.to_raw()];
        // SAFETY: as above.
        unsafe {
            sys::mlirValueReplaceAllUsesExcept(
                of.to_raw(),
                with.to_raw(),
                exceptions.len() as isize,
                exceptions.as_mut_ptr(),
            )
        }
    }
}

unchecked! {
    /// Removes and destroys an operation whose results have no uses; it must not be touched again.
    pub fn erase(op: Op<'_>) {
        // SAFETY: the caller's contract; the operation unlinks itself from its block.
        unsafe { sys::mlirOperationDestroy(op.to_raw()) }
    }
}

unchecked! {
    /// Gives an operation other operands than it has, and as many as there are values.
    pub fn replace_operands(op: Op<'_>, values: &[Val<'_>]) {
        let values: Vec<_> = values.iter().map(|value| value.to_raw()).collect();
        // SAFETY: the operation and the values are live.
        unsafe {
            sys::mlirOperationSetOperands(op.to_raw(), values.len() as isize, values.as_ptr());
        }
    }
}

unchecked! {
    /// Changes one operand; the type stays.
    pub fn set_operand<'c>(op: Op<'c>, index: usize, value: Val<'c>) -> Result<()> {
        if index >= op.operand_count() {
            return Err(Error::internal(format!(
                "'{}' has {} operands, and operand {index} was to be changed",
                super::op_name(op),
                op.operand_count()
            )));
        }
        // SAFETY: the operation has this operand.
        unsafe { sys::mlirOperationSetOperand(op.to_raw(), index as isize, value.to_raw()) };
        Ok(())
    }
}

unchecked! {
    /// Changes all operands.
    pub fn set_operands<'c>(op: Op<'c>, values: &[Val<'c>]) -> Result<()> {
        for (index, value) in values.iter().enumerate() {
            set_operand(op, index, *value)?;
        }
        Ok(())
    }
}

unchecked! {
    /// Makes each operand of `op` that is in `from` the value at the same place in `to`.
    pub fn remap_operands<'c>(op: Op<'c>, from: &[Val<'c>], to: &[Val<'c>]) -> Result<()> {
        for (index, operand) in super::operands(op).into_iter().enumerate() {
            let place = from.iter().position(|value| *value == operand);
            if let Some(new) = place.and_then(|place| to.get(place)) {
                set_operand(op, index, *new)?;
            }
        }
        Ok(())
    }
}

/// The values that an operation folds to, constants among them made in front of it; it itself stays. One that is not
/// valid folds to nothing.
pub fn fold<'c>(op: Op<'c>) -> Option<Vec<Val<'c>>> {
    op.block()?;
    super::context::check_change().ok()?;
    // SAFETY: the operation is live.
    if !unsafe { ffi::phlIsValid(op.to_raw()) } || feeds_itself(op) {
        return None;
    }
    let mut found = vec![sys::MlirValue { ptr: std::ptr::null() }; op.result_count()];
    // SAFETY: there is room for each result, and the operation is in a block.
    unsafe {
        ffi::phlTryFold(op.to_raw(), found.as_mut_ptr())
            .then(|| found.into_iter().map(|raw| Val::from_raw(raw)).collect())
    }
}

/// True if an operation uses its own results, maybe through others near to it: MLIR's folding of it does not end.
fn feeds_itself(op: Op<'_>) -> bool {
    const NEAR: usize = 64;
    let mut found = vec![op];
    let mut next = 0;
    while next < found.len().min(NEAR) {
        for definer in super::operands(found[next]).into_iter().filter_map(defining_op) {
            if same(definer, op) {
                return true;
            }
            if !found.iter().any(|known| same(*known, definer)) {
                found.push(definer);
            }
        }
        next += 1;
    }
    false
}

unchecked! {
    /// Makes uses of the symbol `old` in `module` uses of `new`.
    pub fn rename_uses(module: Op<'_>, old: &str, new: &str) {
        let (old, new) = (melior::StringRef::new(old), melior::StringRef::new(new));
        // SAFETY: the module is live; names are copied.
        unsafe {
            sys::mlirSymbolTableReplaceAllSymbolUses(old.to_raw(), new.to_raw(), module.to_raw());
        }
    }
}

/// A copy of a module; none of another operation.
pub fn clone_module<'c>(module: Op<'c>) -> Option<Module<'c>> {
    if super::op_name(module) != "builtin.module" {
        return None;
    }
    // SAFETY: the operation is live, and the copy belongs to nobody.
    unsafe {
        let copy = sys::mlirOperationClone(module.to_raw());
        Module::from_option_raw(sys::mlirModuleFromOperation(copy))
    }
}

unchecked! {
    /// Moves an operation before another one.
    pub fn move_before<'c>(op: Op<'c>, other: Op<'c>) {
        // SAFETY: both are live operations in blocks.
        unsafe { sys::mlirOperationMoveBefore(op.to_raw(), other.to_raw()) }
    }
}

unchecked! {
    /// Moves an operation behind another one.
    pub fn move_after<'c>(op: Op<'c>, other: Op<'c>) {
        // SAFETY: both are live operations in blocks.
        unsafe { sys::mlirOperationMoveAfter(op.to_raw(), other.to_raw()) }
    }
}

/// True if an operation stands before another one of its block.
pub fn is_before<'c>(op: Op<'c>, other: Op<'c>) -> bool {
    let block = |op: Op<'c>| op.block().map(|block| block.to_raw().ptr);
    // SAFETY: both are live operations of one block.
    block(op).is_some()
        && block(op) == block(other)
        && unsafe { sys::mlirOperationIsBeforeInBlock(op.to_raw(), other.to_raw()) }
}

unchecked! {
    /// Puts a copy of an operation before one that its operands dominate.
    pub fn clone_before<'c>(op: Op<'c>, before: Op<'c>) -> Op<'c> {
        // SAFETY: both are live; the block takes over the copy.
        unsafe {
            let copy = sys::mlirOperationClone(op.to_raw());
            let block = sys::mlirOperationGetBlock(before.to_raw());
            sys::mlirBlockInsertOwnedOperationBefore(block, before.to_raw(), copy);
            Op::from_raw(copy)
        }
    }
}

unchecked! {
    /// Changes the type of a result in place; its uses must be right with the new one.
    pub fn set_type<'c>(value: Val<'c>, ty: Type<'c>) {
        // SAFETY: both are live; the verifier checks the operations after the pass.
        unsafe { sys::mlirValueSetType(value.to_raw(), ty.to_raw()) }
    }
}

unchecked! {
    /// Moves an operation to the end of a block.
    pub fn move_to_end<'c>(op: Op<'c>, block: Blk<'c>) {
        // SAFETY: both are live; the block takes over the operation that was unlinked.
        unsafe {
            sys::mlirOperationRemoveFromParent(op.to_raw());
            sys::mlirBlockAppendOwnedOperation(block.to_raw(), op.to_raw());
        }
    }
}

unchecked! {
    /// Appends a copy of an operation without operands from outside to a block.
    pub fn clone_to_end<'c>(op: Op<'c>, block: Blk<'c>) -> Op<'c> {
        // SAFETY: both are live; the block takes over the copy.
        unsafe {
            let copy = sys::mlirOperationClone(op.to_raw());
            sys::mlirBlockAppendOwnedOperation(block.to_raw(), copy);
            Op::from_raw(copy)
        }
    }
}

unchecked! {
    /// Creates a branch to other blocks of the region.
    pub fn create_branch<'c>(
        builder: &super::Builder<'c>,
        name: &str,
        operands: &[Val<'c>],
        successors: &[Blk<'c>],
        attributes: Vec<(&str, Attribute<'c>)>,
    ) -> Result<Op<'c>> {
        let attributes: Vec<_> = attributes
            .into_iter()
            .map(|(name, value)| (melior::ir::Identifier::new(builder.context, name), value))
            .collect();
        let successors: Vec<&melior::ir::Block<'c>> = successors.iter().map(|block| &**block).collect();
        let op = OperationBuilder::new(name, builder.location)
            .add_operands(operands)
            .add_attributes(&attributes)
            .add_successors(&successors)
            .build()
            .map_err(super::unexpected)?;
        Ok(builder.block().append_operation(op))
    }
}

unchecked! {
    /// Appends an argument to a block.
    pub fn add_argument<'c>(block: Blk<'c>, ty: Type<'c>, location: Location<'c>) -> Val<'c> {
        // SAFETY: the block is live.
        unsafe {
            let raw = sys::mlirBlockAddArgument(block.to_raw(), ty.to_raw(), location.to_raw());
            Val::from_raw(raw)
        }
    }
}

unchecked! {
    /// Adds an argument to a block, ahead of the one that is at `index` now.
    pub fn insert_argument<'c>(
        block: Blk<'c>,
        index: usize,
        ty: Type<'c>,
        location: Location<'c>,
    ) -> Result<Val<'c>> {
        if index > block.argument_count() {
            return Err(no_argument(block, index));
        }
        // SAFETY: the block is live, and the index is of an argument or the number of them.
        Ok(unsafe {
            Val::from_raw(sys::mlirBlockInsertArgument(
                block.to_raw(),
                index as isize,
                ty.to_raw(),
                location.to_raw(),
            ))
        })
    }
}

fn no_argument(block: Blk<'_>, index: usize) -> Error {
    let count = block.argument_count();
    Error::internal(format!("a block with {count} arguments was asked for argument {index}"))
}

unchecked! {
    /// Removes an argument of a block that nothing uses.
    pub fn erase_argument(block: Blk<'_>, index: usize) -> Result<()> {
        let argument = block.argument(index).map_err(|_| no_argument(block, index))?;
        if super::has_uses(argument.into(), 1) {
            return Err(Error::internal(format!("argument {index} of a block is in use")));
        }
        // SAFETY: the block has this argument, and nothing uses it.
        unsafe { sys::mlirBlockEraseArgument(block.to_raw(), index as u32) };
        Ok(())
    }
}

/// The operation that defines a value; none for a block argument.
pub fn defining_op<'c>(value: Val<'c>) -> Option<Op<'c>> {
    // SAFETY: the kind is checked first.
    unsafe {
        let raw = value.to_raw();
        sys::mlirValueIsAOpResult(raw)
            .then(|| OperationRef::from_raw(sys::mlirOpResultGetOwner(raw)))
    }
}

/// The operation behind `op` in its block, if `other` is in that block too.
pub fn next_with<'c>(op: Op<'c>, other: Op<'c>) -> Option<Op<'c>> {
    let block = |op: Op<'c>| op.block().map(|block| block.to_raw().ptr);
    let next = op.next_in_block()?;
    (block(op) == block(other)).then_some(next)
}

/// The block and position of a block argument; none for a result.
pub fn owner_block<'c>(value: Val<'c>) -> Option<(Blk<'c>, usize)> {
    // SAFETY: the kind is checked first.
    unsafe {
        let raw = value.to_raw();
        if !sys::mlirValueIsABlockArgument(raw) {
            return None;
        }
        let block = BlockRef::from_raw(sys::mlirBlockArgumentGetOwner(raw));
        Some((block, sys::mlirBlockArgumentGetArgNumber(raw) as usize))
    }
}

/// The entries of a dictionary attribute in order; empty for other kinds.
pub fn dictionary<'c>(attribute: Attribute<'c>) -> Vec<(String, Attribute<'c>)> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first; indices are in range; names live as long as the context.
    unsafe {
        if !sys::mlirAttributeIsADictionary(raw) {
            return vec![];
        }
        (0..sys::mlirDictionaryAttrGetNumElements(raw))
            .map(|index| {
                let entry = sys::mlirDictionaryAttrGetElement(raw, index);
                let name = super::text(sys::mlirIdentifierStr(entry.name));
                (name, Attribute::from_raw(entry.attribute))
            })
            .collect()
    }
}

/// A dictionary attribute of entries of the same session.
pub fn dictionary_attr<'c>(
    context: &'c Context,
    entries: &[(String, Attribute<'c>)],
) -> Attribute<'c> {
    // SAFETY: all parts are live and are copied.
    unsafe {
        let entries: Vec<_> = entries
            .iter()
            .map(|(name, value)| sys::MlirNamedAttribute {
                name: melior::ir::Identifier::new(context, name).to_raw(),
                attribute: value.to_raw(),
            })
            .collect();
        let count = entries.len() as isize;
        Attribute::from_raw(sys::mlirDictionaryAttrGet(context.to_raw(), count, entries.as_ptr()))
    }
}

/// The elements of an array attribute; empty for other kinds.
pub fn array<'c>(attribute: Attribute<'c>) -> Vec<Attribute<'c>> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first; indices are in range.
    unsafe {
        if !sys::mlirAttributeIsAArray(raw) {
            return vec![];
        }
        (0..sys::mlirArrayAttrGetNumElements(raw))
            .map(|index| Attribute::from_raw(sys::mlirArrayAttrGetElement(raw, index)))
            .collect()
    }
}

/// The value of a string attribute.
pub fn string(attribute: Attribute<'_>) -> Option<String> {
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first; the string lives as long as the context.
    unsafe {
        sys::mlirAttributeIsAString(raw).then(|| super::text(sys::mlirStringAttrGetValue(raw)))
    }
}

/// True if two handles stand for one operation.
pub fn same(a: Op<'_>, b: Op<'_>) -> bool {
    a.to_raw().ptr == b.to_raw().ptr
}
