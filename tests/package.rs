//! Packaging for other people's crates: the search for LLVM, and the files in a package of this
//! crate.

#![allow(clippy::disallowed_methods, reason = "cargo tells tests where things are")]

#[path = "../crates/phaseline-build/src/find_llvm.rs"]
mod find_llvm;

use find_llvm::find;
use std::{
    collections::{BTreeSet, HashMap},
    ffi::OsString,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
};

/// A folder that looks like an installation of LLVM.
fn installation(prefix: &Path, version: &str) -> PathBuf {
    fs::create_dir_all(prefix.join("bin")).expect("creates");
    fs::create_dir_all(prefix.join("include/mlir-c")).expect("creates");
    fs::write(prefix.join("bin/mlir-tblgen"), "").expect("writes");
    fs::write(prefix.join("include/mlir-c/IR.h"), "").expect("writes");
    config(&prefix.join("bin/llvm-config"), version, prefix);
    prefix.to_path_buf()
}

/// A program that answers like `llvm-config`.
fn config(path: &Path, version: &str, prefix: &Path) {
    let script = format!(
        "#!/bin/sh\ncase $1 in --version) echo {version};; --prefix) echo {};; esac\n",
        prefix.display()
    );
    fs::write(path, script).expect("writes");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("sets");
}

fn find_with(
    variables: &[(&str, &Path)],
    path: &[PathBuf],
    usual: &Path,
) -> Result<PathBuf, String> {
    let variables: HashMap<_, _> = variables.iter().copied().collect();
    find(|name| variables.get(name).map(OsString::from), path, usual)
}

#[test]
fn llvm_is_found_by_variable_then_program_then_folder() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = installation(&folder.path().join("a"), "22.1.0");
    let b = installation(&folder.path().join("b"), "22.1.5");
    let c = installation(&folder.path().join("c"), "22.0.0");
    let path = folder.path().join("path");
    fs::create_dir(&path).expect("creates");
    config(&path.join("llvm-config-22"), "22.1.5", &b);
    let path = [folder.path().join("missing"), path];
    for name in find_llvm::VARIABLES {
        assert_eq!(find_with(&[(name, &a)], &path, &c), Ok(a.clone()));
    }
    assert_eq!(find_with(&[], &path, &c), Ok(b));
    assert_eq!(find_with(&[], &[], &c), Ok(c));
}

#[test]
fn an_llvm_of_another_version_on_path_is_passed_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let old = installation(&folder.path().join("old"), "14.0.6");
    let new = installation(&folder.path().join("new"), "22.1.0");
    let path = [old.join("bin")];
    assert_eq!(find_with(&[], &path, &new), Ok(new));
    let message = find_with(&[], &path, &folder.path().join("none")).expect_err("none fits");
    let program = old.join("bin/llvm-config");
    for part in [
        "no LLVM 22 with MLIR was found (MLIR_SYS_220_PREFIX is not set;",
        "llvm-config-22 is not on PATH",
        &format!("{} is version 14.0.6", program.display()),
        "none has no bin/llvm-config): install llvm-22-dev",
    ] {
        assert!(message.contains(part), "'{part}' is not in: {message}");
    }
}

#[test]
fn a_wrong_variable_is_an_error() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = installation(&folder.path().join("a"), "22.1.0");
    let b = installation(&folder.path().join("b"), "22.1.0");
    let old = installation(&folder.path().join("old"), "21.1.0");
    let error = |variables: &[(&str, &Path)]| {
        find_with(variables, &[], &a).expect_err("is refused, though the usual folder is right")
    };
    assert!(error(&[("LLVM_SYS_221_PREFIX", &old)]).contains("which is version 21.1.0"));
    let none = folder.path().join("none");
    assert!(error(&[("TABLEGEN_220_PREFIX", &none)]).contains("which has no bin/llvm-config"));
    let two = error(&[("MLIR_SYS_220_PREFIX", &a), ("LLVM_SYS_221_PREFIX", &b)]);
    assert!(two.contains("but LLVM_SYS_221_PREFIX is"), "{two}");
}

fn cargo(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .args(["--offline", "--allow-dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("is text")
}

/// The files of this folder that the compiler read for the library. rustc writes a rule beside
/// each library; cargo's own, with absolute paths, is there only after `cargo build`.
fn read_by_the_compiler(root: &Path) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_BIN_EXE_phaseline")).with_file_name("deps");
    let rules = fs::read_dir(&folder).expect("cargo keeps what it built").flatten();
    let rules = rules.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("phaseline-") && name.ends_with(".d")
    });
    let rules: String = rules.map(|path| fs::read_to_string(path).expect("is text")).collect();
    let library = rules.lines().filter_map(|rule| rule.split_once(".rlib: "));
    let files = library.flat_map(|(_, read)| read.split_whitespace());
    let root = root.canonicalize().expect("the folder of this crate");
    let files: BTreeSet<_> = files
        // What was removed since, and what lies elsewhere, is no part of a package.
        .filter_map(|path| root.join(path).canonicalize().ok())
        .filter_map(|path| Some(path.strip_prefix(&root).ok()?.to_path_buf()))
        .filter(|path| root.join(path).is_file() && !path.starts_with("target"))
        .collect();
    files.into_iter().collect()
}

/// A package has every file that the compiler read for the library, and what build.rs reads.
#[test]
fn the_package_has_all_that_a_build_reads() {
    let listed = cargo(&["package", "--list"]);
    let listed: Vec<_> = listed.lines().collect();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut needed = read_by_the_compiler(root);
    for folder in ["dialects", "dialects/capi", "dialects/graph", "dialects/tir"] {
        for entry in fs::read_dir(root.join(folder)).expect("reads").flatten() {
            if entry.path().is_file() {
                needed.push(Path::new(folder).join(entry.file_name()));
            }
        }
    }
    assert!(needed.len() > 300, "only {} files are known to be read", needed.len());
    for file in &needed {
        let file = file.to_string_lossy();
        assert!(
            listed.contains(&&*file),
            "{file} is not in the package: see `include` in Cargo.toml"
        );
    }
    for file in ["README.md", "LICENSE-MIT", "LICENSE-APACHE", "Cargo.lock", "build.rs"] {
        assert!(listed.contains(&file), "{file} is not in the package");
    }
    let strange =
        listed.iter().find(|file| file.starts_with("tests/") || file.starts_with("docs/"));
    assert_eq!(strange, None, "the package has what no build reads");
}

/// The runtime's package has the C of its build, which a link to another folder leads to.
#[test]
fn the_package_of_the_runtime_has_its_c() {
    let listed = cargo(&["package", "--list", "-p", "phaseline-runtime"]);
    for file in ["build.rs", "runtime-c/include/phaseline/runtime.h", "runtime-c/src/pool.c"] {
        assert!(listed.lines().any(|line| line == file), "{file} is not in: {listed}");
    }
}

/// The root package, and the members that it depends on.
#[test]
fn packages_are_made() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().to_string_lossy();
    cargo(&["package", "--workspace", "--no-verify", "--target-dir", &target]);
    let made =
        folder.path().join(concat!("package/phaseline-", env!("CARGO_PKG_VERSION"), ".crate"));
    let bytes = fs::metadata(&made).expect("the package").len();
    assert!(bytes < 4 << 20, "{bytes} bytes: more than sources");
}
