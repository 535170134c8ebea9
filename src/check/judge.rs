//! Comparison of a device's numbers with the host's, within tolerances.

use super::CheckOptions;
use crate::{
    Result,
    pattern::Pattern,
    tensor::{Comparison, DType, ElementType, Tensor, compare},
};

/// Integers from which the part that differs means something.
const FEW: usize = 256;

/// Integers of one result from which it does, and how many times as many of them may differ.
const SOME: usize = 24;
const MANY: f64 = 2.0;

/// The most that a step of an integer grows to in the next match, and the share of integers (one of so many) that may.
const GROWTH: f64 = 44.0;
const SHARE: usize = 8;

/// Parts of operation names that round real numbers to integers; other integer operations only move
/// values.
const ROUNDING: [&str; 5] = ["quantize", "qlinear", "cast", "average_pool", "resize"];

/// Compares the results of one pattern.
pub struct Judge<'a> {
    options: &'a CheckOptions,
    pattern: &'a Pattern,
    /// Other patterns that the graph has matches of.
    also: Vec<&'a Pattern>,
    /// Length of the longest chain of matches after the first, along which differences grow.
    links: usize,
    /// Integers that were compared, and how many were not the host's.
    integers: (usize, usize),
    /// Largest absolute difference.
    pub worst: f64,
    /// Description of NaN, infinity or denormals that became something else than on the host.
    pub special: Option<String>,
}

impl<'a> Judge<'a> {
    /// A judge that has compared nothing yet.
    pub fn new(options: &'a CheckOptions, pattern: &'a Pattern) -> Self {
        Self {
            options,
            pattern,
            also: vec![],
            links: 0,
            integers: (0, 0),
            worst: 0.0,
            special: None,
        }
    }

    /// The judge of graphs with matches of two patterns: what is right for one of them is right.
    pub fn of_both(
        options: &'a CheckOptions,
        (pattern, also): (&'a Pattern, &'a Pattern),
        is_chain: bool,
    ) -> Self {
        Self { also: vec![also], links: usize::from(is_chain), ..Self::new(options, pattern) }
    }

    /// The judge of graphs with many matches, of which so many follow one another.
    pub fn of_many(
        options: &'a CheckOptions,
        pattern: &'a Pattern,
        also: &[&'a Pattern],
        depth: usize,
    ) -> Self {
        let links = depth.saturating_sub(1);
        Self { also: also.to_vec(), links, ..Self::new(options, pattern) }
    }

    fn patterns(&self) -> impl Iterator<Item = &'a Pattern> {
        std::iter::once(self.pattern).chain(self.also.iter().copied())
    }

    /// True if NaN and infinity have to become the same as on the host.
    pub fn promises_special(&self) -> bool {
        self.patterns().all(|pattern| pattern.spec.finite == Some(false))
    }

    /// Number of operations, for patterns that promise sums of 16-bit floats in a wider type; none
    /// for others.
    fn operations_of_wide_sums(&self, dtype: DType) -> Option<usize> {
        let is_narrow = matches!(dtype, DType::F16 | DType::BF16);
        let all = is_narrow && self.patterns().all(sums_are_wide);
        all.then(|| self.patterns().map(|pattern| pattern.expr.calls().len()).max().unwrap_or(1))
    }

    /// The name of the pattern.
    pub fn pattern_name(&self) -> &str {
        self.pattern.name()
    }

    /// Compares a result with the host's. `sway` is how far the host's own results move when its
    /// inputs are changed in their last places.
    pub fn compare(
        &mut self,
        got: &Tensor,
        want: &Tensor,
        sway: f64,
    ) -> std::result::Result<(), String> {
        let (rtol, atol) = if got.dtype().is_float() {
            let magnitude = magnitude(want);
            let (ulp, tiny) = precision(got.dtype());
            let usual = match self.operations_of_wide_sums(got.dtype()) {
                Some(count) => count as f64,
                None => usual_ulps(got.dtype()),
            };
            let ulps = |pattern: &Pattern| pattern.spec.ulps.map_or(usual, f64::from);
            let ulps = self.patterns().map(ulps).fold(0.0, f64::max);
            // A sum of numbers that cancel each other is as far off as its terms are large.
            let of_inputs = (4.0 * sway).min(1024.0 * ulp * magnitude);
            // An approximation near 0 is as far off as one near 1.
            let rounds = if got.dtype() == DType::F32 { 32.0 } else { 8.0 };
            let atol = of_inputs + rounds * ulp * magnitude.max(1.0) + tiny;
            let grown = 8_f64.powi(self.links.min(4) as i32);
            let atol = match self.operations_of_wide_sums(got.dtype()) {
                // A sum of wide numbers is as good as exact, and rounded once behind each operation.
                Some(count) => {
                    let between = (count as f64 - 1.0) * ulp * magnitude;
                    (sway / 64.0).min(of_inputs) + between / 2.0 + tiny
                }
                None => atol,
            };
            let (rtol, atol) = (grown * ulps * ulp, grown * atol);
            (self.options.rtol.unwrap_or(rtol), self.options.atol.unwrap_or(atol))
        } else {
            let steps = self.patterns().map(|pattern| steps(pattern, self.options));
            let steps = steps.fold(0.0, f64::max);
            // What is rounded the other way is multiplied by weights.
            let grown = range(want) * self.links as f64 / 8.0;
            (0.0, if steps > 0.0 { steps.max(grown) } else { steps })
        };
        let comparison = compare(got, want, rtol, atol).map_err(|error| error.to_string())?;
        if comparison.max_abs.is_finite() {
            self.worst = self.worst.max(comparison.max_abs);
        }
        if !comparison.passed() && !self.is_step_that_grew(got, &comparison) {
            return Err(format!("target and host differ: {comparison}"));
        }
        if !got.dtype().is_float() && self.links == 0 {
            let (all, others) = differing(got, want);
            self.integers.0 += all;
            self.integers.1 += others;
            if all >= SOME && others as f64 > MANY * self.options.off * all as f64 {
                return self.too_many(all, others).map_or(Ok(()), Err);
            }
        }
        Ok(())
    }

