//! Convolutions.

use crate::ir::Val;

use super::super::context::{Extent, NodeContext};
use super::super::emit::{Attr, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("CausalConvWithState", 27, 2..=4, causal_conv),
    OpEntry::with("Conv", 1, 2..=3, conv),
    OpEntry::with("ConvInteger", 10, 2..=4, conv_integer),
    OpEntry::with("ConvTranspose", 1, 2..=3, conv_transpose),
    OpEntry::with("QLinearConv", 10, 8..=9, qlinear_conv),
];

/// Bound of what the lists of a window may hold. Products with sizes of tensors then fit an `i64`.
const MAX_WINDOW: i64 = 1 << 22;

/// A window that slides over spatial dimensions: lists as long as there are dimensions.
pub(super) struct Window {
    pub(super) kernel: Vec<i64>,
    pub(super) strides: Vec<i64>,
    pub(super) dilations: Vec<i64>,
    /// All begins, then all ends.
    pub(super) pads: Vec<i64>,
}

impl Window {
    /// Reads the attributes of a node; `kernel` is the size of the window.
    pub(super) fn read(node: &NodeContext<'_, '_>, kernel: Vec<i64>) -> OpResult<Self> {
        let rank = kernel.len();
        let list = |name: &str, length: usize, default: i64| -> OpResult<Vec<i64>> {
            let list = node.attributes.ints(name)?.unwrap_or_default();
            let list = if list.is_empty() { vec![default; length] } else { list };
            if list.len() != length {
                let message =
                    format!("attribute `{name}` has {} elements, expected {length}", list.len());
                return Err(message.into());
            }
            if list.iter().any(|value| !(default..=MAX_WINDOW).contains(value)) {
                return Err(format!("attribute `{name}` is out of range: {list:?}").into());
            }
            Ok(list)
        };
        let window = Self {
            strides: list("strides", rank, 1)?,
            dilations: list("dilations", rank, 1)?,
            pads: list("pads", 2 * rank, 0)?,
            kernel,
        };
        if window.kernel.iter().any(|value| !(1..=MAX_WINDOW).contains(value)) {
            return Err(format!("the kernel size is out of range: {:?}", window.kernel).into());
        }
        Ok(window)
    }

    /// The distance that one position covers along a dimension.
    pub(super) fn extent(&self, axis: usize) -> i64 {
        (self.kernel[axis] - 1) * self.dilations[axis] + 1
    }

    /// Resolves `auto_pad` for an input `x` of known size: as many positions as the stride divides
    /// the input into ("same"), or those that need no padding ("valid").
    pub(super) fn resolve_auto_pad(
        &mut self,
        node: &NodeContext<'_, '_>,
        x: Val<'_>,
    ) -> OpResult<()> {
        let mode = auto_pad(node)?;
        let rank = self.kernel.len();
        match mode {
            "NOTSET" => {}
            "VALID" => self.pads = vec![0; 2 * rank],
            _ => {
                let dims = crate::ir::dims(melior::ir::ValueLike::r#type(&x));
                for axis in 0..rank {
                    let size = dims.get(axis + 2).copied().filter(|size| *size >= 0);
                    // Steps of one keep any size.
                    let size = size.or((self.strides[axis] == 1).then_some(1));
                    let size = size.ok_or_else(|| {
                        super::super::emit::OpError::Unsupported(format!(
                            "auto_pad {mode} needs known spatial dimensions; give input shapes \
                             with --shape"
                        ))
                    })?;
                    let stride = self.strides[axis];
                    // As (positions - 1) * stride, but also right for an empty input.
                    let last = (size - 1).div_euclid(stride) * stride;
                    let total = (last + self.extent(axis) - size).max(0);
                    let less = total / 2;
                    let (begin, end) = match mode {
                        "SAME_UPPER" => (less, total - less),
                        _ => (total - less, less),
                    };
                    (self.pads[axis], self.pads[axis + rank]) = (begin, end);
                }
            }
        }
        Ok(())
    }
}

fn auto_pad(node: &NodeContext<'_, '_>) -> OpResult<&'static str> {
    let modes = ["NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"];
    // Some exporters write an empty word for the default.
    if node.attributes.string("auto_pad").ok().flatten() == Some("") {
        return Ok(modes[0]);
    }
    Ok(node.attributes.choice("auto_pad", &modes)?)
}

/// The spatial sizes of a filter, which `kernel_shape` may repeat.
pub(super) fn kernel_of<'c>(node: &NodeContext<'_, 'c>, w: Val<'c>) -> OpResult<Vec<i64>> {
    let declared = node.attributes.ints("kernel_shape")?.filter(|list| !list.is_empty());
    let dims = node.dims(w);
    let Some(spatial) = dims.get(2..) else {
        return Err(format!("the filter has rank {}, expected 3 or more", dims.len()).into());
    };
    if let Some(declared) = declared {
        let fits = declared.len() == spatial.len()
            && declared.iter().zip(spatial).all(|(have, dim)| have == dim || *dim < 0);
        if !fits {
            return Err(format!(
                "kernel_shape is {declared:?}, but the filter has the spatial size {spatial:?}"
            )
            .into());
        }
        return Ok(declared);
    }
    node.static_dims(w, "the filter").map(|dims| dims[2..].to_vec())
}

/// The attributes of a convolution of `x` with `w`.
fn conv_attributes<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    w: Val<'c>,
) -> OpResult<Vec<(&'static str, Attr<'c>)>> {
    let mut window = Window::read(node, kernel_of(node, w)?)?;
    window.resolve_auto_pad(node, x)?;
    let group = node.attributes.int_or("group", 1)?;
    Ok(vec![
        ("strides", window.strides.into()),
        ("pads", window.pads.into()),
        ("dilations", window.dilations.into()),
        ("group", group.into()),
    ])
}

