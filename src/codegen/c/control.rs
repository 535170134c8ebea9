//! Structured control flow: the dialect `scf`.

use super::{
    expression::{Sum, Text},
    scalar::{CType, Expr, Level, fill},
    writer::{Failure, Scalar, Writer, c_type, line, literal, unsupported},
};
use crate::ir::{self, Blk, Builder, Op, OpSpec, Val, edit};
use melior::ir::{
    Block, Region, RegionLike, Type, ValueLike, block::BlockLike, operation::OperationLike,
};

/// Writes an operation with regions, or the end of one; false for any other operation.
pub fn write<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c, bool> {
    match ir::op_name(op) {
        "scf.for" => repeat(writer, b, op)?,
        "scf.if" => branch(writer, b, op)?,
        "scf.while" => repeat_while(writer, b, op)?,
        // Their values are written by the operation around them.
        "scf.yield" | "scf.condition" => {}
        _ => return Ok(false),
    }
    Ok(true)
}

fn repeat<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
    writer.note(b, op)?;
    let operands = ir::operands(op);
    let iv_type = c_type(op, operands[0].r#type())?;
    let ty = match iv_type {
        CType::Index => b.parse_type("!emitc.ptrdiff_t")?,
        _ => operands[0].r#type(),
    };
    let body = edit::entry_block(op).ok_or_else(|| unsupported(op))?;
    let carried = declare(writer, b, op, &operands[3..])?;
    let arguments = edit::arguments(body);
    for (index, name) in carried.iter().enumerate() {
        know(writer, op, arguments[index + 1], name)?;
        know(writer, op, result(op, index), name)?;
    }
    let mut bounds = [operands[0]; 3];
    for (bound, value) in bounds.iter_mut().zip(&operands) {
        let text = writer.expr(op, *value)?;
        *bound = literal(b, &closed(writer, b, iv_type, text)?, ty)?;
    }
    for_loop(b, ty, bounds, |inside, iv| {
        let text = Text::value(iv);
        let scalar = match iv_type {
            CType::Index => Scalar::Sum(Sum::term(text)),
            _ => Scalar::Expr(Expr::new(text, Level::Atom)),
        };
        writer.know(arguments[0], scalar);
        writer.block(inside, body)?;
        assign(writer, inside, op, &carried, &yielded(body))
    })
}

/// The text of an expression without values of emitc, which literals cannot have.
fn closed<'c>(
    writer: &mut Writer<'c>,
    b: &Builder<'c>,
    ty: CType,
    expr: Expr<'c>,
) -> Failure<'c, String> {
    let expr = if expr.text().values.is_empty() {
        expr
    } else {
        writer.variable(b, ty, "n", &expr, true)?
    };
    Ok(expr.text().text.replace("{{", "{"))
}

/// Variables that start as `values`.
fn declare<'c>(
    writer: &mut Writer<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    values: &[Val<'c>],
) -> Failure<'c, Vec<Expr<'c>>> {
    let declare = |value: &Val<'c>| {
        let ty = c_type(op, value.r#type())?;
        let start = writer.expr(op, *value)?;
        writer.variable(b, ty, "s", &start, false)
    };
    values.iter().map(declare).collect()
}

