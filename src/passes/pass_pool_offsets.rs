//! `pass-pool-offsets`: places of buffers in pools, as numbers.
//!
//! A device's calls take a buffer in one of its pools by the bytes from the start of that pool. C has
//! that as a number that the printer writes; elsewhere it is one in the IR, from here on: a constant, or
//! one that loops compute. Then calls have no buffers in pools, and nothing else may.
//!
//! ```mlir
//! %t = tir.buffer at 64 : memref<4xf32, #tir.space<"pool">>
//! tir.call_extern @run ins(%t : ...) args [#tir.arg<ins 0, offset>]
//! // becomes
//! tir.call_extern @run args [64 : i32]
//! ```

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group, arg_attr, arg_of, struct_of},
        edit, memref, size, tir,
        view::OpView,
    },
    pass::{PassResult, OptionValues, Pass, PassError},
};
use melior::{
    Context,
    ir::{Attribute, ValueLike, attribute::IntegerAttribute, r#type::IntegerType},
};

/// The pass.
pub const PASS: Pass = Pass {
    name: "pass-pool-offsets",
    summary: "Replace pool buffers in calls by their byte offsets",
    anchor: "func.func",
    options: &[],
    dialects: &["arith"],
    run,
};

fn run<'c>(function: Op<'c>, _: &OptionValues) -> PassResult<'c> {
    let ops = edit::walk(function);
    for op in &ops {
        if let Some(call) = CallExtern::of(*op) {
            pass_offsets(*op, call)?;
        }
    }
    // Those that use a buffer come after what makes it.
    for op in edit::walk(function).into_iter().rev() {
        let Some(value) = ir::results(op).first().copied().filter(|value| in_pool(*value)) else {
            continue;
        };
        if let Some(user) = ir::users(value).first() {
            return Err(PassError::at(
                user,
                "uses a buffer in a pool that only functions of the device reach: leave the \
                 operation to a call with a tile, or to the host",
            ));
        }
        if ir::op_name(op) != tir::Buffer::NAME && !memref::is_view(op) {
            return Err(PassError::at(&op, "makes a buffer in a pool that has no planned place"));
        }
        edit::erase(op);
    }
    Ok(())
}

fn in_pool(value: Val<'_>) -> bool {
    memref::space(value.r#type()).is_some()
}

/// Passes numbers for the buffers in pools.
fn pass_offsets<'c>(op: Op<'c>, mut call: CallExtern<'c>) -> PassResult<'c> {
    if !call.groups.iter().flatten().any(|value| in_pool(*value)) {
        return Ok(());
    }
    let builder = Builder::before(op)?;
    let buffers = [Group::Ins, Group::Outs];
    let mut passed = vec![];
    for group in buffers {
        for (index, value) in call.groups[group as usize].clone().into_iter().enumerate() {
            if !in_pool(value) {
                continue;
            }
            if call.args.iter().any(|argument| has(*argument, (group, index, false))) {
                return Err(PassError::at(
                    &op,
                    "passes the address of a buffer in a device's memory; pass its offset",
                ));
            }
            if call.args.iter().any(|argument| has(*argument, (group, index, true))) {
                let place = Place::of(op, value)?.argument(&builder, &mut call)?;
                passed.push(((group, index), place));
            }
        }
    }
    call.pass_in_place(builder.context, &passed, &|value| !in_pool(value))?;
    call.build(&builder, &[])?;
    edit::erase(op);
    Ok(())
}

/// True if an argument, or a field of it, is that operand, by its place or its address.
fn has(argument: Attribute<'_>, wanted: (Group, usize, bool)) -> bool {
    let fields = struct_of(argument).map(|(_, fields)| fields).unwrap_or_default();
    arg_of(argument) == Some(wanted) || fields.into_iter().any(|(_, value)| has(value, wanted))
}

/// Bytes from the start of a pool: a number, and values with their factors.
struct Place<'c> {
    bytes: i64,
    terms: Vec<(Val<'c>, i64)>,
}

impl<'c> Place<'c> {
    fn of(call: Op<'c>, value: Val<'c>) -> PassResult<'c, Self> {
        let unknown = || PassError::at(&call, "passes a buffer in a pool whose place is not known");
        let op = edit::defining_op(value).ok_or_else(unknown)?;
        if let Some(buffer) = tir::Buffer::of(op) {
            return Ok(Self { bytes: buffer.offset(), terms: vec![] });
        }
        let operands = ir::operands(op);
        let source = operands.first().copied().filter(|_| memref::is_view(op));
        let source = source.ok_or_else(unknown)?;
        if memref::is_whole(op) {
            return Self::of(call, source);
        }
        // A recast counts from the start of the memory, other parts from the buffer's.
        let recast = ir::op_name(op) == "memref.reinterpret_cast";
        let base = if recast { memref::base(source) } else { source };
        let mut place = Self::of(call, base)?;
        let element = size::element_bytes(ir::element_type(source.r#type())).ok_or_else(unknown)?;
        let strides = match recast {
            true => vec![1],
            false => memref::static_strides(source.r#type()).ok_or_else(unknown)?,
        };
        let offsets = ir::attr_i64s(op, "static_offsets").unwrap_or_default();
        let mut values = operands.iter().skip(1);
        for (known, stride) in offsets.iter().zip(strides) {
            let step = stride * element as i64;
            if *known == ir::DYNAMIC {
                place.terms.push((*values.next().ok_or_else(unknown)?, step));
            } else {
                place.bytes += known * step;
            }
        }
        Ok(place)
    }

    /// The argument to pass: a number as C's `uint32_t`, the type of offsets.
    fn argument(&self, builder: &Builder<'c>, call: &mut CallExtern<'c>) -> PassResult<'c, Attribute<'c>> {
        if self.terms.is_empty() {
            return Ok(number(builder.context, self.bytes));
        }
        let mut sum = builder.index(self.bytes)?;
        for (value, step) in &self.terms {
            let step = builder.index(*step)?;
            let bytes = builder.binary("arith.muli", *value, step)?;
            sum = builder.binary("arith.addi", sum, bytes)?;
        }
        let sum = builder.op1("arith.index_cast", &[sum], builder.int(32))?;
        let index = call.add(Group::Scalars, sum);
        Ok(arg_attr(builder.context, Group::Scalars, index))
    }
}

fn number(context: &Context, bytes: i64) -> Attribute<'_> {
    let bits = if i32::try_from(bytes).is_ok() { 32 } else { 64 };
    IntegerAttribute::new(IntegerType::new(context, bits).into(), bytes).into()
}