pub(super) fn conv<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (x, w) = (node.input(0, "X")?, node.input(1, "W")?);
    let operands: Vec<_> = [Some(x), Some(w), node.optional(2)].into_iter().flatten().collect();
    node.emitter.op("conv", &operands, &conv_attributes(node, x, w)?)
}

fn conv_integer<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (x, w) = (node.input(0, "x")?, node.input(1, "w")?);
    let operands = [Some(x), Some(w), node.optional(2), node.optional(3)];
    node.emitter.op_with_optionals("conv_integer", &operands, &conv_attributes(node, x, w)?)
}

fn qlinear_conv<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let names =
        ["x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point"];
    let mut operands = Vec::new();
    for (index, name) in names.iter().enumerate() {
        operands.push(node.input(index, name)?);
    }
    operands.extend(node.optional(8));
    let attributes = conv_attributes(node, operands[0], operands[3])?;
    node.emitter.op("qlinear_conv", &operands, &attributes)
}

fn conv_transpose<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (x, w) = (node.input(0, "X")?, node.input(1, "W")?);
    let mut window = Window::read(node, kernel_of(node, w)?)?;
    let rank = window.kernel.len();
    let mut output_padding = node.attributes.ints("output_padding")?.unwrap_or_default();
    output_padding.resize(rank.max(output_padding.len()), 0);
    if output_padding.len() != rank {
        return Err(format!("attribute `output_padding` must have {rank} elements").into());
    }
    check_range("output_padding", &output_padding)?;
    let group = node.attributes.int_or("group", 1)?;
    if let Some(target) = transpose_target(node, x, &window)? {
        for axis in 0..rank {
            let size = node.static_dim(x, axis + 2, "X")?;
            let full =
                window.strides[axis] * (size - 1) + output_padding[axis] + window.extent(axis);
            let total = full - target[axis];
            // A target beyond what the filter reaches is made up of zeros at the far end.
            output_padding[axis] += (-total).max(0);
            let total = total.max(0);
            let less = total / 2;
            let upper = auto_pad(node)? == "SAME_UPPER";
            let (begin, end) = if upper { (less, total - less) } else { (total - less, less) };
            (window.pads[axis], window.pads[axis + rank]) = (begin, end);
        }
    }
    let operands: Vec<_> = [Some(x), Some(w), node.optional(2)].into_iter().flatten().collect();
    node.emitter.op(
        "conv_transpose",
        &operands,
        &[
            ("strides", window.strides.into()),
            ("pads", window.pads.into()),
            ("dilations", window.dilations.into()),
            ("group", group.into()),
            ("output_padding", output_padding.into()),
        ],
    )
}

/// Sizes are counts, and small enough to be added and multiplied.
fn check_range(name: &str, values: &[i64]) -> OpResult<()> {
    if values.iter().all(|value| (0..=MAX_WINDOW).contains(value)) {
        return Ok(());
    }
    Err(format!("attribute `{name}` is out of range: {values:?}").into())
}

/// The spatial size that a transposed convolution must have, if it decides about the padding.
fn transpose_target<'c>(
    node: &NodeContext<'_, 'c>,
    x: Val<'c>,
    window: &Window,
) -> OpResult<Option<Vec<i64>>> {
    let rank = window.kernel.len();
    if let Some(mut shape) = node.attributes.ints("output_shape")?.filter(|list| !list.is_empty()) {
        // Some exporters give all dimensions.
        if shape.len() == rank + 2 {
            shape.drain(..2);
        }
        if shape.len() != rank {
            return Err(format!("attribute `output_shape` must have {rank} elements").into());
        }
        check_range("output_shape", &shape)?;
        return Ok(Some(shape));
    }
    match auto_pad(node)? {
        "SAME_UPPER" | "SAME_LOWER" => {
            let mut shape = Vec::new();
            for axis in 0..rank {
                shape.push(node.static_dim(x, axis + 2, "X")? * window.strides[axis]);
            }
            Ok(Some(shape))
        }
        _ => Ok(None),
    }
}

/// A depthwise convolution over time that reads only what came before, with the last positions
/// carried from call to call.
fn causal_conv<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let (x, w) = (node.input(0, "input")?, node.input(1, "weight")?);
    let channels = node.static_dim(w, 0, "weight")?;
    let carried = node.static_dim(w, 2, "weight")? - 1;
    let past = match node.optional(3) {
        Some(past) => past,
        None => {
            let batch = node.extent(x, 0)?;
            let zero = node.scalar_like(x, 0.0)?;
            let shape = node.extents(&[batch, Extent::Known(channels), Extent::Known(carried)])?;
            node.op("expand", &[zero, shape], &[])?
        }
    };
    let padded = node.concat(&[past, x], 2)?;
    let operands: Vec<_> =
        [Some(padded), Some(w), node.optional(2)].into_iter().flatten().collect();
    let mut y = node.op("conv", &operands, &[("group", channels.into())])?;
    match node.attributes.choice("activation", &["none", "silu", "swish"])? {
        "none" => {}
        _ => y = node.unary("swish", y)?,
    }
    let present = match node.extent(padded, 2)? {
        Extent::Known(length) => node.slice(padded, 2, length - carried, length)?,
        open => {
            let start = node.extent_op("sub", open, Extent::Known(carried))?;
            node.slice_between(padded, 2, (start, open))?
        }
    };
    Ok(vec![y, present])
}
