//! Every pattern of every built-in target takes graphs that are made from its own text, and gives
//! the host's numbers for them; `phaseline check-target` says more.

use std::process::Command;

/// Checks a target, and gives the number of near misses that were run: what a pattern leaves,
/// others and the host get right. One graph that matches for each pattern; more take minutes.
fn near_misses(target: &str) -> u64 {
    let output = Command::new(env!("CARGO_BIN_EXE_phaseline"))
        .args(["check-target", target, "--samples", "1", "--json"])
        .env("OMP_NUM_THREADS", "1")
        .output()
        .expect("phaseline starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let problems = String::from_utf8_lossy(&output.stderr);
    let reports: serde_json::Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{target}: {text}\n{problems}"));
    let report = &reports[0];
    assert_eq!(report["notes"].as_array().map(Vec::len), Some(0), "{report}");
    let patterns = report["patterns"].as_array().expect("a list");
    for pattern in patterns {
        let number = |key: &str| pattern[key].as_u64().unwrap_or_default();
        assert!(number("matched") > 0 && number("compared") > 0, "matches nothing: {pattern}");
        assert_eq!(pattern["notes"].as_array().map(Vec::len), Some(0), "{pattern}");
    }
    assert!(output.status.success(), "{target}: {problems}");
    patterns.iter().filter_map(|pattern| pattern["near_misses"].as_u64()).sum()
}

#[test]
fn cmsis_nn() {
    assert!(near_misses("cmsis-nn") > 20);
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
fn dnnl_and_openblas() {
    assert!(near_misses("dnnl") > 2);
    assert!(near_misses("openblas") > 2);
}
