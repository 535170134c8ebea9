//! Models against onnxruntime's answers, through `phaseline verify` as a user would: one-operator
//! models, whole networks, and ONNX's own backend suite. `make data` writes them.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};

/// Least number of cases of ONNX's suite that pass: 1683 as measured, with headroom for other CPUs.
const SUITE_PASSES: usize = 1660;
/// Least number of cases of the sample that pass, of every fifth case: 340 as measured.
const SAMPLE_PASSES: usize = 335;

fn data(folder: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("build/test-data").join(folder);
    assert!(path.is_dir(), "{} is missing: run `make data`", path.display());
    path
}

fn cases(folder: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(data(folder)).expect("a folder").flatten();
    let mut all: Vec<_> = entries.map(|entry| entry.path()).collect();
    all.sort();
    assert!(!all.is_empty(), "{folder} holds no case");
    all
}

/// True if all cases are tried, as `make conformance` does, instead of samples.
#[allow(clippy::disallowed_methods, reason = "make tells tests how much is tried")]
fn all() -> bool {
    std::env::var_os("PHASELINE_CONFORMANCE").is_some()
}

/// One case of so many.
fn sample(cases: Vec<PathBuf>, one_of: usize) -> Vec<PathBuf> {
    cases.into_iter().step_by(if all() { 1 } else { one_of }).collect()
}

/// Outcome of one case.
struct Outcome {
    case: String,
    passed: bool,
    /// The process ended by a signal or a code that is neither 0 nor 1.
    crashed: bool,
    text: String,
}

/// Targets as data that the tests have.
const TARGETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/targets");

fn verify(case: &Path, target: &str) -> Outcome {
    let tolerance = fs::read_to_string(case.join("tolerance.json")).unwrap_or_default();
    let number = |key: &str, default: f64| -> String {
        let value: Option<serde_json::Value> = serde_json::from_str(&tolerance).ok();
        value.and_then(|v| v[key].as_f64()).unwrap_or(default).to_string()
    };
    let output = Command::new(env!("CARGO_BIN_EXE_phaseline"))
        // Memory that was given back has other contents, so that its use shows.
        .env("MALLOC_PERTURB_", "165")
        .arg("verify")
        .arg(case.join("model.onnx"))
        .args([
            "-t",
            target,
            "--target-path",
            TARGETS,
            "--rtol",
            &number("rtol", 1e-3),
            "--atol",
            &number("atol", 1e-4),
        ])
        .output()
        .expect("phaseline starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).chars().take(600).collect::<String>();
    Outcome {
        case: case.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        passed: output.status.success(),
        crashed: !matches!(output.status.code(), Some(0 | 1)),
        text: text(&output.stdout) + &text(&output.stderr),
    }
}

/// Runs the cases on two threads.
fn verify_all(cases: &[PathBuf], target: &str) -> Vec<Outcome> {
    let next = AtomicUsize::new(0);
    let outcomes = Mutex::new(vec![]);
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let outcome = verify(case, target);
                    outcomes.lock().expect("no panic").push(outcome);
                }
            });
        }
    });
    outcomes.into_inner().expect("no panic")
}

fn assert_all_pass(folder: &str, target: &str) {
    assert_pass(&cases(folder), target);
}

