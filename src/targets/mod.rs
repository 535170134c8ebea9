//! Targets: what a compile is for.
//!
//! A [`TargetKind`] is one declaration (`target.toml`) from which patterns, options, help, memory
//! pools, pipelines and code generation come. A [`TargetSpec`] says which targets a compile is
//! for; the [`Registry`] turns it into [`TargetInstance`]s.

mod alias;
mod build;
mod codegen;
mod config;
mod describe;
mod device;
pub(crate) mod file_name;
pub(crate) mod hooks;
mod in_headers;
mod instance;
mod kind;
mod known;
mod library;
pub(crate) mod manifest;
mod memory;
mod operator;
mod options;
mod pipelines;
mod profile;
mod registry;
mod spec;

#[cfg(test)]
mod tests;

pub use crate::pattern::Capabilities;
pub(crate) use alias::Alias;
pub use codegen::CodegenKind;
pub(crate) use codegen::{Codegen, code_generators};
pub(crate) use config::{CONFIG, Config};
pub(crate) use device::{Activation, Blob};
pub(crate) use in_headers::{InHeaders, check_compiler};
pub use instance::TargetInstance;
pub(crate) use kind::Role;
#[doc(hidden)]
pub use kind::ServedFlags;
pub use kind::{Files, TargetKind};
pub(crate) use known::{check_id, check_in_pipelines};
pub(crate) use library::FOLDER as LIBRARY_FOLDER;
pub(crate) use manifest::is_name;
pub(crate) use memory::MemoryDecl;
pub use operator::Operators;
pub(crate) use operator::{OperandFacts, OperatorDecl, Reference, key as operator_key};
pub(crate) use options::parse_size;
pub use options::{OptionDecl, OptionKind};
pub(crate) use pipelines::pipelines;
pub(crate) use profile::{profiled_machine, read_profile};
pub(crate) use registry::{EmbedderKinds, MANIFEST, Registry, is_builtin, of_context};
pub(crate) use spec::{TargetEntry, TargetSpec};
