//! `phaseline`: compile, run and measure neural networks.

fn main() -> std::process::ExitCode {
    phaseline::cli::main(std::env::args_os())
}
