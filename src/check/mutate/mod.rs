//! Mutation testing of the check: plants defects in the C of a device, one at a time. Counts those
//! that the graphs of [`super::check_target`] show.
//!
//! Only the device's C differs between two defects. So the graphs are made, compiled as far as the
//! C and run on the host once ([`Record`]). For each defect its file is compiled, and graphs whose
//! code leads to its function run until one of them shows it.

mod code;
mod defect;
mod guards;
mod report;
mod slips;
mod token;

use report::MutationReport;

use super::{
    CheckOptions, Ground, check_on,
    contest::{Also, Record, Records, Round},
    differential::{excerpt, verdict},
    judge::Judge,
    program,
    sanitizer::Sanitizer,
};
use crate::{
    CompileOptions, Error, Phase, Result, Session,
    artifact::files,
    codegen::c::{
        compile::{self, COptions, DeviceBuild},
        target,
    },
    ir, parallel,
    pattern::Pattern,
    tensor::SplitMix64,
};
use code::Calls;
use defect::{Defect, Slip};
use report::{Fate, Planted};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::PoisonError,
};

/// Most seconds that a graph computes with a defect: a loop without an end is one, too.
const COMPUTING: u64 = 4;

/// Defects that are planted side by side.
const AT_ONCE: usize = 64;

/// Plants up to `count` defects in the C of a target. The seed of the options chooses them.
/// `progress` is told how many are done, and what is next.
///
/// # Errors
/// There is no such target, or the check finds something without any defect.
pub fn mutate(
    options: &CheckOptions,
    count: usize,
    progress: &(dyn Fn(usize, &str) + Sync),
) -> Result<MutationReport> {
    let ground = Ground::new(options)?;
    let device = ground.device()?;
    let patterns = device.load_patterns(&ground.table)?;
    let sanitizer = Sanitizer::of(&options.cc);
    let records = Records::default();
    let say = |pattern: &str| progress(0, &format!("pattern {pattern}"));
    let report = check_on(&ground, (options, &sanitizer), Some(&records), &say)?;
    if let Some(note) = report.all_notes().find(|note| note.level == super::Level::Error) {
        return Err(Error::invalid(format!(
            "without a defect, the check of '{}' already finds: {}\nmend that first, then plant \
             defects",
            device.id, note.text
        )));
    }
    let plain = target::options(device, ground.targets.last(), "check", &options.cc)?;
    let records = interleaved(records.into_inner().unwrap_or_else(PoisonError::into_inner));
    // What is opened and copied by itself is in no graph's code; texts of faults are for people.
    let own = device.kind.functions().into_iter().filter(|(key, _)| *key != "status-string");
    let own: Vec<String> = own.map(|(_, name)| name.clone()).collect();
    let mut garden = Garden::new((options, &patterns, &sanitizer), &records, plain, &own)?;
    garden.keep_to(&|file| device.kind.is_own(file));
    let mut report = garden.report(&device.id);
    let mut defects = garden.defects(options.seed).into_iter();
    loop {
        // No more than are wanted, so that as many are tried whatever the number of threads.
        let wanted = count - report.defects.len();
        let some: Vec<Defect> = defects.by_ref().take(wanted.min(AT_ONCE)).collect();
        let Some(first) = some.first() else { break };
        progress(report.defects.len(), &format!("{}: {}", first.file, first.function));
        let outcomes = parallel::map(some.iter(), |defect| garden.plant(defect));
        for (defect, outcome) in some.iter().zip(outcomes) {
            match outcome? {
                Outcome::Refused => report.refused += 1,
                Outcome::Same => report.same += 1,
                Outcome::Planted(fate) => report.defects.push(garden.planted(defect, fate)),
            }
        }
    }
    report.defects.sort_by(|a, b| (&a.file, a.line).cmp(&(&b.file, b.line)));
    Ok(report)
}

/// The first graph of each pattern, then the second, and so on: what one pattern cannot show another
/// one may.
fn interleaved(records: Vec<Record>) -> Vec<Record> {
    let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
    let number = |record: Record| {
        let count = counts.entry(record.pattern).or_default();
        *count += 1;
        (*count, record)
    };
    let mut numbered: Vec<_> = records.into_iter().map(number).collect();
    numbered.sort_by_key(|(count, record)| (*count, record.pattern));
    numbered.into_iter().map(|(_, record)| record).collect()
}

/// Outcome of an attempt.
enum Outcome {
    /// The C compiler takes it for an error.
    Refused,
    /// Compiles to the same instructions.
    Same,
    Planted(Fate),
}

