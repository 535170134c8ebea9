//! One graph on target and host.

use super::{
    CheckOptions, judge,
    numbers::{self, Wishes},
    program::{self, DeviceGaps, Gaps},
    sanitizer::Sanitizer,
};
use crate::{
    CompileOptions, Error, Phase, Result, Session,
    graph::{Facts, OpId, OpTable},
    hook::DryRuns,
    ir::{
        self, Builder, edit, func, guard, names,
        print::{Weights, print_module},
    },
    outline::{self, DivideOptions},
    pattern::{Capabilities, Pattern, find_match},
    targets::TargetInstance,
    tensor::Tensor,
};
use melior::ir::{Location, Module};
use std::sync::{Mutex, PoisonError};

/// Bytes around each buffer.
const GUARD: i64 = 64;

/// Environment that graphs are run in.
pub struct Ring<'a> {
    pub session: &'a Session,
    pub options: &'a CheckOptions,
    /// The device and the host.
    pub spec: &'a str,
    pub device: &'a TargetInstance,
    pub table: &'a OpTable,
    pub sanitizer: &'a Sanitizer,
    /// Store for graphs that are run, with the number of their pattern.
    pub records: Option<(&'a Records, usize)>,
    /// The second match that graphs have.
    pub also: Option<Also>,
}

/// A second match in a graph.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Also {
    /// Number of its pattern.
    pub pattern: usize,
    /// True if it computes on results of the first match.
    pub is_chain: bool,
}

/// Result of running a graph.
pub enum Outcome {
    /// Results of each run, with the sensitivity of the host's results to changed inputs.
    Done(Vec<Round>),
    /// The pattern could not have it, and why.
    NotRun(String),
}

/// The results of one run.
#[derive(Clone)]
pub struct Round {
    pub got: Vec<Tensor>,
    pub want: Vec<Tensor>,
    pub sway: Vec<f64>,
    /// Description of its kind of inputs.
    pub inputs: &'static str,
    /// The inputs.
    pub set: Vec<Tensor>,
}

/// A graph that was run: all that it takes to run it again on another build of the device.
pub struct Record {
    /// Number of the pattern that it was made for.
    pub pattern: usize,
    /// The second match that it has.
    pub also: Option<Also>,
    /// The device and the host.
    pub spec: String,
    /// The graph.
    pub text: String,
    /// The same after all phases.
    pub code: String,
    pub gaps: Gaps,
    pub rounds: Vec<Round>,
}

/// Store for graphs that are run.
pub type Records = Mutex<Vec<Record>>;

