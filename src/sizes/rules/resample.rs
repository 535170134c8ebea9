//! Resampling at positions that a run computes, one axis after the other.

use crate::{
    Error, Result,
    ir::{self, Builder, Val, constant::Elements, graph},
    sizes::{Bounding, Dim, mask::integers},
};
use melior::ir::ValueLike;
use phaseline_base::size::Size;

/// Arithmetic on integers that a run computes.
pub(super) struct Arith<'b, 'c>(pub(super) &'b Builder<'c>);

impl<'c> Arith<'_, 'c> {
    pub(super) fn number(&self, value: i64) -> Result<Val<'c>> {
        integers(self.0, &[], &[value])
    }

    pub(super) fn plus(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Add::build(self.0, a, b)?.y())
    }

    pub(super) fn minus(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Sub::build(self.0, a, b)?.y())
    }

    pub(super) fn times(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Mul::build(self.0, a, b)?.y())
    }

    pub(super) fn rest(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Mod::build(self.0, a, b, graph::ModAttrs::default())?.y())
    }

    /// The floor of a quotient by what is above zero.
    pub(super) fn over(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        let whole = self.minus(a, self.rest(a, b)?)?;
        Ok(graph::Div::build(self.0, whole, b)?.y())
    }

    pub(super) fn least(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Min::build(self.0, a, b)?.y())
    }

    pub(super) fn most(&self, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
        Ok(graph::Max::build(self.0, a, b)?.y())
    }

    /// Numbers led into `0..=last`.
    pub(super) fn inside(&self, a: Val<'c>, last: Val<'c>) -> Result<Val<'c>> {
        self.most(self.least(a, last)?, self.number(0)?)
    }

    pub(super) fn cast(&self, a: Val<'c>, to: melior::ir::Type<'c>) -> Result<Val<'c>> {
        Ok(graph::Cast::build(self.0, a, to, graph::CastAttrs::default())?.y())
    }

    pub(super) fn float(&self, value: f64, like: Val<'c>) -> Result<Val<'c>> {
        let element = ir::element_type(like.r#type());
        let value = self.0.parse_attr(&format!("dense<{value:.20}> : tensor<{element}>"))?;
        Ok(graph::Constant::build(self.0, value)?.y())
    }
}

/// A resampled axis: its size, and by what it is multiplied, as a fraction.
pub(super) struct Way<'c> {
    pub(super) axis: usize,
    pub(super) target: Size,
    /// Numerator and denominator of the scale; without them the quotient of the sizes.
    pub(super) scale: Option<(i64, i64)>,
    /// Start and end of the region that is read, relative to the size.
    pub(super) region: Option<(f64, f64)>,
    pub(super) view: graph::Resize<'c>,
}

/// Points of the operand: the elements before them, and how far they are from these.
struct Points<'c> {
    floor: Val<'c>,
    part: Val<'c>,
    /// The nearest elements.
    nearest: Val<'c>,
    outside: Option<Val<'c>>,
}

