//! The targets that call kernel libraries: `dnnl` and `openblas`. Layers with all that they fuse,
//! against the host; operators and whole networks against onnxruntime; and that each pattern of
//! both manifests is taken by one of these.

mod layers;
mod rows;

use layers::Layer;
use phaseline::{CompileOptions, Session, Tensor};
use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn data(folder: &str) -> PathBuf {
    let path = root().join("build/test-data").join(folder);
    assert!(path.is_dir(), "{} is missing: run `make data`", path.display());
    path
}

/// The program, with libraries that use one thread: tests run side by side.
fn phaseline(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_phaseline"))
        .args(args)
        .env("OMP_NUM_THREADS", "1")
        .env("OPENBLAS_NUM_THREADS", "1")
        // Memory that was given back has other contents, so that its use shows.
        .env("MALLOC_PERTURB_", "165")
        .output()
        .expect("phaseline starts")
}

fn text(output: &Output) -> String {
    let all = [&output.stdout[..], &output.stderr[..]].concat();
    String::from_utf8_lossy(&all).chars().take(1000).collect()
}

/// Fails unless the model in each folder gives onnxruntime's answers.
fn verify(cases: &[PathBuf], targets: &str) {
    let mut failed = vec![];
    for case in cases {
        let model = case.join("model.onnx");
        let model = model.to_str().expect("UTF-8");
        let output =
            phaseline(&["verify", model, "-t", targets, "--rtol", "1e-3", "--atol", "1e-4"]);
        if !output.status.success() {
            failed.push(format!("{}: {}", case.display(), text(&output)));
        }
    }
    let (count, all) = (failed.len(), cases.len());
    assert!(failed.is_empty(), "{targets}: {count} of {all} failed:\n{}", failed.join("\n"));
}

/// A target for all operations and no pattern with a call, so that its C is loops only.
fn loops_target(folder: &Path) {
    let page = root().join("docs/reference/generated/graph.md");
    let reference = fs::read_to_string(page).expect("a page");
    let titles = reference.lines().filter_map(|line| line.strip_prefix("### `graph."));
    let mut manifest =
        "version = 1\n[target]\nname = \"loops\"\nrole = \"device\"\ndoc = \"All as loops\"\n\
                        [capabilities]\nmulti-output = true\nmerge = true\n"
            .to_owned();
    for op in titles.filter_map(|title| title.split('`').next()) {
        if !["composite", "constant", "custom", "scan", "yield"].contains(&op) {
            manifest += &format!("[[op]]\nop = \"{op}\"\n");
        }
    }
    fs::write(folder.join("target.toml"), manifest).expect("a file");
}

/// Rows of `partition --json` for the operations: name, target, and pattern.
fn partition(model: &Path, targets: &str) -> Vec<(String, String, Option<String>)> {
    let output = phaseline(&["partition", model.to_str().expect("UTF-8"), "-t", targets, "--json"]);
    assert!(output.status.success(), "{}: {}", model.display(), text(&output));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ops = report["ops"].as_array().expect("a list");
    let word = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    ops.iter()
        .map(|op| {
            let target = word(&op["target"]).unwrap_or_default();
            (word(&op["op"]).unwrap_or_default(), target, word(&op["pattern"]))
        })
        .collect()
}

/// The number of regions that the devices of `targets` get.
fn regions(model: &Path, targets: &str) -> usize {
    let output = phaseline(&["partition", model.to_str().expect("UTF-8"), "-t", targets, "--json"]);
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let ops = report["ops"].as_array().expect("a list");
    ops.iter().filter_map(|op| op["region"].as_u64()).collect::<BTreeSet<_>>().len()
}

/// Names of all patterns of a built-in target.
fn patterns(target: &str) -> BTreeSet<String> {
    let output = phaseline(&["targets", target, "--json"]);
    let target: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let patterns = target["patterns"].as_array().expect("a list");
    patterns.iter().filter_map(|pattern| pattern["name"].as_str()).map(str::to_owned).collect()
}

/// Runs a model in a process of its own, on inputs that are the same for all targets.
fn run(model: &Path, targets: &str) -> Vec<Tensor> {
    let outputs = model.with_extension("npz");
    let paths = [model, &outputs].map(|path| path.to_str().expect("UTF-8"));
    let output =
        phaseline(&["run", paths[0], "-t", targets, "--random-inputs", "1", "--outputs", paths[1]]);
    assert!(output.status.success(), "{targets}: {}", text(&output));
    let arrays = phaseline::io::npz::read(&outputs).expect("arrays");
    arrays.into_iter().map(|(_, tensor)| tensor).collect()
}

