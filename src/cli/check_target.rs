//! `phaseline check-target`.

use super::{args::CheckTargetArgs, data::c_compiler, print, progress::Progress, registry::Known};
use crate::{
    Error, Result, Toolkit,
    check::{self, CheckOptions, Outcome, Report, SuiteReport},
    targets::{TargetEntry, TargetSpec},
};
use serde::Serialize;
use std::{fmt::Display, path::Path};

/// Checks the targets of a directory, or a known one; fails when one of them has errors.
pub fn check_target(toolkit: &Toolkit, args: &CheckTargetArgs) -> Result<()> {
    let path = Path::new(&args.target);
    let directory = path.is_dir().then_some(path);
    let known = Known::with_directory(toolkit, &args.known, directory)?;
    let names = match directory {
        None => vec![args.target.clone()],
        Some(path) => known.registry.kinds_below(path),
    };
    let host = known.expanded(&args.host)?;
    let options = |name: &String| -> Result<CheckOptions> {
        Ok(CheckOptions {
            toolkit: toolkit.clone(),
            target: target(&known, format!("{name} {}", args.options).trim())?,
            target_path: known.paths.clone(),
            host: host.clone(),
            samples: args.samples,
            attempts: args.samples.saturating_mul(100).clamp(800, 3000),
            seed: args.seed,
            pattern: args.pattern.clone(),
            rtol: args.rtol,
            atol: args.atol,
            steps: args.steps,
            cc: c_compiler(),
            ..Default::default()
        })
    };
    let all = names.iter().map(options).collect::<Result<Vec<_>>>()?;
    match (&args.suite, args.mutate) {
        (Some(folder), _) => suite(args, folder, &all),
        (None, Some(count)) => mutate(args, count as usize, &all),
        (None, None) => patterns(args, &all),
    }
}

/// Each pattern on random graphs.
fn patterns(args: &CheckTargetArgs, all: &[CheckOptions]) -> Result<()> {
    let mut reports = vec![];
    for options in all {
        let progress = Progress::new();
        let say = |pattern: &str| progress.say(format!("pattern {pattern}"));
        reports.push(check::check_target(options, &say)?);
    }
    show(args, &reports)?;
    let failed = reports.iter().filter(|report: &&Report| report.failed());
    verdict(failed.map(|report| report.target.as_str()).collect(), "the check")
}

/// The models of a folder.
fn suite(args: &CheckTargetArgs, folder: &Path, all: &[CheckOptions]) -> Result<()> {
    let mut reports = vec![];
    for options in all {
        let progress = Progress::new();
        let say =
            |done: usize, all: usize, case: &str| progress.say(format!("{done}/{all} {case}"));
        reports.push(check::check_suite(options, folder, &say)?);
    }
    show(args, &reports)?;
    let failed = reports.iter().filter(|report: &&SuiteReport| report.count(Outcome::Wrong) > 0);
    verdict(failed.map(|report| report.target.as_str()).collect(), "the suite")
}

/// Defects in their C.
fn mutate(args: &CheckTargetArgs, count: usize, all: &[CheckOptions]) -> Result<()> {
    let mut reports = vec![];
    for options in all {
        let progress = Progress::new();
        let say = |done: usize, next: &str| progress.say(format!("{done}/{count} {next}"));
        reports.push(check::mutate(options, count, &say)?);
    }
    show(args, &reports)
}

fn show<T: Serialize + Display>(args: &CheckTargetArgs, reports: &[T]) -> Result<()> {
    if args.json {
        let text = serde_json::to_string_pretty(reports)
            .map_err(|error| Error::internal(error.to_string()))?;
        return print(&(text + "\n"));
    }
    reports.iter().try_for_each(|report| print(&report.to_string()))
}

fn verdict(failed: Vec<&str>, what: &str) -> Result<()> {
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::invalid(format!("target {} does not pass {what}", failed.join(", "))))
}

/// The target that a text names, as a spec without aliases.
fn target(known: &Known, text: &str) -> Result<String> {
    let text = known.expanded(text)?;
    let spec: TargetSpec = text.parse()?;
    match spec.targets.as_slice() {
        // Its results are compared with those of a host, under its own name.
        [one] => Ok(TargetEntry { id: None, ..one.clone() }.to_string()),
        _ => {
            Err(Error::invalid(format!("'{text}' is more than one target; check them one by one")))
        }
    }
}
