//! `graph-split-patches`: computes stages of a convolutional network patch by patch, where the
//! whole values between them take most memory.
//!
//! ```text
//! %a = conv %x pads = [1, 1, 1, 1]          %x0 = slice %x rows 0..9
//! %b = conv %a pads = [1, 1, 1, 1]   -->    %a0 = conv %x0 pads = [1, 1, 0, 1]
//!                                           %b0 = conv %a0 pads = [1, 1, 0, 1]
//!                                           %x1 = slice %x rows 7..16
//!                                           ...
//!                                           %b = concat %b0, %b1
//! ```
//! Answers are the same: a patch is larger where windows of the next operation look over its edge.

use crate::{
    ir::Op,
    pass::{OptionValues, Pass, PassError, PassOptions},
    patch::{self, Goal},
};

crate::pass_options! {
    /// Options of `graph-split-patches`.
    pub struct Options {
        max_patches: i64 = "16", "Greatest number of patches of a value";
        arena_limit: i64 = "0", "Arena size in bytes that is small enough; 0: as small as possible";
        max_recompute: i64 = "50", "Additional arithmetic of the whole network at most, in percent";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-split-patches",
    summary: "Compute the stages that take most memory patch by patch",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["graph"],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(|error| PassError::at(&function, error))?;
    let least = [
        ("max-patches", options.max_patches, 2),
        ("arena-limit", options.arena_limit, 0),
        ("max-recompute", options.max_recompute, 0),
    ];
    for (name, value, least) in least {
        if value < least {
            let text = format!("option '{name}' is {value}; it has to be {least} or more");
            return Err(PassError::at(&function, text));
        }
    }
    let goal = Goal {
        patches: options.max_patches,
        enough: options.arena_limit.unsigned_abs(),
        recompute: options.max_recompute,
    };
    for choice in patch::split(function, goal)? {
        tracing::debug!(target: "phaseline::patch", ?choice, "patches");
    }
    Ok(())
}
