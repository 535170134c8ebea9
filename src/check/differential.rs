//! One pattern on many graphs.

use super::{
    CheckOptions,
    choice::Choice,
    contest::{Outcome, Records, Ring, Round, rules},
    draws::Genes,
    graph,
    judge::Judge,
    numbers,
    report::{Note, PatternReport, Refusal},
    sampler::Sampler,
    sanitizer::Sanitizer,
    search::{Measure, Nearness},
};
use crate::{
    Result, Session,
    graph::{Facts, OpId, OpTable},
    import::operators,
    ir::{
        self, edit, func,
        print::{Weights, print_module},
    },
    outline,
    pattern::{Pattern, Reason, find_match},
    targets::{Operators, TargetInstance},
    tensor::Tensor,
};
use melior::ir::Module;
use std::collections::BTreeSet;

/// Environment that all graphs are tried in.
pub struct DifferentialRun<'a> {
    pub session: &'a Session,
    pub options: &'a CheckOptions,
    /// True if target options differ from the user's; fewer graphs are tried then.
    pub is_variation: bool,
    /// The device and the host.
    pub spec: &'a str,
    pub device: &'a TargetInstance,
    pub patterns: &'a [Pattern],
    pub table: &'a OpTable,
    /// The operators of vendors in it.
    pub operators: Operators,
    pub sanitizer: &'a Sanitizer,
    /// Store for graphs that are run, with the number of the pattern.
    pub records: Option<(&'a Records, usize)>,
}

/// Outcome of the graphs with one match.
pub struct Singles {
    pub report: PatternReport,
    /// Graphs that ran.
    pub ran: Vec<String>,
    sampler: Sampler,
    /// The patterns that take such graphs where nothing is demanded.
    taken_by: BTreeSet<String>,
}

