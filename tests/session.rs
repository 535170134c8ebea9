//! A session that compiles many models.

use crate::alone;
use phaseline::{
    CompileOptions, Phase, Session,
    ir::{Module, edit, op_name, print::Weights, root},
    phase::Phases,
};
use std::{cell::RefCell, fs, hint::black_box};

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

/// A phase of one's own behind `lower`.
fn own_phases() -> phaseline::Result<Phases> {
    Phases::builtin().insert_after("lower", "mine", "builtin.module(canonicalize, @targets)")
}

#[test]
fn own_phases_run_are_written_and_resumed() {
    let session = Session::new();
    let phases = own_phases().expect("is new");
    let folder = tempfile::tempdir().expect("can be made");
    let observed = RefCell::new(vec![]);
    let observer = |phase: Phase| observed.borrow_mut().push(phase.to_string());
    let options = CompileOptions {
        phases: phases.clone(),
        dump_phases: Some(folder.path().to_owned()),
        dump_weights: Weights::Print,
        observer: Some(&observer),
        ..Default::default()
    };
    let text = session.pipeline(&options).expect("is assembled").to_string();
    assert!(text.contains("// phase: mine\nbuiltin.module(\n  canonicalize\n)"), "{text}");
    let mut module = session.parse(model(1).as_bytes(), "net.mlir").expect("is valid");
    session.run_phases(&mut module, &options, Phase::TirSchedule).expect("runs");
    assert_eq!(observed.borrow()[3..], ["lower", "mine", "tir-schedule"]);

    let mine = phases.find("mine").expect("is there");
    let file = folder.path().join("05-mine.mlir");
    let mut again = session.parse_file(&file).expect("was written");
    let options = CompileOptions { phases, after: mine, ..Default::default() };
    session.run_phases(&mut again, &options, Phase::TirSchedule).expect("goes on");
    let whole = folder.path().join("06-tir-schedule.mlir");
    let whole = session.parse_file(&whole).expect("was written");
    let names = |module: &Module<'_>| -> Vec<String> {
        edit::walk(root(module)).into_iter().map(|op| op_name(op).to_owned()).collect()
    };
    assert_eq!(names(&again), names(&whole));
}
