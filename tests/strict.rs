//! Generated C and headers under the warnings of safety standards: of gcc and Clang, and of the MISRA addon of cppcheck,
//! whose findings are those that docs/reference/misra.md lists.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    process::Command,
};

/// Networks of floats, of integers, with a recurrence and with attention, and what they are compiled for.
const NETWORKS: [(&str, &str); 9] = [
    ("models/lenet", "c"),
    ("quantized/lenet", "c"),
    ("recurrent/lstm_peepholes_lengths", "c"),
    ("recurrent/loop_types", "c"),
    ("models/bert_layer", "c"),
    ("models/lenet", "vanilla, c"),
    ("models/lenet", "vecdsp, c"),
    ("quantized/lenet", "npu -sram=8k, cmsis-nn, c"),
    ("models/lenet", "gemm16, c"),
];

/// The compilers, with how each spells the warning of casts to types of greater alignment.
const COMPILERS: [(&str, &str); 2] = [("gcc", "-Wcast-align=strict"), ("clang-22", "-Wcast-align")];

const WARNINGS: [&str; 6] =
    ["-Wall", "-Wextra", "-Wmissing-prototypes", "-Wconversion", "-Werror", "-fsyntax-only"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Compiles a network as `net` into a folder, whose generated C files are the result.
fn generate(network: &str, target: &str, folder: &Path) -> Vec<PathBuf> {
    let model = root().join("build/test-data").join(network).join("model.onnx");
    assert!(model.is_file(), "{} is missing: run `make data`", model.display());
    let mut command = Command::new(env!("CARGO_BIN_EXE_phaseline"));
    command.arg("compile").arg(model).args(["-t", target, "--name", "net", "-o"]).arg(folder);
    let output = command.output().expect("starts");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut found: Vec<_> = fs::read_dir(folder.join("src"))
        .expect("a package with C")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|kind| kind == "c"))
        .collect();
    found.sort();
    assert!(!found.is_empty(), "{network} for {target} has no C");
    found
}

/// Folders of headers: the package, and those of its targets.
fn includes(folder: &Path) -> Vec<String> {
    let inside = fs::read_dir(folder.join("src")).expect("a folder").flatten();
    let inside = inside.map(|entry| entry.path()).filter(|path| path.is_dir());
    [folder.to_owned()]
        .into_iter()
        .chain(inside)
        .map(|path| format!("-I{}", path.display()))
        .collect()
}

/// Warnings about a program of C or C++ that uses the package.
fn check_header(folder: &Path) {
    let program = folder.join("program.c");
    let text =
        "#include <net/net.h>\n#include <net.h>\nint main(void) { return NET_ARENA_BYTES == 0; }\n";
    fs::write(&program, text).expect("a file");
    for (compiler, cast) in COMPILERS {
        let mut command = Command::new(compiler);
        command.args(["-std=c99", "-Wpedantic", cast]).args(WARNINGS).args(includes(folder));
        let output = command.arg(&program).output().expect("a compiler");
        assert!(output.status.success(), "{compiler}: {}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn generated_c_has_no_warnings() {
    let mut said = String::new();
    for (network, target) in NETWORKS {
        let folder = tempfile::tempdir().expect("a folder");
        let sources = generate(network, target, folder.path());
        check_header(folder.path());
        for source in &sources {
            for (compiler, cast) in COMPILERS {
                let mut command = Command::new(compiler);
                command.args(["-std=c99", cast]).args(WARNINGS).args(includes(folder.path()));
                let output = command.arg(source).output().expect("a compiler");
                if !output.status.success() {
                    let text = String::from_utf8_lossy(&output.stderr).into_owned();
                    let few: Vec<_> = text.lines().take(8).collect();
                    said += &format!("{network} for {target}, {compiler}:\n{}\n", few.join("\n"));
                }
            }
        }
    }
    assert!(said.is_empty(), "{said}");
}

/// The rules that docs/reference/misra.md has in the first column of a table.
fn deviations() -> BTreeSet<String> {
    let page = fs::read_to_string(root().join("docs/reference/misra.md"))
        .expect("docs/reference/misra.md");
    let rows = page.lines().filter_map(|line| line.strip_prefix("| ")?.split(" |").next());
    let is_rule =
        |rule: &&str| rule.contains('.') && rule.chars().all(|c| c == '.' || c.is_ascii_digit());
    rows.flat_map(|cell| cell.split(", ")).filter(is_rule).map(str::to_owned).collect()
}

#[test]
fn generated_c_breaks_no_other_rule_of_misra_than_docs_list() {
    if Command::new("cppcheck").arg("--version").output().is_err() {
        eprintln!("left out, because it is not installed: cppcheck");
        return;
    }
    let (listed, mut found) = (deviations(), BTreeSet::new());
    assert!(listed.len() > 3, "docs/reference/misra.md lists {listed:?}");
    for (network, target) in NETWORKS {
        let folder = tempfile::tempdir().expect("a folder");
        for source in generate(network, target, folder.path()) {
            let mut command = Command::new("cppcheck");
            command.args([
                "--addon=misra",
                "--std=c99",
                "--quiet",
                "--template={id} {file}:{line}",
            ]);
            command.args(["--suppress=missingIncludeSystem"]).args(includes(folder.path()));
            let output = command.arg(&source).output().expect("starts");
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{said}");
            for line in said.lines() {
                let Some((rule, place)) =
                    line.strip_prefix("misra-c2012-").and_then(|rest| rest.split_once(' '))
                else {
                    continue;
                };
                // Headers of targets are written by people.
                if place.starts_with(&*source.to_string_lossy()) || place.contains("/net/net.h") {
                    found.insert((rule.to_owned(), format!("{network} for {target}")));
                }
            }
        }
    }
    assert!(!found.is_empty(), "cppcheck found nothing: has it its addon?");
    let others: Vec<_> = found.iter().filter(|(rule, _)| !listed.contains(rule)).collect();
    assert!(others.is_empty(), "rules that docs/reference/misra.md does not list: {others:#?}");
}
