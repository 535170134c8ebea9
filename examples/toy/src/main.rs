//! `toy`: a compiler of one's own on the toolkit. `toy opt` is its mlir-opt, `toy lsp` its language server, `toy FILE` its
//! driver.
#![forbid(unsafe_code)]

use phaseline_toolkit::{
    Context, Phases, Result, Toolkit, dialect,
    ir::{
        Op, Val, attr,
        body::Folded,
        dims, edit, elements,
        rewrite::{Rewriter, Rule},
        type_of,
        view::OpView,
    },
    pass::{NoOptions, PassCx, PassResult, RunPass},
    upstream,
};
use std::process::ExitCode;

mod hoist;
mod lower;
mod narrow;
mod taint;
mod unread;

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

/// A reshape to the same shape is what it is given; that of a constant is a constant.
fn fold<'c>(op: toy::Reshape<'c>) -> Option<Folded<'c>> {
    if type_of(op.x()) == type_of(op.y()) {
        return Some(Folded::Value(op.x()));
    }
    let constant = maker::<toy::Constant>(op.x())?;
    let data = elements::bytes(attr(constant.op(), "value")?).ok()?;
    elements::dense(type_of(op.y()), &data).ok().map(Folded::Constant)
}

fn is_reshape(op: toy::Reshape<'_>) -> Result<(), String> {
    let count = |value| dims(type_of(value)).iter().product::<i64>();
    match (count(op.x()), count(op.y())) {
        (from, to) if from == to => Ok(()),
        (from, to) => Err(format!("has {from} elements and cannot have {to}")),
    }
}

fn is_transpose(op: toy::Transpose<'_>) -> Result<(), String> {
    let (mut from, to) = (dims(type_of(op.x())), dims(type_of(op.y())));
    from.reverse();
    match from == to {
        true => Ok(()),
        false => Err(format!("has rows and columns {to:?}, and not {from:?}")),
    }
}

struct Simplify;

impl RunPass for Simplify {
    const NAME: &'static str = "toy-simplify";
    const SUMMARY: &'static str = "Apply the rules of the dialect";
    const ANCHOR: &'static str = "func.func";
    const DIALECTS: &'static [&'static str] = &["toy"];
    const STATISTICS: &'static [(&'static str, &'static str)] = &[("changes", "Changes made")];
    type Options = NoOptions;

    fn new(_: NoOptions, _: &Context) -> Result<Self> {
        Ok(Self)
    }

    fn run<'c>(&self, cx: &mut PassCx<'_, 'c>) -> PassResult<'c> {
        let changes = cx.rewrite(&[TWICE, RESHAPES])?;
        cx.count("changes", changes as usize);
        Ok(())
    }
}

fn toolkit() -> Result<Toolkit> {
    let phases = Phases::new()
        .then("simplify", "builtin.module(func.func(toy-simplify),cse)")?
        .then("clean", "builtin.module(symbol-dce)")?;
    Toolkit::new("Toy's pass driver")
        .upstream([upstream::arith(), upstream::cf(), upstream::func(), upstream::scf()])
        .upstream([upstream::transforms()])
        .dialect(toy::dialect())
        .verifier::<toy::Reshape>(is_reshape)
        .verifier::<toy::Transpose>(is_transpose)
        .fold::<toy::Reshape>(|op, _| fold(op))
        .canonicalize([TWICE, RESHAPES])
        .run_pass::<Simplify>()?
        .run_pass::<lower::Lower>()?
        .run_pass::<narrow::Narrow>()?
        .run_pass::<taint::FindTaint>()?
        .run_pass::<hoist::Hoist>()?
        .run_pass::<unread::RemoveUnread>()?
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
