//! Attributes that go: discardable ones, those of an operation's own that it may be without, and entries of lists of
//! dictionaries, as functions have them for arguments.

use crate::{
    ffi,
    ir::{self, Op, edit},
};
use melior::{
    StringRef,
    ir::{Attribute, attribute::ArrayAttribute, operation::OperationLike},
};
use mlir_sys as sys;
use std::{collections::BTreeSet, ops::Range};

/// An attribute, by its operation and name.
type Place<'c> = (Op<'c>, String);

fn all_operations(root: Op<'_>) -> impl Iterator<Item = Op<'_>> {
    std::iter::once(root).chain(edit::walk(root))
}

fn discardable_of(op: Op<'_>) -> Vec<String> {
    // SAFETY: the operation is live, and indices are in range.
    unsafe {
        let raw = op.to_raw();
        (0..sys::mlirOperationGetNumDiscardableAttributes(raw))
            .map(|at| sys::mlirOperationGetDiscardableAttribute(raw, at))
            .map(|named| ir::text(sys::mlirIdentifierStr(named.name)))
            .collect()
    }
}

fn inherent_of(op: Op<'_>) -> Vec<(String, Attribute<'_>)> {
    let others: BTreeSet<_> = discardable_of(op).into_iter().collect();
    // SAFETY: the operation is live, and indices are in range.
    let all = unsafe {
        let raw = op.to_raw();
        (0..sys::mlirOperationGetNumAttributes(raw))
            .map(|at| sys::mlirOperationGetAttribute(raw, at))
            .map(|named| {
                let name = ir::text(sys::mlirIdentifierStr(named.name));
                (name, Attribute::from_raw(named.attribute))
            })
            .collect::<Vec<_>>()
    };
    all.into_iter().filter(|(name, _)| !others.contains(name)).collect()
}

/// Attributes that no operation has by its definition.
pub(super) fn discardable(root: Op<'_>) -> Vec<Place<'_>> {
    let of = |op| discardable_of(op).into_iter().map(move |name| (op, name));
    all_operations(root).flat_map(of).collect()
}

/// Attributes of the definitions of operations.
pub(super) fn inherent(root: Op<'_>) -> Vec<Place<'_>> {
    let of = |op| inherent_of(op).into_iter().map(move |(name, _)| (op, name));
    all_operations(root).flat_map(of).collect()
}

pub(super) fn drop_discardable(root: Op<'_>, range: Range<usize>) -> bool {
    let all = discardable(root);
    let chosen = all.get(range).unwrap_or_default();
    chosen.iter().fold(false, |changed, (op, name)| edit::remove_attr(*op, name) || changed)
}

/// Removes attributes, or gives them their defaults.
pub(super) fn drop_inherent(root: Op<'_>, range: Range<usize>) -> bool {
    let all = inherent(root);
    let chosen = all.get(range).unwrap_or_default();
    chosen.iter().fold(false, |changed, (op, name)| {
        let name = StringRef::new(name);
        // SAFETY: the operation is live, and the name is copied.
        unsafe { ffi::phlResetAttribute(op.to_raw(), name.to_raw()) || changed }
    })
}

/// An entry of a dictionary in a list: the attribute that the list is, the place in it, and the entry's name.
type Entry<'c> = (Place<'c>, usize, String);

/// Entries of dictionaries in lists.
pub(super) fn entries(root: Op<'_>) -> Vec<Entry<'_>> {
    let mut found = vec![];
    for op in all_operations(root) {
        for (name, attribute) in inherent_of(op) {
            for (index, one) in edit::array(attribute).into_iter().enumerate() {
                let entries = edit::dictionary(one).into_iter();
                found.extend(entries.map(|(key, _)| ((op, name.clone()), index, key)));
            }
        }
    }
    found
}

pub(super) fn drop_entries(root: Op<'_>, range: Range<usize>) -> bool {
    let all = entries(root);
    let Some(chosen) = all.get(range) else { return false };
    for ((op, name), index, key) in chosen {
        let Ok(old) = op.attribute(name) else { continue };
        let context = ir::context_of(*op);
        let mut list = edit::array(old);
        let Some(one) = list.get_mut(*index) else { continue };
        let left: Vec<_> =
            edit::dictionary(*one).into_iter().filter(|(other, _)| other != key).collect();
        *one = edit::dictionary_attr(context, &left);
        edit::set_attr(*op, name, ArrayAttribute::new(context, &list).into());
    }
    !chosen.is_empty()
}
