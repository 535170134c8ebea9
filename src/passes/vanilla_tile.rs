//! `vanilla-tile`: cuts layers into tiles that fit the scratchpad.
//!
//! A whole-layer call becomes loops over output channels, images, rows, columns and input
//! channels around calls on tiles. Where a tile touches a border of the image it gets a loop, or
//! a place, of its own, so that every tile has static sizes. Tiles are tensors in the memory space
//! of the scratchpad: bufferization makes buffers there, and copies to and from them.

use crate::{
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group},
        edit,
    },
    pass::{OptionValues, Pass, PassError, PassOptions},
    vanilla::{
        LAYER,
        elementwise::{self, is_elementwise},
        emit::Emitter,
        params::Params,
        tile::{Budget, Shape, Tile},
    },
};
use melior::ir::{ValueLike, operation::OperationLike};

crate::pass_options! {
    /// Options of `vanilla-tile`.
    pub struct Options {
        scratchpad: i64 = "65536", "Size of the scratchpad in bytes";
        double_buffer: bool = "true", "Leave room to load the next tile while one is computed on";
        out_channels: i64 = "0", "Output channels of a tile, a multiple of 8; 0 to choose";
        rows: i64 = "0", "Output rows of a tile; 0 to choose";
        columns: i64 = "0", "Output columns of a tile; 0 to choose";
        in_channels: i64 = "0", "Input channels of a tile; 0 to choose";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "vanilla-tile",
    summary: "Cut vanilla's layers into tiles that fit its scratchpad",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["arith", "bufferization", "scf", "tensor", "tir"],
    run,
};

/// What buffers in the scratchpad start at multiples of, in bytes.
pub const ALIGNMENT: i64 = 64;

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    if options.scratchpad <= 0 || options.out_channels % crate::vanilla::LANES != 0 {
        return Err(PassError::new(
            "vanilla-tile: scratchpad must be positive and out-channels a multiple of 8",
        ));
    }
    for op in edit::walk(function) {
        if op.has_attribute(LAYER)
            && let Some(call) = CallExtern::of(op)
        {
            tile(op, &call, &options)?;
        }
    }
    Ok(())
}

fn tile<'c>(op: Op<'c>, call: &CallExtern<'c>, options: &Options) -> Result<(), PassError<'c>> {
    let malformed = || {
        PassError::at(
            &op,
            "is marked as a layer of vanilla, but is not one that \
         vanilla-lower makes",
        )
    };
    let builder = Builder::before(op)?;
    let [output] = call.groups[Group::Outs as usize][..] else { return Err(malformed()) };
    // An uninitialised result may have become that of several layers; each needs its own.
    let is_empty = edit::defining_op(output).is_some_and(|op| ir::op_name(op) == "tensor.empty");
    let output = if is_empty { builder.empty(output.r#type())? } else { output };
    let result: Val<'c> = if is_elementwise(call) {
        // Two operands that are double buffered, and the result.
        let share = options.scratchpad / if options.double_buffer { 5 } else { 3 };
        elementwise::tile(&builder, call, output, share - ALIGNMENT)?
    } else {
        let params = Params::of(call).ok_or_else(malformed)?;
        let ins = &call.groups[Group::Ins as usize];
        let [input, weights] = ins[..ins.len().min(2)] else { return Err(malformed()) };
        let bias = ins.get(2).copied();
        let mut emitter = Emitter::new(builder, params, [input, weights], bias);
        emitter.tile = choose(op, &emitter.shape, options)?;
        emitter.emit(output)?
    };
    edit::replace_uses(ir::result0(op), result);
    edit::erase(op);
    Ok(())
}

/// The size of the tiles of a layer: the chosen one, but for what the options say.
fn choose<'c>(op: Op<'c>, shape: &Shape, options: &Options) -> Result<Tile, PassError<'c>> {
    let budget = Budget {
        bytes: options.scratchpad,
        alignment: ALIGNMENT,
        double_buffer: options.double_buffer,
    };
    let chosen = shape.choose(&budget).ok_or_else(|| {
        PassError::at(
            &op,
            format!(
                "has no tile that fits {} bytes of scratchpad: even one position of the output \
                 needs more for kernel {}x{}",
                options.scratchpad, shape.height.kernel, shape.width.kernel
            ),
        )
    })?;
    let or = |given: i64, chosen: i64, most: i64| if given > 0 { given.min(most) } else { chosen };
    Ok(Tile {
        out_c: or(options.out_channels, chosen.out_c, shape.out_c),
        height: or(options.rows, chosen.height, shape.height.output),
        width: or(options.columns, chosen.width, shape.width.output),
        in_c: or(options.in_channels, chosen.in_c, shape.in_c),
        ..chosen
    })
}
