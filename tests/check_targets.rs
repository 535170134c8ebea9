//! Every pattern of every target here takes graphs that are made from its own text, and gives the
//! host's numbers for them; defects that are planted in targets are found. `make mutate` plants many
//! more.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use std::{path::Path, process::Command};

/// Runs `check-target`; gives its standard output, its messages, and whether it passes.
fn check(target: &str, arguments: &[&str]) -> (String, String, bool) {
    let output = Command::new(env!("CARGO_BIN_EXE_phaseline"))
        .args(["check-target", target])
        .args(arguments)
        .output()
        .expect("phaseline starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (text(&output.stdout), text(&output.stderr), output.status.success())
}

/// Checks a target, and gives the number of near misses that were run: what a pattern leaves,
/// others and the host get right. One graph that matches for each pattern; more take minutes.
fn near_misses(target: &str) -> u64 {
    near_misses_beside(target, &[])
}

/// The same for a target that is found in, or needs others of, these folders.
fn near_misses_beside(target: &str, folders: &[String]) -> u64 {
    let mut arguments = vec!["--samples", "1", "--json"];
    arguments.extend(folders.iter().flat_map(|folder| ["--target-path", folder]));
    let (text, problems, passes) = check(target, &arguments);
    let reports: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{target}: {text}\n{problems}"));
    let report = &reports[0];
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(0), "{report}");
    let patterns = report["patterns"].as_array().expect("a list");
    for pattern in patterns {
        let number = |key: &str| pattern[key].as_u64().unwrap_or_default();
        assert!(number("matched") > 0 && number("compared") > 0, "nothing ran: {pattern}");
        let notes = pattern["notes"].as_array().expect("a list");
        assert!(notes.iter().all(|note| note["level"] == "warning"), "{pattern}");
    }
    assert!(passes, "{target}: {problems}");
    patterns.iter().filter_map(|pattern| pattern["near_misses"].as_u64()).sum()
}

/// A copy of one of the tests' targets with a text in one of its files replaced.
fn broken(target: &str, file: &str, from: &str, to: &str) -> tempfile::TempDir {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/targets").join(target);
    let folder = tempfile::tempdir().expect("a folder");
    for entry in std::fs::read_dir(source).expect("a target") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name");
        let text = std::fs::read_to_string(&path).expect("a text");
        let is_meant = name == file;
        assert!(!is_meant || text.contains(from), "{target}: {file} has no '{from}'");
        let text = if is_meant { text.replacen(from, to, 1) } else { text };
        std::fs::write(folder.path().join(name), text).expect("can be written");
    }
    folder
}

/// What the check of a broken target says, which does not pass.
fn findings(folder: &tempfile::TempDir, arguments: &[&str]) -> String {
    let (text, problems, passes) = check(&folder.path().to_string_lossy(), arguments);
    assert!(!passes, "passes: {text}");
    assert!(problems.contains("does not pass the check"), "{problems}");
    text
}

#[test]
fn cmsis_nn() {
    assert!(near_misses("cmsis-nn") > 20);
}

#[test]
fn gemm16() {
    assert!(near_misses("gemm16") > 4);
}

#[test]
fn npu() {
    assert!(near_misses("npu") > 5);
}

#[test]
fn vanilla() {
    assert!(near_misses("vanilla") > 2);
}

#[test]
fn vecdsp() {
    assert!(near_misses("vecdsp") > 10);
}

#[test]
fn dnnl_and_openblas() {
    assert!(near_misses("dnnl") > 2);
    assert!(near_misses("openblas") > 2);
}

#[test]
fn targets_of_the_tests() {
    let folder = |target: &str| format!("{}/tests/targets/{target}", env!("CARGO_MANIFEST_DIR"));
    for target in ["toy", "slab", "banks", "kit", "far", "lanes"] {
        near_misses(&folder(target));
    }
    near_misses_beside("slab-dram", &[folder("slab"), folder("slab-dram")]);
}

#[test]
fn a_device_that_writes_behind_its_scratch_is_named_and_the_next_pattern_is_checked() {
    let folder =
        broken("toy", "target.toml", "scratch 4 * w.shape[0]", "scratch 4 * w.shape[0] - 4");
    let text = findings(&folder, &["--samples", "2"]);
    let place = text.find("the device").unwrap_or_else(|| panic!("{text}"));
    assert!(text[place..].contains("graph.conv"), "{text}");
    assert!(text.find("conv2d: ").is_some_and(|start| start < place), "{text}");
    assert!(text.contains("\ndense: ") && text.contains("toy: 2 errors"), "{text}");
}

#[test]
fn a_device_that_crashes_ends_its_own_process_only() {
    let crash = "volatile int *volatile nowhere = 0;\n  *nowhere = 1;\n  device->calls++;";
    let folder = broken("toy", "toy.c", "device->calls++;", crash);
    let text = findings(&folder, &["--samples", "1", "--pattern", "conv2d"]);
    assert!(text.contains("SEGV") || text.contains("signal 11") || text.contains("null"), "{text}");
}

#[test]
fn what_is_left_of_an_earlier_run_shows() {
    let folder = broken(
        "kit",
        "kit.c",
        "float sum = 0.0f;\n    for (int32_t j = 0; j < columns; j++, x++)",
        "static float sum;\n    for (int32_t j = 0; j < columns; j++, x++)",
    );
    let text = findings(&folder, &["--samples", "2", "--pattern", "cumsum"]);
    assert!(text.contains("target and host differ"), "{text}");
}

#[test]
fn a_pattern_without_compute_runs_on_the_device() {
    let folder = broken("kit", "target.toml", "i32 x.size, f32 0)", "i32 x.size, f32 0.5)");
    let text = findings(&folder, &["--samples", "2", "--pattern", "relu"]);
    assert!(text.contains("target and host differ"), "{text}");
}

#[test]
fn an_attribute_that_the_call_leaves_out_shows() {
    let folder = broken("kit", "target.toml", "f32 leaky_relu.alpha", "f32 0.01");
    let text = findings(&folder, &["--samples", "4", "--pattern", "leaky_relu"]);
    assert!(text.contains("target and host differ"), "{text}");
}

#[test]
fn pieces_of_sums_are_tried() {
    let folder = broken("slab", "target.toml", "first = first(k)", "first = true");
    let text = findings(&folder, &["--samples", "8"]);
    assert!(text.contains("target and host differ"), "{text}");
}

#[test]
fn a_pattern_that_earlier_passes_leave_nothing_of_is_an_error() {
    let folder =
        broken("kit", "target.toml", "match = \"relu(x)\"", "match = \"relu(identity(x))\"");
    let text = findings(&folder, &["--samples", "2", "--pattern", "relu"]);
    assert!(text.contains("none of them has run on the device"), "{text}");
    assert!(text.contains("left no match of it"), "{text}");
}
