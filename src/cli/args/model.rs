//! Arguments that say which model is compiled, and what is known of its inputs.

use super::values::parse_value;
use crate::import::{ShapeOption, parse_size_option};
use clap::Args;
use std::path::PathBuf;

/// The model and how to specialise it.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// An ONNX or TensorFlow Lite model (.onnx, .tflite), or graph-dialect IR as text or bytecode (.mlir, .mlirbc)
    pub model: PathBuf,
    /// Shape of an input whose dimensions are open, or the size of an open dimension by its name: a number, or a range
    /// LEAST..MOST or `LEAST..MOST step STEP`, which leaves the size to each run; may be repeated
    #[arg(long = "shape", value_name = "NAME=1x3x224x224|DIM=1..32", value_parser = parse_size_option)]
    pub shapes: Vec<(String, ShapeOption)>,
    /// Value of an input that is a constant from now on, and no input of what is compiled: a number,
    /// a list such as [[1,2],[3,4]], or @FILE, an .npy or .pb with it or an .npz that has it by its
    /// name; may be repeated
    #[arg(long = "value", value_name = "NAME=V|@FILE", value_parser = parse_value)]
    pub values: Vec<(String, String)>,
    /// Unroll loops of up to this many steps (recurrent layers, Scan, Loop), so that patterns see
    /// through the steps; longer ones stay loops where they can [default: 2]
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(i64).range(0..))]
    pub unroll_loops: Option<i64>,
    /// Take IR that is more than a network: a program, which may call any function with your rights (see
    /// docs/trust.md). IR after a phase (--from) is taken as one
    #[arg(long)]
    pub trust: bool,
}

impl ModelArgs {
    /// The same, with the model trusted if something else says so.
    pub(in crate::cli) fn trusted_if(&self, also: bool) -> Self {
        Self { trust: self.trust || also, ..self.clone() }
    }
}
