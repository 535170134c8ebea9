//! Following a run step by step, of a model that was compiled to be traced.

use super::Executable;
use crate::{
    Error, Result,
    tensor::{AlignedBuffer, Tensor},
};
use std::{
    ffi::c_void,
    time::{Duration, Instant},
};

/// Sets the observer of a run's steps: `void MODEL_set_trace(void (*)(void *, int32_t), void *)`.
pub(super) type SetTrace =
    unsafe extern "C" fn(Option<unsafe extern "C" fn(*mut c_void, i32)>, *mut c_void);

/// Begin and end of a step of a run, counted from the begin of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its place among the signature's operations.
    pub operation: usize,
    /// Its begin.
    pub begin: Duration,
    /// Its end.
    pub end: Duration,
}

/// Notes of the observer: steps and the times of their ends.
struct Record {
    begin: Instant,
    marks: Vec<(i32, Duration)>,
}

/// The observer of a run.
///
/// # Safety
/// `context` is the address of a [`Record`] that nothing else uses.
unsafe extern "C" fn observe(context: *mut c_void, step: i32) {
    // SAFETY: the caller's contract; the compiled model hands on what `run_traced` gave.
    let record = unsafe { &mut *context.cast::<Record>() };
    // There is room: allocating would be part of what is measured.
    if record.marks.len() < record.marks.capacity() {
        record.marks.push((step, record.begin.elapsed()));
    }
}

impl Executable {
    /// Runs the model on inputs in the order of the signature, and tells when each of its steps
    /// ([`crate::artifact::Signature::operations`]) began and ended. The model is compiled to be traced
    /// (`CompileOptions::trace`).
    pub fn run_traced(
        &self,
        inputs: &[Tensor],
        outputs: &mut [AlignedBuffer],
    ) -> Result<Vec<Event>> {
        let set = self.set_trace.ok_or_else(|| {
            Error::invalid(format!(
                "'{}' does not tell of its steps: compile it with --trace",
                self.signature().name
            ))
        })?;
        let room = self.signature().operations.len() + 1;
        let mut record = Record { begin: Instant::now(), marks: Vec::with_capacity(room) };
        // One observer at a time; a run ends before the next begins.
        let _turn = self.traced.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        // SAFETY: the type is that of the function that the compile made; the record lives until the
        // observer is taken back.
        unsafe { set(Some(observe), (&raw mut record).cast()) };
        let ran = self.run_into(inputs, outputs);
        // SAFETY: as above.
        unsafe { set(None, std::ptr::null_mut()) };
        ran?;
        Ok(events(&record.marks))
    }

    /// The steps of a run in Chrome's trace format, which its `about:tracing` and Perfetto read,
    /// with times in microseconds. Each target has a row, and each queue one for its busy time
    /// until the wait for it.
    ///
    /// # Errors
    /// A time has no JSON form.
    pub fn chrome_trace(&self, events: &[Event]) -> Result<String> {
        super::chrome::chrome(&self.signature().operations, events)
    }

    /// Buffers for the outputs of [`Executable::run_into`] and [`Executable::run_traced`].
    ///
    /// # Errors
    /// The system refuses the memory.
    pub fn output_buffers(&self) -> Result<Vec<AlignedBuffer>> {
        let ports = &self.signature().outputs;
        ports.iter().map(|port| Ok(AlignedBuffer::zeroed(port.bytes()?)?)).collect()
    }
}

/// Steps from the marks at their ends.
fn events(marks: &[(i32, Duration)]) -> Vec<Event> {
    let pairs = marks.iter().zip(marks.iter().skip(1));
    let event = |(before, mark): (&(i32, Duration), &(i32, Duration))| {
        Some(Event { operation: usize::try_from(mark.0).ok()?, begin: before.1, end: mark.1 })
    };
    pairs.filter_map(event).collect()
}
