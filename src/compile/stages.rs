//! Runs the phases of a compile on a module: from where, until where, with dumps in between.

use crate::{
    Error, Result, Session,
    ir::{
        blob,
        print::{Weights, print_module},
    },
    pass::PassObserver,
    phase::{Phase, Pipeline},
    session::Verified,
};
use melior::ir::Module;
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
    /// Whether all passes are those of built-in targets.
    pub own_passes: bool,
    /// Where to write a reproducer when a pass fails.
    pub reproducer: Option<&'a Path>,
    /// Called before each phase, for progress display.
    pub observer: Option<&'a dyn Fn(Phase)>,
    /// Called before and after each pass.
    pub pass_observer: Option<&'a PassObserver<'a>>,
}

impl Stages<'_> {
    /// Runs the phases. The module is valid IR after each.
    pub fn run(&self, session: &Session, module: &mut Module<'_>) -> Result<()> {
        let before = blob::mark(module);
        if let Some(folder) = self.dump {
            std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot create", folder, e))?;
            self.write_dump(module, folder, self.after)?;
        }
        for phase in Phase::ALL.into_iter().filter(|p| *p > self.after && *p <= self.until) {
            if let Some(observer) = self.observer {
                observer(phase);
            }
            let _span = tracing::info_span!(target: "phaseline::phase", "phase", %phase).entered();
            if let Some(text) = self.pipeline.section(phase) {
                let watching = (self.reproducer, self.pass_observer);
                // From there on passes are many and the IR is large.
                let at_end = phase >= Phase::Lower && self.own_passes;
                let verified = if at_end { Verified::End } else { Verified::Passes };
                session
                    .run_verified(module, text, watching, verified)
                    .map_err(|error| in_phase(phase, error))?;
            }
            if let Some(folder) = self.dump {
                self.write_dump(module, folder, phase)?;
            }
            if phase < Phase::Codegen {
                // Folded, packed or moved elsewhere since.
                blob::free_unused(module, before);
                crate::io::release_pages();
            }
        }
        Ok(())
    }

    fn write_dump(&self, module: &Module<'_>, folder: &Path, phase: Phase) -> Result<()> {
        let number = Phase::ALL.iter().position(|p| *p == phase).unwrap_or_default();
        let path: PathBuf = folder.join(format!("{number:02}-{phase}.mlir"));
        let text = print_module(module, self.dump_weights)?;
        Ok(crate::io::write_bytes(&path, text)?)
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
