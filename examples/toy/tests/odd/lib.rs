//! A plugin whose code panics, and does what it may not, where MLIR calls it: the program says so and goes on.
#![forbid(unsafe_code)]
#![allow(clippy::panic, reason = "this is what is tested")]

use phaseline_toolkit::{
    Context, Result, Toolkit, dialect,
    ir::{self, Op, analysis::Dominance},
    pass::{PassCx, PassResult, RunPass},
    rule,
};

dialect!(odd, mlirGetDialectHandle__odd__);

rule! {
    RULE = "odd-rule" on odd::Rule: |_rewriter, _op| { panic!("a rule") }
}

/// Tries to change what it verifies.
fn edit(op: odd::Edit<'_>) -> Result<(), String> {
    use ir::view::OpView;
    let value = ir::attr(op.op(), "mark").ok_or("has no mark")?;
    ir::set_attr(op.op(), "other", value).map_err(|error| error.to_string())
}

/// A pass of a name that runs a function.
macro_rules! pass {
    ($ty:ident = $name:literal on $anchor:literal: |$cx:ident| $body:block) => {
        struct $ty;

        impl RunPass for $ty {
            const NAME: &'static str = $name;
            const SUMMARY: &'static str = "A test";
            const ANCHOR: &'static str = $anchor;
            type Options = ();

            fn new((): (), _: &Context) -> Result<Self> {
                Ok(Self)
            }

            fn run<'c>(&self, $cx: &mut PassCx<'_, 'c>) -> PassResult<'c> $body
        }
    };
}

pass!(Panics = "odd-panic" on "builtin.module": |_cx| { panic!("a pass") });

pass!(Outside = "odd-outside" on "func.func": |cx| {
    let op: Op<'_> = cx.op();
    if let (Some(module), Some(name)) = (ir::parent(op), ir::attr(op, "sym_name")) {
        ir::set_attr(module, "odd", name)?;
    }
    Ok(())
});

pass!(Nested = "odd-nested" on "builtin.module": |cx| {
    cx.run_pipeline("odd-nested")
});

pass!(Known = "odd-known" on "func.func": |cx| {
    // The program's passes ask for the same, before and after.
    let dominance = cx.analysis::<Dominance>()?;
    let inside = ir::ops_of(cx.op());
    let follows = inside.windows(2).all(|two| dominance.dominates(two[0], two[1]));
    cx.remark(cx.op(), format!("in order: {follows}"));
    cx.preserve_all();
    Ok(())
});

fn register(toolkit: Toolkit) -> Result<Toolkit> {
    toolkit
        .dialect(odd::dialect())
        .verifier::<odd::Verify>(|_| panic!("a verifier"))
        .verifier::<odd::Edit>(edit)
        .fold::<odd::Fold>(|_, _| panic!("a fold"))
        .infer::<odd::Infer>(|_, _| panic!("an inference"))
        .canonicalize([RULE])
        .run_pass::<Panics>()?
        .run_pass::<Outside>()?
        .run_pass::<Nested>()?
        .run_pass::<Known>()
}

phaseline_toolkit::plugin!(register);
