//! `apply-hook`: asks a target's own code, in Rust or a program of its manifest.
//!
//! ```text
//! @npu_0 {phl.target = "npu"}: graph.composite "npu.conv2d" ...
//!   --apply-hook{target=npu hook=graph-to-tir}-->
//! @npu_0 {phl.target = "npu"}: what the hook returned
//! ```
//! What hooks are and may do is in [`crate::hook`].

use crate::{
    hook,
    ir::{self, Op, names::TARGET_SPEC},
    pass::{OptionField, OptionKind, OptionValues, Pass, PassError, PassOptions},
    passes::graph_partition::resolve_in,
    phase::HookPoint,
};

crate::pass_options! {
    /// Options of `apply-hook`.
    pub struct Options {
        target: String = "", "Id of the target instance";
        hook: Hook = "", "Hook to run";
        target_path: String = "", "Directories with targets as data, separated by colons";
    }
}

/// An option that names a hook.
#[derive(Clone, Copy, Debug)]
pub struct Hook(HookPoint);

impl OptionField for Hook {
    const KIND: OptionKind = OptionKind::Choice(&{
        let [first, second, third, fourth] = HookPoint::ALL;
        [first.name(), second.name(), third.name(), fourth.name()]
    });

    fn from_text(text: &str) -> Result<Self, String> {
        text.parse().map(Self).map_err(|error: crate::Error| error.to_string())
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "apply-hook",
    summary: "Run a hook of a target, written in Rust or named in its manifest",
    anchor: "builtin.module",
    options: Options::SPECS,
    // Results of hooks may be of any dialect that lowering and bufferization take.
    dialects: &["graph", "func", "tir", "arith", "tensor", "linalg", "scf", "memref"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let Hook(point) = options.hook;
    let spec = ir::attr_str(module, TARGET_SPEC).ok_or_else(|| {
        PassError::new(format!("the module has no {TARGET_SPEC}, which says what the targets are"))
    })?;
    let context = ir::context_of(module);
    let targets = resolve_in(context, &spec, std::env::split_paths(&options.target_path))?;
    let target = targets.iter().find(|target| target.id == options.target).ok_or_else(|| {
        PassError::new(format!("the target spec '{spec}' has no target '{}'", options.target))
    })?;
    if !target.kind.hooks.is_code(point) {
        return Err(PassError::new(format!(
            "target '{}' has no hook {point} in Rust or as a program; a target that a program \
             adds to its session is known there only",
            target.id
        )));
    }
    hook::apply(module, target, point)
}
