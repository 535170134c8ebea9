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
pub mod hooks;
mod in_headers;
mod instance;
mod kind;
mod known;
mod library;
pub mod manifest;
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
pub use alias::{ALIASES, Alias};
pub(crate) use codegen::code_generators;
pub use codegen::{Codegen, CodegenKind, KernelLanguage, Kernels, StandIn};
pub use config::{CONFIG, Config};
pub use device::{Activation, Blob};
pub use in_headers::{InHeaders, check_compiler};
pub use instance::{Pool, TargetInstance};
pub use kind::{
    CostDecl, Files, PatternDecl, PoolDecl, Role, ScheduleDecl, ServedFlags, TargetKind,
    option_word,
};
pub(crate) use known::{check_id, check_in_pipelines};
pub use library::{FOLDER as LIBRARY_FOLDER, LibraryDecl, LibraryFile};
pub use manifest::is_name;
pub use memory::{MemoryDecl, QueueDecl};
pub use operator::{
    OperandFacts, OperatorDecl, Operators, Reference, ResultDecl, key as operator_key,
};
pub use options::{OptionDecl, OptionKind, format_size, parse_size};
pub use pipelines::pipelines;
pub use profile::{profiled_machine, read_profile};
pub(crate) use registry::EmbedderKinds;
pub(crate) use registry::is_builtin;
pub use registry::{MANIFEST, Registry, of_context};
pub use spec::{GivenOption, TargetEntry, TargetSpec};
