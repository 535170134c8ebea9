//! A new compiler is built and tested as its author would: outside of the workspace. `make new-compiler` runs this.

#![allow(clippy::disallowed_methods, reason = "cargo tells tests where things are")]

use phaseline_toolkit::scaffold;
use std::{path::Path, process::Command};

#[test]
#[ignore = "compiles a crate: make new-compiler"]
fn a_new_compiler_passes_its_tests() {
    let place = tempfile::tempdir().expect("makes one");
    let folder = place.path().join("tiny");
    let checkout = scaffold::own_checkout().expect("tests run in it");
    scaffold::new_compiler("tiny", &folder, Some(&checkout)).expect("is written");
    // The same versions of what others have published: no registry is asked.
    std::fs::copy(checkout.join("Cargo.lock"), folder.join("Cargo.lock")).expect("copies");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new-compiler");
    let cargo = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO"));
        // Settings of the workspace are none of a crate outside.
        for name in ["MLIR_SYS_220_PREFIX", "LLVM_SYS_221_PREFIX", "TABLEGEN_220_PREFIX"] {
            command.env_remove(name);
        }
        command.args(arguments).current_dir(&folder).env("CARGO_TARGET_DIR", &target);
        let status = command.status().expect("starts");
        assert!(status.success(), "cargo {arguments:?}");
    };
    cargo(&["test"]);
    cargo(&["clippy", "--all-targets", "--", "-D", "warnings"]);
}
