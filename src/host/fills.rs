//! Large constants with one value everywhere, which the host writes when it runs, so that nobody has to
//! store them.

use crate::{
    ir::{self, Builder, Op, edit, elements, func, memref, names},
    lower::generic::fill_into,
    pass::PassError,
    planned::generated,
};
use melior::ir::{
    Attribute, ValueLike, attribute::DenseI32ArrayAttribute, operation::OperationLike,
};
use std::collections::{BTreeMap, BTreeSet};

/// Size from which a constant with one value everywhere is written by the host instead.
const FILL_BYTES: u64 = 1 << 20;

/// Replaces large constants of one value everywhere by fills in the host's functions; gives the
/// names of the constants.
pub fn write<'c>(
    module: Op<'c>,
    main: Op<'c>,
    globals: &BTreeMap<String, Op<'c>>,
) -> Result<BTreeSet<String>, PassError<'c>> {
    let context = ir::context_of(module);
    let host = ir::attr_str(main, names::TARGET);
    let mut filled = BTreeSet::new();
    for function in func::functions(module) {
        let target = ir::attr_str(function, names::TARGET);
        if target.is_some() && target != host {
            continue;
        }
        for op in edit::walk(function) {
            let global =
                func::symbol_ref(op, "name").filter(|_| ir::op_name(op) == "memref.get_global");
            let global = global.and_then(|name| globals.get(&name).copied());
            let Some(value) = global.and_then(fill_value) else { continue };
            sink(function, op)?;
            let builder = Builder::before(op)?;
            let old = ir::result0(op)?;
            let element = ir::element_type(old.r#type());
            let value = builder.op1_with("arith.constant", &[], element, vec![("value", value)])?;
            let segments = DenseI32ArrayAttribute::new(context, &[0, 0]).into();
            let attributes = vec![("operandSegmentSizes", segments)];
            let new = builder.op1_with("memref.alloc", &[], old.r#type(), attributes)?;
            fill_into(&builder, new, &[], value)?;
            edit::replace_uses(old, new);
            edit::erase(op);
            filled.extend(global.map(func::symbol));
        }
    }
    Ok(filled)
}

/// Moves an operation, with the views of it in between, in front of the first one that reads its
/// result. A value that is written at the start of a function would take memory all the time.
fn sink<'c>(function: Op<'c>, op: Op<'c>) -> crate::Result<()> {
    let ops = edit::entry_block(function).map(ir::ops).unwrap_or_default();
    let Some(place) = ops.iter().position(|other| edit::same(*other, op)) else { return Ok(()) };
    let mut moved = vec![op];
    let mut values = vec![ir::result0(op)?];
    for other in &ops[place + 1..] {
        let reads = |op: &Op<'c>| ir::operands(*op).iter().any(|value| values.contains(value));
        if memref::is_view(*other) && reads(other) {
            values.push(ir::result0(*other)?);
            moved.push(*other);
        } else if reads(other) || edit::walk(*other).iter().any(reads) {
            moved.iter().for_each(|op| edit::move_before(*op, *other));
            return Ok(());
        }
    }
    Ok(())
}

/// The one value of a large constant, if all its elements are equal.
fn fill_value(global: Op<'_>) -> Option<Attribute<'_>> {
    let value =
        global.attribute("initial_value").ok().filter(|_| global.has_attribute("constant"))?;
    let splat = elements::splat(value)?;
    (generated::size_of(value) >= FILL_BYTES).then_some(splat)
}
