//! Hooks: where a target's own code takes over from the framework.
//!
//! A hook is asked and may decline: the default lowering is what a hook that says nothing means.
//! Hooks are Rust ([`Hooks`], on a kind that an embedder adds to its session), programs that a
//! manifest names ([`Command`]), or pipelines (`[hooks]` of `target.toml`). Rust and programs run
//! in the pass `apply-hook`, which stands in the pipeline text like any other, so that IR can be
//! printed, edited and resumed from around it.

mod apply;
pub mod artifact;
mod command;
pub mod constants;
mod splice;

pub use apply::{GENERATED, apply};
pub use artifact::{Artifact, ArtifactKind};
pub use command::Command;
pub use constants::Constant;

use crate::{
    Error, Result,
    ir::{self, Op},
    target::TargetInstance,
    tensor::Tensor,
};
use melior::{Context, ir::Module};
use std::{fmt, str::FromStr, sync::Arc};

/// The points at which a target's code may take over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HookPoint {
    /// A function in the graph dialect becomes functions that the rest of the compile leaves as
    /// they are: calls of the device's driver, with command streams and packed constants.
    GraphToRuntime,
    /// A function in the graph dialect becomes loops and calls on tensors.
    GraphToTir,
    /// The constants that a target's calls are given are replaced, after lowering.
    ConstantUpdater,
    /// A target's module of buffers becomes artifacts.
    TirToRuntime,
}

impl HookPoint {
    /// All points, in the order in which a compile comes to them.
    pub const ALL: [Self; 4] =
        [Self::GraphToRuntime, Self::GraphToTir, Self::ConstantUpdater, Self::TirToRuntime];

    /// The name in manifests, pipelines and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::GraphToRuntime => "graph-to-runtime",
            Self::GraphToTir => "graph-to-tir",
            Self::ConstantUpdater => "constant-updater",
            Self::TirToRuntime => "tir-to-runtime",
        }
    }
}

impl fmt::Display for HookPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for HookPoint {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|point| point.name() == text).ok_or_else(|| {
            let names: Vec<_> = Self::ALL.iter().map(|point| point.name()).collect();
            Error::invalid(format!("'{text}' is no hook; the hooks are {}", names.join(", ")))
        })
    }
}

/// What a hook is asked about. The IR is a copy: a hook reads it, and whatever it does to it
/// changes nothing.
pub struct Request<'a, 'c> {
    /// The context, in which results are made.
    pub context: &'c Context,
    /// The target, with the values of its options.
    pub target: &'a TargetInstance,
    /// The whole module as it is now, with what targets that lower earlier made of theirs.
    pub module: Op<'c>,
    /// What the question is about, in `module`: a function of the target, or for
    /// [`HookPoint::TirToRuntime`] the module that holds the target's functions.
    pub subject: Op<'c>,
}

/// What a function becomes.
pub struct Lowered<'c> {
    /// Functions, the entry among them. Their names need to be distinct only here.
    pub module: Module<'c>,
    /// Name of the function that takes the place of the one asked about; it has the same type.
    pub entry: String,
    /// Files for the package. Sources and objects are linked with the model.
    pub artifacts: Vec<Artifact>,
}

impl<'c> Lowered<'c> {
    /// Reads the functions from MLIR text; `name` stands for the file in messages.
    pub fn parse(
        request: &Request<'_, 'c>,
        text: &str,
        name: &str,
        entry: impl Into<String>,
    ) -> Result<Self> {
        let module = ir::parse_module(request.context, text.as_bytes(), name)
            .ok_or_else(|| Error::invalid(format!("{name} is not valid MLIR")))?;
        Ok(Self { module, entry: entry.into(), artifacts: vec![] })
    }
}

/// A target's code, for an embedder's target kinds ([`crate::target::TargetKind::with_hooks`]).
/// `Ok(None)` declines, and the default takes its way. An error, a panic or IR that is not valid
/// ends the compile with a message that names target, hook and operation.
pub trait Hooks: Send + Sync {
    /// The hooks that are worth asking; others stay out of the pipeline.
    fn points(&self) -> &[HookPoint] {
        &HookPoint::ALL
    }

    /// Takes a function of graph operations straight to calls of the device's driver.
    fn graph_to_runtime<'c>(&self, request: &Request<'_, 'c>) -> Result<Option<Lowered<'c>>> {
        let _ = request;
        Ok(None)
    }

    /// Lowers a function of graph operations to loops and calls on tensors. What it leaves in the
    /// graph dialect is lowered in the default way.
    fn graph_to_tir<'c>(&self, request: &Request<'_, 'c>) -> Result<Option<Lowered<'c>>> {
        let _ = request;
        Ok(None)
    }

    /// Replaces a constant that a call is given: other elements, another shape or element type, as
    /// the C function wants it.
    fn update_constant(
        &self,
        request: &Request<'_, '_>,
        constant: &Constant,
    ) -> Result<Option<Tensor>> {
        let _ = (request, constant);
        Ok(None)
    }

    /// Makes artifacts of a target's module. The functions that the module defines are to be in
    /// them, as C or as objects.
    fn tir_to_runtime(&self, request: &Request<'_, '_>) -> Result<Option<Vec<Artifact>>> {
        let _ = request;
        Ok(None)
    }
}

/// How a manifest answers a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DataHook {
    /// A pipeline: on each function of the target, or on its module for
    /// [`HookPoint::TirToRuntime`].
    Pipeline(String),
    /// A program.
    Command(Command),
}

/// The hooks of a target kind.
#[derive(Clone, Default)]
pub struct HookSet {
    /// Those of the manifest.
    pub data: Vec<(HookPoint, DataHook)>,
    /// Those of an embedder; asked first.
    pub rust: Option<Arc<dyn Hooks>>,
}

impl HookSet {
    /// What the manifest says about a hook.
    pub fn data(&self, point: HookPoint) -> Option<&DataHook> {
        self.data.iter().find(|(other, _)| *other == point).map(|(_, hook)| hook)
    }

    /// Whether `apply-hook` has something to run at a point.
    pub fn is_code(&self, point: HookPoint) -> bool {
        let asks = |hooks: &Arc<dyn Hooks>| hooks.points().contains(&point);
        self.rust.as_ref().is_some_and(asks)
            || matches!(self.data(point), Some(DataHook::Command(_)))
    }

    /// What there is for each point, as text.
    pub fn describe(&self) -> Vec<(&'static str, String)> {
        let text = |point: HookPoint| match (&self.rust, self.data(point)) {
            (Some(rust), _) if rust.points().contains(&point) => Some("Rust".to_owned()),
            (_, Some(DataHook::Pipeline(text))) => Some(text.clone()),
            (_, Some(DataHook::Command(command))) => Some(command.words.join(" ")),
            _ => None,
        };
        HookPoint::ALL.into_iter().filter_map(|p| Some((p.name(), text(p)?))).collect()
    }

    /// Whether anything is declared for a point.
    pub fn has(&self, point: HookPoint) -> bool {
        self.is_code(point) || self.data(point).is_some()
    }
}

impl fmt::Debug for HookSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rust = self.rust.as_ref().map(|hooks| hooks.points());
        f.debug_struct("HookSet").field("data", &self.data).field("rust", &rust).finish()
    }
}

impl PartialEq for HookSet {
    /// Rust hooks are equal if they are one object.
    fn eq(&self, other: &Self) -> bool {
        let same = match (&self.rust, &other.rust) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        };
        same && self.data == other.data
    }
}
