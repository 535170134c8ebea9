//! The named phases of a compile, and the pipeline text that runs in each.
//!
//! A compile always runs one text: sections that start with `// phase: NAME`, each an MLIR pass
//! pipeline anchored on `builtin.module`. The method [`Pipeline::assemble`] makes it from the
//! framework's own sections (`pipelines/common/phases.pipeline`) and what the targets register;
//! `--print-pipeline` prints it and `--pipeline FILE` takes it back.

mod hook_point;
mod own;
mod schedules;
mod table;

pub use hook_point::HookPoint;
pub use own::Phases;
pub(crate) use own::{named, own_names};
pub(crate) use schedules::check_schedules;
pub(crate) use table::Anchor;
pub use table::Phase;

use crate::{Error, Result};
pub use phaseline_toolkit::phase::{Dump, PhaseRun, Sections};
use std::fmt;

/// The pipelines that one target registers, as comma-separated lists of passes on what the phase
/// says ([`Phase::anchor`]).
#[derive(Clone, Debug, Default)]
pub(crate) struct TargetPipelines {
    /// Id of the target instance.
    pub id: String,
    /// The pass list of each phase that the target takes part in.
    pub phases: Vec<(Phase, String)>,
    /// Passes that run its hooks, each a pass of the whole module.
    pub hooks: Vec<(HookPoint, String)>,
    /// True if it has schedules to apply.
    pub schedules: bool,
}

impl TargetPipelines {
    /// The same with phases of one's own at their places.
    fn placed(&self, phases: &Phases) -> Result<Self> {
        let placed = |(phase, text): &(Phase, String)| match phases.placed(*phase) {
            Ok(phase) => Ok((phase, text.clone())),
            Err(error) => Err(Error::invalid(format!(
                "target '{}' has passes at a phase that this compile does not have: {error}",
                self.id
            ))),
        };
        let placed = self.phases.iter().map(placed).collect::<Result<_>>()?;
        Ok(Self { phases: placed, ..self.clone() })
    }

    /// Has passes run before its own in a phase.
    pub fn put_before(&mut self, phase: Phase, passes: &str) {
        match self.phases.iter_mut().find(|(other, _)| *other == phase) {
            Some((_, text)) => *text = format!("{passes},{text}"),
            None => self.phases.push((phase, passes.to_owned())),
        }
    }
}

/// The whole text of a compile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pipeline {
    sections: Sections<Phase>,
}

const COMMON: &str = include_str!("../pipelines/common/phases.pipeline");
const TARGETS: &str = "@targets";

/// Passes that lower the functions of a target, as far as its hooks leave the graph dialect in
/// them.
const DEFAULT_LOWERING: &str = "lower-composite-calls,convert-graph-to-linalg{keep-signature=true}";

impl Pipeline {
    /// Puts the targets' pipelines into the framework's, and the phases of an embedder. `lowering` has the same targets
    /// in the order in which they lower and generate code.
    pub(crate) fn assemble(
        phases: &Phases,
        targets: &[TargetPipelines],
        lowering: &[TargetPipelines],
    ) -> Result<Self> {
        let placed = |targets: &[TargetPipelines]| {
            targets.iter().map(|target| target.placed(phases)).collect::<Result<Vec<_>>>()
        };
        let (targets, lowering) = (&placed(targets)?[..], &placed(lowering)?[..]);
        let mut pipeline = Self::parse(COMMON, "phases.pipeline")?;
        for (phase, text) in phases.own() {
            pipeline.sections.insert(*phase, text.clone());
        }
        for (phase, text) in pipeline.sections.iter_mut() {
            *text = fill(text, *phase, if *phase < Phase::Lower { targets } else { lowering });
        }
        Ok(pipeline)
    }

    /// Reads pipeline text; `name` stands for the file in errors. Sections may be left out.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        Self::parse_with(text, name, str::parse)
    }

    fn parse_with(text: &str, name: &str, find: impl Fn(&str) -> Result<Phase>) -> Result<Self> {
        let find = |title: &str| match find(title)? {
            Phase::Import => Err(Error::invalid("no passes run in phase import")),
            phase => Ok(phase),
        };
        Ok(Self { sections: Sections::parse(text, name, find)? })
    }

    /// The pipelines of the phases, for a run of them.
    pub(crate) fn sections(&self) -> &Sections<Phase> {
        &self.sections
    }

    /// The MLIR pipeline of a phase.
    pub fn section(&self, phase: Phase) -> Option<&str> {
        self.sections.section(&phase)
    }

    /// Gives `graph-partition` options, as text.
    pub(crate) fn with_partition(mut self, options: &str) -> Self {
        if !options.is_empty() {
            for (_, text) in self.sections.iter_mut().filter(|(p, _)| **p == Phase::Partition) {
                *text = text.replace("graph-partition", &format!("graph-partition{{{options}}}"));
            }
        }
        self
    }

    /// Tells `apply-hook` where targets are, as text.
    pub(crate) fn with_target_path(mut self, path: &str) -> Self {
        if !path.is_empty() {
            for (_, text) in self.sections.iter_mut() {
                let given = format!("apply-hook{{target-path={{{path}}} ");
                *text = text.replace("apply-hook{", &given);
            }
        }
        self
    }

    /// Adds passes at the end of a phase.
    pub fn append(&mut self, phase: Phase, passes: &str) -> Result<()> {
        if phase == Phase::Import {
            return Err(Error::invalid("no passes run in phase import; use pre-partition"));
        }
        self.sections.append(phase, passes);
        Ok(())
    }
}

