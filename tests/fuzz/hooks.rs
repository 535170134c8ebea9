//! Programs that are hooks: damaged answers, and programs that behave badly.

use crate::{
    campaign::root,
    judge::{self, Case, program},
    random::Random,
    text::{self, Dictionary},
};
use std::{fs, path::Path, process::Command};

/// Targets with hooks, and networks of which they take something.
const TARGETS: [(&str, &str, &str); 5] = [
    ("tests/targets/stitch", "stitch", "tests/lit/cli/Inputs/chain.mlir"),
    ("tests/targets/stitch", "stitch -way=runtime", "tests/lit/cli/Inputs/chain.mlir"),
    ("tests/targets/forge", "forge", "tests/lit/cli/Inputs/chain.mlir"),
    ("tests/targets/capsule", "capsule", "tests/lit/cli/Inputs/chain.mlir"),
    ("tests/lit/cli/Inputs/together", "together", "tests/lit/cli/Inputs/together/net.mlir"),
];

/// Files of the question to a program, which are not its answer.
const ASKED: [&str; 3] = ["input", "module.mlir", "request.json"];

/// Seconds and bytes that a program has.
const LIMITS: &str = "max-seconds = 4, max-bytes = \"4m\"";

/// Behaviours of programs beside their answer. Each is a line of a shell's script.
const BEHAVIOURS: &[&str] = &[
    "sleep 200 &",
    "(while sleep 0.01; do echo; done) &",
    "(trap '' TERM HUP; sleep 200) &",
    "setsid sleep 1 &",
    "head -c 100000 /dev/urandom >&2; exit 3",
    "head -c 100000 /dev/zero",
    "head -c 8000000 /dev/zero >&2",
    "head -c 8000000 /dev/zero > output.mlir",
    "truncate -s 100M output.npy",
    "mkdir -p artifacts; for i in 1 2 3; do head -c 2000000 /dev/zero > artifacts/$i; done",
    "mkdir -p artifacts; for i in $(seq 300); do : > artifacts/$i; done",
    "kill -9 $$",
    "kill -SEGV $$",
    "kill -TERM 0",
    "kill -XFSZ $$",
    "exit 255",
    "exec 0<&- 1>&- 2>&-",
    "rm -rf ./* ../*",
    "rm -rf ../work",
    "mv ../work ../elsewhere",
    "chmod 000 .",
    "chmod 555 . ../python",
    "mkdir -p locked/in; chmod 000 locked",
    "mkfifo output.mlir",
    "mkfifo artifacts",
    "rm -f output.mlir; ln -s /dev/zero output.mlir",
    "rm -f output.npy; ln -s /etc/passwd output.npy",
    "ln -s / artifacts",
    "mkdir output.mlir output.npy answer.json",
    "mkdir -p artifacts/a; ln -s .. artifacts/a/b",
    "mkdir -p artifacts/$(printf 'a/%.0s' $(seq 90))",
    "mkdir -p artifacts; : > artifacts/-o; : > artifacts/.x; : > 'artifacts/@x'",
    "mkdir -p artifacts; : > \"$(printf 'artifacts/\\377')\"; : > \"$(printf 'artifacts/a\\nb')\"",
    "head -c 3000 /dev/urandom > output.mlir",
    "printf '%s' \"$(printf '(%.0s' $(seq 20000))\" > output.mlir",
    "printf '[%.0s' $(seq 20000) > answer.json",
    "printf '{\"leave-out\": [-1, 1e30, 18446744073709551616]}' > answer.json",
    "cat > /dev/null",
];

/// Behaviours that take a program's time or space without an end.
const ENDLESS: &[&str] = &[
    "while :; do :; done",
    "sleep 200",
    "trap '' TERM; while :; do sleep 200; done",
    "kill -STOP $$",
    "yes",
    "yes >&2",
    "yes > output.mlir",
    "i=0; while :; do mkdir -p artifacts; head -c 500000 /dev/zero > artifacts/$i; i=$((i + 1)); done",
];

/// A program's answer to a question.
struct Answer {
    target: usize,
    request: Vec<u8>,
    files: Vec<(String, Vec<u8>)>,
}

/// Answers that are right.
pub struct Answers {
    answers: Vec<Answer>,
    words: Dictionary,
}

impl Answers {
    pub fn new() -> Self {
        let answers: Vec<_> = (0..TARGETS.len()).flat_map(asked).collect();
        assert!(answers.len() >= TARGETS.len(), "targets ask their hooks");
        let text = |(_, bytes): &(String, Vec<u8>)| String::from_utf8(bytes.clone()).ok();
        let texts: Vec<_> = answers.iter().flat_map(|answer| answer.files.iter()).collect();
        let texts: Vec<_> = texts.into_iter().filter_map(text).collect();
        let words = Dictionary::new(texts.iter().map(String::as_str));
        Self { answers, words }
    }

