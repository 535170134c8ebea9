//! Operators that change the size of images, or move blocks of them.

use super::{
    Entry, op,
    shape::{carried, put},
};
use crate::{
    import::tflite::{
        node::{Node, Outcome},
        schema::{
            DepthToSpaceOptions, MirrorPadOptions, ResizeBilinearOptions, ResizeNearestOptions,
            SpaceToDepthOptions,
        },
        value::Layout,
    },
    ir::{self, Val, graph},
};
use melior::ir::ValueLike;

pub(super) const OPS: &[Entry] = &[
    op(5, "DEPTH_TO_SPACE", 1..=1, depth_to_space),
    op(23, "RESIZE_BILINEAR", 2..=2, resize_bilinear),
    op(26, "SPACE_TO_DEPTH", 1..=1, space_to_depth),
    op(34, "PAD", 2..=2, pad),
    op(37, "BATCH_TO_SPACE_ND", 3..=3, batch_to_space),
    op(38, "SPACE_TO_BATCH_ND", 3..=3, space_to_batch),
    op(60, "PADV2", 3..=3, pad_value),
    op(97, "RESIZE_NEAREST_NEIGHBOR", 2..=2, resize_nearest),
    op(100, "MIRROR_PAD", 2..=2, mirror_pad),
];

/// Padding before each dimension, then behind each, in a layout.
fn pads(node: &Node<'_, '_>, layout: Layout) -> Outcome<Vec<i64>> {
    let rank = node.tensor(0)?.dims.len();
    let listed = node.integers(1)?;
    if listed.len() != 2 * rank {
        return Err(format!("{} paddings are not two for each of {rank} dimensions", listed.len()));
    }
    let mut pads = vec![0; 2 * rank];
    for dim in 0..rank {
        let place = layout.position(dim, rank);
        pads[place] = listed[2 * dim];
        pads[rank + place] = listed[2 * dim + 1];
    }
    Ok(pads)
}

fn padded<'c>(node: &mut Node<'_, 'c>, value: Option<Val<'c>>, mode: &str) -> Outcome<()> {
    let layout = node.layout(&[0]);
    let pads = pads(node, layout)?;
    let x = node.real(0, layout)?;
    let pads = node.list(&pads)?;
    let attributes = graph::PadAttrs { mode: mode.to_owned() };
    let y = node.done(graph::Pad::build(&node.builder, x, pads, value, None, attributes))?.y();
    node.set(0, y, layout)
}

fn pad(node: &mut Node<'_, '_>) -> Outcome<()> {
    padded(node, None, "constant")
}

fn pad_value(node: &mut Node<'_, '_>) -> Outcome<()> {
    let value = node.real(2, Layout::Last)?;
    let value = node.reshaped(value, &[])?;
    padded(node, Some(value), "constant")
}

fn mirror_pad(node: &mut Node<'_, '_>) -> Outcome<()> {
    if node.options::<MirrorPadOptions<'_>>()?.mode() != 0 {
        return Err("mirrors that repeat the edge (SYMMETRIC) are not supported".into());
    }
    padded(node, None, "reflect")
}

/// Coordinate mapping of a resized image to the operand.
fn coordinates(align_corners: bool, half_pixel_centers: bool) -> &'static str {
    match (align_corners, half_pixel_centers) {
        (true, _) => "align_corners",
        (false, true) => "half_pixel",
        (false, false) => "asymmetric",
    }
}

fn resize(node: &mut Node<'_, '_>, attributes: graph::ResizeAttrs) -> Outcome<()> {
    let sizes = node.integers(1)?;
    let &[h, w] = sizes.as_slice() else {
        return Err(format!("{sizes:?} is not a height and a width"));
    };
    if h < 1 || w < 1 {
        return Err(format!("the size {sizes:?} must be positive"));
    }
    let x = node.real(0, Layout::First)?;
    let sizes = node.list(&[h, w])?;
    let attributes = graph::ResizeAttrs { axes: vec![2, 3], ..attributes };
    let y = graph::Resize::build(&node.builder, x, None, None, Some(sizes), attributes);
    let y = node.done(y)?.y();
    node.set(0, y, Layout::First)
}

fn resize_bilinear(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: ResizeBilinearOptions<'_> = node.options()?;
    let mode = coordinates(options.align_corners(), options.half_pixel_centers());
    resize(
        node,
        graph::ResizeAttrs {
            mode: "linear".to_owned(),
            coordinate_transformation_mode: mode.to_owned(),
            ..Default::default()
        },
    )
}

/// The element at the left of a position; the next one, halves upwards, where corners are aligned or
/// positions are those of the centers.
fn resize_nearest(node: &mut Node<'_, '_>) -> Outcome<()> {
    let options: ResizeNearestOptions<'_> = node.options()?;
    let mode = coordinates(options.align_corners(), options.half_pixel_centers());
    let nearest = if mode == "asymmetric" { "floor" } else { "round_prefer_ceil" };
    resize(
        node,
        graph::ResizeAttrs {
            mode: "nearest".to_owned(),
            coordinate_transformation_mode: mode.to_owned(),
            nearest_mode: nearest.to_owned(),
            ..Default::default()
        },
    )
}

