//! The elements of constants in other layouts.

/// The elements of a row-major tensor in another order of dimensions.
pub fn transpose(bytes: &[u8], dims: &[i64], permutation: &[usize], width: usize) -> Vec<u8> {
    let sizes: Vec<usize> = dims.iter().map(|dim| *dim as usize).collect();
    let mut strides = vec![1_usize; sizes.len()];
    for dim in (1..sizes.len()).rev() {
        strides[dim - 1] = strides[dim] * sizes[dim];
    }
    let mut moved = Vec::with_capacity(bytes.len());
    let mut index = vec![0_usize; sizes.len()];
    let count: usize = sizes.iter().product();
    for _ in 0..count {
        let at: usize =
            index.iter().zip(permutation).map(|(place, dim)| place * strides[*dim]).sum();
        moved.extend_from_slice(&bytes[at * width..(at + 1) * width]);
        for place in (0..index.len()).rev() {
            index[place] += 1;
            if index[place] < sizes[permutation[place]] {
                break;
            }
            index[place] = 0;
        }
    }
    moved
}

/// The elements of a row-major tensor in blocks, and the shape that they have then: places that no
/// element belongs to are zero.
pub fn blocked(
    bytes: &[u8],
    dims: &[i64],
    parts: &[(usize, i64, bool)],
    width: usize,
) -> (Vec<u8>, Vec<i64>) {
    let is_inner = |part: &&(usize, i64, bool)| part.2;
    let shape: Vec<i64> = parts
        .iter()
        .map(|(dim, block, inner)| if *inner { *block } else { (dims[*dim] + block - 1) / block })
        .collect();
    let count = shape.iter().product::<i64>() as usize;
    let mut moved = vec![0; count * width];
    // Stride of each part in its dimension; a dimension without inner part has 1.
    let steps: Vec<i64> = parts
        .iter()
        .map(|(dim, block, inner)| match parts.iter().filter(is_inner).any(|p| p.0 == *dim) {
            true if !inner => *block,
            _ => 1,
        })
        .collect();
    let strides = crate::ir::memref::row_major(dims);
    let mut index = vec![0_i64; parts.len()];
    let mut place = vec![0_i64; dims.len()];
    for cell in moved.chunks_exact_mut(width.max(1)) {
        place.fill(0);
        for ((part, at), step) in parts.iter().zip(&index).zip(&steps) {
            place[part.0] += at * step;
        }
        if place.iter().zip(dims).all(|(place, dim)| place < dim) {
            let at: i64 = place.iter().zip(&strides).map(|(place, stride)| place * stride).sum();
            let at = at as usize * width;
            cell.copy_from_slice(&bytes[at..at + width]);
        }
        for part in (0..index.len()).rev() {
            index[part] += 1;
            if index[part] < shape[part] {
                break;
            }
            index[part] = 0;
        }
    }
    (moved, shape)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_are_put_into_blocks() {
        let bytes: Vec<u8> = (1..=6).collect();
        let of = |dims: &[i64], parts: &[(usize, i64, bool)]| blocked(&bytes, dims, parts, 1);
        // [3, 2] as [0/2, 1, 0%2].
        let parts = [(0, 2, false), (1, 1, false), (0, 2, true)];
        assert_eq!(of(&[3, 2], &parts), (vec![1, 3, 2, 4, 5, 0, 6, 0], vec![2, 2, 2]));
        // [2, 3] as [1/2, 0, 1%2].
        let parts = [(1, 2, false), (0, 1, false), (1, 2, true)];
        assert_eq!(of(&[2, 3], &parts), (vec![1, 2, 4, 5, 3, 0, 6, 0], vec![2, 2, 2]));
    }

    #[test]
    fn constants_are_transposed_as_numpy_does() {
        let bytes: Vec<u8> = (0..6).collect();
        assert_eq!(transpose(&bytes, &[2, 3], &[1, 0], 1), [0, 3, 1, 4, 2, 5]);
        assert_eq!(transpose(&bytes, &[1, 3, 2], &[2, 0, 1], 1), [0, 2, 4, 1, 3, 5]);
        assert_eq!(transpose(&bytes, &[3], &[0], 2), [0, 1, 2, 3, 4, 5]);
    }
}
