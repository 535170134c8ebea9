//! Signal processing: window functions and Fourier transforms, with tables computed here.

use std::f64::consts::TAU;

use crate::ir::Val;
use crate::tensor::DType;

use super::super::context::NodeContext;
use super::super::emit::{OpError, OpResult};
use super::OpEntry;

pub(super) const OPS: &[OpEntry] = &[
    OpEntry::with("BlackmanWindow", 17, 1..=1, |node| {
        window(node, |phase| 0.42 - 0.5 * phase.cos() + 0.08 * (2.0 * phase).cos())
    }),
    OpEntry::with("DFT", 17, 1..=3, dft),
    OpEntry::with("HammingWindow", 17, 1..=1, |node| {
        window(node, |phase| 25.0 / 46.0 - 21.0 / 46.0 * phase.cos())
    }),
    OpEntry::with("HannWindow", 17, 1..=1, |node| window(node, |phase| 0.5 - 0.5 * phase.cos())),
    OpEntry::with("MelWeightMatrix", 17, 5..=5, mel_weight_matrix),
    OpEntry::with("STFT", 17, 2..=4, stft),
];

/// Longest window or transform whose table is computed here.
const MAX_LENGTH: i64 = 1 << 13;

/// Most elements of the overlapping pieces that a signal is cut into.
const MAX_PLACES: i64 = 1 << 24;

fn check_length(length: i64) -> OpResult<()> {
    if (1..=MAX_LENGTH).contains(&length) {
        return Ok(());
    }
    let reason = format!("the length {length} is not supported, only 1 to {MAX_LENGTH}");
    Err(OpError::Unsupported(reason))
}

fn output_type(node: &NodeContext<'_, '_>) -> OpResult<DType> {
    let code = node.attributes.int_or("output_datatype", 1)?;
    i32::try_from(code)
        .ok()
        .and_then(DType::from_onnx_code)
        .ok_or_else(|| format!("attribute `output_datatype` is {code}").into())
}

/// A window as a function of the phase, which goes from 0 to a full circle.
fn window<'c>(node: &NodeContext<'_, 'c>, value: fn(f64) -> f64) -> OpResult<Vec<Val<'c>>> {
    let size = node.known_int(0, "size")?.ok_or("the input size is missing")?;
    check_length(size)?;
    let periodic = node.attributes.bool_or("periodic", true)?;
    let circle = if periodic { size } else { (size - 1).max(1) } as f64;
    let values: Vec<f64> = (0..size).map(|n| value(TAU * n as f64 / circle)).collect();
    Ok(vec![node.constant_of(output_type(node)?, &[values.len()], &values)?])
}

/// Weights that turn a linear spectrum into bands of the mel scale.
fn mel_weight_matrix<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let number = |index: usize, what: &str| -> OpResult<f64> {
        let tensor = node.known(index, what)?.ok_or_else(|| format!("input {what} is missing"))?;
        match tensor.to_f64()[..] {
            [value] if value.is_finite() => Ok(value),
            _ => Err(format!("the input {what} must be one finite number").into()),
        }
    };
    let bands = number(0, "num_mel_bins")? as i64;
    let length = number(1, "dft_length")? as i64;
    let rate = number(2, "sample_rate")?;
    check_length(bands)?;
    check_length(length)?;
    let mel = |hertz: f64| 2595.0 * (hertz / 700.0).ln_1p() / 10f64.ln();
    let (low, high) = (mel(number(3, "lower_edge_hertz")?), mel(number(4, "upper_edge_hertz")?));
    let step = (high - low) / (bands + 2) as f64;
    let bin = |band: i64| {
        let hertz = 700.0 * ((low + band as f64 * step) / 2595.0 * 10f64.ln()).exp_m1();
        ((length + 1) as f64 * hertz / rate).floor() as i64
    };
    let (rows, columns) = (length / 2 + 1, bands);
    let mut table = vec![0.0; (rows * columns) as usize];
    for band in 0..bands {
        let (left, middle, right) = (bin(band), bin(band + 1), bin(band + 2));
        if left < 0 || right > rows || middle < left || right < middle || middle >= rows {
            return Err("the edges do not lie within half of the sample rate".into());
        }
        let mut set = |row: i64, value: f64| table[(row * columns + band) as usize] = value;
        for row in left..middle {
            set(row, (row - left) as f64 / (middle - left) as f64);
        }
        set(middle, 1.0);
        for row in middle..right {
            set(row, (right - row) as f64 / (right - middle) as f64);
        }
    }
    let shape = [rows as usize, columns as usize];
    Ok(vec![node.constant_of(output_type(node)?, &shape, &table)?])
}

/// Parameters of a discrete Fourier transform.
struct Transform {
    length: i64,
    inverse: bool,
    onesided: bool,
}

