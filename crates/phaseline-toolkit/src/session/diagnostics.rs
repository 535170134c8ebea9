//! Diagnostics of MLIR and of passes while a session works.

use crate::{ir::print, pass::PassEvent};
use melior::ir::Location;
use std::{
    cell::RefCell,
    ffi::c_void,
    fmt,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

/// Warnings and remarks that a session keeps until they are taken.
const MAX_KEPT: usize = 10_000;

/// Severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// Something that belongs to another diagnostic.
    Note,
    /// Something that may be of interest: what a pass did, or could not do.
    Remark,
    /// Something that is likely not meant.
    Warning,
    /// A failure.
    Error,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Remark => "remark",
            Self::Warning => "warning",
            Self::Error => "error",
        })
    }
}

/// A message of MLIR or of a pass.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Diagnostic {
    /// Severity.
    pub severity: Severity,
    /// Location, as MLIR writes it: `net.mlir:3:5`; empty if that is not known, and in a note at the place of its
    /// diagnostic.
    pub place: String,
    /// The file of the place, if it is in one.
    pub file: Option<String>,
    /// Line in the file, from 1; 0 if that is not known.
    pub line: u32,
    /// Column in the line, from 1; 0 if that is not known.
    pub column: u32,
    /// The pass that ran on the thread; none outside of passes.
    pub pass: Option<String>,
    /// Message.
    pub text: String,
    /// Notes that belong to it. They have no notes of their own.
    pub notes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// A warning about no place.
    fn warning(text: String) -> Self {
        Self {
            severity: Severity::Warning,
            place: String::new(),
            file: None,
            line: 0,
            column: 0,
            pass: None,
            text,
            notes: vec![],
        }
    }
}

thread_local! {
    /// The passes that run on this thread, the innermost last.
    static RUNNING: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// Notes that a pass begins or ends on this thread.
pub(super) fn running(event: PassEvent, pass: &str) {
    RUNNING.with_borrow_mut(|running| match event {
        PassEvent::Before => running.push(pass.to_owned()),
        PassEvent::After | PassEvent::Failed => drop(running.pop()),
    });
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

/// Function that is told of each diagnostic.
type Handler = Arc<dyn Fn(&Diagnostic) + Send + Sync>;

/// Sink for the diagnostics of a session.
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
            self.keep(Diagnostic::warning(text));
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
            all.push(Diagnostic::warning(text));
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

/// File, line and column of a place, or of the first one in it that is in a file.
///
/// # Safety
/// The location is live.
unsafe fn in_file(location: mlir_sys::MlirLocation) -> Option<(String, u32, u32)> {
    use mlir_sys as sys;
    // SAFETY: the caller's contract; kinds are checked first, and indices are in range.
    unsafe {
        if sys::mlirLocationIsAFileLineColRange(location) {
            let name = sys::mlirLocationFileLineColRangeGetFilename(location);
            let name = crate::ir::text(sys::mlirIdentifierStr(name));
            let line = sys::mlirLocationFileLineColRangeGetStartLine(location);
            let column = sys::mlirLocationFileLineColRangeGetStartColumn(location);
            return Some((name, u32::try_from(line).ok()?, u32::try_from(column).ok()?));
        }
        if sys::mlirLocationIsAName(location) {
            return in_file(sys::mlirLocationNameGetChildLoc(location));
        }
        if sys::mlirLocationIsACallSite(location) {
            return in_file(sys::mlirLocationCallSiteGetCallee(location));
        }
        if sys::mlirLocationIsAFused(location) {
            let count = sys::mlirLocationFusedGetNumLocations(location);
            let mut parts = vec![sys::MlirLocation { ptr: std::ptr::null() }; count as usize];
            sys::mlirLocationFusedGetLocations(location, parts.as_mut_ptr());
            return parts.into_iter().find_map(|part| in_file(part));
        }
        None
    }
}

/// # Safety
/// The diagnostic is live.
unsafe fn read(diagnostic: mlir_sys::MlirDiagnostic) -> Diagnostic {
    // SAFETY: the caller's; notes live as long as their diagnostic.
    unsafe {
        let mut found = read_one(diagnostic);
        for index in 0..mlir_sys::mlirDiagnosticGetNumNotes(diagnostic) {
            let mut note = read_one(mlir_sys::mlirDiagnosticGetNote(diagnostic, index));
            // MLIR adds the whole operation as a note, which may be megabytes of text.
            if note.text.starts_with("see current operation") {
                continue;
            }
            if note.place == found.place {
                note.place.clear();
            }
            found.notes.push(note);
        }
        found
    }
}

/// Reads a diagnostic without its notes.
///
/// # Safety
/// The diagnostic is live.
unsafe fn read_one(diagnostic: mlir_sys::MlirDiagnostic) -> Diagnostic {
    // SAFETY: the caller's.
    unsafe {
        let severity = match mlir_sys::mlirDiagnosticGetSeverity(diagnostic) {
            mlir_sys::MlirDiagnosticSeverity_MlirDiagnosticError => Severity::Error,
            mlir_sys::MlirDiagnosticSeverity_MlirDiagnosticWarning => Severity::Warning,
            mlir_sys::MlirDiagnosticSeverity_MlirDiagnosticNote => Severity::Note,
            _ => Severity::Remark,
        };
        let raw = mlir_sys::mlirDiagnosticGetLocation(diagnostic);
        let at = place(Location::from_raw(raw));
        let (file, line, column) = in_file(raw).filter(|_| !at.is_empty()).unwrap_or_default();
        let pass = RUNNING.with_borrow(|running| running.last().cloned());
        let text = print::message(diagnostic);
        let file = Some(file).filter(|file| !file.is_empty());
        Diagnostic { severity, place: at, file, line, column, pass, text, notes: vec![] }
    }
}