/// Outcome of matching a graph.
pub enum Fate<'c> {
    /// The pattern matches.
    Match(Module<'c>),
    /// No match: the reason and the values.
    Refused(String, String, Module<'c>),
    /// The graph has other operations than the pattern, which folding or chance brings about.
    Other,
}

impl DifferentialRun<'_> {
    /// Tries pattern `number` on graphs with one match.
    pub fn singles(&self, number: usize) -> Result<Singles> {
        let pattern = &self.patterns[number];
        let mut report = PatternReport { name: pattern.name().to_owned(), ..Default::default() };
        report.options = self.spec.split(',').next().unwrap_or_default().to_owned();
        let seed = self.options.seed.wrapping_mul(1_000_003).wrapping_add(number as u64);
        let mut sampler = Sampler::new(self.device, pattern, seed);
        let mut judge = Judge::new(self.options, pattern);
        let mut choice = Choice::default();
        let mut taken_by = BTreeSet::new();
        let mut ran = vec![];
        let misses = if self.is_variation { 0 } else { self.options.samples.div_ceil(3) };
        let mut starts: Vec<Genes> = vec![];
        let mut tried = 0;
        while tried < self.options.attempts.saturating_mul(PATIENCE) {
            if tried >= self.options.attempts && report.matched > 0 {
                break;
            }
            // Where few match, they are searched for.
            let is_rare = tried >= RARE && report.matched * RARE < tried * USUAL;
            let fate = if is_rare && tried % (SEARCH + SEARCH / 4) >= SEARCH / 4 {
                tried += SEARCH;
                self.climb(pattern, &mut sampler, (None, None), SEARCH)?.map(|(fate, _)| fate)
            } else {
                tried += 1;
                self.attempt(pattern, &mut sampler)?
            };
            match fate {
                Some(Fate::Match(module)) => {
                    report.graphs += 1;
                    report.matched += 1;
                    if starts.len() < STARTS {
                        starts.push(sampler.made().0);
                    }
                    let text = print_module(&module, Weights::Print)?;
                    choice.add(text, sampler.is_plain());
                }
                Some(Fate::Refused(reason, example, module)) => {
                    report.graphs += 1;
                    // Whoever takes such a graph instead is to get it right.
                    let is_new = refuse(&mut report, reason, example);
                    if is_new && report.near_misses < misses {
                        report.near_misses += 1;
                        let text = print_module(&module, Weights::Print)?;
                        self.compare(&text, &[], &mut judge, &mut report);
                    }
                }
                Some(Fate::Other) | None => {}
            }
            // A quarter of the effort goes to finding many graphs to choose from, and near misses;
            // more where few match.
            let is_choice = report.matched >= CHOICE * self.options.samples;
            if report.graphs >= self.options.attempts / 4 && is_choice {
                let starts = std::mem::take(&mut starts);
                self.compare_large((pattern, starts), &mut sampler, &mut judge, &mut report)?;
                let places = (&mut choice, &mut taken_by, &mut ran);
                self.compare_chosen(pattern, places, &mut judge, &mut report);
                if self.is_enough(&report) {
                    break;
                }
            }
        }
        self.compare_large((pattern, starts), &mut sampler, &mut judge, &mut report)?;
        let places = (&mut choice, &mut taken_by, &mut ran);
        self.compare_chosen(pattern, places, &mut judge, &mut report);
        report.worst = judge.worst;
        let (off, fault) = judge.off();
        report.off = off;
        report.notes.extend(fault.map(Note::error));
        report.notes.extend(judge.special.take().map(Note::warning));
        Ok(Singles { report, ran, sampler, taken_by })
    }

    /// Tries it on graphs with two matches, too; `others` has a graph of each pattern that it may go with, with the
    /// pattern's number.
    pub fn finish(
        &self,
        number: usize,
        singles: Singles,
        others: &[(usize, String)],
    ) -> Result<PatternReport> {
        let Singles { mut report, ran, mut sampler, taken_by } = singles;
        self.pairs((number, &ran), others, &mut sampler, &mut report)?;
        self.judge(&self.patterns[number], &taken_by, &mut report);
        Ok(report)
    }

    /// Runs graphs of those that wait, the first ones and as many as there are to be.
    fn compare_chosen(
        &self,
        pattern: &Pattern,
        (choice, taken_by, ran): (&mut Choice, &mut BTreeSet<String>, &mut Vec<String>),
        judge: &mut Judge<'_>,
        report: &mut PatternReport,
    ) {
        while !self.is_enough(report)
            && let Some(text) = choice.next()
        {
            if taken_by.len() < 2 {
                taken_by.extend(self.ring().taken(&text).unwrap_or_default());
            }
            if self.compare(&text, &[pattern], judge, report) {
                report.compared += 1;
                ran.push(text);
            }
        }
    }

    /// True if no more graphs of a pattern need to run.
    pub fn is_enough(&self, report: &PatternReport) -> bool {
        report.compared >= self.options.samples || report.errors() >= FAULTS || report.left >= LEFT
    }

    /// A graph of new choices.
    pub fn attempt(&self, pattern: &Pattern, sampler: &mut Sampler) -> Result<Option<Fate<'_>>> {
        sampler.next_graph();
        Ok(self.probe(pattern, sampler, None)?.map(|(fate, _)| fate))
    }

    /// The graph that a sampler has begun, and how near it comes.
    pub fn probe(
        &self,
        pattern: &Pattern,
        sampler: &mut Sampler,
        measure: Option<&Measure<'_>>,
    ) -> Result<Option<(Fate<'_>, Nearness)>> {
        let made = {
            let operations = (self.table, &self.device.kind.operators[..]);
            graph::generate(self.session, pattern, operations, sampler)
        };
        // Refused choices left diagnostics, which are nobody's fault.
        let _ = self.session.failure("");
        let Some(mut module) = made else { return Ok(None) };
        // What the reference of an operator does not compute is nobody's network either.
        if operators::complete(self.session, &mut module, &self.operators).is_err() {
            self.session.clear_diagnostics();
            return Ok(None);
        }
        let Some(main) = func::main(ir::root(&module)) else { return Ok(None) };
        let view = outline::view(main, self.table)?;
        let facts = Facts { graph: &view.graph, table: self.table, options: &self.device.options };
        let rules = rules(self.device);
        let mut found = None;
        for last in graph::last(main) {
            let root = view.ops.iter().position(|op| edit::same(*op, last));
            let Some(root) = root.map(|root| OpId(root as u32)) else { continue };
            let here = find_match(pattern, facts, &rules, root, &|_| true);
            let (_, here) = found.insert((root, here));
            if here.is_ok() {
                break;
            }
        }
        let Some((root, found)) = found else { return Ok(None) };
        let nearness = measure
            .map(|measure| measure.of(pattern, facts, (&rules, root), found.is_ok()))
            .unwrap_or_default();
        let fate = match found {
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
        };
        Ok(Some((fate, nearness)))
    }

    /// Runs a graph on target and host; gives whether the device had it.
    pub fn compare(
        &self,
        text: &str,
        patterns: &[&Pattern],
        judge: &mut Judge<'_>,
        report: &mut PatternReport,
    ) -> bool {
        let ring = self.ring();
        report.tried += 1;
        let (name, number) = (report.name.as_str(), report.tried);
        let is_match = !patterns.is_empty();
        let span = tracing::info_span!(target: "phaseline::check", "graph", pattern = name, number, is_match);
        let _span = span.entered();
        let mut note = |fault: String| {
            report.notes.push(Note::error(format!("{fault}, on\n{}", excerpt(text))));
        };
        match ring.run(text, patterns, report.tried) {
            Ok(Outcome::Done(rounds)) => {
                let (fault, special) = verdict(judge, &rounds);
                let place = |fault: String| format!("{fault}, on\n{}", excerpt(text));
                fault.into_iter().for_each(&mut note);
                if let Some(special) = special.map(place) {
                    judge.special.get_or_insert(special);
                }
                return true;
            }
            Ok(Outcome::NotRun(reason)) => {
                let reason = reason.lines().next().unwrap_or_default().to_owned();
                report.left += 1;
                if !report.reasons.contains(&reason) {
                    report.reasons.push(reason);
                }
            }
            Err(error) => {
                report.ran_badly = true;
                note(format!(
                    "a graph for '{}' does not compile or run: {error}",
                    judge.pattern_name()
                ));
            }
        }
        self.session.clear_diagnostics();
        false
    }

    pub fn ring(&self) -> Ring<'_> {
        Ring {
            session: self.session,
            options: self.options,
            spec: self.spec,
            device: self.device,
            table: self.table,
            sanitizer: self.sanitizer,
            records: self.records,
            also: None,
        }
    }

    fn judge(&self, pattern: &Pattern, taken: &BTreeSet<String>, report: &mut PatternReport) {
        if report.graphs == 0 {
            report.notes.push(Note::error(
                "no random graph has its form, so nothing of it has run; is there an operation \
                 with these operands?",
            ));
        } else if report.matched == 0 {
            let most = report.refusals.iter().max_by_key(|refusal| refusal.graphs);
            let most = most.map_or(String::new(), |refusal| {
                let reason: Vec<_> = refusal.reason.split_whitespace().collect();
                format!("; most often {} is in the way", reason.join(" "))
            });
            report.notes.push(Note::error(format!(
                "none of {} random graphs matches, so nothing of it has run{most}; its conditions \
                 may exclude each other",
                report.graphs
            )));
        } else if report.compared == 0 && report.errors() == 0 {
            let reason = report.reasons.first().cloned().unwrap_or_default();
            report.notes.push(Note::error(format!(
                "{} of {} random graphs match, but none of them has run on the device: {reason}",
                report.matched, report.graphs
            )));
        }
        if !taken.is_empty() && !taken.contains(pattern.name()) && pattern.spec.compute {
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
            note.level != super::Level::Error || errors <= FAULTS
        });
    }
}

