//! Arithmetic on indices, with constant folding.

use super::{Emitter, Ix};
use crate::Result;

impl<'c> Emitter<'c> {
    fn fold(
        &self,
        name: &str,
        (a, b): (Ix<'c>, Ix<'c>),
        known: fn(i64, i64) -> i64,
    ) -> Result<Ix<'c>> {
        if let (Ix::Const(a), Ix::Const(b)) = (a, b) {
            return Ok(Ix::Const(known(a, b)));
        }
        Ok(Ix::Value(self.builder.binary(name, self.value(a)?, self.value(b)?)?))
    }

    /// `a + b`.
    pub fn add(&self, a: Ix<'c>, b: Ix<'c>) -> Result<Ix<'c>> {
        match (a, b) {
            (Ix::Const(0), other) | (other, Ix::Const(0)) => Ok(other),
            both => self.fold("arith.addi", both, |a, b| a + b),
        }
    }

    /// `a * factor`.
    pub fn mul(&self, a: Ix<'c>, factor: i64) -> Result<Ix<'c>> {
        match factor {
            0 => Ok(Ix::Const(0)),
            1 => Ok(a),
            _ => self.fold("arith.muli", (a, Ix::Const(factor)), |a, b| a * b),
        }
    }

    /// `offset` plus each index times its step.
    pub fn sum(&self, offset: i64, steps: &[(Ix<'c>, i64)]) -> Result<Ix<'c>> {
        steps.iter().try_fold(Ix::Const(offset), |sum, (index, step)| {
            self.add(self.mul(*index, *step)?, sum)
        })
    }

    /// The quotient and remainder of a non-negative `a` by a constant.
    pub fn div_rem(&self, a: Ix<'c>, by: i64) -> Result<(Ix<'c>, Ix<'c>)> {
        if by == 1 {
            return Ok((a, Ix::Const(0)));
        }
        let by = Ix::Const(by);
        let quotient = self.fold("arith.divui", (a, by), |a, b| a / b)?;
        Ok((quotient, self.fold("arith.remui", (a, by), |a, b| a % b)?))
    }

    /// The smaller of `a` and a constant.
    pub fn min(&self, a: Ix<'c>, b: i64) -> Result<Ix<'c>> {
        self.fold("arith.minsi", (a, Ix::Const(b)), i64::min)
    }

    /// The smaller of two.
    pub fn smaller(&self, a: Ix<'c>, b: Ix<'c>) -> Result<Ix<'c>> {
        self.fold("arith.minsi", (a, b), i64::min)
    }

    /// The greater of `a` and a constant.
    pub fn max(&self, a: Ix<'c>, b: i64) -> Result<Ix<'c>> {
        self.fold("arith.maxsi", (a, Ix::Const(b)), i64::max)
    }

    /// `a / by` rounded up, for a positive constant.
    pub fn fold_ceil_div(&self, a: Ix<'c>, by: i64) -> Result<Ix<'c>> {
        if by == 1 {
            return Ok(a);
        }
        let known = |a: i64, b: i64| a.div_euclid(b) + i64::from(a.rem_euclid(b) != 0);
        self.fold("arith.ceildivsi", (a, Ix::Const(by)), known)
    }
}
