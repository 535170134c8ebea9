//! `phaseline-opt`: mlir-opt with Phaseline's dialects, passes and pipelines.

fn main() -> std::process::ExitCode {
    phaseline::passes::toolkit().opt_main(std::env::args_os())
}
