//! Builds the C++ of `capi/`: what MLIR's C API lacks.

use phaseline_build::{Build, Result};

fn main() -> Result<()> {
    // For dialects whose C++ uses the headers.
    println!("cargo:include={}", std::env::current_dir()?.display());
    Build::new()?
        .include(".")
        .sources("capi")
        .sources("capi/upstream")
        .bindings("capi", "phl.*", "Phl.*")
        .compile("phaseline_toolkit")
}
