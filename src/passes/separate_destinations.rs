//! `separate-destinations`: operations that write over the same start value each get their own.
//!
//! ```text
//! %f = linalg.fill ins(%c) outs(%e)            %g = linalg.fill ins(%c) outs(%e2)
//! %a = linalg.matmul ... outs(%f)      -->     %a = linalg.matmul ... outs(%g)
//! %b = linalg.matmul ... outs(%f)              %f = linalg.fill ins(%c) outs(%e)
//!                                              %b = linalg.matmul ... outs(%f)
//! ```
//! cse makes one fill of equal ones. `eliminate-empty-tensors` then puts it into the buffer of the
//! output that one of the results is copied to at the end. Bufferization lets another result be
//! computed there too, because it does not see that the copy writes to that buffer.
//!
//! Each is made right before its use, so that the buffer is not in use for longer.
//!
//! The same goes for loops that begin with one value, and for calls. A value that was computed, and
//! is read after it may have been written over, is copied.
//!
//! In the same way each use of a `tensor.empty` gets one of its own, where cse made one of all of a
//! type. Nothing is computed for them, and bufferization looks at each pair of operations that might
//! share a buffer, which takes minutes for thousands of operations with one destination. A reshaped one
//! is one of the other shape, or else a copy of nothing is made for it.

use crate::{
    ir::{self, Builder, Op, OpSpec, Val, edit, effects, linalg},
    pass::{OptionValues, Pass, PassError},
};
use melior::ir::{
    Attribute, Block, Region, RegionLike, ValueLike, attribute::DenseI32ArrayAttribute,
    operation::OperationLike,
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "separate-destinations",
    summary: "Give each operation that overwrites a shared initial value one of its own",
    anchor: "func.func",
    options: &[],
    dialects: &["linalg", "tensor"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Result<(), PassError<'c>> {
    for op in edit::walk(function) {
        reshaped(op)?;
    }
    let ops = edit::walk(function);
    for op in &ops {
        // Bufferization compares writes over an argument with the argument's readers.
        if ir::op_name(*op) == "bufferization.materialize_in_destination" {
            continue;
        }
        for index in effects::overwritable_places(*op) {
            let start = ir::operands(*op)[index];
            let Some(owner) = edit::defining_op(start) else { continue };
            if !ir::is_tensor(start.r#type()) {
                continue;
            }
            if !is_shared(start, *op, index) {
                if is_start(owner) {
                    start_late(*op, owner);
                }
                continue;
            }
            if is_start(owner) {
                make_again(*op, index, owner)?;
            } else if ir::op_name(owner) != "tensor.empty" && is_read_later(start, *op, index) {
                copy(*op, index, start)?;
            }
        }
    }
    for empty in edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "tensor.empty") {
        separate(empty)?;
    }
    Ok(())
}

/// Makes a `tensor.empty` of the shape that another one is reshaped to.
fn reshaped<'c>(op: Op<'c>) -> Result<(), PassError<'c>> {
    if !effects::is_reshape(op) {
        return Ok(());
    }
    let result = ir::result0(op)?;
    let source = ir::operands(op).first().and_then(|source| edit::defining_op(*source));
    let is_empty = source.is_some_and(|source| ir::op_name(source) == "tensor.empty");
    if is_empty && ir::static_dims(result.r#type()).is_some() {
        edit::replace_uses(result, Builder::before(op)?.empty(result.r#type())?);
    }
    Ok(())
}

/// True if a value has a use besides the operand that is written over. An operation that reads each
/// element where it writes it may have the value twice.
fn is_shared<'c>(value: Val<'c>, op: Op<'c>, index: usize) -> bool {
    let by_one = || ir::users(value).into_iter().all(|user| edit::same(user, op));
    ir::has_uses(value, 2) && (ir::has_uses(value, 3) || !by_one() || !is_in_place(op, index))
}

/// Gives `op` a start value of its own, made as `owner` makes the shared one.
fn make_again<'c>(op: Op<'c>, index: usize, owner: Op<'c>) -> Result<(), PassError<'c>> {
    let builder = Builder::before(op)?;
    let copy = builder.insert_clone(owner);
    let start = ir::operands(op)[index];
    let empty = builder.with_location(owner.location()).empty(start.r#type())?;
    let written = ir::operands(copy).len() - 1;
    edit::set_operand(copy, written, empty)?;
    if let Some(empty) = edit::defining_op(empty) {
        edit::move_before(empty, copy);
    }
    edit::set_operand(op, index, ir::result0(copy)?)?;
    Ok(())
}

/// Moves the producer of a start value right before its only user. So its buffer is not in use from
/// the first of the ops on that shared it.
fn start_late<'c>(op: Op<'c>, owner: Op<'c>) {
    if op.block().is_some() && op.block() == owner.block() {
        edit::move_before(owner, op);
    }
}

