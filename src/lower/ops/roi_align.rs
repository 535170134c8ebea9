//! `graph.roi_align`: each bin of the result pools samples of a region whose place and size are only known at run
//! time. Images have their channels last, so that the innermost loops run along neighbours.

use crate::{
    Error, Result,
    ir::{self, Builder, Val, graph::RoiAlignAdaptor},
    lower::{
        Lowering,
        loops::{count_to, independent, insert},
        scalar::{
            convert,
            float::{add, arith, at_least, at_most, div, mul, number, sub},
        },
        shape,
    },
};
use melior::ir::{Type, ValueLike};

/// Most samples of a bin along an axis where the region's size decides.
const MOST_SAMPLES: f64 = 1024.0;

/// The two elements of an axis around a position, and their weights.
struct Between<'c> {
    low: Val<'c>,
    high: Val<'c>,
    weights: [Val<'c>; 2],
    /// True (an `i1`) if the position is at most one element outside of the axis.
    inside: Val<'c>,
}

/// A bin of a region along an axis.
struct Bin<'c> {
    start: Val<'c>,
    /// From one sample to the next.
    step: Val<'c>,
    /// Number of samples, an index.
    samples: Val<'c>,
    /// Elements of x along the axis.
    size: i64,
}

impl<'c> Bin<'c> {
    /// Bin number `at` (an index) of the region between two corners, which has `bins`.
    fn new(
        b: &Builder<'c>,
        op: &RoiAlignAdaptor<'_, 'c>,
        (from, to): (Val<'c>, Val<'c>),
        (at, bins, size): (Val<'c>, i64, i64),
    ) -> Result<Self> {
        let scale = number(b, from, op.spatial_scale())?;
        let offset = number(b, from, if op.half_pixel() { 0.5 } else { 0.0 })?;
        let place = |corner| sub(b, mul(b, corner, scale)?, offset);
        let (from, to) = (place(from)?, place(to)?);
        let mut extent = sub(b, to, from)?;
        if !op.half_pixel() {
            extent = at_least(b, extent, number(b, from, 1.0)?)?;
        }
        let length = div(b, extent, number(b, from, bins as f64)?)?;
        let samples = match op.sampling_ratio() {
            // What is no number must not become an integer, nor a region beyond all sizes a loop that
            // does not end.
            0 => {
                let count = arith(b, "math.ceil", &[length])?;
                let (none, all) = (number(b, from, 0.0)?, number(b, from, MOST_SAMPLES)?);
                let count = b.select(b.cmpf("ogt", count, none)?, count, none)?;
                let count = b.op1("arith.fptosi", &[at_most(b, count, all)?], b.int(64))?;
                b.op1("arith.index_cast", &[count], b.index_type())?
            }
            ratio => b.index(ratio)?,
        };
        let at = to_float(b, at, from.r#type())?;
        let step = div(b, length, to_float(b, samples, from.r#type())?)?;
        let start = add(b, from, mul(b, at, length)?)?;
        // Samples are in the middle of their part of the bin.
        let start = add(b, start, mul(b, step, number(b, from, 0.5)?)?)?;
        Ok(Self { start, step, samples, size })
    }

    /// The elements around sample number `at` (an index).
    fn between(&self, b: &Builder<'c>, at: Val<'c>) -> Result<Between<'c>> {
        let like = self.start;
        let y = add(b, self.start, mul(b, to_float(b, at, like.r#type())?, self.step)?)?;
        let (first, last) = (number(b, like, 0.0)?, number(b, like, (self.size - 1) as f64)?);
        let near = b.cmpf("oge", y, number(b, like, -1.0)?)?;
        let near = b.binary("arith.andi", near, b.cmpf("ole", y, number(b, like, self.size as f64)?)?)?;
        // Also what is no number becomes a position.
        let y = b.select(near, y, first)?;
        let y = at_most(b, at_least(b, y, first)?, last)?;
        let floor = arith(b, "math.floor", &[y])?;
        let part = sub(b, y, floor)?;
        let low = b.op1("arith.fptosi", &[floor], b.int(64))?;
        let low = b.op1("arith.index_cast", &[low], b.index_type())?;
        let next = b.binary("arith.addi", low, b.index(1)?)?;
        let high = b.binary("arith.minui", next, b.index(self.size - 1)?)?;
        let weights = [sub(b, number(b, like, 1.0)?, part)?, part];
        Ok(Between { low, high, weights, inside: near })
    }
}

/// An index as a float.
fn to_float<'c>(b: &Builder<'c>, index: Val<'c>, to: Type<'c>) -> Result<Val<'c>> {
    let word = b.op1("arith.index_cast", &[index], b.int(64))?;
    b.op1("arith.sitofp", &[word], to)
}

/// The bins of a row, and the image that they are of, with its channels last.
struct Pool<'o, 'c> {
    op: RoiAlignAdaptor<'o, 'c>,
    x: Val<'c>,
    image: Val<'c>,
    /// The type that is computed in.
    real: Type<'c>,
}

impl<'c> Pool<'_, 'c> {
    /// Makes each channel of the bin at `place` of the result what `body` makes of it.
    fn channels(
        &self,
        b: &Builder<'c>,
        result: Val<'c>,
        place: &[Val<'c>],
        body: impl FnOnce(&Builder<'c>, Val<'c>, Val<'c>) -> Result<Val<'c>>,
    ) -> Result<Val<'c>> {
        let count = b.index(ir::dims(result.r#type())[3])?;
        let results = count_to(b, count, &[result], |b, channel, state| {
            let at = [place, &[channel]].concat();
            let before = shape::extract(b, state[0], &at)?;
            Ok(vec![insert(b, body(b, channel, before)?, state[0], &at)?])
        })?;
        Ok(results[0])
    }

    /// The four weighted elements around a sample: their sum, or the greatest.
    fn sample(
        &self,
        b: &Builder<'c>,
        channel: Val<'c>,
        [rows, columns]: [&Between<'c>; 2],
        weights: &[Val<'c>; 4],
    ) -> Result<Val<'c>> {
        let mut all: Option<Val<'c>> = None;
        let mut weights = weights.iter();
        for row in [rows.low, rows.high] {
            for (column, weight) in [columns.low, columns.high].into_iter().zip(weights.by_ref()) {
                let element = shape::extract(b, self.x, &[self.image, row, column, channel])?;
                let element = convert(b, element, false, self.real, false)?;
                let element = mul(b, element, *weight)?;
                all = Some(match all {
                    None => element,
                    Some(all) if self.op.mode() == "max" => at_least(b, all, element)?,
                    Some(all) => add(b, all, element)?,
                });
            }
        }
        all.ok_or_else(|| Error::internal("a sample without elements"))
    }

    /// Pools all samples of the bin at `place` into its channels of the result.
    fn bin(
        &self,
        b: &Builder<'c>,
        result: Val<'c>,
        place: &[Val<'c>],
        [rows, columns]: [&Bin<'c>; 2],
    ) -> Result<Val<'c>> {
        let max = self.op.mode() == "max";
        let zero = number(b, rows.start, 0.0)?;
        let start = if max { number(b, rows.start, f64::NEG_INFINITY)? } else { zero };
        let result = self.channels(b, result, place, |_, _, _| Ok(start))?;
        let state = count_to(b, rows.samples, &[result], |b, at, state| {
            let row = rows.between(b, at)?;
            count_to(b, columns.samples, state, |b, at, state| {
                let column = columns.between(b, at)?;
                let inside = b.binary("arith.andi", row.inside, column.inside)?;
                let weight = |i: usize, j: usize| mul(b, row.weights[i], column.weights[j]);
                let weights = [weight(0, 0)?, weight(0, 1)?, weight(1, 0)?, weight(1, 1)?];
                let next = self.channels(b, state[0], place, |b, channel, before| {
                    let value = self.sample(b, channel, [&row, &column], &weights)?;
                    let value = b.select(inside, value, zero)?;
                    if max { at_least(b, before, value) } else { add(b, before, value) }
                })?;
                Ok(vec![next])
            })
        })?;
        let count = b.binary("arith.muli", rows.samples, columns.samples)?;
        if max {
            let some = b.cmpi("ne", count, b.index(0)?)?;
            return self.channels(b, state[0], place, |b, _, value| b.select(some, value, zero));
        }
        let count = b.binary("arith.maxui", count, b.index(1)?)?;
        let count = to_float(b, count, zero.r#type())?;
        self.channels(b, state[0], place, |b, _, value| div(b, value, count))
    }
}

fn roi_align<'c>(l: &Lowering<'c>, op: RoiAlignAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let (sizes, dims) = (ir::dims(op.x().r#type()), ir::dims(ty));
    if dims.contains(&0) {
        return Ok(vec![l.b.empty(ty)?]);
    }
    if sizes.contains(&0) {
        let reason = format!("pools {}, which has no elements", op.x().r#type());
        return Err(Error::invalid(reason));
    }
    let element = ir::element_type(ty);
    let real = if element == l.b.f64() { element } else { l.b.f32() };
    // Samples of a bin are at the same places of all channels, which are neighbours then.
    let x = shape::transpose(&l.b, op.x(), &[0, 2, 3, 1])?;
    let result = l.b.empty(l.b.tensor(&[dims[0], dims[2], dims[3], dims[1]], real))?;
    let results = independent(&l.b, &dims[..1], &[result], |b, region, state| {
        let corner = |corner: i64| {
            let value = shape::extract(b, op.rois(), &[region[0], b.index(corner)?])?;
            convert(b, value, false, real, false)
        };
        let (across, down) = ((corner(0)?, corner(2)?), (corner(1)?, corner(3)?));
        // An image that is not there is the first or last one.
        let image = shape::extract(b, op.batch(), region)?;
        let image = b.op1("arith.index_cast", &[image], b.index_type())?;
        let image = b.binary("arith.maxsi", image, b.index(0)?)?;
        let image = b.binary("arith.minsi", image, b.index(sizes[0] - 1)?)?;
        let pool = Pool { op, x, image, real };
        count_to(b, b.index(dims[2])?, state, |b, row, state| {
            let rows = Bin::new(b, &op, down, (row, dims[2], sizes[2]))?;
            count_to(b, b.index(dims[3])?, state, |b, column, state| {
                let columns = Bin::new(b, &op, across, (column, dims[3], sizes[3]))?;
                let place = [region[0], row, column];
                Ok(vec![pool.bin(b, state[0], &place, [&rows, &columns])?])
            })
        })
    })?;
    let value = shape::transpose(&l.b, results[0], &[0, 3, 1, 2])?;
    if element == real {
        return Ok(vec![value]);
    }
    let value = l.elementwise(&[value], ty, |b, args| convert(b, args[0], false, element, false))?;
    Ok(vec![value])
}

super::lowerings! {
    RoiAlign => roi_align,
}
