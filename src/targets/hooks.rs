//! Hooks of a target, declared in Rust or in its manifest. [`crate::hook`] runs them.

use super::TargetInstance;
use crate::{
    Error, Result,
    artifact::{Artifact, ArtifactKind},
    expr::{Expr, Val},
    ir::{
        self, Builder, Op,
        board::Content,
        call_extern::{CallExtern, Group},
        edit, func, names,
        outline::NewFunction,
    },
    partition::Judgement,
    phase::HookPoint,
    pools::left::{self, Left},
    tensor::Tensor,
};
use melior::{
    Context,
    ir::{Attribute, Module, Type, operation::OperationLike},
};
use std::{fmt, sync::Arc};

/// A constant that a call of a target's function is given.
#[derive(Clone, Debug)]
pub struct Constant {
    /// The C function.
    pub callee: String,
    /// Index of the call's input, from 0.
    pub input: usize,
    /// Elements, row-major.
    pub value: Tensor,
}

/// A program with arguments. `${dir}` is the target's folder, `${id}` and `${option.NAME}` are
/// filled in as in pipelines.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// True if the constant updater is asked once about all constants of a call.
    pub together: bool,
    /// True if it is given the whole module, beside the subject of the question.
    pub module: bool,
    /// The protocol.
    pub protocol: Protocol,
    /// True if it is asked about each region before this has its place, and may decline it.
    pub dry_run: bool,
    /// Seconds that it may take, an expression over options; [`Limits::SECONDS`] without one.
    pub max_seconds: Option<Expr>,
    /// Bytes that it may write, an expression over options; without one [`Limits::BYTES`], and
    /// [`Limits::FACTOR`] times what it is given.
    pub max_bytes: Option<Expr>,
    /// The code of this process that answers in place of a program.
    pub served: Option<Served>,
}

/// Code of an embedder that answers questions of protocol 2 in this process: it is given a question, a line of JSON,
/// and gives the answer, another one. An error ends the compile.
#[derive(Clone)]
pub struct Served(pub Arc<Serve>);

/// The type of such code.
pub type Serve = dyn Fn(&str) -> Result<String, String> + Send + Sync;

impl fmt::Debug for Served {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Served")
    }
}

impl PartialEq for Served {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// The protocol of programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// A process for each question, which is about IR as text.
    #[default]
    Files,
    /// One process for all questions of a hook in a compile, which are about regions as JSON.
    Regions,
}

impl Protocol {
    /// The number that manifests and questions have for it.
    pub fn number(self) -> u32 {
        match self {
            Self::Files => 1,
            Self::Regions => 2,
        }
    }
}

/// Limits of time and space for a program's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Seconds.
    pub seconds: u64,
    /// Bytes of files and messages.
    pub bytes: u64,
}

impl Limits {
    /// The usual time in seconds.
    pub const SECONDS: u64 = 600;
    /// The usual space for a small question.
    pub const BYTES: u64 = 1 << 30;
    /// The usual space for each byte of a question.
    pub const FACTOR: u64 = 4;
}

impl TargetInstance {
    /// The limits of a program that is given so many bytes.
    ///
    /// # Errors
    /// By its expression, a limit is not a positive number.
    pub(crate) fn hook_limits(&self, command: &Command, given: u64) -> Result<Limits> {
        let limit = |expr: &Option<Expr>, key: &str, usual: u64| {
            let Some(expr) = expr else { return Ok(usual) };
            let value = self.value(expr);
            let number = match value {
                Val::Int(number) => u64::try_from(number).ok().filter(|number| *number > 0),
                _ => None,
            };
            number.ok_or_else(|| {
                Error::invalid(format!(
                    "{}: {key} of a hook of target '{}' is {value} by `{expr}`; it is a positive number",
                    self.kind.manifest, self.id
                ))
            })
        };
        let space = Limits::BYTES.saturating_add(given.saturating_mul(Limits::FACTOR));
        Ok(Limits {
            seconds: limit(&command.max_seconds, "max-seconds", Limits::SECONDS)?,
            bytes: limit(&command.max_bytes, "max-bytes", space)?,
        })
    }
}

/// Somebody who is asked about regions before these have their places.
pub trait Judge: fmt::Debug {
    /// The verdict of a target on a function that a region would be, in a copy of the module.
    ///
    /// # Errors
    /// The target's code fails.
    fn judge(&self, module: Op<'_>, function: Op<'_>, target: &TargetInstance)
    -> Result<Judgement>;
}

/// Fate of a constant.
#[derive(Clone, Debug, PartialEq)]
pub enum Update {
    /// Keeps the constant.
    Keep,
    /// Replaces it by another one.
    Replace(Tensor),
    /// The call passes a null pointer in its place: what it said is part of another one.
    LeaveOut,
}

