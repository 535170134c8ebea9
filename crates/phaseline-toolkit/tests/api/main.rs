//! The public API of the toolkit and of `phaseline`, as text: a change of it is seen in `*.txt` here.
//! `PHASELINE_BLESS=1 cargo test -p phaseline-toolkit --test api` writes what there is now.

#![allow(clippy::disallowed_methods, reason = "a variable says that files are to be written")]
#![allow(clippy::print_stdout, reason = "the counts are for who reads the test")]

mod scan;

use std::path::Path;

/// Compares the API of a crate with its file. Gives the number of types written by hand.
fn check(name: &str, source: &Path) -> usize {
    let api = scan::Api::of(source);
    let text = api.lines.iter().map(|line| line.clone() + "\n").collect::<String>();
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/api").join(name);
    if std::env::var_os("PHASELINE_BLESS").is_some() {
        std::fs::write(&file, &text).expect("writes");
    }
    let known = std::fs::read_to_string(&file).unwrap_or_default();
    let (known, now): (Vec<_>, Vec<_>) = (known.lines().collect(), text.lines().collect());
    let gone = known.iter().filter(|line| !now.contains(line)).map(|line| format!("- {line}\n"));
    let new = now.iter().filter(|line| !known.contains(line)).map(|line| format!("+ {line}\n"));
    let changes: String = gone.chain(new).collect();
    assert!(
        changes.is_empty(),
        "the public API of {name} is another one. docs/reference/compatibility.md says what may change; \
         PHASELINE_BLESS=1 takes it over:\n{changes}"
    );
    println!("{name}: {} lines, {} types written by hand", now.len(), api.types);
    api.types
}

#[test]
fn the_public_api_of_the_toolkit_is_known() {
    let types = check("phaseline-toolkit.txt", &Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(types <= 60, "{types} types: hide or join some");
}

#[test]
fn the_public_api_of_phaseline_is_known() {
    let types = check("phaseline.txt", &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../src"));
    // Sessions, compiles, hooks, imports and measurements; declarations of target kinds stay in manifests.
    assert!(types <= 40, "{types} types: hide or join some");
}
