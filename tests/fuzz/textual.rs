//! Manifests, target specs, pipelines, IR and the JSON files that partitioning reads.

use crate::{
    campaign::{corpus, root},
    judge::{Case, program},
    random::Random,
    text::{self, Dictionary},
};
use phaseline::Phase;
use std::{fs, path::PathBuf, process::Command};

/// A network that each built-in target takes something of.
const NETWORK: &str = "tests/lit/cli/Inputs/net.mlir";

/// Texts of one kind, and their words.
pub struct Texts {
    texts: Vec<(PathBuf, String)>,
    dictionary: Dictionary,
    /// One of them in MLIR's binary form, if they are IR.
    bytecode: Vec<u8>,
}

impl Texts {
    fn new(texts: Vec<(PathBuf, String)>) -> Self {
        let dictionary = Dictionary::new(texts.iter().map(|(_, text)| text.as_str()));
        Self { texts, dictionary, bytecode: vec![] }
    }

    fn read(files: Vec<PathBuf>) -> Self {
        let read = |path: PathBuf| {
            let text = fs::read_to_string(&path).expect("reads");
            (path, text)
        };
        Self::new(files.into_iter().map(read).collect())
    }

    fn damaged(&self, random: &mut Random) -> (&PathBuf, Vec<u8>) {
        let (path, text) = random.pick(&self.texts);
        let donor = &random.pick(&self.texts).1;
        (path, text::mutate(random, text, &self.dictionary, donor))
    }
}

fn network() -> (String, Vec<u8>) {
    ("net.mlir".to_owned(), fs::read(root().join(NETWORK)).expect("reads"))
}

/// Output of the program.
fn printed(arguments: &[&str]) -> String {
    let output = Command::new(program()).args(arguments).current_dir(root()).output();
    String::from_utf8(output.expect("runs").stdout).expect("is text")
}

/// Manifests of targets. Those that name programs are left out: a mutation could name others.
pub fn manifests() -> Texts {
    let mut files = corpus("targets", "target.toml", 1 << 20);
    files.extend(corpus("tests/targets", "target.toml", 1 << 20));
    let mut texts = Texts::read(files);
    texts.texts.retain(|(_, text)| !text.contains("command ="));
    Texts::new(texts.texts)
}

pub fn damaged_manifest(random: &mut Random, texts: &Texts) -> Case {
    let (path, manifest) = texts.damaged(random);
    let name = path.parent().and_then(|path| path.file_name()).expect("a folder");
    let name = name.to_string_lossy();
    // A built-in kind's name is taken.
    let manifest = String::from_utf8_lossy(&manifest).replacen(
        &format!("name = \"{name}\""),
        "name = \"fuzzed\"",
        1,
    );
    let mut files = vec![network(), ("t/fuzzed/target.toml".to_owned(), manifest.into_bytes())];
    for entry in fs::read_dir(path.parent().expect("a folder")).expect("reads").flatten() {
        let file = entry.file_name().to_string_lossy().into_owned();
        if file != "target.toml" && entry.path().is_file() {
            files.push((format!("t/fuzzed/{file}"), fs::read(entry.path()).expect("reads")));
        }
    }
    let commands = [
        "targets fuzzed --target-path t",
        "targets fuzzed --target-path t --json",
        "partition net.mlir -t fuzzed,llvm --target-path t --explain=all",
        "partition net.mlir -t fuzzed,llvm --target-path t --placement-search --json",
        "compile net.mlir -t fuzzed,llvm --target-path t --emit=plan-memory",
        "compile net.mlir -t fuzzed,llvm --target-path t --emit=codegen",
        "compile net.mlir -t fuzzed,llvm --target-path t -o out",
    ];
    Case::new(files, random.pick::<&str>(&commands))
}

/// Target specs, and other options with a grammar of their own.
pub fn options() -> Texts {
    let options = [
        ("--target", "a: vanilla -scratchpad=32k -double-buffer=false, llvm -mcpu=skylake"),
        ("--target", "npu -sram=128k, vanilla, c -cc='gcc -O1'"),
        (
            "--target",
            "x: npu, y: npu, llvm -mtriple=aarch64-unknown-linux-gnu -mattr='+neon,+fp16'",
        ),
        (
            "--target",
            "cmsis-nn -core=m55, llvm -mtriple=thumbv8.1m.main-none-eabi -mcpu=cortex-m55",
        ),
        ("--target", "dnnl, openblas, llvm"),
        ("--shape", "x=1x1x8x8"),
        ("--pass", "pre-partition=cse,func.func(canonicalize{max-iterations=3 top-down=true})"),
        ("--pass", "lower=for-target{target=llvm pipeline={func.func(cse)}}"),
        ("--name", "net_1.a-b"),
        ("--lowering-order", "llvm,vanilla"),
    ];
    let texts = options.iter().map(|(name, text)| (PathBuf::from(name), (*text).to_owned()));
    Texts::new(texts.collect())
}

pub fn damaged_option(random: &mut Random, texts: &Texts) -> Case {
    let (name, value) = texts.damaged(random);
    let name = name.display();
    let value = String::from_utf8_lossy(&value).replace('\0', " ");
    let end = random.pick(&["--emit=lower", "--emit=plan-memory", "--emit=codegen", "-o=out"]);
    let case = Case::new(vec![network()], &format!("compile net.mlir {end}"));
    let case = case.with(format!("{name}={value}"));
    if name.to_string() == "--target" { case } else { case.with("--target=vanilla, llvm") }
}