    /// A target one of whose programs answers one question badly.
    pub fn damaged(&self, random: &mut Random) -> Case {
        let answer = random.pick(&self.answers);
        let (folder, spec, model) = TARGETS[answer.target];
        let mut files = target(folder, |words| format!("\"sh\", \"${{dir}}/act.sh\", {words}"));
        let mut given = answer.files.clone();
        let mut does = vec![];
        match random.below(100) {
            0..60 if !given.is_empty() => {
                let at = random.below(given.len());
                let (_, bytes) = &mut given[at];
                *bytes = match String::from_utf8(bytes.clone()) {
                    Ok(text) if random.chance(85) => {
                        text::mutate(random, &text, &self.words, &text)
                    }
                    _ => random.noise(bytes),
                };
            }
            60..65 if !given.is_empty() => drop(given.remove(random.below(given.len()))),
            65..70 => does.push(*random.pick(ENDLESS)),
            _ => does.extend((0..=random.below(2)).map(|_| *random.pick(BEHAVIOURS))),
        }
        let place = |name: &str| format!("t/{name}");
        files.push((place("request"), answer.request.clone()));
        // Folders without files are not written.
        files.push((place("answer/.keep"), vec![]));
        files.extend(
            given.into_iter().map(|(name, bytes)| (place(&format!("answer/{name}")), bytes)),
        );
        let does = does.join("\n");
        let script = format!(
            "dir=${{0%/*}}\ncmp -s request.json \"$dir/request\" || exec \"$@\"\ncp -r \"$dir/answer/.\" .\nrm -f \
             .keep\n{does}\n"
        );
        files.push((place("act.sh"), script.into_bytes()));
        files.push(("m.mlir".to_owned(), fs::read(root().join(model)).expect("reads")));
        let end = random.pick(&["-o=out", "--emit=codegen", "-o=out"]);
        Case::new(files, &format!("compile m.mlir --target-path t {end}"))
            .with(format!("--target={spec}, llvm"))
    }
}

/// The files of a target in a folder `t`, with `command` making what its programs are called with.
fn target(folder: &str, command: impl Fn(&str) -> String) -> Vec<(String, Vec<u8>)> {
    let mut files = vec![];
    for (name, bytes) in judge::tree(&root().join(folder)) {
        let path = root().join(folder).join(&name);
        if !path.is_file() {
            continue;
        }
        let bytes = match String::from_utf8(bytes) {
            Ok(text) if name == Path::new("target.toml") => {
                let line = |line: &str| match line.split_once("command = [") {
                    Some((before, rest)) => {
                        let (words, after) = rest.split_once(']').expect("an end");
                        format!("{before}command = [{}], {LIMITS}{after}\n", command(words))
                    }
                    None => format!("{line}\n"),
                };
                text.lines().map(line).collect::<String>().into_bytes()
            }
            Ok(text) => text.into_bytes(),
            Err(error) => error.into_bytes(),
        };
        files.push((format!("t/{}", name.display()), bytes));
    }
    files
}

/// Questions to the programs of a target, with their answers.
fn asked(number: usize) -> Vec<Answer> {
    let (folder, spec, model) = TARGETS[number];
    let work = tempfile::tempdir().expect("a folder");
    let kept = work.path().join("kept");
    fs::create_dir(&kept).expect("creates");
    let files = target(folder, |words| format!("\"sh\", \"${{dir}}/keep.sh\", {words}"));
    let script = format!(
        "\"$@\" || exit\nkept={}\ncp -r . \"$kept/$(ls \"$kept\" | wc -l)\"\n",
        kept.display()
    );
    let case =
        Case::new(files.into_iter().chain([("t/keep.sh".into(), script.into())]).collect(), "");
    case.write(work.path());
    let status = Command::new(program())
        .args(["compile", "--target-path", "t", "-o", "out", "-t"])
        .arg(format!("{spec}, llvm"))
        .arg(root().join(model))
        .current_dir(work.path())
        .status();
    assert!(status.expect("runs").success(), "{spec}");
    let mut answers = vec![];
    for index in 0.. {
        let folder = kept.join(index.to_string());
        let Ok(request) = fs::read(folder.join("request.json")) else { break };
        let files = judge::tree(&folder).into_iter();
        let files = files.filter(|(name, _)| folder.join(name).is_file());
        let files = files.map(|(name, bytes)| (name.display().to_string(), bytes));
        let files = files.filter(|(name, _)| !ASKED.iter().any(|asked| name.starts_with(asked)));
        answers.push(Answer { target: number, request, files: files.collect() });
    }
    answers
}
