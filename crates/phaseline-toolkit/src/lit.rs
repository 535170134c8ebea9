//! FileCheck tests of a compiler, run by `cargo test`.
//!
//! A test target without a harness (`harness = false` in Cargo.toml) is one line:
//!
//! ```ignore
//! phaseline_toolkit::lit!("tests/lit", "toy" = env!("CARGO_BIN_EXE_toy"));
//! ```

use crate::{Error, Result, driver::report};
use std::{
    path::Path,
    process::{Command, ExitCode},
};

/// The prefix of the LLVM that the build found.
const LLVM: &str = env!("PHASELINE_LLVM_PREFIX");

/// A word that RUN lines use for a program.
#[derive(Clone, Copy, Debug)]
#[doc(hidden)]
pub struct Tool<'a> {
    /// The word.
    pub name: &'a str,
    /// Path of the program.
    pub program: &'a str,
}

/// Runs lit on a folder; gives its exit code, or that of a failure after an error on standard error. `filters` are regular
/// expressions for names of tests, as `cargo test` is given them.
pub fn main(folder: &str, tools: &[Tool<'_>], filters: impl Iterator<Item = String>) -> ExitCode {
    match run(Path::new(folder), tools, filters.collect()) {
        Ok(code) => ExitCode::from(code),
        Err(error) => report(&error),
    }
}

fn run(folder: &Path, tools: &[Tool<'_>], filters: Vec<String>) -> Result<u8> {
    let folder = folder.canonicalize().map_err(|e| Error::io("cannot read", folder, e))?;
    let bin = Path::new(LLVM).join("bin");
    if let Some(missing) = ["lit", "FileCheck"].iter().find(|name| !bin.join(name).exists()) {
        return Err(Error::invalid(format!(
            "there is no {missing} in {}: {PACKAGES}",
            bin.display()
        )));
    }
    let made = std::env::temp_dir().join(format!("phaseline-lit-{}", std::process::id()));
    let result = run_in(&made, &folder, tools, &filters);
    // What lit wrote is of this run alone.
    let _ = std::fs::remove_dir_all(&made);
    result
}

/// The remedy for a program that is missing.
const PACKAGES: &str = "install the Debian package llvm-22-tools";

fn run_in(made: &Path, folder: &Path, tools: &[Tool<'_>], filters: &[String]) -> Result<u8> {
    std::fs::create_dir_all(made).map_err(|e| Error::io("cannot create", made, e))?;
    let mut text = format!(
        "import lit.formats\nconfig.name = 'lit'\n\
         config.test_format = lit.formats.ShTest(True)\n\
         config.suffixes = ['.mlir', '.test']\n\
         config.test_source_root = {folder:?}\nconfig.test_exec_root = {made:?}\n\
         config.environment['PATH'] = {bin:?} + ':' + config.environment.get('PATH', '')\n",
        bin = Path::new(LLVM).join("bin"),
    );
    for Tool { name, program } in tools {
        let line = format!(
            "config.substitutions.append((r'(?<![-./\\w]){name}(?![-./\\w])', {program:?}))\n"
        );
        text.push_str(&line);
    }
    let config = made.join("lit.cfg.py");
    std::fs::write(&config, text).map_err(|e| Error::io("cannot write", &config, e))?;
    let program = Path::new(LLVM).join("bin/lit");
    let mut command = Command::new(&program);
    command.arg("-sv");
    // Options are those of Rust's own harness.
    for filter in filters.iter().filter(|filter| !filter.starts_with('-')) {
        command.arg(format!("--filter={filter}"));
    }
    command.arg(made);
    let status = command.status().map_err(|e| Error::io("cannot run", &program, e))?;
    Ok(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1))
}
