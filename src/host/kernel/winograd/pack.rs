//! Filters as the products read them.

use super::{
    super::{Isa, weights::Source, window::AXES},
    Winograd,
    transform::separable,
};
use crate::{ir::blob::Plain, parallel};

/// Points of a tile whose matrices one task makes, since each task reads all filters.
const POINTS: usize = 8;

impl Winograd {
    /// The filters as the products read them, made of sums of their values.
    pub fn pack<T: Plain + Default + Into<f64>>(
        &self,
        source: &Source,
        values: &[T],
        (isa, of_sum): (Isa, fn(f64) -> T),
    ) -> crate::Result<Vec<T>> {
        let Source::Filters { groups, filters, depth, taps } = *source else {
            return Err(crate::Error::internal("filters that are a matrix"));
        };
        let factors = self.factors(taps)?;
        let (points, matrix) = (factors.len(), depth * filters);
        let mut matrices = vec![T::default(); groups * points * matrix];
        let parts = matrices.chunks_mut((points * matrix).max(1)).enumerate();
        let parts = parts.flat_map(|(group, matrices)| {
            let some = matrices.chunks_mut((POINTS * matrix).max(1));
            factors.chunks(POINTS).zip(some).map(move |(factors, to)| (group, factors, to))
        });
        parallel::each(parts.collect(), values.len(), |(group, factors, matrices)| {
            let mut columns = vec![0.0_f64; taps * filters];
            for reduction in 0..depth {
                for channel in 0..filters {
                    let from = ((group * filters + channel) * depth + reduction) * taps;
                    for (tap, value) in values[from..from + taps].iter().enumerate() {
                        columns[tap * filters + channel] = (*value).into();
                    }
                }
                let rows = matrices.chunks_mut(matrix);
                for (factors, rows) in factors.iter().zip(rows) {
                    let mut sums = vec![0.0; filters];
                    for (factor, column) in factors.iter().zip(columns.chunks_exact(filters)) {
                        sums.iter_mut().zip(column).for_each(|(sum, tap)| *sum += factor * tap);
                    }
                    let row = &mut rows[reduction * filters..][..filters];
                    row.iter_mut().zip(&sums).for_each(|(to, sum)| *to = of_sum(*sum));
                }
            }
        });
        let count = groups * points;
        let source = Source::Matrix { count, rows: depth, columns: filters, transposed: false };
        Ok(source.pack(&matrices, &self.blocking.channels, self.product.grouping(isa)))
    }

    /// For each point of a tile the factors of the taps.
    fn factors(&self, taps: usize) -> crate::Result<Vec<Vec<f64>>> {
        let maps = self.maps()?;
        let sizes = self.conv.window.kernel.map(|size| size as usize).to_vec();
        let mut factors = vec![vec![]; self.product.planes as usize];
        for tap in 0..taps {
            let unit = (0..taps).map(|other| if other == tap { 1.0 } else { 0.0 }).collect();
            let mapped = separable(unit, sizes.clone(), AXES, |axis, line| {
                Ok(maps[axis].taps.of_numbers(line))
            })?;
            let scale = (1_i64 << self.shift) as f64;
            factors.iter_mut().zip(mapped).for_each(|(row, factor)| row.push(factor * scale));
        }
        Ok(factors)
    }
}