/// Pipelines as the program prints them.
pub fn pipelines() -> Texts {
    let specs = ["llvm", "vanilla, llvm", "npu, vanilla, llvm", "c", "cmsis-nn, llvm"];
    let print = |spec: &&str| {
        (PathBuf::from(*spec), printed(&["compile", NETWORK, "-t", spec, "--print-pipeline"]))
    };
    Texts::new(specs.iter().map(print).collect())
}

pub fn damaged_pipeline(random: &mut Random, texts: &Texts) -> Case {
    let (spec, pipeline) = texts.damaged(random);
    let files = vec![network(), ("p.pipeline".to_owned(), pipeline)];
    let end = random.pick(&["--emit=plan-memory", "--emit=codegen", "-o=out"]);
    Case::new(files, &format!("compile net.mlir --pipeline p.pipeline {end}"))
        .with(format!("--target={}", spec.display()))
}

/// IR of the graph dialect, and IR as it is after each phase.
pub fn ir() -> Texts {
    let mut files = corpus("tests/lit/cli", ".mlir", 16 << 10);
    files.push(root().join("examples/embed/net.mlir"));
    let mut texts = Texts::read(files).texts;
    for spec in ["vanilla, llvm", "npu, llvm"] {
        // IR before it has places in memory.
        for phase in Phase::ALL.into_iter().take_while(|phase| *phase < Phase::PlanMemory) {
            let stop = format!("--emit={phase}");
            let text = printed(&["compile", NETWORK, "-t", spec, &stop]);
            texts.push((PathBuf::from(format!("{phase}={spec}")), text));
        }
    }
    let output = Command::new(env!("CARGO_BIN_EXE_phaseline-opt"))
        .args([NETWORK, "--emit-bytecode"])
        .current_dir(root())
        .output();
    Texts { bytecode: output.expect("runs").stdout, ..Texts::new(texts) }
}

pub fn damaged_ir(random: &mut Random, texts: &Texts) -> Case {
    let (path, text) = texts.damaged(random);
    if random.chance(15) {
        let bytes = random.noise(&texts.bytecode);
        let files = vec![("m.mlirbc".to_owned(), bytes)];
        return Case::new(files, "compile m.mlirbc --emit=codegen -t vanilla,llvm --trust");
    }
    let files = vec![("m.mlir".to_owned(), text)];
    let name = path.to_string_lossy().into_owned();
    match name.split_once('=') {
        Some((phase, spec)) => {
            Case::new(files, &format!("compile m.mlir --emit=codegen --from={phase}"))
                .with(format!("--target={spec}"))
        }
        None => {
            // Untrusted, most of what is no network is refused at once.
            let trust = if random.chance(75) { "--trust" } else { "" };
            Case::new(files, &format!("compile m.mlir --emit=codegen -t vanilla,llvm {trust}"))
        }
    }
}

/// The inputs of passes' tests, each with the pipeline of its test.
pub fn passes() -> Texts {
    let mut texts = vec![];
    for folder in ["tests/lit/passes", "tests/lit/dialect"] {
        for file in corpus(folder, ".mlir", 32 << 10) {
            let text = fs::read_to_string(&file).expect("reads");
            let quoted = text.split_once("--pass-pipeline=").map(|(_, rest)| rest.split_at(1));
            let pipeline = quoted.and_then(|(quote, rest)| rest.split(quote).next());
            let usual = "builtin.module(canonicalize,func.func(convert-graph-to-linalg))";
            for part in text.split("// -----") {
                let code = part.lines().filter(|line| !line.trim_start().starts_with("//"));
                let code = code.collect::<Vec<_>>().join("\n");
                if !code.trim().is_empty() {
                    texts.push((PathBuf::from(pipeline.unwrap_or(usual)), code));
                }
            }
        }
    }
    Texts::new(texts)
}

pub fn damaged_pass_input(random: &mut Random, texts: &Texts) -> Case {
    let (pipeline, text) = texts.damaged(random);
    let files = vec![("m.mlir".to_owned(), text)];
    Case::of_opt(files, "m.mlir").with(format!("--pass-pipeline={}", pipeline.display()))
}

/// Placements and profiles.
pub fn placements() -> Texts {
    let folder = tempfile::tempdir().expect("a folder");
    let placement = folder.path().join("placement.json");
    let profile = folder.path().join("profile.json");
    let path = placement.to_string_lossy();
    printed(&["partition", NETWORK, "-t", "vanilla, llvm", "--save-placement", &path]);
    let path = profile.to_string_lossy();
    printed(&[
        "profile",
        NETWORK,
        "-t",
        "vanilla, llvm",
        "--samples=1",
        "--sample-time=1",
        "-o",
        &path,
    ]);
    let read = |path: &PathBuf| (path.clone(), fs::read_to_string(path).expect("was written"));
    Texts::new([placement, profile].iter().map(read).collect())
}

pub fn damaged_placement(random: &mut Random, texts: &Texts) -> Case {
    let (path, text) = texts.damaged(random);
    let files = vec![network(), ("x.json".to_owned(), text)];
    let option = if path.ends_with("placement.json") {
        "--placement x.json"
    } else {
        "--placement-search --profile x.json"
    };
    Case::new(files, &format!("partition net.mlir -t vanilla,llvm {option} --explain"))
}