/// Checks that `layer` goes to the target wholly, by its pattern, and computes as on the host.
fn check(layer: &Layer, target: &str) -> BTreeSet<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let model = folder.path().join("layer.mlir");
    fs::write(&model, &layer.text).expect("a file");
    let targets = format!("{target}, llvm");
    let mut taken = BTreeSet::new();
    for (op, place, pattern) in partition(&model, &targets) {
        let name = layer.name;
        assert_eq!(place, target, "{name}: {op} is on {place}\n{}", layer.text);
        taken.extend(pattern);
    }
    let found = run(&model, &targets);
    let wanted = run(&model, "llvm");
    assert_eq!(found.len(), wanted.len());
    for (index, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        assert_eq!(found.shape(), wanted.shape());
        for (a, b) in found.to_f64().into_iter().zip(wanted.to_f64()) {
            let same = a == b || (a.is_nan() && b.is_nan());
            let close = same || (a - b).abs() <= 1e-5 + 2e-5 * b.abs();
            assert!(close, "{}: result {index} has {a}, the host {b}\n{}", layer.name, layer.text);
        }
    }
    taken
}

#[test]
fn dnnl_s_functions_match_plain_loops() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("shim");
    let sources = ["targets/dnnl", "targets/dnnl/test"].map(|folder| root().join(folder));
    let mut compiler = Command::new("cc");
    compiler.args(["-std=c11", "-O1", "-g", "-Wall", "-Wextra", "-Wconversion", "-Werror"]);
    for folder in &sources {
        compiler.arg("-I").arg(folder);
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            if entry.path().extension().is_some_and(|extension| extension == "c") {
                compiler.arg(entry.path());
            }
        }
    }
    let built = compiler.arg("-o").arg(&program).args(["-ldnnl", "-lm"]).output().expect("cc");
    assert!(built.status.success(), "{}", text(&built));
    // Older instruction sets have other implementations, with other gaps.
    for isa in ["SSE41", "AVX2", "ALL"] {
        let mut command = Command::new(&program);
        let output =
            command.env("DNNL_MAX_CPU_ISA", isa).env("OMP_NUM_THREADS", "1").output().expect("it");
        assert!(output.status.success(), "{isa}: {}", text(&output));
    }
}

#[test]
fn each_pattern_of_dnnl_computes_what_the_host_does() {
    let mut taken = BTreeSet::new();
    for layer in layers::dnnl().into_iter().chain(rows::rows()) {
        taken.extend(check(&layer, "dnnl"));
    }
    assert_eq!(taken, patterns("dnnl"));
}

/// Models that come and go on threads of one process, as in a server: oneDNN's state and OpenMP's
/// threads outlive each.
#[test]
fn models_of_dnnl_come_and_go_on_many_threads() {
    let layers: Vec<_> = layers::dnnl().into_iter().step_by(3).collect();
    let next = AtomicUsize::new(0);
    let rounds = 2;
    let results: Vec<Mutex<Vec<Vec<u64>>>> = layers.iter().map(|_| Mutex::default()).collect();
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut index = next.fetch_add(1, Ordering::Relaxed);
                while index < rounds * layers.len() {
                    let layer = index % layers.len();
                    let found = run_here(&layers[layer].text);
                    results[layer].lock().expect("no panic").push(found);
                    index = next.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    for (layer, results) in layers.iter().zip(results) {
        let results = results.into_inner().expect("no panic");
        assert_eq!(results.len(), rounds);
        assert!(results.iter().all(|result| *result == results[0]), "{}", layer.name);
    }
}

/// The bits of what a model computes in this process.
fn run_here(text: &str) -> Vec<u64> {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "layer.mlir").expect("a module");
    let options = CompileOptions { targets: "dnnl, llvm".into(), ..Default::default() };
    let network = session.compile(module, &options).expect("compiles").load().expect("loads");
    let ports = &network.signature().inputs;
    let inputs: Vec<_> = ports
        .iter()
        .map(|port| {
            let count = port.shape.iter().product::<usize>();
            let values: Vec<f32> = (0..count).map(|i| (i % 23) as f32 / 11.0 - 1.0).collect();
            Tensor::from_slice(&port.shape, &values).expect("a tensor")
        })
        .collect();
    let outputs = network.run(&inputs).expect("runs");
    outputs.iter().flat_map(Tensor::to_f64).map(f64::to_bits).collect()
}

#[test]
fn each_pattern_of_openblas_computes_what_the_host_does() {
    let mut taken = BTreeSet::new();
    for layer in layers::openblas() {
        taken.extend(check(&layer, "openblas"));
    }
    // The option is off in these.
    taken.insert("conv1x1".to_owned());
    assert_eq!(taken, patterns("openblas"));
    let model = data("models/mobilenet_v2");
    let targets = "openblas -conv1x1, llvm";
    let ops = partition(&model.join("model.onnx"), targets);
    assert!(ops.iter().any(|(.., pattern)| pattern.as_deref() == Some("conv1x1")));
    verify(&[model], targets);
}

