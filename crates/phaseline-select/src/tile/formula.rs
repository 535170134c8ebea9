//! Costs and requirements as formulas that are computed many thousand times.

use crate::expr::{BinaryOp, CompareOp, Expr, ExprKind};

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
                    "'{expr}' cannot be in the cost of a tile or a requirement on it: these are made \
                     of numbers, + - * / %, min and max"
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

/// A condition on a tile.
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// A constant.
    Known(bool),
    /// All neighbours compare so.
    Compare(Formula, Vec<(CompareOp, Formula)>),
    /// The opposite.
    Not(Box<Condition>),
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// One of them.
    Or(Box<Condition>, Box<Condition>),
}

impl Condition {
    /// Reads comparisons of arithmetic, and what `and`, `or` and `not` make of them.
    pub fn compile(expr: &Expr, variable: &dyn Fn(&Expr) -> Option<usize>) -> Result<Self, String> {
        let inner = |expr: &Expr| Self::compile(expr, variable).map(Box::new);
        Ok(match &expr.kind {
            ExprKind::Bool(value) => Self::Known(*value),
            ExprKind::Not(expr) => Self::Not(inner(expr)?),
            ExprKind::Binary(BinaryOp::And, a, b) => Self::And(inner(a)?, inner(b)?),
            ExprKind::Binary(BinaryOp::Or, a, b) => Self::Or(inner(a)?, inner(b)?),
            ExprKind::Compare(first, rest) => {
                let rest = rest.iter().map(|(op, e)| Ok((*op, Formula::compile(e, variable)?)));
                let first = Formula::compile(first, variable)?;
                Self::Compare(first, rest.collect::<Result<_, String>>()?)
            }
            _ => {
                return Err(format!(
                    "'{expr}' cannot be a requirement on a tile: it is made of comparisons, and, \
                     or and not"
                ));
            }
        })
    }

    /// True if it holds for these variables.
    pub fn holds(&self, variables: &[f64]) -> bool {
        match self {
            Self::Known(value) => *value,
            Self::Not(inner) => !inner.holds(variables),
            Self::And(a, b) => a.holds(variables) && b.holds(variables),
            Self::Or(a, b) => a.holds(variables) || b.holds(variables),
            Self::Compare(first, rest) => {
                let mut left = first.value(variables);
                rest.iter().all(|(op, right)| {
                    let right = right.value(variables);
                    let before = std::mem::replace(&mut left, right);
                    match op {
                        CompareOp::Eq => before == right,
                        CompareOp::Ne => before != right,
                        CompareOp::Lt => before < right,
                        CompareOp::Le => before <= right,
                        CompareOp::Gt => before > right,
                        CompareOp::Ge => before >= right,
                    }
                })
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
        let holds = |text: &str, n: f64| {
            Condition::compile(&Expr::parse(text).unwrap(), &variable).unwrap().holds(&[n])
        };
        assert!(holds("4 <= n * 2 < 20 and not n == 7", 9.0));
        assert!(!holds("4 <= n * 2 < 20 and not n == 7", 7.0));
        assert!(holds("n > 20 or n % 3 == 0", 9.0) && !holds("n > 20 or n % 3 == 0", 10.0));
        assert!(of("select(n > 2, 1, 0)").unwrap_err().contains("cannot be in the cost"));
    }
}
