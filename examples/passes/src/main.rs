//! `passes-opt`: five passes of the kinds that compilers have, each a file of under 80 lines.
#![forbid(unsafe_code)]

use phaseline_toolkit::{Result, Toolkit, dialect, upstream};
use std::process::ExitCode;

mod double;
mod hoist;
mod narrow;
mod taint;
mod unread;

dialect!(file, mlirGetDialectHandle__file__);

fn toolkit() -> Result<Toolkit> {
    Toolkit::new("Passes of the kinds that compilers have")
        .upstream([
            upstream::arith(),
            upstream::cf(),
            upstream::func(),
            upstream::pdl(),
            upstream::scf(),
        ])
        .dialect(file::dialect())
        .run_pass::<narrow::Narrow>()?
        .run_pass::<taint::FindTaint>()?
        .run_pass::<double::Double>()?
        .run_pass::<hoist::Hoist>()?
        .run_pass::<unread::RemoveUnread>()
}

fn main() -> ExitCode {
    match toolkit() {
        Ok(toolkit) => toolkit.opt_main(std::env::args_os()),
        Err(error) => phaseline_toolkit::report(&error),
    }
}
