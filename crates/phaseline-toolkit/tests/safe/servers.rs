//! Needs of servers: threads that sessions share, and runs that end when they are told to.

use super::{Body, Of, session, toolkit};
use phaseline_toolkit::{
    Cancel, Result, Session, ThreadPool,
    ir::{
        Builder, Op, ops_of, result0,
        rewrite::{Rewriter, Rule},
    },
    pass::{PassCx, PassResult},
};
use std::{
    collections::BTreeSet,
    sync::Mutex,
    time::{Duration, Instant},
};

/// Notes the thread that it runs on.
struct Threads;
static SEEN: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

impl Body for Threads {
    const NAME: &'static str = "threads";
    const ANCHOR: &'static str = "func.func";
    fn run<'c>(_: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let id = format!("{:?}", std::thread::current().id());
        SEEN.lock().expect("nobody panics").insert(id);
        std::thread::sleep(Duration::from_millis(1));
        Ok(())
    }
}

fn functions(count: usize) -> String {
    let body = "(%x: i32) -> i32 {\n  %0 = arith.addi %x, %x : i32\n  return %0 : i32\n}\n";
    (0..count).map(|at| format!("func.func @f{at}{body}")).collect()
}

#[test]
fn eight_threads_of_sessions_share_one_pool() {
    let toolkit = toolkit().run_pass::<Of<Threads>>().expect("is new");
    let pool = ThreadPool::new(3);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let mut session = toolkit.session();
                session.use_threads(&pool);
                for round in 0..6 {
                    let mut module =
                        session.parse(functions(24).as_bytes(), "t.mlir").expect("parses");
                    let passes = "builtin.module(func.func(threads,canonicalize,cse))";
                    session.run_pipeline(&mut module, passes).expect("runs");
                    let text = module.as_operation().to_string();
                    assert_eq!(text.matches("arith.addi").count(), 24);
                    drop(module);
                    if round == 2 {
                        session.clear();
                    }
                }
            });
        }
    });
    // Sessions go while the pool stays, and pools while sessions stay.
    let mut session = toolkit.session();
    session.use_threads(&pool);
    session.use_threads(&ThreadPool::new(1));
    drop(pool);
    let mut module = session.parse(functions(8).as_bytes(), "t.mlir").expect("parses");
    session.run_pipeline(&mut module, "builtin.module(func.func(threads))").expect("runs");
    let seen = SEEN.lock().expect("nobody panics").len();
    assert!((1..=4).contains(&seen), "passes ran on {seen} threads of 3 and 1");
}

/// Time between a cancel and the end of what it cancels: the least of some runs, since other tests run beside this.
fn until_it_ends(session: &Session, text: &str, pipeline: &str) -> Duration {
    let run = || {
        let cancel = Cancel::new();
        session.set_cancel(Some(cancel.clone()));
        let mut module = session.parse(text.as_bytes(), "t.mlir").expect("parses");
        let canceller = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            let at = Instant::now();
            cancel.cancel();
            at
        });
        let error = session.run_pipeline(&mut module, pipeline).expect_err("is cancelled");
        let end = Instant::now();
        assert!(error.to_string().contains("was cancelled"), "{error}");
        end.saturating_duration_since(canceller.join().expect("ends"))
    };
    (0..3).map(|_| run()).min().expect("ran")
}

const LIMIT: Duration = Duration::from_millis(100);

/// Works as long as it may.
struct Works;
impl Body for Works {
    const NAME: &'static str = "works";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let begun = Instant::now();
        while !cx.is_cancelled() && begun.elapsed() < Duration::from_secs(20) {
            std::hint::spin_loop();
        }
        Ok(())
    }
}

/// `x + y` is `y + x`, for ever.
const TURNS: Rule = Rule { name: "turns", root: "arith.addi", benefit: 1, apply: turn };

fn turn<'c>(rewriter: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    std::thread::sleep(Duration::from_millis(1));
    let ins = phaseline_toolkit::ir::operands(op);
    let made = rewriter.before(op)?.binary("arith.addi", ins[1], ins[0])?;
    rewriter.replace(op, &[made])?;
    Ok(true)
}

struct Rewrites;
impl Body for Rewrites {
    const NAME: &'static str = "rewrites";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        cx.rewrite(&[TURNS]).map(drop)
    }
}

/// Takes two milliseconds.
struct Short;
impl Body for Short {
    const NAME: &'static str = "short";
    fn run<'c>(_: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        std::thread::sleep(Duration::from_millis(2));
        Ok(())
    }
}

/// Converts many operations, two milliseconds each.
struct Converts;
impl Body for Converts {
    const NAME: &'static str = "converts";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let conversion = phaseline_toolkit::ir::convert::Conversion::new()
            .legal(["arith.muli"])
            .illegal(["arith.addi"])
            .pattern_on("arith.addi", "slow", |_, operands, rewriter| {
                std::thread::sleep(Duration::from_millis(2));
                let builder: Builder<'_> = rewriter.builder()?;
                let made = builder.binary("arith.muli", operands.get(0)?, operands.get(1)?)?;
                rewriter.replace(&[made])
            });
        cx.convert(&conversion)
    }
}

#[test]
fn passes_that_ask_end_at_once() {
    let session = session::<Works>();
    let took = until_it_ends(&session, &functions(1), "builtin.module(works)");
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn rules_end_at_once() {
    let session = session::<Rewrites>();
    let took = until_it_ends(&session, &functions(400), "builtin.module(rewrites)");
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn conversions_end_at_once() {
    let session = session::<Converts>();
    let took = until_it_ends(&session, &functions(400), "builtin.module(converts)");
    assert!(took < LIMIT, "{took:?}");
}

#[test]
fn pipelines_end_between_passes() {
    let session = session::<Short>();
    let passes = format!("builtin.module({})", ["short"; 400].join(","));
    let took = until_it_ends(&session, &functions(1), &passes);
    assert!(took < LIMIT, "{took:?}");
    // The session goes on.
    session.set_cancel(None);
    let mut module = session.parse(functions(1).as_bytes(), "t.mlir").expect("parses");
    session.run_pipeline(&mut module, "builtin.module(short)").expect("runs");
    let sum = ops_of(ops_of(phaseline_toolkit::ir::root(&module))[0])[0];
    assert!(result0(sum).is_ok());
}
