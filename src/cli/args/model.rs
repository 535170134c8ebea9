//! Arguments that say which model is compiled, and what is known of its inputs.

use super::values::parse_value;
use crate::import::{ShapeOption, parse_size_option};
use clap::Args;
use phaseline_base::size::{MOST_VARIANTS, Variant, Variants};
use std::path::PathBuf;

/// The combinations of sizes that one option asks for.
#[derive(Clone, Debug)]
pub struct VariantsOf(pub Vec<Variant>);

/// Reads `batch=1,8 tokens=32`.
pub(super) fn combinations(text: &str) -> Result<VariantsOf, String> {
    Variant::parse(text).map(VariantsOf)
}

/// Reads `25` or `25%`.
fn percent(text: &str) -> Result<u32, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    number
        .filter(|number| (1..100).contains(number))
        .ok_or_else(|| format!("`{text}` is no part of the work: expected 1% to 99%"))
}

/// The model and how to specialise it.
#[derive(Args, Clone, Debug)]
pub struct ModelArgs {
    /// An ONNX or TensorFlow Lite model (.onnx, .tflite), or graph-dialect IR as text or bytecode (.mlir, .mlirbc)
    pub model: PathBuf,
    /// Shape of an input whose dimensions are open, or the size of an open dimension by its name. A
    /// size is a number, or a range LEAST..MOST or `LEAST..MOST step STEP`, which leaves the size
    /// to each run; may be repeated
    #[arg(long = "shape", value_name = "NAME=1x3x224x224|DIM=1..32", value_parser = parse_size_option)]
    pub shapes: Vec<(String, ShapeOption)>,
    /// Sizes that get code of their own beside that for all of a range, such as batch=1,8 or
    /// 'batch=1 tokens=32,1..64' (each combination). A run takes the code with the least work that
    /// its sizes fit into; may be repeated
    #[arg(long = "variant", value_name = "DIM=SIZE,...", value_parser = combinations)]
    pub variants: Vec<VariantsOf>,
    /// Divide the ranges of sizes into at most so many parts with code of their own, where that saves the most work
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=MOST_VARIANTS as i64))]
    pub buckets: Option<u32>,
    /// Divide them into as many parts as it takes for no more than this part of the work to be for padding, as mean over sizes
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub waste: Option<u32>,
    /// Value of an input that is a constant from now on, and no input of the compiled model. A
    /// value is a number, a list such as [[1,2],[3,4]], or @FILE, an .npy or .pb with it or an .npz
    /// that has it by its name; may be repeated
    #[arg(long = "value", value_name = "NAME=V|@FILE", value_parser = parse_value)]
    pub values: Vec<(String, String)>,
    /// Unroll loops of up to this many steps (recurrent layers, Scan, Loop), so that patterns see
    /// through the steps; longer ones stay loops where they can [default: 2]
    #[arg(long, value_name = "STEPS", value_parser = clap::value_parser!(i64).range(0..))]
    pub unroll_loops: Option<i64>,
    /// Take IR that is more than a network: a program, which may call any function with your rights (see
    /// docs/guides/trust.md). IR after a phase (--from) is taken as one
    #[arg(long)]
    pub trust: bool,
}

impl ModelArgs {
    /// The parts of ranges of sizes that get code of their own.
    pub(in crate::cli) fn variants(&self) -> Variants {
        Variants {
            given: self.variants.iter().flat_map(|all| all.0.clone()).collect(),
            buckets: self.buckets.map(|count| count as usize),
            waste: self.waste,
        }
    }

    /// The same, with the model trusted if something else says so.
    pub(in crate::cli) fn trusted_if(&self, also: bool) -> Self {
        Self { trust: self.trust || also, ..self.clone() }
    }
}
