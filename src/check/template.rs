//! Shapes and element types for the operands of operations, which fit together mostly. MLIR's own
//! inference has the last word; graphs that it refuses are thrown away.

use super::{
    operands::{self, Shape},
    sampler::Sampler,
};
use crate::{
    graph::OpDecl,
    tensor::{DType, ElementType},
};

/// The type for operand `index` of `op`, given those of the operands before it and the shape that
/// the result should have, if anybody asks for one.
pub fn operand(
    op: &OpDecl,
    written: &str,
    index: usize,
    known: &[Option<Shape>],
    wanted: Option<&Shape>,
    s: &mut Sampler,
) -> Shape {
    let preferred = if index == 0 { s.first_operand() } else { None };
    let wanted = wanted.or(preferred.as_ref());
    let first = known.first().cloned().flatten();
    let name = op.operands.get(index).or(op.operands.last()).map_or("", |o| o.name.as_str());
    match (op.name.as_str(), name) {
        ("qlinear_conv" | "conv_integer", "x") => (s.quantized(), image("conv2d", wanted, s).1),
        ("conv" | "conv_transpose", "x") => image(written, wanted, s),
        ("conv" | "conv_integer" | "qlinear_conv", "w") => filter(&first, false, s),
        ("conv_transpose", "w") => filter(&first, true, s),
        ("qlinear_conv", "b") => (ElementType::I32, bias(&known[3..], 0, s).1),
        ("conv", "b") => bias(&known[1..], 0, s),
        ("conv_transpose", "b") => bias(&known[1..], 1, s),
        ("qlinear_matmul" | "matmul_integer", "a") => {
            (s.quantized(), matrix("matmul", wanted, s).1)
        }
        ("gemm" | "matmul", "a") => matrix(written, wanted, s),
        ("gemm" | "matmul" | "qlinear_matmul" | "matmul_integer", "b") => {
            factor(&first, written, s)
        }
        ("gemm", "c") => addend(&first, known, s),
        ("max_pool" | "average_pool" | "global_average_pool" | "global_max_pool", "x") => {
            image(written, wanted, s)
        }
        ("batch_norm", "x") => image(written, wanted, s),
        ("batch_norm", _) => {
            let channels = first.as_ref().map_or(1, |(_, dims)| dims[1]);
            (data_type(&first, s), vec![channels])
        }
        ("clip", "min" | "max") => (data_type(&first, s), vec![]),
        ("dequantize_linear", "scale") => {
            let is_float = |dtype: &ElementType| dtype.plain().is_some_and(DType::is_float);
            let dtype = wanted.map(|(dtype, _)| *dtype).filter(is_float);
            (dtype.unwrap_or(ElementType::F32), scale(&first, s))
        }
        ("quantize_linear", "scale") => (ElementType::F32, scale(&first, s)),
        ("dequantize_linear", "zero_point") => {
            (first.map_or(ElementType::I8, |(dtype, _)| dtype), scale_dims(known))
        }
        ("quantize_linear", "zero_point") => (s.quantized(), scale_dims(known)),
        ("dequantize_linear", "x") => quantized(wanted, s),
        ("quantize_linear", "x") => (ElementType::F32, any(wanted, s).1),
        (_, _) if index == 0 => first_of(op, wanted, s),
        (op, name) if op.starts_with("qlinear") && name.contains('_') => {
            qlinear_parameter(name, index, known, s)
        }
        (_, name) if name.ends_with("zero_point") => (ElementType::I8, vec![]),
        _ => operands::shape(op, name, &first, s).unwrap_or_else(|| broadcast(&first, s)),
    }
}

fn data_type(first: &Option<Shape>, s: &mut Sampler) -> ElementType {
    first.as_ref().map_or_else(|| s.dtype(), |(dtype, _)| *dtype)
}

fn any(wanted: Option<&Shape>, s: &mut Sampler) -> Shape {
    if let Some((dtype, dims)) = wanted {
        return (*dtype, dims.clone());
    }
    let rank = s.pick(&[1, 2, 2, 3, 3, 4, 4]);
    (s.dtype(), (0..rank).map(|_| s.size_up_to(16)).collect())
}

/// The first operand of an operation that is none of the usual ones.
fn first_of(op: &OpDecl, wanted: Option<&Shape>, s: &mut Sampler) -> Shape {
    let mut shape = any(wanted, s);
    match op.name.as_str() {
        "and" | "or" | "xor" | "not" | "where" => shape.0 = ElementType::BOOL,
        "depth_to_space" | "space_to_depth" if wanted.is_none() => {
            let (a, b) = (s.size_of(&[1, 2, 3]), s.size_of(&[1, 2, 4]));
            shape.1 = vec![s.size_of(&[1, 2]), 4 * a, 2 * b, 2 * s.size_of(&[1, 2, 3])];
        }
        "instance_norm" | "group_norm" | "lrn" | "lp_pool" | "resize" | "global_lp_pool"
            if wanted.is_none() =>
        {
            shape.1 = [&[1, 2][..], &[2, 4, 6, 8], &[3, 4, 6], &[2, 5]]
                .map(|list| s.size_of(list))
                .to_vec();
        }
        // The last two as a rule.
        "transpose" if wanted.is_some() && shape.1.len() > 1 => {
            let last = shape.1.len() - 1;
            shape.1.swap(last - 1, last);
        }
        "squeeze" if wanted.is_none() => {
            let place = s.below(shape.1.len());
            shape.1[place] = 1;
        }
        _ => {}
    }
    shape
}