    /// True if the difference is that of few integers which an earlier match rounds the other way, multiplied by the
    /// ratio of two scales: 43 at most.
    fn is_step_that_grew(&self, got: &Tensor, comparison: &Comparison) -> bool {
        let steps = self.patterns().map(|pattern| steps(pattern, self.options)).fold(0.0, f64::max);
        let few = comparison.mismatches.saturating_mul(SHARE) <= comparison.elements;
        let is_integer = !got.dtype().is_float();
        is_integer && self.links > 0 && few && comparison.max_abs <= steps * GROWTH
    }

    /// Message on a share of integers that are not the host's, unless the pattern accepts them.
    fn too_many(&self, all: usize, others: usize) -> Option<String> {
        let is_stated = self.patterns().any(|pattern| pattern.spec.steps.is_some());
        (!is_stated).then(|| {
            format!(
                "{others} of {all} integers are not the host's, which is more than another rule \
                 for rounding halves explains; if it is right for this device, say so with `steps`"
            )
        })
    }

    /// The part of all integers that were not the host's, and whether it is too large.
    pub fn off(&self) -> (f64, Option<String>) {
        let (all, others) = self.integers;
        let share = others as f64 / all.max(1) as f64;
        let is_fault = all >= FEW && share > self.options.off;
        let fault = if is_fault { self.too_many(all, others) } else { None };
        (share, fault)
    }
}

/// Integers to compare, and those that differ on the device. Equal integers at an end of the host's
/// range are left out: saturated values say nothing of rounding.
fn differing(got: &Tensor, want: &Tensor) -> (usize, usize) {
    let (got, want) = (got.to_i128(), want.to_i128());
    let (low, high) = (want.iter().min().copied(), want.iter().max().copied());
    let is_end = |value: i128| Some(value) == low || Some(value) == high;
    let pairs = || got.iter().zip(&want);
    let all = pairs().filter(|(a, b)| a != b || !is_end(**b)).count();
    (all, pairs().filter(|(a, b)| a != b).count())
}

/// The difference of integers that is accepted of a pattern.
pub fn steps(pattern: &Pattern, options: &CheckOptions) -> f64 {
    if let Some(steps) = pattern.spec.steps {
        return f64::from(steps);
    }
    let calls = pattern.expr.calls();
    let names = || calls.iter().flat_map(|call| &call.ops);
    let rounds = names().any(|name| ROUNDING.iter().any(|part| name.contains(part)));
    if rounds { options.steps } else { 0.0 }
}

/// The relative difference of floats of a type that another order of computing explains.
pub fn relative(dtype: DType) -> f64 {
    usual_ulps(dtype) * precision(dtype).0
}

/// True if a pattern promises sums of floats in f32 or f64.
pub fn sums_are_wide(pattern: &Pattern) -> bool {
    let wide = [Some(ElementType::F32), Some(ElementType::F64)];
    wide.contains(&pattern.spec.accumulate)
}

/// Range of a tensor of integers: greatest minus least.
fn range(tensor: &Tensor) -> f64 {
    let numbers = tensor.to_i128();
    let ends = numbers.iter().min().zip(numbers.iter().max());
    ends.map_or(0.0, |(low, high)| (high - low) as f64)
}

/// The largest finite element.
fn magnitude(tensor: &Tensor) -> f64 {
    let finite = tensor.to_f64().into_iter().filter(|value| value.is_finite());
    finite.fold(0.0, |most, value| value.abs().max(most))
}

/// The distance of 1 to the next number, and a number that is as good as 0: devices may take
/// denormal numbers for 0.
fn precision(dtype: DType) -> (f64, f64) {
    match dtype {
        DType::F16 => (f64::from(half::f16::EPSILON), 1e-4),
        DType::BF16 => (f64::from(half::bf16::EPSILON), 1e-37),
        DType::F64 => (f64::EPSILON, 1e-300),
        _ => (f64::from(f32::EPSILON), 1e-37),
    }
}

/// Difference, in units in the last place, that another order of computing and other approximations
/// explain.
fn usual_ulps(dtype: DType) -> f64 {
    match dtype {
        DType::F16 | DType::BF16 => 4.0,
        DType::F64 => 1e6,
        _ => 128.0,
    }
}

/// Sensitivity of each result: the largest difference of finite elements between two runs.
pub fn sway(results: &[Tensor], moved: &[Tensor]) -> Vec<f64> {
    let of = |(a, b): (&Tensor, &Tensor)| {
        if !a.dtype().is_float() {
            return 0.0;
        }
        let pairs = a.to_f64().into_iter().zip(b.to_f64());
        let differences = pairs.map(|(a, b)| (a - b).abs()).filter(|d| d.is_finite());
        differences.fold(0.0, f64::max)
    };
    results.iter().zip(moved).map(of).collect()
}

/// Inputs that are changed in their last places.
pub fn nudged(inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let one = |tensor: &Tensor| {
        if !tensor.dtype().is_float() {
            return Ok(tensor.clone());
        }
        let (ulp, _) = precision(tensor.dtype());
        let numbers: Vec<f64> = tensor
            .to_f64()
            .into_iter()
            .enumerate()
            .map(|(place, value)| value * (1.0 + if place % 3 == 0 { -8.0 } else { 8.0 } * ulp))
            .collect();
        super::numbers::floats(tensor.dtype(), tensor.shape(), &numbers)
    };
    inputs.iter().map(one).collect()
}
