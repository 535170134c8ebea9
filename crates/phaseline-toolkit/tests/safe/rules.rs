//! Rules, bodies of operations and passes that misbehave: each is an error that names it, or does no harm.

use super::{Body, run, session, toolkit};
use phaseline_toolkit::{
    Phases, Result,
    ir::{
        self, Builder, Op, OpSpec, edit, func, op_name, operands, ops_of, result0,
        rewrite::{Rewriter, Rule},
    },
    pass::{PassCx, PassResult},
};

const TEXT: &str = "func.func @f(%x: i32, %y: i64) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.muli %0, %0 : i32
  return %1 : i32
}";

type Apply = for<'c> fn(&mut Rewriter<'_, 'c>, Op<'c>) -> Result<bool>;

/// A pass with one rule on additions.
macro_rules! rules {
    ($($test:ident, $body:ident, $name:literal, $check:expr, |$rw:pat_param, $op:ident| $run:block)*) => {$(
        struct $body;
        impl Body for $body {
            const NAME: &'static str = $name;
            fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
                const APPLY: Apply = |$rw, $op| $run;
                let rule = Rule { name: $name, root: "arith.addi", benefit: 1, apply: APPLY };
                cx.rewrite(&[rule]).map(drop)
            }
        }
        #[test]
        fn $test() {
            let check: fn(Result<String, String>) = $check;
            check(run::<$body>(TEXT));
        }
    )*};
}

fn fails(words: &'static str) -> impl Fn(Result<String, String>) {
    move |outcome| {
        let error = outcome.expect_err(words);
        assert!(error.contains(words), "{error}");
    }
}

rules! {
    a_rule_replaces_by_values_of_the_same_type, OtherType, "other-type", |o| fails("type")(o), |rw, op| {
        let y = operands(op)[0];
        let b = rw.before(op)?;
        let wide = b.op1("arith.extsi", &[y], b.int(64))?;
        rw.replace(op, &[wide]).map(|()| true)
    }
    a_rule_replaces_all_results, NoValues, "no-values", |o| fails("")(o), |rw, op| {
        rw.replace(op, &[]).map(|()| true)
    }
    a_rule_erases_nothing_that_is_used, ErasesUsed, "erases-used", |o| fails("use")(o), |rw, op| {
        rw.erase(op).map(|()| true)
    }
    a_rule_replaces_once, ReplacesTwice, "replaces-twice", |o| fails("")(o), |rw, op| {
        let x = operands(op)[0];
        rw.replace(op, &[x])?;
        rw.replace(op, &[x]).map(|()| true)
    }
    a_rule_reads_what_it_erased, ReadsErased, "reads-erased", |o| drop(o.expect("is fine")), |rw, op| {
        let x = operands(op)[0];
        rw.replace(op, &[x])?;
        assert_eq!((op_name(op), operands(op).len()), ("arith.addi", 0));
        Ok(true)
    }
    a_rule_builds_in_front_of_nothing_that_is_gone, BuildsAtErased, "builds-at-erased", |o| fails("")(o), |rw, op| {
        let x = operands(op)[0];
        rw.replace(op, &[x])?;
        rw.before(op)?.binary("arith.addi", x, x)?;
        Ok(true)
    }
    a_rule_changes_by_its_rewriter_only, EditsBehind, "edits-behind", |o| drop(o.expect("is refused inside")), |_, op| {
        edit::remove(op).expect_err("goes by the rewriter");
        ir::set_operand(op, 0, operands(op)[1]).expect_err("goes by the rewriter");
        ir::replace_uses(result0(op)?, operands(op)[0]).expect_err("goes by the rewriter");
        Ok(false)
    }
    a_rule_takes_no_value_of_another_session, TakesOther, "takes-other", |o| fails("of another session")(o), |rw, op| {
        let other = toolkit().session();
        let module = other.parse(TEXT.as_bytes(), "o.mlir")?;
        let x = func::argument(ops_of(ir::root(&module))[0], 0);
        // The compiler refuses the value itself; what its text gives is of this session.
        let name = x.map(|x| ir::type_of(x).to_string()).unwrap_or_default();
        assert_eq!(name, "i32");
        let fault = ir::set_attr(ops_of(ir::root(&module))[0], "x", Builder::before(op)?.i64_attr(1));
        fault.map(|()| rw.changes() > 0)
    }
    a_rule_moves_nothing_into_itself, MovesIntoItself, "moves-into-itself", |o| fails("")(o), |rw, op| {
        let function = ir::parent(op).expect("has one");
        rw.move_before(function, op).map(|()| true)
    }
    a_rule_that_grows_without_an_end_is_an_error, Grows, "grows", |o| fails("grows")(o), |rw, op| {
        let x = operands(op)[0];
        let b = rw.before(op)?;
        let first = b.binary("arith.addi", x, x)?;
        let second = b.binary("arith.addi", first, x)?;
        rw.replace(op, &[second]).map(|()| true)
    }
    a_rule_makes_operations_without_parts, MakesBare, "makes-bare", |o| fails("")(o), |rw, op| {
        let b = rw.before(op)?;
        b.create("scf.for", OpSpec::default())?;
        b.create("cf.cond_br", OpSpec::default())?;
        rw.replace(op, &[operands(op)[0]]).map(|()| true)
    }
    a_rule_that_panics_is_an_error, Panics, "rule-panics", |o| fails("on purpose")(o), |_, _op| {
        panic!("on purpose")
    }
}

