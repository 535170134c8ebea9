//! Checks of a target, for people who write one: `phaseline check-target`.
//!
//! Each pattern is tried on random graphs of the form that it describes. Sizes are at the corners
//! of its conditions, and values are those that the conditions ask for ([`constraints`]).
//!
//! A match is compiled and run on the target and on the host, and the results are compared.
//! Anything else is a near miss, whose refusal is reported with the condition that failed. A sample
//! of the near misses is run as well, to check that other patterns and the host compute them
//! correctly.

mod attributes;
mod choice;
mod constraints;
mod contest;
mod differential;
mod distance;
mod draws;
mod goal;
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
mod search;
mod subsumption;
mod suite;
mod template;
mod variations;
mod web;

pub use mutate::mutate;
pub use report::{Level, PatternReport, Report};
pub use suite::{Outcome, SuiteReport, check_suite};

use crate::{
    Error, Result, Toolkit,
    error::suggestion,
    graph::OpTable,
    parallel,
    pattern::Pattern,
    targets::{Operators, Registry, Role, TargetInstance},
};
use contest::Records;
use differential::{DifferentialRun, Singles};
use report::Note;
use sanitizer::Sanitizer;
use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

/// Settings of a check: the target, and the effort.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The compiler that has the target.
    pub toolkit: Toolkit,
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
            toolkit: Toolkit::default(),
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
        let mut registry = options.toolkit.registry()?;
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
        let mut table = OpTable::of(crate::ir::graph::OPS)?;
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

/// Checks a target, on as many threads as there are processors. `progress` is called with the name of each pattern
/// before it is tried, alone and with others.
pub fn check_target(options: &CheckOptions, progress: &(dyn Fn(&str) + Sync)) -> Result<Report> {
    let ground = Ground::new(options)?;
    let sanitizer = Sanitizer::of(&options.cc);
    check_on(&ground, (options, &sanitizer), None, progress)
}

/// The same, with a sanitizer that was looked for; `records` gets all graphs that run.
fn check_on(
    ground: &Ground,
    (options, sanitizer): (&CheckOptions, &Sanitizer),
    records: Option<&Records>,
    progress: &(dyn Fn(&str) + Sync),
) -> Result<Report> {
    let device = ground.device()?;
    let patterns = device.load_patterns(&ground.table)?;
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
        device,
        options,
        patterns: &patterns,
        sanitizer,
        records,
        closed: Mutex::default(),
    };
    let meant: Vec<_> = (0..patterns.len()).filter(|number| is_meant(&patterns[*number])).collect();
    report.patterns = stand.all(meant, progress)?;
    let closed = stand.closed.into_inner().unwrap_or_else(PoisonError::into_inner);
    report.notes.extend(
        closed
            .into_iter()
            .map(|(spec, why)| Note::warning(format!("with {spec} nothing was tried: {why}"))),
    );
    Ok(report)
}

/// Graphs of each pattern from which other values of options are tried too.
const THOROUGH: usize = 4;

/// Environment that all patterns are tried in.
struct Stand<'a> {
    ground: &'a Ground,
    device: &'a TargetInstance,
    options: &'a CheckOptions,
    patterns: &'a [Pattern],
    sanitizer: &'a Sanitizer,
    /// Store for graphs that run.
    records: Option<&'a Records>,
    /// Other values of options with which the device does not open, and what it says.
    closed: Mutex<BTreeMap<String, String>>,
}

/// Outcome of the first graphs of a pattern.
enum Tried {
    /// No options allow it.
    Closed(Box<PatternReport>),
    /// Spec that allows it, and the outcome.
    Alone(String, Box<Singles>),
}