impl fmt::Display for Pipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sections.fmt(f)
    }
}

/// Replaces `@targets` by what each target registered for the phase.
fn fill(text: &str, phase: Phase, targets: &[TargetPipelines]) -> String {
    let filled: Vec<_> = targets.iter().flat_map(|target| of_phase(target, phase)).collect();
    let joined = text.replace(TARGETS, &filled.join(","));
    joined.replace(",,", ",").replace("(,", "(").replace(",)", ")")
}

/// Passes of a target in a phase, in order.
fn of_phase(target: &TargetPipelines, phase: Phase) -> Vec<String> {
    let id = &target.id;
    let hook = |point: HookPoint| {
        target.hooks.iter().find(|(p, _)| *p == point).map(|(_, text)| text.clone())
    };
    let passes = target.phases.iter().find(|(p, _)| *p == phase).map(|(_, text)| text.trim());
    let passes = passes.filter(|text| !text.is_empty());
    let within = |anchor: &str, text: &str| {
        format!("for-target{{target={id} pipeline={{{anchor}({text})}}}}")
    };
    let own = passes.map(|text| match phase.anchor() {
        Anchor::Module => text.to_owned(),
        Anchor::Functions => within("func.func", text),
        Anchor::TargetModule => within("builtin.module", text),
    });
    let parts = match phase {
        // One target after the other down to loops and calls, so that each sees what those before
        // it became.
        Phase::Lower => vec![
            hook(HookPoint::GraphToRuntime),
            own,
            hook(HookPoint::GraphToTir),
            Some(within("func.func", DEFAULT_LOWERING)),
            hook(HookPoint::ConstantUpdater),
        ],
        Phase::TirSchedule => {
            vec![target.schedules.then(|| format!("apply-schedules{{target={id}}}")), own]
        }
        Phase::Codegen => vec![hook(HookPoint::TirToRuntime), own],
        _ => vec![own],
    };
    parts.into_iter().flatten().collect()
}

/// Joins the lines of a pipeline without their `//` comments.
pub fn strip_comments(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default().trim()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assemble(targets: &[TargetPipelines]) -> Result<Pipeline> {
        Pipeline::assemble(&Phases::builtin(), targets, targets)
    }

    fn npu() -> TargetPipelines {
        TargetPipelines {
            id: "npu".into(),
            phases: vec![
                (Phase::PrePartition, "graph-a,graph-b{x=1}".into()),
                (Phase::TirPost, "tir-c".into()),
            ],
            hooks: vec![(HookPoint::ConstantUpdater, "apply-x".into())],
            schedules: false,
        }
    }

    #[test]
    fn assembled_text_round_trips() {
        for targets in [vec![], vec![npu()], vec![npu(), TargetPipelines::default()]] {
            let pipeline = assemble(&targets).expect("assembles");
            let printed = pipeline.to_string();
            let again = Pipeline::parse(&printed, "printed").expect("parses");
            assert_eq!(pipeline, again, "{printed}");
            assert!(!printed.contains(TARGETS));
        }
    }

    #[test]
    fn target_passes_land_in_their_phase() {
        let pipeline = assemble(&[npu()]).expect("assembles");
        let text = |phase| pipeline.section(phase).unwrap_or_default().to_owned();
        assert!(text(Phase::PrePartition).contains("graph-a,graph-b{x=1}"));
        assert!(
            text(Phase::TirPost).contains("for-target{target=npu pipeline={func.func(tir-c)}}")
        );
        assert!(!text(Phase::TirSchedule).contains("npu"));
        let lower = "func.func(lower-composite-calls,convert-graph-to-linalg{keep-signature=true})}},apply-x,func.func(";
        assert!(text(Phase::Lower).contains(lower), "{}", text(Phase::Lower));
    }

    #[test]
    fn appended_passes_come_last() {
        let mut pipeline = Pipeline::parse("// phase: lower\nbuiltin.module(a)\n", "t").expect("t");
        pipeline.append(Phase::Lower, "b").expect("appends");
        pipeline.append(Phase::TirPost, "c").expect("appends");
        assert_eq!(pipeline.section(Phase::Lower), Some("builtin.module(a,b)"));
        assert_eq!(pipeline.section(Phase::TirPost), Some("builtin.module(c)"));
    }

    #[test]
    fn bad_text_names_the_line() {
        let error = |text: &str| Pipeline::parse(text, "f").expect_err("is bad").to_string();
        assert!(error("cse").contains("f:1: expected a line"));
        assert!(error("\n// phase: nope\n").contains("f:2: 'nope' is not a phase"));
        assert!(error("// phase: lower\n\n// phase: partition\n").contains("f:3: phase partition"));
        assert!(error("// phase: lower\ncse\n").contains("builtin.module("));
    }
}
