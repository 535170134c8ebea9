//! `graph.roi_align`: each element of the result pools samples of a region whose place and size
//! are only known at run time.

use crate::{
    Error, Result,
    ir::{self, Builder, Val, graph::RoiAlignAdaptor},
    lower::{
        Lowering,
        generic::{c, d, loop_index, parallel},
        loops,
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
    /// Whether the position is at most one element outside of the axis.
    inside: Val<'c>,
}

/// A bin of a region along an axis.
struct Bin<'c> {
    start: Val<'c>,
    /// From one sample to the next.
    step: Val<'c>,
    /// How many samples it takes, an index.
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

/// The four weighted elements around a sample: their sum, or the greatest.
fn sample<'c>(
    b: &Builder<'c>,
    op: &RoiAlignAdaptor<'_, 'c>,
    [batch, channel]: [Val<'c>; 2],
    [rows, columns]: [&Between<'c>; 2],
) -> Result<Val<'c>> {
    let like = rows.weights[0];
    let mut all: Option<Val<'c>> = None;
    for (row, row_weight) in [rows.low, rows.high].into_iter().zip(rows.weights) {
        for (column, weight) in [columns.low, columns.high].into_iter().zip(columns.weights) {
            let element = shape::extract(b, op.x(), &[batch, channel, row, column])?;
            let element = convert(b, element, false, like.r#type(), false)?;
            let element = mul(b, element, mul(b, row_weight, weight)?)?;
            all = Some(match all {
                None => element,
                Some(all) if op.mode() == "max" => at_least(b, all, element)?,
                Some(all) => add(b, all, element)?,
            });
        }
    }
    let all = all.ok_or_else(|| Error::internal("a sample without elements"))?;
    let inside = b.binary("arith.andi", rows.inside, columns.inside)?;
    b.select(inside, all, number(b, like, 0.0)?)
}

/// What an element of the result is: the pool of all samples of its bin.
fn pool<'c>(
    b: &Builder<'c>,
    op: &RoiAlignAdaptor<'_, 'c>,
    image: [Val<'c>; 2],
    [rows, columns]: [&Bin<'c>; 2],
) -> Result<Val<'c>> {
    let max = op.mode() == "max";
    let zero = number(b, rows.start, 0.0)?;
    let start = if max { number(b, rows.start, f64::NEG_INFINITY)? } else { zero };
    let state = loops::count_to(b, rows.samples, &[start], |b, at, state| {
        let row = rows.between(b, at)?;
        loops::count_to(b, columns.samples, state, |b, at, state| {
            let column = columns.between(b, at)?;
            let value = sample(b, op, image, [&row, &column])?;
            Ok(vec![if max { at_least(b, state[0], value)? } else { add(b, state[0], value)? }])
        })
    })?;
    let count = b.binary("arith.muli", rows.samples, columns.samples)?;
    if max {
        let some = b.cmpi("ne", count, b.index(0)?)?;
        return b.select(some, state[0], zero);
    }
    let count = b.binary("arith.maxui", count, b.index(1)?)?;
    div(b, state[0], to_float(b, count, zero.r#type())?)
}

fn roi_align<'c>(l: &Lowering<'c>, op: RoiAlignAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    let sizes = ir::dims(op.x().r#type());
    if ir::dims(ty).contains(&0) {
        return Ok(vec![l.b.empty(ty)?]);
    }
    if sizes.contains(&0) {
        let reason = format!("pools {}, which has no elements", op.x().r#type());
        return Err(Error::invalid(reason));
    }
    let element = ir::element_type(ty);
    let real = if element == l.b.f64() { element } else { l.b.f32() };
    let mut ins: Vec<_> = (0..4).map(|corner| (op.rois(), vec![d(0), c(corner)])).collect();
    ins.push((op.batch(), vec![d(0)]));
    let value = parallel(&l.b, ty, &ins, |b, raw| {
        let corners: Vec<_> =
            raw[..4].iter().map(|v| convert(b, *v, false, real, false)).collect::<Result<_>>()?;
        // An image that is not there is the first or last one.
        let batch = b.op1("arith.index_cast", &[raw[4]], b.index_type())?;
        let batch = b.binary("arith.maxsi", batch, b.index(0)?)?;
        let batch = b.binary("arith.minsi", batch, b.index(sizes[0] - 1)?)?;
        let (height, width) = (op.output_height(), op.output_width());
        let (row, column) = (loop_index(b, 2)?, loop_index(b, 3)?);
        let rows = Bin::new(b, &op, (corners[1], corners[3]), (row, height, sizes[2]))?;
        let columns = Bin::new(b, &op, (corners[0], corners[2]), (column, width, sizes[3]))?;
        let value = pool(b, &op, [batch, loop_index(b, 1)?], [&rows, &columns])?;
        convert(b, value, false, element, false)
    })?;
    Ok(vec![value])
}

super::lowerings! {
    RoiAlign => roi_align,
}
