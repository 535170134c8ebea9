//! The command line, as `phaseline --help` describes it.

mod emit;
mod memory;
mod model;
mod targets;
mod values;

pub use emit::Emit;
pub use memory::MemoryArgs;
use model::combinations;
pub use model::{ModelArgs, VariantsOf};
pub use targets::{
    CheckTargetArgs, NewCompilerArgs, NewTargetArgs, ProfileArgs, RegistryArgs, TargetsArgs,
};

use crate::{
    artifact::{Layout, WeightsPlace},
    phase::{Phase, named},
};
use clap::{Args, Parser, Subcommand};
use std::path::PathBuf;
use values::{parse_amount, parse_bind, parse_layout, parse_pass, parse_state, parse_weights};

/// Compile neural networks for combinations of accelerators, kernel libraries and CPUs.
#[derive(Debug, Parser)]
#[command(
    name = "phaseline",
    version,
    arg_required_else_help = true,
    max_term_width = 100,
    after_help = "Examples:
  phaseline partition model.onnx -t 'vanilla, llvm'      which operation runs where, and why not
  phaseline compile model.onnx -t 'vanilla, llvm' -o out  library, C header, generated C
  phaseline run model.onnx --random-inputs 1 --outputs y.npz
  phaseline verify test_dir/model.onnx --data test_dir    compare with reference outputs
  phaseline targets                                       what can follow -t
  phaseline new-target npu my-npu                         start an accelerator of your own

`phaseline COMMAND --help` says more about each command."
)]
pub struct Cli {
    /// Log to standard error what is done and how long it takes: error, warn, info, debug, trace,
    /// or PART=LEVEL, separated by commas. Parts are import, partition, phase, pass, hook, process,
    /// codegen, package, load, run, check, measure. Otherwise the environment variable
    /// PHASELINE_LOG says it
    #[arg(long, global = true, value_name = "LEVEL|PART=LEVEL,...")]
    pub log: Option<String>,
    /// The command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Compile a model to a static library, a shared object and a C header
    Compile(CompileArgs),
    /// Compile (or load) a model and run it once
    Run(RunArgs),
    /// Run a model on the test data next to it and compare outputs
    Verify(VerifyArgs),
    /// Measure the latency of a model
    Bench(BenchArgs),
    /// Find the part of a divided model that gives other numbers than the host
    Debug(DebugArgs),
    /// Show what a model takes and gives, its open sizes, operations and parameters
    Inspect(InspectArgs),
    /// Show which operation goes to which target, and why not to another
    Partition(PartitionArgs),
    /// Measure what the parts of a model take on each target, for --profile
    Profile(ProfileArgs),
    /// List the target kinds, or everything about one
    Targets(TargetsArgs),
    /// Write a small working target to start from
    NewTarget(NewTargetArgs),
    /// Write a crate for a compiler with a dialect and passes of its own
    NewCompiler(NewCompilerArgs),
    /// Check a target: its manifest, its C, and each pattern against the host on random graphs
    CheckTarget(CheckTargetArgs),
    /// Write man pages and completions of shells into a folder, which packages of a system install
    #[command(hide = true)]
    Pages {
        /// The folder: `man1` and `completions` are made in it
        directory: PathBuf,
    },
    /// Print the text of bytecode; `phaseline` runs it for itself
    #[command(hide = true)]
    PrintBytecode {
        /// The file
        path: PathBuf,
    },
}

