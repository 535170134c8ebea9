//! Packages that a program of `phaseline-runtime` runs, which knows neither MLIR nor LLVM.

use phaseline::{CompileOptions, Session, artifact::WeightsPlace, io};
use std::{
    path::{Path, PathBuf},
    process::{Command, Output},
};

const NETWORK: &str = r#"
func.func @main(%x: tensor<4x64xf32> {phl.name = "x"}, %old: tensor<8xf32> {phl.name = "old"})
    -> (tensor<4x16xf32> {phl.name = "y"}, tensor<8xf32> {phl.name = "new"}) {
  %w = graph.constant dense<0.25> : tensor<64x16xf32>
  %0 = graph.matmul %x, %w : (tensor<4x64xf32>, tensor<64x16xf32>) -> tensor<4x16xf32>
  %1 = graph.sigmoid %0 : tensor<4x16xf32>
  %2 = graph.add %old, %old : tensor<8xf32>
  return %1, %2 : tensor<4x16xf32>, tensor<8xf32>
}
"#;

/// Builds the example of the crate, alone: without what other members have its dependencies do.
fn program() -> PathBuf {
    let folder = Path::new(env!("CARGO_BIN_EXE_phaseline")).parent().expect("a folder");
    let built = Command::new(env!("CARGO"))
        .args(["build", "-p", "phaseline-runtime", "--example", "run_package", "--offline"])
        .arg("--target-dir")
        .arg(folder.parent().expect("the folder of all profiles"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    folder.parent().expect("as above").join("debug/examples/run_package")
}

fn run(program: &Path, arguments: &[&Path]) -> Output {
    // Nothing of a compiler's is needed.
    let path = "/nonexistent";
    Command::new(program).args(arguments).env_clear().env("PATH", path).output().expect("starts")
}

#[test]
fn the_runtime_alone_gives_what_the_session_gives() {
    let program = program();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    for (targets, weights) in [
        ("llvm", WeightsPlace::Inside),
        ("llvm", WeightsPlace::Beside),
        ("c", WeightsPlace::Inside),
        ("far, llvm", WeightsPlace::Inside),
    ] {
        let session = Session::new();
        let module = session.parse(NETWORK.as_bytes(), "net.mlir").expect("is valid");
        let options = CompileOptions {
            targets: targets.to_owned(),
            target_path: vec!["tests/targets/far".into()],
            name: "net".to_owned(),
            ..Default::default()
        };
        let mut compiled = session.compile(module, &options).expect("compiles");
        compiled.weights = weights;
        let work = tempfile::tempdir().expect("a folder");
        let [package, inputs, outputs] =
            ["net", "x.npz", "y.npz"].map(|name| work.path().join(name));
        compiled.write_package(&package).expect("writes");
        let model = compiled.load().expect("loads");
        let given = model.signature().inputs.iter();
        let given = given
            .map(|port| {
                let tensor = phaseline::Tensor::random(port.dtype, &port.shape, 3);
                (port.name.clone(), tensor.expect("there is memory"))
            })
            .collect();
        io::save_outputs(&inputs, &given).expect("writes");
        let ran = run(&program, &[&package, &inputs, &outputs]);
        assert!(ran.status.success(), "{targets}: {}", text(&ran.stderr));
        let printed = text(&ran.stdout);
        assert!(printed.contains("y: float32[4, 16] = "), "{targets}: {printed}");
        let names = ["y", "new"].map(str::to_owned);
        let made = io::load_inputs(&outputs, &names).expect("reads");
        assert_eq!(made, model.run_named(&given).expect("runs"), "{targets}");
    }
}

#[test]
fn the_runtime_alone_says_why_it_cannot() {
    let ran = run(&program(), &[Path::new("tests")]);
    assert_eq!(ran.status.code(), Some(1));
    let error = String::from_utf8_lossy(&ran.stderr);
    assert_eq!(error, "error: tests is not a compiled model: it has no metadata.json\n");
}
