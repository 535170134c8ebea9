//! Values in the two layouts: channels last, as in the file, and channels first, as in the graph
//! dialect.

use crate::tensor::{AlignedBuffer, Tensor};

/// Position of the channels of a value. Values of fewer than three dimensions are the same in both
/// layouts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// As in the file.
    Last,
    /// Behind the batch.
    First,
}

impl Layout {
    /// The order of dimensions that makes a value of this layout of one of the other.
    pub(crate) fn order(self, rank: usize) -> Vec<i64> {
        let rank = rank as i64;
        if rank < 3 {
            return (0..rank).collect();
        }
        match self {
            Self::First => [0, rank - 1].into_iter().chain(1..rank - 1).collect(),
            Self::Last => [0].into_iter().chain(2..rank).chain([1]).collect(),
        }
    }

    /// Position of the file's dimension `dim` in this layout.
    pub(crate) fn position(self, dim: usize, rank: usize) -> usize {
        match self {
            Self::Last => dim,
            Self::First => {
                let order = self.order(rank);
                order.iter().position(|other| *other == dim as i64).unwrap_or(dim)
            }
        }
    }
}

/// True if the permutation leaves the elements in place.
pub(crate) fn is_reshape(dims: &[i64], perm: &[i64]) -> bool {
    let long = |dim: &&i64| usize::try_from(**dim).is_ok_and(|dim| dims.get(dim) != Some(&1));
    let order: Vec<_> = perm.iter().filter(long).collect();
    order.is_sorted()
}

/// A tensor with its dimensions in another order: dimension i of the result is `perm[i]`.
pub(crate) fn permuted(tensor: &Tensor, perm: &[i64]) -> Result<Tensor, String> {
    let order: Vec<usize> = perm.iter().map(|dim| usize::try_from(*dim).unwrap_or(0)).collect();
    let shape: Vec<usize> = order.iter().map(|dim| tensor.shape()[*dim]).collect();
    let size = tensor.dtype().size();
    let mut strides = vec![size; shape.len()];
    for dim in (1..shape.len()).rev() {
        strides[dim - 1] = strides[dim] * tensor.shape()[dim];
    }
    let steps: Vec<usize> = order.iter().map(|dim| strides[*dim]).collect();
    let mut buffer =
        AlignedBuffer::zeroed(tensor.bytes().len()).map_err(|error| error.to_string())?;
    let mut at = vec![0; shape.len()];
    let mut from = 0;
    for to in buffer.as_mut_slice().chunks_exact_mut(size) {
        to.copy_from_slice(&tensor.bytes()[from..from + size]);
        for dim in (0..shape.len()).rev() {
            at[dim] += 1;
            from += steps[dim];
            if at[dim] < shape[dim] {
                break;
            }
            from -= steps[dim] * shape[dim];
            at[dim] = 0;
        }
    }
    Tensor::from_buffer(tensor.dtype(), &shape, buffer).map_err(|error| error.to_string())
}