/// Targets to compile for, and pipelines.
#[derive(Args, Clone, Debug)]
pub struct TargetArgs {
    /// Targets, most preferred first, the host last, each with options
    #[arg(short = 't', long = "target", value_name = "SPEC", default_value = "llvm")]
    pub target: String,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub known: RegistryArgs,
    /// Run this pipeline text instead of the targets' own (see --print-pipeline)
    #[arg(long, value_name = "FILE")]
    pub pipeline: Option<PathBuf>,
    /// Add passes at the end of a phase; may be repeated
    #[arg(long = "pass", value_name = "PHASE=PASSES", value_parser = parse_pass)]
    pub passes: Vec<(Phase, String)>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub memory: MemoryArgs,
    /// Place operations as this file says, before patterns are asked (see partition
    /// --save-placement)
    #[arg(long, value_name = "FILE", conflicts_with = "pipeline")]
    pub placement: Option<PathBuf>,
    /// Put the model's memory into the pools of a board, which this file lists (see docs/guides/memory.md)
    #[arg(long, value_name = "FILE")]
    pub pools: Option<PathBuf>,
    /// Fill working memory that nobody needs any more with NaN between steps, so that wrong uses are seen
    #[arg(long)]
    pub poison: bool,
    /// Look for the partition between targets that costs least by their declared costs, instead of
    /// taking targets and patterns in order of preference
    #[arg(long)]
    pub placement_search: bool,
    /// Go by these measurements (see profile) where the file has them: tiles, and with --placement-search
    /// costs
    #[arg(long, value_name = "FILE")]
    pub profile: Option<PathBuf>,
    /// Make each match of a device a region of its own, and wait for it: times of single layers
    #[arg(long)]
    pub apart: bool,
    /// Have an input or output of the model in the memory of a target's device: programs pass addresses
    /// there, and nothing is copied; may be repeated
    #[arg(long, value_name = "PORT=TARGET", value_parser = parse_bind)]
    pub bind: Vec<(String, String)>,
    /// Have an input and the output that is its new value in one buffer, of which a run changes
    /// what the network changes. Programs pass its address for both; may be repeated
    #[arg(long, value_name = "INPUT=OUTPUT", value_parser = parse_state)]
    pub state: Vec<(String, String)>,
    /// Order in which targets lower and generate code (ids, separated by commas); those left out
    /// follow in the order of the spec
    #[arg(long, value_name = "ID,...", value_delimiter = ',', conflicts_with = "pipeline")]
    pub lowering_order: Vec<String>,
    /// Write the IR after each phase into this directory, for reading: large weights are left out
    #[arg(long, value_name = "DIR")]
    pub dump_phases: Option<PathBuf>,
    /// With --dump-phases, write the weights too, so that --from can go on from the files
    #[arg(long, requires = "dump_phases")]
    pub dump_weights: bool,
    /// On a failing pass, write its input IR and pipeline to this file (phaseline-opt
    /// --run-reproducer replays it)
    #[arg(long, value_name = "FILE")]
    pub reproducer: Option<PathBuf>,
}

/// Cache of compiled models.
#[derive(Args, Clone, Debug)]
pub struct CacheArgs {
    /// Keep compiled models in this folder, and take them from there if nothing that decides on them has
    /// changed; PHASELINE_CACHE names one for all commands. Models for targets that are folders or have
    /// hooks are compiled each time
    #[arg(long, value_name = "DIR")]
    pub cache: Option<PathBuf>,
}

/// Arguments of `compile`.
#[derive(Args, Debug)]
#[command(after_help = emit::compile_help())]
pub struct CompileArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub model: ModelArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub target: TargetArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub cache: CacheArgs,
    /// Directory to create; one that phaseline made before and that is unchanged is replaced
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Replace such a directory with the files that were added or changed there, which are lost
    #[arg(long, requires = "output", conflicts_with_all = ["emit", "print_pipeline"])]
    pub force: bool,
    /// Name of the library and prefix of its symbols (default: from the model's file name)
    #[arg(long)]
    pub name: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub watch: super::watch::WatchArgs,
    /// Stop after a phase and print the IR, or with `c` the C of the targets that have it
    #[arg(long, value_name = "PHASE", conflicts_with_all = ["output", "print_pipeline"])]
    pub emit: Option<Emit>,
    /// The model is IR that --emit printed: go on after this phase
    #[arg(long, value_name = "PHASE", value_parser = named)]
    pub from: Option<Phase>,
    /// Print the pipeline text that would run, and stop
    #[arg(long, conflicts_with = "output")]
    pub print_pipeline: bool,
    /// Print what the model does step by step: kernels, calls and loops, their types, tasks and
    /// work, and the bytes of each memory; with =json as JSON, with =svg a picture of the steps
    #[arg(long, value_name = "json|svg", num_args = 0..=1, require_equals = true,
        default_missing_value = "text", value_parser = ["text", "json", "svg"],
        conflicts_with_all = ["emit", "print_pipeline"])]
    pub report: Option<String>,
    /// Draw the plan of memory over time and address, memory by memory, into this SVG file; without a
    /// file into the package, as NAME_plan.svg
    #[arg(long, value_name = "FILE", num_args = 0..=1, require_equals = true,
        conflicts_with_all = ["emit", "print_pipeline"])]
    pub plan_picture: Option<Option<PathBuf>>,
    /// Place of the weights in the package: inside of both libraries, or beside them in
    /// NAME.weights, one file that programs map [default: beside from 256 MiB]
    #[arg(long, value_name = "inside|beside", default_value = "auto", hide_default_value = true,
        value_parser = parse_weights)]
    pub weights: WeightsPlace,
    /// Lay the package out for another build as well: a module of Zephyr, a library of Arduino, or
    /// a crate of Rust. CMake and pkg-config find each package; may be repeated
    #[arg(long = "layout", value_name = "zephyr|arduino|crate", value_delimiter = ',', value_parser = parse_layout)]
    pub layout: Vec<Layout>,
    /// Make the package a crate of Rust as well, without a standard library: the same as --layout=crate
    #[arg(long)]
    pub emit_crate: bool,
    /// Let runs of the package be followed step by step (bench --by-layer, run --trace)
    #[arg(long)]
    pub trace: bool,
}

