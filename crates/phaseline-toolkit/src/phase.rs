//! Named phases of a compile, and the pipeline text that runs in each.
//!
//! A compile is one text: sections that start with `// phase: NAME`, each an MLIR pipeline on `builtin.module`. A compiler
//! says which phases there are: by a type of its own, or by [`Phases`], a list of names.

use crate::{
    Error, Result, Session, Verified,
    ir::{
        blob,
        print::{Weights, print_module},
    },
    pass::PassObserver,
};
use melior::ir::Module;
use std::{fmt, path::Path, sync::Arc};

/// The line that opens a section.
const MARK: &str = "// phase:";

/// A phase of a compiler: phases are ordered, and print as their names.
pub trait PhaseName: Clone + Ord + fmt::Display {}

impl<P: Clone + Ord + fmt::Display> PhaseName for P {}

/// The pipelines of the phases of a compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sections<P> {
    sections: Vec<(P, String)>,
}

impl<P: PhaseName> Sections<P> {
    /// Reads pipeline text; `name` stands for the file in errors, and `find` gives the phase of a name. Sections may be
    /// left out.
    ///
    /// # Errors
    /// A line is outside of a section; a phase is unknown or out of order; a pipeline is not one of `builtin.module`.
    pub fn parse(text: &str, name: &str, find: impl Fn(&str) -> Result<P>) -> Result<Self> {
        let mut sections: Vec<(P, String)> = vec![];
        for (number, line) in text.lines().enumerate() {
            let at = |reason: String| Error::invalid(format!("{name}:{}: {reason}", number + 1));
            if let Some(title) = line.trim().strip_prefix(MARK) {
                let phase = find(title.trim()).map_err(|error| at(error.to_string()))?;
                if sections.last().is_some_and(|(last, _)| *last >= phase) {
                    return Err(at(format!("phase {phase} is out of order")));
                }
                sections.push((phase, String::new()));
                continue;
            }
            let code = without_comment(line).trim();
            if code.is_empty() {
                continue;
            }
            let Some((_, section)) = sections.last_mut() else {
                return Err(at(format!("expected a line '{MARK} NAME' first")));
            };
            section.push_str(code);
        }
        for (phase, section) in &sections {
            if !section.starts_with("builtin.module(") {
                return Err(Error::invalid(format!(
                    "{name}: the pipeline of phase {phase} is to start with builtin.module("
                )));
            }
        }
        Ok(Self { sections })
    }

    /// The MLIR pipeline of a phase.
    pub fn section(&self, phase: &P) -> Option<&str> {
        self.sections.iter().find(|(p, _)| p == phase).map(|(_, text)| text.as_str())
    }

    /// The phases that have a pipeline, each with its text, which may be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (&P, &mut String)> {
        self.sections.iter_mut().map(|(phase, text)| (&*phase, text))
    }

    /// Gives a phase a pipeline, in place of the one that it had.
    pub fn insert(&mut self, phase: P, pipeline: String) {
        self.sections.retain(|(known, _)| *known != phase);
        self.sections.push((phase, pipeline));
        self.sections.sort_by(|(a, _), (b, _)| a.cmp(b));
    }

    /// Adds passes at the end of a phase.
    pub fn append(&mut self, phase: P, passes: &str) {
        let passes = passes.trim();
        match self.sections.iter_mut().find(|(p, _)| *p == phase) {
            Some((_, text)) => {
                text.truncate(text.len().saturating_sub(1));
                let separator = if text.ends_with('(') { "" } else { "," };
                text.push_str(&format!("{separator}{passes})"));
            }
            None => {
                self.sections.push((phase, format!("builtin.module({passes})")));
                self.sections.sort_by(|(a, _), (b, _)| a.cmp(b));
            }
        }
    }
}

impl<P: PhaseName> fmt::Display for Sections<P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (phase, text) in &self.sections {
            writeln!(f, "{MARK} {phase}\n{}", break_lines(text))?;
        }
        Ok(())
    }
}

/// A line up to its comment. `//` inside of a word is part of a path.
fn without_comment(line: &str) -> &str {
    let starts = |at: usize| line[..at].ends_with(char::is_whitespace) || at == 0;
    let comment = line.match_indices("//").map(|(at, _)| at).find(|at| starts(*at));
    &line[..comment.unwrap_or(line.len())]
}

