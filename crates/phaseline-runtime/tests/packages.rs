//! Packages made by a C compiler alone: a model of two inputs, its description, and what is refused.

use phaseline_runtime::{
    DType, Error, Executable, Tensor,
    artifact::{ArtifactKind, Machine, Port, Signature, cpu::HERE, shared_library_name},
    load,
    package::{Digest, Embedded, FORMAT, FileEntry, METADATA_FILE, Metadata, SIGNATURE_SYMBOL},
};
use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};
use tempfile::TempDir;

/// The entry point of a model that adds its inputs and a constant, by way of the arena. A negative sum is
/// an error.
const SOURCE: &str = r#"
#include <stdint.h>
const _Alignas(64) float net_constants[4] = {0.5f, 0.5f, 0.5f, 0.5f};
int32_t net_invoke(const void *const *inputs, void *const *outputs, const void *constants, void *arena,
                   void *const *devices, void *pool) {
  const float *a = inputs[0], *b = inputs[1], *c = constants;
  float *sum = arena, *out = outputs[0];
  (void)devices, (void)pool;
  for (int i = 0; i < 4; ++i) {
    sum[i] = a[i] + b[i] + c[i];
    if (sum[i] < 0)
      return 7;
  }
  for (int i = 0; i < 4; ++i)
    out[i] = sum[i];
  return 0;
}
"#;

fn port(name: &str) -> Port {
    Port { name: name.to_owned(), dtype: DType::F32, shape: vec![4], place: None }
}

fn signature() -> Signature {
    Signature {
        states: vec![],
        bounds: None,
        name: "net".to_owned(),
        inputs: vec![port("a"), port("b")],
        fixed: vec![],
        outputs: vec![port("sum")],
        arena_bytes: 64,
        arena_lower_bound: 0,
        arena_peak: String::new(),
        constants_bytes: 16,
        weights: None,
        pools: vec![],
        devices: vec![],
        operations: vec![],
    }
}

fn here() -> Machine {
    Machine { triple: HERE.to_owned(), ..Default::default() }
}

/// Compiles the model into the library of a package.
fn library(folder: &Path, described: &Embedded) -> PathBuf {
    let source = folder.join("net.c");
    let json = described.to_json().expect("has a JSON form");
    let text = format!("{SOURCE}const char {SIGNATURE_SYMBOL}[] = {json:?};\n");
    fs::write(&source, text).expect("writes");
    let library = folder.join(shared_library_name("net"));
    let made = Command::new("cc")
        .args(["-std=c11", "-shared", "-fPIC", "-o"])
        .args([&library, &source])
        .status()
        .expect("a C compiler");
    assert!(made.success());
    library
}

/// A package of the model.
fn package(described: Embedded) -> (TempDir, Metadata) {
    let folder = tempfile::tempdir().expect("a folder");
    let library = library(folder.path(), &described);
    let Digest { bytes, xxh128 } = Digest::of(&library).expect("reads");
    let path = shared_library_name("net");
    let file = FileEntry { path, kind: ArtifactKind::SharedLibrary, target: None, bytes, xxh128 };
    let Embedded { machine, signature } = described;
    let metadata = Metadata {
        phaseline_package: FORMAT,
        machine,
        signature,
        targets: vec![],
        files: vec![file],
        link: vec![],
    };
    write(folder.path(), &metadata);
    (folder, metadata)
}

fn write(folder: &Path, metadata: &Metadata) {
    let json = serde_json::to_string(metadata).expect("has a JSON form");
    fs::write(folder.join(METADATA_FILE), json).expect("writes");
}

fn good() -> (TempDir, Metadata) {
    package(Embedded { machine: here(), signature: signature() })
}

fn values(values: [f32; 4]) -> Tensor {
    Tensor::from_slice(&[4], &values).expect("is a tensor")
}

fn run(model: &Executable, a: [f32; 4]) -> phaseline_runtime::Result<Vec<f32>> {
    let outputs = model.run(&[values(a), values([1.0; 4])])?;
    Ok(outputs[0].as_slice::<f32>().expect("is of floats").to_vec())
}

fn refusal(folder: &Path) -> String {
    load(folder).expect_err("is refused").to_string()
}

#[test]
fn packages_and_their_libraries_run() {
    let (folder, metadata) = good();
    for path in [folder.path().to_owned(), folder.path().join(&metadata.files[0].path)] {
        let mut model = load(&path).expect("loads");
        assert_eq!(*model.signature(), metadata.signature);
        model.set_threads(2).expect("threads");
        assert_eq!(run(&model, [1.0, 2.0, 3.0, 4.0]).expect("runs"), [2.5, 3.5, 4.5, 5.5]);
        let named = [("b", [0.0; 4]), ("a", [1.0; 4])];
        let named = named.map(|(name, of)| (name.to_owned(), values(of))).into_iter().collect();
        let outputs = model.run_named(&named).expect("runs");
        assert_eq!(outputs["sum"].as_slice::<f32>().expect("is of floats"), [1.5; 4]);
    }
}

