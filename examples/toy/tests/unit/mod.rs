//! Tests in Rust: round trips of operations, and diagnostics.

use super::*;
use phaseline_toolkit::testing::{RoundTrips, expected_diagnostics};
use std::path::Path;

#[test]
fn operations_are_read_as_they_are_printed() -> Result<()> {
    RoundTrips::new(&toolkit()?).check(toy::OPS)
}

#[test]
fn errors_are_told() -> Result<()> {
    let pipeline = "builtin.module(canonicalize)";
    expected_diagnostics(&toolkit()?, Path::new("tests/lit/rules.mlir"), Some(pipeline))
}
