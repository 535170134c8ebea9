//! `phaseline check-target`.

use super::{args::CheckTargetArgs, data::c_compiler, print, progress::Progress, registry::Known};
use crate::{
    Error, Result,
    check::{self, CheckOptions, Report},
    targets::{TargetEntry, TargetSpec},
};
use std::path::Path;

/// Checks the targets of a directory, or a known one; fails when one of them has errors.
pub fn check_target(args: &CheckTargetArgs) -> Result<()> {
    let path = Path::new(&args.target);
    let directory = path.is_dir().then_some(path);
    let known = Known::with_directory(&args.known, directory)?;
    let names = match directory {
        None => vec![args.target.clone()],
        Some(path) => known.registry.kinds_below(path),
    };
    let host = known.expanded(&args.host)?;
    let mut reports = vec![];
    for name in names {
        let options = CheckOptions {
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