#[test]
fn runs_on_other_inputs_and_runs_that_fail_are_errors() {
    let (folder, _) = good();
    let model = load(folder.path()).expect("loads");
    let error = run(&model, [-9.0; 4]).expect_err("fails").to_string();
    assert_eq!(error, "running 'net' failed: a target returned status 7");
    let long = Tensor::zeros(DType::F32, &[5]).expect("is a tensor");
    let error = model.run(&[values([0.0; 4]), long]).expect_err("fails").to_string();
    assert_eq!(error, "input 'b' has shape [5], expected [4]");
    let error = model.run(&[values([0.0; 4])]).expect_err("fails").to_string();
    assert!(error.contains("2 inputs and 1 outputs, but 1 and 1 are given"), "{error}");
    let one = [("a".to_owned(), values([0.0; 4]))].into_iter().collect();
    let error = model.run_named(&one).expect_err("fails").to_string();
    assert_eq!(error, "no value is given for input 'b'");
    let error = model.run_traced(&[], &mut []).expect_err("fails").to_string();
    assert!(error.contains("compile it with --trace"), "{error}");
    let error = model.allocate("a").expect_err("fails").to_string();
    assert!(error.contains("compile it with --bind a=TARGET"), "{error}");
}

#[test]
fn packages_that_were_changed_are_refused() {
    let (folder, mut metadata) = good();
    let place = folder.path();
    let listed = metadata.files[0].clone();
    metadata.files[0].xxh128 = "0".repeat(32);
    write(place, &metadata);
    assert!(refusal(place).contains("does not have the content (XXH3 hash)"));
    metadata.files[0].bytes += 1;
    write(place, &metadata);
    assert!(refusal(place).contains("bytes, and metadata.json says"));
    metadata.files[0].path = "../libnet.so".to_owned();
    write(place, &metadata);
    assert!(refusal(place).contains("is outside of the package"));
    metadata.files[0] = listed;
    metadata.signature.arena_bytes = 0;
    write(place, &metadata);
    assert!(refusal(place).contains("contradicts libnet.so about the size of the arena"));
    metadata.files.clear();
    write(place, &metadata);
    assert!(refusal(place).contains("has no shared library libnet.so"));
    metadata.phaseline_package += 1;
    write(place, &metadata);
    assert!(refusal(place).contains("this version reads"));
    fs::remove_file(place.join(METADATA_FILE)).expect("removes");
    assert!(refusal(place).contains("is not a compiled model: it has no metadata.json"));
    assert!(refusal(&place.join("none")).contains("there is no compiled model at"));
}

#[test]
fn libraries_of_others_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("lib.so");
    fs::write(&path, "no library").expect("writes");
    assert!(refusal(&path).contains("it is not a shared library or is damaged"));
    let described = Embedded { machine: here(), signature: signature() };
    let library = library(folder.path(), &described);
    let bytes = fs::read(&library).expect("reads");
    fs::write(&path, &bytes[..bytes.len() / 2]).expect("writes");
    let error = refusal(&path);
    assert!(error.contains("damaged") || error.contains("cut off"), "{error}");
    fs::write(folder.path().join("other.c"), "int other;\n").expect("writes");
    let mut other = Command::new("cc");
    other.args(["-shared", "-fPIC", "other.c", "-o", "lib.so"]).current_dir(folder.path());
    assert!(other.status().expect("a C compiler").success());
    assert!(refusal(&path).contains("it has no symbol phaseline_signature"));
}

#[test]
fn code_of_other_machines_is_refused() {
    let on = |machine: Machine| {
        let (folder, _) = package(Embedded { machine, signature: signature() });
        load(folder.path()).map(drop)
    };
    let triple = |triple: &str| Machine { triple: triple.to_owned(), ..Default::default() };
    on(triple("")).expect("runs everywhere");
    for other in ["mips-unknown-linux-gnu", "x86_64-unknown-windows-msvc"] {
        let Err(Error::Unsupported(text)) = on(triple(other)) else { panic!("{other} runs") };
        let start = format!("the model is compiled for {other}, and this machine is {HERE}");
        assert!(text.starts_with(&start), "{text}");
    }
    if cfg!(target_arch = "x86_64") {
        // Of AMD's before Zen, and of no other.
        let features = "+xop".to_owned();
        let runs = on(Machine { features, ..here() });
        if !phaseline_runtime::artifact::cpu::here().contains(&("xop", true)) {
            let text = runs.expect_err("is refused").to_string();
            assert!(text.contains("features that this machine does not have:"), "{text}");
            assert!(text.contains("xop"), "{text}");
        }
    }
}
