//! `graph-outline-loops`: the bodies of loops become functions of their own.
//!
//! ```text
//! @main: graph.scan 64 states (%h = %h0) ... { %0 = graph.matmul %h, %r; ...; graph.yield %n }
//!   -->  @main: graph.scan 64 states (%h = %h0) ... { %n = call @main_loop0(%h, ...); graph.yield %n }
//!        @main_loop0: { %0 = graph.matmul %h, %r; ...; return %n }
//! ```
//! All later passes work on functions: partitioning, layouts, kernels, fusion and the planning of
//! memory so reach the insides of loops. Code generation sees no large nests.

use crate::{
    Result,
    ir::{
        self, outline::{self, NewFunction}, Builder, Op, Val, edit, func, graph,
        names::{PIECE, TARGET},
        view::OpView,
    },
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{
    Attribute, ValueLike,
    operation::OperationLike,
};
use std::collections::BTreeSet;

/// The pass.
pub const PASS: Pass = Pass {
    name: "graph-outline-loops",
    summary: "Move the bodies of loops into functions",
    anchor: "builtin.module",
    options: &[],
    dialects: &["func"],
    run,
};

fn run<'c>(module: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    let mut symbols: BTreeSet<String> =
        func::functions(module).into_iter().map(func::symbol).collect();
    for function in func::functions(module) {
        let scans = edit::walk(function).into_iter().filter(|op| graph::Scan::is(*op));
        // Loops inside of others come after them in the list, and go first.
        for scan in scans.collect::<Vec<_>>().into_iter().rev() {
            if is_open(scan) {
                let name = fresh(&mut symbols, &func::symbol(function));
                outline(function, scan, &name).map_err(|error| PassError::at(&scan, error))?;
            }
        }
    }
    Ok(())
}

/// True if a body does more than call a function and pass values on.
fn is_open(scan: Op<'_>) -> bool {
    let ops = ir::ops_of(scan);
    let names: Vec<_> = ops.iter().map(|op| ir::op_name(*op)).collect();
    !matches!(names[..], [] | [graph::Yield::NAME] | ["func.call", graph::Yield::NAME])
}

fn fresh(symbols: &mut BTreeSet<String>, stem: &str) -> String {
    let mut number = 0;
    loop {
        let name = format!("{stem}_loop{number}");
        if symbols.insert(name.clone()) {
            return name;
        }
        number += 1;
    }
}

/// Moves the operations of a body into a function of that name before `around`, and calls it.
fn outline<'c>(around: Op<'c>, scan: Op<'c>, name: &str) -> Result<()> {
    let Some(block) = edit::entry_block(scan) else { return Ok(()) };
    let mut ops = ir::ops(block);
    let Some(end) = ops.pop() else { return Ok(()) };
    let builder = Builder::before(end)?.with_location(scan.location());
    let results = computed(end);
    let mut passed = vec![];
    let at = Builder::before(around)?.with_location(scan.location());
    NewFunction::private(name)
        .with(PIECE, Attribute::unit(at.context))
        .like(around, &[TARGET])
        .define(&at, |b, _| {
            for op in &ops {
                edit::move_to_end(*op, b.block());
            }
            for argument in edit::arguments(block) {
                let users = ir::users(argument);
                if users.iter().any(|user| !edit::same(*user, end)) {
                    let own = edit::add_argument(b.block(), argument.r#type(), scan.location());
                    edit::replace_uses_except(argument, own, end);
                    passed.push(argument);
                }
            }
            Ok::<_, crate::Error>(results.clone())
        })?;
    let types: Vec<_> = results.iter().map(|value| value.r#type()).collect();
    let made = ir::results(outline::call(&builder, name, &passed, &types)?);
    for (index, value) in ir::operands(end).into_iter().enumerate() {
        if let Some(place) = results.iter().position(|result| *result == value) {
            edit::set_operand(end, index, made[place])?;
        }
    }
    Ok(())
}

/// Values that a body ends with and that some operation computes, each once.
fn computed<'c>(end: Op<'c>) -> Vec<Val<'c>> {
    let mut results = vec![];
    for value in ir::operands(end) {
        if edit::defining_op(value).is_some() && !results.contains(&value) {
            results.push(value);
        }
    }
    results
}