impl Ring<'_> {
    /// The patterns that take operations of a graph where nothing is demanded.
    pub fn taken(&self, text: &str) -> Result<Vec<String>> {
        let module = self.session.parse(text.as_bytes(), "check.mlir")?;
        let targets = self.compile_options().resolve(self.session)?;
        let main = func::main(ir::root(&module)).ok_or_else(func::no_main)?;
        let judge = DryRuns::default();
        let how = DivideOptions { judge: Some(&judge), ..DivideOptions::default() };
        let partitioned = outline::divide_with(main, &targets, &how)?;
        let composites = partitioned.partition.regions.iter().flat_map(|region| &region.composites);
        Ok(composites.map(|composite| composite.name.clone()).collect())
    }

    /// Runs a graph, with a match of each of these patterns on the device, or divided as usual. `number`
    /// is different for each graph of a pattern.
    pub fn run(&self, text: &str, patterns: &[&Pattern], number: u64) -> Result<Outcome> {
        let mut module = self.session.parse(text.as_bytes(), "check.mlir")?;
        let root = ir::root(&module);
        let mut options = self.compile_options();
        let b = Builder::at_end(
            self.session.context(),
            edit::entry_block(root).ok_or_else(func::no_main)?,
            Location::unknown(self.session.context()),
        );
        // One of three as a compile would have it.
        if !number.is_multiple_of(3) {
            edit::set_attr(root, names::TILE_CHOICE, b.i64_attr(number as i64));
        }
        self.session.run_phases(&mut module, &options, Phase::PrePartition)?;
        if let Some(reason) = self.demand(&module, patterns)? {
            return Ok(Outcome::NotRun(reason));
        }
        options.after = Phase::PrePartition;
        let gaps = generate(self.session, &mut module, &options)?;
        let keep = self.records.map(|_| print_module(&module, Weights::Print)).transpose()?;
        options.after = Phase::Codegen;
        let compiled = self.session.compile(module, &options)?;
        let wishes = Wishes::of(text, patterns);
        let seed = self.options.seed + number;
        let sets = numbers::inputs(&compiled.signature.inputs, seed, wishes)?;
        let inputs: Vec<Vec<Tensor>> = sets.iter().map(|(_, set)| set.clone()).collect();
        let got = program::run(&compiled, &gaps, &inputs, self.sanitizer, program::COMPUTING)?;
        let rounds = self.rounds(text, sets, got)?;
        if let (Some((records, pattern)), Some(code)) = (self.records, keep) {
            let (spec, text) = (self.spec.to_owned(), text.to_owned());
            let (also, rounds) = (self.also, rounds.clone());
            let record = Record { pattern, also, spec, text, code, gaps, rounds };
            records.lock().unwrap_or_else(PoisonError::into_inner).push(record);
        }
        Ok(Outcome::Done(rounds))
    }

    /// Demands that a match of each pattern, as it is before the partition, runs on the device; gives
    /// the reason if there is none.
    fn demand(&self, module: &Module<'_>, patterns: &[&Pattern]) -> Result<Option<String>> {
        if patterns.is_empty() {
            return Ok(None);
        }
        let main = func::main(ir::root(module)).ok_or_else(func::no_main)?;
        let view = outline::view(main, self.table)?;
        let rules = rules(self.device);
        let facts = Facts { graph: &view.graph, table: self.table, options: &self.device.options };
        let mut taken: Vec<(OpId, &Pattern)> = vec![];
        for pattern in patterns {
            let is_free = |id: OpId| !taken.iter().any(|(known, _)| *known == id);
            let mut roots = (0..view.ops.len()).rev().map(|root| OpId(root as u32));
            let found =
                roots.find_map(|root| find_match(pattern, facts, &rules, root, &is_free).ok());
            if let Some(found) = found {
                taken.extend(found.ops.iter().map(|id| (*id, *pattern)));
                continue;
            }
            let own = self.device.kind.pipelines.iter().any(|(at, _)| *at == Phase::PrePartition);
            let who = if own {
                "the target's own passes at pre-partition, or canonicalization,"
            } else {
                "canonicalization"
            };
            let names: Vec<_> = view.graph.ops().map(|(_, op)| op.name.clone()).collect();
            let rest = match names.is_empty() {
                true => "no operation is left, all is constant".to_owned(),
                false => format!("operations are then: {}", names.join(", ")),
            };
            return Ok(Some(format!("{who} left no match of it; {rest}")));
        }
        for (id, pattern) in taken {
            let Some(op) = view.ops.get(id.index()).copied() else { continue };
            let b = Builder::before(op)?;
            edit::set_attr(op, names::TARGET, b.str_attr(&self.device.id));
            edit::set_attr(op, names::PATTERN, b.str_attr(pattern.name()));
        }
        let targets = self.compile_options().resolve(self.session)?;
        let judge = DryRuns::default();
        let how = DivideOptions { judge: Some(&judge), ..DivideOptions::default() };
        let partitioned = match outline::divide_with(main, &targets, &how) {
            Ok(partitioned) => partitioned,
            Err(error) if judge.has_failed() => return Err(error),
            Err(error) => return Ok(Some(error.to_string())),
        };
        let composites = partitioned.partition.regions.iter().flat_map(|region| &region.composites);
        let mut names: Vec<&str> = composites.map(|composite| &*composite.name).collect();
        // As many as are demanded.
        let are_there = patterns.iter().all(|pattern| {
            let place = names.iter().position(|name| *name == pattern.name());
            place.map(|place| names.swap_remove(place)).is_some()
        });
        Ok((!are_there).then(|| "the partition leaves it out".to_owned()))
    }

    /// Runs the same inputs on the host and pairs its results with the device's.
    fn rounds(
        &self,
        text: &str,
        sets: Vec<(&'static str, Vec<Tensor>)>,
        got: Vec<Vec<Tensor>>,
    ) -> Result<Vec<Round>> {
        let module = self.session.parse(text.as_bytes(), "check.mlir")?;
        let host = CompileOptions {
            targets: self.options.host.clone(),
            target_path: self.options.target_path.clone(),
            name: "check".into(),
            cc: self.options.cc.clone(),
            ..self.options.toolkit.options()
        };
        let executable = self.session.compile(module, &host)?.load()?;
        let mut rounds = vec![];
        for ((inputs, set), got) in sets.into_iter().zip(got) {
            let want = executable.run(&set)?;
            if want.len() != got.len() {
                return Err(Error::internal("target and host have other results"));
            }
            let moved = executable.run(&judge::nudged(&set)?)?;
            let sway = judge::sway(&want, &moved);
            rounds.push(Round { got, want, sway, inputs, set });
        }
        Ok(rounds)
    }

    fn compile_options(&self) -> CompileOptions<'_> {
        CompileOptions {
            targets: self.spec.to_owned(),
            target_path: self.options.target_path.clone(),
            name: "check".into(),
            cc: self.options.cc.clone(),
            devices: Some(self.sanitizer.build()),
            ..self.options.toolkit.options()
        }
    }
}

/// Runs the phases behind `options.after` with guards around all buffers; gives where they are.
pub fn generate(
    session: &Session,
    module: &mut Module<'_>,
    options: &CompileOptions<'_>,
) -> Result<Gaps> {
    let root = ir::root(module);
    let block = edit::entry_block(root).ok_or_else(func::no_main)?;
    let b = Builder::at_end(session.context(), block, Location::unknown(session.context()));
    edit::set_attr(root, names::GUARD, b.i64_attr(GUARD));
    session.run_phases(module, options, Phase::Codegen)?;
    let root = ir::root(module);
    let targets = options.resolve(session)?;
    let devices = targets.iter().map(|target| DeviceGaps::of(root, target));
    Ok(Gaps {
        arena: guard::recorded(root, names::ARENA_GAPS),
        constants: guard::recorded(root, names::CONSTANT_GAPS),
        devices: devices.filter_map(Result::transpose).collect::<Result<_>>()?,
    })
}

/// Capabilities that a device demands of all matches, without taps.
pub fn rules(device: &TargetInstance) -> Capabilities {
    Capabilities { taps: false, ..device.kind.capabilities.clone() }
}
