//! The phases of a compile: the framework's, and those of an embedder between them.

use super::{Phase, Pipeline, Sections};
use crate::{Error, Result};
use std::{
    collections::BTreeSet,
    sync::{Mutex, PoisonError},
};

/// The phases of a compile: those of the framework, and own ones between them.
///
/// An own phase has pipeline text, files of `dump_phases`, and a place to stop at and to go on from, as others have.
/// `@targets` in its pipeline stands for what target kinds have there
/// ([`TargetKind::with_pipeline`](crate::targets::TargetKind::with_pipeline)), each on the functions of its target.
///
/// ```
/// # fn main() -> phaseline::Result<()> {
/// use phaseline::{CompileOptions, phase::Phases};
/// let phases = Phases::builtin()
///     .insert_after("lower", "mine", "builtin.module(canonicalize,@targets)")?
///     .insert_after("mine", "second", "builtin.module(cse)")?;
/// let mine = phases.find("mine")?;
/// assert!(mine > phaseline::Phase::Lower && mine < phaseline::Phase::TirSchedule);
/// let options = CompileOptions { phases, ..CompileOptions::default() };
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phases {
    all: Vec<Phase>,
    /// The pipelines of own phases.
    own: Vec<(Phase, String)>,
}

impl Default for Phases {
    fn default() -> Self {
        Self::builtin()
    }
}

impl Phases {
    /// The phases of the framework.
    pub fn builtin() -> Self {
        Self { all: Phase::ALL.to_vec(), own: vec![] }
    }

    /// Adds a phase behind another one, with an MLIR pipeline on `builtin.module`.
    ///
    /// # Errors
    /// There is no phase `after`, or it is the last one. The name is taken, or no word of letters,
    /// digits and dashes. The pipeline is not one of `builtin.module`.
    pub fn insert_after(mut self, after: &str, name: &str, pipeline: &str) -> Result<Self> {
        let before = self.find(after)?;
        if before.origin() == Phase::Codegen {
            return Err(Error::invalid(format!(
                "phase '{name}' cannot be behind codegen, whose results are written as they are"
            )));
        }
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
        if name.is_empty() || !name.chars().all(is_word) {
            return Err(Error::invalid(format!(
                "'{name}' is no name of a phase: use letters, digits and dashes"
            )));
        }
        if self.find(name).is_ok() {
            return Err(Error::invalid(format!("there is a phase '{name}' already")));
        }
        let name = kept(name);
        let place = before.own(u16::MAX, name);
        let read = |text: &str| Sections::parse(text, "a phase of one's own", |_| Ok(place));
        let text = format!("// phase: {name}\n{pipeline}\n");
        // As it is read again when it was printed.
        let text = read(&read(&text)?.to_string())?;
        let text = text.section(&place).unwrap_or_default();
        // All behind one of the framework's count anew, in their order.
        let mut names: Vec<_> = self.all.iter().map(|phase| phase.name()).collect();
        let mut pipelines: Vec<_> =
            self.own.iter().map(|(phase, text)| (phase.name(), text.clone())).collect();
        let index = self.all.iter().position(|phase| *phase == before).unwrap_or_default();
        names.insert(index + 1, name);
        pipelines.push((name, text.to_owned()));
        self.all.clear();
        let (mut origin, mut count) = (Phase::Import, 0);
        for name in names {
            match name.parse::<Phase>() {
                Ok(phase) => (origin, count) = (phase, 0),
                Err(_) => count += 1,
            }
            self.all.push(if count == 0 { origin } else { origin.own(count, name) });
        }
        self.own = self
            .all
            .iter()
            .filter_map(|phase| {
                let found = pipelines.iter().find(|(name, _)| *name == phase.name());
                found.map(|(_, text)| (*phase, text.clone()))
            })
            .collect();
        Ok(self)
    }

    /// The phases, in order.
    pub fn all(&self) -> &[Phase] {
        &self.all
    }

