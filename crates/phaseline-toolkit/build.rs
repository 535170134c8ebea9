//! Builds the C++ of `capi/`: what MLIR's C API lacks.

#![allow(clippy::disallowed_methods, reason = "Cargo passes its arguments in the environment")]

use phaseline_build::{Build, Result};
use std::{env, process::Command};

fn main() -> Result<()> {
    // For dialects whose C++ uses the headers.
    println!("cargo:include={}", env::current_dir()?.display());
    let build = Build::new()?;
    println!("cargo:rustc-env=PHASELINE_LLVM_PREFIX={}", build.prefix().display());
    println!("cargo:rustc-env=PHASELINE_LLVM_VERSION={}", build.version()?);
    describe_compiler()?;
    build
        .include(".")
        .sources("capi")
        .sources("capi/upstream")
        .bindings("capi", "phl.*", "Phl.*")
        // The drivers, and all of upstream, are large.
        .shares("capi", &["Lsp", "Opt", "Upstream"])
        .compile("phaseline_toolkit")
}

/// Tells the crate of the compiler, by which plugins fit programs or do not.
fn describe_compiler() -> Result<()> {
    let compiler = env::var_os("RUSTC").ok_or("Cargo says what compiler there is")?;
    let output = Command::new(compiler).arg("-vV").output()?;
    let text = String::from_utf8_lossy(&output.stdout);
    println!("cargo:rustc-env=PHASELINE_RUSTC={}", text.lines().next().unwrap_or_default());
    println!("cargo:rustc-env=PHASELINE_TARGET={}", env::var("TARGET")?);
    // Flags that change how values are laid out, or functions are called.
    println!("cargo:rerun-if-env-changed=CARGO_ENCODED_RUSTFLAGS");
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    let flags: Vec<_> = flags.split('\u{1f}').collect();
    let behind = |at: usize| at > 0 && flags[at - 1] == "-Z";
    let mut kept: Vec<_> = (0..flags.len())
        .filter(|at| flags[*at] != "-Z" && (behind(*at) || flags[*at].starts_with("-Z")))
        .map(|at| flags[at].trim_start_matches("-Z"))
        .collect();
    kept.sort_unstable();
    println!("cargo:rustc-env=PHASELINE_FLAGS={}", kept.join(" "));
    Ok(())
}
