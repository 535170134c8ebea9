//! The elements of constants: scales, zero points, bounds, and data.

use super::{judge, narrow, operands::Shape, sampler::Sampler};
use crate::{
    Error, Result,
    artifact::Port,
    graph::OpDecl,
    pattern::Pattern,
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
        let numbers: Vec<f32> = match scale {
            Some(scale) => (0..count).map(|i| scale[i % scale.len()]).collect(),
            None if count == 1 => vec![wished.map_or_else(|| s.scale(), |value| value as f32)],
            None => s.bulk(|s| (0..count).map(|_| s.channel_scale()).collect()),
        };
        let of = dtype.plain().filter(|dtype| dtype.is_float()).unwrap_or(DType::F32);
        return floats(of, &sizes, &numbers.into_iter().map(f64::from).collect::<Vec<_>>()).ok();
    }
    if name == "var" {
        let small = |s: &mut Sampler| 0.01 + s.below(100) as f32 / 1000.0;
        let numbers: Vec<f32> = s.bulk(|s| (0..count).map(|_| small(s)).collect());
        return Tensor::from_slice(&sizes, &numbers).ok();
    }
    let float = dtype.plain().filter(|dtype| dtype.is_float());
    if let (Some(float), "clip") = (float, decl.name.as_str())
        && s.chance(80)
    {
        // As networks have it: the minimum below the maximum.
        let bound = s.pick(&[0.5, 1.0, 6.0]);
        let bound = if name == "min" { -bound * s.pick(&[0.0, 1.0]) } else { bound };
        return floats(float, &[], &[bound]).ok();
    }
    data(*dtype, dims, s)
}

/// Data: numbers of both signs, and of a magnitude that does not always saturate what they are
/// summed to; or those that fill what they are summed in. Elements of small types have a byte each.
pub fn data(dtype: ElementType, dims: &[i64], s: &mut Sampler) -> Option<Tensor> {
    let sizes: Vec<usize> = dims.iter().map(|dim| (*dim).max(0) as usize).collect();
    let dtype = match dtype {
        ElementType::Plain(dtype) => dtype,
        ElementType::Small(small) => return s.bulk(|s| narrow::data(small, &sizes, s)),
    };
    let count: usize = sizes.iter().product();
    let is_half = matches!(dtype, DType::F16 | DType::BF16);
    if s.is_full() && dims.len() > 1 && (!is_half || s.sums_are_wide()) {
        let high = s.chance(50);
        return full(dtype, &sizes, high, s.seed());
    }
    let magnitude = match dtype {
        DType::I8 | DType::U8 | DType::I16 => s.magnitude(),
        // A bias. Other integers are indices and sizes.
        DType::I32 if sizes.len() == 1 => s.bias(),
        _ => return Tensor::random(dtype, &sizes, s.seed()).ok(),
    };
    let centre = if dtype == DType::U8 { 128 } else { 0 };
    let span = 2 * magnitude as usize + 1;
    let numbers: Vec<i64> =
        s.bulk(|s| (0..count).map(|_| centre - magnitude + s.below(span) as i64).collect());
    integers(dtype, &sizes, &numbers)
}

/// Numbers of one sign near the end of their type, or of a size that floats have; others as usual.
fn full(dtype: DType, shape: &[usize], high: bool, seed: u64) -> Option<Tensor> {
    let mut rng = SplitMix64::new(seed);
    let count: usize = shape.iter().product();
    let mut part = || (rng.next_u64() % 9) as f64;
    if dtype.is_float() {
        let numbers: Vec<f64> = (0..count).map(|_| 0.5 + part() / 16.0).collect();
        return floats(dtype, shape, &numbers).ok();
    }
    let (low, most, step) = match dtype {
        DType::I8 => (-128, 127, 1),
        DType::U8 => (0, 255, 1),
        DType::I16 => (-32768, 32767, 100),
        DType::U16 => (0, 65535, 100),
        _ => return Tensor::random(dtype, shape, seed).ok(),
    };
    let near = |part: i64| if high { most - step * part } else { low + step * part };
    let numbers: Vec<i64> = (0..count).map(|_| near(part() as i64)).collect();
    integers(dtype, shape, &numbers)
}

/// Description of inputs with NaN, infinity or denormals.
pub const SPECIAL: &str =
    ", with NaN, infinity or denormals (`finite = true` in the pattern leaves them out)";

/// Descriptions of inputs whose exponentials are out of range.
pub const SHIFTED: [&str; 2] = [", with numbers around -100", ", with numbers around 100"];

/// Kinds of inputs that a graph is run on beside usual numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wishes {
    /// No NaN and no infinity.
    pub is_finite: bool,
    /// Numbers whose exponentials are out of range: operations that only look at differences of numbers have
    /// results all the same.
    pub are_shifted: bool,
    /// Long sums of floats of 16 bits, which are promised to be made in wider ones.
    pub fills_halves: bool,
}

