//! Analyses: their answers, and when they are computed.

use super::{Body, Of, run, toolkit};
use phaseline_toolkit::{
    Result,
    ir::{
        self, Op, Val,
        analysis::{Alias, Analysis, CallGraph, Dominance, Liveness, Symbols, alias},
        dataflow::{DataFlow, Direction, Flow, Lattice},
        edit, func,
        interface::{Callee, Loop, branch_operands, call},
        op_name, result0,
    },
    pass::{PassCx, PassResult},
};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Names a body and gives it code on its context.
macro_rules! body {
    ($body:ident, $name:literal, $anchor:literal, |$cx:ident| $run:block) => {
        struct $body;
        impl Body for $body {
            const NAME: &'static str = $name;
            const ANCHOR: &'static str = $anchor;
            fn run<'c>($cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
                $run
                Ok(())
            }
        }
    };
}

fn find<'c>(within: Op<'c>, name: &str) -> Op<'c> {
    let mut all = edit::walk(within).into_iter();
    all.find(|op| op_name(*op) == name).unwrap_or_else(|| panic!("has {name}"))
}

const DIAMOND: &str = "func.func @f(%c: i1, %x: i32) -> i32 {
  cf.cond_br %c, ^a, ^b
^a:
  %0 = arith.addi %x, %x : i32
  cf.br ^end(%0 : i32)
^b:
  %1 = arith.muli %x, %x : i32
  cf.br ^end(%1 : i32)
^end(%y: i32):
  %2 = arith.subi %y, %x : i32
  return %2 : i32
}";

body!(Blocks, "blocks", "func.func", |cx| {
    let (add, sub) = (find(cx.op(), "arith.addi"), find(cx.op(), "arith.subi"));
    let first = find(cx.op(), "cf.cond_br");
    let dominance = cx.analysis::<Dominance>()?;
    assert!(dominance.dominates(first, sub) && !dominance.dominates(add, sub));
    assert!(dominance.post_dominates(sub, first) && !dominance.post_dominates(add, first));
    let x = func::argument(cx.op(), 1).expect("has it");
    assert!(dominance.reaches(x, add) && !dominance.reaches(result0(add)?, sub));
    let liveness = cx.analysis::<Liveness>()?;
    use phaseline_toolkit::raw::ir::operation::OperationLike as _;
    let block = add.block().expect("is in one");
    assert!(liveness.is_live_in(x, block) && liveness.is_live_out(x, block));
    assert!(!liveness.is_live_out(result0(add)?, block));
    assert!(liveness.is_dead_behind(x, sub) && !liveness.is_dead_behind(x, add));
    let branch = find(cx.op(), "cf.br");
    assert_eq!(branch_operands(branch, 0).map(|list| list.len()), Some(1));
    assert!(branch_operands(branch, 9).is_none() && branch_operands(add, 0).is_none());
});

#[test]
fn dominance_and_liveness_follow_branches() {
    run::<Blocks>(DIAMOND).expect("holds");
}

body!(Calls, "calls", "builtin.module", |cx| {
    let graph = cx.analysis::<CallGraph>()?;
    assert_eq!(graph.callees("f").collect::<Vec<_>>(), ["f", "g"]);
    assert_eq!(graph.callers("g").collect::<Vec<_>>(), ["f"]);
    assert!(graph.is_recursive("f") && !graph.is_recursive("g"));
    assert!(graph.calls_unknown("h") && !graph.calls_unknown("f"));
    let symbols = cx.analysis::<Symbols>()?;
    assert_eq!(symbols.names().collect::<Vec<_>>(), ["f", "g", "h"]);
    assert!(symbols.is_used("g") && !symbols.is_used("h"));
    assert!(symbols.find(cx.op(), "h").is_some() && symbols.find(cx.op(), "k").is_none());
    let call = call(find(cx.op(), "func.call")).expect("is a call");
    assert!(
        matches!(call.callee, Callee::Symbol(name) if name == "g") && call.arguments.len() == 1
    );
});

#[test]
fn calls_are_known_by_name() {
    let text = "func.func @f(%x: i32, %p: (i32) -> ()) {
  func.call @g(%x) : (i32) -> ()
  func.call @f(%x, %p) : (i32, (i32) -> ()) -> ()
  return
}
func.func private @g(i32)
func.func @h(%x: i32, %p: (i32) -> ()) {
  func.call_indirect %p(%x) : (i32) -> ()
  return
}";
    run::<Calls>(text).expect("holds");
}

body!(Loops, "loops", "func.func", |cx| {
    let found = Loop::of(find(cx.op(), "scf.for")).expect("is a loop");
    assert_eq!((found.induction.len(), found.inits.len(), found.carried.len()), (1, 1, 1));
    assert_eq!((found.yielded.len(), found.trips()), (1, Some(4)));
    assert!(found.is_invariant(found.inits[0]) && !found.is_invariant(found.carried[0]));
    assert!(Loop::of(find(cx.op(), "arith.addi")).is_none());
    let (a, b) = (find(cx.op(), "memref.alloc"), find(cx.op(), "memref.cast"));
    let x = func::argument(cx.op(), 0).expect("has it");
    assert_eq!(alias(result0(a)?, result0(b)?)?, Alias::Must);
    assert_ne!(alias(result0(a)?, x)?, Alias::Must);
});

#[test]
fn loops_and_memory_answer() {
    let text = "func.func @f(%x: memref<2xi32>, %s: i32) -> i32 {
  %a = memref.alloc() : memref<4xi32>
  %b = memref.cast %a : memref<4xi32> to memref<?xi32>
  %0 = arith.constant 0 : index
  %3 = arith.constant 3 : index
  %10 = arith.constant 10 : index
  %r = scf.for %i = %0 to %10 step %3 iter_args(%t = %s) -> i32 {
    %u = arith.addi %t, %t : i32
    scf.yield %u : i32
  }
  return %r : i32
}";
    run::<Loops>(text).expect("holds");
}

