//! Every pattern of every built-in target takes graphs that are made from its own text, and gives
//! the host's numbers for them; `phaseline check-target` says more.

use phaseline::check::{CheckOptions, Report, check_target};

fn check(target: &str) -> Report {
    // One graph that matches and one near miss for each pattern; more take minutes.
    let options = CheckOptions { target: target.into(), samples: 1, ..Default::default() };
    let report = check_target(&options, &|_| {}).expect("the check runs");
    assert_eq!(report.all_notes().count(), 0, "{report}");
    for pattern in &report.patterns {
        assert!(pattern.matched > 0 && pattern.compared > 0, "'{}' matches nothing", pattern.name);
    }
    report
}

/// Near misses were run too: what a pattern leaves, others and the host get right.
fn near_misses(report: &Report) -> usize {
    report.patterns.iter().map(|pattern| pattern.near_misses).sum()
}

#[test]
fn cmsis_nn() {
    assert!(near_misses(&check("cmsis-nn")) > 20);
}

#[test]
fn npu() {
    assert!(near_misses(&check("npu")) > 5);
}

#[test]
fn vanilla() {
    assert!(near_misses(&check("vanilla")) > 2);
}

#[test]
fn dnnl_and_openblas() {
    assert!(near_misses(&check("dnnl")) > 2);
    assert!(near_misses(&check("openblas")) > 2);
}
