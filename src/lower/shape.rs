//! Tensor operations that move elements without computing: reshape, transpose, pad, slice.

use super::generic::{Aff, d, fill, parallel, region};
use crate::{
    Error, Result,
    ir::{self, Builder, OpSpec, Val, tir},
};
use melior::ir::{
    Attribute, Type, ValueLike,
    attribute::{ArrayAttribute, DenseI32ArrayAttribute},
};

/// The elements of `value` in row-major order with other dimensions.
pub fn reshape<'c>(b: &Builder<'c>, value: Val<'c>, to: &[i64]) -> Result<Val<'c>> {
    let from = ir::dims(value.r#type());
    let element = ir::element_type(value.r#type());
    if from == to {
        return Ok(value);
    }
    let count: i64 = from.iter().product();
    if count != to.iter().product::<i64>() {
        return Err(Error::internal(format!("reshape of {from:?} to {to:?}")));
    }
    if count == 0 {
        return b.empty(b.tensor(to, element));
    }
    let (middle, down, up) = common_groups(&from, to);
    let collapsed = if middle.len() == from.len() {
        value
    } else {
        let attributes = vec![("reassociation", groups_attr(b, &down))];
        b.op1_with("tensor.collapse_shape", &[value], b.tensor(&middle, element), attributes)?
    };
    if middle.len() == to.len() {
        return Ok(collapsed);
    }
    let attributes =
        vec![("reassociation", groups_attr(b, &up)), ("static_output_shape", b.i64s_attr(to))];
    b.op1_with("tensor.expand_shape", &[collapsed], b.tensor(to, element), attributes)
}

type Groups = Vec<Vec<i64>>;

/// The finest shape that both shapes collapse to, and which dimensions of each make one of it.
fn common_groups(from: &[i64], to: &[i64]) -> (Vec<i64>, Groups, Groups) {
    let (mut middle, mut down, mut up) = (vec![], Groups::new(), Groups::new());
    let (mut i, mut j) = (0, 0);
    while i < from.len() && j < to.len() {
        let (mut left, mut right) = (vec![i as i64], vec![j as i64]);
        let (mut left_size, mut right_size) = (from[i], to[j]);
        (i, j) = (i + 1, j + 1);
        while left_size != right_size {
            if left_size < right_size {
                left.push(i as i64);
                left_size *= from[i];
                i += 1;
            } else {
                right.push(j as i64);
                right_size *= to[j];
                j += 1;
            }
        }
        middle.push(left_size);
        down.push(left);
        up.push(right);
    }
    // What is left are dimensions of size 1; without any group, one side has rank 0.
    if let (Some(left), Some(right)) = (down.last_mut(), up.last_mut()) {
        left.extend((i..from.len()).map(|dim| dim as i64));
        right.extend((j..to.len()).map(|dim| dim as i64));
    }
    (middle, down, up)
}

fn groups_attr<'c>(b: &Builder<'c>, groups: &Groups) -> Attribute<'c> {
    let groups: Vec<_> = groups
        .iter()
        .map(|group| {
            let dims: Vec<_> = group.iter().map(|dim| b.i64_attr(*dim)).collect();
            ArrayAttribute::new(b.context, &dims).into()
        })
        .collect();
    ArrayAttribute::new(b.context, &groups).into()
}

