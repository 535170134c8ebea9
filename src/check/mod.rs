//! Checks of a target, for people who write one: `phaseline check-target`.
//!
//! Each pattern is tried on random graphs of the form that it describes, with sizes at the corners
//! of its conditions and with what the conditions ask for ([`constraints`]). What matches is compiled and
//! run on the target and on the host, and the results are compared; what does not match is a near
//! miss, whose refusal is reported with the condition that failed; a sample of these is run as well,
//! to check that other patterns and the host compute them correctly.

mod attributes;
mod choice;
mod constraints;
mod contest;
mod differential;
mod graph;
mod judge;
mod lint;
mod mutate;
mod narrow;
mod numbers;
mod operands;
mod operator;
mod pair;
mod program;
mod report;
mod sampler;
mod sanitizer;
mod subsumption;
mod suite;
mod template;
mod variations;

pub use mutate::mutate;
pub use report::{Level, PatternReport, Report};
pub use suite::{Outcome, SuiteReport, check_suite};

use crate::{
    Error, Result, Session,
    error::suggestion,
    graph::OpTable,
    pattern::Pattern,
    targets::{Operators, Registry, Role, TargetInstance},
};
use contest::Records;
use report::Note;
use sanitizer::Sanitizer;
use std::{cell::RefCell, collections::BTreeMap, path::PathBuf};

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
    /// Relative error of floats that is accepted; by their type if `None`.
    pub rtol: Option<f64>,
    /// Absolute error of floats that is accepted; by what they are computed from if `None`.
    pub atol: Option<f64>,
    /// Difference of integers that is accepted: that of another rule for rounding.
    pub steps: f64,
    /// Part of a result's integers that may differ so. Two roundings, to a whole and then of its
    /// half, err in one of four cases; cutting off in place of rounding errs in one of two.
    pub off: f64,
    /// The C compiler.
    pub cc: String,
}

impl Default for CheckOptions {
    fn default() -> Self {
        Self {
            target: String::new(),
            target_path: vec![],
            host: "llvm".into(),
            samples: 24,
            attempts: 2000,
            seed: 1,
            pattern: None,
            rtol: None,
            atol: None,
            steps: 1.0,
            off: 0.3,
            cc: "cc".into(),
        }
    }
}

/// The target of a check and the host beside it.
struct Ground {
    registry: Registry,
    /// Both as a spec.
    spec: String,
    targets: Vec<TargetInstance>,
    table: OpTable,
}

impl Ground {
    /// Finds the target, which has to be a device.
    fn new(options: &CheckOptions) -> Result<Self> {
        let mut registry = Registry::builtin()?;
        for path in &options.target_path {
            registry.add_path(path)?;
        }
        let name = options.target.split_whitespace().next().unwrap_or_default();
        if registry.get(name)?.role == Role::Host {
            return Err(Error::invalid(format!(
                "'{name}' is a host, which takes everything; only devices are checked"
            )));
        }
        let spec = format!("{}, {}", options.target, options.host);
        let targets = registry.resolve(&spec.parse()?)?;
        let mut table = OpTable::graph()?;
        if let Some(device) = targets.iter().find(|target| !target.is_host()) {
            table = device.kind.table(&table);
        }
        Ok(Self { registry, spec, targets, table })
    }

    fn device(&self) -> Result<&TargetInstance> {
        let found = self.targets.iter().find(|target| !target.is_host());
        found.ok_or_else(|| Error::invalid(format!("'{}' has no device", self.spec)))
    }
}

/// Checks a target. `progress` is called with the name of each pattern before it is tried.
pub fn check_target(options: &CheckOptions, progress: &dyn Fn(&str)) -> Result<Report> {
    let ground = Ground::new(options)?;
    let sanitizer = Sanitizer::of(&options.cc);
    check_on(&ground, (options, &sanitizer), None, progress)
}

