//! `heronc`: the compiler of a vendor, with a target kind, a phase and a pass beside those of Phaseline.
#![forbid(unsafe_code)]

mod room;

use phaseline::{
    Result, Toolkit,
    phase::Phases,
    targets::{Files, TargetKind},
};
use std::process::ExitCode;

/// The files of the target kind.
const HERON: &[(&str, &str)] = &[("heron.c", include_str!("../heron/heron.c"))];

fn toolkit() -> Result<Toolkit> {
    let own = "builtin.module(@targets)";
    let phases = Phases::builtin().insert_after("post-partition", "heron", own)?;
    let manifest = include_str!("../heron/target.toml");
    let heron = TargetKind::parse(manifest, "heron/target.toml", Files::Embedded(HERON))?;
    Toolkit::new("Heron's pass driver")
        .with(|kit| kit.run_pass::<room::Room>())?
        .phases(phases)
        .target(heron)
}

fn main() -> ExitCode {
    match toolkit() {
        Ok(toolkit) => toolkit.main(std::env::args_os()),
        Err(error) => phaseline::report(&error),
    }
}