    /// The phase of a name.
    ///
    /// # Errors
    /// There is none; the message lists those that there are.
    pub fn find(&self, name: &str) -> Result<Phase> {
        self.all.iter().copied().find(|phase| phase.name() == name).ok_or_else(|| {
            let names: Vec<_> = self.all.iter().map(|phase| phase.name()).collect();
            Error::invalid(format!("'{name}' is not a phase; the phases are {}", names.join(", ")))
        })
    }

    /// The phase of the name of another one, at its place among these.
    ///
    /// # Errors
    /// As for [`Phases::find`].
    pub fn placed(&self, phase: Phase) -> Result<Phase> {
        self.find(phase.name())
    }

    /// Reads pipeline text with sections of these phases; `name` stands for the file in errors. Sections may be left out.
    ///
    /// # Errors
    /// As for [`Pipeline::parse`].
    pub fn parse(&self, text: &str, name: &str) -> Result<Pipeline> {
        Pipeline::parse_with(text, name, |title| self.find(title))
    }

    /// The pipelines of own phases.
    pub(super) fn own(&self) -> &[(Phase, String)] {
        &self.own
    }
}

/// A phase by its name: one of the framework's, or a phase of one's own that the process has made. Its place among others
/// is known by [`Phases::placed`] alone.
///
/// # Errors
/// There is none.
pub fn named(name: &str) -> Result<Phase> {
    let own = own_names();
    if let Some(name) = own.iter().find(|own| **own == name) {
        return Ok(Phase::Codegen.own(u16::MAX, name));
    }
    name.parse().map_err(|error| match own.is_empty() {
        true => error,
        false => Error::invalid(format!("{error}, and of this program {}", own.join(", "))),
    })
}

/// The names of all phases of one's own that the process has made, in alphabetical order.
pub fn own_names() -> Vec<&'static str> {
    NAMES.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect()
}

static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// A name as long as the process. Equal ones are kept once.
fn kept(name: &str) -> &'static str {
    let mut names = NAMES.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = names.get(name) {
        return known;
    }
    let name: &'static str = String::leak(name.to_owned());
    names.insert(name);
    name
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::phase::TargetPipelines;

    fn phases() -> Phases {
        let phases = Phases::builtin();
        let phases = phases.insert_after("lower", "second", "builtin.module(cse, @targets)");
        phases.expect("is new").insert_after("lower", "first", "builtin.module(a)").expect("is new")
    }

    #[test]
    fn own_phases_are_in_order_and_in_the_text() {
        let phases = phases();
        let find = |name| phases.find(name).expect("is there");
        assert!(Phase::Lower < find("first") && find("first") < find("second"));
        assert!(find("second") < Phase::TirSchedule);
        let npu = TargetPipelines {
            id: "npu".into(),
            phases: vec![(find("second"), "tir-x".into())],
            ..TargetPipelines::default()
        };
        let pipeline =
            Pipeline::assemble(&phases, std::slice::from_ref(&npu), std::slice::from_ref(&npu))
                .expect("is right");
        let text = pipeline.section(find("second")).expect("is there");
        assert_eq!(text, "builtin.module(cse,for-target{target=npu pipeline={func.func(tir-x)}})");
        let printed = pipeline.to_string();
        assert_eq!(phases.parse(&printed, "printed").expect("parses"), pipeline);
        let error = Pipeline::parse(&printed, "printed").expect_err("is not known").to_string();
        assert!(error.contains("'first' is not a phase"), "{error}");
    }

    #[test]
    fn wrong_phases_are_errors() {
        let error = |after, name, text| {
            let made = phases().insert_after(after, name, text);
            made.expect_err("is wrong").to_string()
        };
        assert!(
            error("nope", "x", "builtin.module()")
                .contains("partition, post-partition, lower, first")
        );
        assert!(error("lower", "first", "builtin.module()").contains("a phase 'first' already"));
        assert!(error("lower", "partition", "builtin.module()").contains("already"));
        assert!(error("lower", "a b", "builtin.module()").contains("no name of a phase"));
        for wrong in ["func.func(cse)", ""] {
            assert!(
                error("lower", "x", wrong).contains("phase x is to start with builtin.module(")
            );
        }
        assert!(error("codegen", "x", "builtin.module()").contains("behind codegen"));
    }
}