/// The same, with a sanitizer that was looked for; `records` gets all graphs that run.
fn check_on(
    ground: &Ground,
    (options, sanitizer): (&CheckOptions, &Sanitizer),
    records: Option<&Records>,
    progress: &dyn Fn(&str),
) -> Result<Report> {
    let device = ground.device()?;
    let patterns = device.load_patterns(&ground.table)?;
    let session = Session::new();
    let mut report = Report {
        target: device.id.clone(),
        sanitized: sanitizer.is_there(),
        notes: vec![],
        patterns: vec![],
    };
    report.notes.extend(lint::patterns(device, &patterns));
    report.notes.extend(lint::sources(device));
    report.notes.extend(lint::references(device));
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
    let stand = Stand {
        ground,
        session,
        options,
        patterns: &patterns,
        sanitizer,
        records,
        earlier: RefCell::default(),
        closed: RefCell::default(),
    };
    for (number, pattern) in patterns.iter().enumerate().filter(|(_, p)| is_meant(p)) {
        progress(pattern.name());
        report.patterns.extend(stand.pattern(number, device)?);
    }
    let closed = stand.closed.into_inner();
    report.notes.extend(
        closed
            .into_iter()
            .map(|(spec, why)| Note::warning(format!("with {spec} nothing was tried: {why}"))),
    );
    Ok(report)
}

/// Graphs of each pattern from which other values of options are tried too.
const THOROUGH: usize = 4;

/// What all patterns are tried with.
struct Stand<'a> {
    ground: &'a Ground,
    session: Session,
    options: &'a CheckOptions,
    patterns: &'a [Pattern],
    sanitizer: &'a Sanitizer,
    /// Where graphs that run are kept.
    records: Option<&'a Records>,
    /// A graph of each pattern that was tried, with its number.
    earlier: RefCell<Vec<(usize, String)>>,
    /// Other values of options with which the device does not open, and what it says.
    closed: RefCell<BTreeMap<String, String>>,
}

impl Stand<'_> {
    /// Tries a pattern: with the options as they are given, or if these rule it out with others,
    /// then a little with each other value of the options that it depends on.
    fn pattern(&self, number: usize, device: &TargetInstance) -> Result<Option<PatternReport>> {
        let pattern = &self.patterns[number];
        if let Some(closed) = lint::closed(device, pattern) {
            let notes = vec![closed];
            let options = device.id.clone();
            return Ok(Some(PatternReport {
                name: pattern.name().to_owned(),
                options,
                notes,
                ..Default::default()
            }));
        }
        let mut best: Option<(String, PatternReport)> = None;
        for spec in variations::specs(&self.options.target, device, pattern) {
            let Some(found) = self.differential(number, &spec, self.options)? else { continue };
            let matched = found.matched > 0;
            if matched || best.is_none() {
                best = Some((spec, found));
            }
            if matched {
                break;
            }
        }
        let Some((known, mut best)) = best else { return Ok(None) };
        if best.matched == 0 || self.options.samples < THOROUGH {
            return Ok(Some(best));
        }
        let few = CheckOptions {
            samples: self.options.samples.div_ceil(8),
            attempts: self.options.attempts / 4,
            seed: self.options.seed + 1,
            ..self.options.clone()
        };
        for spec in variations::others(&self.options.target, device, pattern) {
            if spec == known || best.errors() > 0 || self.closed.borrow().contains_key(&spec) {
                continue;
            }
            let run = self.differential(number, &spec, &few)?;
            // A range of numbers says little of which devices this machine has.
            match run.as_ref().and_then(PatternReport::unopened) {
                Some(why) => drop(self.closed.borrow_mut().insert(spec, why)),
                None => best.add_run(run),
            }
        }
        Ok(Some(best))
    }

    fn differential(
        &self,
        number: usize,
        spec: &str,
        options: &CheckOptions,
    ) -> Result<Option<PatternReport>> {
        let spec = format!("{spec}, {}", self.options.host);
        let targets = self.ground.registry.resolve(&spec.parse()?)?;
        let Some(device) = targets.iter().find(|target| !target.is_host()) else {
            return Ok(None);
        };
        let run = differential::DifferentialRun {
            session: &self.session,
            options,
            spec: &spec,
            device,
            patterns: self.patterns,
            table: &self.ground.table,
            operators: Operators::of(&device.kind),
            sanitizer: self.sanitizer,
            records: self.records.map(|records| (records, number)),
            earlier: &self.earlier,
        };
        run.run(number).map(Some)
    }
}
