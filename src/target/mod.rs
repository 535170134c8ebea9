//! Targets: what a compile is for.
//!
//! A [`TargetKind`] is one declaration (`target.toml`) from which patterns, options, help, memory
//! pools, pipelines and code generation come. A [`TargetSpec`] says which targets a compile is
//! for; the [`Registry`] turns it into [`TargetInstance`]s.

mod build;
mod describe;
mod instance;
mod kind;
pub mod manifest;
mod options;
mod registry;
mod spec;

#[cfg(test)]
mod tests;

pub use instance::{Pool, TargetInstance};
pub use kind::{
    Codegen, CodegenKind, CostDecl, Files, PatternDecl, PoolDecl, Role, TargetKind, option_word,
};
pub use manifest::is_name;
pub use options::{OptionDecl, OptionKind, format_size, parse_size};
pub use registry::{MANIFEST, Registry};
pub use spec::{GivenOption, TargetEntry, TargetSpec};