fn image(written: &str, wanted: Option<&Shape>, s: &mut Sampler) -> Shape {
    let rank = if written.contains("1d") {
        3
    } else if written.contains("3d") {
        5
    } else {
        4
    };
    if let Some((dtype, dims)) = wanted.filter(|(_, dims)| dims.len() == rank) {
        return (*dtype, dims.clone());
    }
    let dtype = wanted.map_or_else(|| s.dtype(), |(dtype, _)| *dtype);
    let mut dims = vec![s.size_of(&[1, 1, 1, 2]), s.size()];
    dims.extend((2..rank).map(|_| s.size_of(&[1, 3, 5, 6, 7, 8, 11, 14])));
    (dtype, dims)
}

fn filter(x: &Option<Shape>, transposed: bool, s: &mut Sampler) -> Shape {
    let (dtype, dims) = x.clone().unwrap_or((ElementType::F32, vec![1, 8, 8, 8]));
    let channels = dims.get(1).copied().unwrap_or(1);
    let mut shape = match s.pick(&[0, 0, 0, 0, 1, 2]) {
        // Two groups of channels.
        2 if !transposed && channels % 2 == 0 => vec![2 * s.size_of(&[1, 2, 4, 8]), channels / 2],
        1 if !transposed => vec![channels * s.size_of(&[1, 1, 1, 2]), 1],
        // As many on both sides: a mistaken axis fits all the same.
        _ if s.chance(15) => vec![channels, channels],
        _ if transposed => vec![channels, s.size()],
        _ => vec![s.size(), channels],
    };
    let kernel = s.size_of(&[1, 1, 2, 3, 3, 5]);
    shape.extend(dims.iter().skip(2).map(|_| if s.chance(65) { kernel } else { s.small() }));
    (dtype, shape)
}

fn bias(known: &[Option<Shape>], place: usize, s: &mut Sampler) -> Shape {
    let (dtype, dims) =
        known.first().cloned().flatten().unwrap_or_else(|| (ElementType::F32, vec![s.size()]));
    (dtype, vec![dims.get(place).copied().unwrap_or(1)])
}

fn matrix(written: &str, wanted: Option<&Shape>, s: &mut Sampler) -> Shape {
    if let Some((dtype, dims)) = wanted.filter(|(_, dims)| dims.len() >= 2) {
        return (*dtype, dims.clone());
    }
    let batches = match written {
        "batch_matmul" => 1,
        "matmul" => s.pick(&[0, 0, 0, 0, 0, 1, 1, 1, 2]),
        _ => 0,
    };
    let mut dims: Vec<i64> = (0..batches).map(|_| s.size_of(&[1, 2, 3])).collect();
    dims.extend([s.size(), s.size()]);
    (wanted.map_or_else(|| s.dtype(), |(dtype, _)| *dtype), dims)
}

fn factor(a: &Option<Shape>, written: &str, s: &mut Sampler) -> Shape {
    let (dtype, dims) = a.clone().unwrap_or((ElementType::F32, vec![4, 8]));
    // The first factor of a gemm may be transposed too; see `trans_a`.
    let is_turned = written == "gemm" && s.chance(15);
    let inner = if is_turned { dims.first() } else { dims.last() }.copied().unwrap_or(1);
    let mut shape = dims[..dims.len().saturating_sub(2)].to_vec();
    // One matrix may be for all of a batch, and there may be more of them than of the first factor.
    match s.below(10) {
        0 | 1 if !shape.is_empty() => {
            let place = s.below(shape.len());
            shape[place] = if shape[place] == 1 { s.pick(&[2, 3]) } else { 1 };
        }
        2 | 3 => shape.clear(),
        4 if written == "matmul" || written == "batch_matmul" && !shape.is_empty() => {
            shape = spread(shape, s);
        }
        _ => {}
    }
    // For a gemm this may be the transposed factor; see `trans_b`.
    let columns = s.size();
    let turned = match s.wished_number(Some(written), "trans_b") {
        Some(turned) => turned != 0.0,
        None => s.chance(30),
    };
    shape.extend(if turned { [columns, inner] } else { [inner, columns] });
    (dtype, shape)
}

