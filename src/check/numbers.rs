//! The elements of constants: scales, zero points, bounds, and data.

use super::{narrow, operands::Shape, sampler::Sampler};
use crate::{
    Error, Result,
    artifact::Port,
    graph::OpDecl,
    tensor::{AlignedBuffer, DType, Element, ElementType, SplitMix64, Tensor},
};

/// True if an operand is a number that shapes the operation, which networks have as a constant.
pub fn is_parameter(decl: &OpDecl, name: &str) -> bool {
    name.ends_with("scale") && decl.name != "batch_norm"
        || name.ends_with("zero_point")
        || name == "var"
}

/// A constant for an operand. `scale` is what its scale has to be, where that is known.
pub fn constant(
    decl: &OpDecl,
    name: &str,
    capture: Option<&str>,
    shape: &Shape,
    scale: Option<Vec<f32>>,
    s: &mut Sampler,
) -> Option<Tensor> {
    let (dtype, dims) = shape;
    let sizes: Vec<usize> = dims.iter().map(|dim| (*dim).max(0) as usize).collect();
    let count: usize = sizes.iter().product();
    let wished = s.wished_number(capture, "value");
    if name.ends_with("zero_point") {
        let value = wished.map_or_else(|| s.zero_point(*dtype), |value| value as i64);
        return match *dtype {
            ElementType::Plain(dtype) => integers(dtype, &sizes, &vec![value; count]),
            ElementType::Small(small) => narrow::filled(small, &sizes, value),
        };
    }
    if name.ends_with("scale") && decl.name != "batch_norm" {
        let numbers = match scale {
            Some(scale) => (0..count).map(|i| scale[i % scale.len()]).collect(),
            None if count == 1 => vec![wished.map_or_else(|| s.scale(), |value| value as f32)],
            None => (0..count).map(|_| s.channel_scale()).collect(),
        };
        return Tensor::from_slice::<f32>(&sizes, &numbers).ok();
    }
    if name == "var" {
        let numbers: Vec<f32> = (0..count).map(|_| 0.01 + s.below(100) as f32 / 1000.0).collect();
        return Tensor::from_slice(&sizes, &numbers).ok();
    }
    if decl.name == "clip" && *dtype == ElementType::F32 && s.chance(80) {
        // As networks have it: the minimum below the maximum.
        let bound = s.pick(&[0.5_f32, 1.0, 6.0]);
        let bound = if name == "min" { -bound * s.pick(&[0.0, 1.0]) } else { bound };
        return Tensor::from_slice(&[], &[bound]).ok();
    }
    data(*dtype, dims, s)
}

/// Data: numbers of both signs, and of a magnitude that does not always saturate what they are
/// summed to. Elements of small types have a byte each.
pub fn data(dtype: ElementType, dims: &[i64], s: &mut Sampler) -> Option<Tensor> {
    let sizes: Vec<usize> = dims.iter().map(|dim| (*dim).max(0) as usize).collect();
    let dtype = match dtype {
        ElementType::Plain(dtype) => dtype,
        ElementType::Small(small) => return narrow::data(small, &sizes, s),
    };
    let magnitude = match dtype {
        DType::I8 | DType::U8 | DType::I16 => s.magnitude(),
        // A bias. Other integers are indices and sizes.
        DType::I32 if sizes.len() == 1 => s.bias(),
        _ => return Tensor::random(dtype, &sizes, s.seed()).ok(),
    };
    let centre = if dtype == DType::U8 { 128 } else { 0 };
    let count: usize = sizes.iter().product();
    let span = 2 * magnitude as usize + 1;
    let numbers: Vec<i64> = (0..count).map(|_| centre - magnitude + s.below(span) as i64).collect();
    integers(dtype, &sizes, &numbers)
}

/// What is said of numbers that are none.
pub const SPECIAL: &str =
    ", with NaN, infinity or denormals (`finite = true` in the pattern leaves them out)";

/// What a compiled graph is run on, one after the other on one device, and what to say of each:
/// usual numbers, the ends of the types, small ones of 8 bits, whose sums keep within the type, numbers
/// that are none, and the first again, in case the device keeps something from run to run.
pub fn inputs(ports: &[Port], seed: u64, finite: bool) -> Result<Vec<(&'static str, Vec<Tensor>)>> {
    let set = |kind: Kind| -> Result<Vec<Tensor>> {
        let of = |(index, port): (usize, &Port)| {
            input(kind, port.dtype, &port.shape, seed + 31 * index as u64)
                .ok_or_else(|| Error::invalid(format!("no data of type {}", port.dtype)))
        };
        ports.iter().enumerate().map(of).collect()
    };
    let usual = set(Kind::Usual)?;
    let mut all = vec![("", usual.clone()), (", with large numbers", set(Kind::Large)?)];
    if ports.iter().any(|port| matches!(port.dtype, DType::I8 | DType::U8)) {
        all.push((", with small numbers", set(Kind::Small)?));
    }
    if !finite && ports.iter().any(|port| port.dtype.is_float()) {
        all.push((SPECIAL, set(Kind::Special)?));
    }
    all.push((", when it is run again on the first inputs", usual));
    Ok(all)
}

