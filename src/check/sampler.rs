//! Seeded choices for the graphs that a target is tried on.

use crate::{
    pattern::{Expr, Pattern},
    target::TargetInstance,
    tensor::{DType, SplitMix64},
};

/// Chooses sizes, attributes and data. The same seed makes the same choices.
pub struct Sampler {
    rng: SplitMix64,
    /// Numbers around those in the pattern's conditions, where predicates change their mind.
    corners: Vec<i64>,
    /// Element types of data.
    dtypes: Vec<DType>,
    /// Element types of quantized data: those that the conditions name.
    quantized: Vec<DType>,
}

/// Sizes are at most this, so that a simulator is done soon.
const MOST: i64 = 64;

impl Sampler {
    /// A sampler for a pattern of a target.
    pub fn new(target: &TargetInstance, pattern: &Pattern, seed: u64) -> Self {
        let mut literals = vec![];
        for clause in &pattern.clauses {
            clause.expr.visit(&mut |expr: &Expr| literals.extend(expr.as_int()));
        }
        literals.extend(target.options.values().filter_map(|value| match value {
            crate::pattern::OptionValue::Int(number) => Some(*number),
            _ => None,
        }));
        let around = |n: &i64| [n - 1, *n, n + 1, 2 * n];
        let mut corners: Vec<i64> = literals.iter().flat_map(around).collect();
        corners.retain(|size| (1..=MOST).contains(size));
        corners.sort_unstable();
        corners.dedup();
        let all: String = pattern.clauses.iter().map(|clause| clause.text.as_str()).collect();
        let mut quantized = vec![];
        for (word, dtype) in [("i8", DType::I8), ("u8", DType::U8), ("i16", DType::I16)] {
            if all.contains(word) {
                quantized.extend([dtype; 4]);
            }
        }
        quantized.extend([DType::I8, DType::U8]);
        Self {
            rng: SplitMix64::new(seed),
            quantized,
            corners,
            dtypes: target.kind.capabilities.dtypes.clone(),
        }
    }

    /// A number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        (self.rng.next() % bound.max(1) as u64) as usize
    }

    /// True in `percent` of cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// One of several.
    pub fn pick<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len())]
    }

    /// A size of a dimension: small, or at a corner of the conditions.
    pub fn size(&mut self) -> i64 {
        if !self.corners.is_empty() && self.chance(50) {
            let corners = std::mem::take(&mut self.corners);
            let size = self.pick(&corners);
            self.corners = corners;
            return size;
        }
        self.pick(&[1, 2, 3, 4, 5, 7, 8, 9, 12, 16, 16, 32])
    }

    /// A small attribute, such as a stride.
    pub fn small(&mut self) -> i64 {
        self.pick(&[1, 1, 1, 2, 2, 3])
    }

    /// The element type of data, of those that the target has.
    pub fn dtype(&mut self) -> DType {
        let list = std::mem::take(&mut self.dtypes);
        let dtype = if list.is_empty() { DType::F32 } else { self.pick(&list) };
        self.dtypes = list;
        dtype
    }

    /// An element type of quantized data.
    pub fn quantized(&mut self) -> DType {
        let place = self.below(self.quantized.len());
        self.quantized[place]
    }

    /// A seed for a tensor's elements.
    pub fn seed(&mut self) -> u64 {
        self.rng.next()
    }
}
