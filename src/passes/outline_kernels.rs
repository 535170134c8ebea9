//! `outline-kernels`: loops of a device's functions become kernels that it runs over a grid
//! ([`crate::launch`]).

use crate::{
    ir::Op,
    launch,
    pass::{OptionValues, Pass, PassError, PassOptions},
    targets,
};

crate::pass_options! {
    /// Options of `outline-kernels`.
    pub struct Options {
        target: String = "", "Id of the target whose functions have the loops";
        launch: String = "", "C function that runs a kernel";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "outline-kernels",
    summary: "Move the loops of a device's functions into kernels that calls launch",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["arith", "func", "gpu", "memref", "scf", "tir"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    for (name, value) in [("target", &options.target), ("launch", &options.launch)] {
        if value.is_empty() {
            return Err(PassError::new(format!("outline-kernels needs the option {name}")));
        }
    }
    targets::check_id(module, &options.target)?;
    launch::outline(module, &options.target, &options.launch)
}
