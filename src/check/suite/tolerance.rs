//! Tolerances for the answers of a case.

use super::{
    super::{CheckOptions, judge},
    cases::Case,
};
use crate::{Error, Result, Tensor, io, pattern::Pattern, tensor::compare};
use serde::Deserialize;

/// Tolerance for answers.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Tolerance {
    rtol: f64,
    atol: f64,
    /// Accepted difference of integers.
    #[serde(default)]
    steps: f64,
    /// The user says how near floats are to be.
    #[serde(skip)]
    is_given: bool,
}

impl Tolerance {
    /// Reads `tolerance.json` in the case's folder; without it, the tolerances of ONNX's own
    /// runner.
    pub fn of(case: &Case) -> Result<Self> {
        let path = case.model.with_file_name("tolerance.json");
        if !path.is_file() {
            return Ok(Self { rtol: 1e-3, atol: 1e-5, steps: 0.0, is_given: false });
        }
        let text = io::read_text(&path).map_err(|e| Error::io("cannot read", &path, e))?;
        serde_json::from_str(&text).map_err(|error| {
            Error::invalid(format!("{}: {error}; it has the numbers rtol and atol", path.display()))
        })
    }

    /// The tolerance with the allowances of the options and of the patterns that take part.
    pub fn with(self, options: &CheckOptions, patterns: &[Pattern], names: &[String]) -> Self {
        let used =
            || patterns.iter().filter(|pattern| names.iter().any(|name| name == pattern.name()));
        let steps = used().map(|pattern| judge::steps(pattern, options)).fold(self.steps, f64::max);
        let ulps = used().filter_map(|pattern| pattern.spec.ulps).max().unwrap_or_default();
        let loose = f64::from(ulps) * f64::from(f32::EPSILON);
        Self {
            rtol: options.rtol.unwrap_or(self.rtol.max(loose)),
            atol: options.atol.unwrap_or(self.atol.max(loose)),
            steps,
            is_given: options.rtol.is_some(),
        }
    }

    /// True if all answers are near enough; the error says which is not. `steps` is, for each output, how
    /// far it is off if an integer that it comes from is off by one.
    pub fn all(
        &self,
        got: &[Tensor],
        want: &[(usize, Tensor)],
        steps: &[f64],
    ) -> std::result::Result<(), String> {
        for (number, want) in want {
            let Some(got) = got.get(*number) else {
                return Err(format!("there is no output {number}"));
            };
            let step = steps.get(*number).copied().unwrap_or_default();
            let float = self.atol.max(self.steps * step);
            let atol = if want.dtype().is_float() { float } else { self.steps };
            let usual = if self.is_given { 0.0 } else { judge::relative(want.dtype()) };
            let comparison = compare(got, want, self.rtol.max(usual), atol);
            let comparison = comparison.map_err(|error| format!("output {number}: {error}"))?;
            if !comparison.passed() {
                return Err(format!("output {number}: {comparison}"));
            }
        }
        Ok(())
    }
}
