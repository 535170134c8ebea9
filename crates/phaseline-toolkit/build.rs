//! Builds the C++ of `capi/`: what MLIR's C API lacks.

use phaseline_build::{Build, Result};

fn main() -> Result<()> {
    // For dialects whose C++ uses the headers.
    println!("cargo:include={}", std::env::current_dir()?.display());
    let build = Build::new()?;
    println!("cargo:rustc-env=PHASELINE_LLVM_PREFIX={}", build.prefix().display());
    println!("cargo:rustc-env=PHASELINE_LLVM_VERSION={}", build.version()?);
    build
        .include(".")
        .sources("capi")
        .sources("capi/upstream")
        .bindings("capi", "phl.*", "Phl.*")
        .compile("phaseline_toolkit")
}
