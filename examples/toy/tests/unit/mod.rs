//! Tests in Rust: round trips of operations, and diagnostics.

use super::*;
use phaseline_toolkit::{
    rule,
    testing::{RoundTrips, expected_diagnostics},
};
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

/// A toolkit that lacks what the dialect announces.
fn bare() -> Toolkit {
    Toolkit::new("bare").upstream([upstream::arith(), upstream::func()]).dialect(toy::dialect())
}

#[test]
fn a_verifier_that_is_announced_is_given() {
    let text = "func.func @f(%x: tensor<2x3xf64>) -> tensor<6xf64> {
        %0 = toy.reshape %x : tensor<2x3xf64> -> tensor<6xf64>
        return %0 : tensor<6xf64>
    }";
    let session = bare().session();
    let error = session.parse(text.as_bytes(), "f.mlir").expect_err("is announced").to_string();
    let wanted = "'toy.reshape' op declares hasVerifier, and the toolkit has no verifier of it: \
                  add Toolkit::verifier";
    assert!(error.contains("f.mlir:2:") && error.contains(wanted), "{error}");
}

#[test]
fn a_rule_that_fails_is_told_once() {
    rule! {
        BROKEN = "broken" on toy::Transpose: |_rewriter, _op| {
            Err(phaseline_toolkit::Error::invalid("never"))
        }
    }
    let toolkit = infer::add_to(bare()).upstream([upstream::transforms()]).canonicalize([BROKEN]);
    let text = "func.func @f(%x: tensor<2x3xf64>) -> tensor<3x2xf64> {
        %0 = toy.transpose %x : tensor<2x3xf64> -> tensor<3x2xf64>
        return %0 : tensor<3x2xf64>
    }";
    let session = toolkit.session();
    let mut module = session.parse(text.as_bytes(), "f.mlir").expect("is valid");
    let run = session.run_pipeline(&mut module, "builtin.module(canonicalize)");
    let error = run.expect_err("a rule failed").to_string();
    assert_eq!(error.matches("[rule broken]").count(), 1, "{error}");
}