impl CompileArgs {
    /// The builds that the package is laid out for.
    pub(super) fn layouts(&self) -> Vec<Layout> {
        let own = self.emit_crate.then_some(Layout::Crate);
        self.layout.iter().copied().chain(own).collect()
    }
}

/// Source of inputs.
#[derive(Args, Clone, Debug)]
pub struct InputArgs {
    /// Inputs: an .npz keyed by input name, or a directory of ONNX input_N.pb files
    #[arg(long, value_name = "PATH", conflicts_with = "random_inputs")]
    pub inputs: Option<PathBuf>,
    /// Make inputs from a seed
    #[arg(long, value_name = "SEED")]
    pub random_inputs: Option<u64>,
}

/// Source of inputs and destination of outputs.
#[derive(Args, Clone, Debug)]
pub struct DataArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub inputs: InputArgs,
    /// Outputs: an .npz to write, or a directory to fill with output_N.pb files
    #[arg(long, value_name = "PATH")]
    pub outputs: Option<PathBuf>,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  phaseline run net.onnx --inputs x.npz --outputs y.npz
  phaseline run net.onnx -t 'vanilla, llvm' --random-inputs 1
  phaseline run out --inputs x.npz --outputs y.npz       a directory that compile wrote
  phaseline run net.onnx --random-inputs 1 --trace net.json   to look at in Perfetto")]
pub struct RunArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub model: ModelArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub target: TargetArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub cache: CacheArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub data: DataArgs,
    /// Threads that the host's kernels run on; results do not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Write when each step ran, in Chrome's trace format; the run is the second one
    #[arg(long, value_name = "FILE")]
    pub trace: Option<PathBuf>,
}

/// Arguments of `verify`.
#[derive(Args, Debug)]
#[command(after_help = "The data directory has ONNX's test layout: test_data_set_N/input_M.pb and
output_M.pb. Without output files nothing can be compared and the command fails.")]
pub struct VerifyArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub model: ModelArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub target: TargetArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub cache: CacheArgs,
    /// Directory with test_data_set_N folders (default: the model's own)
    #[arg(long, value_name = "DIR")]
    pub data: Option<PathBuf>,
    /// Largest relative error allowed
    #[arg(long, default_value_t = 1e-3, value_parser = parse_amount, allow_negative_numbers = true)]
    pub rtol: f64,
    /// Largest absolute error allowed
    #[arg(long, default_value_t = 1e-4, value_parser = parse_amount, allow_negative_numbers = true)]
    pub atol: f64,
}

/// Arguments of `bench`.
#[derive(Args, Debug)]
#[command(after_help = "Example:
  phaseline bench net.onnx --random-inputs 1 --threads 1 --json
  phaseline bench out --random-inputs 1 --at 'batch=1,8 tokens=32,128'

