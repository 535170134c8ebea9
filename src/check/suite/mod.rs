//! Models of a user's machine against a target: ONNX's operator suite, and others.
//!
//! Each case is divided as a compile divides it. What the device takes runs in a process of its own
//! ([`super::program`]) and is compared with the answers that the case has, or with the host's.

mod cases;
mod report;
mod run;
mod tolerance;

pub use report::{Outcome, SuiteReport};

use super::{CheckOptions, Ground, sanitizer::Sanitizer};
use crate::{Result, parallel};
use std::path::Path;

/// Runs the cases of a folder. `progress` is told how many are done, how many there are, and which
/// is next. Of the options, those about random graphs have no use.
///
/// # Errors
/// There is no such target, it is a host, or the folder has no case.
pub fn check_suite(
    options: &CheckOptions,
    folder: &Path,
    progress: &(dyn Fn(usize, usize, &str) + Sync),
) -> Result<SuiteReport> {
    let ground = Ground::new(options)?;
    let device = ground.device()?;
    let patterns = device.load_patterns(&ground.table)?;
    let cases = cases::find(folder)?;
    let sanitizer = Sanitizer::of(&options.cc);
    let bench =
        run::Bench { options, ground: &ground, device, patterns: &patterns, sanitizer: &sanitizer };
    let reports = parallel::map(cases.iter().enumerate(), |(number, case)| {
        progress(number, cases.len(), &case.name);
        bench.run(&options.toolkit.session(), case)
    });
    let target = device.id.clone();
    Ok(SuiteReport { target, sanitized: sanitizer.is_there(), cases: reports })
}
