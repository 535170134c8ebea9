//! Parts of upstream in `phaseline` and the library: those that compiles use. Messages about the rest name `phaseline-opt`.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use crate::alone;
use phaseline::Session;
use std::process::Command;

fn opt(argument: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_phaseline-opt")).arg(argument).output();
    String::from_utf8_lossy(&output.expect("starts").stdout).into_owned()
}

/// The passes and pipelines that `phaseline-opt` has.
fn passes() -> Vec<String> {
    let help = opt("--help");
    let (_, passes) = help.split_once("Compiler passes to run").expect("a list");
    let rows = passes.lines().skip(1).take_while(|line| !line.starts_with("  --"));
    let names = rows.filter_map(|line| line.strip_prefix("      --")?.split([' ', '=']).next());
    names.map(str::to_owned).collect()
}

/// In a process of its own: passes of other sessions are those of the process.
#[test]
fn passes_are_there_or_known_to_be_left_out() {
    alone::run("upstream::each_pass_is_there_or_known_to_be_left_out");
}

#[test]
#[ignore = "`passes_are_there_or_known_to_be_left_out` runs it"]
fn each_pass_is_there_or_known_to_be_left_out() {
    let (session, names) = (Session::new(), passes());
    assert!(names.len() > 350, "phaseline-opt has {} passes", names.len());
    let mut module = session.parse(b"", "empty.mlir").expect("parses");
    let (mut left_out, mut unknown) = (0, vec![]);
    for name in &names {
        // There is no function, so that nothing runs.
        let outcome =
            session.run_pipeline(&mut module, &format!("builtin.module(func.func({name}))"));
        let error = outcome.map_or_else(|error| error.to_string(), |()| String::new());
        if error.contains("this program leaves out: run `phaseline-opt`") {
            left_out += 1;
        } else if error.contains("does not refer to a registered pass") {
            unknown.push(name);
        }
    }
    assert!(unknown.is_empty(), "src/passes/upstream.rs does not list {unknown:?}");
    assert!((100..250).contains(&left_out), "{left_out} of {} are left out", names.len());
}

#[test]
fn dialects_are_there_or_known_to_be_left_out() {
    let session = Session::new();
    let said = opt("--show-dialects");
    let names = said.split_once(": ").expect("a list").1;
    let mut left_out = vec![];
    for name in names.trim().split(',') {
        // MLIR's error about the generic form of an operation names no dialect.
        let texts = [
            format!("{name}.no_such"),
            format!("func.func private @f() attributes {{a = #{name}.no_such}}"),
            format!("func.func private @f(!{name}.no_such)"),
        ];
        let errors = texts.map(|text| {
            session
                .parse(text.as_bytes(), "m.mlir")
                .map_or_else(|e| e.to_string(), |_| String::new())
        });
        let counts = |words: &str| errors.iter().filter(|error| error.contains(words)).count();
        match counts(&format!(
            "'{name}' is a dialect of upstream MLIR that this program leaves out"
        )) {
            3 => left_out.push(name),
            0 => {
                let unknown = counts("unregistered dialect") + counts("not found for custom op");
                assert_eq!(unknown, 0, "src/passes/upstream.rs does not list {name}: {errors:?}");
            }
            _ => panic!("messages about {name} differ: {errors:#?}"),
        }
    }
    assert!(left_out.contains(&"tosa") && !left_out.contains(&"arith"), "{left_out:?}");
    let all = Session::with_upstream();
    all.parse(b"func.func private @f(!quant.any<i8:f32>)", "m.mlir").expect("has all");
}
