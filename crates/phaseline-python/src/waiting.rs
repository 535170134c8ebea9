//! Long work in a thread of its own, while the interpreter's thread waits without the GIL and hears signals.

use pyo3::{exceptions::PyRuntimeError, prelude::*};
use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::mpsc::{self, RecvTimeoutError, Sender},
    thread,
    time::Duration,
};

/// The longest time until a signal is heard.
const TICK: Duration = Duration::from_millis(20);

/// The stack that a compile has in a program is that of its first thread.
const STACK: usize = 64 << 20;

/// Messages of a worker.
pub enum Told<T> {
    /// A step begins.
    #[cfg_attr(not(feature = "compiler"), allow(dead_code, reason = "a compile has steps"))]
    Step(String),
    /// The result.
    Done(T),
}

/// Runs `work` in another thread, and waits for it. `progress` is called with each step that is
/// told. After a signal, or an exception of `progress`, `stop` is called. The work is then left to
/// end by itself.
///
/// # Errors
/// A signal's exception, one of `progress`, or a panic.
pub fn wait<T: Send + 'static>(
    py: Python<'_>,
    progress: Option<&Bound<'_, PyAny>>,
    stop: impl Fn(),
    work: impl FnOnce(&Sender<Told<T>>) -> T + Send + 'static,
) -> PyResult<T> {
    let (tell, mut told) = mpsc::channel();
    let body = move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(&tell)));
        if let Ok(made) = outcome {
            // Nobody waits any more after a signal.
            let _ = tell.send(Told::Done(made));
        }
    };
    let builder = thread::Builder::new().name("phaseline".to_owned()).stack_size(STACK);
    builder
        .spawn(body)
        .map_err(|error| PyRuntimeError::new_err(format!("cannot start a thread: {error}")))?;
    loop {
        let got;
        (told, got) = py.detach(move || {
            let got = told.recv_timeout(TICK);
            (told, got)
        });
        match got {
            Ok(Told::Done(made)) => return Ok(made),
            Ok(Told::Step(step)) => {
                let shown = progress.map_or(Ok(()), |progress| progress.call1((step,)).map(drop));
                shown.and_then(|()| py.check_signals()).inspect_err(|_| stop())?;
            }
            Err(RecvTimeoutError::Timeout) => py.check_signals().inspect_err(|_| stop())?,
            Err(RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err(
                    "internal error: the work panicked (please report this)",
                ));
            }
        }
    }
}
