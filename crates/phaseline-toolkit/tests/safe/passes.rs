//! Passes that are types: options, state, statistics, diagnostics, nested pipelines, cancellation.

use super::{Body, Of, run, session, toolkit};
use phaseline_toolkit::{
    Cancel, Context, Error, Result, Session, Severity, Toolkit,
    ir::{self, edit},
    pass::{PassCx, PassResult, PipelineText, RunPass},
    pass_choice, pass_options,
};
use std::{
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

pass_choice! {
    /// Words.
    pub enum Word {
        /// One.
        Fast = "fast",
        /// Another.
        Small = "small",
    }
}

pass_options! {
    /// Options of all kinds.
    pub struct AllOptions {
        sizes: Vec<i64> = "32,32", "Sizes";
        words: Vec<Word> = "", "Words";
        rate: f64 = "0.5", "Rate";
        inner: PipelineText = "", "Passes";
    }
}

struct All(AllOptions);

impl RunPass for All {
    const NAME: &'static str = "all-options";
    const SUMMARY: &'static str = "Test";
    const ANCHOR: &'static str = "builtin.module";
    type Options = AllOptions;
    fn new(options: AllOptions, _: &Context) -> Result<Self> {
        match options.sizes.iter().all(|size| *size > 0) {
            true => Ok(Self(options)),
            false => Err(Error::invalid("sizes are to be positive")),
        }
    }
    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let All(options) = self;
        let words = format!("{:?} {:?} {}", options.sizes, options.words, options.rate);
        cx.remark(cx.op(), words).note(cx.op(), "seen");
        cx.run_pipeline(options.inner.as_str())
    }
}

/// Runs a pipeline on two equal functions of two equal operations; gives the text of its diagnostics and the IR.
fn with(toolkit: Toolkit, pipeline: &str) -> Result<(String, String), String> {
    let text = "func.func @f(%x: i32) -> i32 {
  %0 = arith.addi %x, %x : i32
  %1 = arith.addi %x, %x : i32
  %2 = arith.muli %0, %1 : i32
  return %2 : i32
}";
    let session = toolkit.session();
    let mut module = session.parse(text.as_bytes(), "t.mlir").expect("parses");
    let outcome = session.run_pipeline(&mut module, pipeline);
    outcome.map_err(|error| error.to_string())?;
    let said: Vec<_> = session.take_diagnostics().iter().map(ToString::to_string).collect();
    Ok((said.join("\n"), module.as_operation().to_string()))
}

#[test]
fn options_are_lists_words_numbers_and_pipelines() {
    let kit = || toolkit().run_pass::<All>().expect("is new");
    let run = |options: &str| with(kit(), &format!("builtin.module(all-options{options})"));
    let (said, _) = run("").expect("has defaults");
    assert!(said.contains("[32, 32] [] 0.5") && said.contains("note: seen"), "{said}");
    let (said, text) =
        run("{sizes=1,2,3 words={small,fast} rate=2e3 inner={func.func(cse)}}").expect("is right");
    assert!(said.contains("[1, 2, 3] [Small, Fast] 2000"), "{said}");
    assert_eq!(text.matches("arith.addi").count(), 1, "{text}");
    for (options, reason) in [
        ("{sizes=1,x}", "option 'sizes' of all-options: 'x' is not an integer"),
        ("{words=fast,slow}", "option 'words' of all-options: 'slow' is none of fast, small"),
        ("{rate=x}", "option 'rate' of all-options: 'x' is not a number"),
        ("{inner=nope}", "option 'inner' of all-options: 'nope' is no list of passes"),
        ("{sizes=0}", "sizes are to be positive"),
        ("{size=0}", "no such option size"),
    ] {
        let error = run(options).expect_err(options);
        assert!(error.contains(reason), "{options}: {error}");
    }
}

struct Deep;
impl Body for Deep {
    const NAME: &'static str = "deep-nested";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let text = format!("{}{}", "a(".repeat(100_000), ")".repeat(100_000));
        cx.run_pipeline(&text)
    }
}
struct Wrong;
impl Body for Wrong {
    const NAME: &'static str = "wrong-nested";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        cx.run_pipeline("nope")
    }
}

#[test]
fn nested_pipelines_are_checked_and_seen() {
    assert!(run::<Deep>("").expect_err("is deep").contains("nested too deep"));
    assert!(run::<Wrong>("").expect_err("is none").contains("'nope' does not refer to"));
    let session = toolkit().run_pass::<All>().expect("is new").session();
    let mut module = session.parse(b"func.func private @f()", "t.mlir").expect("parses");
    let seen = Mutex::new(vec![]);
    let pipeline = "builtin.module(all-options{inner={symbol-dce}})";
    let observer: &phaseline_toolkit::pass::PassObserver<'_> =
        &|_, pass, _| seen.lock().expect("is free").push(pass.to_owned());
    session.run_pipeline_with(&mut module, pipeline, None, Some(observer)).expect("runs");
    let seen = seen.into_inner().expect("is free");
    assert_eq!(seen, ["all-options", "symbol-dce", "symbol-dce", "all-options"]);
}

struct Says;
impl Body for Says {
    const NAME: &'static str = "says";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let ops = edit::walk(cx.op());
        cx.warn(ops[0], "is odd").note(ops[1], "see here");
        Err(cx.error(ops[1], "is wrong"))
    }
}

