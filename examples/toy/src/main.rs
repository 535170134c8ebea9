//! `toy`: a compiler of one's own on the toolkit. `toy opt` is its mlir-opt, `toy lsp` its language server, `toy FILE` its
//! driver.
#![forbid(unsafe_code)]

use phaseline_toolkit::{
    Phases, Result, Toolkit, dialect,
    ir::{
        Op, Val, edit,
        rewrite::{self, Rewriter, Rule},
        type_of,
        view::OpView,
    },
    pass::{OptionValues, Pass, PassError, PassOp},
    upstream,
};
use std::process::ExitCode;

dialect!(toy, mlirGetDialectHandle__toy__);

/// `transpose(transpose(x))` is `x`.
const TWICE: Rule =
    Rule { name: "transpose-twice", root: toy::Transpose::NAME, benefit: 1, apply: twice };

fn twice<'c>(rewriter: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(outer) = toy::Transpose::of(op) else { return Ok(false) };
    let Some(inner) = maker::<toy::Transpose>(outer.x()) else { return Ok(false) };
    rewriter.replace(op, &[inner.x()])?;
    Ok(true)
}

/// `reshape(reshape(x))` is one reshape, and none where the shape is that of `x`.
const RESHAPES: Rule =
    Rule { name: "merge-reshapes", root: toy::Reshape::NAME, benefit: 1, apply: merge };

fn merge<'c>(rewriter: &mut Rewriter<'_, 'c>, op: Op<'c>) -> Result<bool> {
    let Some(outer) = toy::Reshape::of(op) else { return Ok(false) };
    if type_of(outer.x()) == type_of(outer.y()) {
        rewriter.replace(op, &[outer.x()])?;
        return Ok(true);
    }
    let Some(inner) = maker::<toy::Reshape>(outer.x()) else { return Ok(false) };
    let builder = rewriter.before(op)?;
    let made = toy::Reshape::build(&builder, inner.x(), &[type_of(outer.y())])?;
    rewriter.replace(op, &[made.y()])?;
    Ok(true)
}

/// The operation of a kind that a value is the result of.
fn maker<'c, V: OpView<'c>>(value: Val<'c>) -> Option<V> {
    edit::defining_op(value).and_then(V::of)
}

static SIMPLIFY: Pass = Pass {
    name: "toy-simplify",
    summary: "Apply the rules of the dialect",
    anchor: "func.func",
    options: &[],
    dialects: &["toy"],
    run: simplify,
};

fn simplify<'c>(op: PassOp<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let failed = |error: rewrite::RuleError<'c>| PassError {
        location: Some(error.location),
        message: error.message,
    };
    rewrite::apply(op, &[TWICE, RESHAPES]).map(drop).map_err(failed)
}

fn toolkit() -> Result<Toolkit> {
    let phases = Phases::new()
        .then("simplify", "builtin.module(func.func(toy-simplify),cse)")?
        .then("clean", "builtin.module(symbol-dce)")?;
    Toolkit::new("Toy's pass driver")
        .upstream([upstream::func(), upstream::transforms()])
        .dialect(toy::dialect())
        .pass(&SIMPLIFY)?
        .pipeline(
            "toy-pipeline",
            "All of Toy's passes",
            "builtin.module(func.func(toy-simplify),cse)",
        )?
        .phases(phases)
}

fn main() -> ExitCode {
    match toolkit() {
        Ok(toolkit) => toolkit.main(std::env::args_os()),
        Err(error) => phaseline_toolkit::report(&error),
    }
}