/// A question to a hook. The IR is a copy: a hook reads it, and changes have no effect.
pub struct Request<'a, 'c> {
    /// The context, in which results are made.
    pub context: &'c Context,
    /// The target, with the values of its options.
    pub target: &'a TargetInstance,
    /// The whole module as it is now, with what targets that lower earlier made of theirs.
    pub module: Op<'c>,
    /// Subject of the question, in `module`: a function of the target, or for
    /// [`HookPoint::TirToRuntime`] the module that holds the target's functions.
    pub subject: Op<'c>,
}

/// A pool of the board that the target reaches, and what is left of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct PoolLeft {
    /// Its name.
    pub pool: String,
    /// Its size.
    pub bytes: u64,
    /// Bytes that nothing else takes. When the target's code is made, memory is planned, and this is
    /// exact. Before, it is what is left if values that live across the call of the function take the
    /// fast pools, and constants the slow ones.
    pub left: u64,
    /// Alignment of its buffers in bytes.
    pub alignment: u64,
    /// Kinds of values that it may hold: `activations`, `constants`, `inputs`, `outputs`.
    pub holds: Vec<&'static str>,
}

impl Request<'_, '_> {
    /// The pools of the board that the target reaches, the fastest first; none without a board.
    ///
    /// # Errors
    /// The module declares pools that are not valid.
    pub fn memory(&self) -> Result<Vec<PoolLeft>> {
        let left = left::of(self.module, self.subject, &self.target.id)?;
        let pools = left.into_iter().map(|Left { pool, bytes: left }| PoolLeft {
            pool: pool.name,
            bytes: pool.bytes,
            left,
            alignment: pool.alignment,
            holds: pool.holds.into_iter().map(Content::name).collect(),
        });
        Ok(pools.collect())
    }
}

/// Replacement of a function.
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

/// The end of the name of an artifact that is a region: `FUNCTION.blob`.
pub const BLOB_END: &str = ".blob";

impl<'c> Lowered<'c> {
    /// Replaces the function by the execution of a blob (`[codegen.blob]`).
    ///
    /// # Errors
    /// The target's manifest does not say how blobs are executed, or a size is not known.
    pub fn blob(request: &Request<'_, 'c>, content: impl Into<Vec<u8>>) -> Result<Self> {
        let entry = func::symbol(request.subject);
        let artifact = format!("{entry}{BLOB_END}");
        if request.target.kind.codegen.blob.is_none() {
            return Err(Error::invalid(format!(
                "made {artifact}, but the manifest has no [codegen.blob], which says how it is \
                 executed"
            )));
        }
        let module = Module::new(request.subject.location());
        execution(&module, request.subject, &artifact)?;
        let artifacts = vec![Artifact::new(artifact, ArtifactKind::Blob, content)];
        Ok(Self { module, entry, artifacts })
    }
}

/// The C function that a region becomes a call of, as a program answers it: a pointer for each input in order, then
/// one for each output.
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct CallAnswer {
    /// Its name.
    pub function: String,
    /// True if the device is its first argument.
    #[serde(default)]
    pub device: bool,
    /// True if it returns a status.
    #[serde(default)]
    pub status: bool,
}

impl<'c> Lowered<'c> {
    /// Has a C function do the work of the function that was asked about.
    ///
    /// # Errors
    /// The name is none of C, or a size is not known.
    pub fn call(request: &Request<'_, 'c>, call: &CallAnswer) -> Result<Self> {
        if crate::artifact::c_identifier(&call.function) != call.function {
            return Err(Error::invalid(format!(
                "answers with a call of '{}', which is no name of a C function",
                call.function
            )));
        }
        let module = Module::new(request.subject.location());
        calling(&module, request.subject, &call.function, &|b, made| {
            let unit = Attribute::unit(b.context);
            let flags = [("with_device", call.device), ("returns_status", call.status)];
            flags.into_iter().filter(|(_, set)| *set).for_each(|(flag, _)| made.set(flag, unit));
        })?;
        Ok(Self { module, entry: func::symbol(request.subject), artifacts: vec![] })
    }
}

/// Makes a function like `function` that has the device execute a blob.
fn execution<'c>(module: &Module<'c>, function: Op<'c>, artifact: &str) -> Result<()> {
    let callee = format!("{}_blob", func::symbol(function));
    calling(module, function, &callee, &|b, call| {
        let mut parameters = vec!["void *session".to_owned()];
        parameters.extend((0..call.groups[1].len()).map(|index| format!("const void *in_{index}")));
        parameters.extend((0..call.groups[2].len()).map(|index| format!("void *out_{index}")));
        for flag in ["with_device", "returns_status", names::SESSION] {
            call.set(flag, Attribute::unit(b.context));
        }
        call.set(names::BLOB, b.str_attr(artifact));
        let prototype = format!("int32_t {callee}({});", parameters.join(", "));
        call.set("prototype", b.str_attr(&prototype));
    })
}

