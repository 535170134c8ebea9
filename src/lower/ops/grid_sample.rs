//! `graph.grid_sample`: each element of the result interpolates between elements of x around a
//! point that is only known at run time. The point and the weights of its neighbours are the same
//! for all channels. Loops over the points write them to memory first, which those over the
//! channels read.

use crate::{
    Result,
    ir::{self, Builder, Val, graph::GridSampleAdaptor},
    lower::{
        Lowering,
        generic::{Access, Iter, c, d, generic, identity, loop_index, parallel},
        scalar::{
            convert,
            float::{add, arith, div, mul, sub},
        },
        shape,
    },
};
use melior::ir::{Type, ValueLike};

/// The parameter of cubic interpolation, which ONNX fixes.
const CUBIC: f64 = -0.75;

#[derive(Clone, Copy, PartialEq)]
enum Mode {
    Nearest,
    Linear,
    Cubic,
}

#[derive(Clone, Copy, PartialEq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

/// One element of x that counts along an axis.
#[derive(Clone, Copy)]
struct Tap<'c> {
    /// Its position times the elements that lie between two of them. For a zero around x it is so
    /// little that no sum of places gets to 0.
    place: Val<'c>,
    /// Weight of the element; none is 1.
    weight: Option<Val<'c>>,
}

/// Sizes of the sampled tensor, and modes of the sampling.
struct Sampler<'c> {
    unsigned: bool,
    sizes: Vec<i64>,
    mode: Mode,
    padding: Padding,
    align_corners: bool,
    /// The float type of coordinates and sums.
    real: Type<'c>,
    /// The integer type of places.
    word: Type<'c>,
}

impl<'c> Sampler<'c> {
    fn new(l: &Lowering<'c>, op: GridSampleAdaptor<'_, 'c>) -> Self {
        let x = op.x();
        let double = |value: Val<'c>| ir::element_type(value.r#type()) == l.b.f64();
        let sizes = ir::dims(x.r#type())[2..].to_vec();
        let furthest = sizes.iter().fold(sizes.len() as i64, |all, size| all.saturating_mul(*size));
        // Narrow ones are read by more lanes at once.
        let word = l.b.int(if furthest <= i64::from(i32::MAX) { 32 } else { 64 });
        Self {
            unsigned: l.is_unsigned(0),
            sizes,
            word,
            mode: match op.mode() {
                "nearest" => Mode::Nearest,
                "cubic" => Mode::Cubic,
                _ => Mode::Linear,
            },
            padding: match op.padding_mode() {
                "border" => Padding::Border,
                "reflection" => Padding::Reflection,
                _ => Padding::Zeros,
            },
            align_corners: op.align_corners(),
            real: if double(x) || double(op.grid()) { l.b.f64() } else { l.b.f32() },
        }
    }

    fn number(&self, b: &Builder<'c>, value: f64) -> Result<Val<'c>> {
        b.constant(self.real, value)
    }

    /// A coordinate from -1 to 1 as a position along an axis.
    fn coordinate(&self, b: &Builder<'c>, raw: Val<'c>, size: i64) -> Result<Val<'c>> {
        let raw = convert(b, raw, false, self.real, false)?;
        let from_start = add(b, raw, self.number(b, 1.0)?)?;
        let half = self.number(b, 0.5)?;
        let size = size as f64;
        if self.align_corners {
            return mul(b, mul(b, from_start, half)?, self.number(b, size - 1.0)?);
        }
        let doubled = mul(b, from_start, self.number(b, size)?)?;
        mul(b, sub(b, doubled, self.number(b, 1.0)?)?, half)
    }

    /// The position led into the axis as the padding tells. Also what is no number gets close
    /// enough that it can be converted to an integer.
    fn bound(&self, b: &Builder<'c>, at: Val<'c>, size: i64) -> Result<Val<'c>> {
        let last = (size - 1) as f64;
        let (low, high) = match self.padding {
            // The cubic kernel sees the border repeated, as in onnxruntime; else x ends there.
            Padding::Border if self.mode != Mode::Cubic => (0.0, last),
            // Beyond the reach of every kernel.
            Padding::Zeros | Padding::Border => (-4.0, last + 4.0),
            Padding::Reflection => (-1.0, last + 1.0),
        };
        let at = match self.padding {
            Padding::Reflection => self.reflect(b, at, size)?,
            _ => at,
        };
        let (low, high) = (self.number(b, low)?, self.number(b, high)?);
        let at = b.select(b.cmpf("ogt", at, low)?, at, low)?;
        b.select(b.cmpf("olt", at, high)?, at, high)
    }

