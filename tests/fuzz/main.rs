//! Damaged inputs: the program ends by itself with exit code 0, or with 1 and one message. It
//! leaves nothing behind, stays within bounds of time and memory, and does the same again.
//!
//! An input is a model, IR, manifest, option, pipeline, array, package, placement, profile, answer
//! of a hook or conversation with the language server.
//!
//! Inputs are good ones with random mutations that know their structure, from fixed seeds.
//! `make fuzz` goes on for ten minutes with other seeds. Findings are kept in `build/fuzz`, each
//! with the command that repeats it. Settings are environment variables:
//! `PHASELINE_FUZZ_SECONDS`, for all kinds together, and `PHASELINE_FUZZ_SEED`, the first seed.

#![allow(clippy::disallowed_methods, reason = "a test's own settings")]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test"
)]

mod campaign;
mod hooks;
mod judge;
mod language_server;
mod onnx;
mod packages;
mod random;
mod text;
mod textual;
mod wire;

use campaign::campaign;

#[test]
fn onnx_models() {
    let models = onnx::Models::new();
    campaign("onnx", 160, |random| models.damaged(random));
}

#[test]
fn manifests() {
    let texts = textual::manifests();
    campaign("manifest", 80, |random| textual::damaged_manifest(random, &texts));
}

#[test]
fn options() {
    let texts = textual::options();
    campaign("option", 48, |random| textual::damaged_option(random, &texts));
}

#[test]
fn pipelines() {
    let texts = textual::pipelines();
    campaign("pipeline", 48, |random| textual::damaged_pipeline(random, &texts));
}

#[test]
fn ir() {
    let texts = textual::ir();
    campaign("ir", 64, |random| textual::damaged_ir(random, &texts));
}

#[test]
fn passes() {
    let texts = textual::passes();
    campaign("pass", 96, |random| textual::damaged_pass_input(random, &texts));
}

#[test]
fn language_server() {
    let documents = language_server::Documents::new();
    campaign("language-server", 48, |random| documents.conversation(random));
}

#[test]
fn placements() {
    let texts = textual::placements();
    campaign("placement", 24, |random| textual::damaged_placement(random, &texts));
}

#[test]
fn arrays() {
    let package = packages::Package::new();
    campaign("array", 64, |random| package.damaged_array(random));
}

#[test]
fn packages() {
    let package = packages::Package::new();
    campaign("package", 48, |random| package.damaged_package(random));
}

#[test]
fn hooks() {
    let answers = hooks::Answers::new();
    campaign("hook", 48, |random| answers.damaged(random));
}
