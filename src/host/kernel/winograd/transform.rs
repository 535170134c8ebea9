//! The matrices of Winograd's algorithm, and linear maps of vectors.
//!
//! The sums of `m` windows of `r` taps correspond to polynomials with `m` and `r` coefficients.
//! These are evaluated at `m + r - 2` points and at infinity, multiplied there, and interpolated
//! (A. Lavin, S. Gray: Fast algorithms for convolutional neural networks, 2016, after S. Winograd
//! and A. Toom). V is the Vandermonde matrix of these points. The input is multiplied by the
//! transposed inverse of V, the taps by the first `r` columns of V, and the products by the first
//! `m` columns, transposed.

use super::super::{Emitter, tiling::ceil_div};
use crate::{
    Result,
    ir::{self, Val},
};
use melior::ir::ValueLike;

/// Points besides 0 and infinity come in pairs of both signs, so that the sums of even and of odd powers serve
/// two. These have the smallest errors of those that were tried, and are exact in binary. Two pairs in two dimensions:
/// 1.7e-6 of the largest result for 256 channels, where sums tap by tap have 1.4e-6, and 1 and 2 as points 7e-6.
/// Three pairs in one dimension: 1.2e-6 to 1.8e-6; in two it would be 5e-6 to 8e-6.
const ONE_PAIR: [f64; 3] = [0.0, 1.0, -1.0];
const TWO_PAIRS: [f64; 5] = [0.0, 0.75, -0.75, 1.5, -1.5];
const THREE_PAIRS: [f64; 7] = [0.0, 0.5, -0.5, 1.0, -1.0, 1.75, -1.75];

/// Products of one polynomial if several axes are tiled.
pub const MOST_PRODUCTS: i64 = 6;

/// A linear map of vectors, row by row.
pub struct Map {
    rows: Vec<Vec<f64>>,
}

/// Linear maps of the input, the taps and the products along one axis.
pub struct Maps {
    /// Positions of the input points of a tile, from its first one on.
    pub positions: Vec<i64>,
    /// Map of the input of a tile.
    pub input: Map,
    /// Map of the taps.
    pub taps: Map,
    /// Map of the products to the results.
    pub output: Map,
    /// Products that one polynomial has, at most.
    pub degree: i64,
}

/// The coefficients of the product of `x - root` for some roots, lowest power first.
fn product(roots: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut coefficients = vec![1.0];
    for root in roots {
        coefficients.push(0.0);
        for power in (0..coefficients.len()).rev() {
            let lower = if power == 0 { 0.0 } else { coefficients[power - 1] };
            coefficients[power] = lower - root * coefficients[power];
        }
    }
    coefficients
}

impl Maps {
    /// The maps for `outputs` sums of `taps` taps each that are a `stride` apart, if there are points for that
    /// many. With a stride each tap sees one phase of the input only, and the sums are those of all phases.
    pub fn of(outputs: i64, taps: i64, stride: i64) -> Option<Self> {
        let phases: Vec<_> = (0..stride.min(taps))
            .map(|phase| {
                Some((phase, Self::of_neighbours(outputs, ceil_div(taps - phase, stride))?))
            })
            .collect::<Option<_>>()?;
        let mut all = Self {
            positions: vec![],
            input: Map { rows: vec![] },
            taps: Map { rows: vec![] },
            output: Map { rows: vec![vec![]; outputs as usize] },
            degree: 0,
        };
        let points = phases.iter().map(|(_, maps)| maps.input.rows.len()).sum();
        for (phase, maps) in phases {
            let before = all.positions.len();
            for row in &maps.input.rows {
                let mut wide = vec![0.0; points];
                wide[before..before + row.len()].copy_from_slice(row);
                all.input.rows.push(wide);
            }
            for row in &maps.taps.rows {
                let mut wide = vec![0.0; taps as usize];
                let places = (phase..taps).step_by(stride as usize);
                places.zip(row).for_each(|(tap, factor)| wide[tap as usize] = *factor);
                all.taps.rows.push(wide);
            }
            for (all, row) in all.output.rows.iter_mut().zip(maps.output.rows) {
                all.extend(row);
            }
            all.positions.extend(maps.positions.iter().map(|at| phase + at * stride));
            all.degree = all.degree.max(maps.degree);
        }
        Some(all)
    }

    /// The power of two by which taps have to be multiplied to be whole, if the maps of input and
    /// results keep whole numbers whole.
    pub fn whole(&self) -> Option<i64> {
        let is_sign = |factor: &f64| [0.0, 1.0, -1.0].contains(factor);
        let signs =
            [&self.input, &self.output].into_iter().flat_map(|map| map.rows.iter().flatten());
        let mut taps = self.taps.rows.iter().flatten();
        if !{ signs }.all(is_sign) || !taps.all(|factor| (2.0 * factor).fract() == 0.0) {
            return None;
        }
        let is_whole = self.taps.rows.iter().flatten().all(|factor| factor.fract() == 0.0);
        Some(i64::from(!is_whole))
    }

