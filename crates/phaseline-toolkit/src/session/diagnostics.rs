//! What MLIR and passes say while a session works.

use crate::ir::print;
use melior::ir::Location;
use std::{
    ffi::c_void,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Warnings and remarks that a session keeps until they are taken.
const MAX_KEPT: usize = 10_000;

/// How serious a diagnostic is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something that may be of interest: what a pass did, or could not do.
    Remark,
    /// Something that is likely not meant.
    Warning,
    /// Why something failed.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Remark => "remark",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// What MLIR or a pass said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// How serious it is.
    pub severity: Severity,
    /// Where, as MLIR writes locations: `net.mlir:3:5`; empty if that is not known.
    pub place: String,
    /// What.
    pub text: String,
    /// What belongs to it, each with its place if that is another one.
    pub notes: Vec<Note>,
}

/// A note of a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Where, if elsewhere than the diagnostic.
    pub place: String,
    /// What.
    pub text: String,
}

/// Writes the place, if there is one, the text, and the notes on lines of their own.
impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |place: &str| if place.is_empty() { String::new() } else { format!("{place}: ") };
        write!(f, "{}{}", at(&self.place), self.text)?;
        self.notes
            .iter()
            .try_for_each(|note| write!(f, "\n  note: {}{}", at(&note.place), note.text))
    }
}

/// What is told of each diagnostic.
type Handler = Arc<dyn Fn(&Diagnostic) + Send + Sync>;

/// Where the diagnostics of a session go.
#[derive(Default)]
pub(super) struct Diagnostics {
    kept: Mutex<Kept>,
    handler: Mutex<Option<Handler>>,
}

#[derive(Default)]
struct Kept {
    all: Vec<Diagnostic>,
    /// Warnings and remarks that are not kept.
    more: usize,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Diagnostics {
    /// Has a context tell of its diagnostics.
    ///
    /// # Safety
    /// They stay at their address as long as the context lives.
    pub unsafe fn attach(&self, context: &melior::Context) {
        let sink = std::ptr::from_ref(self).cast_mut().cast();
        // SAFETY: the context is live, and the caller keeps the sink.
        unsafe {
            mlir_sys::mlirContextAttachDiagnosticHandler(
                context.to_raw(),
                Some(record),
                sink,
                None,
            );
        }
    }

    /// Calls `handler` for each from now on.
    pub fn handle(&self, handler: Handler) {
        *lock(&self.handler) = Some(handler);
    }

    fn add(&self, diagnostic: Diagnostic) {
        if diagnostic.severity == Severity::Remark {
            let (place, text) = (&diagnostic.place, &diagnostic.text);
            tracing::info!(target: "phaseline::pass", place, "remark: {text}");
        }
        let handler = lock(&self.handler).clone();
        let told = handler.map(|handler| catch_unwind(AssertUnwindSafe(|| handler(&diagnostic))));
        self.keep(diagnostic);
        if let Some(Err(payload)) = told {
            let reason = crate::pass::panic_text(payload.as_ref());
            let text = format!("the handler of diagnostics panicked: {reason}");
            let (severity, place) = (Severity::Warning, String::new());
            self.keep(Diagnostic { severity, place, text, notes: vec![] });
        }
    }

    fn keep(&self, diagnostic: Diagnostic) {
        let mut kept = lock(&self.kept);
        if kept.all.len() < MAX_KEPT || diagnostic.severity == Severity::Error {
            kept.all.push(diagnostic);
        } else {
            kept.more += 1;
        }
    }

    /// Takes all that are kept.
    pub fn take(&self) -> Vec<Diagnostic> {
        let Kept { mut all, more } = std::mem::take(&mut *lock(&self.kept));
        if more > 0 {
            let text = format!("{more} more warnings and remarks were not kept");
            let (severity, place) = (Severity::Warning, String::new());
            all.push(Diagnostic { severity, place, text, notes: vec![] });
        }
        all
    }

    /// Takes the errors, as lines.
    pub fn take_errors(&self) -> Vec<String> {
        let mut kept = lock(&self.kept);
        let is_error = |diagnostic: &mut Diagnostic| diagnostic.severity == Severity::Error;
        kept.all.extract_if(.., is_error).map(|error| error.to_string()).collect()
    }
}

impl fmt::Debug for Diagnostics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&lock(&self.kept).all).finish()
    }
}

unsafe extern "C" fn record(
    diagnostic: mlir_sys::MlirDiagnostic,
    sink: *mut c_void,
) -> mlir_sys::MlirLogicalResult {
    // A panic must not get into C++.
    let _ = catch_unwind(AssertUnwindSafe(|| {
        // SAFETY: MLIR passes a live diagnostic, and the sink that the handler was attached with.
        let (read, sink) = unsafe { (read(diagnostic), &*sink.cast::<Diagnostics>()) };
        sink.add(read);
    }));
    mlir_sys::MlirLogicalResult { value: 1 }
}

/// The place in words. What fails in reading a target's files is about no place in the model.
fn place(location: Location<'_>) -> String {
    let place = print::place(location);
    let is_unknown = place == "unknown" || place.ends_with(".mlir:0:0");
    if is_unknown { String::new() } else { place }
}

/// # Safety
/// The diagnostic is live.
unsafe fn read(diagnostic: mlir_sys::MlirDiagnostic) -> Diagnostic {
    // SAFETY: the caller's; notes live as long as their diagnostic.
    unsafe {
        let severity = match mlir_sys::mlirDiagnosticGetSeverity(diagnostic) {
            mlir_sys::MlirDiagnosticSeverity_MlirDiagnosticError => Severity::Error,
            mlir_sys::MlirDiagnosticSeverity_MlirDiagnosticWarning => Severity::Warning,
            _ => Severity::Remark,
        };
        let location =
            |diagnostic| place(Location::from_raw(mlir_sys::mlirDiagnosticGetLocation(diagnostic)));
        let (at, mut notes) = (location(diagnostic), vec![]);
        for index in 0..mlir_sys::mlirDiagnosticGetNumNotes(diagnostic) {
            let note = mlir_sys::mlirDiagnosticGetNote(diagnostic, index);
            let text = print::message(note);
            // MLIR adds the whole operation as a note, which may be megabytes of text.
            if !text.starts_with("see current operation") {
                let other = Some(location(note)).filter(|other| *other != at);
                notes.push(Note { place: other.unwrap_or_default(), text });
            }
        }
        Diagnostic { severity, place: at, text: print::message(diagnostic), notes }
    }
}
