//! Predicates over captures: expression trees and their text.

use super::Span;
use std::fmt;

/// An expression and its place in the text.
#[derive(Clone, Debug)]
pub struct Expr {
    /// Its form, with its operands.
    pub kind: ExprKind,
    /// Its place in the text.
    pub span: Span,
}

// As in match expressions, places are no part of the meaning.
impl PartialEq for Expr {
    fn eq(&self, other: &Self) -> bool {
        self.kind == other.kind
    }
}

/// Form of an expression, with its operands.
#[derive(Clone, Debug, PartialEq)]
pub enum ExprKind {
    /// An integer.
    Int(i64),
    /// A float.
    Float(f64),
    /// A text.
    Text(String),
    /// A boolean.
    Bool(bool),
    /// A capture, an operation, `option`, or the name of an element type.
    Name(String),
    /// `a.b`.
    Field(Box<Expr>, String),
    /// `a[i]`.
    Index(Box<Expr>, Box<Expr>),
    /// `[a, b]`.
    List(Vec<Expr>),
    /// `f(a, b)`.
    Call(String, Vec<Expr>),
    /// `-a`.
    Negate(Box<Expr>),
    /// `not a`.
    Not(Box<Expr>),
    /// `a + b`, `a and b`.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// `a <= b < c`: all neighbours compare so.
    Compare(Box<Expr>, Vec<(CompareOp, Expr)>),
    /// `a in b`; `b` is a list or a tuple of values.
    In(Box<Expr>, Box<Expr>),
}

/// A binary operator that is no comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryOp {
    /// `or`
    Or,
    /// `and`
    And,
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `/`: of integers the floor, as `//`
    Div,
    /// `%`: the remainder with the divisor's sign
    Rem,
}

/// A comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOp {
    /// `==`
    Eq,
    /// `!=`
    Ne,
    /// `<`
    Lt,
    /// `<=`
    Le,
    /// `>`
    Gt,
    /// `>=`
    Ge,
}

impl BinaryOp {
    /// The operator's text.
    pub fn text(self) -> &'static str {
        match self {
            BinaryOp::Or => "or",
            BinaryOp::And => "and",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Div => "/",
            BinaryOp::Rem => "%",
        }
    }

    fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => 1,
            BinaryOp::And => 2,
            BinaryOp::Add | BinaryOp::Sub => 5,
            BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => 6,
        }
    }
}

impl CompareOp {
    /// The operator's text.
    pub fn text(self) -> &'static str {
        match self {
            CompareOp::Eq => "==",
            CompareOp::Ne => "!=",
            CompareOp::Lt => "<",
            CompareOp::Le => "<=",
            CompareOp::Gt => ">",
            CompareOp::Ge => ">=",
        }
    }
}

impl Expr {
    fn precedence(&self) -> u8 {
        match &self.kind {
            ExprKind::Binary(op, ..) => op.precedence(),
            ExprKind::Not(_) => 3,
            ExprKind::Compare(..) | ExprKind::In(..) => 4,
            ExprKind::Negate(_) => 7,
            _ => 8,
        }
    }

    /// The text, in brackets if it binds less than `least`.
    fn write(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        if self.precedence() < least {
            return write!(f, "({self})");
        }
        match &self.kind {
            ExprKind::Int(value) => write!(f, "{value}"),
            ExprKind::Float(value) => write!(f, "{value:?}"),
            ExprKind::Text(text) if text.contains('\'') => write!(f, "\"{text}\""),
            ExprKind::Text(text) => write!(f, "'{text}'"),
            ExprKind::Bool(value) => write!(f, "{value}"),
            ExprKind::Name(name) => f.write_str(name),
            ExprKind::Field(base, name) => {
                base.write(f, 8)?;
                write!(f, ".{name}")
            }
            ExprKind::Index(base, index) => {
                base.write(f, 8)?;
                write!(f, "[{index}]")
            }
            ExprKind::List(items) => write!(f, "[{}]", join(items)),
            ExprKind::Call(name, args) => write!(f, "{name}({})", join(args)),
            ExprKind::Negate(inner) => {
                f.write_str("-")?;
                inner.write(f, 7)
            }
            ExprKind::Not(inner) => {
                f.write_str("not ")?;
                inner.write(f, 3)
            }
            ExprKind::Binary(op, left, right) => {
                left.write(f, op.precedence())?;
                write!(f, " {} ", op.text())?;
                right.write(f, op.precedence() + 1)
            }
            ExprKind::Compare(first, rest) => {
                first.write(f, 5)?;
                for (op, operand) in rest {
                    write!(f, " {} ", op.text())?;
                    operand.write(f, 5)?;
                }
                Ok(())
            }
            ExprKind::In(value, list) => {
                value.write(f, 5)?;
                f.write_str(" in ")?;
                list.write(f, 5)
            }
        }
    }
}

fn join(items: &[Expr]) -> String {
    items.iter().map(Expr::to_string).collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

impl Expr {
    /// Calls `f` on this expression and all within it.
    pub fn visit(&self, f: &mut impl FnMut(&Expr)) {
        f(self);
        match &self.kind {
            ExprKind::Field(base, _) | ExprKind::Negate(base) | ExprKind::Not(base) => {
                base.visit(f)
            }
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::In(a, b) => {
                a.visit(f);
                b.visit(f);
            }
            ExprKind::List(items) | ExprKind::Call(_, items) => {
                items.iter().for_each(|item| item.visit(f));
            }
            ExprKind::Compare(first, rest) => {
                first.visit(f);
                rest.iter().for_each(|(_, operand)| operand.visit(f));
            }
            ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Text(_)
            | ExprKind::Bool(_)
            | ExprKind::Name(_) => {}
        }
    }

    /// The expression with parts replaced: `f` is asked from the outside inwards, and not again for
    /// what is inside of what it replaces.
    #[must_use]
    pub fn replace(&self, f: &mut dyn FnMut(&Expr) -> Option<ExprKind>) -> Expr {
        if let Some(kind) = f(self) {
            return Expr { kind, span: self.span };
        }
        let mut boxed = |expr: &Expr| Box::new(expr.replace(f));
        let kind = match &self.kind {
            ExprKind::Field(base, name) => ExprKind::Field(boxed(base), name.clone()),
            ExprKind::Negate(inner) => ExprKind::Negate(boxed(inner)),
            ExprKind::Not(inner) => ExprKind::Not(boxed(inner)),
            ExprKind::Index(a, b) => ExprKind::Index(boxed(a), boxed(b)),
            ExprKind::Binary(op, a, b) => ExprKind::Binary(*op, boxed(a), boxed(b)),
            ExprKind::In(a, b) => ExprKind::In(boxed(a), boxed(b)),
            ExprKind::List(items) => {
                ExprKind::List(items.iter().map(|item| item.replace(f)).collect())
            }
            ExprKind::Call(name, items) => {
                ExprKind::Call(name.clone(), items.iter().map(|item| item.replace(f)).collect())
            }
            ExprKind::Compare(first, rest) => {
                let first = Box::new(first.replace(f));
                let rest = rest.iter().map(|(op, operand)| (*op, operand.replace(f)));
                ExprKind::Compare(first, rest.collect())
            }
            plain => plain.clone(),
        };
        Expr { kind, span: self.span }
    }

    /// The number, if it is an integer as written.
    pub fn as_int(&self) -> Option<i64> {
        match self.kind {
            ExprKind::Int(value) => Some(value),
            _ => None,
        }
    }
}
