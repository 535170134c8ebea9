//! Uses of the toolkit from outside, without `unsafe`: conversion, analyses, passes, and attempts to break it.
#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "tests fail by it")]

mod analysis;
mod convert;
mod passes;
mod pdl;
mod programs;
mod rules;
mod servers;
mod unsound;

use phaseline_toolkit::{
    Context, Result, Session, Toolkit,
    pass::{PassCx, PassResult, RunPass},
    upstream,
};

/// A compiler with some dialects of upstream.
fn toolkit() -> Toolkit {
    let parts = [upstream::arith(), upstream::cf(), upstream::func(), upstream::memref()];
    Toolkit::new("test").upstream(parts).upstream([
        upstream::pdl(),
        upstream::scf(),
        upstream::transforms(),
    ])
}

/// The body of a pass of a test.
trait Body: Send + Sync + 'static {
    const NAME: &'static str;
    const ANCHOR: &'static str = "builtin.module";
    fn run<'c>(cx: &mut PassCx<'_, 'c>) -> PassResult<'c>;
}

/// A pass of a body.
struct Of<B>(std::marker::PhantomData<fn() -> B>);

impl<B: Body> RunPass for Of<B> {
    const NAME: &'static str = B::NAME;
    const SUMMARY: &'static str = "Test";
    const ANCHOR: &'static str = B::ANCHOR;
    type Options = ();
    fn new((): (), _: &Context) -> Result<Self> {
        Ok(Self(std::marker::PhantomData))
    }
    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        B::run(cx)
    }
}

/// A session that knows the pass of a body.
fn session<B: Body>() -> Session {
    toolkit().run_pass::<Of<B>>().expect("is new").session()
}

/// Runs the pass of a body on text; gives what becomes of it, or the error.
fn run<B: Body>(text: &str) -> Result<String, String> {
    let session = session::<B>();
    let mut module = session.parse(text.as_bytes(), "t.mlir").expect("parses");
    let pass = match B::ANCHOR {
        "builtin.module" => B::NAME.to_owned(),
        anchor => format!("{anchor}({})", B::NAME),
    };
    session
        .run_pipeline(&mut module, &format!("builtin.module({pass})"))
        .map(|()| module.as_operation().to_string())
        .map_err(|error| error.to_string())
}