impl<'c> Bounding<'c> {
    /// A value resampled along an axis.
    pub(super) fn resampled(
        &mut self,
        b: &Builder<'c>,
        x: Val<'c>,
        way: &Way<'c>,
    ) -> Result<Val<'c>> {
        let a = Arith(b);
        let x = self.singled(b, x, way.axis)?;
        let mut dims = self.dims(x);
        let size = dims[way.axis].size();
        let target = Dim::of(way.target.clone());
        let (from, to) = (self.value_of(&size)?, self.value_of(&way.target)?);
        let last = a.minus(from, a.number(1)?)?;
        let count = self.room(&target);
        let places = integers(b, &[count], &(0..count).collect::<Vec<_>>())?;
        let points = match way.region {
            Some(region) => self.cropped(b, way, (places, from, to), region)?,
            None => exact(b, way, (places, from, to))?,
        };
        let taken = |at: Val<'c>| -> Result<Val<'c>> {
            let attributes = graph::GatherAttrs { axis: way.axis as i64 };
            Ok(graph::Gather::build(b, x, a.inside(at, last)?, attributes)?.y())
        };
        // One number for each element along the axis.
        let behind: Vec<i64> = (1..(dims.len() - way.axis) as i64).collect();
        let along = |value: Val<'c>| match behind.is_empty() {
            true => Ok::<_, Error>(value),
            false => Ok(graph::Unsqueeze::build(b, value, &behind)?.y()),
        };
        let element = ir::element_type(x.r#type());
        let mode = way.view.mode();
        if mode != "nearest" && !ir::is_float(element) {
            return Err(Error::invalid(format!(
                "interpolates elements of type {element} along a size that is known at run time"
            )));
        }
        let mut y = match mode {
            "nearest" => taken(points.nearest)?,
            _ => {
                let taps = match mode {
                    "linear" => linear(&a, points.part)?,
                    _ => cubic(&a, points.part, way.view.cubic_coeff_a())?,
                };
                let mut weighed = vec![];
                let mut total: Option<Val<'c>> = None;
                for (offset, mut weight) in taps {
                    let at = a.plus(points.floor, a.number(offset)?)?;
                    if way.view.exclude_outside() {
                        let zero = a.number(0)?;
                        let low = graph::GreaterOrEqual::build(b, at, zero)?.y();
                        let high = graph::LessOrEqual::build(b, at, last)?.y();
                        let inside = graph::And::build(b, low, high)?.y();
                        let none = a.float(0.0, weight)?;
                        weight = graph::Where::build(b, inside, weight, none)?.y();
                        total = Some(match total {
                            Some(total) => a.plus(total, weight)?,
                            None => weight,
                        });
                    }
                    weighed.push((at, weight));
                }
                let mut sum: Option<Val<'c>> = None;
                for (at, mut weight) in weighed {
                    if let Some(total) = total {
                        weight = graph::Div::build(b, weight, total)?.y();
                    }
                    let weight = along(a.cast(weight, element)?)?;
                    let term = a.times(taken(at)?, weight)?;
                    sum = Some(match sum {
                        Some(sum) => a.plus(sum, term)?,
                        None => term,
                    });
                }
                sum.ok_or_else(|| Error::internal("an interpolation without taps"))?
            }
        };
        if let Some(outside) = points.outside {
            let value = format!("dense<{:.20}> : tensor<f32>", way.view.extrapolation_value());
            let value = graph::Constant::build(b, b.parse_attr(&value)?)?.y();
            y = graph::Where::build(b, along(outside)?, a.cast(value, element)?, y)?.y();
        }
        dims[way.axis] = target;
        self.know(y, dims);
        Ok(y)
    }

    /// Points of a region, in f32.
    fn cropped(
        &mut self,
        b: &Builder<'c>,
        way: &Way<'c>,
        (places, from, to): (Val<'c>, Val<'c>, Val<'c>),
        (start, end): (f64, f64),
    ) -> Result<Points<'c>> {
        let a = Arith(b);
        let f32 = b.parse_type("f32")?;
        let one = a.number(1)?;
        let span = a.cast(a.minus(from, one)?, f32)?;
        let steps = a.cast(a.most(a.minus(to, one)?, one)?, f32)?;
        let part = graph::Div::build(b, a.cast(places, f32)?, steps)?.y();
        let single = graph::Equal::build(b, to, one)?.y();
        let part = graph::Where::build(b, single, a.float(0.5, part)?, part)?.y();
        let within = a.times(a.times(part, a.float(end - start, part)?)?, span)?;
        let at = a.plus(a.times(a.float(start, part)?, span)?, within)?;
        let low = graph::Less::build(b, at, a.float(0.0, at)?)?.y();
        let high = graph::Greater::build(b, at, span)?.y();
        let outside = graph::Or::build(b, low, high)?.y();
        let floor = graph::Floor::build(b, at)?.y();
        let half = a.float(0.5, at)?;
        let nearest = match way.view.nearest_mode() {
            "round_prefer_ceil" => graph::Floor::build(b, a.plus(at, half)?)?.y(),
            "floor" => floor,
            "ceil" => graph::Ceil::build(b, at)?.y(),
            _ => graph::Ceil::build(b, a.minus(at, half)?)?.y(),
        };
        let i64 = b.int(64);
        Ok(Points {
            floor: a.cast(floor, i64)?,
            part: a.minus(at, floor)?,
            nearest: a.cast(nearest, i64)?,
            outside: Some(outside),
        })
    }
}

