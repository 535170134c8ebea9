//! `separate-readers`: splits the readers of a value with very many of them into groups.
//!
//! ```text
//!                                              %b = bufferization.to_buffer %x read_only
//! %a = linalg.generic ins(%x) ...              %y = bufferization.to_tensor %b restrict
//! ...                               -->        %a = linalg.generic ins(%y) ...
//! %z = linalg.generic ins(%x) ...              ...
//!                                              bufferization.to_buffer %x read_only
//! ```
//! At each reader of a value bufferization looks at all of its readers, which takes minutes for
//! thousands of them. The name `%y` is another value to it, on the same buffer. It would not see
//! that `%x` has to stay as it is up to the last reader. The second `to_buffer` says so: it counts
//! as a read of `%x`, and produces no code.

use crate::{
    ir::{self, Builder, Op, OpSpec, Val, edit, effects, func, types},
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{Attribute, ValueLike, operation::OperationLike};
use std::collections::{HashMap, HashSet};

crate::pass_options! {
    /// Options of `separate-readers`.
    pub struct Options {
        group: i64 = "64", "Number of readers of a group; values with no more than twice as many stay whole";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "separate-readers",
    summary: "Split the readers of a value with very many of them into groups",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["bufferization", "memref"],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let group = usize::try_from(options.group).unwrap_or(1).max(1);
    for op in edit::walk(function) {
        for value in ir::results(op) {
            if ir::has_uses(value, group.saturating_mul(2).saturating_add(1))
                && ir::static_dims(value.r#type()).is_some()
                && has_plain_buffer(value)
            {
                separate(value, op, group)?;
            }
        }
    }
    Ok(())
}

/// True if the buffer of a tensor will be a whole one without memory space: its type has to be
/// stated before the buffer exists.
fn has_plain_buffer(mut value: Val<'_>) -> bool {
    loop {
        if !ir::is_tensor(value.r#type()) {
            return false;
        }
        let Some(owner) = edit::defining_op(value) else { return false };
        let operands = ir::operands(owner);
        value = match ir::op_name(owner) {
            "bufferization.to_tensor" => {
                return operands[0].r#type() == func::memref_like(value.r#type());
            }
            _ if effects::is_reshape(owner) => operands[0],
            _ if effects::is_free(owner) && operands.iter().all(|v| !keeps_elements(*v)) => {
                return true;
            }
            _ => {
                let own = ir::results(owner).iter().position(|result| *result == value);
                match own.and_then(|index| effects::destinations(owner).get(index).copied()) {
                    Some(destination) => destination,
                    None => return false,
                }
            }
        };
    }
}

/// True if a value is a tensor or a buffer.
fn keeps_elements(value: Val<'_>) -> bool {
    ir::is_tensor(value.r#type()) || types::keeps_buffer(value.r#type())
}

/// A use of a value that only reads it.
struct Reader<'c> {
    /// Position in the value's block of the reader, or of the operation around it.
    position: usize,
    op: Op<'c>,
    operand: usize,
}

fn separate<'c>(value: Val<'c>, owner: Op<'c>, group: usize) -> Result<(), PassError<'c>> {
    let Some(block) = owner.block() else { return Ok(()) };
    let all = ir::ops(block);
    let readers = readers(value, &all);
    if readers.len() <= 2 * group {
        return Ok(());
    }
    for readers in readers.chunks(group) {
        let (first, last) = (readers[0].position, readers[readers.len() - 1].position);
        let Some(behind) = all.get(last + 1) else { return Ok(()) };
        let before = Builder::before(all[first])?;
        let unit = Attribute::unit(before.context);
        let restrict = vec![("restrict", unit)];
        let buffer = to_buffer(&before, value)?;
        let alike =
            before.op1_with("bufferization.to_tensor", &[buffer], value.r#type(), restrict)?;
        for reader in readers {
            edit::set_operand(reader.op, reader.operand, alike)?;
        }
        to_buffer(&Builder::before(*behind)?, value)?;
    }
    Ok(())
}

fn to_buffer<'c>(at: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>, PassError<'c>> {
    let spec = OpSpec {
        operands: &[value],
        results: &[func::memref_like(value.r#type())],
        attributes: vec![("read_only", Attribute::unit(at.context))],
        ..Default::default()
    };
    Ok(ir::result0(at.create("bufferization.to_buffer", spec)?)?)
}

/// The uses of a value that only read it, in the order of the operations `all` of its block. Views
/// of it are left out, since their own readers would have to be found.
fn readers<'c>(value: Val<'c>, all: &[Op<'c>]) -> Vec<Reader<'c>> {
    let positions: HashMap<ir::Id, usize> =
        all.iter().enumerate().map(|(position, op)| (ir::id(*op), position)).collect();
    let mut seen = HashSet::new();
    let mut found = vec![];
    for op in ir::users(value).into_iter().filter(|op| seen.insert(ir::id(*op))) {
        let operands = ir::operands(op);
        let read = effects::destination_places(op).start;
        let position =
            std::iter::successors(Some(op), |op| op.parent_operation()).find_map(|around| {
                positions.get(&ir::id(around)).copied()
            });
        let (Some(position), false) = (position, operands[read..].contains(&value)) else {
            continue;
        };
        let own = (0..read).filter(|operand| operands[*operand] == value);
        found.extend(own.map(|operand| Reader { position, op, operand }));
    }
    found.sort_by_key(|reader| (reader.position, reader.operand));
    found
}