    /// The same for neighbouring sums.
    fn of_neighbours(outputs: i64, taps: i64) -> Option<Self> {
        let count = outputs + taps - 1;
        let positions = (0..count).collect();
        if taps == 1 {
            let unit = |at| (0..count).map(|i| if i == at { 1.0 } else { 0.0 }).collect();
            let same = || Map { rows: (0..count).map(unit).collect() };
            let taps = Map { rows: vec![vec![1.0]; count as usize] };
            return Some(Self { positions, input: same(), taps, output: same(), degree: 1 });
        }
        let points: &[f64] = match count {
            3 => &ONE_PAIR[..2],
            4 => &ONE_PAIR,
            6 => &TWO_PAIRS,
            8 => &THREE_PAIRS,
            _ => return None,
        };
        let powers = |point: f64, count: i64| -> Vec<f64> {
            (0..count).map(|power| point.powi(power as i32)).collect()
        };
        // Infinity has the highest power only.
        let last = |count: i64| -> Vec<f64> {
            (1..=count).map(|power| if power == count { 1.0 } else { 0.0 }).collect()
        };
        let (mut input, mut filter, mut columns) = (vec![], vec![], vec![]);
        for (i, point) in points.iter().enumerate() {
            let others = || points.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, p)| *p);
            let mut row = product(others());
            row.push(0.0);
            input.push(row);
            let scale: f64 = others().map(|other| point - other).product();
            filter.push(powers(*point, taps).iter().map(|power| power / scale).collect());
            columns.push(powers(*point, outputs));
        }
        input.push(product(points.iter().copied()));
        filter.push(last(taps));
        columns.push(last(outputs));
        let output =
            (0..outputs as usize).map(|row| columns.iter().map(|c| c[row]).collect()).collect();
        let [input, taps, output] = [input, filter, output].map(|rows| Map { rows });
        Some(Self { positions, input, taps, output, degree: count })
    }
}

/// A term of a sum: a factor and a value.
type Term<'c> = (f64, Val<'c>);

impl Map {
    /// The map of numbers.
    pub fn of_numbers(&self, values: &[f64]) -> Vec<f64> {
        let dot = |row: &Vec<f64>| row.iter().zip(values).map(|(a, b)| a * b).sum();
        self.rows.iter().map(dot).collect()
    }

    /// Emits the map of vectors. Columns and rows that differ in signs only share their sums.
    pub fn emit<'c>(&self, e: &Emitter<'c>, values: &[Val<'c>]) -> Result<Vec<Val<'c>>> {
        let terms = self.terms(e, values)?;
        let sum = |terms: &[Term<'c>]| sum(e, terms);
        let mut results = vec![];
        let mut rows = terms.as_slice();
        while let [row, rest @ ..] = rows {
            if let [next, others @ ..] = rest
                && let Some((even, odd)) = halves(row, next)
            {
                let (even, odd) = (sum(&even)?, sum(&odd)?);
                results.push(add(e, even, odd)?);
                results.push(subtract(e, even, odd)?);
                rows = others;
                continue;
            }
            results.push(sum(row)?);
            rows = rest;
        }
        Ok(results)
    }

    /// The terms of each row. Neighbouring values whose factors are the same but for their signs are added and
    /// subtracted first.
    fn terms<'c>(&self, e: &Emitter<'c>, values: &[Val<'c>]) -> Result<Vec<Vec<Term<'c>>>> {
        let mut terms: Vec<Vec<Term<'c>>> = vec![vec![]; self.rows.len()];
        let mut column = 0;
        while column < values.len() {
            let next = column + 1;
            let alike = next < values.len()
                && self.rows.len() > 1
                && self.rows.iter().all(|row| row[column].abs() == row[next].abs());
            let pair = match alike {
                true => Some([
                    add(e, values[column], values[next])?,
                    subtract(e, values[column], values[next])?,
                ]),
                false => None,
            };
            for (row, terms) in self.rows.iter().zip(&mut terms) {
                let factor = row[column];
                let value = match pair {
                    Some([sum, difference]) => {
                        if factor == row[next] {
                            sum
                        } else {
                            difference
                        }
                    }
                    None => values[column],
                };
                if factor != 0.0 {
                    terms.push((factor, value));
                }
            }
            column += if alike { 2 } else { 1 };
        }
        Ok(terms)
    }
}

/// The terms that two rows share, and those that they have with different signs, if there are no others and
/// both kinds exist.
fn halves<'c>(a: &[Term<'c>], b: &[Term<'c>]) -> Option<(Vec<Term<'c>>, Vec<Term<'c>>)> {
    let alike =
        a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.1 == b.1 && a.0.abs() == b.0.abs());
    let kind = |same: bool| -> Vec<Term<'c>> {
        let pairs = a.iter().zip(b).filter(|(a, b)| (a.0 == b.0) == same);
        pairs.map(|(a, _)| *a).collect()
    };
    let (even, odd) = (kind(true), kind(false));
    (alike && !even.is_empty() && !odd.is_empty()).then_some((even, odd))
}

