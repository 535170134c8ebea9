//! Runs the phases of a compile on a module: from where, until where, with dumps in between.

use crate::{
    Error, Result, Session,
    pass::PassObserver,
    phase::{Phase, Pipeline},
};
use melior::{StringRef, ir::Module};
use std::path::{Path, PathBuf};

/// Which phases to run and what to leave on the way.
pub struct Stages<'a> {
    /// The text to run.
    pub pipeline: &'a Pipeline,
    /// The phase that the module has been through already.
    pub after: Phase,
    /// The last phase to run.
    pub until: Phase,
    /// Where to write the IR after each phase.
    pub dump: Option<&'a Path>,
    /// What those files do with large weights.
    pub dump_weights: Weights,
    /// Where to write a reproducer when a pass fails.
    pub reproducer: Option<&'a Path>,
    /// Called before each phase, for progress display.
    pub observer: Option<&'a dyn Fn(Phase)>,
    /// Called before and after each pass.
    pub pass_observer: Option<&'a PassObserver<'a>>,
}

impl Stages<'_> {
    /// Runs the phases. The module is valid IR after each.
    pub fn run(&self, session: &Session, module: &Module<'_>) -> Result<()> {
        if let Some(folder) = self.dump {
            std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot create", folder, e))?;
            self.write_dump(module, folder, self.after)?;
        }
        for phase in Phase::ALL.into_iter().filter(|p| *p > self.after && *p <= self.until) {
            if let Some(observer) = self.observer {
                observer(phase);
            }
            if let Some(text) = self.pipeline.section(phase) {
                session
                    .run_pipeline_with(module, text, self.reproducer, self.pass_observer)
                    .map_err(|error| in_phase(phase, error))?;
            }
            if let Some(folder) = self.dump {
                self.write_dump(module, folder, phase)?;
            }
        }
        Ok(())
    }

    fn write_dump(&self, module: &Module<'_>, folder: &Path, phase: Phase) -> Result<()> {
        let number = Phase::ALL.iter().position(|p| *p == phase).unwrap_or_default();
        let path: PathBuf = folder.join(format!("{number}-{phase}.mlir"));
        let text = print_module(module, self.dump_weights)?;
        std::fs::write(&path, text).map_err(|e| Error::io("cannot write", &path, e))
    }
}

/// Says in which phase something went wrong; diagnostics keep their own places.
fn in_phase(phase: Phase, error: Error) -> Error {
    match error {
        Error::Invalid(text) => Error::Invalid(format!("phase {phase}: {text}")),
        Error::Diagnostics(text) => Error::Diagnostics(format!("{text}\nin phase {phase}")),
        other => other,
    }
}

/// What printing does with weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weights {
    /// Print all, so that the text can be parsed again.
    Print,
    /// Leave out large ones, for reading.
    Elide,
}

/// The module as text with locations.
pub fn print_module(module: &Module<'_>, weights: Weights) -> Result<String> {
    print_op(crate::ir::root(module), weights)
}

/// An operation as text with locations, and with the weights that it has.
pub fn print_op(op: crate::ir::Op<'_>, weights: Weights) -> Result<String> {
    const LIMIT: isize = 64;
    unsafe extern "C" fn append(part: mlir_sys::MlirStringRef, user: *mut std::ffi::c_void) {
        // SAFETY: `user` is the buffer below, and MLIR passes a live string.
        unsafe {
            (*user.cast::<Vec<u8>>()).extend_from_slice(crate::ir::bytes(part));
        }
    }
    let mut buffer: Vec<u8> = vec![];
    // SAFETY: the flags live until they are destroyed; the buffer outlives the call.
    unsafe {
        let flags = mlir_sys::mlirOpPrintingFlagsCreate();
        mlir_sys::mlirOpPrintingFlagsEnableDebugInfo(flags, true, false);
        if weights == Weights::Elide {
            mlir_sys::mlirOpPrintingFlagsElideLargeElementsAttrs(flags, LIMIT);
            mlir_sys::mlirOpPrintingFlagsElideLargeResourceString(flags, LIMIT);
        }
        mlir_sys::mlirOperationPrintWithFlags(
            op.to_raw(),
            flags,
            Some(append),
            (&raw mut buffer).cast(),
        );
        mlir_sys::mlirOpPrintingFlagsDestroy(flags);
    }
    buffer.push(b'\n');
    String::from_utf8(buffer).map_err(|_| Error::internal("MLIR printed text that is not UTF-8"))
}

/// A reproducer's file name as MLIR wants it.
pub(crate) fn enable_reproducer(manager: &melior::pass::PassManager<'_>, path: &Path) {
    let text = path.to_string_lossy().into_owned();
    let name = StringRef::new(&text);
    // SAFETY: the manager is live; MLIR copies the name.
    unsafe {
        crate::ffi::phlPassManagerEnableCrashReproducer(manager.to_raw(), name.to_raw(), false);
    }
}
