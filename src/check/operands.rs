//! Operands whose shapes and numbers follow from the first one: indices, sizes, axes, scales.

use super::sampler::Sampler;
use crate::{
    graph::OpDecl,
    tensor::{ElementType, Tensor},
};

/// Element type and sizes.
pub type Shape = (ElementType, Vec<i64>);

/// True if an operand says where or how much, so that only some numbers make sense for it.
pub fn is_number(decl: &OpDecl, name: &str) -> bool {
    matches!(
        (decl.name.as_str(), name),
        ("gather" | "gather_elements" | "gather_nd" | "scatter_elements" | "scatter_nd", "indices")
            | ("slice", "starts" | "ends" | "axes" | "steps")
            | ("pad", "pads" | "axes")
            | ("reshape" | "expand", "shape")
            | ("tile", "repeats")
            | ("top_k" | "trilu", "k")
            | ("resize", "roi" | "scales" | "sizes")
            | ("reverse_sequence", "lens")
    )
}

/// The type of an operand, where it follows from the first one's.
pub fn shape(decl: &OpDecl, name: &str, first: &Option<Shape>, s: &mut Sampler) -> Option<Shape> {
    let (dtype, dims) = first.clone()?;
    let rank = dims.len() as i64;
    let channels = dims.get(1).copied().unwrap_or(1);
    Some(match (decl.name.as_str(), name) {
        ("gather", "indices") => {
            let dims: &[i64] = s.pick(&[&[][..], &[1], &[3], &[2, 2]]);
            (index_type(s), dims.to_vec())
        }
        ("gather_elements" | "scatter_elements", "indices") => (index_type(s), dims),
        ("scatter_elements", "updates") => (dtype, dims),
        ("gather_nd" | "scatter_nd", "indices") => (ElementType::I64, vec![2, 1]),
        ("scatter_nd", "updates") => {
            (dtype, std::iter::once(2).chain(dims.into_iter().skip(1)).collect())
        }
        ("slice", _) => (ElementType::I64, vec![1]),
        ("pad", "pads") => (ElementType::I64, vec![2 * rank]),
        ("pad", "value") => (dtype, vec![]),
        ("reshape", "shape") => (ElementType::I64, vec![rank]),
        ("expand", "shape") => (ElementType::I64, vec![rank + s.below(2) as i64]),
        ("tile", "repeats") => (ElementType::I64, vec![rank]),
        ("top_k", "k") => (ElementType::I64, vec![1]),
        ("trilu", "k") => (ElementType::I64, vec![]),
        ("reverse_sequence", "lens") => (ElementType::I64, vec![channels]),
        ("resize", "scales") => (ElementType::F32, vec![rank]),
        ("resize", "sizes") => (ElementType::I64, vec![rank]),
        ("instance_norm" | "group_norm", "scale" | "bias") => (dtype, vec![channels]),
        ("layer_norm" | "rms_norm" | "layer_norm_with_stats", "scale") => {
            let from = if s.chance(70) { rank - 1 } else { s.below(rank as usize) as i64 };
            (dtype, dims[from.max(0) as usize..].to_vec())
        }
        // As the scale has it as a rule; what does not fit is thrown away.
        ("layer_norm" | "layer_norm_with_stats", "bias") => (dtype, vec![*dims.last()?]),
        ("prelu", "slope") => match s.below(3) {
            0 => (dtype, vec![1]),
            1 => (dtype, dims),
            _ => (dtype, std::iter::once(channels).chain((2..rank).map(|_| 1)).collect()),
        },
        ("pow" | "mod" | "bit_shift" | "where", _) if s.chance(50) => {
            (if decl.name == "where" { s.dtype() } else { dtype }, dims)
        }
        ("concat", _) => {
            // One dimension may differ; it is the axis if the choice is lucky.
            let mut dims = dims;
            if s.chance(70) && !dims.is_empty() {
                let place = s.below(dims.len());
                dims[place] = s.size_up_to(16);
            }
            (dtype, dims)
        }
        _ => return None,
    })
}

/// The type of indices.
fn index_type(s: &mut Sampler) -> ElementType {
    s.pick(&[ElementType::I64, ElementType::I64, ElementType::I32])
}

/// The numbers of an operand that says where or how much.
pub fn numbers(
    decl: &OpDecl,
    name: &str,
    first: Option<&Shape>,
    shape: &Shape,
    s: &mut Sampler,
) -> Option<Tensor> {
    if !is_number(decl, name) {
        return None;
    }
    let x = first.map(|(_, dims)| dims.clone()).unwrap_or_default();
    let sizes: Vec<usize> = shape.1.iter().map(|dim| (*dim).max(0) as usize).collect();
    let count: usize = sizes.iter().product();
    if name == "scales" {
        let numbers: Vec<f32> =
            (0..count).map(|i| if i < 2 { 1.0 } else { s.pick(&[1.0, 2.0, 2.0, 1.5]) }).collect();
        return Tensor::from_slice(&sizes, &numbers).ok();
    }
    // An index that every dimension has.
    let least = x.iter().copied().min().unwrap_or(1).max(1);
    if name == "indices" {
        // A negative one counts from the end, so that the last of a long dimension has its turn.
        let back = if s.chance(30) { least } else { 0 };
        let of_all =
            |s: &mut Sampler| (0..count).map(|_| s.below(least as usize) as i64 - back).collect();
        let numbers: Vec<i64> = s.bulk(of_all);
        return match shape.0 {
            ElementType::I32 => {
                let numbers: Vec<i32> = numbers.into_iter().map(|number| number as i32).collect();
                Tensor::from_slice(&sizes, &numbers).ok()
            }
            _ => Tensor::from_slice(&sizes, &numbers).ok(),
        };
    }
    let mut number = |i: usize| -> i64 {
        let dim = x.get(i).copied().unwrap_or(1);
        match (decl.name.as_str(), name) {
            ("slice", "starts") => s.pick(&[0, 1, -2, 2]),
            ("slice", "ends") => s.pick(&[i64::MAX, -1, 3, 5]),
            ("slice", "axes") => s.below(x.len().max(1)) as i64,
            ("slice", _) => s.pick(&[1, 1, 2, -1]),
            ("pad", _) => s.pick(&[0, 0, 1, 2]),
            // Dimensions are those of the end; one that x lacks, or of which it has one, may grow.
            ("expand", _) => match (i + x.len()).checked_sub(count).map(|i| x[i]) {
                None | Some(1) => s.pick(&[1, 2, 3]),
                Some(dim) => s.pick(&[dim, dim, 1]),
            },
            ("tile", _) => s.pick(&[1, 1, 2, 3]),
            ("top_k", _) => 1 + s.below(least as usize) as i64,
            ("trilu", _) => s.pick(&[0, 1, -1]),
            ("reverse_sequence", _) => 1 + s.below(least as usize) as i64,
            ("resize", _) if i < 2 => dim,
            ("resize", _) => dim * s.pick(&[1, 2, 2]),
            _ => dim,
        }
    };
    let mut numbers: Vec<i64> = (0..count).map(&mut number).collect();
    if decl.name == "reshape" {
        match s.below(3) {
            0 => numbers.reverse(),
            1 if numbers.len() > 1 => {
                // Two dimensions become one; a one keeps the number of them.
                numbers[1] *= numbers[0];
                numbers[0] = 1;
            }
            _ => {
                numbers.fill(1);
                *numbers.last_mut()? = -1;
            }
        }
    }
    Tensor::from_slice(&sizes, &numbers).ok()
}
