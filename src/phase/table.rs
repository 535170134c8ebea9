//! The table of phases, from which all else that lists them is made.

use crate::{Error, Result};
use std::{fmt, str::FromStr};

/// Anchor of the passes that a target has at a phase.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Anchor {
    /// The whole module.
    Module,
    /// Each function of the target.
    Functions,
    /// The target's own module.
    TargetModule,
}

/// A point of the compile at which IR can be inspected, changed and resumed from. It is one of the
/// framework's, or one of an embedder's own behind it ([`super::Phases`]). Phases are ordered as
/// they run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Phase {
    /// The place of the framework's phase that it is, or that it is behind.
    place: u8,
    /// 0 for the framework's; others count from 1.
    behind: u16,
    name: &'static str,
}

impl fmt::Debug for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

/// Entry of a phase in the table.
#[derive(Clone, Copy)]
struct Row {
    phase: Phase,
    is_extensible: bool,
    anchor: Anchor,
    says: &'static str,
}

macro_rules! phases {
    ($($phase:ident $name:literal extensible: $extensible:literal, on: $anchor:ident, $says:literal;)*) => {
        /// Places in the order of the table.
        enum Place {
            $($phase,)*
        }

        #[allow(non_upper_case_globals, reason = "phases read as variants")]
        impl Phase {
            $(#[doc = $says]
            pub const $phase: Self = Self { place: Place::$phase as u8, behind: 0, name: $name };)*

            /// The phases of the framework in order.
            pub const ALL: [Self; [$(Self::$phase),*].len()] = [$(Self::$phase),*];
        }

        const ROWS: [Row; Phase::ALL.len()] = [$(Row {
            phase: Phase::$phase,
            is_extensible: $extensible,
            anchor: Anchor::$anchor,
            says: $says,
        }),*];
    };
}

// A line here and a section of `pipelines/common/phases.pipeline` are a phase. `extensible` says
// whether manifests may have passes at it, and `on` what these, and those that the framework runs
// for a target, run on.
phases! {
    Import "import" extensible: false, on: Module,
        "The model in the graph dialect, as imported";
    PrePartition "pre-partition" extensible: true, on: Module,
        "Canonicalization, and passes of targets on the whole module";
    Partition "partition" extensible: false, on: Module,
        "Targets are chosen: matches become composites, regions become functions";
    PostPartition "post-partition" extensible: true, on: Functions,
        "Passes on the functions of one target, still in the graph dialect";
    Lower "lower" extensible: true, on: Module,
        "Graph operations become calls, and loops on tensors";
    TirSchedule "tir-schedule" extensible: true, on: Functions,
        "Passes on the functions of one target, on tensors";
    Bufferize "bufferize" extensible: false, on: Module,
        "Tensors become buffers";
    TirPost "tir-post" extensible: true, on: Functions,
        "Passes on the functions of one target, on buffers";
    PlanMemory "plan-memory" extensible: false, on: Module,
        "Each buffer gets its place: offsets replace allocations";
    PostPlan "post-plan" extensible: true, on: Functions,
        "Passes on the functions of one target, on buffers whose offsets are known";
    Codegen "codegen" extensible: true, on: TargetModule,
        "Each target's module becomes what its code generator takes";
}

impl Phase {
    /// The phases of the framework at which targets register pipelines, in order. The one at
    /// `lower` is the hook graph-to-tir: operations that it leaves in the graph dialect are lowered
    /// in the default way.
    pub fn extensible() -> impl Iterator<Item = Self> {
        ROWS.into_iter().filter(|row| row.is_extensible).map(|row| row.phase)
    }

    /// The name on the command line, in pipeline text and in dumped files.
    pub fn name(self) -> &'static str {
        self.name
    }

    /// Anchor of the passes that a target has at the phase.
    pub(crate) fn anchor(self) -> Anchor {
        match self.behind {
            0 => ROWS[usize::from(self.place)].anchor,
            _ => Anchor::Functions,
        }
    }

    /// A phase of another name behind the framework's one that this is or is behind. `behind` counts from 1.
    pub(super) fn own(self, behind: u16, name: &'static str) -> Self {
        Self { place: self.place, behind, name }
    }

    /// The framework's phase that this is, or is behind.
    pub(super) fn origin(self) -> Self {
        ROWS[usize::from(self.place)].phase
    }

    /// A line for each phase, for help: its name, with a star where targets may have passes, and
    /// what it does.
    pub fn table() -> String {
        let width = ROWS.iter().map(|row| row.phase.name.len()).max().unwrap_or_default();
        let line = |row: Row| {
            let star = if row.is_extensible { '*' } else { ' ' };
            format!("{star} {:width$}  {}\n", row.phase.name, row.says)
        };
        ROWS.into_iter().map(line).collect()
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Phase {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|phase| phase.name()).collect();
            Error::invalid(format!("'{text}' is not a phase; the phases are {}", names.join(", ")))
        })
    }
}
