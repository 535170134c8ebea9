//! Quantized networks across targets: devices against the host in steps of the output's scale,
//! several targets in one network, and how much of small networks devices take.

use phaseline::Tensor;
use std::{
    fmt::Write as _,
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

/// The systolic array multiplies sums by floats as `npu` does, in both dataflows, and whatever the tiles.
#[test]
fn gemm16_is_near_the_host() {
    let small = "gemm16 -scratchpad=4k -accumulator=2k -dataflow=outputs, llvm";
    let bounds = [
        ("every_layer", "gemm16, llvm", 1.0),
        ("ds_cnn", small, 1.0),
        ("ds_cnn_qlinear", "gemm16, llvm", 1.0),
        ("residual_qlinear", small, 1.0),
        ("mobilenet_v2", "gemm16, llvm", 3.0),
    ];
    for (name, targets, bound) in bounds {
        let steps = steps_apart(name, targets, "llvm");
        assert!(steps <= bound, "{name} on {targets}: {steps} steps");
    }
}

/// The array has the convolutions, and other targets what it does not take.
#[test]
fn gemm16_shares_networks() {
    for (name, targets) in [
        ("mobilenet_v2", "gemm16, cmsis-nn, c"),
        ("tiny_image", "npu -sram=16k, gemm16, llvm"),
        ("tiny_vww", "gemm16 -scratchpad=16k, npu, llvm"),
    ] {
        verify(name, targets);
        let part = offloaded(name, targets);
        assert!(part >= 0.8, "{name} on {targets}: {part:.2} of the operations");
        let places = places(name, targets);
        assert!(places.iter().any(|place| place == "gemm16"), "{name}: gemm16 has nothing");
    }
}

/// Two roundings, which TensorFlow Lite has and CMSIS-NN by default, put a result one step off in
/// up to one of four cases. The step is always away from zero, so that deep networks drift. One
/// rounding differs from the host in halves only.
#[test]
fn cmsis_nn_is_near_the_host() {
    // Steps with two roundings, and with one: what was measured, and room for the host's kernels
    // on other CPUs, which add up in other orders. targets/cmsis-nn/README.md has the measured ones.
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

/// Three devices and the host divide one network, each with work that it alone takes. The first has
/// little memory, the second takes integer layers only, the third has the floats at the end.
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

/// A QLinearConv: of the image `n, c, h, w`, with `outs` channels, a kernel, strides, dilations and
/// pads, in groups, and with or without a bias.
struct Conv {
    image: [usize; 4],
    outs: usize,
    kernel: [usize; 2],
    strides: [usize; 2],
    dilations: [usize; 2],
    pads: [usize; 4],
    group: usize,
    bias: bool,
}

/// A convolution without groups, with a bias.
fn conv(image: [usize; 4], kernel: [usize; 2], strides: [usize; 2], pads: [usize; 4]) -> Conv {
    Conv { image, outs: 5, kernel, strides, dilations: [1, 1], pads, group: 1, bias: true }
}

/// A depthwise one, without.
fn depthwise(image: [usize; 4], kernel: [usize; 2], strides: [usize; 2], pads: [usize; 4]) -> Conv {
    let channels = image[1];
    Conv { outs: channels, group: channels, bias: false, ..conv(image, kernel, strides, pads) }
}

impl Conv {
    fn result(&self) -> [usize; 4] {
        let size = |at: usize| {
            let padded = self.image[2 + at] + self.pads[at] + self.pads[2 + at];
            (padded - (self.kernel[at] - 1) * self.dilations[at] - 1) / self.strides[at] + 1
        };
        [self.image[0], self.outs, size(0), size(1)]
    }

    /// The operation in IR, with names that end in `index`.
    fn text(&self, index: usize) -> String {
        let tensor = |dims: &[usize], element: &str| {
            let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
            format!("tensor<{dims}{element}>")
        };
        let bytes = |count: usize, salt: usize| {
            (0..count).fold(String::new(), |mut text, at| {
                let byte = (at * 2_654_435_761 + salt * 40_503 + 977) >> 7 & 0xFF;
                write!(text, "{byte:02X}").expect("a string");
                text
            })
        };
        let Self { image, outs, kernel, strides, dilations, pads, group, bias } = self;
        let taps = image[1] / group * kernel[0] * kernel[1];
        let weights = tensor(&[*outs, image[1] / group, kernel[0], kernel[1]], "i8");
        let (x, y) = (tensor(image, "i8"), tensor(&self.result(), "i8"));
        let mut text = format!(
            "  %w{index} = graph.constant dense<\"0x{}\"> : {weights}\n",
            bytes(outs * taps, index)
        );
        let (mut operand, mut types) = (String::new(), String::new());
        if *bias {
            let elements: Vec<String> =
                (0..*outs).map(|at| (at as i64 * 311 - 700).to_string()).collect();
            let ty = tensor(&[*outs], "i32");
            let list = elements.join(", ");
            writeln!(text, "  %b{index} = graph.constant dense<[{list}]> : {ty}")
                .expect("a string");
            (operand, types) = (format!(", %b{index}"), format!(", {ty}"));
        }
        let scale = 0.04 / (taps as f64).sqrt();
        writeln!(text, "  %v{index} = graph.constant dense<{scale:.6}> : tensor<f32>")
            .expect("a string");
        let head =
            format!("  %y{index} = graph.qlinear_conv %x{index}, %s, %z, %w{index}, %v{index}, %o");
        let attributes = format!(
            "strides = {strides:?} pads = {pads:?} dilations = {dilations:?} group = {group}"
        );
        writeln!(
            text,
            "{head}, %t, %z{operand} {attributes} : ({x}, tensor<f32>, tensor<i8>, {weights}, \
             tensor<f32>, tensor<i8>, tensor<f32>, tensor<i8>{types}) -> {y}"
        )
        .expect("a string");
        text
    }
}

/// A model of these layers side by side.
fn side_by_side(layers: &[Conv]) -> String {
    let list = |part: &dyn Fn(usize, &Conv) -> String| {
        let parts: Vec<String> =
            layers.iter().enumerate().map(|(i, layer)| part(i, layer)).collect();
        parts.join(", ")
    };
    let ty =
        |dims: [usize; 4]| format!("tensor<{}x{}x{}x{}xi8>", dims[0], dims[1], dims[2], dims[3]);
    let arguments = list(&|i, layer| format!("%x{i}: {}", ty(layer.image)));
    let types = list(&|_, layer| ty(layer.result()));
    let results = list(&|i, _| format!("%y{i}"));
    let mut text = format!("func.func @main({arguments}) -> ({types}) {{\n");
    for (name, value, element) in
        [("s", "0.037", "f32"), ("t", "0.061", "f32"), ("z", "-11", "i8"), ("o", "0", "i8")]
    {
        writeln!(text, "  %{name} = graph.constant dense<{value}> : tensor<{element}>")
            .expect("a string");
    }
    layers.iter().enumerate().for_each(|(i, layer)| text += &layer.text(i));
    text + &format!("  return {results} : {types}\n}}\n")
}

/// Layers that one of the real library's functions computes wrongly, or outside of its memory. The
/// double refuses those calls, so these are on the device, in another way, and right.
fn hard_layers() -> Vec<Conv> {
    let mut layers = vec![
        // 1x1 kernels with padding only after the image, with steps, and without a dilation's use.
        conv([1, 3, 5, 5], [1, 1], [1, 1], [0, 0, 1, 1]),
        conv([2, 4, 4, 6], [1, 1], [1, 1], [0, 0, 0, 1]),
        conv([1, 4, 5, 6], [1, 1], [2, 3], [0, 0, 1, 2]),
        conv([1, 4, 1, 6], [1, 1], [1, 1], [0, 1, 0, 1]),
        // A row: causal, on an even width, with three steps, a column left over, one too short.
        conv([1, 4, 1, 12], [1, 3], [1, 1], [0, 2, 0, 0]),
        conv([2, 4, 1, 8], [1, 3], [1, 2], [0, 1, 0, 1]),
        conv([1, 4, 1, 11], [1, 2], [1, 3], [0, 0, 0, 0]),
        conv([1, 2, 1, 9], [1, 2], [1, 2], [0, 0, 0, 0]),
        conv([1, 4, 1, 2], [1, 3], [1, 1], [0, 1, 0, 1]),
        conv([1, 2, 1, 13], [1, 5], [1, 2], [0, 2, 0, 2]),
        Conv { dilations: [1, 2], ..conv([1, 4, 1, 9], [1, 3], [1, 1], [0, 4, 0, 0]) },
        // Depthwise 3x3, with a column too many and with rows too many behind the image.
        depthwise([1, 6, 5, 5], [3, 3], [1, 1], [1, 1, 2, 2]),
        depthwise([1, 4, 5, 5], [3, 3], [1, 1], [0, 0, 0, 2]),
        depthwise([1, 4, 4, 1], [3, 3], [1, 1], [1, 0, 3, 2]),
        // More padding than kernel, before and behind.
        depthwise([1, 4, 3, 5], [2, 2], [1, 1], [4, 0, 0, 0]),
        depthwise([1, 5, 3, 5], [2, 2], [1, 1], [0, 0, 4, 3]),
        // More channels than one block, without a bias, over several rows.
        depthwise([1, 130, 3, 4], [2, 2], [1, 1], [0, 0, 0, 0]),
    ];
    let doubled = depthwise([1, 3, 5, 5], [3, 3], [1, 1], [1, 1, 2, 2]);
    layers.push(Conv { outs: 6, ..doubled });
    layers
}

#[test]
fn layers_that_the_real_library_gets_wrong_are_called_another_way() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("model.mlir");
    let layers = hard_layers();
    fs::write(&model, side_by_side(&layers)).expect("a file");
    let path = model.to_str().expect("UTF-8");
    for core in ["cortex-m3", "cortex-m7", "cortex-m55"] {
        let targets = format!("cmsis-nn -mcpu={core} -rounding=single, llvm");
        let report = phaseline(&["partition", path, "-t", &targets]);
        let table = String::from_utf8_lossy(&report.stdout).into_owned();
        assert!(table.contains("llvm: 0 of 18"), "{core}: {table}");
        is_near_the_host(path, &targets);
    }
}

/// Compares what a model gives on `targets` with the host, on random inputs.
fn is_near_the_host(path: &str, targets: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let answers = |targets: &str| {
        let outputs = folder.path().join("outputs.npz");
        let place = outputs.to_str().expect("UTF-8");
        let random = ["--random-inputs", "3", "--outputs", place];
        let output = phaseline(&[&["run", path, "-t", targets][..], &random].concat());
        assert!(output.status.success(), "{targets}: {}", text(&output));
        phaseline::io::npz::read(&outputs).expect("arrays")
    };
    let wanted = answers("llvm");
    for ((name, found), (_, wanted)) in answers(targets).iter().zip(&wanted) {
        let (found, wanted) = (found.to_f64(), wanted.to_f64());
        let far = found.iter().zip(&wanted).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(far <= 1.0, "{targets}: {name} is {far} steps off");
    }
}

/// Padding of the height of a row is left to the host with Helium only.
#[test]
fn a_row_with_padded_height_is_not_for_helium() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("model.mlir");
    fs::write(&model, side_by_side(&[conv([1, 4, 1, 9], [1, 3], [1, 1], [1, 1, 0, 1])]))
        .expect("a file");
    let path = model.to_str().expect("UTF-8");
    for (core, place) in [("cortex-m55", "llvm"), ("cortex-m7", "cmsis-nn")] {
        let targets = format!("cmsis-nn -mcpu={core}, llvm");
        is_near_the_host(path, &targets);
        let report = text(&phaseline(&["partition", path, "-t", &targets]));
        assert!(report.contains(&format!("{place}: 1 of 1")), "{core}: {report}");
    }
}

