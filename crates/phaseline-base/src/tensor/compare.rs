//! Comparing a computed tensor with its reference.

use std::fmt;

use super::{Tensor, TensorError};

/// Outcome of [`compare`].
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of elements compared.
    pub elements: usize,
    /// Number of elements outside the tolerance.
    pub mismatches: usize,
    /// Largest absolute difference; infinite when a NaN or infinity meets another value.
    pub max_abs: f64,
    /// Largest difference relative to `max(|want|, atol)`; infinite where `max_abs` is.
    pub max_rel: f64,
    /// The element furthest beyond (or closest to) its tolerance; `None` when all are equal.
    pub worst: Option<Worst>,
}

/// The worst element of a [`Comparison`].
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    /// Its position, one number per dimension.
    pub index: Vec<usize>,
    /// The computed value.
    pub got: f64,
    /// The reference value.
    pub want: f64,
}

impl Comparison {
    /// True when no element is outside the tolerance.
    pub fn passed(&self) -> bool {
        self.mismatches == 0
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "max abs error {:.3e}, max rel error {:.3e}", self.max_abs, self.max_rel)?;
        if self.mismatches > 0 {
            write!(f, ", {} of {} elements wrong", self.mismatches, self.elements)?;
        }
        if let Some(worst) = self.worst.as_ref().filter(|_| self.mismatches > 0) {
            write!(f, ", worst at {:?}: got {}, want {}", worst.index, worst.got, worst.want)?;
        }
        Ok(())
    }
}

/// Compares `got` with `want`, element by element.
///
/// A float passes when `|got - want| <= atol + rtol * |want|`; two NaNs are equal, and a NaN or an
/// infinity equals nothing else. Integers and booleans must be equal, except that an `atol` of 1
/// or more allows integers that difference. Differing types or shapes are an error.
pub fn compare(
    got: &Tensor,
    want: &Tensor,
    rtol: f64,
    atol: f64,
) -> Result<Comparison, TensorError> {
    if got.dtype() != want.dtype() {
        return Err(TensorError::TypeMismatch { got: got.dtype(), want: want.dtype() });
    }
    if got.shape() != want.shape() {
        return Err(TensorError::ShapeMismatch {
            got: got.shape().to_vec(),
            want: want.shape().to_vec(),
        });
    }
    let mut scan = Scan::new(got.len());
    if got.dtype().is_float() {
        for (position, (g, w)) in got.to_f64().into_iter().zip(want.to_f64()).enumerate() {
            scan.add(position, float_difference(g, w), atol + rtol * w.abs(), atol, g, w);
        }
    } else {
        let allowed = if atol >= 1.0 { atol } else { 0.0 };
        for (position, (g, w)) in got.to_i128().into_iter().zip(want.to_i128()).enumerate() {
            scan.add(position, (g - w).unsigned_abs() as f64, allowed, atol, g as f64, w as f64);
        }
    }
    Ok(scan.finish(got.shape()))
}

/// Zero for equal values (NaN included), infinity where no finite difference exists.
fn float_difference(got: f64, want: f64) -> f64 {
    if got == want || (got.is_nan() && want.is_nan()) {
        return 0.0;
    }
    let difference = (got - want).abs();
    if difference.is_nan() { f64::INFINITY } else { difference }
}

struct Scan {
    result: Comparison,
    worst: Option<(f64, usize, f64, f64)>,
}

impl Scan {
    fn new(elements: usize) -> Self {
        let result =
            Comparison { elements, mismatches: 0, max_abs: 0.0, max_rel: 0.0, worst: None };
        Self { result, worst: None }
    }

    fn add(&mut self, position: usize, diff: f64, allowed: f64, atol: f64, got: f64, want: f64) {
        if diff == 0.0 {
            return;
        }
        // An infinite reference makes the tolerance infinite (or NaN when rtol is 0); a difference
        // from it is never small.
        let wrong = diff > allowed || !diff.is_finite() || !allowed.is_finite();
        self.result.mismatches += usize::from(wrong);
        self.result.max_abs = self.result.max_abs.max(diff);
        let relative = if diff.is_finite() {
            diff / want.abs().max(atol).max(f64::MIN_POSITIVE)
        } else {
            f64::INFINITY
        };
        self.result.max_rel = self.result.max_rel.max(relative);
        let excess = if wrong && !allowed.is_finite() { f64::INFINITY } else { diff / allowed };
        if self.worst.is_none_or(|(most, ..)| excess > most) {
            self.worst = Some((excess, position, got, want));
        }
    }

