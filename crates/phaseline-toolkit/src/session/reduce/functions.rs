//! Bodies, arguments and results of functions, by the interfaces of functions and calls.

use crate::{
    ffi,
    ir::{self, Builder, Op, OpSpec, edit},
};
use melior::ir::{ValueLike, operation::OperationLike};
use mlir_sys as sys;
use std::{collections::HashMap, ffi::c_void, ops::Range};

/// The numbers of arguments and results of a function; none for other operations.
fn signature(op: Op<'_>) -> Option<(usize, usize)> {
    let (mut arguments, mut results) = (0, 0);
    // SAFETY: the operation is live, and there is room for the answers.
    let is_function =
        unsafe { ffi::phlFunction(op.to_raw(), &raw mut arguments, &raw mut results) };
    is_function.then(|| (arguments.try_into().unwrap_or(0), results.try_into().unwrap_or(0)))
}

/// Functions that have bodies.
pub(super) fn bodies(root: Op<'_>) -> Vec<Op<'_>> {
    let has_body = |op: &Op<'_>| edit::entry_block(*op).is_some() && signature(*op).is_some();
    edit::walk(root).into_iter().filter(has_body).collect()
}

/// Makes functions declarations.
pub(super) fn drop_bodies(root: Op<'_>, range: Range<usize>) -> bool {
    let all = bodies(root);
    let chosen = all.get(range).unwrap_or_default();
    // A function in a function comes behind it, and goes before.
    chosen.iter().rev().fold(false, |changed, function| {
        // SAFETY: the operation is live, and handles of its body are not used again.
        unsafe { ffi::phlFunctionDropBody(function.to_raw()) || changed }
    })
}

/// The calls of each function that is known.
struct Calls<'c>(HashMap<usize, Vec<Op<'c>>>);

impl<'c> Calls<'c> {
    fn of(root: Op<'c>) -> Self {
        unsafe extern "C" fn call(
            _: sys::MlirOperation,
            call: sys::MlirOperation,
            callee: sys::MlirOperation,
            user: *mut c_void,
        ) {
            if callee.ptr.is_null() {
                return;
            }
            // SAFETY: `user` is the map below, and MLIR tells live operations.
            let (found, call) = unsafe { (&mut *user.cast::<Calls<'_>>(), Op::from_raw(call)) };
            found.0.entry(callee.ptr as usize).or_default().push(call);
        }
        let mut found = Self(HashMap::new());
        // SAFETY: the operation is live, and the map outlives the call.
        unsafe { ffi::phlCallGraph(root.to_raw(), Some(call), (&raw mut found).cast()) };
        found
    }

    fn to(&mut self, function: Op<'c>) -> &mut [Op<'c>] {
        self.0.get_mut(&(function.to_raw().ptr as usize)).map_or(&mut [], |calls| calls)
    }
}

/// Arguments of functions that nothing uses, by their places.
pub(super) fn arguments(root: Op<'_>) -> Vec<(Op<'_>, usize)> {
    let of = |function| {
        let count = signature(function).map_or(0, |(arguments, _)| arguments);
        let values = edit::entry_block(function).map(edit::arguments);
        let is_unused = move |index: &usize| {
            let value = values.as_ref().map(|values| values.get(*index));
            value.is_none_or(|value| value.is_some_and(|value| !ir::has_uses(*value, 1)))
        };
        (0..count).filter(is_unused).map(move |index| (function, index))
    };
    edit::walk(root).into_iter().flat_map(of).collect()
}

/// Drops arguments of functions, also where they are called.
pub(super) fn drop_arguments(root: Op<'_>, range: Range<usize>) -> bool {
    let all = arguments(root);
    let mut calls = Calls::of(root);
    let mut changed = false;
    for (function, index) in all.get(range).unwrap_or_default().iter().rev() {
        let place = isize::try_from(*index).unwrap_or(isize::MAX);
        // SAFETY: the function is live.
        if !unsafe { ffi::phlFunctionEraseArgument(function.to_raw(), place) } {
            continue;
        }
        changed = true;
        for call in calls.to(*function) {
            // SAFETY: the call is live. One that keeps its operand is not valid, and neither is the change.
            unsafe { ffi::phlCallEraseArgument(call.to_raw(), place) };
        }
    }
    changed
}

/// Results of functions that no call uses, by their places.
pub(super) fn results(root: Op<'_>) -> Vec<(Op<'_>, usize)> {
    let mut calls = Calls::of(root);
    let mut found = vec![];
    for function in edit::walk(root) {
        let count = signature(function).map_or(0, |(_, results)| results);
        let is_used = |call: &Op<'_>, index| {
            ir::results(*call).get(index).is_none_or(|result| ir::has_uses(*result, 1))
        };
        for index in 0..count {
            if !calls.to(function).iter().any(|call| is_used(call, index)) {
                found.push((function, index));
            }
        }
    }
    found
}

/// Drops results of functions, also where they are called.
pub(super) fn drop_results(root: Op<'_>, range: Range<usize>) -> bool {
    let all = results(root);
    let mut calls = Calls::of(root);
    let mut changed = false;
    for (function, index) in all.get(range).unwrap_or_default().iter().rev() {
        let place = isize::try_from(*index).unwrap_or(isize::MAX);
        let count = signature(*function).map_or(0, |(_, results)| results);
        let fits = |call: &Op<'_>| {
            ir::results(*call).len() == count
                && call.region_count() == 0
                && call.successor_count() == 0
        };
        if !calls.to(*function).iter().all(fits) {
            continue;
        }
        // SAFETY: the function is live.
        if !unsafe { ffi::phlFunctionEraseResult(function.to_raw(), place) } {
            continue;
        }
        changed = true;
        for call in calls.to(*function) {
            if let Some(new) = without_result(*call, *index) {
                *call = new;
            }
        }
    }
    changed
}

/// The same operation without a result, in its place.
fn without_result<'c>(op: Op<'c>, index: usize) -> Option<Op<'c>> {
    let mut old = ir::results(op);
    old.remove(index);
    let types: Vec<_> = old.iter().map(|result| result.r#type()).collect();
    let names: Vec<_> = op.attributes().collect();
    let attributes: Vec<_> =
        names.iter().map(|(name, value)| (name.as_string_ref().as_str().ok(), *value)).collect();
    let attributes: Option<Vec<_>> =
        attributes.into_iter().map(|(name, value)| Some((name?, value))).collect();
    let operands = ir::operands(op);
    let spec = OpSpec {
        operands: &operands,
        results: &types,
        attributes: attributes?,
        ..Default::default()
    };
    let new = Builder::before(op).ok()?.create(ir::op_name(op), spec).ok()?;
    for (old, new) in old.into_iter().zip(ir::results(new)) {
        edit::replace_uses(old, new);
    }
    edit::erase(op);
    Some(new)
}
