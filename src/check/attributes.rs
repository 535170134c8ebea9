//! The attributes of operations: what the conditions ask for, the usual, and what nobody mentions.
//! That a device is not told of an attribute only shows where it has another value than usual.

use super::{
    constraints::{Constraint, RESULT},
    operands::Shape,
    sampler::Sampler,
};
use crate::{
    graph::{AttrDecl, AttrKind, AttrValue, OpDecl},
    ir::view::graph_info,
    tensor::DType,
};

/// Percentage of cases that omit an attribute which has a default.
const USUAL: usize = 45;

/// The attributes of `op` that its operands leave open. `names` is what conditions may call it.
pub fn attributes(
    op: &OpDecl,
    names: &[&str],
    known: &[Option<Shape>],
    s: &mut Sampler,
) -> Vec<(String, AttrValue)> {
    let dims = |index: usize| {
        known.get(index).cloned().flatten().map(|(_, dims)| dims).unwrap_or_default()
    };
    let x = dims(0);
    let spatial = x.len().saturating_sub(2);
    let w = dims(if op.name == "qlinear_conv" { 3 } else { 1 });
    let steady = steady(op, &w, spatial, s);
    let mut made = vec![];
    for attr in &op.attrs {
        let outer = s.enter_named(&attr.name);
        let value = attribute((op, attr), names, known, (&w, &steady), s);
        s.leave(outer);
        made.extend(value.map(|value| (attr.name.clone(), value)));
    }
    made
}

/// The value of an attribute that its operation's operands leave open.
fn attribute(
    (op, attr): (&OpDecl, &AttrDecl),
    names: &[&str],
    known: &[Option<Shape>],
    (w, steady): (&[i64], &[bool]),
    s: &mut Sampler,
) -> Option<AttrValue> {
    let dims = |index: usize| {
        known.get(index).cloned().flatten().map(|(_, dims)| dims).unwrap_or_default()
    };
    let x = dims(0);
    let spatial = x.len().saturating_sub(2);
    if ["quantize_linear", "dequantize_linear"].contains(&op.name.as_str())
        && let Some((axis, size)) = block(&x, &dims(1))
    {
        match attr.name.as_str() {
            "axis" => return Some(AttrValue::Int(axis)),
            "block_size" => return Some(AttrValue::Int(size)),
            _ => {}
        }
    }
    let wished = s.wished_attribute(names, &attr.name);
    if let Some(value) = wished.and_then(|want| wished_value(attr, want, spatial)) {
        return Some(value);
    }
    if attr.kind == AttrKind::Type
        && let Some(want) = s.wished_attribute(names, RESULT)
        && let Some(value) = wished_value(attr, want, spatial)
    {
        return Some(value);
    }
    match (op.name.as_str(), attr.name.as_str()) {
        ("conv" | "conv_integer" | "qlinear_conv", "group") => {
            let inner = w.get(1).copied().unwrap_or(1).max(1);
            Some(AttrValue::Int(x.get(1).map_or(1, |channels| channels / inner)))
        }
        ("quantize_linear" | "dequantize_linear", "axis") => {
            Some(AttrValue::Int(axis(&x, &dims(1), s)))
        }
        ("gemm", "trans_a" | "trans_b") => {
            let (a, b) = turned(&x, &dims(1));
            Some(AttrValue::Bool(if attr.name == "trans_a" { a } else { b }))
        }
        ("layer_norm" | "rms_norm" | "layer_norm_with_stats", "axis") => {
            let back = dims(1).len().clamp(1, x.len().max(1)) as i64;
            Some(AttrValue::Int(if s.chance(60) { -back } else { x.len() as i64 - back }))
        }
        ("einsum", "equation") => equation(known, s).map(AttrValue::Str),
        // A zero point says the same.
        ("quantize_linear", "to") => {
            let is_said = known.get(2).is_some_and(Option::is_some);
            (!is_said && s.chance(50)).then(|| AttrValue::Type(s.quantized()))
        }
        (_, "kernel_shape") => {
            Some(AttrValue::Ints((0..spatial).map(|_| s.size_of(&[1, 2, 3])).collect()))
        }
        (_, "strides") => {
            let stride = |steady: &bool| if *steady { 1 } else { s.small() };
            Some(AttrValue::Ints(steady.iter().map(stride).collect()))
        }
        (_, "pads") if spatial > 0 => Some(AttrValue::Ints(pads(w, steady, s))),
        _ if attr.default.is_some() && s.chance(USUAL) => None,
        _ => other(op, attr, &x, s),
    }
}

