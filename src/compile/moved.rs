//! Transposes of constants, done before the first phase: none is left to every run.
//!
//! ```text
//! transpose(dequantize_linear(w, s) axis = 0)  -->  dequantize_linear(w', s) axis = 1
//! ```
//! Elements are moved as they are stored, so that kernels go on to read weights as they are, and
//! constants take no more memory. Casts and dequantizations, which widen elements, move behind.

use crate::{
    Error, Result,
    ir::{
        self, Builder, Op, Val, attribute, constant::Elements, edit, elements, graph,
        types::with_element, view::OpView,
    },
    lower::normalize_axis,
    parallel,
    tensor::{AlignedBuffer, BUFFER_ALIGN},
};
use bytes::Bytes;
use melior::ir::{Module, ValueLike};
use std::collections::HashMap;

/// Rows and columns of the squares in which elements are copied.
const SQUARE: usize = 32;
/// Constants of up to this many elements are stored in the attribute itself.
const DENSE_LIMIT: i64 = 64;

/// Moves the elements of constants that networks transpose.
pub(super) fn transpose(module: &Module<'_>) -> Result<()> {
    // A transpose of a transpose finds a constant the second time.
    loop {
        let ops = edit::walk(ir::root(module));
        let found: Vec<_> = ops.into_iter().filter_map(Transposed::of).collect();
        if found.is_empty() {
            return Ok(());
        }
        let (mut jobs, mut places) = (vec![], HashMap::new());
        for (value, perm) in found.iter().flat_map(Transposed::constants) {
            let key = (ir::id(value), perm);
            if !places.contains_key(&key)
                && let Some(job) = Job::of(value, &key.1)
            {
                places.insert(key, jobs.len());
                jobs.push(job);
            }
        }
        let moved = parallel::map(jobs.into_iter(), Job::run);
        let moved = moved.into_iter().map(|buffer| buffer.map(Some)).collect::<Result<Vec<_>>>()?;
        let mut constants = Constants { places, moved, made: HashMap::new() };
        let mut changed = false;
        for transposed in &found {
            changed |= transposed.replace(&mut constants)?;
        }
        if !changed {
            return Ok(());
        }
    }
}

/// A constant and the order of its dimensions.
type Key = (ir::Id, Vec<i64>);

/// A transpose of a constant, which casts and dequantizations may stand behind.
struct Transposed<'c> {
    op: Op<'c>,
    /// The operations between, the last one first.
    wideners: Vec<Op<'c>>,
    constant: Val<'c>,
    perm: Vec<i64>,
}

