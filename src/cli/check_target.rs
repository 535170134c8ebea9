//! `phaseline check-target`.

use super::{
    args::CheckTargetArgs,
    data::{c_compiler, target_path},
    print,
    progress::Progress,
};
use crate::{
    Error, Result,
    check::{self, CheckOptions, Report},
    targets::Registry,
};
use std::path::{Path, PathBuf};

/// Checks the targets of a directory, or a known one; fails when one of them has errors.
pub fn check_target(args: &CheckTargetArgs) -> Result<()> {
    let mut paths = target_path(&args.target_path);
    let names = names(&args.target, &mut paths)?;
    let mut reports = vec![];
    for name in names {
        let options = CheckOptions {
            target: format!("{name} {}", args.options).trim().to_owned(),
            target_path: paths.clone(),
            host: args.host.clone(),
            samples: args.samples,
            attempts: args.samples.saturating_mul(100).clamp(800, 3000),
            seed: args.seed,
            pattern: args.pattern.clone(),
            rtol: args.rtol,
            atol: args.atol,
            steps: args.steps,
            cc: c_compiler(),
            ..Default::default()
        };
        let progress = Progress::new();
        reports.push(check::check_target(&options, &|pattern| {
            progress.say(format!("pattern {pattern}"))
        })?);
    }
    if args.json {
        let text = serde_json::to_string_pretty(&reports)
            .map_err(|error| Error::internal(error.to_string()))?;
        print(&(text + "\n"))?;
    } else {
        for report in &reports {
            print(&report.to_string())?;
        }
    }
    let failed: Vec<&str> = reports
        .iter()
        .filter(|report: &&Report| report.failed())
        .map(|report| report.target.as_str())
        .collect();
    if failed.is_empty() {
        return Ok(());
    }
    Err(Error::invalid(format!("target {} does not pass the check", failed.join(", "))))
}

/// The names of the targets to check; a directory that holds them joins the search path.
fn names(target: &str, paths: &mut Vec<PathBuf>) -> Result<Vec<String>> {
    let path = Path::new(target);
    if !path.is_dir() {
        return Ok(vec![target.to_owned()]);
    }
    let mut registry = Registry::empty();
    registry.add_path(path)?;
    if !paths.iter().any(|known| known == path) {
        paths.push(path.to_path_buf());
    }
    Ok(registry.kinds().map(|kind| kind.name.clone()).collect())
}