/// Points as fractions of integers, so that none is off by one.
fn exact<'c>(
    b: &Builder<'c>,
    way: &Way<'c>,
    (places, from, to): (Val<'c>, Val<'c>, Val<'c>),
) -> Result<Points<'c>> {
    let a = Arith(b);
    let (one, two) = (a.number(1)?, a.number(2)?);
    let (above, below) = match way.scale {
        Some((above, below)) => (a.number(above)?, a.number(below)?),
        None => (to, from),
    };
    let half_pixel = || -> Result<(Val<'c>, Val<'c>)> {
        let odd = a.plus(a.times(places, two)?, one)?;
        Ok((a.minus(a.times(odd, below)?, above)?, a.times(above, two)?))
    };
    let scaled = a.times(from, above)?;
    let (number, divisor) = match way.view.coordinate_transformation_mode() {
        "half_pixel" => half_pixel()?,
        "pytorch_half_pixel" => {
            let (number, divisor) = half_pixel()?;
            let single = graph::Equal::build(b, scaled, below)?.y();
            (graph::Where::build(b, single, a.number(0)?, number)?.y(), divisor)
        }
        "half_pixel_symmetric" => {
            let (number, divisor) = half_pixel()?;
            (a.plus(number, a.minus(scaled, a.times(to, below)?)?)?, divisor)
        }
        "align_corners" => {
            let number = a.times(a.times(places, a.minus(from, one)?)?, below)?;
            let divisor = a.minus(scaled, below)?;
            let single = graph::Equal::build(b, divisor, a.number(0)?)?.y();
            let number = graph::Where::build(b, single, a.number(0)?, number)?.y();
            (number, graph::Where::build(b, single, one, divisor)?.y())
        }
        "asymmetric" => (a.times(places, below)?, above),
        other => {
            return Err(Error::invalid(format!(
                "resizes a size that is known at run time in mode {other}"
            )));
        }
    };
    let divisor = a.most(divisor, one)?;
    let floor = a.over(number, divisor)?;
    let f32 = b.parse_type("f32")?;
    let part = a.minus(number, a.times(floor, divisor)?)?;
    let part = graph::Div::build(b, a.cast(part, f32)?, a.cast(divisor, f32)?)?.y();
    let (twice, double) = (a.times(number, two)?, a.times(divisor, two)?);
    let negative = |value: Val<'c>| -> Result<Val<'c>> { a.minus(a.number(0)?, value) };
    let nearest = match way.view.nearest_mode() {
        "round_prefer_ceil" => a.over(a.plus(twice, divisor)?, double)?,
        "floor" => floor,
        "ceil" => negative(a.over(negative(number)?, divisor)?)?,
        _ => negative(a.over(a.minus(divisor, twice)?, double)?)?,
    };
    Ok(Points { floor, part, nearest, outside: None })
}

fn linear<'c>(a: &Arith<'_, 'c>, part: Val<'c>) -> Result<Vec<(i64, Val<'c>)>> {
    Ok(vec![(0, a.minus(a.float(1.0, part)?, part)?), (1, part)])
}

/// Weights of four elements: polynomials of the distance.
fn cubic<'c>(a: &Arith<'_, 'c>, part: Val<'c>, c: f64) -> Result<Vec<(i64, Val<'c>)>> {
    let polynomial = |x: Val<'c>, factors: [f64; 4]| -> Result<Val<'c>> {
        let mut sum = a.float(factors[0], x)?;
        for factor in &factors[1..] {
            sum = a.plus(a.times(sum, x)?, a.float(*factor, x)?)?;
        }
        Ok(sum)
    };
    let (near, far) = ([c + 2.0, -(c + 3.0), 0.0, 1.0], [c, -5.0 * c, 8.0 * c, -4.0 * c]);
    let rest = a.minus(a.float(1.0, part)?, part)?;
    let beyond = |x: Val<'c>| -> Result<Val<'c>> { a.plus(x, a.float(1.0, x)?) };
    Ok(vec![
        (-1, polynomial(beyond(part)?, far)?),
        (0, polynomial(part, near)?),
        (1, polynomial(rest, near)?),
        (2, polynomial(beyond(rest)?, far)?),
    ])
}

/// The region of each axis, where one is read.
pub(super) fn regions(view: graph::Resize<'_>, count: usize) -> Result<Option<Vec<(f64, f64)>>> {
    if view.coordinate_transformation_mode() != "tf_crop_and_resize" {
        return Ok(None);
    }
    let roi = view.roi().and_then(Elements::of_value).map(|roi| roi.floats());
    let roi = roi.filter(|roi| roi.len() == 2 * count);
    let roi = roi.ok_or_else(|| Error::invalid("reads a region that data decide"))?;
    Ok(Some((0..count).map(|place| (roi[place], roi[place + count])).collect()))
}
