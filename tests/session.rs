//! A session that compiles many models.

use crate::alone;
use phaseline::{CompileOptions, Session};
use std::{fs, hint::black_box};

/// A network with a constant of 1 MiB, which the name tells from others.
fn model(number: usize) -> String {
    format!(
        "func.func @main(%x: tensor<1x512xf32> {{phl.name = \"x{number}\"}}) -> (tensor<1x512xf32> {{phl.name = \"y\"}}) {{
           %w = graph.constant dense<{number}.5> : tensor<512x512xf32>
           %0 = graph.matmul %x, %w : (tensor<1x512xf32>, tensor<512x512xf32>) -> tensor<1x512xf32>
           %1 = graph.relu %0 : tensor<1x512xf32>
           return %1 : tensor<1x512xf32>
         }}"
    )
}

fn compile(session: &Session, number: usize) -> phaseline::Compiled {
    let module = session.parse(model(number).as_bytes(), "net.mlir").expect("is valid");
    let options = CompileOptions { name: format!("net{number}"), ..Default::default() };
    session.compile(module, &options).expect("compiles")
}

/// MiB of memory that this process has.
fn resident() -> usize {
    let text = fs::read_to_string("/proc/self/statm").expect("Linux has it");
    let pages: usize = text.split(' ').nth(1).expect("has fields").parse().expect("is a number");
    (pages * 4096) >> 20
}

#[test]
fn a_session_that_is_cleared_does_not_grow() {
    alone::run("session::memory");
}

#[test]
#[ignore = "other tests use memory as well: the test above runs it alone"]
fn memory() {
    let mut session = Session::new();
    for number in 0..10 {
        black_box(compile(&session, number).load().expect("runs here"));
        session.clear();
    }
    let before = resident();
    for number in 10..60 {
        black_box(compile(&session, number).load().expect("runs here"));
        session.clear();
    }
    let grown = resident().saturating_sub(before);
    assert!(grown < 40, "50 models took {grown} MiB, of {before} before");
}

#[test]
fn what_was_compiled_outlives_the_clearing() {
    let mut session = Session::new();
    let first = compile(&session, 1);
    session.clear();
    let second = compile(&session, 1);
    assert_eq!(first.objects.len(), second.objects.len());
    for (a, b) in first.objects.iter().zip(&second.objects) {
        assert_eq!(a.bytes, b.bytes);
    }
    assert_eq!(first.constants, second.constants);
    drop(session);
    first.load().expect("runs here");
}