impl<'c> Transposed<'c> {
    fn of(op: Op<'c>) -> Option<Self> {
        let transpose = graph::Transpose::of(op)?;
        let perm = transpose.perm();
        let rank = ir::static_dims(transpose.y().r#type())?.len();
        let perm = if perm.is_empty() { (0..rank as i64).rev().collect() } else { perm };
        let mut wideners = vec![];
        let mut constant = transpose.x();
        loop {
            let op = edit::defining_op(constant)?;
            if graph::Constant::is(op) {
                break;
            }
            constant = match graph::DequantizeLinear::of(op) {
                Some(dequantize) => {
                    let parameters = [Some(dequantize.scale()), dequantize.zero_point()];
                    let are_constants = parameters
                        .into_iter()
                        .flatten()
                        .all(|value| edit::defining_op(value).is_some_and(graph::Constant::is));
                    are_constants.then(|| dequantize.x())?
                }
                None => graph::Cast::of(op)?.x(),
            };
            wideners.push(op);
        }
        Some(Self { op, wideners, constant, perm })
    }

    /// The constants to transpose, and the order of their dimensions.
    fn constants(&self) -> Vec<(Val<'c>, Vec<i64>)> {
        let mut all = vec![(self.constant, self.perm.clone())];
        for op in &self.wideners {
            // Those of blocks have the rank of what they belong to.
            let parameters = ir::operands(*op).into_iter().skip(1);
            let blocks = parameters.filter(|value| ir::dims(value.r#type()).len() > 1);
            all.extend(blocks.map(|value| (value, self.perm.clone())));
        }
        all
    }

    /// Puts casts and dequantizations of transposed constants in the place of the transpose; true
    /// if that was possible.
    fn replace(&self, constants: &mut Constants<'c>) -> Result<bool> {
        if !self.constants().iter().all(|(value, perm)| constants.has(*value, perm)) {
            return Ok(false);
        }
        let mut value = constants.get(self.constant, &self.perm)?;
        let b = Builder::before(self.op)?;
        for op in self.wideners.iter().rev() {
            let mut operands = vec![value];
            for parameter in ir::operands(*op).into_iter().skip(1) {
                let is_of_blocks = ir::dims(parameter.r#type()).len() > 1;
                operands.push(match is_of_blocks {
                    true => constants.get(parameter, &self.perm)?,
                    false => parameter,
                });
            }
            let copy = b.insert_clone(*op);
            edit::set_operands(copy, &operands)?;
            let result = ir::result0(copy)?;
            let element = ir::element_type(result.r#type());
            edit::set_type(result, with_element(value.r#type(), element));
            if let Some(dequantize) = graph::DequantizeLinear::of(*op) {
                let axis = normalize_axis(dequantize.axis(), self.perm.len()) as i64;
                let new = self.perm.iter().position(|from| *from == axis).unwrap_or(0);
                edit::set_attr(copy, "axis", b.i64_attr(new as i64));
            }
            value = result;
        }
        edit::replace_uses(ir::result0(self.op)?, value);
        edit::erase(self.op);
        self.erase_unused();
        Ok(true)
    }

    fn erase_unused(&self) {
        let parameters = self.wideners.iter().flat_map(|op| ir::operands(*op).into_iter().skip(1));
        let constants = parameters.chain([self.constant]).filter_map(edit::defining_op);
        let constants: Vec<_> = constants.collect();
        let mut seen: Vec<Op<'c>> = vec![];
        for op in self.wideners.iter().chain(&constants) {
            if seen.iter().any(|other| edit::same(*other, *op)) {
                continue;
            }
            seen.push(*op);
            if ir::users_of(*op).is_empty() {
                edit::erase(*op);
            }
        }
    }
}

/// The constants that take the place of others.
struct Constants<'c> {
    /// Index in `moved` of the elements of each.
    places: HashMap<Key, usize>,
    moved: Vec<Option<AlignedBuffer>>,
    made: HashMap<Key, Val<'c>>,
}

impl<'c> Constants<'c> {
    fn has(&self, value: Val<'c>, perm: &[i64]) -> bool {
        self.places.contains_key(&(ir::id(value), perm.to_vec()))
    }

    /// The transposed constant, which stands beside the other one.
    fn get(&mut self, value: Val<'c>, perm: &[i64]) -> Result<Val<'c>> {
        let key = (ir::id(value), perm.to_vec());
        if let Some(made) = self.made.get(&key) {
            return Ok(*made);
        }
        let place = self.places.get(&key).copied();
        let buffer = place.and_then(|place| self.moved.get_mut(place)?.take());
        let (Some(buffer), Some(op)) = (buffer, edit::defining_op(value)) else {
            return Err(Error::internal("a transposed constant without elements"));
        };
        let b = Builder::before(op)?;
        let old = ir::dims(value.r#type());
        let dims: Vec<i64> = perm.iter().map(|from| old[*from as usize]).collect();
        let ty = b.tensor(&dims, ir::element_type(value.r#type()));
        let is_splat = Elements::of_value(value).is_some_and(|elements| elements.is_splat());
        let few = dims.iter().product::<i64>() <= DENSE_LIMIT;
        let attribute = match is_splat || few {
            true => attribute::dense(ty, buffer.as_ref())?,
            false => elements::resource(ty, "transposed", buffer, BUFFER_ALIGN)?,
        };
        let made = graph::Constant::build(&b, attribute)?.y();
        self.made.insert(key, made);
        Ok(made)
    }
}

/// Elements to be copied in another order.
struct Job {
    bytes: Bytes,
    /// Bytes of an element.
    width: usize,
    /// For each dimension of the result its size, and the distance of its elements in `bytes`.
    axes: Vec<(usize, usize)>,
}

impl Job {
    fn of(value: Val<'_>, perm: &[i64]) -> Option<Self> {
        let elements = Elements::of_value(value)?;
        let width = ir::types::bits(ir::element_type(value.r#type()))?.div_ceil(8) as usize;
        if ir::integer_width(ir::element_type(value.r#type())) == Some(1) {
            return None;
        }
        let dims = ir::dims(value.r#type());
        if dims.contains(&0) {
            return None;
        }
        let strides = ir::memref::row_major(&dims);
        let mut axes = vec![];
        for from in perm {
            let from = usize::try_from(*from).ok()?;
            axes.push((usize::try_from(*dims.get(from)?).ok()?, strides[from] as usize));
        }
        if elements.is_splat() {
            axes.clear();
        }
        // Dimensions that are walked as one are one; a dimension of one element is none.
        axes.retain(|(size, _)| *size != 1);
        let mut joined: Vec<(usize, usize)> = vec![];
        for (size, step) in axes {
            match joined.last_mut() {
                Some(outer) if outer.1 == size * step => *outer = (outer.0 * size, step),
                _ => joined.push((size, step)),
            }
        }
        Some(Self { bytes: elements.into_bytes(), width, axes: joined })
    }

    fn run(self) -> Result<AlignedBuffer> {
        let count: usize = self.axes.iter().map(|(size, _)| size).product();
        let mut buffer = AlignedBuffer::zeroed(count * self.width)?;
        let to = buffer.as_mut_slice();
        if count == 0 {
            return Ok(buffer);
        }
        match self.width {
            1 => self.copy::<1>(to),
            2 => self.copy::<2>(to),
            4 => self.copy::<4>(to),
            8 => self.copy::<8>(to),
            width => return Err(Error::internal(format!("elements of {width} bytes"))),
        }
        Ok(buffer)
    }

    /// Copies squares: along the last dimension of the result, and along the one that is the last in
    /// memory.
    fn copy<const W: usize>(&self, to: &mut [u8]) {
        let (from, _) = self.bytes.as_chunks::<W>();
        let (to, _) = to.as_chunks_mut::<W>();
        let mut steps = vec![1; self.axes.len()];
        for at in (1..self.axes.len()).rev() {
            steps[at - 1] = steps[at] * self.axes[at].0;
        }
        let last = self.axes.len().wrapping_sub(1);
        let near = self.axes.iter().position(|(_, step)| *step == 1).unwrap_or(last);
        let axis = |at: usize| match self.axes.get(at) {
            Some((size, step)) => (*size, *step, steps[at]),
            None => (1, 1, 1),
        };
        let (rows, row_from, row_to) = if near == last { (1, 1, 1) } else { axis(near) };
        let (columns, column_from, _) = axis(last);
        let others: Vec<_> =
            (0..self.axes.len()).filter(|at| *at != last && *at != near).map(axis).collect();
        let outer: usize = others.iter().map(|(size, ..)| size).product();
        for mut index in 0..outer {
            let (mut start, mut end) = (0, 0);
            for (size, step, own) in others.iter().rev() {
                start += index % size * step;
                end += index % size * own;
                index /= size;
            }
            for (row, column) in squares(rows, columns) {
                for row in row..rows.min(row + SQUARE) {
                    let (from_row, to_row) = (start + row * row_from, end + row * row_to);
                    for column in column..columns.min(column + SQUARE) {
                        to[to_row + column] = from[from_row + column * column_from];
                    }
                }
            }
        }
    }
}

/// The first rows and columns of squares.
fn squares(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    let row = (0..rows).step_by(SQUARE);
    row.flat_map(move |row| (0..columns).step_by(SQUARE).map(move |column| (row, column)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_are_where_the_order_says() {
        let dims = [3usize, 40, 5, 37];
        let values: Vec<u16> = (0..dims.iter().product::<usize>() as u16).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_ne_bytes()).collect();
        let strides = [40 * 5 * 37, 5 * 37, 37, 1];
        for perm in [[0, 1, 2, 3], [3, 2, 1, 0], [0, 2, 3, 1], [1, 0, 2, 3], [2, 3, 0, 1]] {
            let axes = perm.map(|from: usize| (dims[from], strides[from])).to_vec();
            let job = Job { bytes: bytes.clone().into(), width: 2, axes };
            let buffer = job.run().expect("memory");
            let moved = buffer.as_ref().as_chunks::<2>().0;
            assert_eq!(moved.len(), values.len());
            for (place, element) in moved.iter().enumerate() {
                let mut rest = place;
                let mut from = 0;
                for dim in perm.into_iter().rev() {
                    from += rest % dims[dim] * strides[dim];
                    rest /= dims[dim];
                }
                assert_eq!(u16::from_ne_bytes(*element), values[from], "{perm:?} {place}");
            }
        }
    }
}