/// The axis that scales have blocks along, and the size of these.
fn block(x: &[i64], scale: &[i64]) -> Option<(i64, i64)> {
    if x.len() != scale.len() || x.len() < 2 {
        return None;
    }
    let pairs = || x.iter().zip(scale);
    let axis = pairs().position(|(size, blocks)| size != blocks).unwrap_or(0);
    let (size, blocks) = (x.get(axis)?, scale.get(axis)?.max(&1));
    Some((axis as i64, size.div_euclid(*blocks) + i64::from(size % blocks > 0)))
}

/// Dimensions along which a window takes each place once and leaves the size as it is.
fn steady(op: &OpDecl, w: &[i64], spatial: usize, s: &mut Sampler) -> Vec<bool> {
    // Networks have most convolutions over the channels alone with neither stride nor padding, and
    // many devices a way of their own for them.
    let is_point = op.name.contains("conv") && w.len() > 2 && w.iter().skip(2).all(|k| *k == 1);
    let is_plain = is_point && s.chance(60);
    (0..spatial).map(|_| is_plain || s.chance(30)).collect()
}

/// The padding before each dimension, then behind each.
fn pads(w: &[i64], steady: &[bool], s: &mut Sampler) -> Vec<i64> {
    let spatial = steady.len();
    let kernel = |dim: usize| w.get(dim + 2).copied().unwrap_or(1);
    let pad = |side: usize| match steady[side % spatial] {
        true => (kernel(side % spatial) - 1) / 2,
        false => s.pick(&[0, 0, 1, 1, 2]),
    };
    (0..2 * spatial).map(pad).collect()
}

/// Value of the attribute that the conditions ask for. A single number asked of a list applies to
/// each of its elements.
fn wished_value(attr: &AttrDecl, want: Constraint, spatial: usize) -> Option<AttrValue> {
    let count = match attr.name.as_str() {
        "strides" | "dilations" | "kernel_shape" => spatial,
        "pads" => 2 * spatial,
        _ => 1,
    };
    Some(match (attr.kind, want) {
        (AttrKind::Int, Constraint::Number(number)) => AttrValue::Int(number as i64),
        (AttrKind::Float, Constraint::Number(number)) => AttrValue::Float(number),
        (AttrKind::Bool, Constraint::Number(number)) => AttrValue::Bool(number != 0.0),
        (AttrKind::Ints, Constraint::Number(number)) => AttrValue::Ints(vec![number as i64; count]),
        (AttrKind::Ints, Constraint::Numbers(numbers)) => AttrValue::Ints(numbers),
        (AttrKind::Str, Constraint::Text(text)) => AttrValue::Str(text),
        (AttrKind::Type, Constraint::Type(dtype)) => AttrValue::Type(dtype),
        _ => return None,
    })
}

/// A value that an attribute seldom has.
fn other(op: &OpDecl, attr: &AttrDecl, x: &[i64], s: &mut Sampler) -> Option<AttrValue> {
    let rank = x.len() as i64;
    let place = |s: &mut Sampler| s.below((2 * rank).max(1) as usize) as i64 - rank;
    let name = attr.name.as_str();
    Some(match attr.kind {
        AttrKind::Bool => AttrValue::Bool(s.chance(50)),
        AttrKind::Float if name == "epsilon" => AttrValue::Float(s.pick(&[1e-3, 0.1, 1e-2])),
        AttrKind::Float => AttrValue::Float(s.pick(&[0.3, 0.7, 1.5, 2.0, 0.25])),
        AttrKind::Int => AttrValue::Int(match name {
            "axis" | "batch_axis" | "time_axis" => place(s),
            "blocksize" | "batch_dims" if op.name.contains("space") => 2,
            "batch_dims" | "block_size" | "storage_order" | "start" => 0,
            "end" => rank,
            "num_groups" => {
                let channels = x.get(1).copied().unwrap_or(1);
                let fits: Vec<i64> = [1, 2, 4].into_iter().filter(|n| channels % n == 0).collect();
                s.pick(&fits)
            }
            "size" => s.pick(&[1, 3, 5]),
            "p" => s.pick(&[1, 2]),
            _ => s.small(),
        }),
        AttrKind::Ints => AttrValue::Ints(match name {
            "perm" => permutation(rank, s),
            "axes" if op.name == "unsqueeze" => vec![s.below(rank as usize + 1) as i64],
            "axes" if op.name == "squeeze" => {
                (0..rank).filter(|i| x[*i as usize] == 1).take(1).collect()
            }
            "axes" => some_axes(rank, s),
            "dilations" => (2..rank).map(|_| s.small()).collect(),
            "output_padding" => (2..rank).map(|_| s.pick(&[0, 0, 1])).collect(),
            "split" => split(x, s),
            _ => vec![s.small(), s.small()],
        }),
        AttrKind::Str => AttrValue::Str(word(op, name, s)?.to_owned()),
        AttrKind::Type => {
            AttrValue::Type(s.pick(&[DType::F32, DType::U8, DType::I8, DType::I32]).into())
        }
        _ => return None,
    })
}