/// Variables without a value yet.
fn declare_results<'c>(
    writer: &mut Writer<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
) -> Failure<'c, Vec<Expr<'c>>> {
    let mut names = vec![];
    for value in ir::results(op) {
        let name = writer.name("r");
        line(b, Text::plain(format!("{} {name};", c_type(op, value.r#type())?.name())))?;
        let name = Expr::atom(name);
        know(writer, op, value, &name)?;
        names.push(name);
    }
    Ok(names)
}

/// Says that a value is a variable.
fn know<'c>(writer: &mut Writer<'c>, op: Op<'c>, value: Val<'c>, name: &Expr<'c>) -> Failure<'c> {
    let scalar = match c_type(op, value.r#type())? {
        CType::Index => Scalar::Sum(Sum::term(name.text())),
        _ => Scalar::Expr(name.clone()),
    };
    writer.know(value, scalar);
    Ok(())
}

fn result<'c>(op: Op<'c>, index: usize) -> Val<'c> {
    ir::results(op)[index]
}

/// The values that the terminator of a block passes on.
fn yielded(block: Blk<'_>) -> Vec<Val<'_>> {
    block.terminator().map(ir::operands).unwrap_or_default()
}

/// Gives the variables their new values, all at once: none is overwritten before it was read.
fn assign<'c>(
    writer: &mut Writer<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    names: &[Expr<'c>],
    values: &[Val<'c>],
) -> Failure<'c> {
    let mut moves = vec![];
    for (name, value) in names.iter().zip(values) {
        let new = writer.expr(op, *value)?;
        if new.text().text == name.text().text {
            continue;
        }
        moves.push((name, new, c_type(op, value.r#type())?));
    }
    let last = moves.len().saturating_sub(1);
    let mut held = vec![];
    for (index, (name, new, ty)) in moves.into_iter().enumerate() {
        // Names that no loop changes can be read later.
        let stable = index == last && held.is_empty() || !mentions(&new, names);
        let new = if stable { new } else { writer.variable(b, ty, "x", &new, true)? };
        held.push((name, new));
    }
    for (name, new) in held {
        line(b, fill("$0 = $1;", &[name.text(), new.text()]))?;
    }
    Ok(())
}

/// Whether the text has one of the names as a word.
fn mentions(expr: &Expr<'_>, names: &[Expr<'_>]) -> bool {
    let text = expr.text().text;
    let words = || text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    names.iter().any(|name| words().any(|word| word == name.text().text))
}

fn branch<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
    writer.note(b, op)?;
    let names = declare_results(writer, b, op)?;
    let condition = writer.expr(op, op.operand(0)?)?;
    let condition = closed(writer, b, CType::Bool, condition)?;
    let condition = literal(b, &condition, b.i1())?;
    let mut regions = vec![];
    for region in op.regions() {
        let new = Region::new();
        if let Some(body) = region.first_block() {
            // SAFETY: the block lives in the operation that is being converted.
            let body = unsafe { Blk::from_raw(body.to_raw()) };
            let block = new.append_block(Block::new(&[]));
            // SAFETY: the block belongs to the region that the branch takes over, so it lives on.
            let block = unsafe { Blk::from_raw(block.to_raw()) };
            let inside = Builder::at_end(b.context, block, b.location);
            writer.block(&inside, body)?;
            assign(writer, &inside, op, &names, &yielded(body))?;
            inside.create("emitc.yield", OpSpec::default())?;
        }
        regions.push(new);
    }
    b.create("emitc.if", OpSpec { operands: &[condition], regions, ..Default::default() })?;
    Ok(())
}

/// A loop that is left in its middle, which emitc has not.
fn repeat_while<'c>(writer: &mut Writer<'c>, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
    writer.note(b, op)?;
    let blocks: Vec<Blk<'c>> = op
        .regions()
        .filter_map(|region| region.first_block())
        // SAFETY: the blocks live in the operation that is being converted.
        .map(|block| unsafe { Blk::from_raw(block.to_raw()) })
        .collect();
    let [before, after] = blocks[..] else { return Err(unsupported(op)) };
    let carried = declare(writer, b, op, &ir::operands(op))?;
    for (argument, name) in edit::arguments(before).into_iter().zip(&carried) {
        know(writer, op, argument, name)?;
    }
    let results = declare_results(writer, b, op)?;
    for (argument, name) in edit::arguments(after).into_iter().zip(&results) {
        know(writer, op, argument, name)?;
    }
    line(b, Text::plain("for (;;) {{"))?;
    writer.block(b, before)?;
    let passed = yielded(before);
    let condition = *passed.first().ok_or_else(|| unsupported(op))?;
    let condition = writer.expr(op, condition)?;
    // The results do not occur in the condition, which was computed before they are.
    assign(writer, b, op, &results, &passed[1..])?;
    line(b, fill("if (!$0) break;", &[condition.at(Level::Atom)]))?;
    writer.block(b, after)?;
    assign(writer, b, op, &carried, &yielded(after))?;
    line(b, Text::plain("}"))
}

/// A loop of emitc.
pub fn for_loop<'c>(
    b: &Builder<'c>,
    ty: Type<'c>,
    bounds: [Val<'c>; 3],
    body: impl FnOnce(&Builder<'c>, Val<'c>) -> Failure<'c>,
) -> Failure<'c> {
    let region = Region::new();
    let block = region.append_block(Block::new(&[(ty, b.location)]));
    // SAFETY: the block belongs to the region that the loop takes over, so it lives on.
    let block = unsafe { Blk::from_raw(block.to_raw()) };
    let inside = Builder::at_end(b.context, block, b.location);
    body(&inside, edit::arguments(block)[0])?;
    inside.create("emitc.yield", OpSpec::default())?;
    b.create(
        "emitc.for",
        OpSpec { operands: &bounds, regions: vec![region], ..Default::default() },
    )?;
    Ok(())
}
