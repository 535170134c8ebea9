//! Quantized networks across targets: devices against the host in steps of the output's scale,
//! several targets in one network, and how much of small networks devices take.

use phaseline::Tensor;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

fn network(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = root.join("build/test-data/quantized").join(name);
    assert!(path.is_dir(), "{} is missing: run `make data`", path.display());
    path
}

fn phaseline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_phaseline"))
        .args(args)
        .env("OMP_NUM_THREADS", "1")
        .output()
        .expect("phaseline starts")
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).chars().take(1000).collect()
}

/// A number of the network's tolerance.json.
fn tolerance(name: &str, key: &str) -> f64 {
    let text = fs::read_to_string(network(name).join("tolerance.json")).expect("a file");
    let value: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    value[key].as_f64().expect("a number")
}

/// The output for inputs that are the same for all targets.
fn run(name: &str, targets: &str, folder: &Path) -> Vec<f64> {
    let model = network(name).join("model.onnx");
    let outputs = folder.join("outputs.npz");
    let paths = [&model, &outputs].map(|path| path.to_str().expect("UTF-8"));
    let output =
        phaseline(&["run", paths[0], "-t", targets, "--random-inputs", "5", "--outputs", paths[1]]);
    assert!(output.status.success(), "{name} on {targets}: {}", text(&output));
    let arrays = phaseline::io::npz::read(&outputs).expect("arrays");
    arrays.values().flat_map(Tensor::to_f64).collect()
}

/// The greatest distance between two runs in steps of the output's scale.
fn steps_apart(name: &str, a: &str, b: &str) -> f64 {
    let folder = tempfile::tempdir().expect("a folder");
    let (first, second) = (run(name, a, folder.path()), run(name, b, folder.path()));
    assert_eq!(first.len(), second.len());
    let distances = first.iter().zip(&second).map(|(a, b)| (a - b).abs());
    (distances.fold(0.0, f64::max) / tolerance(name, "step")).round()
}

/// Fails unless a network gives onnxruntime's answer.
fn verify(name: &str, targets: &str) {
    let model = network(name).join("model.onnx");
    let tolerances = ["rtol", "atol"].map(|key| tolerance(name, key).to_string());
    let output = phaseline(&[
        "verify",
        model.to_str().expect("UTF-8"),
        "-t",
        targets,
        "--rtol",
        &tolerances[0],
        "--atol",
        &tolerances[1],
    ]);
    assert!(output.status.success(), "{name} on {targets}: {}", text(&output));
}

/// The target of each operation.
fn places(name: &str, targets: &str) -> Vec<String> {
    let model = network(name).join("model.onnx");
    let output = phaseline(&["partition", model.to_str().expect("UTF-8"), "-t", targets, "--json"]);
    assert!(output.status.success(), "{name} on {targets}: {}", text(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ops = report["ops"].as_array().expect("a list");
    ops.iter().map(|op| op["target"].as_str().unwrap_or_default().to_owned()).collect()
}

/// The part of the operations that is not on the host.
fn offloaded(name: &str, targets: &str) -> f64 {
    let host = targets.rsplit(", ").next().unwrap_or_default();
    let places = places(name, targets);
    let taken = places.iter().filter(|place| *place != host).count();
    taken as f64 / places.len() as f64
}

/// The simulated device scales sums in float as the host does, but in another order: the host
/// scales its inputs before it adds them up. What lies next to a half may fall to either side.
#[test]
fn npu_is_near_the_host() {
    let bounds = [
        ("every_layer", 1.0),
        ("lenet", 1.0),
        ("ds_cnn", 1.0),
        ("tiny_image", 1.0),
        ("tiny_anomaly", 1.0),
        ("mobilenet_v2", 3.0),
    ];
    for (name, bound) in bounds {
        let steps = steps_apart(name, "npu, llvm", "llvm");
        assert!(steps <= bound, "{name}: {steps} steps");
    }
}

/// Two roundings, which TensorFlow Lite has and CMSIS-NN by default, put a result one step off in
/// up to one of four cases, always away from zero, so that deep networks drift. One rounding
/// differs from the host in halves only.
#[test]
fn cmsis_nn_is_near_the_host() {
    // Steps with two roundings, and with one: what was measured, and room for the host's kernels
    // on other CPUs, which add up in other orders. docs/targets-cmsis-nn.md has the measured ones.
    let bounds = [
        ("every_layer", 1.0, 1.0),
        ("wide_layers", 1.0, 1.0),
        ("lenet", 2.0, 1.0),
        ("ds_cnn", 2.0, 1.0),
        ("tiny_image", 2.0, 1.0),
        ("tiny_anomaly", 2.0, 1.0),
        ("mobilenet_v2", 5.0, 3.0),
    ];
    for (name, double, single) in bounds {
        let default = steps_apart(name, "cmsis-nn, llvm", "llvm");
        assert!(default <= double, "{name}: {default} steps with two roundings");
        let option = steps_apart(name, "cmsis-nn -rounding=single, llvm", "llvm");
        assert!(option <= single, "{name}: {option} steps with one rounding");
    }
}

/// Three devices and the host divide one network, each with work that it alone takes: the first
/// has little memory, the second takes integer layers only, the third has the floats at the end.
#[test]
fn four_targets_divide_a_quantized_network() {
    for (name, sram) in [("lenet_softmax", "16k"), ("mobilenet_v2_softmax", "96k")] {
        let targets = format!("npu -sram={sram}, cmsis-nn, dnnl, llvm");
        verify(name, &targets);
        let places = places(name, &targets);
        for target in ["npu", "cmsis-nn", "dnnl", "llvm"] {
            assert!(places.iter().any(|place| place == target), "{name}: {target} has nothing");
        }
        // What enters and what leaves integers, and a reshape.
        let host = places.iter().filter(|place| *place == "llvm").count();
        assert!(host <= 3, "{name}: {host} operations are on the host");
    }
}

/// The networks of MLPerf Tiny. `onnx.rs` has the other targets' numbers.
#[test]
fn small_networks_are_offloaded() {
    for name in ["tiny_kws", "tiny_vww", "tiny_image", "tiny_anomaly"] {
        verify(name, "npu -sram=16k, cmsis-nn, c");
        for targets in ["npu, llvm", "cmsis-nn, llvm", "npu -sram=16k, cmsis-nn, c"] {
            // Left are what enters and leaves integers, a reshape, and a softmax whose scale is
            // not the library's.
            let part = offloaded(name, targets);
            assert!(part >= 0.89, "{name} on {targets}: {part:.2} of the operations");
        }
        let places = places(name, "npu -sram=16k, cmsis-nn, c");
        for target in ["npu", "cmsis-nn"] {
            assert!(places.iter().any(|place| place == target), "{name}: {target} has nothing");
        }
    }
}