/// Sizes that may be those of pieces: of a dimension, in two or three.
fn split(x: &[i64], s: &mut Sampler) -> Vec<i64> {
    let size = s.pick(x).max(1);
    match s.below(3) {
        0 => vec![size],
        1 => vec![1, size - 1],
        _ => vec![size / 3, size - size / 3 - 1, 1],
    }
    .into_iter()
    .filter(|piece| *piece > 0)
    .collect()
}

fn permutation(rank: i64, s: &mut Sampler) -> Vec<i64> {
    let mut left: Vec<i64> = (0..rank).collect();
    let mut order = vec![];
    while !left.is_empty() {
        order.push(left.remove(s.below(left.len())));
    }
    order
}

/// Some of the axes, a few of them counted from the end.
fn some_axes(rank: i64, s: &mut Sampler) -> Vec<i64> {
    let mut axes: Vec<i64> = (0..rank).filter(|_| s.chance(50)).collect();
    if axes.is_empty() && rank > 0 {
        axes.push(s.below(rank as usize) as i64);
    }
    if s.chance(30) {
        axes.iter_mut().for_each(|axis| *axis -= rank);
    }
    axes
}

/// A word that the attribute of an operation may have.
fn word(op: &OpDecl, name: &str, s: &mut Sampler) -> Option<&'static str> {
    let attribute = graph_info(&op.name)?.attributes.iter().find(|attr| attr.name == name)?;
    (!attribute.words.is_empty()).then(|| s.pick(attribute.words))
}

/// Transposition flags of a gemm's factors that make their inner sizes agree.
fn turned(a: &[i64], b: &[i64]) -> (bool, bool) {
    let ([p, q], [r, t]) = (a, b) else { return (false, false) };
    let all = [(false, false, q, r), (false, true, q, t), (true, false, p, r), (true, true, p, t)];
    let fits: Vec<(bool, bool)> =
        all.into_iter().filter(|one| one.2 == one.3).map(|one| (one.0, one.1)).collect();
    // Both attributes have to make the same choice; the sizes decide it.
    match fits.len() {
        0 => (false, false),
        _ => fits[(p + q + r + t) as usize % fits.len()],
    }
}

/// Sums of products over some of the dimensions, where equal sizes are one dimension.
fn equation(known: &[Option<Shape>], s: &mut Sampler) -> Option<String> {
    let mut sizes: Vec<i64> = vec![];
    let mut terms = vec![];
    for (_, dims) in known.iter().flatten() {
        let mut term = String::new();
        for dim in dims {
            let same = |at: &usize| sizes[*at] == *dim && !term.contains(letter(*at));
            let at = (0..sizes.len()).find(same).unwrap_or(sizes.len());
            if at == sizes.len() {
                sizes.push(*dim);
            }
            term.push(letter(at));
        }
        terms.push(term);
    }
    let result: String = (0..sizes.len()).filter(|_| s.chance(60)).map(letter).collect();
    (sizes.len() <= 26).then(|| format!("{}->{result}", terms.join(",")))
}

/// The name of a dimension in an equation.
fn letter(at: usize) -> char {
    char::from(b'a' + (at % 26) as u8)
}

/// An axis with as many places as there are scales.
fn axis(x: &[i64], scale: &[i64], s: &mut Sampler) -> i64 {
    let [count] = scale else { return s.pick(&[-1, 0, 1, -1]) };
    let fits: Vec<i64> = (0..x.len()).filter(|i| x[*i] == *count).map(|i| i as i64).collect();
    let back = if s.chance(20) { x.len() as i64 } else { 0 };
    if fits.is_empty() { s.pick(&[0, 1]) } else { s.pick(&fits) - back }
}