fn depth_to_space(node: &mut Node<'_, '_>) -> Outcome<()> {
    let block = i64::from(node.options::<DepthToSpaceOptions<'_>>()?.block_size());
    let (x, stored) = carried(node, 0, Layout::First)?;
    let attributes = graph::DepthToSpaceAttrs::default();
    let y = node.done(graph::DepthToSpace::build(&node.builder, x, block, attributes))?.y();
    put(node, (y, stored), Layout::First)
}

fn space_to_depth(node: &mut Node<'_, '_>) -> Outcome<()> {
    let block = i64::from(node.options::<SpaceToDepthOptions<'_>>()?.block_size());
    let (x, stored) = carried(node, 0, Layout::First)?;
    let y = node.done(graph::SpaceToDepth::build(&node.builder, x, block))?.y();
    put(node, (y, stored), Layout::First)
}

/// The elements of a block.
fn volume(blocks: &[i64]) -> Outcome<i64> {
    let product = blocks.iter().try_fold(1_i64, |product, block| product.checked_mul(*block));
    product.ok_or_else(|| format!("blocks of {blocks:?} are too large"))
}

/// Sizes of blocks, and the amounts added to or cut off each blocked dimension.
fn blocks(node: &Node<'_, '_>, dims: &[i64]) -> Outcome<(Vec<i64>, Vec<i64>)> {
    let (blocks, edges) = (node.integers(1)?, node.integers(2)?);
    let fits = blocks.iter().all(|block| *block >= 1)
        && edges.len() == 2 * blocks.len()
        && blocks.len() < dims.len()
        && edges.iter().all(|edge| *edge >= 0)
        && !dims.contains(&ir::DYNAMIC);
    match fits {
        true => Ok((blocks, edges)),
        false => Err(format!("blocks {blocks:?} and edges {edges:?} do not fit {dims:?}")),
    }
}

fn space_to_batch(node: &mut Node<'_, '_>) -> Outcome<()> {
    let x = node.real(0, Layout::Last)?;
    let mut dims = ir::dims(x.r#type());
    let (blocks, edges) = blocks(node, &dims)?;
    let (rank, count) = (dims.len(), blocks.len());
    let mut pads = vec![0; 2 * rank];
    for dim in 0..count {
        pads[1 + dim] = edges[2 * dim];
        pads[rank + 1 + dim] = edges[2 * dim + 1];
        dims[1 + dim] += edges[2 * dim] + edges[2 * dim + 1];
        if dims[1 + dim] % blocks[dim] != 0 {
            return Err(format!("blocks of {} do not divide {}", blocks[dim], dims[1 + dim]));
        }
    }
    let pads = node.list(&pads)?;
    let attributes = graph::PadAttrs::default();
    let x = node.done(graph::Pad::build(&node.builder, x, pads, None, None, attributes))?.y();
    // [N, D / block, block, ..., rest] with the blocks first.
    let mut split = vec![dims[0]];
    for dim in 0..count {
        split.extend([dims[1 + dim] / blocks[dim], blocks[dim]]);
    }
    split.extend(&dims[1 + count..]);
    let inner = (0..count as i64).map(|dim| 2 + 2 * dim);
    let outer = (0..count as i64).map(|dim| 1 + 2 * dim);
    let rest = 1 + 2 * count as i64..split.len() as i64;
    let perm: Vec<i64> = inner.chain([0]).chain(outer).chain(rest).collect();
    let x = node.reshaped(x, &split)?;
    let x = node.transposed(x, &perm)?;
    let mut to = vec![dims[0].saturating_mul(volume(&blocks)?)];
    to.extend((0..count).map(|dim| dims[1 + dim] / blocks[dim]));
    to.extend(&dims[1 + count..]);
    let y = node.reshaped(x, &to)?;
    node.set(0, y, Layout::Last)
}

fn batch_to_space(node: &mut Node<'_, '_>) -> Outcome<()> {
    let x = node.real(0, Layout::Last)?;
    let dims = ir::dims(x.r#type());
    let (blocks, edges) = blocks(node, &dims)?;
    let count = blocks.len();
    let volume = volume(&blocks)?;
    if dims[0] % volume != 0 {
        return Err(format!("blocks of {volume} elements do not divide a batch of {}", dims[0]));
    }
    let batch = dims[0] / volume;
    // [blocks, N, D, ..., rest] with each block behind its dimension.
    let split: Vec<i64> =
        blocks.iter().copied().chain([batch]).chain(dims[1..].iter().copied()).collect();
    let mut perm = vec![count as i64];
    for dim in 0..count as i64 {
        perm.extend([count as i64 + 1 + dim, dim]);
    }
    perm.extend(2 * count as i64 + 1..split.len() as i64);
    let x = node.reshaped(x, &split)?;
    let x = node.transposed(x, &perm)?;
    let mut to = vec![batch];
    to.extend((0..count).map(|dim| dims[1 + dim] * blocks[dim]));
    to.extend(&dims[1 + count..]);
    let y = node.reshaped(x, &to)?;
    let starts: Vec<i64> = (0..count).map(|dim| edges[2 * dim]).collect();
    let ends: Vec<i64> = (0..count).map(|dim| to[1 + dim] - edges[2 * dim + 1]).collect();
    let axes: Vec<i64> = (1..=count as i64).collect();
    let y = super::select::sliced(node, y, [&starts, &ends, &axes, &vec![1; count]])?;
    node.set(0, y, Layout::Last)
}
