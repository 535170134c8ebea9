//! One pattern on many graphs.

use super::{
    CheckOptions, graph,
    report::{Note, PatternReport, Refusal},
    sampler::Sampler,
};
use crate::{
    CompileOptions, Result, Session,
    ir::{self, edit, func},
    outline,
    pattern::{Facts, MatchRules, OpTable, Pattern, Reason, find_match},
    stage::{Weights, print_module},
    target::TargetInstance,
    tensor::{Tensor, compare},
};
use std::collections::BTreeSet;

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
enum Fate {
    /// The pattern matches; the graph as text.
    Match(String),
    /// It does not: the reason and the values.
    Refused(String, String),
    /// The graph has other operations than the pattern, which folding or chance brings about.
    Other,
}

impl Trial<'_> {
    /// Tries pattern `number`.
    pub fn run(&self, number: usize) -> Result<PatternReport> {
        let pattern = &self.patterns[number];
        let mut report = PatternReport { name: pattern.name().to_owned(), ..Default::default() };
        let seed = self.options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let mut sampler = Sampler::new(self.device, pattern, seed);
        let mut seen = BTreeSet::new();
        let mut taken_by = BTreeSet::new();
        for _ in 0..self.options.attempts {
            match self.attempt(pattern, &mut sampler)? {
                Some(Fate::Match(text)) => {
                    report.graphs += 1;
                    report.matched += 1;
                    if report.compared < self.options.samples && seen.insert(signature(&text)) {
                        taken_by.extend(self.compare(&text, pattern, &mut report));
                    }
                }
                Some(Fate::Refused(reason, example)) => {
                    report.graphs += 1;
                    refuse(&mut report, reason, example);
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

    fn attempt(&self, pattern: &Pattern, sampler: &mut Sampler) -> Result<Option<Fate>> {
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
        };
        let root = crate::partition::graph::OpId(root as u32);
        Ok(Some(match find_match(pattern, facts, &rules, root, &|_| true) {
            Ok(_) => Fate::Match(print_module(&module, Weights::Print)?),
            Err(Some(failure)) => match failure.reason {
                Reason::Clause { clause, values } => {
                    let values: Vec<_> =
                        values.iter().map(|(path, value)| format!("{path} = {value}")).collect();
                    Fate::Refused(format!("`{clause}`"), values.join(", "))
                }
                Reason::Structure { .. } => Fate::Other,
                other => Fate::Refused(other.to_string(), String::new()),
            },
            Err(None) => Fate::Other,
        }))
    }

    /// Runs a graph on target and host; gives the pattern that took it.
    fn compare(&self, text: &str, pattern: &Pattern, report: &mut PatternReport) -> Option<String> {
        report.compared += 1;
        match self.both(text) {
            Ok((taken, got, want)) => {
                for (got, want) in got.iter().zip(&want) {
                    match compare(got, want, self.options.rtol, self.options.atol) {
                        Ok(comparison) => {
                            report.worst = report.worst.max(comparison.max_abs);
                            if !comparison.passed() {
                                report.notes.push(Note::error(format!(
                                    "target and host differ: {comparison}, on\n{}",
                                    excerpt(text)
                                )));
                            }
                        }
                        Err(error) => report.notes.push(Note::error(error.to_string())),
                    }
                }
                taken
            }
            Err(error) => {
                report.notes.push(Note::error(format!(
                    "a match of '{}' does not compile or run: {error}, on\n{}",
                    pattern.name(),
                    excerpt(text)
                )));
                None
            }
        }
    }

    fn both(&self, text: &str) -> Result<(Option<String>, Vec<Tensor>, Vec<Tensor>)> {
        let module = self.session.parse(text.as_bytes(), "check.mlir")?;
        let options = CompileOptions {
            targets: self.spec.to_owned(),
            target_path: self.options.target_path.clone(),
            name: "check".into(),
            ..Default::default()
        };
        let targets = options.resolve()?;
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
            Ok(Tensor::random(port.dtype, &port.shape, self.options.seed + index as u64)?)
        });
        executable.run(&inputs.collect::<Result<Vec<_>>>()?)
    }

    fn judge(&self, pattern: &Pattern, taken: &BTreeSet<String>, report: &mut PatternReport) {
        if report.matched == 0 {
            report.notes.push(Note::warning(format!(
                "none of {} random graphs matches; its conditions may exclude each other",
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

fn refuse(report: &mut PatternReport, reason: String, example: String) {
    match report.refusals.iter_mut().find(|known| known.reason == reason) {
        Some(known) => known.graphs += 1,
        None => report.refusals.push(Refusal { reason, graphs: 1, example }),
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