#[test]
fn diagnostics_are_data() {
    let session = session::<Says>();
    let told = Arc::new(Mutex::new(vec![]));
    let sink = Arc::clone(&told);
    session.on_diagnostic(move |one| sink.lock().expect("is free").push(one.clone()));
    let text = b"func.func @f(%x: i32) {\n  %0 = arith.addi %x, %x : i32\n  return\n}";
    let mut module = session.parse(text, "t.mlir").expect("parses");
    session.run_pipeline(&mut module, "builtin.module(func.func(says))").expect_err("is wrong");
    let told = told.lock().expect("is free");
    let [warning, error] = &told[..] else { panic!("{told:?}") };
    assert_eq!((warning.severity, error.severity), (Severity::Warning, Severity::Error));
    assert_eq!((warning.file.as_deref(), warning.line, warning.column), (Some("t.mlir"), 2, 8));
    assert_eq!((error.line, error.column, error.pass.as_deref()), (3, 3, Some("says")));
    assert_eq!(warning.notes[0].text, "see here");
    assert_eq!(error.text, "'func.return' op is wrong [says]");
}

struct Slow;
impl Body for Slow {
    const NAME: &'static str = "slow";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let begun = Instant::now();
        while !cx.is_cancelled() && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }
}

#[test]
fn a_pipeline_is_cancelled_from_another_thread() {
    let session = session::<Slow>();
    let cancel = Cancel::new();
    session.set_cancel(Some(cancel.clone()));
    let mut module = session.parse(b"func.func private @f()", "t.mlir").expect("parses");
    let begun = Instant::now();
    let canceller = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(50));
        cancel.cancel();
    });
    let error = session.run_pipeline(&mut module, "builtin.module(slow,symbol-dce,slow)");
    let error = error.expect_err("is cancelled").to_string();
    canceller.join().expect("ends");
    assert!(error.contains("the pipeline was cancelled"), "{error}");
    assert!(begun.elapsed() < Duration::from_millis(2000), "{:?}", begun.elapsed());
    // What waited has not run: the function is still there. The session goes on.
    assert!(module.as_operation().to_string().contains("@f"));
    session.set_cancel(None);
    session.run_pipeline(&mut module, "builtin.module(symbol-dce)").expect("runs");
    assert!(!module.as_operation().to_string().contains("@f"));
}

#[test]
fn sessions_go_to_other_threads() {
    let session: Session = toolkit().session();
    let text = std::thread::spawn(move || {
        let mut module = session.parse(b"func.func private @f()", "t.mlir").expect("parses");
        session.run_pipeline(&mut module, "builtin.module(canonicalize)").expect("runs");
        module.as_operation().to_string()
    });
    assert!(text.join().expect("ends").contains("@f"));
}

struct Other;
impl Body for Other {
    const NAME: &'static str = "says";
    fn run<'c>(_: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        Ok(())
    }
}

#[test]
fn a_name_is_that_of_one_pass() {
    toolkit()
        .run_pass::<Of<Says>>()
        .and_then(|kit| kit.run_pass::<Of<Says>>())
        .expect("is the same");
    let error = toolkit().run_pass::<Of<Other>>().expect_err("is taken").to_string();
    assert!(error.contains("'says' is registered already"), "{error}");
}

struct Edits;
impl Body for Edits {
    const NAME: &'static str = "edits";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let op = cx.op();
        let [first, second, ..] = edit::walk(op)[..] else { return Ok(()) };
        let x = ir::func::argument(op, 0).ok_or_else(|| cx.error(op, "has no argument"))?;
        ir::replace_uses(ir::result0(first)?, x)?;
        ir::set_operand(second, 0, x)?;
        ir::move_before(second, first)?;
        for wrong in [
            ir::set_operand(second, 9, x),
            ir::move_before(op, first),
            ir::move_before(first, op).and_then(|()| ir::move_before(op, first)),
        ] {
            wrong.expect_err("cannot be");
        }
        Ok(())
    }
}

#[test]
fn edits_of_one_operation_are_checked() {
    let outcome = with(
        toolkit().run_pass::<Of<Edits>>().expect("is new"),
        "builtin.module(func.func(edits))",
    );
    let error = outcome.expect_err("moves an operation out of its function");
    assert!(error.contains("operand #0 does not dominate this use"), "{error}");
}

struct Counts;
impl RunPass for Counts {
    const NAME: &'static str = "counts";
    const SUMMARY: &'static str = "Test";
    const ANCHOR: &'static str = "func.func";
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("ops", "Operations")];
    type Options = ();
    fn new(_: Self::Options, _: &Context) -> Result<Self> {
        Ok(Self)
    }
    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        cx.count("ops", edit::walk(cx.op()).len());
        cx.preserve_all();
        Ok(())
    }
}

#[test]
fn statistics_are_data() {
    let session = toolkit().run_pass::<Counts>().expect("is new").session();
    let text = "func.func @f() {\n  return\n}\n".to_owned() + "func.func @g() {\n  return\n}";
    let mut module = session.parse(text.as_bytes(), "t.mlir").expect("parses");
    session.run_pipeline(&mut module, "builtin.module(func.func(counts))").expect("runs");
    let [one] = &session.take_statistics()[..] else { panic!("one is counted") };
    assert_eq!((one.pass, one.name, one.about, one.value), ("counts", "ops", "Operations", 2));
    assert!(session.take_statistics().is_empty());
}
