//! Outcome of planted defects.

use super::defect::Slip;
use serde::Serialize;
use std::fmt;

/// Fate of a defect.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "fate", rename_all = "kebab-case")]
pub enum Fate {
    /// The check finds it.
    Found {
        /// The pattern whose graph shows it.
        pattern: String,
        /// Finding of the check.
        reason: String,
        /// The graph.
        graph: String,
    },
    /// The check passes, though graphs get to the place.
    Survives,
    /// No graph gets to the place.
    Unreached,
}

/// A defect that was planted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Planted {
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The function.
    pub function: String,
    /// Kind of the defect.
    pub slip: Slip,
    /// The lines of the file that it changes.
    pub old: String,
    /// Replacement of these lines.
    pub new: String,
    /// Fate of the defect.
    #[serde(flatten)]
    pub fate: Fate,
}

/// Mutation score of a target: the planted defects and what the check finds of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MutationReport {
    /// Id of the target.
    pub target: String,
    /// The defects.
    pub defects: Vec<Planted>,
    /// Defects that the C compiler refuses.
    pub refused: usize,
    /// Defects with which the compiler makes the same code.
    pub same: usize,
    /// Functions that no graph needs, in which nothing is planted.
    pub unused: Vec<String>,
}

impl MutationReport {
    /// Number of defects that were found.
    pub fn found(&self) -> usize {
        self.defects.iter().filter(|defect| matches!(defect.fate, Fate::Found { .. })).count()
    }
}

impl fmt::Display for Planted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, line, slip) = (&self.file, self.line, self.slip.text());
        match &self.fate {
            Fate::Found { pattern, reason, .. } => {
                let reason = reason.lines().next().unwrap_or_default();
                return writeln!(
                    f,
                    "found     {file}:{line}: {slip}: pattern '{pattern}': {reason}"
                );
            }
            Fate::Survives => writeln!(f, "survives  {file}:{line}: {slip}, in {}", self.function)?,
            Fate::Unreached => {
                writeln!(f, "survives  {file}:{line}: {slip}, where no graph gets to")?;
            }
        }
        let lines = |text: &str, sign: char| -> String {
            text.lines().map(|line| format!("  {sign} {}\n", line.trim_end())).collect()
        };
        write!(f, "{}{}", lines(&self.old, '-'), lines(&self.new, '+'))
    }
}

impl fmt::Display for MutationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for defect in &self.defects {
            write!(f, "{defect}")?;
        }
        if !self.unused.is_empty() {
            writeln!(f, "nothing is planted in what no graph needs: {}", self.unused.join(", "))?;
        }
        let (found, all) = (self.found(), self.defects.len());
        let rate = 100.0 * found as f64 / all.max(1) as f64;
        writeln!(
            f,
            "{}: {found} of {all} defects found ({rate:.0}%), {} survive; {} more were refused by the C \
             compiler, and {} make the same code",
            self.target,
            all - found,
            self.refused,
            self.same
        )?;
        if found < all {
            writeln!(
                f,
                "A survivor may be harmless: code that changes no result, such as counts of cycles. Else \
                 the pattern's conditions keep graphs away that would tell, or --samples are too few."
            )?;
        }
        Ok(())
    }
}
