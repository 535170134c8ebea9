//! Runs a range of the phases of a compile on a module, with dumps in between.

use crate::{
    Result, Session,
    ir::print::Weights,
    pass::PassObserver,
    phase::{Dump, Phase, PhaseRun, Pipeline},
    session::Verified,
};
use melior::ir::Module;
use std::path::Path;

/// Phases to run, and files to leave on the way.
pub struct Stages<'a> {
    /// The text to run.
    pub pipeline: &'a Pipeline,
    /// All phases.
    pub all: &'a [Phase],
    /// The phase that the module has been through already.
    pub after: Phase,
    /// The last phase to run.
    pub until: Phase,
    /// Folder for the IR after each phase.
    pub dump: Option<&'a Path>,
    /// Treatment of large weights in those files.
    pub dump_weights: Weights,
    /// True if all passes are those of built-in targets.
    pub own_passes: bool,
    /// File for a reproducer when a pass fails.
    pub reproducer: Option<&'a Path>,
    /// Called before each phase, for progress display.
    pub observer: Option<&'a dyn Fn(Phase)>,
    /// Called before and after each pass.
    pub pass_observer: Option<&'a PassObserver<'a>>,
}

impl Stages<'_> {
    /// Runs the phases. The module is valid IR after each.
    pub fn run(&self, session: &Session, module: &mut Module<'_>) -> Result<()> {
        let wanted = |phase: &Phase| *phase > self.after && *phase <= self.until;
        let phases: Vec<_> = self.all.iter().copied().filter(wanted).collect();
        let dump = self.dump.map(|folder| Dump {
            folder,
            weights: self.dump_weights,
            all: self.all,
            after: Some(&self.after),
        });
        let observer = self.observer.map(|observer| move |phase: &Phase| observer(*phase));
        PhaseRun {
            sections: self.pipeline.sections(),
            phases: &phases,
            dump,
            reproducer: self.reproducer,
            observer: observer.as_ref().map(|observer| observer as &dyn Fn(&Phase)),
            pass_observer: self.pass_observer,
            // From there on passes are many and the IR is large.
            verified: &|phase| match *phase >= Phase::Lower && self.own_passes {
                true => Verified::End,
                false => Verified::Passes,
            },
            frees: &|phase| *phase < Phase::Codegen,
        }
        .run(session, module)
    }
}
