//! `convert-strided-copies`: copies between buffers with holes become loops.
//!
//! Upstream lowers a `memref.copy` of such buffers to a call of a generic runtime function that
//! walks elements one by one through descriptors. Contiguous copies stay: they become memcpy. Devices
//! without such a function have `all` copies as loops.

use crate::{
    ir::{self, Builder, Op, OpSpec, edit},
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{Block, Region, RegionLike, ValueLike, attribute::DenseI32ArrayAttribute};

crate::pass_options! {
    /// Options of `convert-strided-copies`.
    pub struct Options {
        all: bool = "false", "Convert contiguous copies, too";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "convert-strided-copies",
    summary: "Turn copies between buffers that are not contiguous into linalg.generic",
    anchor: "func.func",
    options: Options::SPECS,
    dialects: &["linalg"],
    run,
};

fn run<'c>(function: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    for copy in edit::walk(function) {
        if ir::op_name(copy) != "memref.copy" {
            continue;
        }
        let buffers = ir::operands(copy);
        let contiguous = buffers.iter().all(|buffer| is_contiguous(&buffer.r#type().to_string()));
        if contiguous && !options.all {
            continue;
        }
        let builder = Builder::before(copy)?;
        let element = ir::element_type(buffers[0].r#type());
        let region = Region::new();
        let block = region
            .append_block(Block::new(&[(element, builder.location), (element, builder.location)]));
        let inner = Builder::at_end(builder.context, block, builder.location);
        let value = edit::arguments(block)[0];
        inner.create("linalg.yield", OpSpec { operands: &[value], ..Default::default() })?;
        let rank = ir::dims(buffers[0].r#type()).len();
        let dims: Vec<_> = (0..rank).map(|dim| format!("d{dim}")).collect();
        let map = format!("affine_map<({0}) -> ({0})>", dims.join(", "));
        let kinds = vec!["#linalg.iterator_type<parallel>"; rank].join(", ");
        let sizes = DenseI32ArrayAttribute::new(builder.context, &[1, 1]);
        let attributes = vec![
            ("indexing_maps", builder.parse_attr(&format!("[{map}, {map}]"))?),
            ("iterator_types", builder.parse_attr(&format!("[{kinds}]"))?),
            ("operandSegmentSizes", sizes.into()),
        ];
        let spec = OpSpec { operands: &buffers, attributes, regions: vec![region], ..Default::default() };
        builder.create("linalg.generic", spec)?;
        edit::erase(copy);
    }
    Ok(())
}

/// True for a memref type, as text, without a layout of its own.
fn is_contiguous(ty: &str) -> bool {
    !ty.contains("strided<") && !ty.contains("affine_map<")
}