--json prints one line with compile_ms, load_ms, median_ms, p10_ms, p90_ms, min_ms, runs and
peak_rss_kb.")]
pub struct BenchArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub model: ModelArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub target: TargetArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub cache: CacheArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub data: DataArgs,
    /// Threads that the host's kernels run on; results do not depend on it
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=256))]
    pub threads: u32,
    /// Fewest measured runs
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..))]
    pub min_runs: u32,
    /// Least time to measure, in seconds
    #[arg(long, default_value_t = 1.0, value_parser = parse_amount, allow_negative_numbers = true)]
    pub min_time: f64,
    /// Measure a network whose sizes a run gives at these sizes, each combination of the lists; a size that is not named is the
    /// greatest. May be repeated
    #[arg(long = "at", value_name = "DIM=SIZE,...", value_parser = combinations, conflicts_with = "by_layer")]
    pub at: Vec<VariantsOf>,
    /// Print the time of each step beside its work: node, kernel or loop, types, tasks, GFLOP/s and
    /// the share of what the machine can do at most
    #[arg(long)]
    pub by_layer: bool,
    /// Print one JSON line
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `debug`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  phaseline debug net.onnx -t 'my-npu, llvm' --random-inputs 1
  phaseline debug net.onnx -t 'my-npu, llvm' --inputs x.npz --all --save wrong

The host computes all values of the model. Each match of a device is then run by itself on the
host's values and compared; then the whole model, and if only that is wrong, its regions are added
one by one. The exit code is 1 if anything differs.")]
pub struct DebugArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub model: ModelArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub target: TargetArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub data: InputArgs,
    /// Print matches that are right, too
    #[arg(long)]
    pub all: bool,
    /// Write inputs, expected and computed results of what differs into this folder, as .npz
    #[arg(long, value_name = "DIR")]
    pub save: Option<PathBuf>,
    /// Largest relative error of floats allowed
    #[arg(long, default_value_t = 1e-3, value_parser = parse_amount, allow_negative_numbers = true)]
    pub rtol: f64,
    /// Largest absolute error of floats allowed
    #[arg(long, default_value_t = 1e-4, value_parser = parse_amount, allow_negative_numbers = true)]
    pub atol: f64,
    /// Largest difference of integers allowed, which devices may round otherwise
    #[arg(long, default_value_t = 1.0, value_parser = parse_amount, allow_negative_numbers = true)]
    pub steps: f64,
}

/// Arguments of `partition`.
#[derive(Args, Debug)]
#[command(after_help = "Examples:
  phaseline partition net.onnx -t 'vanilla, llvm'
  phaseline partition net.onnx -t 'vanilla, llvm' --explain=all --html net.html
  phaseline partition net.onnx -t 'vanilla, llvm' --svg net.svg
  phaseline partition net.onnx -t 'vanilla, llvm' --placement-search --save-placement net.json")]
pub struct PartitionArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub model: ModelArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub target: TargetArgs,
    /// Print every decision: for each operation and target the condition that failed and its
    /// values, for each refused merge the path in the way, and all costs. With =all, print the
    /// condition of each pattern, not only of the one that came closest
    #[arg(long, value_name = "all", num_args = 0..=1, require_equals = true,
          default_missing_value = "closest", value_parser = ["closest", "all"])]
    pub explain: Option<String>,
    /// Print all of that as JSON instead
    #[arg(long)]
    pub json: bool,
    /// The model is IR that compile --emit printed: go on after this phase, import or pre-partition
    #[arg(long, value_name = "PHASE", value_parser = named)]
    pub from: Option<Phase>,
    /// Draw the graph, coloured by target, into this HTML file; clicks show reasons
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Draw the graph, coloured by target, as SVG into this file
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    /// Write the partition to this file; --placement gives it back, edited or not
    #[arg(long, value_name = "FILE")]
    pub save_placement: Option<PathBuf>,
}

/// Arguments of `phaseline inspect`.
#[derive(Args, Clone, Debug)]
pub struct InspectArgs {
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub model: ModelArgs,
    #[command(flatten)]
    #[allow(missing_docs, reason = "flattened into the command's own help")]
    pub known: RegistryArgs,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn declaration_is_consistent() {
        Cli::command().debug_assert();
    }
}
