//! Padding: with a constant, or with elements of x.

use super::data::{axes_or_all, take};
use crate::{
    Error, Result,
    ir::{self, Builder, Val, graph::PadAdaptor},
    lower::{
        Lowering,
        generic::{d, loop_index, parallel},
        operands::only_element,
        shape,
    },
};
use melior::ir::ValueLike;

fn pad<'c>(l: &Lowering<'c>, op: PadAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let x = op.x();
    let from = ir::dims(x.r#type());
    let pads = l.known_ints(op.pads(), "pads")?;
    let axes = axes_or_all(l, op.axes(), pads.len() / 2, from.len())?;
    let (mut begin, mut end) = (vec![0; from.len()], vec![0; from.len()]);
    for (i, axis) in axes.iter().enumerate() {
        begin[*axis] = pads[i];
        end[*axis] = pads[i + axes.len()];
    }
    let offsets: Vec<_> = begin.iter().map(|pad| pad.saturating_neg().max(0)).collect();
    let sizes: Vec<_> = (0..from.len())
        .map(|i| (from[i] - offsets[i] - end[i].saturating_neg().max(0)).max(0))
        .collect();
    let x = take(l, x, &offsets, &sizes, &vec![1; from.len()])?;
    let [begin, end] =
        [begin, end].map(|list| list.into_iter().map(|pad| pad.max(0)).collect::<Vec<_>>());
    let mode = op.mode();
    if mode == "undefined" {
        let dims = ir::dims(x.r#type());
        let to: Vec<_> = (0..dims.len()).map(|i| begin[i] + dims[i] + end[i]).collect();
        let room = l.b.empty(l.b.tensor(&to, ir::element_type(x.r#type())))?;
        return Ok(vec![match to == dims {
            true => x,
            false if dims.contains(&0) => room,
            false => shape::insert_slice(&l.b, x, room, &begin, &vec![1; to.len()])?,
        }]);
    }
    if mode != "constant" && !mode.is_empty() {
        return Ok(vec![pad_from_x(l, x, &begin, &end, mode)?]);
    }
    let padding = match op.value() {
        Some(value) => only_element(&l.b, value)?,
        None => l.b.constant(ir::element_type(x.r#type()), 0.0)?,
    };
    Ok(vec![shape::pad(&l.b, x, &begin, &end, padding)?])
}

/// Most elements of an axis that is padded with elements of it.
const MAX_SOURCES: i64 = 1 << 24;

/// Most pieces that one side of an axis is put together from.
const MAX_PIECES: usize = 4;

/// Padding with elements of x: x in the middle, then what lies around it, one axis after the other from the last on,
/// in which rows are short.
fn pad_from_x<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    begin: &[i64],
    end: &[i64],
    mode: &str,
) -> Result<Val<'c>> {
    let from = ir::dims(x.r#type());
    let to = padded_sizes(&from, (begin, end), mode)?;
    let ty = l.b.tensor(&to, ir::element_type(x.r#type()));
    if to.contains(&0) {
        return l.b.empty(ty);
    }
    if to == from {
        return Ok(x);
    }
    let ones = vec![1; to.len()];
    let mut value = shape::insert_slice(&l.b, x, l.b.empty(ty)?, begin, &ones)?;
    // Where the part that is complete begins, and its sizes.
    let (mut offsets, mut sizes) = (begin.to_vec(), from.clone());
    for axis in (0..to.len()).rev() {
        let size = from[axis];
        let mut at = 0;
        for beside in [-begin[axis]..0, size..size + end[axis]] {
            let sources: Vec<_> = beside.map(|position| source(position, size, mode)).collect();
            let complete = Region { offsets: &offsets, sizes: &sizes, axis, start: begin[axis] };
            for piece in complete.pieces(l, value, &sources)? {
                let mut start = offsets.clone();
                start[axis] = at;
                at += ir::dims(piece.r#type())[axis];
                value = shape::insert_slice(&l.b, piece, value, &start, &ones)?;
            }
            at = begin[axis] + size;
        }
        (offsets[axis], sizes[axis]) = (0, to[axis]);
    }
    Ok(value)
}

/// The part of a padded tensor that is complete, and an axis along which it is to be padded.
struct Region<'r> {
    offsets: &'r [i64],
    sizes: &'r [i64],
    axis: usize,
    /// Position along the axis of the first element that is repeated.
    start: i64,
}

impl Region<'_> {
    /// The elements of `value` at these positions of the axis, in pieces that move evenly unless there are many.
    fn pieces<'c>(&self, l: &Lowering<'c>, value: Val<'c>, sources: &[i64]) -> Result<Vec<Val<'c>>> {
        let (axis, ones) = (self.axis, vec![1; self.sizes.len()]);
        let runs = even_runs(sources);
        if runs.len() > MAX_PIECES {
            let mut start = self.offsets.to_vec();
            start[axis] = self.start;
            let all = shape::slice(&l.b, value, &start, self.sizes, &ones)?;
            return Ok(vec![own_buffer(&l.b, at_positions(l, all, axis, sources)?)?]);
        }
        let piece = |(first, count, stride): (i64, i64, i64)| {
            let (mut start, mut sizes, mut steps) =
                (self.offsets.to_vec(), self.sizes.to_vec(), ones.clone());
            (start[axis], sizes[axis], steps[axis]) = (self.start + first, count, stride);
            own_buffer(&l.b, take(l, value, &start, &sizes, &steps)?)
        };
        runs.into_iter().map(piece).collect()
    }
}

/// The slices of `x` at known positions of an axis.
fn at_positions<'c>(
    l: &Lowering<'c>,
    x: Val<'c>,
    axis: usize,
    positions: &[i64],
) -> Result<Val<'c>> {
    let b = &l.b;
    let mut sizes = ir::dims(x.r#type());
    sizes[axis] = positions.len() as i64;
    let texts: Vec<_> = positions.iter().map(ToString::to_string).collect();
    let ty = b.tensor(&[sizes[axis]], b.int(64));
    let list = b.parse_attr(&format!("dense<[{}]> : {ty}", texts.join(", ")))?;
    let list = b.op1_with("arith.constant", &[], ty, vec![("value", list)])?;
    let ty = b.tensor(&sizes, ir::element_type(x.r#type()));
    parallel(b, ty, &[(list, vec![d(axis)])], |b, at| {
        let mut place = (0..sizes.len()).map(|i| loop_index(b, i)).collect::<Result<Vec<_>>>()?;
        place[axis] = b.op1("arith.index_cast", &[at[0]], b.index_type())?;
        shape::extract(b, x, &place)
    })
}

/// A copy. Bufferization takes a slice that is put into the tensor it is of for one that may overlap, and would copy
/// the whole.
fn own_buffer<'c>(b: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>> {
    let attributes = vec![("operandSegmentSizes", b.parse_attr("array<i32: 0, 1, 0>")?)];
    b.op1_with("bufferization.alloc_tensor", &[value], value.r#type(), attributes)
}

/// The sizes with padding that repeats elements.
fn padded_sizes(from: &[i64], (begin, end): (&[i64], &[i64]), mode: &str) -> Result<Vec<i64>> {
    let mut sizes = from.to_vec();
    for axis in 0..sizes.len() {
        let size = sizes[axis];
        sizes[axis] = begin[axis].saturating_add(size).saturating_add(end[axis]);
        if sizes.contains(&0) || sizes[axis] == size {
            continue;
        }
        if size == 0 {
            return Err(Error::invalid(format!(
                "pads axis {axis} in mode '{mode}', but that axis has no element to repeat; use \
                 mode 'constant'"
            )));
        }
        if sizes[axis] > MAX_SOURCES {
            return Err(Error::unsupported(format!(
                "pads axis {axis} to {} elements in mode '{mode}', which can make {MAX_SOURCES}",
                sizes[axis]
            )));
        }
    }
    Ok(sizes)
}

/// The position in `0..size` that stands at a position outside of it.
fn source(position: i64, size: i64, mode: &str) -> i64 {
    match mode {
        "edge" => position.clamp(0, size - 1),
        "wrap" => position.rem_euclid(size),
        _ if size == 1 => 0,
        _ => {
            let folded = position.rem_euclid(2 * size - 2);
            folded.min(2 * size - 2 - folded)
        }
    }
}

/// Cuts a list into the longest runs with steps of -1, 0 or 1: first element, length, step.
fn even_runs(list: &[i64]) -> Vec<(i64, i64, i64)> {
    let mut runs = vec![];
    let mut start = 0;
    while start < list.len() {
        let mut end = start + 1;
        let stride = list.get(end).map_or(1, |next| next - list[start]);
        if stride.abs() <= 1 {
            while list.get(end).is_some_and(|next| next - list[end - 1] == stride) {
                end += 1;
            }
        }
        runs.push((list[start], (end - start) as i64, stride.clamp(-1, 1)));
        start = end;
    }
    runs
}

super::lowerings! {
    Pad => pad,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_repeats_as_numpy_does() {
        let at = |mode| (-4..7).map(|i| source(i, 3, mode)).collect::<Vec<_>>();
        assert_eq!(at("edge"), [0, 0, 0, 0, 0, 1, 2, 2, 2, 2, 2]);
        assert_eq!(at("wrap"), [2, 0, 1, 2, 0, 1, 2, 0, 1, 2, 0]);
        assert_eq!(at("reflect"), [0, 1, 2, 1, 0, 1, 2, 1, 0, 1, 2]);
        assert_eq!(source(5, 1, "reflect"), 0);
    }

    #[test]
    fn runs_move_evenly() {
        assert_eq!(even_runs(&[2, 1, 0, 1, 2, 2, 2]), [(2, 3, -1), (1, 2, 1), (2, 2, 0)]);
        assert_eq!(even_runs(&[0, 5, 6]), [(0, 1, 1), (5, 2, 1)]);
        assert_eq!(even_runs(&[]), []);
    }
}
