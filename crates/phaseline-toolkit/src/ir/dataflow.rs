//! Dataflow analyses: knowledge of values, or at places, by what flows there.
//!
//! An analysis has states that are joined where control flow meets. MLIR's solver visits operations until no state
//! changes; branches, loops and calls are its own to follow. [`DataFlow`] is the outcome, which
//! [`crate::pass::PassCx::analysis`] computes and keeps.
//!
//! ```
//! use phaseline_toolkit::ir::{Op, Val, dataflow::{Direction, Flow, Lattice}};
//!
//! /// True for what depends on an argument.
//! #[derive(Clone, Debug, Default, PartialEq)]
//! struct Tainted(bool);
//! impl Lattice for Tainted {
//!     fn join(&mut self, other: &Self) {
//!         self.0 |= other.0;
//!     }
//! }
//!
//! #[derive(Default)]
//! struct Taint;
//! impl Flow for Taint {
//!     type State = Tainted;
//!     const DIRECTION: Direction = Direction::Forward;
//!     fn visit(&self, _: Op<'_>, from: &[&Tainted], to: &mut [Tainted]) {
//!         to.fill(Tainted(from.iter().any(|state| state.0)));
//!     }
//!     fn border(&self, _: Option<Val<'_>>) -> Tainted {
//!         Tainted(true)
//!     }
//! }
//! ```

use super::{
    Id, Op, Val,
    context::{Access, panic_text, with_access},
    id,
};
use crate::{Error, Result, ffi};
use mlir_sys as sys;
use std::{
    cell::RefCell,
    collections::HashMap,
    ffi::c_void,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// A state: knowledge of a value or at a place. The default is what holds where nothing flows: `join` with it changes nothing.
pub trait Lattice: Clone + Default + PartialEq + Send + Sync + 'static {
    /// Joins what is known on another way. States only go up, and reach a top after a number of steps.
    fn join(&mut self, other: &Self);
}

/// The direction of a dataflow analysis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Values have states: operands give those of results.
    Forward,
    /// Values have states: results give those of operands.
    Backward,
    /// Places between operations have states, in the order of execution.
    Places,
}

/// A dataflow analysis.
pub trait Flow: Default + Send + Sync + 'static {
    /// The states.
    type State: Lattice;
    /// The direction.
    const DIRECTION: Direction;
    /// Computes the states behind an operation: of its results, of its operands if the direction is backward, or the one
    /// behind it.
    fn visit(&self, op: Op<'_>, from: &[&Self::State], to: &mut [Self::State]);
    /// The state where control comes from, or goes to, what is not seen: of a value, or at a place.
    fn border(&self, value: Option<Val<'_>>) -> Self::State;
}

/// The outcome of a dataflow analysis.
pub struct DataFlow<F: Flow> {
    values: HashMap<Id, F::State>,
    places: HashMap<Id, F::State>,
    default: F::State,
}

impl<F: Flow> fmt::Debug for DataFlow<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DataFlow").field("values", &self.values.len()).finish_non_exhaustive()
    }
}

impl<F: Flow> DataFlow<F> {
    /// The state of a value; the default for one that no control flow reaches.
    pub fn of(&self, value: Val<'_>) -> &F::State {
        self.values.get(&id(value)).unwrap_or(&self.default)
    }

    /// The state behind an operation.
    pub fn behind(&self, op: Op<'_>) -> &F::State {
        self.places.get(&id(op)).unwrap_or(&self.default)
    }
}

/// An analysis while it runs.
struct Run<F: Flow> {
    flow: F,
    found: RefCell<DataFlow<F>>,
    fault: RefCell<Option<String>>,
}

impl<F: Flow> Run<F> {
    fn guarded<T>(&self, run: impl FnOnce() -> T) -> Option<T> {
        if self.fault.borrow().is_some() {
            return None;
        }
        match catch_unwind(AssertUnwindSafe(|| with_access(Access::Read, run))) {
            Ok(value) => Some(value),
            Err(payload) => {
                *self.fault.borrow_mut() = Some(format!(
                    "internal error: a dataflow analysis panicked: {} (please report this)",
                    panic_text(payload.as_ref())
                ));
                None
            }
        }
    }
}

