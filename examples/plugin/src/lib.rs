//! A plugin: the dialect `bits`, and the pass `bits-rotate` that finds rotations in shifts, for each program of
//! phaseline-toolkit that loads plugins.
#![forbid(unsafe_code)]

use phaseline_toolkit::{Result, Toolkit, dialect};

mod dialect;
mod pass;

dialect!(bits, mlirGetDialectHandle__bits__);

fn register(toolkit: Toolkit) -> Result<Toolkit> {
    dialect::add_to(toolkit.dialect(bits::dialect())).run_pass::<pass::Rotate>()?.pipeline(
        "bits",
        "Find rotations, and clean up",
        "builtin.module(bits-rotate,canonicalize)",
    )
}

phaseline_toolkit::plugin!(register);
