//! Statements: which operation is written how, and structured control flow (the dialect `scf`).

use super::{
    arith, call, emission, kernel, math, memory,
    scalar::{Expr, Level, fill, signed},
    writer::{Kind, Writer, c_type, unsupported},
};
use crate::{
    ir::{self, Blk, Op, Val, call_extern::CallExtern, edit, tir},
    pass::{PassError, PassResult},
};
use melior::ir::{RegionLike, ValueLike, block::BlockLike, operation::OperationLike};
use std::collections::BTreeSet;

/// Writes the operations of a block but its terminator's values.
pub fn block<'c>(writer: &mut Writer<'_>, block: Blk<'c>) -> PassResult<'c> {
    ir::ops(block).into_iter().try_for_each(|op| statement(writer, op))
}

/// Declares the buffers that the function's statement `op` is the first to use.
fn declare_buffers(writer: &mut Writer<'_>, op: Op<'_>) {
    if !writer.is_outermost() || writer.later.is_empty() {
        return;
    }
    let mut found = vec![];
    for user in edit::walk(op).into_iter().chain([op]) {
        for operand in ir::operands(user) {
            found.extend(writer.later.remove(&ir::id(operand)));
        }
    }
    let is_view = ir::op_name(op).starts_with("memref.") && !ir::results(op).is_empty();
    if !found.is_empty() && !is_view {
        writer.note(op);
    }
    found.into_iter().for_each(|text| writer.line(text));
}

fn statement<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    declare_buffers(writer, op);
    match ir::op_name(op) {
        "scf.for" => repeat(writer, op),
        "scf.if" => branch(writer, op),
        "scf.while" => repeat_while(writer, op),
        // Their values are written by the operation around them.
        "scf.yield" | "scf.condition" => Ok(()),
        "func.return" => {
            match writer.kind {
                Kind::Launched => {}
                Kind::Entry(_) => {
                    let count = writer.around.contexts.len();
                    writer.line(format!("return {};", writer.deactivated("0".to_owned(), count)));
                }
                _ => writer.line("return 0;"),
            }
            Ok(())
        }
        "gpu.global_id" => kernel::global_id(writer, op),
        tir::CallExtern::NAME => {
            writer.note(op);
            let parts = CallExtern::of(op).ok_or_else(|| PassError::at(&op, "is malformed"))?;
            call::write(writer, op, &parts)
        }
        _ if emission::write(writer, op)? => Ok(()),
        name if name.starts_with("math.") => math::write(writer, op),
        tir::Buffer::NAME => memory::write(writer, op),
        name if name.starts_with("memref.") => memory::write(writer, op),
        _ => arith::write(writer, op),
    }
}

fn repeat<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    writer.note(op);
    let operands = ir::operands(op);
    let ty = c_type(op, operands[0].r#type())?;
    let body = edit::entry_block(op).ok_or_else(|| unsupported(op))?;
    let carried = declare(writer, op, &operands[3..])?;
    let arguments = edit::arguments(body);
    for (index, name) in carried.iter().enumerate() {
        writer.know_expr(op, arguments[index + 1], name.clone())?;
        writer.know_expr(op, ir::results(op)[index], name.clone())?;
    }
    let mut bounds = vec![];
    for bound in &operands[..3] {
        let bound = writer.expr(op, *bound)?;
        // What the loop changes is looked at once, and what is long is computed once.
        let whole = bound.is_simple() && bound.text().changing.is_empty();
        let bound = if whole { bound } else { writer.constant(ty, "n", &bound) };
        bounds.push(bound.at(Level::Sum));
    }
    let bounds = bounds.try_into().map_err(|_| unsupported(op))?;
    writer.for_loop(ty, bounds, |writer, name| {
        writer.know_expr(op, arguments[0], Expr::atom(name))?;
        block(writer, body)?;
        assign(writer, op, &carried, &yielded(body))
    })
}

