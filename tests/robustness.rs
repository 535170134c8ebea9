//! Damaged inputs: whatever bytes a model, IR, target spec or pipeline consists of, the program ends
//! by itself with exit code 0 or 1 and, if 1, with a message.
//!
//! Inputs are good ones with random damage from fixed seeds. `PHASELINE_FUZZ_ROUNDS=N` makes N
//! times as many.

#![allow(clippy::disallowed_methods, reason = "a test's own settings")]

use std::{
    fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

/// More than the slowest of these takes on a busy machine.
const LIMIT: Duration = Duration::from_secs(120);

/// Marsaglia's xorshift: the same numbers on every machine.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % limit.max(1) as u64) as usize
    }

    /// One to four pieces of damage.
    fn damage(&mut self, good: &[u8], alphabet: &[u8]) -> Vec<u8> {
        let mut bytes = good.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(bytes.len());
            let length = 1 + self.below(16);
            match self.below(6) {
                0 => bytes.truncate(at),
                1 if at < bytes.len() => bytes[at] ^= 1 << self.below(8),
                2 if at < bytes.len() => bytes[at] = alphabet[self.below(alphabet.len())],
                3 => bytes.insert(at, alphabet[self.below(alphabet.len())]),
                4 => drop(bytes.drain(at..(at + length).min(bytes.len()))),
                _ => {
                    let from = self.below(bytes.len());
                    let copy = bytes[from..(from + length).min(bytes.len())].to_vec();
                    bytes.splice(at..at, copy);
                }
            }
        }
        bytes
    }
}

fn rounds() -> usize {
    std::env::var("PHASELINE_FUZZ_ROUNDS").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Runs the program; the error says how it ended if not well.
fn ends_well(arguments: &[&str]) -> Result<(), String> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_phaseline"))
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let mut pipe = child.stderr.take().ok_or("no standard error")?;
    // Read beside, or a child with much to say would wait for ever.
    let reader = std::thread::spawn(move || {
        let mut text = vec![];
        let _ = pipe.read_to_end(&mut text);
        String::from_utf8_lossy(&text).into_owned()
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(|error| error.to_string())? {
            break status;
        }
        if start.elapsed() > LIMIT {
            let _ = child.kill();
            return Err(format!("ran for more than {LIMIT:?}"));
        }
        std::thread::sleep(Duration::from_millis(5));
    };
    let message = reader.join().unwrap_or_default();
    match status.code() {
        Some(0) => Ok(()),
        // LLVM's option parser prints lines of its own before the message.
        Some(1) if has_message(&message) && !message.contains("panicked") => Ok(()),
        _ => Err(format!("{status}: {message}")),
    }
}

fn has_message(text: &str) -> bool {
    text.lines().any(|line| line.starts_with("error: "))
}

/// Damages `good` `count` times and tries each; damaged inputs that end badly are kept.
fn try_damaged(
    name: &str,
    good: &[u8],
    (count, alphabet): (usize, &[u8]),
    run: impl Fn(&Path, &[u8]) -> Result<(), String>,
) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut bad = vec![];
    for round in 0..count * rounds() {
        let seed = name
            .bytes()
            .fold(round as u64 + 1, |sum, byte| sum.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let damaged = Random::new(seed).damage(good, alphabet);
        if let Err(how) = run(folder.path(), &damaged) {
            let kept = std::env::temp_dir().join(format!("phaseline-fuzz-{name}-{round}"));
            let _ = fs::write(&kept, &damaged);
            bad.push(format!("round {round}, kept as {}: {how}", kept.display()));
        }
    }
    assert!(bad.is_empty(), "{name}: {} bad ends\n{}", bad.len(), bad.join("\n"));
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn model_ends_well(file: &str) -> impl Fn(&Path, &[u8]) -> Result<(), String> {
    move |folder, bytes| {
        let path = folder.join(file);
        fs::write(&path, bytes).map_err(|error| error.to_string())?;
        let path = path.to_string_lossy();
        ends_well(&["compile", &path, "-t", "vanilla, llvm", "--emit=plan-memory"])
    }
}

#[test]
fn damaged_onnx_models_end_well() {
    let any: Vec<u8> = (0..=255).collect();
    for case in [
        "conv_with_strides_padding",
        "gemm_all_attributes",
        "slice",
        "qlinearconv",
        "lstm_defaults",
    ] {
        let folder = root().join("build/test-data/suite").join(format!("node-test_{case}"));
        let good = fs::read(folder.join("model.onnx")).expect("`make data` makes the model");
        try_damaged(case, &good, (16, &any), model_ends_well("model.onnx"));
    }
    let lenet = fs::read(root().join("build/test-data/models/lenet/model.onnx")).expect("a model");
    // The end has the graph's structure; damage to weights is no damage.
    let end = lenet.len().saturating_sub(2000);
    try_damaged("lenet", &lenet[end..], (16, &any), |folder, tail| {
        model_ends_well("model.onnx")(folder, &[&lenet[..end], tail].concat())
    });
}

#[test]
fn damaged_ir_ends_well() {
    let text = b"%0x(){}<>[]:,=-> \n\"123456789?fistenorgraph.#!@\0\xff";
    for file in ["tests/lit/cli/Inputs/net.mlir", "examples/embed/net.mlir"] {
        let good = fs::read(root().join(file)).expect("a model");
        let name = file.replace('/', "-");
        try_damaged(&name, &good, (48, text), model_ends_well("net.mlir"));
    }
}

#[test]
fn damaged_target_specs_end_well() {
    let good =
        b"a: vanilla -scratchpad=32k -double-buffer=false, llvm -mcpu=skylake -mattr='+avx2,+fma'";
    let text = b"ab:,-= '\"{}[]0123456789kmx\n\\/";
    let model = root().join("examples/embed/net.mlir");
    try_damaged("spec", good, (48, text), |_, spec| {
        let spec = format!("--target={}", String::from_utf8_lossy(spec).replace('\0', " "));
        ends_well(&["compile", &model.to_string_lossy(), &spec, "--emit=lower"])
    });
}

#[test]
fn damaged_pipelines_end_well() {
    let model = root().join("examples/embed/net.mlir").to_string_lossy().into_owned();
    let printed = Command::new(env!("CARGO_BIN_EXE_phaseline"))
        .args(["compile", &model, "-t", "vanilla, llvm", "--print-pipeline"])
        .output()
        .expect("prints");
    let text = b"(){},=- \nabcdefgt0123456789/:@$";
    try_damaged("pipeline", &printed.stdout, (48, text), |folder, pipeline| {
        let path = folder.join("p.pipeline");
        fs::write(&path, pipeline).map_err(|error| error.to_string())?;
        let path = path.to_string_lossy();
        ends_well(&[
            "compile",
            &model,
            "-t",
            "vanilla, llvm",
            "--pipeline",
            &path,
            "--emit=codegen",
        ])
    });
}
