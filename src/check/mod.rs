//! Checks of a target, for people who write one: `phaseline check-target`.
//!
//! Each pattern is tried on random graphs of the form that it describes, with sizes at the corners
//! of its conditions. What matches is compiled and run on the target and on the host, and the
//! results are compared; what does not match is a near miss, whose refusal is reported with the
//! condition that failed.

mod graph;
mod lint;
mod report;
mod sampler;
mod template;
mod trial;

pub use report::{Level, Note, PatternReport, Refusal, Report};

use crate::{
    Error, Result, Session,
    pattern::OpTable,
    target::{Registry, Role, TargetInstance},
};
use std::path::PathBuf;

/// What to check and how hard.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// Spec of the target alone, such as `npu -sram=64k`; the host is added.
    pub target: String,
    /// Directories with targets as data.
    pub target_path: Vec<PathBuf>,
    /// Spec of the host that results are compared with.
    pub host: String,
    /// Matching graphs to compile and run for each pattern.
    pub samples: usize,
    /// Graphs to make for each pattern at most.
    pub attempts: usize,
    /// Seed of all choices.
    pub seed: u64,
    /// Relative error of floats that is accepted.
    pub rtol: f64,
    /// Absolute error that is accepted; integers may differ by it.
    pub atol: f64,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            target: String::new(),
            target_path: vec![],
            host: "llvm".into(),
            samples: 6,
            attempts: 600,
            seed: 1,
            rtol: 1e-3,
            atol: 1e-3,
        }
    }
}

/// Checks a target. `progress` is called with the name of each pattern before it is tried.
pub fn check_target(options: &CheckOptions, progress: &dyn Fn(&str)) -> Result<Report> {
    let mut registry = Registry::builtin()?;
    for path in &options.target_path {
        registry.add_path(path)?;
    }
    let name = options.target.split_whitespace().next().unwrap_or_default();
    if registry.get(name)?.role == Role::Host {
        return Err(Error::invalid(format!(
            "'{name}' is a host, which takes everything; only the patterns of devices are checked"
        )));
    }
    let spec = format!("{}, {}", options.target, options.host);
    let targets = registry.resolve(&spec.parse()?)?;
    let device: &TargetInstance = targets
        .iter()
        .find(|target| !target.is_host())
        .ok_or_else(|| Error::invalid(format!("'{}' is no device", options.target)))?;
    let table = OpTable::graph()?;
    let patterns = device.load_patterns(&table)?;
    let session = Session::new();
    let mut report = Report { target: device.id.clone(), notes: vec![], patterns: vec![] };
    report.notes.extend(lint::patterns(device, &patterns));
    report.notes.extend(lint::sources(device));
    if report.failed() {
        return Ok(report);
    }
    for (number, pattern) in patterns.iter().enumerate() {
        progress(pattern.name());
        let trial = trial::Trial {
            session: &session,
            options,
            spec: &spec,
            device,
            patterns: &patterns,
            table: &table,
        };
        report.patterns.push(trial.run(number)?);
    }
    Ok(report)
}
