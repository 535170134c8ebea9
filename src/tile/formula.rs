//! Costs as formulas that are computed many thousand times.

use crate::expr::{BinaryOp, Expr, ExprKind};

/// An expression of numbers over variables.
#[derive(Clone, Debug, PartialEq)]
pub enum Formula {
    /// A number.
    Number(f64),
    /// A variable, by its place.
    Variable(usize),
    /// `a + b` and the like; `/` rounds down.
    Binary(BinaryOp, Box<Formula>, Box<Formula>),
    /// The greatest.
    Max(Vec<Formula>),
    /// The least.
    Min(Vec<Formula>),
}

impl Formula {
    /// Reads arithmetic. `variable` says which places of an expression are variables, and their
    /// numbers. The error says what is no arithmetic.
    pub fn compile(expr: &Expr, variable: &dyn Fn(&Expr) -> Option<usize>) -> Result<Self, String> {
        if let Some(place) = variable(expr) {
            return Ok(Self::Variable(place));
        }
        let inner = |expr: &Expr| Self::compile(expr, variable);
        Ok(match &expr.kind {
            ExprKind::Int(number) => Self::Number(*number as f64),
            ExprKind::Float(number) => Self::Number(*number),
            ExprKind::Negate(expr) => {
                Self::Binary(BinaryOp::Sub, Box::new(Self::Number(0.0)), Box::new(inner(expr)?))
            }
            ExprKind::Binary(op, a, b) if !matches!(op, BinaryOp::And | BinaryOp::Or) => {
                Self::Binary(*op, Box::new(inner(a)?), Box::new(inner(b)?))
            }
            ExprKind::Call(name, args) if !args.is_empty() && (name == "min" || name == "max") => {
                let args = args.iter().map(inner).collect::<Result<_, _>>()?;
                if name == "min" { Self::Min(args) } else { Self::Max(args) }
            }
            _ => {
                return Err(format!(
                    "'{expr}' cannot be in the cost of a tile: it is made of numbers, + - * / %, \
                     min and max"
                ));
            }
        })
    }

    /// The value for these variables.
    pub fn value(&self, variables: &[f64]) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Variable(place) => variables.get(*place).copied().unwrap_or_default(),
            Self::Binary(op, a, b) => {
                let (a, b) = (a.value(variables), b.value(variables));
                match op {
                    BinaryOp::Add => a + b,
                    BinaryOp::Sub => a - b,
                    BinaryOp::Mul => a * b,
                    BinaryOp::Div => (a / b).floor(),
                    BinaryOp::Rem => a - b * (a / b).floor(),
                    BinaryOp::And | BinaryOp::Or => f64::NAN,
                }
            }
            Self::Max(items) => {
                items.iter().fold(f64::NEG_INFINITY, |most, item| most.max(item.value(variables)))
            }
            Self::Min(items) => {
                items.iter().fold(f64::INFINITY, |least, item| least.min(item.value(variables)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_arithmetic() {
        let variable = |expr: &Expr| (expr.to_string() == "n").then_some(0);
        let of = |text: &str| Formula::compile(&Expr::parse(text).unwrap(), &variable);
        assert_eq!(of("16 + (n + 7) / 8 * 3").unwrap().value(&[9.0]), 22.0);
        assert_eq!(of("max(n, 4) - min(n, 4)").unwrap().value(&[9.0]), 5.0);
        assert_eq!(of("-n % 4").unwrap().value(&[9.0]), 3.0);
        assert!(of("select(n > 2, 1, 0)").unwrap_err().contains("cannot be in the cost"));
    }
}