    /// Mirrors a position at the ends of the axis until it is between them.
    fn reflect(&self, b: &Builder<'c>, at: Val<'c>, size: i64) -> Result<Val<'c>> {
        let (low, width) =
            if self.align_corners { (0.0, (size - 1) as f64) } else { (-0.5, size as f64) };
        if width <= 0.0 {
            return self.number(b, 0.0);
        }
        let (low, width) = (self.number(b, low)?, self.number(b, width)?);
        let distance = arith(b, "math.absf", &[sub(b, at, low)?])?;
        let times = arith(b, "math.floor", &[div(b, distance, width)?])?;
        let rest = sub(b, distance, mul(b, times, width)?)?;
        let half = mul(b, times, self.number(b, 0.5)?)?;
        let whole = arith(b, "math.floor", &[half])?;
        let odd = b.cmpf("one", half, whole)?;
        let back = sub(b, width, rest)?;
        add(b, low, b.select(odd, back, rest)?)
    }

    /// The element at an integral position of an axis, as the padding tells.
    fn tap(
        &self,
        b: &Builder<'c>,
        at: Val<'c>,
        weight: Option<Val<'c>>,
        axis: usize,
    ) -> Result<Tap<'c>> {
        let (word, size) = (b.int(64), self.sizes[axis]);
        let (zero, last) = (b.constant_int(word, 0)?, b.constant_int(word, size - 1)?);
        let mut position = at;
        if self.padding == Padding::Reflection {
            position = self.mirror(b, at, size)?;
        }
        let position = b.binary("arith.maxsi", position, zero)?;
        let position = b.binary("arith.minsi", position, last)?;
        let pitch: i64 = self.sizes[axis + 1..].iter().product();
        let mut place = b.binary("arith.muli", position, b.constant_int(word, pitch)?)?;
        if self.padding == Padding::Zeros {
            let all: i64 = self.sizes.iter().product();
            let outside = b.constant_int(word, -all)?;
            place = b.select(b.cmpi("eq", position, at)?, place, outside)?;
        }
        if word != self.word {
            place = b.op1("arith.trunci", &[place], self.word)?;
        }
        Ok(Tap { place, weight })
    }

    /// Mirrors a position that is at most one width beyond the axis.
    fn mirror(&self, b: &Builder<'c>, at: Val<'c>, size: i64) -> Result<Val<'c>> {
        let word = b.int(64);
        // The mirror images of 0 and of the last position have these sums with them.
        let (first, last) = if self.align_corners { (0, 2 * size - 2) } else { (-1, 2 * size - 1) };
        let below = b.binary("arith.subi", b.constant_int(word, first)?, at)?;
        let above = b.binary("arith.subi", b.constant_int(word, last)?, at)?;
        let at = b.select(b.cmpi("slt", at, b.constant_int(word, 0)?)?, below, at)?;
        b.select(b.cmpi("sge", at, b.constant_int(word, size)?)?, above, at)
    }

    /// Elements that count along an axis.
    fn count(&self) -> usize {
        match self.mode {
            Mode::Nearest => 1,
            Mode::Linear => 2,
            Mode::Cubic => 4,
        }
    }

    /// The elements that count along an axis for a raw coordinate.
    fn taps(&self, b: &Builder<'c>, raw: Val<'c>, axis: usize) -> Result<Vec<Tap<'c>>> {
        let (word, size) = (b.int(64), self.sizes[axis]);
        let mut at = self.coordinate(b, raw, size)?;
        if self.mode == Mode::Nearest {
            at = b.unary("math.roundeven", at)?;
            at = self.bound(b, at, size)?;
            // Truncation is what ONNX does with a reflected half.
            return Ok(vec![self.tap(b, b.op1("arith.fptosi", &[at], word)?, None, axis)?]);
        }
        at = self.bound(b, at, size)?;
        let floor = arith(b, "math.floor", &[at])?;
        let part = sub(b, at, floor)?;
        let left = b.op1("arith.fptosi", &[floor], word)?;
        let (first, weights) = match self.mode {
            Mode::Cubic => (-1, self.cubic_weights(b, part)?),
            _ => (0, vec![sub(b, self.number(b, 1.0)?, part)?, part]),
        };
        let mut taps = vec![];
        for (index, weight) in weights.into_iter().enumerate() {
            let at = b.binary("arith.addi", left, b.constant_int(word, first + index as i64)?)?;
            taps.push(self.tap(b, at, Some(weight), axis)?);
        }
        Ok(taps)
    }

    fn cubic_weights(&self, b: &Builder<'c>, part: Val<'c>) -> Result<Vec<Val<'c>>> {
        let one = self.number(b, 1.0)?;
        let rest = sub(b, one, part)?;
        let near = |x: Val<'c>| -> Result<Val<'c>> {
            let inner = mul(b, self.number(b, CUBIC + 2.0)?, x)?;
            let inner = sub(b, inner, self.number(b, CUBIC + 3.0)?)?;
            add(b, mul(b, mul(b, inner, x)?, x)?, one)
        };
        let far = |x: Val<'c>| -> Result<Val<'c>> {
            let x = add(b, x, one)?;
            let inner = sub(b, mul(b, self.number(b, CUBIC)?, x)?, self.number(b, 5.0 * CUBIC)?)?;
            let inner = add(b, mul(b, inner, x)?, self.number(b, 8.0 * CUBIC)?)?;
            sub(b, mul(b, inner, x)?, self.number(b, 4.0 * CUBIC)?)
        };
        Ok(vec![far(part)?, near(part)?, near(rest)?, far(rest)?])
    }

    /// The taps of all points along all axes, one tensor for what each has, of the dimensions `points`.
    fn all_taps(
        &self,
        b: &Builder<'c>,
        grid: Val<'c>,
        points: &[i64],
    ) -> Result<Vec<Vec<Tap<'c>>>> {
        let spatial = self.sizes.len();
        // The coordinates of a point run from the last axis to the first.
        let coordinates = (0..spatial).rev().map(|at| {
            let map = (0..points.len()).map(d).chain([c(at as i64)]).collect();
            (grid, map)
        });
        let weighs = self.mode != Mode::Nearest;
        let kinds = if weighs { vec![self.word, self.real] } else { vec![self.word] };
        let outs: Vec<Access<'c>> = kinds
            .iter()
            .cycle()
            .take(kinds.len() * self.count() * spatial)
            .map(|kind| Ok((b.empty(b.tensor(points, *kind))?, identity(points.len()))))
            .collect::<Result<_>>()?;
        let loops = vec![Iter::Parallel; points.len()];
        let found = generic(b, &loops, &coordinates.collect::<Vec<_>>(), &outs, |b, raw| {
            let mut found = vec![];
            for (axis, raw) in raw[..spatial].iter().enumerate() {
                for tap in self.taps(b, *raw, axis)? {
                    found.push(tap.place);
                    found.extend(tap.weight);
                }
            }
            Ok(found)
        })?;
        Ok(taps_of(&found, self.count(), weighs))
    }

    /// The interpolation along the axes of `taps` from elements whose places in an image begin with `place`.
    fn sample(
        &self,
        b: &Builder<'c>,
        image: (Val<'c>, [Val<'c>; 2]),
        place: Option<Val<'c>>,
        taps: &[Vec<Tap<'c>>],
    ) -> Result<Val<'c>> {
        let Some((first, rest)) = taps.split_first() else {
            return self.element(b, image, place);
        };
        let mut sum: Option<Val<'c>> = None;
        for tap in first {
            let place = match place {
                Some(place) => b.binary("arith.addi", place, tap.place)?,
                None => tap.place,
            };
            let mut value = self.sample(b, image, Some(place), rest)?;
            if let Some(weight) = tap.weight {
                value = mul(b, value, weight)?;
            }
            sum = Some(match sum {
                Some(sum) => add(b, sum, value)?,
                None => value,
            });
        }
        sum.ok_or_else(|| crate::Error::internal("a grid sample without taps"))
    }

    /// The element at a place of an image.
    fn element(
        &self,
        b: &Builder<'c>,
        (x, [batch, channel]): (Val<'c>, [Val<'c>; 2]),
        place: Option<Val<'c>>,
    ) -> Result<Val<'c>> {
        let place = place.ok_or_else(|| crate::Error::internal("a grid sample without axes"))?;
        let zero = b.constant_int(self.word, 0)?;
        let led = match self.padding {
            Padding::Zeros => b.binary("arith.maxsi", place, zero)?,
            _ => place,
        };
        let led = b.op1("arith.index_cast", &[led], b.index_type())?;
        let element = shape::extract(b, x, &[batch, channel, led])?;
        let element = convert(b, element, self.unsigned, self.real, false)?;
        if self.padding != Padding::Zeros {
            return Ok(element);
        }
        b.select(b.cmpi("sge", place, zero)?, element, self.number(b, 0.0)?)
    }
}

