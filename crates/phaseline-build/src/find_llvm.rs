//! Search for an installation of LLVM 22 with MLIR.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
    process::Command,
};

/// The variables that the build scripts of mlir-sys, llvm-sys and tblgen read. They have to name
/// one installation, so any of them tells where it is.
pub const VARIABLES: [&str; 3] =
    ["MLIR_SYS_220_PREFIX", "LLVM_SYS_221_PREFIX", "TABLEGEN_220_PREFIX"];

/// Programs on PATH that say where their installation is.
const PROGRAMS: [&str; 2] = ["llvm-config-22", "llvm-config"];

const REMEDY: &str = "install llvm-22-dev, libmlir-22-dev and mlir-22-tools (setup/packages.txt \
                      lists all), or set MLIR_SYS_220_PREFIX, LLVM_SYS_221_PREFIX and \
                      TABLEGEN_220_PREFIX to an installation as README.md shows";

/// Prefix of an installation: that of the variables, else that of `llvm-config-22` or `llvm-config`
/// in one of the folders of `path`. Without any of them it is `usual`.
///
/// # Errors
/// A variable names a folder without LLVM 22 and MLIR, or two variables name different ones, or
/// nothing is found. The text says what was tried.
pub fn find(
    variable: impl Fn(&str) -> Option<OsString>,
    path: &[PathBuf],
    usual: &Path,
) -> Result<PathBuf, String> {
    let mut tried = vec![];
    let mut given: Option<(&str, PathBuf)> = None;
    for name in VARIABLES {
        let Some(prefix) = variable(name).map(PathBuf::from) else {
            tried.push(format!("{name} is not set"));
            continue;
        };
        check(&prefix).map_err(|reason| {
            format!("{name} is {}, which {reason}: {REMEDY}", prefix.display())
        })?;
        match &given {
            Some((first, other)) if !is_same(other, &prefix) => {
                let (other, prefix) = (other.display(), prefix.display());
                return Err(format!("{first} is {other}, but {name} is {prefix}: {REMEDY}"));
            }
            Some(_) => {}
            None => given = Some((name, prefix)),
        }
    }
    if let Some((_, prefix)) = given {
        return Ok(prefix);
    }
    for name in PROGRAMS {
        let Some(program) = path.iter().map(|folder| folder.join(name)).find(|p| p.is_file())
        else {
            tried.push(format!("{name} is not on PATH"));
            continue;
        };
        let checked = ask(&program, "--prefix")
            .map(PathBuf::from)
            .and_then(|prefix| check(&prefix).map(|()| prefix));
        match checked {
            Ok(prefix) => return Ok(prefix),
            Err(reason) => tried.push(format!("{} {reason}", program.display())),
        }
    }
    match check(usual) {
        Ok(()) => Ok(usual.to_path_buf()),
        Err(reason) => {
            tried.push(format!("{} {reason}", usual.display()));
            Err(format!("no LLVM 22 with MLIR was found ({}): {REMEDY}", tried.join("; ")))
        }
    }
}

/// Checks an installation for all needed parts; the error names a missing one.
fn check(prefix: &Path) -> Result<(), String> {
    for part in ["bin/llvm-config", "bin/mlir-tblgen", "include/mlir-c/IR.h"] {
        if !prefix.join(part).is_file() {
            return Err(format!("has no {part}"));
        }
    }
    let version = version(prefix)?;
    if version.starts_with("22.") { Ok(()) } else { Err(format!("is version {version}")) }
}

/// The version of an installation.
pub fn version(prefix: &Path) -> Result<String, String> {
    ask(&prefix.join("bin/llvm-config"), "--version")
}

/// Answer of an `llvm-config`.
fn ask(program: &Path, question: &str) -> Result<String, String> {
    let output = Command::new(program)
        .arg(question)
        .output()
        .map_err(|error| format!("cannot be run: {error}"))?;
    let answer = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if output.status.success() && !answer.is_empty() {
        Ok(answer)
    } else {
        Err(format!("does not answer {question}"))
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => a == b,
    }
}