/// Counts how often it is computed.
struct Counted;
static COMPUTED: AtomicUsize = AtomicUsize::new(0);

impl Analysis for Counted {
    fn of(_: Op<'_>) -> Result<Self> {
        COMPUTED.fetch_add(1, Ordering::SeqCst);
        Ok(Self)
    }
}

body!(Asks, "asks", "builtin.module", |cx| {
    cx.analysis::<Counted>()?;
    cx.analysis::<Counted>()?;
    cx.preserve::<Counted>();
});
body!(Changes, "changes", "builtin.module", |cx| {
    cx.analysis::<Counted>()?;
});
body!(Nests, "nests", "builtin.module", |cx| {
    cx.analysis::<Counted>()?;
    cx.run_pipeline("cse")?;
    cx.analysis::<Counted>()?;
});

#[test]
fn analyses_are_kept_while_they_hold() {
    let toolkit = toolkit().run_pass::<Of<Asks>>().and_then(|kit| kit.run_pass::<Of<Changes>>());
    let session = toolkit.and_then(|kit| kit.run_pass::<Of<Nests>>()).expect("are new").session();
    let computed = |passes: &str| {
        let mut module = session.parse(b"func.func private @f()", "t.mlir").expect("parses");
        let before = COMPUTED.load(Ordering::SeqCst);
        session.run_pipeline(&mut module, &format!("builtin.module({passes})")).expect("runs");
        COMPUTED.load(Ordering::SeqCst) - before
    };
    assert_eq!(computed("asks,asks"), 1);
    assert_eq!(computed("changes,asks"), 2);
    assert_eq!(computed("asks,symbol-dce,asks"), 2);
    assert_eq!(computed("nests"), 2);
}

/// The numbers of operations between a value and what uses it, up to a top.
#[derive(Clone, Debug, Default, PartialEq)]
struct Depth(u32);

impl Lattice for Depth {
    fn join(&mut self, other: &Self) {
        self.0 = self.0.max(other.0);
    }
}

/// Counts operations towards the results of a function.
#[derive(Default)]
struct Backwards;

impl Flow for Backwards {
    type State = Depth;
    const DIRECTION: Direction = Direction::Backward;
    fn visit(&self, _: Op<'_>, from: &[&Depth], to: &mut [Depth]) {
        let most = from.iter().map(|state| state.0).max().unwrap_or(0);
        to.fill(Depth((most + 1).min(50)));
    }
    fn border(&self, _: Option<Val<'_>>) -> Depth {
        Depth(0)
    }
}

/// Counts operations on the way to a place.
#[derive(Default)]
struct Places;

impl Flow for Places {
    type State = Depth;
    const DIRECTION: Direction = Direction::Places;
    fn visit(&self, _: Op<'_>, from: &[&Depth], to: &mut [Depth]) {
        to.fill(Depth(from[0].0 + 1));
    }
    fn border(&self, _: Option<Val<'_>>) -> Depth {
        Depth(10)
    }
}

/// An analysis that never comes to an end in a loop.
#[derive(Default)]
struct Endless;

impl Flow for Endless {
    type State = Depth;
    const DIRECTION: Direction = Direction::Forward;
    fn visit(&self, _: Op<'_>, from: &[&Depth], to: &mut [Depth]) {
        to.fill(Depth(from.iter().map(|state| state.0).max().unwrap_or(0).saturating_add(1)));
    }
    fn border(&self, _: Option<Val<'_>>) -> Depth {
        Depth(1)
    }
}

#[derive(Default)]
struct PanicsInside;

impl Flow for PanicsInside {
    type State = Depth;
    const DIRECTION: Direction = Direction::Forward;
    fn visit(&self, op: Op<'_>, _: &[&Depth], _: &mut [Depth]) {
        assert!(ir::edit::remove(op).is_err(), "an analysis only reads");
        panic!("on purpose")
    }
    fn border(&self, _: Option<Val<'_>>) -> Depth {
        Depth(0)
    }
}

body!(Flows, "flows", "func.func", |cx| {
    let back = cx.analysis::<DataFlow<Backwards>>()?;
    let x = func::argument(cx.op(), 1).expect("has it");
    assert!(back.of(x).0 > back.of(result0(find(cx.op(), "arith.subi"))?).0);
    let places = cx.analysis::<DataFlow<Places>>()?;
    assert_eq!(places.behind(find(cx.op(), "arith.addi")).0, 12);
    assert!(places.behind(find(cx.op(), "arith.subi")).0 > 12);
});
body!(NoEnd, "no-end", "func.func", |cx| {
    cx.analysis::<DataFlow<Endless>>()?;
});
body!(PanicsIn, "panics-in-flow", "func.func", |cx| {
    cx.analysis::<DataFlow<PanicsInside>>()?;
});

#[test]
fn states_flow_both_ways_and_along_places() {
    run::<Flows>(DIAMOND).expect("holds");
}

#[test]
fn an_analysis_without_an_end_or_with_a_panic_is_an_error() {
    let circle = "func.func @f(%x: i32) {
  cf.br ^a(%x : i32)
^a(%y: i32):
  %0 = arith.addi %y, %y : i32
  cf.br ^a(%0 : i32)
}";
    let error = run::<NoEnd>(circle).expect_err("goes on");
    assert!(error.contains("does not end: its states go on changing"), "{error}");
    let error = run::<PanicsIn>(DIAMOND).expect_err("panics");
    assert!(error.contains("a dataflow analysis panicked: on purpose"), "{error}");
}
