//! `phaseline-opt`: mlir-opt with Phaseline's dialects, passes and pipelines.

fn main() -> std::process::ExitCode {
    phaseline::passes::toolkit_with_upstream().opt_main(std::env::args_os())
}
