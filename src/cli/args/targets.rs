//! Commands about targets, for those who write or choose them.

use super::{
    super::{registry::parse_alias, templates},
    ModelArgs, parse_amount,
};
use crate::targets::{CodegenKind, TargetSpec};
use clap::Args;
use std::path::PathBuf;

/// Sources of targets besides the program.
#[derive(Args, Clone, Debug)]
pub struct RegistryArgs {
    /// More directories that hold targets as data (target.toml); may be repeated. The environment
    /// variable PHASELINE_TARGET_PATH (colon-separated) is searched after them
    #[arg(long = "target-path", value_name = "DIR")]
    pub target_path: Vec<PathBuf>,
    /// Let a name stand for a target spec; may be repeated
    #[arg(long, value_name = "NAME=SPEC", value_parser = parse_alias)]
    pub alias: Vec<(String, TargetSpec)>,
    /// File with a target-path and aliases [default: phaseline.toml, if it is there]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
}

/// `phaseline new-target`.
#[derive(Args, Clone, Debug)]
#[command(after_help = templates::help())]
pub struct NewTargetArgs {
    /// Name of the target in target specs: a letter, then letters, digits, '-' and '_'
    pub name: String,
    /// Directory to create
    pub directory: PathBuf,
    /// Kind of device it starts as
    #[arg(long, value_name = "NAME", default_value = "call")]
    pub template: String,
}

/// `phaseline new-compiler`.
#[derive(Args, Clone, Debug)]
pub struct NewCompilerArgs {
    /// Name of the compiler, its crate and its dialect: a small letter, then small letters, digits and '_'
    pub name: String,
    /// Directory to create
    pub directory: PathBuf,
    /// Checkout of Phaseline that the crate is built on [default: the one that this program was built of]
    #[arg(long, value_name = "DIR")]
    pub phaseline: Option<PathBuf>,
}

/// `phaseline check-target`.
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:
  phaseline check-target my-npu
  phaseline check-target my-npu --options '-lanes=16' --samples 20 --seed 7
  phaseline check-target vanilla
  phaseline check-target my-npu --suite models      onnx's cases and other models, as a table
  phaseline check-target my-npu --mutate=20         whether the check notices defects in its C")]
pub struct CheckTargetArgs {
    /// Directory with a target.toml, or the name of a known target
    pub target: String,
    /// Options of the target, as in a target spec
    #[arg(long, value_name = "OPTIONS", default_value = "", allow_hyphen_values = true)]
    pub options: String,
    /// Target that results are compared with
    #[arg(long, value_name = "SPEC", default_value = "llvm")]
    pub host: String,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub known: RegistryArgs,
    /// Try this pattern only
    #[arg(long, value_name = "NAME")]
    pub pattern: Option<String>,
    /// Matching graphs to compile and run for each pattern
    #[arg(long, default_value_t = 24)]
    pub samples: usize,
    /// Seed of the random graphs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Relative error of floats that is accepted (default: by their type, 128 units in the last
    /// place of a float32)
    #[arg(long)]
    pub rtol: Option<f64>,
    /// Absolute error of floats that is accepted (default: by what they are summed from)
    #[arg(long)]
    pub atol: Option<f64>,
    /// Difference of integers that are rounded that is accepted; at most 30% of them may have it
    #[arg(long, default_value_t = 1.0)]
    pub steps: f64,
    /// Run the models of a folder instead: NAME/model.onnx with NAME/test_data_set_0, as ONNX's
    /// operator suite and its models have them, and plain .onnx files, which are compared with the
    /// host on random inputs
    #[arg(long, value_name = "DIR", conflicts_with_all = ["pattern", "samples"])]
    pub suite: Option<PathBuf>,
    /// Plant so many defects in the device's C, one at a time, and say which of them the check finds;
    /// --seed chooses them
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "60", conflicts_with = "suite",
        value_parser = clap::value_parser!(u32).range(1..))]
    pub mutate: Option<u32>,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `profile`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  phaseline profile net.onnx -t 'dnnl, llvm' -o net.profile.json
  phaseline partition net.onnx -t 'dnnl, llvm' --placement-search --profile net.profile.json
  phaseline profile net.onnx -t 'vanilla, llvm' --tiles -o net.profile.json
  phaseline compile net.onnx -t 'vanilla, llvm' --profile net.profile.json -o net

Every match of every target and every operation of the host is compiled and run by itself. The time
is wall time on this machine, on one thread: of a simulated device it is the simulator's.")]
pub struct ProfileArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub model: ModelArgs,
    /// Targets, most preferred first, the host last, each with options
    #[arg(short = 't', long = "target", value_name = "SPEC", default_value = "llvm")]
    pub target: String,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub known: RegistryArgs,
    /// File to write; only a profile is replaced
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// Samples of each piece of work, of which the median counts
    #[arg(long, default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..))]
    pub samples: u32,
    /// Least time of a sample, in microseconds; shorter work is repeated within it
    #[arg(long, default_value_t = 200.0, value_parser = parse_amount, allow_negative_numbers = true)]
    pub sample_time: f64,
    /// Most time for the samples of one piece of work, in seconds
    #[arg(long, default_value_t = 2.0, value_parser = parse_amount, allow_negative_numbers = true)]
    pub limit: f64,
    /// Seed of the inputs
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Measure each call that is computed tile by tile with so many tiles (sizes and orders of loops), those
    /// of least declared cost, and keep the fastest
    #[arg(long, value_name = "N", num_args = 0..=1, require_equals = true,
        default_missing_value = "6", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub tiles: Option<u32>,
}

/// Arguments of `targets`.
#[derive(Args, Debug)]
#[command(after_help = format!("Code generators, `kind` under [codegen]:\n{}", CodegenKind::table()))]
pub struct TargetsArgs {
    /// A target kind or an alias to show in full
    pub name: Option<String>,
    /// List which operations the host has kernels for, by element type; NAME may have options, as in
    /// 'llvm -mcpu=x86-64-v3' [default: llvm]
    #[arg(long)]
    pub kernels: bool,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub known: RegistryArgs,
    /// Print JSON instead of text
    #[arg(long)]
    pub json: bool,
}