/// One pass a line at the outermost level, so that the text can be read and edited.
fn break_lines(text: &str) -> String {
    if text == "builtin.module()" {
        return text.to_owned();
    }
    let mut out = String::new();
    let mut depth = 0_usize;
    for c in text.chars() {
        match c {
            '(' | '{' => depth += 1,
            ')' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c == ')' && depth == 0 {
            out.push('\n');
        }
        out.push(c);
        if depth == 1 && matches!(c, '(' | ',') {
            out.push_str("\n  ");
        }
    }
    out
}

/// A run of phases on a module.
pub struct PhaseRun<'a, P> {
    /// The text to run.
    pub sections: &'a Sections<P>,
    /// The phases to run, in order.
    pub phases: &'a [P],
    /// The files with the IR after each phase; the phase that the module has been through, and all phases, by which
    /// files are numbered.
    pub dump: Option<Dump<'a, P>>,
    /// The file for a reproducer when a pass fails.
    pub reproducer: Option<&'a Path>,
    /// Called before each phase.
    pub observer: Option<&'a dyn Fn(&P)>,
    /// Called before and after each pass.
    pub pass_observer: Option<&'a PassObserver<'a>>,
    /// Points at which the IR of a phase is verified.
    pub verified: &'a dyn Fn(&P) -> Verified,
    /// True where constants that nothing names any more are freed after a phase.
    pub frees: &'a dyn Fn(&P) -> bool,
}

/// Files with the IR after each phase, `NN-PHASE.mlir`.
pub struct Dump<'a, P> {
    /// The folder, which is made.
    pub folder: &'a Path,
    /// The treatment of large weights.
    pub weights: Weights,
    /// All phases, by which files are numbered.
    pub all: &'a [P],
    /// The phase that the module has been through.
    pub after: Option<&'a P>,
}

impl<P: PhaseName> PhaseRun<'_, P> {
    /// Runs the phases. The module is valid IR after each.
    ///
    /// # Errors
    /// A pass fails, or a file cannot be written; the message names the phase.
    pub fn run(&self, session: &Session, module: &mut Module<'_>) -> Result<()> {
        let before = blob::mark(module);
        if let Some(dump) = &self.dump {
            let folder = dump.folder;
            std::fs::create_dir_all(folder).map_err(|e| Error::io("cannot create", folder, e))?;
            if let Some(after) = dump.after {
                dump.write(module, after)?;
            }
        }
        for phase in self.phases {
            if let Some(observer) = self.observer {
                observer(phase);
            }
            let _span = tracing::info_span!(target: "phaseline::phase", "phase", %phase).entered();
            if let Some(text) = self.sections.section(phase) {
                let watching = (self.reproducer, self.pass_observer);
                session
                    .run_verified(module, text, watching, (self.verified)(phase))
                    .map_err(|error| in_phase(phase, error))?;
            }
            if let Some(dump) = &self.dump {
                dump.write(module, phase)?;
            }
            if (self.frees)(phase) {
                // Folded, packed or moved elsewhere since.
                blob::free_unused(module, before);
                crate::io::release_pages();
            }
        }
        Ok(())
    }
}

impl<P: PhaseName> Dump<'_, P> {
    fn write(&self, module: &Module<'_>, phase: &P) -> Result<()> {
        let number = self.all.iter().position(|p| p == phase).unwrap_or_default();
        let text = print_module(module, self.weights)?;
        crate::io::write_bytes(&self.folder.join(format!("{number:02}-{phase}.mlir")), text)?;
        Ok(())
    }
}

/// Says in which phase something went wrong; diagnostics keep their own places.
fn in_phase(phase: &impl fmt::Display, error: Error) -> Error {
    match error {
        Error::Invalid(text) => Error::Invalid(format!("phase {phase}: {text}")),
        Error::Diagnostics(text) => Error::Diagnostics(format!("{text}\nin phase {phase}")),
        other => other,
    }
}

/// A phase of a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListedPhase {
    place: usize,
    name: Arc<str>,
}

impl fmt::Display for ListedPhase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.name)
    }
}

/// The phases of a compiler, as a list, each with the pipeline that runs in it.
///
/// ```
/// # fn main() -> phaseline_toolkit::Result<()> {
/// let phases = phaseline_toolkit::Phases::new()
///     .then("shape", "builtin.module(canonicalize)")?
///     .then("lower", "builtin.module(cse)")?
///     .insert_after("shape", "mine", "builtin.module(symbol-dce)")?;
/// assert_eq!(phases.names().collect::<Vec<_>>(), ["shape", "mine", "lower"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Phases {
    rows: Vec<Row>,
}