fn assert_pass(cases: &[PathBuf], target: &str) {
    let failed: Vec<_> = verify_all(cases, target)
        .into_iter()
        .filter(|outcome| !outcome.passed)
        .map(|outcome| format!("{}: {}", outcome.case, outcome.text))
        .collect();
    assert!(failed.is_empty(), "{} failed:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn one_operator_models_match_onnxruntime() {
    assert_pass(&sample(cases("ops"), 3), "llvm");
}

#[test]
fn loops_match_onnxruntime() {
    for target in ["llvm", "c", "vanilla, llvm"] {
        assert_all_pass("recurrent", target);
    }
}

#[test]
fn networks_match_onnxruntime_on_the_host() {
    assert_all_pass("models", "llvm");
}

#[test]
fn networks_match_onnxruntime_with_the_accelerator() {
    assert_all_pass("models", "vanilla, llvm");
}

#[test]
fn light_models_have_the_right_structure() {
    assert_all_pass("light", "llvm");
    // What is checked is how they are divided, not LLVM's passes again.
    assert_all_pass("light", "vanilla, llvm -opt-level=1");
}

#[test]
fn targets_of_data_alone_run_networks() {
    let small = ["lenet", "mlp", "ds_cnn", "squeezenet"];
    let small: Vec<_> = small.iter().map(|name| data("models").join(name)).collect();
    assert_pass(&small, "toy, llvm");
    // Two instances of one kind divide the work by an option that predicates see.
    assert_all_pass("models", "a: toy -lanes=64, b: toy -lanes=1, llvm");
}

#[test]
fn quantized_networks_match_onnxruntime_on_the_host() {
    assert_all_pass("quantized", "llvm");
}

#[test]
fn quantized_networks_match_onnxruntime_with_cmsis_nn() {
    assert_all_pass("quantized", "cmsis-nn, llvm");
    // Cores without vectors multiply matrices by another function, and gather less.
    for core in ["cortex-m0", "cortex-m7"] {
        let target = format!("cmsis-nn -mcpu={core}, llvm");
        let outcome = verify(&data("quantized/every_layer"), &target);
        assert!(outcome.passed, "{core}: {}", outcome.text);
    }
}

#[test]
fn quantized_networks_match_onnxruntime_with_the_npu() {
    assert_all_pass("quantized", "npu, llvm");
    // With little memory it leaves large layers to the next target.
    assert_all_pass("quantized", "npu -sram=64k, cmsis-nn, llvm");
}

#[test]
fn whole_quantized_networks_are_layers_of_cmsis_nn() {
    // What enters, what leaves, and flattening run on the host; the layers are one region on both
    // sides of that.
    let two = "operations in 2 regions\nllvm: 3 of";
    let cases = [("every_layer", two), ("lenet", two), ("ds_cnn", two), ("mobilenet_v2", two)];
    for (name, end) in cases.into_iter().chain([("wide_layers", two)]) {
        let output = Command::new(env!("CARGO_BIN_EXE_phaseline"))
            .arg("partition")
            .arg(data("quantized").join(name).join("model.onnx"))
            .args(["-t", "cmsis-nn, llvm"])
            .output()
            .expect("phaseline starts");
        let table = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(table.contains(end), "{name}:\n{table}");
    }
}

/// The double, compiled to a shared library as of one core, stands for the real library.
#[test]
fn cmsis_nn_is_linked_from_where_its_option_says() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("targets/cmsis-nn");
    for (core, macros) in [("cortex-m55", "-DARM_MATH_MVEI"), ("cortex-m7", "-DARM_MATH_DSP")] {
        let folder = tempfile::tempdir().expect("a folder");
        let (include, lib) = (folder.path().join("Include"), folder.path().join("lib"));
        fs::create_dir_all(&include).and_then(|()| fs::create_dir_all(&lib)).expect("folders");
        let mut cc = Command::new("cc");
        cc.args(["-shared", "-fPIC", "-O2", macros, "-o"]).arg(lib.join("libcmsis-nn.so"));
        for entry in fs::read_dir(&root).expect("sources").flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if name.ends_with(".c") {
                cc.arg(entry.path());
            } else if name.starts_with("arm_") {
                fs::copy(entry.path(), include.join(name)).expect("a header");
            }
        }
        assert!(cc.status().expect("a C compiler").success());
        let target = format!("cmsis-nn -mcpu={core} -cmsis-path={}, llvm", folder.path().display());
        for name in ["every_layer", "ds_cnn"] {
            let outcome = verify(&data("quantized").join(name), &target);
            assert!(outcome.passed, "{core}, {name}: {}", outcome.text);
        }
    }
    let empty = tempfile::tempdir().expect("a folder");
    let target = format!("cmsis-nn -cmsis-path={}, llvm", empty.path().display());
    let outcome = verify(&data("quantized/lenet"), &target);
    assert!(!outcome.passed && outcome.text.contains("arm_nnfunctions.h"), "{}", outcome.text);
}

