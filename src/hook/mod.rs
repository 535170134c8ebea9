//! Hooks: where a target's own code takes over from the framework.
//!
//! A hook is asked and may decline: the default lowering is what a hook that says nothing means.
//! Hooks are Rust ([`Hooks`], on a kind that an embedder adds to its session), programs that a
//! manifest names ([`Command`]), or pipelines (`[hooks]` of `target.toml`). Rust and programs run
//! in the pass `apply-hook`, which stands in the pipeline text like any other, so that IR can be
//! printed, edited and resumed from around it.

mod answer;
mod apply;
mod command;
pub(crate) mod constants;
mod dry_run;
mod programs;
mod region;
mod splice;

pub use crate::{
    artifact::{Artifact, ArtifactKind},
    phase::HookPoint,
    targets::hooks::{CallAnswer, Constant, Hooks, Lowered, PoolLeft, Request, Serve, Update},
};
pub(crate) use apply::apply;
pub(crate) use command::PYTHON_SOURCE as HOOK_SOURCE;
pub(crate) use dry_run::DryRuns;