/// True if a value that `op` may write over has another use that does not come before it.
/// Bufferization then has to copy the value, but may do so into the buffer of an output.
fn is_read_later<'c>(value: Val<'c>, op: Op<'c>, index: usize) -> bool {
    let users = ir::users(value);
    let reads_itself = users.iter().filter(|user| edit::same(**user, op)).count() > 1;
    reads_itself && !is_in_place(op, index)
        || users.into_iter().any(|user| !edit::same(user, op) && !is_earlier(user, op))
}

/// True if an operation comes before another one. For calls and loops of calls, a user inside of a
/// loop counts as that loop.
fn is_earlier<'c>(user: Op<'c>, op: Op<'c>) -> bool {
    let is_call = |op: Op<'c>| ir::op_name(op) == "tir.call_extern";
    if !is_call(op) && !edit::walk(op).into_iter().any(is_call) {
        return edit::is_before(user, op);
    }
    let mut around = Some(user);
    while let Some(one) = around {
        if one.block() == op.block() {
            return edit::is_before(one, op);
        }
        around = one.parent_operation();
    }
    false
}

/// True for an operation that reads each element of its destination only where it writes it: an
/// elementwise one that was given its input to write over.
fn is_in_place(op: Op<'_>, index: usize) -> bool {
    let operands = ir::operands(op);
    let maps = linalg::indexing_maps(op);
    let same = |(operand, map): (&Val<'_>, &Attribute<'_>)| {
        *operand != operands[index] || *map == maps[index]
    };
    linalg::is_parallel(op)
        && maps.len() == operands.len()
        && operands.iter().zip(&maps).all(same)
}

/// Lets `op` write over a copy of a value.
fn copy<'c>(op: Op<'c>, index: usize, value: Val<'c>) -> Result<(), PassError<'c>> {
    let builder = Builder::before(op)?;
    let empty = builder.empty(value.r#type())?;
    let element = ir::element_type(value.r#type());
    let region = Region::new();
    let location = builder.location;
    let block = region.append_block(Block::new(&[(element, location), (element, location)]));
    let inner = Builder::at_end(builder.context, block, location);
    let read = edit::arguments(block)[0];
    inner.create("linalg.yield", OpSpec { operands: &[read], ..Default::default() })?;
    let sizes = DenseI32ArrayAttribute::new(builder.context, &[1, 1]);
    let spec = OpSpec {
        operands: &[value, empty],
        results: &[value.r#type()],
        attributes: vec![("operandSegmentSizes", sizes.into())],
        regions: vec![region],
        ..Default::default()
    };
    let copied = builder.create("linalg.copy", spec)?;
    edit::set_operand(op, index, ir::result0(copied)?)?;
    Ok(())
}

/// Leaves an empty tensor to the first of its uses in MLIR's order, and makes a copy beside it for
/// each other one. An op that takes a part out shares the tensor with the op that puts the part
/// back: both are one place.
fn separate(empty: Op<'_>) -> crate::Result<()> {
    let shared = ir::result0(empty)?;
    let users = ir::users(shared);
    let called = |name: &'static str| users.iter().filter(move |user| ir::op_name(**user) == name);
    // An empty tensor may have thousands of users, but has few parts.
    let puts: Vec<_> = called("tensor.insert_slice").collect();
    let mut back: Vec<(Op<'_>, Op<'_>)> = vec![];
    for taken in called("tensor.extract_slice") {
        let put = puts.iter().find(|put| is_put_back(*taken, ***put));
        back.extend(put.map(|put| (*taken, **put)));
    }
    let is_taken = |user: &Op<'_>| back.iter().any(|(taken, _)| edit::same(*taken, *user));
    for user in users.iter().copied().filter(|user| !is_taken(user)).skip(1) {
        // An operation is listed once for each use.
        let own = |index: &usize| ir::operands(user).get(*index) == Some(&shared);
        if let Some(index) = (0..user.operand_count()).find(own) {
            edit::set_operand(user, index, ir::result0(edit::clone_before(empty, empty))?)?;
        }
    }
    for (taken, put) in back {
        if let Some(place) = ir::operands(put).get(1) {
            edit::set_operand(taken, 0, *place)?;
        }
    }
    Ok(())
}

/// True if a `tensor.extract_slice` takes the part of a tensor that a `tensor.insert_slice` puts
/// back.
fn is_put_back(taken: Op<'_>, put: Op<'_>) -> bool {
    let mut lists = ["static_offsets", "static_sizes", "static_strides"].into_iter();
    lists.all(|name| taken.attribute(name).ok() == put.attribute(name).ok())
        && ir::operands(taken).get(1..) == ir::operands(put).get(2..)
}

/// True for an operation that only initialises an accumulator: a fill, or elements spread over a
/// new tensor. Doing that twice is no more work than the copy that bufferization would make.
fn is_start(op: Op<'_>) -> bool {
    let last = ir::operands(op).last().copied();
    let into_empty =
        last.and_then(edit::defining_op).is_some_and(|owner| ir::op_name(owner) == "tensor.empty");
    linalg::is_parallel(op) && into_empty && op.result_count() == 1
}