/// Values, which are a place and perhaps a weight for each tap, as the taps of each axis.
fn taps_of<'c>(values: &[Val<'c>], count: usize, weighs: bool) -> Vec<Vec<Tap<'c>>> {
    let taps = values.chunks(1 + usize::from(weighs));
    let taps: Vec<_> =
        taps.map(|tap| Tap { place: tap[0], weight: tap.get(1).copied() }).collect();
    taps.chunks(count).map(<[_]>::to_vec).collect()
}

fn grid_sample<'c>(l: &Lowering<'c>, op: GridSampleAdaptor<'_, 'c>) -> Result<Vec<Val<'c>>> {
    let ty = l.result_type(0)?;
    if ir::dims(ty).contains(&0) {
        return Ok(vec![l.b.empty(ty)?]);
    }
    let sampler = Sampler::new(l, op);
    if sampler.sizes.contains(&0) {
        return Err(crate::Error::invalid(format!(
            "samples {}, which has no elements",
            op.x().r#type()
        )));
    }
    let dims = ir::dims(ty);
    let points = [&dims[..1], &dims[2..]].concat();
    let taps = sampler.all_taps(&l.b, op.grid(), &points)?;
    let map: Vec<_> = (0..dims.len()).filter(|at| *at != 1).map(d).collect();
    let values = taps.iter().flatten().flat_map(|tap| [Some(tap.place), tap.weight]);
    let ins: Vec<_> = values.flatten().map(|value| (value, map.clone())).collect();
    let image = [&dims[..2], &[sampler.sizes.iter().product()]].concat();
    let x = shape::reshape(&l.b, op.x(), &image)?;
    let element = ir::element_type(ty);
    let unsigned = l.is_unsigned_result(0);
    let value = parallel(&l.b, ty, &ins, |b, loaded| {
        let taps = taps_of(loaded, sampler.count(), sampler.mode != Mode::Nearest);
        let image = (x, [loop_index(b, 0)?, loop_index(b, 1)?]);
        let value = sampler.sample(b, image, None, &taps)?;
        convert(b, value, false, element, unsigned)
    })?;
    Ok(vec![value])
}

super::lowerings! {
    GridSample => grid_sample,
}