    fn finish(mut self, shape: &[usize]) -> Comparison {
        self.result.worst = self.worst.map(|(_, position, got, want)| Worst {
            index: unflatten(position, shape),
            got,
            want,
        });
        self.result
    }
}

fn unflatten(mut position: usize, shape: &[usize]) -> Vec<usize> {
    let mut index = vec![0; shape.len()];
    for (slot, &size) in index.iter_mut().zip(shape).rev() {
        *slot = position % size;
        position /= size;
    }
    index
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::DType;

    fn f32s(values: &[f32]) -> Tensor {
        Tensor::from_slice(&[values.len()], values).unwrap()
    }

    #[test]
    fn equal_tensors_pass_without_worst() {
        let t = f32s(&[1.0, f32::NAN, f32::INFINITY, f32::NEG_INFINITY]);
        let c = compare(&t, &t, 0.0, 0.0).unwrap();
        assert!(c.passed());
        assert_eq!((c.max_abs, c.max_rel, c.worst), (0.0, 0.0, None));
    }

    #[test]
    fn tolerance_is_absolute_plus_relative() {
        let want = f32s(&[100.0, 1.0]);
        assert!(compare(&f32s(&[100.5, 1.0]), &want, 1e-2, 0.0).unwrap().passed());
        let c = compare(&f32s(&[100.5, 1.5]), &want, 1e-2, 1e-3).unwrap();
        assert_eq!(c.mismatches, 1);
        let worst = c.worst.clone().unwrap();
        assert_eq!((worst.index, worst.got, worst.want), (vec![1], 1.5, 1.0));
        assert!(c.to_string().contains("1 of 2 elements wrong"), "{c}");
    }

    #[test]
    fn nan_and_infinity_never_hide() {
        for (got, want) in [
            (f32::NAN, 1.0),
            (1.0, f32::NAN),
            (f32::INFINITY, 1.0),
            (1.0, f32::INFINITY),
            (f32::INFINITY, f32::NEG_INFINITY),
            (f32::NAN, f32::INFINITY),
        ] {
            for (rtol, atol) in [(0.0, 0.0), (1e-3, 1e-3), (1.0, 1e30)] {
                let c = compare(&f32s(&[0.0, got]), &f32s(&[0.0, want]), rtol, atol).unwrap();
                assert_eq!(c.mismatches, 1, "{got} {want}");
                assert_eq!(c.max_abs, f64::INFINITY, "{got} {want}");
                assert_eq!(c.worst.unwrap().index, [1]);
            }
        }
    }

    #[test]
    fn integers_are_exact_unless_atol_allows() {
        let want = Tensor::from_slice(&[2, 2], &[i64::MAX, 5000, 3, -4]).unwrap();
        let got = Tensor::from_slice(&[2, 2], &[i64::MAX - 1, 5000, 3, -4]).unwrap();
        assert_eq!(compare(&got, &want, 1e-3, 1e-3).unwrap().mismatches, 1);
        assert!(compare(&got, &want, 0.0, 1.0).unwrap().passed());
    }

    #[test]
    fn type_and_shape_must_agree() {
        let a = f32s(&[1.0]);
        let b = Tensor::from_slice(&[1], &[1.0f64]).unwrap();
        let message = compare(&a, &b, 0.0, 0.0).unwrap_err().to_string();
        assert!(message.contains("float32") && message.contains("float64"), "{message}");
        let c = Tensor::from_slice(&[1, 1], &[1.0f32]).unwrap();
        assert!(compare(&a, &c, 0.0, 0.0).is_err());
        assert_eq!(a.dtype(), DType::F32);
    }
}