/// Makes a function like `function` that calls a C function with all that it is given and makes; `finish` says what
/// else is known of the call.
fn calling<'c>(
    module: &Module<'c>,
    function: Op<'c>,
    callee: &str,
    finish: &dyn for<'x> Fn(&Builder<'x>, &mut CallExtern<'x>),
) -> Result<()> {
    let context = ir::context_of(function);
    let location = function.location();
    let body = edit::entry_block(ir::root(module));
    let body = body.ok_or_else(|| Error::internal("a new module has no body"))?;
    let signature = func::Signature::of(function)?;
    let types =
        |list: &[(Type<'c>, func::Attributes<'c>)]| list.iter().map(|(ty, _)| *ty).collect();
    let (given, made): (Vec<Type<'_>>, Vec<Type<'_>>) =
        (types(&signature.arguments), types(&signature.results));
    if let Some(ty) = given.iter().chain(&made).find(|ty| ir::static_dims(**ty).is_none()) {
        return Err(Error::unsupported(format!(
            "a blob is given {ty}, whose size is not known: give the dimensions with --shape"
        )));
    }
    let at = Builder::at_end(context, body, location);
    let name = func::symbol(function);
    NewFunction::public(&name)
        .arguments(given)
        .define(&at, |b, arguments| {
            let mut call = CallExtern::new(callee);
            for value in arguments {
                call.push(context, Group::Ins, *value);
            }
            for ty in &made {
                call.push(context, Group::Outs, b.op1("tensor.empty", &[], *ty)?);
            }
            finish(b, &mut call);
            Ok::<_, Error>(ir::results(call.build(b, &made)?))
        })
        .map(drop)
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

/// Answer of a manifest to a hook.
#[derive(Clone, Debug, PartialEq)]
pub enum DataHook {
    /// A pipeline: on each function of the target, or on its module for
    /// [`HookPoint::TirToRuntime`].
    Pipeline(String),
    /// A program.
    Command(Command),
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let together = if self.together { " (all constants of a call together)" } else { "" };
        let module = if self.module { " (with the whole module)" } else { "" };
        let protocol = match self.protocol {
            Protocol::Files => "",
            Protocol::Regions if self.dry_run => {
                " (protocol 2, asked before regions have their places)"
            }
            Protocol::Regions => " (protocol 2)",
        };
        write!(f, "{}{together}{module}{protocol}", self.words.join(" "))?;
        let limits = [("seconds", &self.max_seconds), ("bytes", &self.max_bytes)];
        let limits = limits.into_iter().filter_map(|(unit, limit)| Some((unit, limit.as_ref()?)));
        limits.into_iter().try_for_each(|(unit, limit)| write!(f, " (at most {limit} {unit})"))
    }
}

/// The hooks of a target kind.
#[derive(Clone, Default)]
pub struct HookSet {
    /// Hooks of the manifest.
    pub data: Vec<(HookPoint, DataHook)>,
    /// Hooks of an embedder; asked first.
    pub rust: Option<Arc<dyn Hooks>>,
}

impl HookSet {
    /// Hook of the manifest at a point.
    pub fn data(&self, point: HookPoint) -> Option<&DataHook> {
        self.data.iter().find(|(other, _)| *other == point).map(|(_, hook)| hook)
    }

    /// True if a program of it is asked about regions as JSON.
    pub fn read_regions(&self) -> bool {
        let reads = |hook: &DataHook| {
            matches!(hook, DataHook::Command(Command { protocol: Protocol::Regions, .. }))
        };
        self.data.iter().any(|(_, hook)| reads(hook))
    }

    /// The program that is asked about regions before these have their places.
    pub fn dry_run(&self) -> Option<&Command> {
        match self.data(HookPoint::GraphToRuntime) {
            Some(DataHook::Command(command)) => Some(command).filter(|command| command.dry_run),
            _ => None,
        }
    }

    /// True if `apply-hook` has something to run at a point.
    pub fn is_code(&self, point: HookPoint) -> bool {
        let asks = |hooks: &Arc<dyn Hooks>| hooks.points().contains(&point);
        self.rust.as_ref().is_some_and(asks)
            || matches!(self.data(point), Some(DataHook::Command(_)))
    }

    /// Hooks of each point, as text.
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

    /// True if anything is declared for a point.
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