impl Stand<'_> {
    /// Tries patterns: each by itself, then with those before it and with other options.
    fn all(
        &self,
        numbers: Vec<usize>,
        progress: &(dyn Fn(&str) + Sync),
    ) -> Result<Vec<PatternReport>> {
        let tried = parallel::map(numbers.into_iter(), |number| {
            progress(self.patterns[number].name());
            Ok(self.alone(number)?.map(|tried| (number, tried)))
        });
        let tried: Vec<_> =
            tried.into_iter().filter_map(Result::transpose).collect::<Result<_>>()?;
        let first = |(number, tried): &(usize, Tried)| match tried {
            Tried::Closed(_) => None,
            Tried::Alone(_, singles) => Some((*number, singles.ran.first()?.clone())),
        };
        let graphs: Vec<(usize, String)> = tried.iter().filter_map(first).collect();
        let reports = parallel::map(tried.into_iter(), |(number, tried)| match tried {
            Tried::Closed(report) => Ok(*report),
            Tried::Alone(spec, singles) => {
                progress(self.patterns[number].name());
                let before = graphs.partition_point(|(other, _)| *other < number);
                self.together(number, (&spec, *singles), &graphs[..before])
            }
        });
        reports.into_iter().collect()
    }

    /// Tries a pattern with the options as they are given, or if these rule it out with others.
    fn alone(&self, number: usize) -> Result<Option<Tried>> {
        let pattern = &self.patterns[number];
        if let Some(closed) = lint::closed(self.device, pattern) {
            return Ok(Some(Tried::Closed(Box::new(PatternReport {
                name: pattern.name().to_owned(),
                options: self.device.id.clone(),
                notes: vec![closed],
                ..Default::default()
            }))));
        }
        let mut best = None;
        for spec in variations::specs(&self.options.target, self.device, pattern) {
            let run = |run: &DifferentialRun<'_>| run.singles(number);
            let Some(found) = self.run(number, (&spec, self.options), run)? else { continue };
            let matched = found.report.matched > 0;
            if matched || best.is_none() {
                best = Some(Tried::Alone(spec, Box::new(found)));
            }
            if matched {
                break;
            }
        }
        Ok(best)
    }

    /// Tries a pattern together with others, then a little with each other value of the options that it depends on.
    fn together(
        &self,
        number: usize,
        (known, singles): (&str, Singles),
        others: &[(usize, String)],
    ) -> Result<PatternReport> {
        let finish = |run: &DifferentialRun<'_>| run.finish(number, singles, others);
        let found = self.run(number, (known, self.options), finish)?;
        let mut best = found.ok_or_else(|| Error::internal("a device that was there is not"))?;
        if best.matched == 0 || self.options.samples < THOROUGH {
            return Ok(best);
        }
        let few = CheckOptions {
            samples: self.options.samples.div_ceil(24),
            attempts: self.options.attempts / 4,
            seed: self.options.seed + 1,
            ..self.options.clone()
        };
        let closed = || self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        for spec in variations::others(&self.options.target, self.device, &self.patterns[number]) {
            if spec == known || best.errors() > 0 || closed().contains_key(&spec) {
                continue;
            }
            let run = self.run(number, (&spec, &few), |run| {
                run.finish(number, run.singles(number)?, others)
            })?;
            // A range of numbers says little of which devices this machine has.
            match run.as_ref().and_then(PatternReport::unopened) {
                Some(why) => drop(closed().insert(spec, why)),
                None => best.add_run(run),
            }
        }
        Ok(best)
    }

    /// Tries a pattern on a device with these options, in a session of its own.
    fn run<R>(
        &self,
        number: usize,
        (spec, options): (&str, &CheckOptions),
        work: impl FnOnce(&DifferentialRun<'_>) -> Result<R>,
    ) -> Result<Option<R>> {
        let spec = format!("{spec}, {}", self.options.host);
        let targets = self.ground.registry.resolve(&spec.parse()?)?;
        let Some(device) = targets.iter().find(|target| !target.is_host()) else {
            return Ok(None);
        };
        let session = self.options.toolkit.session();
        let run = DifferentialRun {
            session: &session,
            options,
            is_variation: !std::ptr::eq(options, self.options),
            spec: &spec,
            device,
            patterns: self.patterns,
            table: &self.ground.table,
            operators: Operators::of(&device.kind),
            sanitizer: self.sanitizer,
            records: self.records.map(|records| (records, number)),
        };
        work(&run).map(Some)
    }
}