impl Wishes {
    /// Reads the wishes off a graph and its patterns.
    pub fn of(text: &str, patterns: &[&Pattern]) -> Self {
        let is_finite = patterns.iter().any(|pattern| pattern.spec.finite == Some(true));
        let fills_halves = patterns.iter().all(|pattern| judge::sums_are_wide(pattern));
        let names = ["softmax", "logsumexp", "log_sum_exp", "sigmoid", "tanh", "softplus", "silu"];
        let mut lines = text.lines().take_while(|line| !line.starts_with("{-#"));
        let is_of = |line: &str| names.iter().any(|name| line.contains(name));
        let are_shifted = lines.any(|line| line.contains("graph.") && is_of(line));
        Self { is_finite, are_shifted, fills_halves: fills_halves && !patterns.is_empty() }
    }
}

/// Inputs of a compiled graph, run one after the other on one device, each with its description in
/// messages.
///
/// They are usual numbers, the ends of the types, numbers of one sign that fill their accumulators,
/// and small 8-bit numbers with sums that keep within the type. Numbers far from 0 and special
/// values follow. The first inputs come again at the end, in case the device keeps something from
/// run to run.
pub fn inputs(
    ports: &[Port],
    seed: u64,
    wishes: Wishes,
) -> Result<Vec<(&'static str, Vec<Tensor>)>> {
    let set = |kind: Kind| -> Result<Vec<Tensor>> {
        let of = |(index, port): (usize, &Port)| {
            let is_half = matches!(port.dtype, DType::F16 | DType::BF16);
            // Long sums of large numbers leave the range of f16 on the way.
            let is_long = port.shape.iter().any(|size| *size > LONG);
            let leaves = kind == Kind::Full || kind == Kind::Large && is_long;
            let is_left = leaves && is_half && !wishes.fills_halves;
            let kind = if is_left { Kind::Usual } else { kind };
            input(kind, port.dtype, &port.shape, seed + 31 * index as u64)
                .ok_or_else(|| Error::invalid(format!("no data of type {}", port.dtype)))
        };
        ports.iter().enumerate().map(of).collect()
    };
    let has = |is_one: &dyn Fn(DType) -> bool| ports.iter().any(|port| is_one(port.dtype));
    let usual = set(Kind::Usual)?;
    let mut all = vec![("", usual.clone()), (", with large numbers", set(Kind::Large)?)];
    let halves = |dtype| wishes.fills_halves && matches!(dtype, DType::F16 | DType::BF16);
    if has(&|dtype| fills(dtype) || halves(dtype)) {
        all.push((", with numbers at one end of their type", set(Kind::Full)?));
    }
    if has(&|dtype| matches!(dtype, DType::I8 | DType::U8)) {
        all.push((", with small numbers", set(Kind::Small)?));
    }
    if wishes.are_shifted && has(&DType::is_float) {
        all.extend([(SHIFTED[0], set(Kind::Low)?), (SHIFTED[1], set(Kind::High)?)]);
    }
    if !wishes.is_finite && has(&DType::is_float) {
        all.push((SPECIAL, set(Kind::Special)?));
    }
    all.push((", when it is run again on the first inputs", usual));
    Ok(all)
}

/// Sizes from which a sum is long.
const LONG: usize = 64;

/// True if a type has an end to which sums of its numbers can be brought.
fn fills(dtype: DType) -> bool {
    matches!(dtype, DType::I8 | DType::U8 | DType::I16 | DType::U16 | DType::F32)
}

/// Kinds of numbers that an input has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Usual,
    Large,
    Small,
    Special,
    Full,
    Low,
    High,
}

/// An input: quantized data takes the whole range of its type, or part of it.
fn input(kind: Kind, dtype: DType, shape: &[usize], seed: u64) -> Option<Tensor> {
    let count: usize = shape.iter().product();
    let mut rng = SplitMix64::new(seed ^ ((kind as u64) << 40));
    if kind == Kind::Full && (fills(dtype) || dtype.is_float()) {
        return full(dtype, shape, seed.is_multiple_of(2), rng.next_u64());
    }
    if dtype.is_float() {
        let scale = match (kind, seed % 3) {
            (Kind::Large, _) => 30.0,
            (_, 0) => 4.0,
            _ => 1.0,
        };
        let usual = Tensor::random(dtype, shape, seed).ok()?.to_f64();
        let number = |value: f64| match (kind, rng.next_u64() % 16) {
            (Kind::Special, 0) => f64::NAN,
            (Kind::Special, 1) => f64::INFINITY,
            (Kind::Special, 2) => f64::NEG_INFINITY,
            (Kind::Special, 3) => 1e-40,
            (Kind::Special, 4) => -0.0,
            (Kind::Large, 0) => 0.0,
            (Kind::Large, 1) => value.signum() * 0.5,
            (Kind::Low, _) => value - 100.0,
            (Kind::High, _) => value + 100.0,
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
    let numbers: Vec<i64> = (0..count).map(|_| number(rng.next_u64() >> 8)).collect();
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