#[derive(Clone, Debug)]
struct Row {
    name: String,
    pipeline: String,
}

impl Phases {
    /// An empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a phase at the end, with an MLIR pipeline on `builtin.module`.
    ///
    /// # Errors
    /// The name is taken, or no word of letters, digits and dashes.
    pub fn then(self, name: &str, pipeline: &str) -> Result<Self> {
        let end = self.rows.len();
        self.insert(end, name, pipeline)
    }

    /// Adds a phase behind another one.
    ///
    /// # Errors
    /// As for [`Phases::then`]; there is no phase `after`.
    pub fn insert_after(self, after: &str, name: &str, pipeline: &str) -> Result<Self> {
        let place = self.place(after)?;
        self.insert(place + 1, name, pipeline)
    }

    fn insert(mut self, place: usize, name: &str, pipeline: &str) -> Result<Self> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_word) {
            return Err(Error::invalid(format!(
                "'{name}' is no name of a phase: use letters, digits and dashes"
            )));
        }
        if self.names().any(|known| known == name) {
            return Err(Error::invalid(format!("there is a phase '{name}' already")));
        }
        self.rows.insert(place, Row { name: name.to_owned(), pipeline: pipeline.to_owned() });
        Ok(self)
    }

    /// The names, in order.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().map(|row| row.name.as_str())
    }

    fn place(&self, name: &str) -> Result<usize> {
        self.names().position(|known| known == name).ok_or_else(|| {
            let names: Vec<_> = self.names().collect();
            Error::invalid(format!("'{name}' is not a phase; the phases are {}", names.join(", ")))
        })
    }

    /// The phase of a name.
    ///
    /// # Errors
    /// There is none; the message lists those that there are.
    #[doc(hidden)]
    pub fn find(&self, name: &str) -> Result<ListedPhase> {
        Ok(ListedPhase { place: self.place(name)?, name: name.into() })
    }

    /// All phases in order.
    #[doc(hidden)]
    pub fn all(&self) -> Vec<ListedPhase> {
        let listed = |(place, name): (usize, &str)| ListedPhase { place, name: name.into() };
        self.names().enumerate().map(listed).collect()
    }

    /// The text of the compile: a section for each phase.
    ///
    /// # Errors
    /// A pipeline is not one of `builtin.module`.
    #[doc(hidden)]
    pub fn sections(&self) -> Result<Sections<ListedPhase>> {
        let text: String = self
            .rows
            .iter()
            .map(|row| format!("{MARK} {}\n{}\n", row.name, row.pipeline))
            .collect();
        Sections::parse(&text, "the phases", |name| self.find(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn phases() -> Phases {
        let phases = Phases::new().then("a", "builtin.module(cse)").expect("is new");
        phases.then("b", "builtin.module(canonicalize,cse)").expect("is new")
    }

    #[test]
    fn text_round_trips() {
        let phases = phases();
        let printed = phases.sections().expect("is right").to_string();
        let again = Sections::parse(&printed, "printed", |name| phases.find(name)).expect("parses");
        assert_eq!(again, phases.sections().expect("is right"));
        assert!(printed.contains("// phase: b\nbuiltin.module(\n  canonicalize,\n  cse\n)"));
    }

    #[test]
    fn a_list_says_what_is_wrong_with_it() {
        let error = |phases: Result<Phases>| phases.expect_err("is wrong").to_string();
        assert!(error(phases().then("a", "builtin.module()")).contains("phase 'a' already"));
        assert!(error(phases().then("a b", "builtin.module()")).contains("no name of a phase"));
        let unknown = phases().insert_after("z", "c", "builtin.module()");
        assert!(error(unknown).contains("'z' is not a phase; the phases are a, b"));
        let wrong = phases().then("c", "func.func(cse)").expect("is new").sections();
        assert!(wrong.expect_err("is wrong").to_string().contains("phase c is to start with"));
    }

    #[test]
    fn passes_are_appended_and_phases_inserted() {
        let phases = phases().insert_after("a", "mine", "builtin.module()").expect("is new");
        let mut sections = phases.sections().expect("is right");
        let mine = phases.find("mine").expect("is there");
        sections.append(mine.clone(), "cse");
        sections.append(mine.clone(), "canonicalize");
        assert_eq!(sections.section(&mine), Some("builtin.module(cse,canonicalize)"));
    }
}