/// The host `c`: networks, and fewer one-operator models, because each runs a C compiler.
#[test]
fn generated_c_matches_onnxruntime() {
    assert_all_pass("models", "c");
    assert_pass(&sample(cases("ops"), 9), "c");
    let both = ["lenet", "ds_cnn", "bert_layer"].map(|name| data("models").join(name));
    assert_pass(&both, "vanilla, c");
}

#[test]
fn onnx_suite_passes_and_never_crashes() {
    let outcomes = verify_all(&sample(cases("suite"), 5), "llvm");
    let crashed: Vec<_> =
        outcomes.iter().filter(|o| o.crashed).map(|o| format!("{}: {}", o.case, o.text)).collect();
    assert!(crashed.is_empty(), "{} crashed:\n{}", crashed.len(), crashed.join("\n"));
    let passed = outcomes.iter().filter(|outcome| outcome.passed).count();
    println!("{passed} of {} cases of ONNX's suite pass", outcomes.len());
    let least = if all() { SUITE_PASSES } else { SAMPLE_PASSES };
    assert!(passed >= least, "only {passed} of {} pass", outcomes.len());
}

#[test]
fn two_compiles_give_the_same_bytes() {
    let folder = tempfile::tempdir().expect("a folder");
    let model = data("models/lenet").join("model.onnx");
    for (target, name) in [("llvm", "host"), ("vanilla, llvm", "both"), ("c", "c")] {
        let outs = [0, 1].map(|i| folder.path().join(format!("{name}{i}")));
        for out in &outs {
            let status = Command::new(env!("CARGO_BIN_EXE_phaseline"))
                .arg("compile")
                .arg(&model)
                .args(["-t", target, "-o"])
                .arg(out)
                .status()
                .expect("phaseline starts");
            assert!(status.success());
        }
        assert_same_tree(&outs[0], &outs[1]);
    }
}

/// A compiler for another machine: the code is compiled, and running it says where it would run.
#[test]
fn code_for_another_machine_is_not_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let compiler = folder.path().join("other-cc");
    // Compiles for this machine, but says that it does not.
    let text = "#!/bin/sh\ncase \"$*\" in *-dumpmachine*) echo mips-linux-gnu ;; *) exec cc \"$@\" ;; esac\n";
    fs::write(&compiler, text).expect("writes");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = fs::Permissions::from_mode(0o755);
        fs::set_permissions(&compiler, mode).expect("sets the mode");
    }
    let target = format!("c -compiler={}", compiler.display());
    let out = folder.path().join("out");
    let run = |arguments: &[&std::ffi::OsStr]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phaseline"));
        command.args(arguments).output().expect("phaseline starts")
    };
    let model = data("models/mlp").join("model.onnx");
    let (model, out) = (model.as_os_str(), out.as_os_str());
    let compiled =
        run(&["compile".as_ref(), model, "-t".as_ref(), target.as_ref(), "-o".as_ref(), out]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let random: [&std::ffi::OsStr; 2] = ["--random-inputs".as_ref(), "1".as_ref()];
    let target: [&std::ffi::OsStr; 2] = ["-t".as_ref(), target.as_ref()];
    for arguments in [vec!["run".as_ref(), out], vec!["run".as_ref(), model, target[0], target[1]]]
    {
        let output = run(&[&arguments[..], &random].concat());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(
            text.contains("compiled for mips-unknown-linux-gnu, and this machine is"),
            "{text}"
        );
    }
}

fn assert_same_tree(a: &Path, b: &Path) {
    for entry in fs::read_dir(a).expect("a package").flatten() {
        let other = b.join(entry.file_name());
        if entry.path().is_dir() {
            assert_same_tree(&entry.path(), &other);
            continue;
        }
        let bytes = [entry.path(), other].map(|path| fs::read(path).expect("a file"));
        assert!(bytes[0] == bytes[1], "{} differs", entry.path().display());
    }
}