/// Operand that a gemm adds to the product: one number for all, or one for each column.
fn addend(a: &Option<Shape>, known: &[Option<Shape>], s: &mut Sampler) -> Shape {
    let columns = known.get(1).cloned().flatten().map_or(1, |(_, dims)| dims[1]);
    let dims = s.pick(&[0, 1, 2]);
    let all = [vec![columns], vec![1, columns], vec![1]];
    (data_type(a, s), all[dims].clone())
}

fn quantized(wanted: Option<&Shape>, s: &mut Sampler) -> Shape {
    let (_, dims) = any(wanted, s);
    // One dimension is a bias, as a rule: sums of products.
    let dtype = if dims.len() == 1 && s.chance(70) { ElementType::I32 } else { s.quantized() };
    (dtype, dims)
}

/// The dimensions of the scale, which is the second operand.
fn scale_dims(known: &[Option<Shape>]) -> Vec<i64> {
    known.get(1).cloned().flatten().map_or(vec![], |(_, dims)| dims)
}

/// One scale for all, or one for each place along the first, second or last dimension.
fn scale(x: &Option<Shape>, s: &mut Sampler) -> Vec<i64> {
    let dims = x.as_ref().map_or(&[][..], |(_, dims)| dims);
    if s.chance(60) || dims.is_empty() {
        return vec![];
    }
    // What is stored in few bits seldom has fewer.
    let is_small = x.as_ref().is_some_and(|(dtype, _)| dtype.bits() < 8);
    if dims.len() > 1 && s.chance(if is_small { 40 } else { 12 }) {
        // One for each block along the first or last dimension, of which there are two if there can be.
        let axis = s.pick(&[0, dims.len() - 1]);
        let mut blocks: Vec<i64> =
            [2, 4, 8, 16, 32].into_iter().filter(|n| 2 * n <= dims[axis]).collect();
        // A block that conditions name may be the only one, so that it is tried with few elements, too.
        blocks.extend(s.corners().iter().filter(|n| (2..=dims[axis]).contains(*n)));
        let block = s.size_of(if blocks.is_empty() { &[1] } else { &blocks }).min(dims[axis]);
        let mut blocks = dims.to_vec();
        blocks[axis] = dims[axis].div_euclid(block) + i64::from(dims[axis] % block > 0);
        return blocks;
    }
    let axis = s.pick(&[0, 0, 1, dims.len() - 1]).min(dims.len() - 1);
    vec![dims[axis]]
}

/// Scale and zero point of an operand, which comes before them, or of the result.
fn qlinear_parameter(name: &str, index: usize, known: &[Option<Shape>], s: &mut Sampler) -> Shape {
    let before = |back: usize| known.get(index.wrapping_sub(back)).cloned().flatten();
    let is_result = name.starts_with("y_");
    if name.ends_with("scale") {
        let weights = before(1).filter(|_| !is_result && index > 2);
        let columns = name.starts_with('b');
        let per_channel = |(_, dims): (ElementType, Vec<i64>)| {
            let size = if columns { dims.last() } else { dims.first() };
            size.map_or(vec![], |size| vec![*size])
        };
        let dims = if s.chance(50) { vec![] } else { weights.map_or(vec![], per_channel) };
        return (ElementType::F32, dims);
    }
    let dims = before(1).map_or(vec![], |(_, dims)| dims);
    let dtype = if is_result { None } else { before(2).map(|(dtype, _)| dtype) };
    (dtype.unwrap_or_else(|| s.quantized()), dims)
}

/// A shape that broadcasts with another one.
fn broadcast(other: &Option<Shape>, s: &mut Sampler) -> Shape {
    let Some((dtype, dims)) = other.clone() else { return any(None, s) };
    let rank = dims.len();
    let shape = match s.below(8) {
        0 => vec![],
        1 => dims.last().map_or(vec![], |size| vec![*size]),
        2 if rank > 2 => {
            let mut shape = vec![1; rank - 1];
            shape[0] = dims[1];
            shape
        }
        3 if rank > 2 => {
            let mut shape = vec![1; rank];
            shape[1] = dims[1];
            shape
        }
        4 | 5 => spread(dims, s),
        _ => dims,
    };
    (dtype, shape)
}

/// Dimensions that broadcast with others: of any of these one, of a one several, fewer in front or one more.
fn spread(mut dims: Vec<i64>, s: &mut Sampler) -> Vec<i64> {
    for dim in &mut dims {
        let other = if *dim == 1 { s.pick(&[1, 2, 3]) } else { 1 };
        *dim = if s.chance(40) { other } else { *dim };
    }
    match s.below(4) {
        0 => {
            let from = s.below(dims.len() + 1);
            dims.split_off(from)
        }
        1 if dims.len() < 5 => {
            dims.insert(0, s.pick(&[1, 2]));
            dims
        }
        _ => dims,
    }
}
