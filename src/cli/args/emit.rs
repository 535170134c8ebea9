//! Output of `compile` in place of a package, and its help.

use crate::{
    Error,
    phase::{Phase, named},
};
use std::str::FromStr;

const EXAMPLES: &str = "Examples:
  phaseline compile net.onnx -t 'vanilla, llvm' -o out
  phaseline compile net.onnx --shape input=1x3x224x224 -o out
  phaseline compile net.onnx --emit=tir-schedule > net.mlir
  phaseline compile net.mlir --from=tir-schedule -o out
  phaseline compile net.onnx --timing --print-ir-after=graph-partition -o out
  phaseline compile net.onnx -t llvm --print-pipeline > my.pipeline
  phaseline compile net.onnx -t llvm --pipeline my.pipeline -o out
  phaseline compile net.onnx -t 'vanilla, llvm' --report   what becomes a kernel, and what loops";

/// Text after the options in the help of `compile`.
pub fn compile_help() -> String {
    let phases = Phase::table();
    format!("Phases, in order; targets may have passes at those with a star:\n{phases}\n{EXAMPLES}")
}

/// Output of `compile --emit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emit {
    /// The IR after a phase.
    Ir(Phase),
    /// The C that is printed after the last one.
    C,
}

impl Emit {
    /// The last phase that runs.
    pub fn until(self) -> Phase {
        match self {
            Self::Ir(phase) => phase,
            Self::C => Phase::Codegen,
        }
    }
}

impl FromStr for Emit {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let phase = || named(text).map(Self::Ir);
        let or_c = |error| Error::invalid(format!("{error}; or c, the C that is generated"));
        if text == "c" { Ok(Self::C) } else { phase().map_err(or_c) }
    }
}
