//! `graph.grid_sample`: each element of the result interpolates between elements of x around a
//! point that is only known at run time.

use crate::{
    Result,
    ir::{self, Builder, Val, graph::GridSampleAdaptor},
    lower::{
        Lowering,
        generic::{c, d, loop_index, parallel},
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
struct Tap<'c> {
    /// Its position, which is in range.
    position: Val<'c>,
    /// Whether it stands for an element of x and not for a zero around it.
    inside: Option<Val<'c>>,
    /// None is 1.
    weight: Option<Val<'c>>,
}

/// What is sampled, and how.
struct Sampler<'c> {
    x: Val<'c>,
    unsigned: bool,
    sizes: Vec<i64>,
    mode: Mode,
    padding: Padding,
    align_corners: bool,
    /// The float type of coordinates and sums.
    real: Type<'c>,
}

impl<'c> Sampler<'c> {
    fn new(l: &Lowering<'c>, op: GridSampleAdaptor<'_, 'c>) -> Self {
        let x = op.x();
        let double = |value: Val<'c>| ir::element_type(value.r#type()) == l.b.f64();
        Self {
            x,
            unsigned: l.is_unsigned(0),
            sizes: ir::dims(x.r#type())[2..].to_vec(),
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

    /// The element at an integral position, as the padding tells.
    fn tap(
        &self,
        b: &Builder<'c>,
        at: Val<'c>,
        weight: Option<Val<'c>>,
        size: i64,
    ) -> Result<Tap<'c>> {
        let word = b.int(64);
        let (zero, last) = (b.constant_int(word, 0)?, b.constant_int(word, size - 1)?);
        let mut position = at;
        if self.padding == Padding::Reflection {
            position = self.mirror(b, at, size)?;
        }
        let position = b.binary("arith.maxsi", position, zero)?;
        let position = b.binary("arith.minsi", position, last)?;
        let inside = match self.padding {
            Padding::Zeros => Some(b.cmpi("eq", position, at)?),
            _ => None,
        };
        let position = b.op1("arith.index_cast", &[position], b.index_type())?;
        Ok(Tap { position, inside, weight })
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

    /// The elements that count along an axis for a raw coordinate.
    fn taps(&self, b: &Builder<'c>, raw: Val<'c>, size: i64) -> Result<Vec<Tap<'c>>> {
        let word = b.int(64);
        let mut at = self.coordinate(b, raw, size)?;
        if self.mode == Mode::Nearest {
            at = b.unary("math.roundeven", at)?;
            at = self.bound(b, at, size)?;
            // Truncation is what ONNX does with a reflected half.
            return Ok(vec![self.tap(b, b.op1("arith.fptosi", &[at], word)?, None, size)?]);
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
            taps.push(self.tap(b, at, Some(weight), size)?);
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

    /// The interpolation along the axes of `taps` from elements whose first indices are `at`.
    fn sample(
        &self,
        b: &Builder<'c>,
        at: &mut Vec<Val<'c>>,
        inside: Option<Val<'c>>,
        taps: &[Vec<Tap<'c>>],
    ) -> Result<Val<'c>> {
        let Some((first, rest)) = taps.split_first() else {
            let element = shape::extract(b, self.x, at)?;
            let element = convert(b, element, self.unsigned, self.real, false)?;
            return match inside {
                Some(inside) => b.select(inside, element, self.number(b, 0.0)?),
                None => Ok(element),
            };
        };
        let mut sum: Option<Val<'c>> = None;
        for tap in first {
            let inside = match (inside, tap.inside) {
                (Some(a), Some(c)) => Some(b.binary("arith.andi", a, c)?),
                (a, c) => a.or(c),
            };
            at.push(tap.position);
            let mut value = self.sample(b, at, inside, rest)?;
            at.pop();
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
    let (rank, spatial) = (ir::dims(ty).len(), sampler.sizes.len());
    // The coordinates of a point run from the last axis to the first.
    let ins: Vec<_> = (0..spatial)
        .map(|axis| {
            let coordinate = c((spatial - 1 - axis) as i64);
            let map = [d(0)].into_iter().chain((2..rank).map(d)).chain([coordinate]).collect();
            (op.grid(), map)
        })
        .collect();
    let element = ir::element_type(ty);
    let unsigned = l.is_unsigned_result(0);
    let value = parallel(&l.b, ty, &ins, |b, raw| {
        let taps: Vec<_> = raw
            .iter()
            .zip(&sampler.sizes)
            .map(|(raw, size)| sampler.taps(b, *raw, *size))
            .collect::<Result<_>>()?;
        let mut at = vec![loop_index(b, 0)?, loop_index(b, 1)?];
        let value = sampler.sample(b, &mut at, None, &taps)?;
        convert(b, value, false, element, unsigned)
    })?;
    Ok(vec![value])
}

super::lowerings! {
    GridSample => grid_sample,
}
