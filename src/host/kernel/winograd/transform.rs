//! The matrices of Winograd's algorithm, and linear maps of vectors.
//!
//! For `m` sums of a window of `r` taps the polynomials whose coefficients they are get evaluated at
//! `m + r - 2` points and at infinity, multiplied there, and interpolated (A. Lavin, S. Gray: Fast
//! algorithms for convolutional neural networks, 2016, after S. Winograd and A. Toom). With the
//! Vandermonde matrix V of these points, the input is multiplied by the transposed inverse of V, the taps
//! by the first `r` columns of V, and the products by the first `m` columns, transposed.

use super::super::{Element, Emitter};
use crate::{Result, ir::Val};

/// Points besides 0 and infinity come in pairs of both signs, so that the sums of even and of odd powers serve
/// two. These have the smallest errors of those that were tried, and are exact in binary. Two pairs in two dimensions:
/// 1.7e-6 of the largest result for 256 channels, where sums tap by tap have 1.4e-6, and 1 and 2 as points 7e-6.
/// Three pairs in one dimension: 1.2e-6 to 1.8e-6; in two it would be 5e-6 to 8e-6.
const ONE_PAIR: [f64; 3] = [0.0, 1.0, -1.0];
const TWO_PAIRS: [f64; 5] = [0.0, 0.75, -0.75, 1.5, -1.5];
const THREE_PAIRS: [f64; 7] = [0.0, 0.5, -0.5, 1.0, -1.0, 1.75, -1.75];

/// Points of a tile along an axis if several are tiled.
pub const MOST_POINTS: i64 = 6;

/// A linear map of vectors, row by row.
pub struct Map {
    rows: Vec<Vec<f64>>,
}

/// What becomes of the input, the taps and the products along one axis.
pub struct Maps {
    /// Of the input of a tile.
    pub input: Map,
    /// Of the taps.
    pub taps: Map,
    /// Of the products to the results.
    pub output: Map,
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
    /// The maps for `outputs` sums of `taps` taps each, if there are points for that many.
    pub fn of(outputs: i64, taps: i64) -> Option<Self> {
        let points: &[f64] = match outputs + taps - 1 {
            1 => &[],
            4 => &ONE_PAIR,
            6 => &TWO_PAIRS,
            8 => &THREE_PAIRS,
            _ => return None,
        };
        let powers =
            |point: f64, count: i64| (0..count).map(|power| point.powi(power as i32)).collect();
        // Infinity has the highest power only.
        let last =
            |count: i64| (1..=count).map(|power| if power == count { 1.0 } else { 0.0 }).collect();
        let (mut input, mut filter, mut columns) = (vec![], vec![], vec![]);
        for (i, point) in points.iter().enumerate() {
            let others = || points.iter().enumerate().filter(|(j, _)| *j != i).map(|(_, p)| *p);
            let mut row = product(others());
            row.push(0.0);
            input.push(row);
            let scale: f64 = others().map(|other| point - other).product();
            let row: Vec<f64> = powers(*point, taps);
            filter.push(row.iter().map(|power| power / scale).collect());
            columns.push(powers(*point, outputs));
        }
        input.push(product(points.iter().copied()));
        filter.push(last(taps));
        columns.push(last(outputs));
        let transposed = |columns: &[Vec<f64>]| {
            (0..outputs as usize).map(|row| columns.iter().map(|c| c[row]).collect()).collect()
        };
        Some(Self {
            input: Map { rows: input },
            taps: Map { rows: filter },
            output: Map { rows: transposed(&columns) },
        })
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
    pub fn emit<'c>(
        &self,
        e: &Emitter<'c>,
        values: &[Val<'c>],
        element: Element,
    ) -> Result<Vec<Val<'c>>> {
        if self.rows == [[1.0]] {
            return Ok(values.to_vec());
        }
        let terms = self.terms(e, values)?;
        let sum = |terms: &[Term<'c>]| sum(e, terms, element);
        let mut results = vec![];
        let mut rows = terms.as_slice();
        while let [row, rest @ ..] = rows {
            if let [next, others @ ..] = rest
                && let Some((even, odd)) = halves(row, next)
            {
                let (even, odd) = (sum(&even)?, sum(&odd)?);
                results.push(e.float("arith.addf", even, odd)?);
                results.push(e.float("arith.subf", even, odd)?);
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
                    e.float("arith.addf", values[column], values[next])?,
                    e.float("arith.subf", values[column], values[next])?,
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

/// The sum of some terms. Those without a factor come first, which saves a multiplication.
fn sum<'c>(e: &Emitter<'c>, terms: &[Term<'c>], element: Element) -> Result<Val<'c>> {
    let mut terms = terms.to_vec();
    terms.sort_by_key(|(factor, _)| (factor.abs() != 1.0, *factor < 0.0));
    let Some(((factor, first), rest)) = terms.split_first() else {
        return Err(crate::Error::internal("a sum without terms"));
    };
    let factor_of = |value: Val<'c>, factor: f64| e.splat_like(value, factor, element);
    let mut sum = match factor {
        1.0 => *first,
        _ => e.float("arith.mulf", *first, factor_of(*first, *factor)?)?,
    };
    for (factor, value) in rest {
        sum = match factor {
            1.0 => e.float("arith.addf", sum, *value)?,
            -1.0 => e.float("arith.subf", sum, *value)?,
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

    /// Sums of a window by its definition.
    fn direct(input: &[f64], taps: &[f64], outputs: usize) -> Vec<f64> {
        (0..outputs).map(|at| taps.iter().zip(&input[at..]).map(|(a, b)| a * b).sum()).collect()
    }

    #[test]
    fn products_of_the_maps_are_the_sums_of_the_window() {
        for (outputs, taps) in
            [(1, 1), (2, 3), (3, 2), (4, 3), (2, 5), (3, 4), (5, 2), (2, 7), (6, 3)]
        {
            let maps = Maps::of(outputs, taps).expect("points");
            let input: Vec<f64> =
                (0..outputs + taps - 1).map(|i| (i * i % 7) as f64 - 2.5).collect();
            let filter: Vec<f64> = (0..taps).map(|i| (i * 3 % 5) as f64 - 1.25).collect();
            let (a, b) = (maps.input.of_numbers(&input), maps.taps.of_numbers(&filter));
            let products: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
            let sums = maps.output.of_numbers(&products);
            for (sum, expected) in sums.iter().zip(direct(&input, &filter, outputs as usize)) {
                assert!(
                    (sum - expected).abs() < 1e-10,
                    "{outputs}, {taps}: {sum} is not {expected}"
                );
            }
        }
        assert!(Maps::of(3, 3).is_none());
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
