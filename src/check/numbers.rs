//! The elements of constants: scales, zero points, bounds, and data.

use super::{sampler::Sampler, template::Shape};
use crate::{
    pattern::OpDecl,
    tensor::{DType, Element, Tensor},
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
        return integers(*dtype, &sizes, &vec![value; count]);
    }
    if name.ends_with("scale") && decl.name != "batch_norm" {
        let numbers = match scale {
            Some(scale) => (0..count).map(|i| scale[i % scale.len()]).collect(),
            None if count == 1 => vec![wished.map_or_else(|| s.scale(), |value| value as f32)],
            None => (0..count).map(|_| 0.01 + s.below(100) as f32 / 1000.0).collect(),
        };
        return Tensor::from_slice::<f32>(&sizes, &numbers).ok();
    }
    if name == "var" {
        let numbers: Vec<f32> = (0..count).map(|_| 0.01 + s.below(100) as f32 / 1000.0).collect();
        return Tensor::from_slice(&sizes, &numbers).ok();
    }
    if decl.name == "clip" && *dtype == DType::F32 && s.chance(80) {
        // As networks have it: the minimum below the maximum.
        let bound = s.pick(&[0.5_f32, 1.0, 6.0]);
        let bound = if name == "min" { -bound * s.pick(&[0.0, 1.0]) } else { bound };
        return Tensor::from_slice(&[], &[bound]).ok();
    }
    data(*dtype, dims, s)
}

/// Data: numbers of both signs, and of a magnitude that does not always saturate what they are
/// summed to.
pub fn data(dtype: DType, dims: &[i64], s: &mut Sampler) -> Option<Tensor> {
    let sizes: Vec<usize> = dims.iter().map(|dim| (*dim).max(0) as usize).collect();
    let magnitude = match dtype {
        DType::I8 | DType::U8 | DType::I16 => s.magnitude(),
        // A bias. Other integers are indices and sizes.
        DType::I32 if sizes.len() == 1 => s.pick(&[50, 3000]),
        _ => return Tensor::random(dtype, &sizes, s.seed()).ok(),
    };
    let centre = if dtype == DType::U8 { 128 } else { 0 };
    let count: usize = sizes.iter().product();
    let span = 2 * magnitude as usize + 1;
    let numbers: Vec<i64> = (0..count).map(|_| centre - magnitude + s.below(span) as i64).collect();
    integers(dtype, &sizes, &numbers)
}

/// An input of a compiled graph: quantized data takes the whole range of its type, or part of it.
pub fn input(dtype: DType, shape: &[usize], seed: u64) -> Option<Tensor> {
    let (low, high) = match dtype {
        DType::I8 => (-128, 127),
        DType::U8 => (0, 255),
        DType::I16 if seed.is_multiple_of(2) => (-32768, 32767),
        DType::I16 => (-300, 300),
        _ => return Tensor::random(dtype, shape, seed).ok(),
    };
    let mut rng = crate::tensor::SplitMix64::new(seed);
    let count: usize = shape.iter().product();
    let span = (high - low + 1) as u64;
    let numbers: Vec<i64> = (0..count).map(|_| low + (rng.next() % span) as i64).collect();
    integers(dtype, shape, &numbers)
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
