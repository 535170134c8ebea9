//! Resampling.

use crate::ir::Val;
use crate::tensor::DType;

use super::super::context::NodeContext;
use super::super::emit::{Attr, OpError, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("AffineGrid", 20, 2..=2, affine_grid),
    OpEntry::with("GridSample", 16, 2..=2, grid_sample),
    OpEntry::with("Resize", 10, 1..=4, resize),
    OpEntry::with("RoiAlign", 10, 3..=3, roi_align),
    OpEntry::with("Upsample", 1, 1..=2, upsample),
];

/// An input that old operator sets give as an empty list to say that it is absent.
fn filled<'c>(node: &NodeContext<'_, 'c>, index: usize) -> Option<Val<'c>> {
    node.optional(index).filter(|value| node.dims(*value) != [0])
}

fn resize<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "X")?;
    let mode = node.attributes.choice("mode", &["nearest", "linear", "cubic"])?;
    if node.opset < 11 {
        node.expect_inputs(&(2..=2))?;
        return by_scales(node, x, node.input(1, "scales")?, mode);
    }
    let transformation =
        node.attributes.string_or("coordinate_transformation_mode", "half_pixel")?;
    let nearest = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"];
    let policies = ["stretch", "not_larger", "not_smaller"];
    if transformation == "tf_half_pixel_for_nn" {
        let reason = "coordinate_transformation_mode tf_half_pixel_for_nn is not supported";
        return Err(OpError::Unsupported(reason.to_string()));
    }
    let attributes: [(&'static str, Attr<'c>); 9] = [
        ("mode", mode.into()),
        ("coordinate_transformation_mode", transformation.into()),
        ("nearest_mode", node.attributes.choice("nearest_mode", &nearest)?.into()),
        ("cubic_coeff_a", node.attributes.float_or("cubic_coeff_a", -0.75)?.into()),
        ("exclude_outside", node.attributes.bool_or("exclude_outside", false)?.into()),
        ("extrapolation_value", node.attributes.float_or("extrapolation_value", 0.0)?.into()),
        ("antialias", node.attributes.bool_or("antialias", false)?.into()),
        (
            "keep_aspect_ratio_policy",
            node.attributes.choice("keep_aspect_ratio_policy", &policies)?.into(),
        ),
        ("axes", node.attributes.ints("axes")?.unwrap_or_default().into()),
    ];
    // Only this mode reads the region.
    let roi = filled(node, 1).filter(|_| transformation == "tf_crop_and_resize");
    let operands = [Some(x), roi, filled(node, 2), filled(node, 3)];
    node.emitter.op_with_optionals("resize", &operands, &attributes)
}

/// Resize with the meaning before operator set 11: the first element stays in place, and the
/// nearest element is the one before.
fn by_scales<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    scales: Val<'c>,
    mode: &str,
) -> OpResult<Vec<Val<'c>>> {
    let attributes = [
        ("mode", mode.into()),
        ("coordinate_transformation_mode", "asymmetric".into()),
        ("nearest_mode", "floor".into()),
    ];
    node.emitter.op_with_optionals("resize", &[Some(x), None, Some(scales), None], &attributes)
}

/// Scales are an attribute before operator set 9.
fn upsample<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "X")?;
    // "bilinear" is an old word for it.
    let mode = match node.attributes.string_or("mode", "nearest")? {
        "bilinear" => "linear",
        mode => mode,
    };
    let scales = if node.opset >= 9 {
        node.expect_inputs(&(2..=2))?;
        node.input(1, "scales")?
    } else {
        node.expect_inputs(&(1..=1))?;
        let scales =
            node.attributes.floats("scales")?.ok_or("the attribute `scales` is missing")?;
        let scales: Vec<f64> = scales.into_iter().map(f64::from).collect();
        node.constant_of(DType::F32, &[scales.len()], &scales)?
    };
    by_scales(node, x, scales, mode)
}

/// Before operator set 20, modes had the names that they have for images.
fn grid_sample<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let mode = match node.attributes.string_or("mode", "linear")? {
        "bilinear" => "linear",
        "bicubic" => "cubic",
        mode => mode,
    };
    let padding = node.attributes.choice("padding_mode", &["zeros", "border", "reflection"])?;
    let attributes = [
        ("mode", mode.into()),
        ("padding_mode", padding.into()),
        ("align_corners", node.attributes.bool_or("align_corners", false)?.into()),
    ];
    node.emitter.op("grid_sample", &node.all_inputs()?, &attributes)
}

/// Before operator set 16, the corners of a region are not moved by half an element.
fn roi_align<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let usual = if node.opset < 16 { "output_half_pixel" } else { "half_pixel" };
    let half_pixel = match node.attributes.string_or("coordinate_transformation_mode", usual)? {
        "half_pixel" => true,
        "output_half_pixel" => false,
        other => {
            let reason = format!("coordinate_transformation_mode \"{other}\" is not known");
            return Err(OpError::Invalid(reason));
        }
    };
    let attributes = [
        ("mode", node.attributes.choice("mode", &["avg", "max"])?.into()),
        ("output_height", node.attributes.int_or("output_height", 1)?.into()),
        ("output_width", node.attributes.int_or("output_width", 1)?.into()),
        ("sampling_ratio", node.attributes.int_or("sampling_ratio", 0)?.into()),
        ("spatial_scale", node.attributes.float_or("spatial_scale", 1.0)?.into()),
        ("half_pixel", half_pixel.into()),
    ];
    node.emitter.op("roi_align", &node.all_inputs()?, &attributes)
}

/// Most points of a grid that is computed here.
const MAX_GRID: i64 = 1 << 24;

/// The points of a regular grid, transformed by each matrix of `theta`.
fn affine_grid<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let theta = node.input(0, "theta")?;
    let size = node.known_ints(1, "size")?.ok_or("the input size is missing")?;
    let corners = node.attributes.bool_or("align_corners", false)?;
    let spatial = size.get(2..).filter(|dims| matches!(dims.len(), 2 | 3));
    let spatial = spatial.ok_or("`size` must have 4 or 5 elements")?;
    let points = spatial.iter().try_fold(1i64, |count, dim| count.checked_mul(*dim));
    let points = points
        .filter(|count| (0..=MAX_GRID).contains(count) && spatial.iter().all(|dim| *dim >= 0))
        .ok_or_else(|| format!("`size` is out of range: {size:?}"))?;
    let coordinate = |index: i64, dim: i64| match (corners, dim) {
        (true, 1) => -1.0,
        (true, _) => 2.0 * index as f64 / (dim - 1) as f64 - 1.0,
        (false, _) => (2 * index + 1) as f64 / dim as f64 - 1.0,
    };
    // Rows (x, y, 1) or (x, y, z, 1): the last dimension comes first.
    let mut rows = Vec::new();
    for point in 0..points {
        let mut rest = point;
        for dim in spatial.iter().rev() {
            rows.push(coordinate(rest % dim, *dim));
            rest /= dim;
        }
        rows.push(1.0);
    }
    let rank = spatial.len();
    let grid = node.constant_of(node.dtype(theta)?, &[points as usize, rank + 1], &rows)?;
    let turned = node.transpose(theta, &[0, 2, 1])?;
    let moved = node.binary("matmul", grid, turned)?;
    let mut shape = vec![size[0]];
    shape.extend(spatial);
    shape.push(rank as i64);
    Ok(vec![node.reshape(moved, &shape)?])
}