impl<F: Flow> super::analysis::Analysis for DataFlow<F> {
    fn of(op: Op<'_>) -> Result<Self> {
        let empty =
            Self { values: HashMap::new(), places: HashMap::new(), default: F::State::default() };
        let run = Run { flow: F::default(), found: RefCell::new(empty), fault: RefCell::new(None) };
        let analysis = ffi::PhlDataflow {
            kind: match F::DIRECTION {
                Direction::Forward => ffi::PhlDataflowKind::PHL_DATAFLOW_FORWARD,
                Direction::Backward => ffi::PhlDataflowKind::PHL_DATAFLOW_BACKWARD,
                Direction::Places => ffi::PhlDataflowKind::PHL_DATAFLOW_DENSE,
            },
            make: Some(make::<F>),
            drop: Some(drop_state::<F>),
            join: Some(join::<F>),
            visit: Some(visit::<F>),
            border: Some(border::<F>),
            found: Some(found::<F>),
            user: (&raw const run).cast_mut().cast(),
        };
        // SAFETY: the operation is live, and the analysis outlives the call.
        let ends = unsafe { ffi::phlDataflowRun(op.to_raw(), &raw const analysis) };
        if let Some(fault) = run.fault.into_inner() {
            return Err(Error::invalid(fault));
        }
        if super::context::is_cancelled(super::context_of(op)) {
            return Err(Error::invalid("the analysis was cancelled"));
        }
        match ends {
            true => Ok(run.found.into_inner()),
            false => Err(Error::invalid(
                "a dataflow analysis does not end: its states go on changing where they are joined",
            )),
        }
    }
}

/// # Safety
/// `user` is a run of this analysis.
unsafe fn run<'r, F: Flow>(user: *mut c_void) -> &'r Run<F> {
    // SAFETY: the caller's contract; runs outlive their solver.
    unsafe { &*user.cast::<Run<F>>() }
}

unsafe extern "C" fn make<F: Flow>(user: *mut c_void) -> *mut c_void {
    // SAFETY: `user` is a run of this analysis.
    let made = unsafe { run::<F>(user) }.guarded(F::State::default);
    // A state is needed also behind a fault; the default of the outcome is one that was made.
    // SAFETY: as above.
    let state = made.unwrap_or_else(|| unsafe { run::<F>(user) }.found.borrow().default.clone());
    Box::into_raw(Box::new(state)).cast()
}

unsafe extern "C" fn drop_state<F: Flow>(state: *mut c_void, _: *mut c_void) {
    // SAFETY: the state is one that `make` gave, and is dropped once.
    let state = unsafe { Box::from_raw(state.cast::<F::State>()) };
    let _ = catch_unwind(AssertUnwindSafe(|| drop(state)));
}

unsafe extern "C" fn join<F: Flow>(
    state: *mut c_void,
    from: *const c_void,
    user: *mut c_void,
) -> bool {
    // SAFETY: both are states that `make` gave, and two of them unless nothing changes.
    let (run, state, from) = unsafe {
        if std::ptr::eq(state, from) {
            return false;
        }
        (run::<F>(user), &mut *state.cast::<F::State>(), &*from.cast::<F::State>())
    };
    let joined = run.guarded(|| {
        let mut joined = state.clone();
        joined.join(from);
        joined
    });
    match joined {
        Some(joined) if joined != *state => {
            *state = joined;
            true
        }
        _ => false,
    }
}

unsafe extern "C" fn visit<F: Flow>(
    op: sys::MlirOperation,
    from: *const *const c_void,
    count: isize,
    to: *const *mut c_void,
    number: isize,
    user: *mut c_void,
) {
    // SAFETY: all are states that `make` gave, as many as is said; those in `to` are new, each once.
    unsafe {
        let (run, op) = (run::<F>(user), Op::from_raw(op));
        let from: Vec<&F::State> =
            (0..count as usize).map(|at| &*(*from.add(at)).cast::<F::State>()).collect();
        let filled = run.guarded(|| {
            let mut states = vec![F::State::default(); number as usize];
            if !super::context::is_cancelled(super::context_of(op)) {
                run.flow.visit(op, &from, &mut states);
            }
            states
        });
        for (at, state) in filled.into_iter().flatten().enumerate() {
            *(*to.add(at)).cast::<F::State>() = state;
        }
    }
}

unsafe extern "C" fn border<F: Flow>(value: sys::MlirValue, state: *mut c_void, user: *mut c_void) {
    // SAFETY: the state is one that `make` gave; the value is live, or null.
    unsafe {
        let run = run::<F>(user);
        let value = (!value.ptr.is_null()).then(|| Val::from_raw(value));
        if let Some(found) = run.guarded(|| run.flow.border(value)) {
            *state.cast::<F::State>() = found;
        }
    }
}

unsafe extern "C" fn found<F: Flow>(
    value: sys::MlirValue,
    op: sys::MlirOperation,
    state: *const c_void,
    user: *mut c_void,
) {
    // SAFETY: one of both is live, the other null; the state is one that `make` gave.
    unsafe {
        let run = run::<F>(user);
        let Some(state) = run.guarded(|| (*state.cast::<F::State>()).clone()) else { return };
        let mut all = run.found.borrow_mut();
        match value.ptr.is_null() {
            true => all.places.insert(id(Op::from_raw(op)), state),
            false => all.values.insert(id(Val::from_raw(value)), state),
        };
    }
}