#[test]
fn what_dnnl_cannot_do_stays_on_the_host() {
    for (name, op, reason) in layers::refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let model = folder.path().join("layer.mlir");
        fs::write(&model, &op).expect("a file");
        for (op, target, _) in partition(&model, "dnnl, llvm") {
            assert_eq!(target, "llvm", "{name}: {op} is on {target}, though {reason}");
        }
    }
}

#[test]
fn operators_match_onnxruntime() {
    // One shape of each elementwise operation; of the others all that differ in more than shapes.
    let prefixes = "average_pool batch_norm clip conv2d_1 conv_transpose div_broadcast gemm_01 gemm_10 \
                    gemm_alpha global log_softmax matmul_ max_broadcast max_pool softmax sub_broadcast";
    let unary = "abs elu exp hardsigmoid hardswish leakyrelu mish relu round sigmoid softplus tanh";
    let entries = fs::read_dir(data("ops")).expect("a folder").flatten();
    let mut cases: Vec<_> = entries.map(|entry| entry.path()).collect();
    cases.retain(|case| {
        let name = case.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let op = name.strip_suffix("_2x3x5");
        prefixes.split_whitespace().any(|prefix| name.starts_with(prefix))
            || op.is_some_and(|op| unary.split_whitespace().any(|other| op == other))
    });
    cases.sort();
    assert!(cases.len() > 80, "only {} cases", cases.len());
    verify(&cases, "dnnl, llvm");
    cases.retain(|case| {
        let name = case.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.starts_with("matmul") || name.starts_with("gemm")
    });
    verify(&cases, "openblas, llvm");
}

/// Operations without a call of a device are loops in its C. Every seventh one-operator model,
/// because each runs a C compiler.
#[test]
fn loops_of_a_device_match_onnxruntime() {
    let folder = tempfile::tempdir().expect("a folder");
    loops_target(folder.path());
    let entries = fs::read_dir(data("ops")).expect("a folder").flatten();
    let mut cases: Vec<_> = entries.map(|entry| entry.path()).collect();
    cases.sort();
    let empty = cases.iter().filter(|case| case.to_string_lossy().contains("/empty_"));
    let mut cases: Vec<_> = cases.iter().step_by(7).chain(empty).cloned().collect();
    cases.extend(["lenet", "ds_cnn"].map(|name| data("models").join(name)));
    let mut failed = vec![];
    for case in cases {
        let model = case.join("model.onnx");
        let (model, path) =
            (model.to_str().expect("UTF-8"), folder.path().to_str().expect("UTF-8"));
        let tolerances = ["--rtol", "1e-3", "--atol", "1e-4"];
        let arguments = ["verify", model, "-t", "loops, llvm", "--target-path", path];
        let output = phaseline(&[&arguments[..], &tolerances].concat());
        if !output.status.success() {
            failed.push(format!("{}: {}", case.display(), text(&output)));
        }
    }
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

/// The generated networks, and light models of the onnx package.
fn networks() -> Vec<PathBuf> {
    let entries = fs::read_dir(data("models")).expect("a folder").flatten();
    let mut cases: Vec<_> = entries.map(|entry| entry.path()).collect();
    cases.sort();
    cases.extend(["resnet50", "squeezenet", "shufflenet"].map(|name| data("light").join(name)));
    cases
}

#[test]
fn networks_match_onnxruntime_with_dnnl() {
    verify(&networks(), "dnnl, llvm");
}

#[test]
fn networks_match_onnxruntime_with_openblas() {
    verify(&networks(), "openblas, llvm");
}

#[test]
fn networks_match_onnxruntime_with_vanilla_before_dnnl() {
    verify(&networks(), "vanilla, dnnl, llvm");
    let ops = partition(&data("models/resnet50").join("model.onnx"), "vanilla, dnnl, llvm");
    for target in ["vanilla", "dnnl"] {
        assert!(ops.iter().any(|(_, place, _)| place == target), "{target} has nothing to do");
    }
}

#[test]
fn whole_networks_are_dnnl_s() {
    for (model, others) in [("mobilenet_v2", 1), ("resnet50", 1), ("bert_layer", 10)] {
        let path = data("models").join(model).join("model.onnx");
        assert!(regions(&path, "dnnl, llvm") <= 6, "{model} is in too many regions");
        let ops = partition(&path, "dnnl, llvm");
        let host: Vec<_> = ops.iter().filter(|(_, target, _)| target != "dnnl").collect();
        assert!(host.len() <= others, "{model}: on the host are {host:?}");
    }
}
