//! Questions to MLIR's interfaces: calls, branches, loops, destinations, purity. Effects on memory are in
//! [`super::effects`].

use super::{Op, Val, operands};
use crate::ffi;
use melior::ir::{Attribute, AttributeLike, ValueLike};
use mlir_sys as sys;
use std::{ffi::c_void, ops::Range};

/// A call.
#[derive(Clone, Debug)]
pub struct Call<'c> {
    /// The callee.
    pub callee: Callee<'c>,
    /// The operands that it is given.
    pub arguments: Vec<Val<'c>>,
}

/// The callee of a call.
#[derive(Clone, Debug)]
pub enum Callee<'c> {
    /// A function, by the name of its symbol.
    Symbol(String),
    /// A function that is a value.
    Value(Val<'c>),
}

/// The call that an operation is; none for other operations.
pub fn call<'c>(op: Op<'c>) -> Option<Call<'c>> {
    let mut callee = sys::MlirAttribute { ptr: std::ptr::null() };
    let mut called = sys::MlirValue { ptr: std::ptr::null() };
    let (mut first, mut count) = (0, 0);
    // SAFETY: the operation is live, and there is room for the answers.
    let is_call = unsafe {
        ffi::phlCall(op.to_raw(), &raw mut callee, &raw mut called, &raw mut first, &raw mut count)
    };
    if !is_call {
        return None;
    }
    // SAFETY: MLIR gave a symbol, a value, or null.
    let callee = unsafe {
        match Attribute::from_option_raw(callee) {
            Some(name) => {
                Callee::Symbol(super::text(sys::mlirSymbolRefAttrGetLeafReference(name.to_raw())))
            }
            None if called.ptr.is_null() => return None,
            None => Callee::Value(Val::from_raw(called)),
        }
    };
    let arguments = at(op, range(first, count));
    Some(Call { callee, arguments })
}

fn range(first: isize, count: isize) -> Range<usize> {
    let (first, count) = (usize::try_from(first), usize::try_from(count));
    first.and_then(|first| count.map(|count| first..first + count)).unwrap_or_default()
}

fn at(op: Op<'_>, range: Range<usize>) -> Vec<Val<'_>> {
    operands(op).get(range).unwrap_or_default().to_vec()
}

unsafe extern "C" fn push(value: sys::MlirValue, user: *mut c_void) {
    // SAFETY: `user` is a list of values, and MLIR gives live ones.
    unsafe { (*user.cast::<Vec<Val<'_>>>()).push(Val::from_raw(value)) };
}

/// The operands that a branch passes to a block that it names, by its place among these; none for other operations.
pub fn branch_operands<'c>(op: Op<'c>, successor: usize) -> Option<Vec<Val<'c>>> {
    let mut found: Vec<Val<'c>> = vec![];
    let index = isize::try_from(successor).ok()?;
    // SAFETY: the operation is live, and the list outlives the call.
    let is_branch =
        unsafe { ffi::phlBranchOperands(op.to_raw(), index, Some(push), (&raw mut found).cast()) };
    is_branch.then_some(found)
}

/// A bound or a step of a loop.
#[derive(Clone, Copy, Debug)]
pub enum Bound<'c> {
    /// A number that is known.
    Known(i64),
    /// A value.
    Value(Val<'c>),
}

/// A loop, by the interface of loops.
#[derive(Clone, Debug)]
pub struct Loop<'c> {
    /// The operation.
    pub op: Op<'c>,
    /// Variables that count.
    pub induction: Vec<Val<'c>>,
    /// Values that come into the first iteration.
    pub inits: Vec<Val<'c>>,
    /// The arguments that stand for them.
    pub carried: Vec<Val<'c>>,
    /// Values that an iteration gives to the next one.
    pub yielded: Vec<Val<'c>>,
    /// Lower bound, upper bound and step of a loop with one variable.
    pub bounds: Option<[Bound<'c>; 3]>,
}

impl<'c> Loop<'c> {
    /// The loop that an operation is; none for other operations.
    pub fn of(op: Op<'c>) -> Option<Self> {
        // SAFETY: the operation is live.
        if !unsafe { ffi::phlIsLoop(op.to_raw()) } {
            return None;
        }
        let part = |part| {
            let mut found: Vec<Val<'c>> = vec![];
            // SAFETY: the operation is live, and the list outlives the call.
            unsafe {
                ffi::phlLoopValues(op.to_raw(), part, Some(push), (&raw mut found).cast());
            }
            found
        };
        let mut values = [sys::MlirValue { ptr: std::ptr::null() }; 3];
        let mut numbers = [0_i64; 3];
        // SAFETY: there is room for three of each.
        let bounded =
            unsafe { ffi::phlLoopBounds(op.to_raw(), values.as_mut_ptr(), numbers.as_mut_ptr()) };
        let bound = |index: usize| match values[index].ptr.is_null() {
            true => Bound::Known(numbers[index]),
            // SAFETY: MLIR gave a live value.
            false => Bound::Value(unsafe { Val::from_raw(values[index]) }),
        };
        Some(Self {
            op,
            induction: part(ffi::PhlLoopPart::PHL_LOOP_INDUCTION),
            inits: part(ffi::PhlLoopPart::PHL_LOOP_INITS),
            carried: part(ffi::PhlLoopPart::PHL_LOOP_CARRIED),
            yielded: part(ffi::PhlLoopPart::PHL_LOOP_YIELDED),
            bounds: bounded.then(|| [bound(0), bound(1), bound(2)]),
        })
    }

    /// True if a value is the same in each iteration: it is defined outside.
    pub fn is_invariant(&self, value: Val<'c>) -> bool {
        // SAFETY: both are live.
        unsafe { ffi::phlIsInvariant(self.op.to_raw(), value.to_raw()) }
    }

    /// The number of iterations, if it is known.
    pub fn trips(&self) -> Option<u64> {
        let [Bound::Known(low), Bound::Known(high), Bound::Known(step)] = self.bounds? else {
            return None;
        };
        let span = u64::try_from(i128::from(high) - i128::from(low)).unwrap_or(0);
        u64::try_from(step).ok().filter(|step| *step > 0).map(|step| span.div_ceil(step))
    }
}

/// The operands that an operation takes as destinations.
pub fn destinations<'c>(op: Op<'c>) -> Vec<Val<'c>> {
    let (mut first, mut count) = (0, 0);
    // SAFETY: the operation is live, and there is room for the answers.
    match unsafe { ffi::phlDestinations(op.to_raw(), &raw mut first, &raw mut count) } {
        true => at(op, range(first, count)),
        false => vec![],
    }
}

/// True if an operation may run more or less often than it does: it has no effects, and fails on no values.
pub fn is_pure(op: Op<'_>) -> bool {
    // SAFETY: the operation is live.
    unsafe { ffi::phlIsPure(op.to_raw()) }
}