/// Runs a pipeline with itself in it.
struct Itself;
impl Body for Itself {
    const NAME: &'static str = "itself";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        cx.run_pipeline("itself")
    }
}

#[test]
fn a_pass_that_runs_itself_is_an_error() {
    let error = run::<Itself>(TEXT).expect_err("has no end");
    assert!(error.contains("nested pipelines are more than"), "{error}");
}

#[test]
fn a_pipeline_that_names_itself_is_an_error() {
    let error = |name, text: &str| {
        let outcome = toolkit().pipeline(name, "Test", &format!("builtin.module({text})"));
        outcome.map(drop).expect_err("has no end").to_string()
    };
    assert!(error("endless", "cse,endless").contains("'endless' runs itself: endless -> endless"));
    // One that is not there yet, and names the first one when it is.
    toolkit().pipeline("first", "Test", "builtin.module(func.func(cse),second)").expect("is new");
    assert!(error("second", "cse,first").contains("second -> first -> second"));
}

/// Asks of what it has destroyed, and of operations that are not there.
struct Asks;
impl Body for Asks {
    const NAME: &'static str = "asks-wrongly";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        cx.count("no such count", 1);
        assert!(cx.run_pipeline("no-such-pass").is_err());
        assert!(cx.run_pipeline("builtin.module(cse)").is_err());
        assert!(cx.run_pipeline("func.func(cse)").is_err());
        assert!(cx.run_pipeline("cse)").is_err());
        assert!(cx.run_pipeline("\0").is_err());
        cx.run_pipeline("")
    }
}

#[test]
fn a_pass_asks_for_what_there_is_not() {
    let _ = run::<Asks>(TEXT);
}

/// Works in a session of its own.
struct Nested;
impl Body for Nested {
    const NAME: &'static str = "nested-session";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let mut session = session::<Of2>();
        for _ in 0..3 {
            let mut module = session.parse(TEXT.as_bytes(), "inner.mlir")?;
            session.run_pipeline(&mut module, "builtin.module(func.func(inner-pass))")?;
            edit::remove(ops_of(ir::root(&module))[0])?;
            drop(module);
            session.clear();
        }
        edit::remove(cx.op()).expect_err("a pass runs on it");
        Ok(())
    }
}

/// Removes what it may.
struct Of2;
impl Body for Of2 {
    const NAME: &'static str = "inner-pass";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        edit::remove(cx.op()).expect_err("a pass runs on it");
        Ok(())
    }
}

#[test]
fn a_pass_has_sessions_of_its_own() {
    let text: String = (0..8).map(|at| TEXT.replace("@f", &format!("@f{at}")) + "\n").collect();
    run::<Nested>(&text).expect("runs");
}

/// Starts threads that panic.
struct Threads;
impl Body for Threads {
    const NAME: &'static str = "thread-panics";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let outcome = std::thread::spawn(|| panic!("in a thread")).join();
        outcome.map_err(|_| cx.error(cx.op(), "a thread of it panicked"))
    }
}

/// Removes the ends of blocks.
struct Ends;
impl Body for Ends {
    const NAME: &'static str = "removes-ends";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        ops_of(cx.op()).into_iter().rev().try_for_each(edit::remove)?;
        Ok(())
    }
}

/// Copies what it runs on, to where others run.
struct Copies;
impl Body for Copies {
    const NAME: &'static str = "copies-itself";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let b = Builder::before(cx.op())?;
        b.copy(cx.op()).expect_err("is the module's");
        Ok(())
    }
}

#[test]
fn passes_that_break_ir_are_named() {
    let error = run::<Threads>(TEXT).expect_err("panics");
    assert!(error.contains("a thread of it panicked"), "{error}");
    run::<Ends>(TEXT).expect_err("leaves blocks without an end");
    let text: String = (0..64).map(|at| TEXT.replace("@f", &format!("@f{at}")) + "\n").collect();
    run::<Copies>(&text).expect("is refused");
}

#[test]
fn phases_that_there_are_not() {
    let phases = Phases::new().then("a", "builtin.module(no-such-pass)").expect("is a text");
    assert!(phases.find("b").is_err());
    let phases = phases.then("b", "builtin.module(cse)").expect("is a text");
    let text = phases.sections().map(|sections| sections.to_string());
    assert!(text.is_ok_and(|text| text.contains("no-such-pass")));
}