/// A folder as `-cmsis-path` wants it, with the double as a static library in place of the real one.
fn library_folder(core: &str) -> tempfile::TempDir {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/cmsis-nn");
    let folder = tempfile::tempdir().expect("a folder");
    let (include, lib) = (folder.path().join("Include"), folder.path().join("lib"));
    fs::create_dir_all(&include).and_then(|()| fs::create_dir_all(&lib)).expect("folders");
    let mut cc = Command::new("cc");
    cc.args(["-c", "-O1", "-fPIC", core]).current_dir(&lib);
    for entry in fs::read_dir(&sources).expect("sources").flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.ends_with(".c") {
            cc.arg(entry.path());
        } else if name.starts_with("arm_") {
            fs::copy(entry.path(), include.join(name)).expect("a header");
        }
    }
    assert!(cc.status().expect("a C compiler").success());
    let objects = fs::read_dir(&lib).expect("objects").flatten().map(|entry| entry.path());
    let objects: Vec<_> = objects.collect();
    let ar = Command::new("ar").arg("rcs").arg(lib.join("libcmsis-nn.a")).args(objects).status();
    assert!(ar.expect("ar").success());
    folder
}

#[test]
fn a_static_library_alone_runs_or_says_what_to_build() {
    let folder = library_folder("-DPHL_MCPU=cortex-m3");
    let model = folder.path().join("model.mlir");
    fs::write(&model, side_by_side(&hard_layers()[..2])).expect("a file");
    let path = model.to_str().expect("UTF-8");
    let targets =
        |core: &str| format!("cmsis-nn -mcpu={core} -cmsis-path={}, llvm", folder.path().display());
    is_near_the_host(path, &targets("cortex-m3"));

    fs::write(folder.path().join("lib/libcmsis-nn.a"), "of another machine").expect("a file");
    let output = phaseline(&["run", path, "-t", &targets("cortex-m3"), "--random-inputs", "3"]);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("libcmsis-nn.a") && said.contains("-fPIC"), "{said}");
}
