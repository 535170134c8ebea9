//! `apply-schedules`: applies the schedules of a target, which `graph-partition` wrote on the module.
//!
//! ```text
//! phl.schedules = [{target = "npu", pattern = "conv", text = "module {transform.named_sequence ...}", ...}]
//! @npu_0: linalg.generic ... {phl.pattern = "conv"}  -->  scf.for ... { linalg.generic ... }
//! ```
//! Each is a library of its own, so that names of sequences of two targets do not meet.

use crate::{
    ir::{Op, schedule::Schedule},
    limits,
    pass::{OptionValues, Pass, PassError, PassOptions},
    targets,
};

crate::pass_options! {
    /// Options of `apply-schedules`.
    pub struct Options {
        target: String = "", "Id of the target";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "apply-schedules",
    summary: "Apply the schedules of a target, in the transform dialect",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["transform", "scf", "tensor", "linalg", "arith", "affine", "vector"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let own = Schedule::all(module).into_iter().filter(|known| known.target == options.target);
    let mut own = own.peekable();
    if own.peek().is_none() {
        return Ok(targets::check_id(module, &options.target)?);
    }
    for schedule in own {
        limits::check_text(schedule.text.as_bytes()).map_err(|(line, reason)| {
            PassError::new(format!("{}:{line}: {reason}", schedule.place))
        })?;
        schedule.apply(module).map_err(|error| PassError::new(error.to_string()))?;
    }
    Ok(())
}
