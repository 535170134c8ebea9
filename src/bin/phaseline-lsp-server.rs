//! `phaseline-lsp-server`: the language server for MLIR files with Phaseline's dialects.

fn main() -> std::process::ExitCode {
    phaseline::passes::toolkit_with_upstream().lsp_main(std::env::args_os())
}