/// The transform of `x` along its last but one dimension; real and imaginary part are the last.
/// The signal is cut or filled up with zeros to the length of the transform.
fn transform<'c>(node: &NodeContext<'_, 'c>, x: Val<'c>, how: &Transform) -> OpResult<Val<'c>> {
    check_length(how.length)?;
    let rank = node.rank(x);
    let (axis, parts) = (rank - 2, rank - 1);
    let size = node.static_dim(x, axis, "the signal")?.min(how.length);
    let x = node.slice(x, axis, 0, size)?;
    let dtype = node.dtype(x)?;
    let count = if how.onesided { how.length / 2 + 1 } else { how.length };
    let scale = if how.inverse { 1.0 / how.length as f64 } else { 1.0 };
    let table = |function: fn(f64) -> f64| -> OpResult<Val<'c>> {
        let mut values = Vec::new();
        for n in 0..size {
            for k in 0..count {
                // Reduced first, to keep the angle exact.
                let turn = (n * k) % how.length;
                values.push(scale * function(TAU * turn as f64 / how.length as f64));
            }
        }
        node.constant_of(dtype, &[size as usize, count as usize], &values)
    };
    let (cos, sin) = (table(f64::cos)?, table(f64::sin)?);
    let part = |index: i64| -> OpResult<Val<'c>> {
        node.squeeze(node.slice(x, parts, index, index + 1)?, &[parts as i64])
    };
    let real = part(0)?;
    let (mut re, mut im) = (node.binary("matmul", real, cos)?, node.binary("matmul", real, sin)?);
    if !how.inverse {
        im = node.unary("neg", im)?;
    }
    if node.static_dim(x, parts, "the signal")? == 2 {
        let imaginary = part(1)?;
        let (a, b) =
            (node.binary("matmul", imaginary, sin)?, node.binary("matmul", imaginary, cos)?);
        re = node.binary(if how.inverse { "sub" } else { "add" }, re, a)?;
        im = node.binary("add", im, b)?;
    }
    let (re, im) = (node.unsqueeze(re, &[-1])?, node.unsqueeze(im, &[-1])?);
    node.concat(&[re, im], -1)
}

/// The axis is an attribute before operator set 20.
fn dft<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let x = node.input(0, "input")?;
    let rank = node.rank(x);
    let axis = match node.known_int(2, "axis")? {
        Some(axis) => axis,
        None => node.attributes.int_or("axis", if node.opset < 20 { 1 } else { -2 })?,
    };
    let axis = node.axis(axis, rank)?;
    if axis + 1 == rank || rank < 2 {
        return Err("the last dimension holds the parts of complex numbers".into());
    }
    let onesided = node.attributes.bool_or("onesided", false)?;
    let inverse = node.attributes.bool_or("inverse", false)?;
    if onesided && inverse {
        let reason = "a one-sided inverse transform is not supported";
        return Err(OpError::Unsupported(reason.to_string()));
    }
    let length = match node.known_int(1, "dft_length")? {
        Some(length) => length,
        None => node.static_dim(x, axis, "input")?,
    };
    let mut perm: Vec<i64> = (0..rank as i64).collect();
    perm.swap(axis, rank - 2);
    let turned = node.transpose(x, &perm)?;
    let y = transform(node, turned, &Transform { length, inverse, onesided })?;
    Ok(vec![node.transpose(y, &perm)?])
}

/// Transforms of pieces of a signal, weighted with a window.
fn stft<'c>(node: &NodeContext<'_, 'c>) -> OpResult<Vec<Val<'c>>> {
    let signal = node.input(0, "signal")?;
    // Real signals may lack the dimension of parts.
    let signal = match node.rank(signal) {
        2 => node.unsqueeze(signal, &[-1])?,
        3 => signal,
        rank => return Err(format!("the signal has {rank} dimensions, not 2 or 3").into()),
    };
    let step = node.known_int(1, "frame_step")?.ok_or("the input frame_step is missing")?;
    let window = node.optional(2);
    let onesided = node.attributes.bool_or("onesided", true)?;
    let size = node.static_dim(signal, 1, "signal")?;
    let length = match (node.known_int(3, "frame_length")?, window) {
        (Some(length), _) => length,
        (None, Some(window)) => node.static_dim(window, 0, "window")?,
        (None, None) => size,
    };
    check_length(length)?;
    if step < 1 || length > size {
        return Err(format!("a step of {step} and length of {length} do not fit {size}").into());
    }
    let frames = 1 + (size - length) / step;
    if frames.checked_mul(length).is_none_or(|places| places > MAX_PLACES) {
        let reason = format!("{frames} frames of {length} are more than {MAX_PLACES} elements");
        return Err(OpError::Unsupported(reason));
    }
    let places: Vec<i64> =
        (0..frames).flat_map(|frame| (0..length).map(move |i| frame * step + i)).collect();
    let places = node.constant(&crate::tensor::Tensor::from_slice(
        &[frames as usize, length as usize],
        &places,
    )?)?;
    let mut pieces = node.op("gather", &[signal, places], &[("axis", 1i64.into())])?;
    if let Some(window) = window {
        let window = node.reshape(window, &[length, 1])?;
        pieces = node.binary("mul", pieces, window)?;
    }
    let how = Transform { length, inverse: false, onesided };
    Ok(vec![transform(node, pieces, &how)?])
}
