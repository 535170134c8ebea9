//! Branch distance, as in search-based testing: how far a graph is from meeting a pattern's
//! conditions.

use crate::{
    expr::{BinaryOp, CompareOp, Expr, ExprKind, Val},
    graph::{Evaluator, Facts},
    pattern::{Match, MatchScope, Pattern},
};

/// Distance of a condition with an unknown value.
const UNKNOWN: f64 = 2.0;

/// Numbers that would be better, as far as they are sizes.
const SIZES: std::ops::RangeInclusive<i64> = 1..=1 << 13;

/// Measures how far a match is from meeting conditions.
pub struct Distance<'a> {
    pattern: &'a Pattern,
    found: &'a Match,
    facts: Facts<'a>,
    /// Sizes that occur in conditions that do not hold.
    pub hints: Vec<i64>,
}

impl<'a> Distance<'a> {
    pub fn new(pattern: &'a Pattern, found: &'a Match, facts: Facts<'a>) -> Self {
        Self { pattern, found, facts, hints: vec![] }
    }

    /// Sum of the distances of all conditions: 0 if they hold.
    pub fn of_conditions(&mut self) -> f64 {
        let pattern = self.pattern;
        pattern.clauses.iter().map(|clause| self.to(&clause.expr, true)).sum()
    }

    /// Distance of an expression from being true, or false (`wanted`).
    fn to(&mut self, expr: &Expr, wanted: bool) -> f64 {
        match &expr.kind {
            ExprKind::Not(inner) => self.to(inner, !wanted),
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let (left, right) = (self.to(left, wanted), self.to(right, wanted));
                if (*op == BinaryOp::And) == wanted { left + right } else { left.min(right) }
            }
            ExprKind::Call(name, args) if name == "all" || name == "any" => {
                let is_sum = (name == "all") == wanted;
                let all: Vec<f64> = args.iter().map(|arg| self.part(arg, wanted, is_sum)).collect();
                combined(&all, is_sum)
            }
            ExprKind::Compare(..) => self.part(expr, wanted, wanted),
            ExprKind::In(value, list) => {
                let (value, list) = (self.value(value), self.value(list));
                let Val::List(items) = list else { return self.simple(&list, wanted) };
                let op = if wanted { CompareOp::Eq } else { CompareOp::Ne };
                let all: Vec<f64> =
                    items.iter().map(|item| self.between(op, &value, item, true)).collect();
                combined(&all, !wanted)
            }
            _ => {
                let value = self.value(expr);
                self.simple(&value, wanted)
            }
        }
    }

    /// Distance of a chain of comparisons within a list of which all have to hold (`is_sum`) or
    /// one.
    fn part(&mut self, expr: &Expr, wanted: bool, is_sum: bool) -> f64 {
        let ExprKind::Compare(first, rest) = &expr.kind else { return self.to(expr, wanted) };
        let mut left: &Expr = first;
        let mut all = vec![];
        for (op, right) in rest {
            let op = if wanted { *op } else { opposite(*op) };
            all.push(self.compared(left, op, right, is_sum));
            left = right;
        }
        combined(&all, wanted)
    }

    fn compared(&mut self, left: &Expr, op: CompareOp, right: &Expr, is_sum: bool) -> f64 {
        if let (ExprKind::Binary(BinaryOp::Rem, number, divisor), CompareOp::Eq) = (&left.kind, op)
            && let (Val::Int(number), Val::Int(divisor), Val::Int(rest)) =
                (self.value(number), self.value(divisor), self.value(right))
            && divisor > 0
        {
            let over = number.saturating_sub(rest).rem_euclid(divisor);
            if over == 0 {
                return 0.0;
            }
            self.hint(number - over);
            self.hint(number - over + divisor);
            self.hint(divisor);
            return near(over.min(divisor - over) as f64);
        }
        let (left, right) = (self.value(left), self.value(right));
        self.between(op, &left, &right, is_sum)
    }

    fn between(&mut self, op: CompareOp, left: &Val, right: &Val, is_sum: bool) -> f64 {
        match (left, right) {
            (Val::Absent, _) | (_, Val::Absent) => 0.0,
            (Val::Unknown(_), _) | (_, Val::Unknown(_)) => UNKNOWN,
            (Val::List(a), Val::List(b)) if a.len() != b.len() => {
                if op == CompareOp::Ne {
                    0.0
                } else {
                    1.0 + near(a.len().abs_diff(b.len()) as f64)
                }
            }
            (Val::List(a), Val::List(b)) => {
                let pairs = a.iter().zip(b);
                let all: Vec<f64> = pairs.map(|(a, b)| self.between(op, a, b, is_sum)).collect();
                combined(&all, is_sum && op != CompareOp::Ne)
            }
            (Val::List(a), b) => {
                let all: Vec<f64> = a.iter().map(|a| self.between(op, a, b, is_sum)).collect();
                combined(&all, is_sum)
            }
            (a, Val::List(b)) => {
                let all: Vec<f64> = b.iter().map(|b| self.between(op, a, b, is_sum)).collect();
                combined(&all, is_sum)
            }
            (a, b) => {
                let Some((a, b)) = a.as_f64().zip(b.as_f64()) else {
                    return f64::from(u8::from((a == b) != (op == CompareOp::Eq)));
                };
                let (distance, step) = match op {
                    CompareOp::Eq => ((a - b).abs(), 0.0),
                    CompareOp::Ne => (f64::from(u8::from(a == b)), 1.0),
                    CompareOp::Lt => ((a - b + 1.0).max(0.0) * f64::from(u8::from(a >= b)), -1.0),
                    CompareOp::Le => ((a - b).max(0.0), 0.0),
                    CompareOp::Gt => ((b - a + 1.0).max(0.0) * f64::from(u8::from(a <= b)), 1.0),
                    CompareOp::Ge => ((b - a).max(0.0), 0.0),
                };
                if distance > 0.0 {
                    [a, b, b + step, a - step].iter().for_each(|size| self.hint(*size as i64));
                }
                near(distance)
            }
        }
    }

    fn simple(&mut self, value: &Val, wanted: bool) -> f64 {
        match value {
            Val::Absent => 0.0,
            Val::Bool(value) => f64::from(u8::from(*value != wanted)),
            _ => UNKNOWN,
        }
    }

    /// The value of an expression.
    pub fn value(&self, expr: &Expr) -> Val {
        let scope = MatchScope { pattern: self.pattern, found: self.found };
        Evaluator::new(self.facts, &scope).eval(expr)
    }

    fn hint(&mut self, size: i64) {
        if SIZES.contains(&size) && !self.hints.contains(&size) {
            self.hints.push(size);
        }
    }
}

/// Sum of several distances (`is_sum`), or the least.
fn combined(all: &[f64], is_sum: bool) -> f64 {
    match is_sum {
        true => all.iter().sum(),
        false => all.iter().copied().reduce(f64::min).unwrap_or(1.0),
    }
}

/// A difference as a number below 1, which grows with it.
pub fn near(distance: f64) -> f64 {
    if distance == 0.0 { 0.0 } else { 0.1 + 0.9 * distance / (distance + 30.0) }
}

fn opposite(op: CompareOp) -> CompareOp {
    match op {
        CompareOp::Eq => CompareOp::Ne,
        CompareOp::Ne => CompareOp::Eq,
        CompareOp::Lt => CompareOp::Ge,
        CompareOp::Le => CompareOp::Gt,
        CompareOp::Gt => CompareOp::Le,
        CompareOp::Ge => CompareOp::Lt,
    }
}
