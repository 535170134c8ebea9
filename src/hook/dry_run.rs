//! Questions about regions before these have their places: `dry-run = true` beside `graph-to-runtime`.
//!
//! A region is asked about as the function that it would be, in a copy of the module. Regions that are the same but for
//! names are asked about once: the program may read weights. At most [`MOST`] are asked about in a compile.

use super::{
    programs::{DRY_RUN, Programs},
    region::{self, Constants},
};
use crate::{
    Error, Result,
    ir::{self, Op, func},
    partition::Judgement,
    phase::HookPoint,
    targets::{
        TargetInstance,
        hooks::{Judge, Request},
    },
};
use serde_json::json;
use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    fmt,
};

/// Regions that programs are asked about in a compile.
const MOST: usize = 64;

/// The programs that are asked in one compile, and what they said.
#[derive(Default)]
pub struct DryRuns {
    programs: Programs,
    known: RefCell<BTreeMap<String, Judgement>>,
    asked: Cell<usize>,
    failed: Cell<bool>,
}

impl DryRuns {
    /// True if a program failed, which is no decline.
    pub fn has_failed(&self) -> bool {
        self.failed.get()
    }
}

impl fmt::Debug for DryRuns {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DryRuns").field("asked", &self.asked).finish_non_exhaustive()
    }
}

impl Judge for DryRuns {
    fn judge(
        &self,
        module: Op<'_>,
        function: Op<'_>,
        target: &TargetInstance,
    ) -> Result<Judgement> {
        let Some(command) = target.kind.hooks.dry_run() else { return Ok(Judgement::default()) };
        let shape = region::describe(function, target, &mut Constants::none())?;
        let key = format!("{}: {shape}", target.id);
        if let Some(known) = self.known.borrow().get(&key) {
            return Ok(known.clone());
        }
        if self.asked.get() == MOST {
            let declined = format!(
                "its program has been asked about {MOST} regions, the most in a compile: regions that are \
                 fewer and larger ([region], merge), or without dry-run, get past that"
            );
            return Ok(Judgement { declined: Some(declined), ..Judgement::default() });
        }
        self.asked.set(self.asked.get() + 1);
        let name = func::symbol(function);
        let request =
            Request { context: ir::context_of(module), target, module, subject: function };
        let point = HookPoint::GraphToRuntime;
        let answer = self.programs.ask(command, point, &request, &mut |constants, about| {
            about.insert(DRY_RUN.to_owned(), json!(true));
            about.insert("function".to_owned(), json!(name));
            let region = region::describe(request.subject, request.target, constants)?;
            about.insert("region".to_owned(), region);
            Ok(())
        });
        let said = answer.and_then(|answer| answer.judgement()).map_err(|error| {
            self.failed.set(true);
            Error::invalid(format!(
                "target '{}': dry run of hook {point} on @{name}: {error}",
                target.id
            ))
        })?;
        tracing::debug!(target: "phaseline::hook", region = name, ?said, "dry run");
        self.known.borrow_mut().insert(key, said.clone());
        Ok(said)
    }
}
