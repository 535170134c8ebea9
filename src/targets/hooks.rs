//! What a target declares of its hooks, in Rust or in its manifest. [`crate::hook`] runs them.

use super::TargetInstance;
use crate::{
    Error, Result,
    artifact::Artifact,
    ir::{self, Op},
    phase::HookPoint,
    tensor::Tensor,
};
use melior::{Context, ir::Module};
use std::{fmt, sync::Arc};

/// A constant that a call of a target's function is given.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The C function.
    pub callee: String,
    /// Which of the call's inputs it is, from 0.
    pub input: usize,
    /// Elements, row-major.
    pub value: Tensor,
}

/// A program with arguments. `${dir}` is the target's folder, `${id}` and `${option.NAME}` are
/// filled in as in pipelines.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Whether the constant updater is asked once about all constants of a call.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub together: bool,
}

/// What becomes of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// It stays.
    Keep,
    /// Another one takes its place.
    Replace(Tensor),
    /// The call passes a null pointer in its place: what it said is part of another one.
    LeaveOut,
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
        crate::limits::check_text(text.as_bytes())
            .map_err(|(line, what)| Error::invalid(format!("{name}:{line}: {what}")))?;
        let module = ir::parse_module(request.context, text.as_bytes(), name)
            .ok_or_else(|| Error::invalid(format!("{name} is not valid MLIR")))?;
        Ok(Self { module, entry: entry.into(), artifacts: vec![] })
    }
}

/// A target's code, for an embedder's target kinds ([`crate::targets::TargetKind::with_hooks`]).
/// `Ok(None)` declines, and the default lowering runs. An error, a panic or IR that is not valid
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

    /// Says what becomes of all constants of one call, in their order, for calls whose constants are
    /// packed together, such as weights with their scales. If it declines, [`Self::update_constant`]
    /// is asked about each.
    fn update_constants(
        &self,
        request: &Request<'_, '_>,
        constants: &[Constant],
    ) -> Result<Option<Vec<Update>>> {
        let _ = (request, constants);
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

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.together { " (all constants of a call together)" } else { "" };
        write!(f, "{}{how}", self.words.join(" "))
    }
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
        let text = |point: HookPoint| {
            let rust = self.rust.as_ref().filter(|rust| rust.points().contains(&point));
            let data = self.data(point).map(|hook| match hook {
                DataHook::Pipeline(text) => text.clone(),
                DataHook::Command(command) => command.to_string(),
            });
            let parts: Vec<_> = rust.map(|_| "Rust".to_owned()).into_iter().chain(data).collect();
            (!parts.is_empty()).then(|| parts.join(", then "))
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
