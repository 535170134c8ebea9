//! Constraints that `where` places on captures, as far as they are syntactic: `x.dtype == i8`,
//! `zy.value == -128`, `conv2d.strides[0] == 1`. Graphs that follow it are likely to match; those
//! that follow it in part are near misses.

use crate::{
    expr::{BinaryOp, CompareOp, Expr, ExprKind, element_of},
    pattern::Pattern,
    tensor::ElementType,
};
use std::collections::BTreeMap;

/// A value that conditions ask for.
#[derive(Clone, Debug, PartialEq)]
pub enum Constraint {
    /// A number, or a truth as 0 or 1.
    Number(f64),
    /// An element type.
    Type(ElementType),
    /// A list of numbers.
    Numbers(Vec<i64>),
    /// A text.
    Text(String),
    /// Something that is no literal, as one of several choices.
    Open,
}

/// The field of an operation that has the element type of its result.
pub const RESULT: &str = "out.dtype";

/// Constraints on the fields of captures and operations.
#[derive(Clone, Debug, Default)]
pub struct Constraints {
    wants: BTreeMap<(String, String), Vec<Constraint>>,
}

impl Constraints {
    /// Reads them off the conditions.
    pub fn of(pattern: &Pattern) -> Self {
        let mut constraints = Self::default();
        pattern.clauses.iter().for_each(|clause| constraints.read(&clause.expr, false));
        constraints
    }

    /// Constraints on a field; empty if there are none.
    pub fn get(&self, name: &str, field: &str) -> &[Constraint] {
        let key = (name.to_owned(), field.to_owned());
        self.wants.get(&key).map_or(&[], Vec::as_slice)
    }

    /// The element types that are asked for anywhere.
    pub fn types(&self) -> Vec<ElementType> {
        let all = self.wants.values().flatten();
        let mut types: Vec<ElementType> = vec![];
        for want in all {
            if let Constraint::Type(dtype) = want
                && !types.contains(dtype)
            {
                types.push(*dtype);
            }
        }
        types
    }

    /// `is_choice`: something else may hold in its place.
    fn read(&mut self, expr: &Expr, is_choice: bool) {
        match &expr.kind {
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let is_choice = is_choice || *op == BinaryOp::Or;
                self.read(left, is_choice);
                self.read(right, is_choice);
            }
            ExprKind::Not(inner) => self.note(inner, Constraint::Number(0.0)),
            ExprKind::Field(..) => self.note(expr, Constraint::Number(1.0)),
            ExprKind::Call(name, args) if name == "all" => {
                args.iter().for_each(|arg| self.read(arg, is_choice));
            }
            ExprKind::In(value, list) => {
                if let ExprKind::List(items) = &list.kind {
                    items.iter().filter_map(literal).for_each(|want| self.note(value, want));
                }
            }
            ExprKind::Compare(first, rest) => {
                let mut left: &Expr = first;
                for (op, right) in rest {
                    let least = matches!(op, CompareOp::Ge | CompareOp::Gt);
                    if *op == CompareOp::Eq || least && is_size(left) {
                        let open = is_choice.then_some(Constraint::Open);
                        let want = literal(right).or(open);
                        want.into_iter().for_each(|want| self.note(left, want));
                    }
                    left = right;
                }
            }
            _ => {}
        }
    }

    fn note(&mut self, place: &Expr, want: Constraint) {
        let ExprKind::Field(base, field) = &place.kind else { return };
        // The type of a result is what an attribute of that kind says.
        let (name, field) = match &base.kind {
            ExprKind::Name(name) => (name, field.as_str()),
            ExprKind::Field(op, out) if out == "out" && field == "dtype" => {
                let ExprKind::Name(name) = &op.kind else { return };
                (name, RESULT)
            }
            _ => return,
        };
        let wants = self.wants.entry((name.clone(), field.to_owned())).or_default();
        if !wants.contains(&want) {
            wants.push(want);
        }
    }
}

/// True for expressions whose lower bound is itself a good choice: ranks.
fn is_size(expr: &Expr) -> bool {
    matches!(&expr.kind, ExprKind::Field(_, field) if field == "rank")
}

fn literal(expr: &Expr) -> Option<Constraint> {
    Some(match &expr.kind {
        ExprKind::Int(number) => Constraint::Number(*number as f64),
        ExprKind::Float(number) => Constraint::Number(*number),
        ExprKind::Bool(truth) => Constraint::Number(f64::from(u8::from(*truth))),
        ExprKind::Name(name) => Constraint::Type(element_of(name)?),
        ExprKind::Text(text) => Constraint::Text(text.clone()),
        ExprKind::List(items) => {
            let number = |item: &Expr| match literal(item)? {
                Constraint::Number(number) => Some(number as i64),
                _ => None,
            };
            Constraint::Numbers(items.iter().map(number).collect::<Option<_>>()?)
        }
        ExprKind::Negate(inner) => match literal(inner)? {
            Constraint::Number(number) => Constraint::Number(-number),
            _ => return None,
        },
        _ => return None,
    })
}