/// Variables that start as `values`.
fn declare<'c>(
    writer: &mut Writer<'_>,
    op: Op<'c>,
    values: &[Val<'c>],
) -> PassResult<'c, Vec<Expr>> {
    let declare = |value: &Val<'c>| {
        let ty = c_type(op, value.r#type())?;
        let start = writer.expr(op, *value)?;
        Ok(writer.variable(ty, "s", Some(&start)))
    };
    values.iter().map(declare).collect()
}

/// Variables without a value yet.
fn declare_results<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c, Vec<Expr>> {
    let mut names = vec![];
    for value in ir::results(op) {
        let name = writer.variable(c_type(op, value.r#type())?, "r", None);
        writer.know_expr(op, value, name.clone())?;
        names.push(name);
    }
    Ok(names)
}

/// The values that the terminator of a block passes on.
fn yielded(block: Blk<'_>) -> Vec<Val<'_>> {
    block.terminator().map(ir::operands).unwrap_or_default()
}

/// Gives the variables their new values, all at once: none is overwritten before it was read.
fn assign<'c>(
    writer: &mut Writer<'_>,
    op: Op<'c>,
    names: &[Expr],
    values: &[Val<'c>],
) -> PassResult<'c> {
    let mut moves = vec![];
    for (name, value) in names.iter().zip(values) {
        let ty = c_type(op, value.r#type())?;
        let new = signed(ty, &writer.expr(op, *value)?);
        if new.text() != name.text() {
            moves.push((name, new, ty));
        }
    }
    let assigned: BTreeSet<_> = names.iter().map(|name| name.text().text).collect();
    let last = moves.len().saturating_sub(1);
    let mut held = vec![];
    for (index, (name, new, ty)) in moves.into_iter().enumerate() {
        // What reads none of the variables can be read later.
        let alone = index == last && held.is_empty();
        let stable = alone || new.text().changing.is_disjoint(&assigned);
        held.push((name, if stable { new } else { writer.constant(ty, "x", &new) }));
    }
    for (name, new) in held {
        writer.assign(name.text(), new.text());
    }
    Ok(())
}

fn branch<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    writer.note(op);
    let names = declare_results(writer, op)?;
    let condition = writer.expr(op, op.operand(0)?)?.text().text;
    let [yes, no] = bodies(op)[..] else { return Err(unsupported(op)) };
    let part = |writer: &mut Writer<'_>, region: Option<Blk<'c>>| {
        writer.scope(|writer| {
            let Some(body) = region else { return Ok(()) };
            block(writer, body)?;
            assign(writer, op, &names, &yielded(body))
        })
    };
    writer.line(format!("if ({condition}) {{"));
    part(writer, yes)?;
    if no.is_some() {
        writer.line("} else {");
        part(writer, no)?;
    }
    writer.line("}");
    Ok(())
}

/// The first block of each region.
fn bodies(op: Op<'_>) -> Vec<Option<Blk<'_>>> {
    op.regions().map(|region| region.first_block()).collect()
}

/// A loop with a `break`.
fn repeat_while<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    writer.note(op);
    let [Some(before), Some(after)] = bodies(op)[..] else { return Err(unsupported(op)) };
    let carried = declare(writer, op, &ir::operands(op))?;
    for (argument, name) in edit::arguments(before).into_iter().zip(&carried) {
        writer.know_expr(op, argument, name.clone())?;
    }
    let results = declare_results(writer, op)?;
    for (argument, name) in edit::arguments(after).into_iter().zip(&results) {
        writer.know_expr(op, argument, name.clone())?;
    }
    writer.block("for (;;) ", |writer| {
        block(writer, before)?;
        let passed = yielded(before);
        let condition = *passed.first().ok_or_else(|| unsupported(op))?;
        let condition = writer.expr(op, condition)?;
        // The results do not occur in the condition, which was computed before they are.
        assign(writer, op, &results, &passed[1..])?;
        writer.line(fill("if (!$0) break;", &[condition.at(Level::Atom)]).text);
        block(writer, after)?;
        assign(writer, op, &carried, &yielded(after))
    })
}
