//! Elements that do not follow each other.

/// True if elements follow each other in row-major order.
pub fn is_dense(shape: &[usize], strides: &[isize], item: usize) -> bool {
    let mut wanted = item as isize;
    for (dim, stride) in shape.iter().zip(strides).rev() {
        if *dim > 1 && *stride != wanted {
            return false;
        }
        wanted *= (*dim).max(1) as isize;
    }
    true
}

/// Copies elements in row-major order.
///
/// # Safety
/// The shape and the strides, in bytes, are those of live memory at `from`.
pub unsafe fn gather(
    from: *const u8,
    shape: &[usize],
    strides: &[isize],
    item: usize,
    to: &mut Vec<u8>,
) {
    let (Some((dim, inner)), Some((stride, rest))) = (shape.split_first(), strides.split_first())
    else {
        // SAFETY: the caller's contract: an element is there.
        to.extend_from_slice(unsafe { std::slice::from_raw_parts(from, item) });
        return;
    };
    for index in 0..*dim {
        // SAFETY: the caller's contract.
        unsafe { gather(from.offset(index as isize * stride), inner, rest, item, to) };
    }
}
