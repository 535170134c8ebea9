//! From tensor-level IR to machine code that runs, in this process and from a package.

#![allow(clippy::panic, reason = "tests fail by panicking")]

mod bound;
mod hooks;
mod random_partition;
mod results;

use phaseline::{
    CompileOptions, Error, Phase, Session,
    artifact::{Compiled, machines, signature_of},
    codegen::llvm,
    ir, passes, runtime,
    tensor::Tensor,
};
use std::{path::Path, process::Command};

const CONV: &str = include_str!("backend/conv.mlir");

fn compile(text: &str) -> Result<Compiled, Error> {
    let session = Session::new();
    let mut module = session.parse(text.as_bytes(), "test")?;
    let targets = "llvm -mcpu=native".into();
    let pipeline = session.pipeline(&CompileOptions { targets, ..Default::default() })?;
    for phase in [Phase::Bufferize, Phase::PlanMemory] {
        session.run_pipeline(&mut module, pipeline.section(phase).expect("a section"))?;
    }
    let signature = signature_of(ir::root(&module))?;
    let constants = passes::constants(ir::root(&module))?;
    session.run_pipeline(&mut module, pipeline.section(Phase::Codegen).expect("a section"))?;
    let host = ir::ops_of(ir::root(&module))[0];
    Ok(Compiled {
        weights: phaseline::artifact::WeightsPlace::Auto,
        signature,
        objects: llvm::compile(&session, host, "model_host")?,
        constants,
        machine: machines::of(host)?,
        files: vec![],
        targets: vec![],
        link: vec![],
        cc: "cc".into(),
        layouts: vec![],
    })
}

fn conv_input() -> Tensor {
    let x: Vec<f32> = (0..400).map(|i| (i % 17) as f32 - 8.0).collect();
    Tensor::from_slice(&[1, 10, 10, 4], &x).expect("a tensor")
}

fn check_conv(x: &Tensor, y: &Tensor) {
    let (x, y) = (x.as_slice::<f32>().expect("f32"), y.as_slice::<f32>().expect("f32"));
    for (oh, ow) in (0..8).flat_map(|oh| (0..8).map(move |ow| (oh, ow))) {
        let mut sum = 0.0;
        for (kh, kw) in (0..3).flat_map(|kh| (0..3).map(move |kw| (kh, kw))) {
            let at = ((oh + kh) * 10 + ow + kw) * 4;
            sum += x[at..at + 4].iter().map(|x| 0.5 * x).sum::<f32>();
        }
        for f in 0..16 {
            let expected = (sum + f as f32).max(0.0) * 2.0;
            let got = y[(oh * 8 + ow) * 16 + f];
            assert!((got - expected).abs() <= 1e-3, "{oh} {ow} {f}: {got} {expected}");
        }
    }
}

#[test]
fn convolution_with_bias_and_relu() {
    let compiled = compile(CONV).expect("compiles");
    assert_eq!(compiled.signature.inputs[0].name, "x");
    assert_eq!(compiled.signature.outputs[0].shape, [1, 8, 8, 16]);
    // Everything is computed in the output: no temporaries.
    assert_eq!(compiled.signature.arena_bytes, 0);
    let executable = compiled.load().expect("links");
    let x = conv_input();
    for _ in 0..2 {
        check_conv(&x, &executable.run(std::slice::from_ref(&x)).expect("runs")[0]);
    }
}

#[test]
fn arguments_and_constants_returned_as_they_are() {
    let compiled = compile(
        "module { func.func @main(%x: tensor<40xf32>) -> (tensor<40xf32>, tensor<40xf32>, \
         tensor<40xf32>, tensor<2xi64>) {
           %c = arith.constant dense<1.5> : tensor<40xf32>
           %d = arith.constant dense<[7, -1]> : tensor<2xi64>
           return %x, %c, %x, %d : tensor<40xf32>, tensor<40xf32>, tensor<40xf32>, tensor<2xi64>
         } }",
    )
    .expect("compiles");
    let x = Tensor::from_slice(&[40], &(0..40).map(|i| i as f32).collect::<Vec<_>>()).expect("x");
    let outputs = compiled.load().expect("links").run(std::slice::from_ref(&x)).expect("runs");
    assert_eq!(outputs[0], x);
    assert_eq!(outputs[1].to_f64(), vec![1.5; 40]);
    assert_eq!(outputs[2], x);
    assert_eq!(outputs[3].to_i64().expect("integers"), [7, -1]);
}

#[test]
fn wrong_inputs_are_named() {
    let executable = compile(CONV).expect("compiles").load().expect("links");
    let error = |inputs: &[Tensor]| executable.run(inputs).expect_err("is wrong").to_string();
    assert!(error(&[]).contains("1 inputs"), "{}", error(&[]));
    let shape = Tensor::from_slice(&[1], &[1.0_f32]).expect("a tensor");
    assert_eq!(error(&[shape]), "input 'x' has shape [1], expected [1, 10, 10, 4]");
    let ints = Tensor::from_slice(&[1, 10, 10, 4], &[0_i32; 400]).expect("a tensor");
    assert_eq!(error(&[ints]), "input 'x' is int32, expected float32");
    let named = [("z".to_owned(), conv_input())].into_iter().collect();
    let error = executable.run_named(&named).expect_err("is wrong").to_string();
    assert_eq!(error, "the model has no input 'z'; its inputs are 'x'");
    let error = executable.run_named(&Default::default()).expect_err("is wrong").to_string();
    assert_eq!(error, "no value is given for input 'x'");
}