/// What numbers an input has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Usual,
    Large,
    Small,
    Special,
}

/// An input: quantized data takes the whole range of its type, or part of it.
fn input(kind: Kind, dtype: DType, shape: &[usize], seed: u64) -> Option<Tensor> {
    let count: usize = shape.iter().product();
    let mut rng = SplitMix64::new(seed ^ ((kind as u64) << 40));
    if dtype.is_float() {
        let scale = match (kind, seed % 3) {
            (Kind::Large, _) => 30.0,
            (_, 0) => 4.0,
            _ => 1.0,
        };
        let usual = Tensor::random(dtype, shape, seed).ok()?.to_f64();
        let number = |value: f64| match (kind, rng.next() % 16) {
            (Kind::Special, 0) => f64::NAN,
            (Kind::Special, 1) => f64::INFINITY,
            (Kind::Special, 2) => f64::NEG_INFINITY,
            (Kind::Special, 3) => 1e-40,
            (Kind::Special, 4) => -0.0,
            (Kind::Large, 0) => 0.0,
            (Kind::Large, 1) => value.signum() * 0.5,
            _ => value * scale,
        };
        return floats(dtype, shape, &usual.into_iter().map(number).collect::<Vec<_>>()).ok();
    }
    let (low, high) = match dtype {
        DType::I8 if kind == Kind::Small => (-6, 6),
        // Around 0, or around the middle, wherever its zero point is.
        DType::U8 if kind == Kind::Small && seed.is_multiple_of(2) => (0, 12),
        DType::U8 if kind == Kind::Small => (122, 134),
        DType::I8 => (-128, 127),
        DType::U8 => (0, 255),
        DType::I16 if seed.is_multiple_of(2) => (-32768, 32767),
        DType::I16 => (-300, 300),
        DType::U16 => (0, 65535),
        DType::I32 if kind == Kind::Large => (-(1 << 29), 1 << 29),
        DType::I32 => (-1000, 1000),
        _ => return Tensor::random(dtype, shape, seed).ok(),
    };
    let span = (high - low + 1) as u64;
    let number = |place: u64| match (kind, place % 4) {
        (Kind::Large, 0) => low,
        (Kind::Large, 1) => high,
        _ => low + (place / 4 % span) as i64,
    };
    let numbers: Vec<i64> = (0..count).map(|_| number(rng.next() >> 8)).collect();
    integers(dtype, shape, &numbers)
}

/// A tensor of a type of floats.
pub fn floats(dtype: DType, shape: &[usize], numbers: &[f64]) -> Result<Tensor> {
    let list = numbers.iter();
    let bytes: Vec<u8> = match dtype {
        DType::F64 => list.flat_map(|value| value.to_ne_bytes()).collect(),
        DType::F16 => list.flat_map(|value| half::f16::from_f64(*value).to_ne_bytes()).collect(),
        DType::BF16 => list.flat_map(|value| half::bf16::from_f64(*value).to_ne_bytes()).collect(),
        _ => list.flat_map(|value| (*value as f32).to_ne_bytes()).collect(),
    };
    Ok(Tensor::from_buffer(dtype, shape, AlignedBuffer::copy_of(&bytes)?)?)
}

/// A tensor of an integer type; numbers beyond it are brought to its ends.
fn integers(dtype: DType, sizes: &[usize], numbers: &[i64]) -> Option<Tensor> {
    match dtype {
        DType::I8 => cast::<i8>(sizes, numbers),
        DType::U8 => cast::<u8>(sizes, numbers),
        DType::I16 => cast::<i16>(sizes, numbers),
        DType::U16 => cast::<u16>(sizes, numbers),
        DType::I32 => cast::<i32>(sizes, numbers),
        _ => Tensor::zeros(dtype, sizes).ok(),
    }
}

fn cast<T: Element + TryFrom<i64> + Bounded>(sizes: &[usize], numbers: &[i64]) -> Option<Tensor> {
    let fit = |number: &i64| {
        let end = if *number < 0 { T::LEAST } else { T::MOST };
        T::try_from(*number).unwrap_or(end)
    };
    Tensor::from_slice(sizes, &numbers.iter().map(fit).collect::<Vec<T>>()).ok()
}

/// The ends of an integer type.
trait Bounded {
    const LEAST: Self;
    const MOST: Self;
}

macro_rules! bounded {
    ($($ty:ty)*) => {
        $(impl Bounded for $ty {
            const LEAST: Self = Self::MIN;
            const MOST: Self = Self::MAX;
        })*
    };
}

bounded!(i8 u8 i16 u16 i32);