/// Factor on the usual number of graphs for a pattern without any match so far: some match one in
/// hundreds.
const PATIENCE: usize = 4;

/// Graphs after which a pattern that [`USUAL`] in so many match, or fewer, is searched for; and steps of a search.
const RARE: usize = 150;
const USUAL: usize = 4;
const SEARCH: usize = 240;

/// Graphs that match from which large ones are searched for.
const STARTS: usize = 12;

/// Ratio of matching graphs to graphs that run, from which a selection is made.
const CHOICE: usize = 5;

/// Faults of a pattern after which no more graphs are run.
const FAULTS: usize = 2;

/// Graphs that match and cannot run after which no more are tried.
const LEFT: usize = 60;

/// Faults in the results of a graph, and a note on NaN and infinity, of which nothing is promised.
pub fn verdict(judge: &mut Judge<'_>, rounds: &[Round]) -> (Option<String>, Option<String>) {
    let mut special = None;
    for round in rounds {
        // Where exponentials leave their range, nothing is said of how.
        let is_finite = |tensor: &Tensor| {
            !tensor.dtype().is_float() || tensor.to_f64().iter().all(|value| value.is_finite())
        };
        if numbers::SHIFTED.contains(&round.inputs) && !round.want.iter().all(is_finite) {
            continue;
        }
        let mut results = round.got.iter().zip(&round.want).zip(&round.sway);
        let fault = results.find_map(|((got, want), sway)| judge.compare(got, want, *sway).err());
        let Some(fault) = fault.map(|fault| format!("{fault}{}", round.inputs)) else { continue };
        if round.inputs != numbers::SPECIAL || judge.promises_special() {
            return (Some(fault), special);
        }
        special.get_or_insert(fault);
    }
    (None, special)
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

/// The graph without data and locations, for messages.
pub fn excerpt(text: &str) -> String {
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
