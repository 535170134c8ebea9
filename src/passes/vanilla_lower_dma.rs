//! `vanilla-lower-dma`: turns DMA transfers into calls of vanilla's functions.
//!
//! The device knows a transfer by its channel, so tokens go away: a wait names the channel of the
//! transfer that it waits for.

use crate::{
    ir::{
        self, Blk, Builder, Op, OpSpec, Val,
        call_extern::{CallExtern, Group, arg_attr},
        edit, memref,
    },
    pass::{OptionValues, Pass, PassError},
    vanilla::HEADER,
};
use melior::ir::{Attribute, Block, Region, RegionLike, Type, ValueLike, block::BlockLike};

/// The pass.
pub const PASS: Pass = Pass {
    name: "vanilla-lower-dma",
    summary: "Turn DMA transfers into calls of vanilla's functions",
    anchor: "func.func",
    options: &[],
    dialects: &["scf", "tir"],
    run,
};

type Failure<'c, T = ()> = Result<T, PassError<'c>>;

fn run<'c>(function: Op<'c>, _: &OptionValues) -> Failure<'c> {
    let ops = edit::walk(function);
    let mut starts = vec![];
    for op in &ops {
        match ir::op_name(*op) {
            "tir.dma_wait" => {
                let channel = channel_of(*op, ir::operands(*op)[0], 0)?;
                wait(*op, channel)?;
            }
            "tir.dma_start" => starts.push(*op),
            "tir.dma_copy" => {
                return Err(PassError::at(op, "is no split transfer: run tir-insert-dma"));
            }
            _ => {}
        }
    }
    let carries = |op: &Op<'c>| {
        ir::op_name(*op) == "scf.for"
            && ir::results(*op).iter().any(|value| is_token(value.r#type()))
    };
    // Inner loops come after the loops around them, so they are rebuilt first.
    for op in function_loops(function).into_iter().rev().filter(carries) {
        drop_tokens(op)?;
    }
    for start in starts {
        lower_start(start)?;
    }
    Ok(())
}

fn function_loops<'c>(function: Op<'c>) -> Vec<Op<'c>> {
    edit::walk(function).into_iter().filter(|op| ir::op_name(*op) == "scf.for").collect()
}

fn is_token(ty: Type<'_>) -> bool {
    // SAFETY: takes any type.
    unsafe { crate::ffi::phlTirTypeIsToken(melior::ir::TypeLike::to_raw(&ty)) }
}

/// The channel of the transfer that a token stands for.
fn channel_of<'c>(wait: Op<'c>, token: Val<'c>, depth: usize) -> Failure<'c, i64> {
    let unknown = || {
        PassError::at(
            &wait,
            "waits for a transfer whose channel is not known when compiling: \
             carry each token from one place, and give its transfer a number as channel",
        )
    };
    if depth > 64 {
        return Err(unknown());
    }
    if let Some((block, index)) = edit::owner_block(token) {
        // An argument of a loop, after the induction variable and three bounds.
        let parent = block.parent_operation().filter(|op| ir::op_name(*op) == "scf.for");
        let parent = parent.ok_or_else(unknown)?;
        // SAFETY: the operation lives as long as its block.
        let parent = unsafe { Op::from_raw(parent.to_raw()) };
        let initial = *ir::operands(parent).get(index + 2).ok_or_else(unknown)?;
        let from_outside = channel_of(wait, initial, depth + 1)?;
        let yielded =
            ir::ops(block).last().and_then(|op| ir::operands(*op).get(index - 1).copied());
        let start = yielded.and_then(edit::defining_op);
        let inside = start.filter(|op| ir::op_name(*op) == "tir.dma_start");
        let same = inside.is_none_or(|op| static_channel(op) == Some(from_outside));
        return if same { Ok(from_outside) } else { Err(unknown()) };
    }
    let op = edit::defining_op(token).ok_or_else(unknown)?;
    match ir::op_name(op) {
        "tir.dma_start" => static_channel(op).ok_or_else(unknown),
        "scf.for" => {
            let results = ir::results(op);
            let index = results.iter().position(|value| *value == token).ok_or_else(unknown)?;
            let initial = *ir::operands(op).get(index + 3).ok_or_else(unknown)?;
            channel_of(wait, initial, depth + 1)
        }
        _ => Err(unknown()),
    }
}

fn static_channel(start: Op<'_>) -> Option<i64> {
    ir::attr_i64(start, "static_channel")
}

/// A call of one of the device's functions, without operands.
fn device_call<'c>(b: &Builder<'c>, name: &str) -> CallExtern<'c> {
    let mut call = CallExtern::new(name);
    let unit = Attribute::unit(b.context);
    call.set("header", b.str_attr(HEADER));
    call.set("with_device", unit);
    call.set("returns_status", unit);
    call
}

