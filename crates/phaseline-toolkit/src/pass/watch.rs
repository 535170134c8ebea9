//! Watching passes while they run: for timing, and for looking at the IR in between.

use crate::{
    ffi,
    ir::{Op, context::run_on},
};
use melior::ir::OperationRef;
use std::{
    collections::HashMap,
    ffi::c_void,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Mutex, PoisonError},
    thread::ThreadId,
    time::Instant,
};

/// Event in the run of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassEvent {
    /// The pass is about to run.
    Before,
    /// The pass has run.
    After,
    /// The pass has failed.
    Failed,
}

/// Called with the name of a pass and the operation that it runs on. Passes run on several threads,
/// but calls come one at a time, each on the thread of its pass.
#[doc(hidden)]
pub type PassObserver<'a> = dyn Fn(PassEvent, &str, Op<'_>) + Send + Sync + 'a;

/// True if somebody wants to be told of passes by `tracing`.
pub(crate) fn is_logged() -> bool {
    tracing::enabled!(target: "phaseline::pass", tracing::Level::DEBUG)
}

/// Tells of passes by `tracing`: what ran on what, and how long.
#[derive(Default)]
pub(crate) struct Log {
    /// Start times of the passes that run on a thread, the innermost last.
    running: Mutex<HashMap<ThreadId, Vec<Instant>>>,
}

impl Log {
    /// Something happened to a pass.
    pub fn event(&self, event: PassEvent, pass: &str, op: Op<'_>) {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let running = running.entry(std::thread::current().id()).or_default();
        if event == PassEvent::Before {
            running.push(Instant::now());
            return;
        }
        let took = running.pop().map(|since| since.elapsed()).unwrap_or_default();
        let on = crate::ir::func::symbol(op);
        if event == PassEvent::Failed {
            tracing::warn!(target: "phaseline::pass", pass, on, ?took, "failed");
        } else {
            tracing::debug!(target: "phaseline::pass", pass, on, ?took, "ran");
        }
    }
}

/// Lets `observer` watch all passes of a manager. It outlives the manager.
pub(crate) fn watch(manager: &melior::pass::PassManager<'_>, observer: &&PassObserver<'_>) {
    unsafe extern "C" fn event(
        event: ffi::PhlPassEvent::Type,
        pass: mlir_sys::MlirStringRef,
        op: mlir_sys::MlirOperation,
        user: *mut c_void,
    ) {
        // SAFETY: `user` is the observer below; MLIR passes a live name and operation.
        let (observer, name, op) = unsafe {
            let name = String::from_utf8_lossy(crate::ir::bytes(pass));
            (*user.cast::<&PassObserver<'_>>(), name, OperationRef::from_raw(op))
        };
        let event = match event {
            ffi::PhlPassEvent::PHL_PASS_BEFORE => PassEvent::Before,
            ffi::PhlPassEvent::PHL_PASS_AFTER => PassEvent::After,
            _ => PassEvent::Failed,
        };
        // A panic must not get into C++; what watches has no say in the compile.
        let _ = catch_unwind(AssertUnwindSafe(|| run_on(op, || observer(event, &name, op))));
    }
    let user = std::ptr::from_ref(observer).cast_mut().cast();
    // SAFETY: the manager is live, and the caller keeps the observer alive.
    unsafe { ffi::phlPassManagerWatch(manager.to_raw(), Some(event), user) };
}