/// The sum of two vectors of floats, or of integers.
fn add<'c>(e: &Emitter<'c>, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
    match ir::is_float(a.r#type()) {
        true => e.float("arith.addf", a, b),
        false => e.builder.binary("arith.addi", a, b),
    }
}

/// Their difference.
fn subtract<'c>(e: &Emitter<'c>, a: Val<'c>, b: Val<'c>) -> Result<Val<'c>> {
    match ir::is_float(a.r#type()) {
        true => e.float("arith.subf", a, b),
        false => e.builder.binary("arith.subi", a, b),
    }
}

/// The sum of some terms. Those without a factor come first, which saves a multiplication; integers have no others.
fn sum<'c>(e: &Emitter<'c>, terms: &[Term<'c>]) -> Result<Val<'c>> {
    let mut terms = terms.to_vec();
    terms.sort_by_key(|(factor, _)| (factor.abs() != 1.0, *factor < 0.0));
    let Some(((factor, first), rest)) = terms.split_first() else {
        return Err(crate::Error::internal("a sum without terms"));
    };
    let factor_of = |value: Val<'c>, factor: f64| e.builder.constant(value.r#type(), factor);
    let mut sum = match factor {
        1.0 => *first,
        -1.0 if !ir::is_float(first.r#type()) => subtract(e, factor_of(*first, 0.0)?, *first)?,
        _ => e.float("arith.mulf", *first, factor_of(*first, *factor)?)?,
    };
    for (factor, value) in rest {
        sum = match factor {
            1.0 => add(e, sum, *value)?,
            -1.0 => subtract(e, sum, *value)?,
            _ => e.fma(*value, factor_of(*value, *factor)?, sum)?,
        };
    }
    Ok(sum)
}

/// The map of a block of values, whose axes are `sizes` long, along the first `axes` of them; `along` maps a
/// line.
pub fn separable<T: Copy>(
    values: Vec<T>,
    mut sizes: Vec<usize>,
    axes: usize,
    mut along: impl FnMut(usize, &[T]) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let mut values = values;
    for axis in (0..axes).rev() {
        let inner: usize = sizes[axis + 1..].iter().product();
        let (size, count) = (sizes[axis], values.len() / sizes[axis] / inner);
        let mut lines = vec![];
        for outer in 0..count {
            for within in 0..inner {
                let line: Vec<T> =
                    (0..size).map(|i| values[(outer * size + i) * inner + within]).collect();
                lines.push(along(axis, &line)?);
            }
        }
        let results = lines.first().map_or(0, Vec::len);
        values = (0..count * results * inner)
            .map(|i| lines[i / (results * inner) * inner + i % inner][i / inner % results])
            .collect();
        sizes[axis] = results;
    }
    Ok(values)
}

#[cfg(test)]
mod tests {
    use super::{Maps, separable};

    #[test]
    fn products_of_the_maps_are_the_sums_of_the_window() {
        let sizes =
            [(1, 1), (2, 2), (2, 3), (3, 2), (4, 3), (2, 5), (3, 4), (5, 2), (2, 7), (6, 3)];
        let all = sizes.iter().map(|(outputs, taps)| (*outputs, *taps, 1));
        for (outputs, taps, stride) in
            all.chain([(3, 3, 2), (5, 3, 2), (2, 5, 2), (2, 7, 3), (2, 1, 2)])
        {
            let maps = Maps::of(outputs, taps, stride).expect("points");
            let x = |at: i64| (at * at % 7) as f64 - 2.5;
            let filter: Vec<f64> = (0..taps).map(|i| (i * 3 % 5) as f64 - 1.25).collect();
            let input: Vec<f64> = maps.positions.iter().map(|at| x(*at)).collect();
            let (a, b) = (maps.input.of_numbers(&input), maps.taps.of_numbers(&filter));
            let products: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
            let sums = maps.output.of_numbers(&products);
            assert_eq!(sums.len(), outputs as usize);
            for (sum, first) in sums.iter().zip((0..).step_by(stride as usize)) {
                let expected: f64 = filter.iter().zip(first..).map(|(w, at)| w * x(at)).sum();
                assert!(
                    (sum - expected).abs() < 1e-10,
                    "{outputs} of {taps}: {sum} is not {expected}"
                );
            }
        }
        assert!(Maps::of(3, 3, 1).is_none());
    }

    #[test]
    fn blocks_are_mapped_along_each_axis() {
        let values: Vec<f64> = (0..6).map(f64::from).collect();
        let doubled = separable(values, vec![2, 3], 2, |axis, line| {
            Ok(if axis == 0 { vec![line[0] + line[1]] } else { vec![line[0], line[2]] })
        });
        assert_eq!(doubled.expect("a block"), [3.0, 7.0]);
    }
}
