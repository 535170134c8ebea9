//! Findings of a check.

use serde::Serialize;
use std::fmt;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// The target does not work.
    Error,
    /// The target works, but something is not as it looks.
    Warning,
}

/// A finding.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Note {
    /// Severity.
    pub level: Level,
    /// The place, the matter and the remedy.
    pub text: String,
}

impl Note {
    pub(super) fn error(text: impl Into<String>) -> Self {
        Self { level: Level::Error, text: text.into() }
    }

    pub(super) fn warning(text: impl Into<String>) -> Self {
        Self { level: Level::Warning, text: text.into() }
    }
}

/// Graphs that a pattern refused for one reason.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Refusal {
    /// The condition, or what else stood in the way.
    pub reason: String,
    /// Number of graphs.
    pub graphs: usize,
    /// The values of one of them.
    pub example: String,
}

/// Start of the harness's message that a device does not open (`harness.c`).
const UNOPENED: &str = "the device cannot be opened: ";

/// Findings about a pattern.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PatternReport {
    /// Its name.
    pub name: String,
    /// The target with the options that it was tried with.
    pub options: String,
    /// Graphs that were made.
    pub graphs: usize,
    /// Graphs that matched.
    pub matched: usize,
    /// Matching graphs that were run on target and host.
    pub compared: usize,
    /// Near misses that were run on both, as a whole compile places them.
    pub near_misses: usize,
    /// Graphs with two matches that were run on both.
    pub pairs: usize,
    /// Values of options that it was tried with too.
    pub others: Vec<String>,
    /// Number of matches in each graph that had many, reading each other's results.
    pub webs: Vec<usize>,
    /// Graphs that it matches and that could not run on the device.
    pub left: usize,
    /// Reasons why those could not run.
    pub reasons: Vec<String>,
    /// Large sizes that graphs had.
    pub reached: Vec<String>,
    /// Large sizes that no graph was found with.
    pub missed: Vec<String>,
    /// Graphs given to the device in one way or another.
    #[serde(skip)]
    pub(super) tried: u64,
    /// True if one of them did not compile or run.
    #[serde(skip)]
    pub(super) ran_badly: bool,
    /// Largest absolute difference between target and host.
    pub worst: f64,
    /// Largest part of a result's integers that are not the host's.
    pub off: f64,
    /// Near misses.
    pub refusals: Vec<Refusal>,
    /// Findings.
    pub notes: Vec<Note>,
}

impl PatternReport {
    /// Number of findings that are errors.
    pub fn errors(&self) -> usize {
        self.notes.iter().filter(|note| note.level == Level::Error).count()
    }

    /// Message of a device that does not open, if that is why graphs did not run.
    pub(super) fn unopened(&self) -> Option<String> {
        let start = |note: &Note| note.text.find(UNOPENED);
        let (note, at) = self.notes.iter().find_map(|note| Some((note, start(note)?)))?;
        let text = note.text.get(at..).unwrap_or_default();
        Some(text.split(", before it runs").next().unwrap_or(text).to_owned())
    }

    /// Adds what other options showed. That they rule the pattern out is no fault.
    pub(super) fn add_run(&mut self, other: Option<Self>) {
        let Some(other) = other.filter(|other| other.compared > 0 || other.ran_badly) else {
            return;
        };
        self.compared += other.compared;
        self.near_misses += other.near_misses;
        self.pairs += other.pairs;
        self.webs.extend(other.webs);
        self.others.push(other.options.clone());
        self.worst = self.worst.max(other.worst);
        let errors = other.notes.into_iter().filter(|note| note.level == Level::Error);
        let with = |note: Note| Note::error(format!("with {}: {}", other.options, note.text));
        self.notes.extend(errors.map(with));
    }
}

/// Findings about a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Id of the target.
    pub target: String,
    /// True if the device's C ran with sanitizers, which find accesses out of bounds at once.
    pub sanitized: bool,
    /// Findings about the whole.
    pub notes: Vec<Note>,
    /// Findings for each pattern.
    pub patterns: Vec<PatternReport>,
}

impl Report {
    /// All findings.
    pub fn all_notes(&self) -> impl Iterator<Item = &Note> {
        self.notes.iter().chain(self.patterns.iter().flat_map(|pattern| &pattern.notes))
    }

    /// True if there is an error among the findings.
    pub fn failed(&self) -> bool {
        self.all_notes().any(|note| note.level == Level::Error)
    }
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let level = match self.level {
            Level::Error => "error",
            Level::Warning => "warning",
        };
        write!(f, "{level}: {}", self.text.replace('\n', "\n    "))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for note in &self.notes {
            writeln!(f, "{note}")?;
        }
        for pattern in &self.patterns {
            writeln!(
                f,
                "{}: {} of {} graphs match, {} and {} near misses run on {} and host, largest \
                 difference {:.1e}",
                pattern.name,
                pattern.matched,
                pattern.graphs,
                pattern.compared,
                pattern.near_misses,
                pattern.options,
                pattern.worst
            )?;
            let listed = |list: &[String]| list.join(", ");
            if !pattern.reached.is_empty() {
                writeln!(f, "  large: {}", listed(&pattern.reached))?;
            }
            if !pattern.missed.is_empty() {
                writeln!(f, "  no graph found that is large in: {}", listed(&pattern.missed))?;
            }
            if !pattern.webs.is_empty() {
                let matches: Vec<String> = pattern.webs.iter().map(usize::to_string).collect();
                writeln!(f, "  forks and meets: graphs of {} matches", matches.join(", "))?;
            }
            if !pattern.others.is_empty() {
                writeln!(f, "  other options: {}", listed(&pattern.others))?;
            }
            if pattern.off > 0.0 {
                writeln!(f, "  up to {:.1}% of its integers differ", 100.0 * pattern.off)?;
            }
            if pattern.left > 0 {
                writeln!(f, "  could not run {}: {}", pattern.left, pattern.reasons.join("; or "))?;
            }
            for refusal in &pattern.refusals {
                writeln!(f, "  refused {:>4}: {}", refusal.graphs, refusal.reason)?;
                if !refusal.example.is_empty() {
                    writeln!(f, "                as in {}", refusal.example)?;
                }
            }
            for note in &pattern.notes {
                writeln!(f, "  {note}")?;
            }
        }
        if !self.sanitized {
            writeln!(
                f,
                "the C compiler has no sanitizers: accesses out of bounds are only seen where they \
                 change a guard or a result"
            )?;
        }
        let errors = self.all_notes().filter(|note| note.level == Level::Error).count();
        let warnings = self.all_notes().count() - errors;
        writeln!(f, "{}: {errors} errors, {warnings} warnings", self.target)
    }
}