#[test]
fn dynamic_shapes_are_refused() {
    let text = "module { func.func @main(%x: tensor<?xf32> {phl.name = \"n\"}) -> tensor<?xf32> {
        return %x : tensor<?xf32> } }";
    let error = compile(text).expect_err("fails").to_string();
    assert!(error.contains("input 'n' of 'main' has the type tensor<?xf32>"), "{error}");
    assert!(error.contains("--shape"), "{error}");
}

#[test]
fn packages_load_link_and_repeat() {
    let work = tempfile::tempdir().expect("a directory");
    let (first, second) = (work.path().join("a/model"), work.path().join("b"));
    compile(CONV).expect("compiles").write_package(&first).expect("writes");
    compile(CONV).expect("compiles").write_package(&second).expect("writes");
    let x = conv_input();
    for path in [first.clone(), first.join("libmodel.so")] {
        let executable = runtime::load(&path).expect("loads");
        assert_eq!(executable.signature().inputs[0].name, "x");
        check_conv(&x, &executable.run(std::slice::from_ref(&x)).expect("runs")[0]);
    }
    let mut names: Vec<_> = std::fs::read_dir(&first)
        .expect("lists")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    names.sort();
    assert_eq!(names, ["libmodel.a", "libmodel.so", "metadata.json", "model", "model.h", "share"]);
    let files = names.iter().map(|name| match name.as_str() {
        "model" => "model/model.h",
        "share" => "share/cmake/model/modelConfig.cmake",
        name => name,
    });
    for name in files {
        let read = |folder: &Path| std::fs::read(folder.join(name)).expect("reads");
        assert!(read(&first) == read(&second), "{name} differs");
    }
    // A package is replaced, other directories are not.
    compile(CONV).expect("compiles").write_package(&first).expect("replaces");
    let other = work.path().join("other");
    std::fs::create_dir(&other).expect("creates");
    std::fs::write(other.join("precious"), "x").expect("writes");
    let error =
        compile(CONV).expect("compiles").write_package(&other).expect_err("refuses").to_string();
    assert!(error.contains("is not empty and not a compiled model"), "{error}");
    assert_eq!(std::fs::read_dir(&other).expect("lists").count(), 1);
    assert_eq!(std::fs::read_dir(work.path()).expect("lists").count(), 3, "leftovers");
    run_c_program(&first);
}

fn run_c_program(package: &Path) {
    for (flags, name) in [(&["-std=c11"][..], "c"), (&["-std=c++17", "-xc++"][..], "c++")] {
        let program = package.join("example");
        let output = Command::new("cc")
            .args(["-Wall", "-Wextra", "-Werror"])
            .args(flags)
            .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/backend/main.c"))
            .args(["-xnone", "-I"])
            .arg(package)
            .arg(package.join("libmodel.a"))
            .args(["-lm", "-o"])
            .arg(&program)
            .output()
            .expect("starts the C compiler");
        assert!(output.status.success(), "{name}: {}", String::from_utf8_lossy(&output.stderr));
        let output = Command::new(&program).output().expect("starts the program");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!((output.status.code(), text.as_str()), (Some(0), "x y 30\n"), "{name}");
        std::fs::remove_file(program).expect("removes");
    }
}

#[test]
fn models_in_memory_run_side_by_side() {
    let compiled = compile(CONV).expect("compiles");
    let (shared, x) = (compiled.load().expect("links"), conv_input());
    let wanted = shared.run(std::slice::from_ref(&x)).expect("runs")[0].to_f64();
    std::thread::scope(|scope| {
        for number in 0..4 {
            let (shared, compiled, x, wanted) = (&shared, &compiled, &x, &wanted);
            scope.spawn(move || {
                // Two threads have one of their own, two share one.
                let own = (number % 2 == 0).then(|| compiled.load().expect("links"));
                for _ in 0..20 {
                    let network = own.as_ref().unwrap_or(shared);
                    let got = network.run(std::slice::from_ref(x)).expect("runs");
                    assert_eq!(got[0].to_f64(), *wanted);
                }
            });
        }
    });
}

#[test]
fn missing_packages_are_named() {
    let work = tempfile::tempdir().expect("a directory");
    let error = runtime::load(work.path()).expect_err("fails").to_string();
    assert!(error.contains("is not a compiled model: it has no metadata.json"), "{error}");
    // A package of an older or newer version is not guessed at.
    compile(CONV).expect("compiles").write_package(work.path()).expect("writes");
    let metadata = work.path().join("metadata.json");
    let text = std::fs::read_to_string(&metadata).expect("reads");
    let other = text.replacen("\"phaseline_package\": 4", "\"phaseline_package\": 1", 1);
    assert_ne!(text, other);
    std::fs::write(&metadata, other).expect("writes");
    let error = runtime::load(work.path()).expect_err("fails").to_string();
    assert!(
        error.contains("has format 1, this version reads 4: compile the model again"),
        "{error}"
    );
    let work = tempfile::tempdir().expect("a directory");
    let error = runtime::load(&work.path().join("lib.so")).expect_err("fails").to_string();
    assert!(error.contains("there is no compiled model at"), "{error}");
    std::fs::write(work.path().join("lib.so"), "x").expect("writes");
    let error = runtime::load(&work.path().join("lib.so")).expect_err("fails").to_string();
    assert!(error.contains("cannot load"), "{error}");
}
