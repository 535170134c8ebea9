//! `assign-pools`: chooses a pool of the board for each buffer, each scratch memory and each constant
//! in the host's memory ([`crate::pools::assign`]).

use crate::{
    ir::{Op, board},
    pass::{OptionValues, Pass, PassError},
    pools::assign,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "assign-pools",
    summary: "Choose a pool of the board for each buffer and constant",
    anchor: "builtin.module",
    options: &[],
    dialects: &[],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    match &*board::declared(module)? {
        [] => Ok(()),
        pools => assign::assign(module, pools),
    }
}
