//! One pattern on many graphs.

use super::{
    CheckOptions, graph, numbers,
    report::{Note, PatternReport, Refusal},
    sampler::Sampler,
};
use crate::{
    CompileOptions, Error, Result, Session,
    ir::{self, edit, func},
    outline,
    pattern::{Facts, MatchRules, OpTable, Pattern, Reason, find_match},
    stage::{Weights, print_module},
    target::TargetInstance,
    tensor::{Tensor, compare},
};
use melior::ir::Module;
use std::collections::BTreeSet;

/// Of fewer integers than this, a few that are rounded in another way are no sign of anything.
const FEW: usize = 256;

/// What all graphs are tried with.
pub struct Trial<'a> {
    pub session: &'a Session,
    pub options: &'a CheckOptions,
    /// The device and the host.
    pub spec: &'a str,
    pub device: &'a TargetInstance,
    pub patterns: &'a [Pattern],
    pub table: &'a OpTable,
}

/// What became of a graph.
enum Fate<'c> {
    /// The pattern matches.
    Match(Module<'c>),
    /// It does not: the reason and the values.
    Refused(String, String, Module<'c>),
    /// The graph has other operations than the pattern, which folding or chance brings about.
    Other,
}

impl Trial<'_> {
    /// Tries pattern `number`.
    pub fn run(&self, number: usize) -> Result<PatternReport> {
        let pattern = &self.patterns[number];
        let mut report = PatternReport { name: pattern.name().to_owned(), ..Default::default() };
        report.options = self.spec.split(',').next().unwrap_or_default().to_owned();
        let seed = self.options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let mut sampler = Sampler::new(self.device, pattern, seed);
        let mut seen = BTreeSet::new();
        let mut taken_by = BTreeSet::new();
        for _ in 0..self.options.attempts {
            match self.attempt(pattern, &mut sampler)? {
                Some(Fate::Match(module)) => {
                    report.graphs += 1;
                    report.matched += 1;
                    if report.compared < self.options.samples {
                        let text = print_module(&module, Weights::Print)?;
                        if seen.insert(signature(&text)) {
                            report.compared += 1;
                            taken_by.extend(self.compare(&text, pattern, &mut report));
                        }
                    }
                }
                Some(Fate::Refused(reason, example, module)) => {
                    report.graphs += 1;
                    // Whoever takes such a graph instead is to get it right.
                    let is_new = refuse(&mut report, reason, example);
                    if is_new && report.near_misses < self.options.samples.div_ceil(3) {
                        report.near_misses += 1;
                        let text = print_module(&module, Weights::Print)?;
                        self.compare(&text, pattern, &mut report);
                    }
                }
                Some(Fate::Other) | None => {}
            }
            // Half of the effort goes to near misses once there are enough matches.
            let enough = report.compared >= self.options.samples;
            if enough && report.graphs >= self.options.attempts / 2 {
                break;
            }
        }
        self.judge(pattern, &taken_by, &mut report);
        Ok(report)
    }

    fn attempt(&self, pattern: &Pattern, sampler: &mut Sampler) -> Result<Option<Fate<'_>>> {
        let made = graph::generate(self.session, pattern, self.table, sampler);
        // Refused choices left diagnostics, which are nobody's fault.
        let _ = self.session.failure("");
        let Some(module) = made else { return Ok(None) };
        let Some(main) = func::main(ir::root(&module)) else { return Ok(None) };
        let view = outline::view(main, self.table)?;
        let block = edit::entry_block(main);
        let last = block.and_then(|block| ir::ops(block).iter().rev().nth(1).copied());
        let root = last.and_then(|last| view.ops.iter().position(|op| edit::same(*op, last)));
        let Some(root) = root else { return Ok(None) };
        let capabilities = &self.device.kind.capabilities;
        let facts = Facts { graph: &view.graph, table: self.table, options: &self.device.options };
        let rules = MatchRules {
            dtypes: capabilities.dtypes.clone(),
            taps: false,
            multi_output: capabilities.multi_output,
            static_only: capabilities.static_only,
        };
        let root = crate::partition::graph::OpId(root as u32);
        Ok(Some(match find_match(pattern, facts, &rules, root, &|_| true) {
            Ok(_) => Fate::Match(module),
            Err(Some(failure)) => match failure.reason {
                Reason::Clause { clause, values } => {
                    let values: Vec<_> =
                        values.iter().map(|(path, value)| format!("{path} = {value}")).collect();
                    Fate::Refused(format!("`{clause}`"), values.join(", "), module)
                }
                Reason::Structure { .. } => Fate::Other,
                other => Fate::Refused(other.to_string(), String::new(), module),
            },
            Err(None) => Fate::Other,
        }))
    }

    /// Runs a graph on target and host; gives the pattern that took it.
    fn compare(&self, text: &str, pattern: &Pattern, report: &mut PatternReport) -> Option<String> {
        match self.both(text) {
            Ok((taken, got, want)) => {
                for (got, want) in got.iter().zip(&want) {
                    if let Err(problem) = self.judge_numbers(got, want, pattern, report) {
                        report.notes.push(Note::error(format!("{problem}, on\n{}", excerpt(text))));
                    }
                }
                taken
            }
            Err(error) => {
                report.notes.push(Note::error(format!(
                    "a graph for '{}' does not compile or run: {error}, on\n{}",
                    pattern.name(),
                    excerpt(text)
                )));
                None
            }
        }
    }

    /// Whether two results are near enough.
    fn judge_numbers(
        &self,
        got: &Tensor,
        want: &Tensor,
        pattern: &Pattern,
        report: &mut PatternReport,
    ) -> std::result::Result<(), String> {
        let is_float = got.dtype().is_float();
        let steps = pattern.spec.steps.map_or(self.options.steps, f64::from);
        let atol = if is_float { self.options.atol } else { steps };
        let comparison = compare(got, want, self.options.rtol, atol).map_err(|e| e.to_string())?;
        report.worst = report.worst.max(comparison.max_abs);
        if !comparison.passed() {
            return Err(format!("target and host differ: {comparison}"));
        }
        if is_float || got.len() < FEW || pattern.spec.steps.is_some() {
            return Ok(());
        }
        let others = got.to_i128().iter().zip(want.to_i128()).filter(|(a, b)| **a != *b).count();
        let share = others as f64 / got.len() as f64;
        report.off = report.off.max(share);
        if share > self.options.off {
            return Err(format!(
                "{others} of {} integers are not the host's, which is more than another rule for \
                 rounding halves explains",
                got.len()
            ));
        }
        Ok(())
    }

    fn both(&self, text: &str) -> Result<(Option<String>, Vec<Tensor>, Vec<Tensor>)> {
        let module = self.session.parse(text.as_bytes(), "check.mlir")?;
        let options = CompileOptions {
            targets: self.spec.to_owned(),
            target_path: self.options.target_path.clone(),
            name: "check".into(),
            ..Default::default()
        };
        let targets = options.resolve(self.session)?;
        let taken = func::main(ir::root(&module)).and_then(|main| {
            let division = outline::divide(main, &targets, None).ok()?;
            let composite = division.partition.regions.first()?.composites.last()?;
            Some(composite.name.clone())
        });
        let got = self.execute(module, &options)?;
        let module = self.session.parse(text.as_bytes(), "check.mlir")?;
        let host = CompileOptions {
            targets: self.options.host.clone(),
            name: "check".into(),
            ..Default::default()
        };
        Ok((taken, got, self.execute(module, &host)?))
    }

    fn execute(
        &self,
        module: melior::ir::Module<'_>,
        options: &CompileOptions<'_>,
    ) -> Result<Vec<Tensor>> {
        let executable = self.session.compile(module, options)?.load()?;
        let ports = executable.signature().inputs.clone();
        let inputs = ports.iter().enumerate().map(|(index, port)| {
            let seed = self.options.seed + index as u64 + ports[0].shape.len() as u64;
            numbers::input(port.dtype, &port.shape, seed)
                .ok_or_else(|| Error::invalid(format!("no data of type {}", port.dtype)))
        });
        executable.run(&inputs.collect::<Result<Vec<_>>>()?)
    }

    fn judge(&self, pattern: &Pattern, taken: &BTreeSet<String>, report: &mut PatternReport) {
        if report.graphs == 0 {
            report.notes.push(Note::warning(
                "no random graph has its form, so it is not checked; try it on a network",
            ));
        } else if report.matched == 0 {
            report.notes.push(Note::warning(format!(
                "none of {} random graphs matches, so it is not checked; its conditions may \
                 exclude each other",
                report.graphs
            )));
        }
        if !taken.is_empty() && !taken.contains(pattern.name()) {
            let names: Vec<_> = taken.iter().map(|name| format!("'{name}'")).collect();
            report.notes.push(Note::warning(format!(
                "every graph that it matches is taken by {}; give it a higher benefit, or remove \
                 it",
                names.join(" or ")
            )));
        }
        // One broken graph tells as much as six.
        let mut errors = 0;
        report.notes.retain(|note| {
            errors += usize::from(note.level == super::Level::Error);
            note.level != super::Level::Error || errors <= 2
        });
    }
}

/// Notes a refusal; true if it is the first for this reason.
fn refuse(report: &mut PatternReport, reason: String, example: String) -> bool {
    match report.refusals.iter_mut().find(|known| known.reason == reason) {
        Some(known) => {
            known.graphs += 1;
            false
        }
        None => {
            report.refusals.push(Refusal { reason, graphs: 1, example });
            true
        }
    }
}

/// What tells graphs apart: everything but the data.
fn signature(text: &str) -> String {
    text.lines()
        .take_while(|line| !line.starts_with("{-#"))
        .filter(|line| !line.starts_with('#'))
        .map(|line| line.split(" loc(").next().unwrap_or_default())
        .collect()
}

/// The graph without data and locations, for messages.
fn excerpt(text: &str) -> String {
    text.lines()
        .take_while(|line| !line.starts_with("{-#"))
        .filter(|line| line.contains("graph.") || line.contains("func.func"))
        .map(|line| {
            let line = line.split(" loc(").next().unwrap_or_default();
            line.chars().take(160).collect::<String>()
        })
        .collect::<Vec<_>>()
        .join("\n")
}
