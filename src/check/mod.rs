//! Checks of a target, for people who write one: `phaseline check-target`.
//!
//! Each pattern is tried on random graphs of the form that it describes, with sizes at the corners
//! of its conditions and with what the conditions ask for ([`wish`]). What matches is compiled and
//! run on the target and on the host, and the results are compared; what does not match is a near
//! miss, whose refusal is reported with the condition that failed, and one of each few is run too:
//! other patterns and the host are to get it right.

mod graph;
mod lint;
mod numbers;
mod report;
mod sampler;
mod shadow;
mod template;
mod trial;
mod variations;
mod wish;

pub use report::{Level, Note, PatternReport, Refusal, Report};

use crate::{
    Error, Result, Session,
    pattern::{OpTable, Pattern, suggestion},
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
    /// Only patterns of this name.
    pub pattern: Option<String>,
    /// Relative error of floats that is accepted.
    pub rtol: f64,
    /// Absolute error of floats that is accepted.
    pub atol: f64,
    /// Difference of integers that is accepted: that of another rule for rounding.
    pub steps: f64,
    /// Part of a result's integers that may differ so. Two roundings, to a whole and then of its
    /// half, err in one of four cases; cutting off in place of rounding errs in one of two.
    pub off: f64,
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
            pattern: None,
            rtol: 1e-3,
            atol: 1e-3,
            steps: 1.0,
            off: 0.4,
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
    let is_meant =
        |pattern: &Pattern| options.pattern.as_ref().is_none_or(|name| name == pattern.name());
    if !patterns.iter().any(is_meant) {
        let name = options.pattern.as_deref().unwrap_or_default();
        let known = patterns.iter().map(Pattern::name);
        return Err(Error::invalid(format!(
            "target '{}' has no pattern '{name}'{}",
            device.id,
            suggestion(name, known)
        )));
    }
    for (number, pattern) in patterns.iter().enumerate().filter(|(_, p)| is_meant(p)) {
        progress(pattern.name());
        // Other options are for patterns that these rule out.
        let mut best: Option<PatternReport> = None;
        for spec in variations::specs(&options.target, device, pattern) {
            let spec = format!("{spec}, {}", options.host);
            let targets = registry.resolve(&spec.parse()?)?;
            let Some(device) = targets.iter().find(|target| !target.is_host()) else { continue };
            let trial = trial::Trial {
                session: &session,
                options,
                spec: &spec,
                device,
                patterns: &patterns,
                table: &table,
            };
            let found = trial.run(number)?;
            let matched = found.matched > 0;
            if matched || best.is_none() {
                best = Some(found);
            }
            if matched {
                break;
            }
        }
        report.patterns.extend(best);
    }
    Ok(report)
}