/// Dimension `i` of the result is dimension `perm[i]` of `value`.
pub fn transpose<'c>(b: &Builder<'c>, value: Val<'c>, perm: &[usize]) -> Result<Val<'c>> {
    let from = ir::dims(value.r#type());
    if perm.iter().enumerate().all(|(i, p)| i == *p) {
        return Ok(value);
    }
    let to: Vec<_> = perm.iter().map(|p| from[*p]).collect();
    let ty = b.tensor(&to, ir::element_type(value.r#type()));
    // Moving only dimensions of size 1 keeps the order of the elements.
    let order = |dims: &[usize]| dims.iter().copied().filter(|p| from[*p] != 1).collect::<Vec<_>>();
    if order(perm).is_sorted() {
        return reshape(b, value, &to);
    }
    let mut map = vec![Aff::default(); from.len()];
    for (i, p) in perm.iter().enumerate() {
        map[*p] = d(i);
    }
    parallel(b, ty, &[(value, map)], |_, x| Ok(x[0]))
}

/// `value` with elements `padding` (a scalar) added before and after each dimension; negative
/// numbers cut off.
pub fn pad<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    low: &[i64],
    high: &[i64],
    padding: Val<'c>,
) -> Result<Val<'c>> {
    let cut = |list: &[i64]| list.iter().map(|n| (-n).max(0)).collect::<Vec<_>>();
    let add = |list: &[i64]| list.iter().map(|n| (*n).max(0)).collect::<Vec<_>>();
    let from = ir::dims(value.r#type());
    let (begin, end) = (cut(low), cut(high));
    let sizes: Vec<_> =
        from.iter().zip(&begin).zip(&end).map(|((dim, b), e)| (dim - b - e).max(0)).collect();
    let value = slice(b, value, &begin, &sizes, &vec![1; from.len()])?;
    let (low, high) = (add(low), add(high));
    if low.iter().chain(&high).all(|n| *n == 0) {
        return Ok(value);
    }
    let to: Vec<_> = sizes.iter().zip(&low).zip(&high).map(|((dim, l), h)| dim + l + h).collect();
    let ty = b.tensor(&to, ir::element_type(value.r#type()));
    if sizes.contains(&0) {
        return fill(b, ty, padding);
    }
    let body = region(b, &vec![b.index_type(); from.len()], |b, _| {
        b.create("tensor.yield", OpSpec { operands: &[padding], ..Default::default() })?;
        Ok(())
    })?;
    let segments = DenseI32ArrayAttribute::new(b.context, &[1, 0, 0]);
    let op = b.create(
        "tensor.pad",
        OpSpec {
            operands: &[value],
            results: &[ty],
            attributes: vec![
                ("static_low", b.i64s_attr(&low)),
                ("static_high", b.i64s_attr(&high)),
                ("operandSegmentSizes", segments.into()),
            ],
            regions: vec![body],
            ..Default::default()
        },
    )?;
    ir::result0(op)
}

fn window_attrs<'c>(
    b: &Builder<'c>,
    dynamic: &[i32],
    offsets: &[i64],
    sizes: &[i64],
    strides: &[i64],
) -> Vec<(&'static str, Attribute<'c>)> {
    vec![
        ("static_offsets", b.i64s_attr(offsets)),
        ("static_sizes", b.i64s_attr(sizes)),
        ("static_strides", b.i64s_attr(strides)),
        ("operandSegmentSizes", DenseI32ArrayAttribute::new(b.context, dynamic).into()),
    ]
}

/// `tensor.extract_slice` with static positions and positive strides.
pub fn slice<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    offsets: &[i64],
    sizes: &[i64],
    strides: &[i64],
) -> Result<Val<'c>> {
    if sizes == ir::dims(value.r#type()) {
        return Ok(value);
    }
    let ty = b.tensor(sizes, ir::element_type(value.r#type()));
    let attributes = window_attrs(b, &[1, 0, 0, 0], offsets, sizes, strides);
    b.op1_with("tensor.extract_slice", &[value], ty, attributes)
}

/// `tensor.insert_slice` of `value` into `into` with static positions and positive strides.
pub fn insert_slice<'c>(
    b: &Builder<'c>,
    value: Val<'c>,
    into: Val<'c>,
    offsets: &[i64],
    strides: &[i64],
) -> Result<Val<'c>> {
    let sizes = ir::dims(value.r#type());
    let attributes = window_attrs(b, &[1, 1, 0, 0, 0], offsets, &sizes, strides);
    b.op1_with("tensor.insert_slice", &[value, into], into.r#type(), attributes)
}

/// Insertions into one tensor up to which a join is a chain of them, whose producers can write
/// straight into the result. Bufferization's time grows with the third power of this number, so
/// longer joins are copies.
pub const LONGEST_CHAIN: usize = 32;

/// `tir.concat`: the tensors one after the other along `axis`, as a tensor of type `ty`, by copies.
pub fn concat<'c>(
    b: &Builder<'c>,
    pieces: &[Val<'c>],
    axis: usize,
    ty: Type<'c>,
) -> Result<Val<'c>> {
    let mut operands = pieces.to_vec();
    operands.push(b.empty(ty)?);
    let attributes = vec![("dim", b.i64_attr(axis as i64))];
    b.op1_with(tir::Concat::NAME, &operands, ty, attributes)
}

/// `tensor.extract`: one element at index values.
pub fn extract<'c>(b: &Builder<'c>, tensor: Val<'c>, indices: &[Val<'c>]) -> Result<Val<'c>> {
    let mut operands = vec![tensor];
    operands.extend(indices);
    b.op1("tensor.extract", &operands, ir::element_type(tensor.r#type()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_as_fine_as_possible() {
        let (middle, down, up) = common_groups(&[2, 3, 4], &[6, 2, 2]);
        assert_eq!(middle, [6, 4]);
        assert_eq!(down, [vec![0, 1], vec![2]]);
        assert_eq!(up, [vec![0], vec![1, 2]]);
    }

    #[test]
    fn groups_take_in_dimensions_of_size_one() {
        let (middle, down, up) = common_groups(&[1, 6, 1], &[2, 1, 3]);
        assert_eq!(middle, [6]);
        assert_eq!(down, [vec![0, 1, 2]]);
        assert_eq!(up, [vec![0, 1, 2]]);
        assert_eq!(common_groups(&[1, 1], &[]).0, Vec::<i64>::new());
    }
}