/// Environment that defects are planted in.
struct Garden<'a> {
    options: &'a CheckOptions,
    patterns: &'a [Pattern],
    records: &'a [Record],
    /// Options that the target's C is compiled with, without sanitizers.
    plain: COptions,
    sanitizer: &'a Sanitizer,
    /// The functions that the graphs lead to, graph by graph.
    reached: Vec<BTreeSet<String>>,
    calls: Calls,
    /// The files in which nothing is planted.
    left_out: BTreeSet<String>,
    /// The objects without a defect.
    objects: Vec<crate::artifact::Object>,
}

impl<'a> Garden<'a> {
    fn new(
        (options, patterns, sanitizer): (&'a CheckOptions, &'a [Pattern], &'a Sanitizer),
        records: &'a [Record],
        mut plain: COptions,
        own: &[String],
    ) -> Result<Self> {
        plain.cache = Some(compile::ObjectCache::default());
        let mut session = options.toolkit.session();
        let mut calls = Calls::default();
        for (_, text) in plain.headers.iter().chain(&plain.sources) {
            calls.add(&token::tokens(text));
        }
        let mut reached = |record: &Record| -> Result<BTreeSet<String>> {
            // What a hook made calls the driver, too: C by name, other code whatever there is.
            let module = session.parse(record.code.as_bytes(), "check.mlir")?;
            let mut named = calls.named_in(&record.code);
            for made in files::recorded_within(ir::root(&module))? {
                match std::str::from_utf8(&made.bytes) {
                    Ok(text) if made.kind.is_text_of_c() => named.extend(calls.named_in(text)),
                    _ if made.kind.is_code() => {
                        named.extend(calls.names().map(String::as_str));
                    }
                    _ => {}
                }
            }
            drop(module);
            session.clear();
            Ok(calls.reached(named.into_iter().chain(own.iter().map(String::as_str))))
        };
        let reached = records.iter().map(&mut reached).collect::<Result<_>>()?;
        let objects = compile::sources(&plain)?;
        Ok(Self {
            options,
            patterns,
            records,
            plain,
            sanitizer,
            reached,
            calls,
            left_out: BTreeSet::new(),
            objects,
        })
    }

    /// Leaves out files that are not the target's own, which the kind that has them is checked for; unless
    /// all are.
    fn keep_to(&mut self, is_own: &dyn Fn(&str) -> bool) {
        let names = self.plain.headers.iter().chain(&self.plain.sources).map(|(name, _)| name);
        let (own, others): (Vec<_>, Vec<_>) = names.cloned().partition(|name| is_own(name));
        let has_code = |name: &String| !code::functions(&token::tokens(self.text(name))).is_empty();
        if own.iter().any(has_code) {
            self.left_out = others.into_iter().collect();
        }
    }

    fn report(&self, target: &str) -> MutationReport {
        let all: BTreeSet<&String> = self.reached.iter().flatten().collect();
        let names = self.calls.names().filter(|name| !all.contains(name));
        MutationReport {
            target: target.to_owned(),
            defects: vec![],
            refused: 0,
            same: 0,
            unused: names.cloned().collect(),
        }
    }

    fn text(&self, file: &str) -> &str {
        let mut all = self.plain.headers.iter().chain(&self.plain.sources);
        all.find(|(name, _)| name == file).map_or("", |(_, text)| text)
    }

    /// All defects, in an order that mixes kinds and places.
    fn defects(&self, seed: u64) -> Vec<Defect> {
        let wanted: BTreeSet<String> = self.reached.iter().flatten().cloned().collect();
        let mut kinds: BTreeMap<Slip, Vec<Defect>> = BTreeMap::new();
        let mut seen = BTreeSet::new();
        let files = self.plain.headers.iter().chain(&self.plain.sources);
        for (file, text) in files.filter(|(file, _)| !self.left_out.contains(file)) {
            for defect in slips::slips(file, text, &wanted) {
                // A file may be a header and a source of the manifest.
                if seen.insert((
                    file.clone(),
                    defect.place.start,
                    defect.place.end,
                    defect.new.clone(),
                )) {
                    kinds.entry(defect.slip).or_default().push(defect);
                }
            }
        }
        let mut random = SplitMix64::new(seed);
        let mut order = vec![];
        for defects in kinds.values_mut() {
            // Fisher and Yates' shuffle.
            for last in (1..defects.len()).rev() {
                defects.swap(last, (random.next_u64() % (last as u64 + 1)) as usize);
            }
            order.extend(std::mem::take(defects).into_iter().enumerate());
        }
        order.sort_by_key(|(number, defect)| (*number, defect.slip));
        order.into_iter().map(|(_, defect)| defect).collect()
    }

    fn plant(&self, defect: &Defect) -> Result<Outcome> {
        let text = defect.planted(self.text(&defect.file));
        let replaced = vec![(defect.file.clone(), text)];
        let mut plain = self.plain.clone();
        plain.replace(&replaced);
        match compile::sources(&plain) {
            Ok(objects) if objects == self.objects => return Ok(Outcome::Same),
            Ok(_) => {}
            Err(Error::Tool { .. }) => return Ok(Outcome::Refused),
            Err(error) => return Err(error),
        }
        if let Some(found) = self.shown(&defect.function, replaced) {
            return Ok(Outcome::Planted(found));
        }
        let text = self.text(&defect.file);
        let (before, after) = text.split_at_checked(defect.block).unwrap_or((text, ""));
        let trap = format!("{before} __builtin_trap();{after}");
        let is_reached = self.shown(&defect.function, vec![(defect.file.clone(), trap)]).is_some();
        Ok(Outcome::Planted(if is_reached { Fate::Survives } else { Fate::Unreached }))
    }

    /// The first pattern that shows that the device's C is not what it was, and how.
    fn shown(&self, function: &str, replaced: Vec<(String, String)>) -> Option<Fate> {
        let build = DeviceBuild { replaced, ..self.sanitizer.build().clone() };
        let mut session = self.options.toolkit.session();
        let mut judges: BTreeMap<(usize, Option<Also>), Judge<'_>> = BTreeMap::new();
        let records = self.records.iter().zip(&self.reached);
        for (record, _) in records.filter(|(_, reached)| reached.contains(function)) {
            let Some(pattern) = self.patterns.get(record.pattern) else { continue };
            let second =
                record.also.and_then(|also| Some((self.patterns.get(also.pattern)?, also)));
            let judge = || match second {
                Some((second, also)) => {
                    Judge::of_both(self.options, (pattern, second), also.is_chain)
                }
                None => Judge::new(self.options, pattern),
            };
            let judge = judges.entry((record.pattern, record.also)).or_insert_with(judge);
            let fault = match self.again(&session, record, &build) {
                Ok(rounds) => verdict(judge, &rounds).0,
                Err(error) => Some(error.to_string()),
            };
            session.clear();
            if let Some(reason) = fault {
                let (pattern, graph) = (pattern.name().to_owned(), excerpt(&record.text));
                return Some(Fate::Found { pattern, reason, graph });
            }
        }
        let of = |((number, _), judge): (&(usize, Option<Also>), &Judge<'_>)| {
            let pattern = self.patterns.get(*number)?.name().to_owned();
            Some(Fate::Found { pattern, reason: judge.off().1?, graph: String::new() })
        };
        judges.iter().find_map(of)
    }

    /// Runs a graph on the device as it is built now.
    fn again(&self, session: &Session, record: &Record, build: &DeviceBuild) -> Result<Vec<Round>> {
        let module = session.parse(record.code.as_bytes(), "check.mlir")?;
        let options = CompileOptions {
            targets: record.spec.clone(),
            target_path: self.options.target_path.clone(),
            name: "check".into(),
            after: Phase::Codegen,
            cc: self.options.cc.clone(),
            devices: Some(build),
            ..self.options.toolkit.options()
        };
        let compiled = session.compile(module, &options)?;
        let sets: Vec<_> = record.rounds.iter().map(|round| round.set.clone()).collect();
        let got = program::run(&compiled, &record.gaps, &sets, self.sanitizer, COMPUTING)?;
        let rounds = record.rounds.iter().zip(got);
        Ok(rounds.map(|(round, got)| Round { got, ..round.clone() }).collect())
    }

    fn planted(&self, defect: &Defect, fate: Fate) -> Planted {
        let text = self.text(&defect.file);
        let line = defect.line(text);
        let lines = defect.place.clone();
        let touched = text.get(lines).unwrap_or_default().matches('\n').count() + 1;
        let of = |text: &str, count: usize| -> String {
            let lines: Vec<&str> = text.lines().skip(line - 1).take(count).collect();
            lines.join("\n")
        };
        let after = defect.new.matches('\n').count() + 1;
        Planted {
            file: defect.file.clone(),
            line,
            function: defect.function.clone(),
            slip: defect.slip,
            old: of(text, touched),
            new: of(&defect.planted(text), after),
            fate,
        }
    }
}
