//! Headers of models with names from a bad day: every C compiler takes them.

use super::*;
use crate::{artifact::Device, tensor::DType};
use std::{collections::BTreeSet, process::Command};

/// Names of inputs and outputs, each twice.
const NAMES: &[&str] = &[
    "NULL",
    "_Bool",
    "errno",
    "EOF",
    "stdin",
    "assert",
    "class",
    "new",
    "alignas",
    "nullptr",
    "INFINITY",
    "int32_t",
    "float",
    "while",
    "I",
    "complex",
    "unix",
    "true",
    "arena",
    "devices",
    "status",
    "model_inputs",
    "main",
    "net_invoke",
    "net_constants",
    "net_run",
    "NET_ARENA_BYTES",
    "NET_INPUT_0_NAME",
    "a*/b",
    "/*",
    "??/",
    "a\\",
    "a\\\nb",
    "\"",
    "%s",
    "",
    "0",
    "a.b",
    "a_b",
    "in_1_a_b",
    "Größe",
    "\u{202e}x",
    "x\u{0}y",
    "??/\"",
    "typeof",
    "thread_local",
    "uint8_t",
];

fn signature(name: &str) -> Signature {
    let port = |name: &&str| Port {
        name: (*name).to_owned(),
        dtype: DType::F32,
        shape: vec![2],
        place: None,
    };
    let ports: Vec<_> = NAMES.iter().map(port).collect();
    let device =
        Device { target: "npu".into(), open: Some("npu_open".into()), ..Device::default() };
    Signature {
        states: vec![],
        bounds: None,
        name: name.to_owned(),
        inputs: ports.clone(),
        fixed: vec![],
        outputs: ports,
        arena_bytes: 64,
        arena_lower_bound: 60,
        arena_peak: "conv*/1".to_owned(),
        constants_bytes: 64,
        weights: None,
        pools: vec![],
        devices: vec![device],
        operations: vec![],
    }
}

/// All headers that a program could have before the model's.
const PROGRAM: &str = "\
#include <assert.h>
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#ifndef __cplusplus
#include <complex.h>
#include <iso646.h>
#include <stdalign.h>
#include <stdbool.h>
#include <stdnoreturn.h>
#endif
";

/// Writes the headers of a model's package.
fn write(folder: &std::path::Path, model: &str) {
    for (path, text) in files(&signature(model)) {
        let path = folder.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("creates");
        std::fs::write(path, text).expect("writes");
    }
}

#[test]
fn headers_of_the_system_are_not_hidden() {
    let folder = tempfile::tempdir().expect("a folder");
    let more = ["string", "pthread", "unistd", "signal", "sys/types", "netdb", "threads", "wchar"];
    let more = more.map(|name| format!("#include <{name}.h>\n")).concat();
    let source = folder.path().join("main.c");
    std::fs::write(&source, format!("{PROGRAM}{more}")).expect("writes");
    let run = |flags: &[&str]| {
        let output = Command::new("cc").args(flags).arg(&source).output().expect("a C compiler");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    // Whatever these headers include, wherever it is: the models of a bad day.
    let listed = run(&["-M"]);
    let paths = listed.split_whitespace().filter_map(|path| path.strip_suffix(".h"));
    let names = paths.filter_map(|path| path.rsplit('/').next());
    let names: BTreeSet<_> =
        names.filter(|name| crate::artifact::c_identifier(name) == **name).collect();
    assert!(names.contains("features") && names.contains("stdint"), "{names:?}");
    let packages = folder.path().join("packages");
    let mut program = String::new();
    for name in &names {
        write(&packages, name);
        assert!(!system::has(name) || !packages.join(format!("{name}.h")).exists());
        let _ = writeln!(program, "#include \"{name}/{name}.h\"");
    }
    std::fs::write(&source, format!("{program}{PROGRAM}{more}")).expect("writes");
    run(&["-fsyntax-only", "-Wall", "-Werror", "-I", &packages.to_string_lossy()]);
    assert!(files(&signature("net")).iter().any(|(path, _)| path == "net.h"), "the short name");
}

#[test]
fn headers_are_valid_whatever_the_names_are() {
    let folder = tempfile::tempdir().expect("a folder");
    let models = ["net", "Net", "phaseline", "_1", "NULL", "class", "int8"];
    let mut program = PROGRAM.to_owned();
    for model in models {
        write(folder.path(), model);
    }
    for model in models.iter().filter(|model| **model != "Net") {
        let _ = writeln!(program, "#include \"{model}.h\"");
    }
    let _ = writeln!(program, "int main(void) {{\n  return NET_ARENA_BYTES - 64;\n}}");
    std::fs::write(folder.path().join("main.c"), program).expect("writes");
    std::fs::write(folder.path().join("Net.c"), "#include \"Net.h\"\nint x;\n").expect("writes");
    let clang = "/usr/lib/llvm-22/bin/clang";
    let mut tried = 0;
    for (compiler, flags) in [
        ("gcc", &["-std=c99"][..]),
        ("gcc", &["-std=c11"]),
        ("gcc", &["-std=gnu11"]),
        ("gcc", &["-std=c2x"]),
        (clang, &["-std=c99"]),
        (clang, &["-std=c11"]),
        (clang, &["-std=c23"]),
        ("g++", &["-std=c++11", "-xc++"]),
        ("g++", &["-std=c++20", "-xc++"]),
        (clang, &["-std=c++17", "-xc++", "-nostdinc++"]),
    ] {
        for file in ["main.c", "Net.c"] {
            let mut command = Command::new(compiler);
            command.current_dir(folder.path()).args(flags).args([
                "-Wall",
                "-Wextra",
                "-Wpedantic",
                "-Wtrigraphs",
                "-Werror",
                "-fsyntax-only",
                file,
            ]);
            let Ok(output) = command.output() else { continue };
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{compiler} {flags:?} on {file}: {said}");
            tried += 1;
        }
    }
    assert!(tried >= 8, "no C compilers");
}

#[test]
fn names_that_clash_stay_distinct() {
    let ports = Ports::of(&signature("net"));
    let all: BTreeSet<_> = ports.inputs.iter().chain(&ports.outputs).collect();
    assert_eq!(all.len(), 2 * NAMES.len());
    assert_eq!(ports.inputs[0], "in_0_NULL");
    let place = |name| NAMES.iter().position(|other| *other == name).expect("is there");
    assert_eq!(ports.inputs[place("a.b")], "a_b");
    assert_ne!(ports.inputs[place("a_b")], "a_b");
}
