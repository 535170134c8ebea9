//! Tests that need a process of their own: what they look at belongs to the whole process.

use std::{env, process::Command};

/// Runs a test that is ignored otherwise (`session::memory`, as `--list` names it) in a new process.
pub(crate) fn run(test: &str) {
    let program = env::current_exe().expect("this program has a path");
    let output =
        Command::new(program).args([test, "--exact", "--ignored"]).output().expect("starts");
    let text = String::from_utf8_lossy(&output.stdout);
    // A name that no test has would run none, and pass.
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}