fn wait<'c>(op: Op<'c>, channel: i64) -> Failure<'c> {
    let b = Builder::before(op)?;
    let mut call = device_call(&b, "vanilla_dma_wait");
    call.args.push(b.parse_attr(&format!("{channel} : i32"))?);
    call.build(&b, &[])?;
    edit::erase(op);
    Ok(())
}

fn lower_start<'c>(op: Op<'c>) -> Failure<'c> {
    let b = Builder::before(op)?;
    let [source, target] = ir::operands(op)[..] else {
        return Err(PassError::at(&op, "has a channel that is computed; vanilla's are numbers"));
    };
    let loads = memref::space(target.r#type()).is_some();
    if loads == memref::space(source.r#type()).is_some() {
        return Err(PassError::at(&op, "is not between host memory and the scratchpad"));
    }
    let (host, tile) = if loads { (source, target) } else { (target, source) };
    let name = if loads { "vanilla_dma_in_start" } else { "vanilla_dma_out_start" };
    let mut call = device_call(&b, name);
    call.set("strided", Attribute::unit(b.context));
    let (host_group, tile_group) =
        if loads { (Group::Ins, Group::Outs) } else { (Group::Outs, Group::Ins) };
    let host_index = call.add(host_group, host);
    let tile_index = call.add(tile_group, tile);
    let host_argument = arg_attr(b.context, host_group, host_index);
    let tile_argument = arg_attr(b.context, tile_group, tile_index).to_string();
    let tile_argument = b.parse_attr(&tile_argument.replace('>', ", offset>"))?;
    let shape = shape(&b, op, host.r#type(), tile.r#type())?;
    let channel = static_channel(op).unwrap_or_default();
    let channel = b.parse_attr(&format!("{channel} : i32"))?;
    call.args = if loads {
        vec![tile_argument, host_argument, shape, channel]
    } else {
        vec![tile_argument, shape, channel, host_argument]
    };
    call.build(&b, &[])?;
    edit::erase(op);
    Ok(())
}

/// The `vanilla_dma_shape` of a transfer: dimensions of four bytes, outermost first.
fn shape<'c>(
    b: &Builder<'c>,
    op: Op<'c>,
    host: Type<'c>,
    tile: Type<'c>,
) -> Failure<'c, Attribute<'c>> {
    let dims = ir::dims(tile);
    let strides = [host, tile].map(memref::static_strides);
    let ([Some(host), Some(spad)], "f32") = (strides, &*ir::element_type(tile).to_string()) else {
        return Err(PassError::at(&op, format!("copies {tile}; vanilla has 32-bit floats only")));
    };
    let lead = 4 - dims.len().min(4);
    let list = |values: &[i64], factor: i64, filler: i64| {
        let values = values.iter().map(|value| (value * factor).to_string());
        let all: Vec<_> = std::iter::repeat_n(filler.to_string(), lead).chain(values).collect();
        format!("array<i64: {}>", all.join(", "))
    };
    Ok(b.parse_attr(&format!(
        "#tir.struct<\"vanilla_dma_shape\", {{count = {}, host_stride = {}, spad_stride = {}}}>",
        list(&dims, 1, 1),
        list(&host, 4, 0),
        list(&spad, 4, 0)
    ))?)
}

/// Builds a loop again that carried only tokens, without them.
fn drop_tokens<'c>(op: Op<'c>) -> Failure<'c> {
    let results = ir::results(op);
    if !results.iter().all(|value| is_token(value.r#type())) {
        return Err(PassError::at(&op, "carries tokens of transfers together with other values"));
    }
    let b = Builder::before(op)?;
    let body = edit::entry_block(op).ok_or_else(|| PassError::at(&op, "has no body"))?;
    let region = Region::new();
    let block = region.append_block(Block::new(&[(b.index_type(), b.location)]));
    // SAFETY: the block belongs to the region that the loop takes over, so it lives on.
    let block = unsafe { Blk::from_raw(block.to_raw()) };
    edit::replace_uses(edit::arguments(body)[0], edit::arguments(block)[0]);
    for inner in ir::ops(body) {
        if ir::op_name(inner) != "scf.yield" {
            edit::move_to_end(inner, block);
        }
    }
    Builder::at_end(b.context, block, b.location).create("scf.yield", OpSpec::default())?;
    let bounds = &ir::operands(op)[..3];
    let spec = OpSpec { operands: bounds, regions: vec![region], ..Default::default() };
    b.create("scf.for", spec)?;
    edit::erase(op);
    Ok(())
}
