//! Options of a compile: targets, phases, limits and files, and the texts that they give to passes.

use crate::{
    Error, Phase, Pipeline, Result, Session,
    artifact::{Layout, Signature, WeightsPlace},
    codegen::c,
    ir::print::Weights,
    pass::PassObserver,
    passes::graph_partition,
    phase::Phases,
    targets::{Operators, TargetInstance},
};
use std::path::PathBuf;

/// Targets and settings of a compile.
pub struct CompileOptions<'a> {
    /// Target spec: `"vanilla, llvm -mcpu=native"`.
    pub targets: String,
    /// Directories that hold targets as data.
    pub target_path: Vec<PathBuf>,
    /// File with placements that come before patterns.
    pub placement: Option<PathBuf>,
    /// File with the pools of the board that the model's memory is in (`board.toml`); without it there is
    /// one arena and one block of constants.
    pub pools: Option<PathBuf>,
    /// Look for the partition between targets that costs least, instead of going by preference.
    pub placement_search: bool,
    /// File with measured tiles, and measured costs for the search, in place of estimates.
    pub profile: Option<PathBuf>,
    /// Make each match of a device a region of its own, and wait for it, so that it has a time.
    pub apart: bool,
    /// Ids of targets in the order in which they lower and generate code; those that are left out
    /// follow in the order of the spec. Empty: the order of the spec.
    pub lowering_order: Vec<String>,
    /// Name of the model: prefix of symbols and file names.
    pub name: String,
    /// The phases: the framework's, and own ones between them.
    pub phases: Phases,
    /// Pipeline text to run instead of what the targets register.
    pub pipeline: Option<Pipeline>,
    /// Passes added at the end of a phase.
    pub passes: Vec<(Phase, String)>,
    /// Compute all that depends on constants alone at compile time, on this machine's processor.
    /// Results must not take much more memory than the constants that they are computed from.
    pub evaluate_constants: bool,
    /// Compute stages of the network in patches, at most so many, where that takes less memory.
    pub patches: Option<i64>,
    /// Bytes that the arena may have. Stages are computed in patches until it has no more, by
    /// estimate; if it has more in the end, that is an error.
    pub arena_limit: Option<u64>,
    /// The phase that the module has been through already.
    pub after: Phase,
    /// Folder for the IR after each phase.
    pub dump_phases: Option<PathBuf>,
    /// Treatment of large weights in those files.
    pub dump_weights: Weights,
    /// File for a reproducer when a pass fails.
    pub reproducer: Option<PathBuf>,
    /// Called before each phase.
    pub observer: Option<&'a dyn Fn(Phase)>,
    /// Called before and after each pass.
    pub pass_observer: Option<&'a PassObserver<'a>>,
    /// The C compiler, for generated C and for linking the shared library; arguments may follow
    /// the program.
    pub cc: String,
    /// Let runs tell an observer of each step ([`crate::runtime::Executable::run_traced`]).
    pub trace: bool,
    /// Fill dead bytes of working memory with NaN between the steps of a run, so that a read of
    /// them shows.
    pub poison: bool,
    /// The place of the weights of a package.
    pub weights: WeightsPlace,
    /// Build systems that a package is laid out for, besides CMake and pkg-config.
    pub layouts: Vec<Layout>,
    /// Put a picture of the plan of memory into the package, `NAME_plan.svg`.
    pub plan_picture: bool,
    /// Inputs and outputs of the model that programs have in the memory of a device: names, and ids of
    /// targets.
    pub bind: Vec<(String, String)>,
    /// Inputs and the outputs that are their new values, in one buffer: programs give the same address for both.
    pub states: Vec<(String, String)>,
    /// Settings for devices' C beyond their manifests.
    pub devices: Option<&'a c::compile::DeviceBuild>,
}

impl Default for CompileOptions<'_> {
    fn default() -> Self {
        Self {
            targets: "llvm".into(),
            target_path: vec![],
            placement: None,
            pools: None,
            placement_search: false,
            apart: false,
            profile: None,
            lowering_order: vec![],
            name: "model".into(),
            phases: Phases::builtin(),
            pipeline: None,
            passes: vec![],
            evaluate_constants: true,
            patches: None,
            arena_limit: None,
            after: Phase::Import,
            dump_phases: None,
            dump_weights: Weights::Elide,
            reproducer: None,
            observer: None,
            pass_observer: None,
            cc: "cc".into(),
            trace: false,
            poison: false,
            weights: WeightsPlace::Auto,
            layouts: vec![],
            plan_picture: false,
            bind: vec![],
            states: vec![],
            devices: None,
        }
    }
}

impl CompileOptions<'_> {
    /// The targets that the spec names, the host last.
    pub fn resolve(&self, session: &Session) -> Result<Vec<TargetInstance>> {
        let path = self.target_path.iter().cloned();
        graph_partition::resolve_in(session.context(), &self.targets, path)
    }

    /// Vendor operators that the targets of the spec and all known targets declare.
    ///
    /// # Errors
    /// The spec is not valid, or its targets declare an operator in different ways.
    pub fn operators(&self, session: &Session) -> Result<Operators> {
        let path = self.target_path.iter().cloned();
        graph_partition::known_in(session.context(), &self.targets, path).map(|known| known.1)
    }

    /// The pass that computes stages in patches, if it is asked for.
    pub(super) fn patches_pass(&self) -> Option<String> {
        let most = self.patches.map(|patches| format!("max-patches={patches}"));
        let limit = self.arena_limit.map(|bytes| format!("arena-limit={bytes}"));
        let options: Vec<_> = most.into_iter().chain(limit).collect();
        let text = format!("func.func(graph-split-patches{{{}}})", options.join(" "));
        (!options.is_empty()).then_some(text)
    }

    /// Fails if the arena is larger than it may be.
    pub(super) fn check_arena(&self, signature: &Signature) -> Result<()> {
        let bytes = signature.arena_bytes as u64;
        match self.arena_limit.filter(|limit| bytes > *limit) {
            None => Ok(()),
            Some(limit) => Err(Error::invalid(format!(
                "the arena has {bytes} bytes, more than the limit of {limit}; most are in use at \
                 {}: allow more bytes, more patches, or a target that computes this in less memory",
                signature.arena_peak
            ))),
        }
    }

    /// The directories with targets, as options of passes have them.
    pub(super) fn target_path_text(&self) -> String {
        let paths: Vec<_> = self.target_path.iter().map(|p| p.to_string_lossy()).collect();
        paths.join(":")
    }

    /// The options of `graph-partition` that the module itself does not carry.
    pub(super) fn partition_options(&self) -> String {
        let paths = self.target_path_text();
        let mut options = vec![];
        if !paths.is_empty() {
            options.push(format!("target-path={{{paths}}}"));
        }
        if let Some(path) = &self.placement {
            options.push(format!("placement={{{}}}", path.display()));
        }
        if self.placement_search {
            options.push("placement-search=true".to_owned());
        }
        if self.apart {
            options.push("apart=true".to_owned());
        }
        if let Some(path) = &self.profile {
            options.push(format!("profile={{{}}}", path.display()));
        }
        options.join(" ")
    }
}
