//! Checks predicates when a pattern is loaded: every name exists, and types fit.

mod functions;

use crate::{
    error::suggestion,
    expr::{
        BinaryOp, CompareOp, Expr, ExprKind, OptionType, PatternError, PatternResult, Span,
        element_of,
    },
    graph::{
        AttrKind, OpTable,
        eval::{GIVEN_FIELDS, VALUE_FIELDS},
    },
};
use std::collections::BTreeMap;

/// The type of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ty {
    /// Boolean.
    Bool,
    /// Integer.
    Int,
    /// Integer or float.
    Number,
    /// Text.
    Str,
    /// Element type.
    Type,
    /// List of elements of one type.
    List(Box<Ty>),
    /// A capture or an operation, which is one of these operations; of none, if only a value.
    Entity(Vec<String>),
    /// `option`.
    Options,
    /// `given`.
    Given,
}

impl Ty {
    pub(super) fn describe(&self) -> String {
        match self {
            Ty::Bool => "a boolean".to_owned(),
            Ty::Int => "an integer".to_owned(),
            Ty::Number => "a number".to_owned(),
            Ty::Str => "a text".to_owned(),
            Ty::Type => "an element type".to_owned(),
            Ty::List(_) => "a list".to_owned(),
            Ty::Entity(_) => "a whole value (use .dtype, .shape, .rank ...)".to_owned(),
            Ty::Options => "all options (use option.NAME)".to_owned(),
            Ty::Given => "a buffer (use given.size, given.shape or given.rank)".to_owned(),
        }
    }

    fn is_number(&self) -> bool {
        matches!(self, Ty::Int | Ty::Number)
    }
}

/// Names that a predicate may refer to.
pub struct Names<'a> {
    /// The operations' declarations.
    pub table: &'a OpTable,
    /// The target's options.
    pub options: &'a BTreeMap<String, OptionType>,
    /// Captures and operations of the pattern: names, and the operations that each may be.
    pub entities: &'a [(String, Vec<String>)],
    /// Names of operations that a match may have more than once.
    pub ambiguous: &'a [String],
    /// True if a call takes buffers as given, which `given` is about.
    pub given: bool,
}

/// The type of a field that every value has.
fn value_field(name: &str) -> Option<Ty> {
    match name {
        "dtype" => Some(Ty::Type),
        "rank" | "size" | "bytes" | "uses" => Some(Ty::Int),
        "shape" => Some(Ty::List(Box::new(Ty::Int))),
        "is_const" | "is_static" => Some(Ty::Bool),
        "value" => Some(Ty::Number),
        _ => None,
    }
}

/// The functions of expressions besides those of one number.
pub(super) const FUNCTIONS: [&str; 15] = [
    "slice", "join", "present", "known", "all", "any", "len", "min", "max", "sum", "prod",
    "values", "select", "repeat", "range",
];

/// Checks that an expression is a condition.
pub fn check_condition(text: &str, expr: &Expr, names: &Names) -> PatternResult<()> {
    let checker = Checker { text, names };
    match checker.ty(expr)? {
        Ty::Bool => Ok(()),
        Ty::List(item) if *item == Ty::Bool => Err(checker
            .fault(expr.span, "a list of booleans is no condition; write all(...) or any(...)")),
        other => Err(checker.fault(expr.span, format!("{} is no condition", other.describe()))),
    }
}

/// Checks that an expression is a number, a boolean or a text, and returns its type.
pub fn check_scalar(text: &str, expr: &Expr, names: &Names) -> PatternResult<Ty> {
    let checker = Checker { text, names };
    match checker.ty(expr)? {
        ty @ (Ty::Bool | Ty::Int | Ty::Number | Ty::Str) => Ok(ty),
        other => Err(checker.fault(expr.span, format!("{} is no scalar", other.describe()))),
    }
}

/// Checks that an expression is a number or a list of numbers.
pub fn check_values(text: &str, expr: &Expr, names: &Names) -> PatternResult<()> {
    let checker = Checker { text, names };
    match checker.ty(expr)? {
        Ty::List(item) if item.is_number() => Ok(()),
        ty if ty.is_number() => Ok(()),
        other => Err(checker
            .fault(expr.span, format!("expected a list of numbers, found {}", other.describe()))),
    }
}

/// Checks that an expression over a target's options only is an integer.
pub fn check_expression(
    text: &str,
    expr: &Expr,
    options: &BTreeMap<String, OptionType>,
) -> PatternResult<()> {
    let table = OpTable::new();
    let names = Names { table: &table, options, entities: &[], ambiguous: &[], given: false };
    match check_scalar(text, expr, &names)? {
        Ty::Int => Ok(()),
        other => Err(PatternError::new(
            text,
            expr.span,
            format!("expected an integer, found {}", other.describe()),
        )),
    }
}

/// Checks a condition over options alone.
pub(super) fn check_closed_condition(
    text: &str,
    expr: &Expr,
    options: &BTreeMap<String, OptionType>,
) -> PatternResult<()> {
    let table = OpTable::new();
    let names = Names { table: &table, options, entities: &[], ambiguous: &[], given: false };
    check_condition(text, expr, &names)
}

/// The type of an expression that is to be a plain value.
pub(super) fn type_of(text: &str, expr: &Expr, names: &Names) -> PatternResult<Ty> {
    Checker { text, names }.value(expr)
}

struct Checker<'a> {
    text: &'a str,
    names: &'a Names<'a>,
}

impl Checker<'_> {
    fn fault(&self, span: Span, message: impl Into<String>) -> PatternError {
        PatternError::new(self.text, span, message)
    }

    /// The type of an expression that is to be a plain value.
    fn value(&self, expr: &Expr) -> PatternResult<Ty> {
        match self.ty(expr)? {
            ty @ (Ty::Entity(_) | Ty::Options | Ty::Given) => {
                Err(self.fault(expr.span, format!("'{expr}' is {}", ty.describe())))
            }
            ty => Ok(ty),
        }
    }

    fn expect(&self, expr: &Expr, wanted: &Ty, what: &str) -> PatternResult<()> {
        let ty = self.value(expr)?;
        if ty == *wanted || (*wanted == Ty::Number && ty == Ty::Int) {
            return Ok(());
        }
        let message =
            format!("{what} is to be {}; '{expr}' is {}", wanted.describe(), ty.describe());
        Err(self.fault(expr.span, message))
    }

    fn ty(&self, expr: &Expr) -> PatternResult<Ty> {
        match &expr.kind {
            ExprKind::Int(_) => Ok(Ty::Int),
            ExprKind::Float(_) => Ok(Ty::Number),
            ExprKind::Text(_) => Ok(Ty::Str),
            ExprKind::Bool(_) => Ok(Ty::Bool),
            ExprKind::Name(name) => self.name(expr.span, name),
            ExprKind::Field(base, field) => self.field(expr.span, base, field),
            ExprKind::Index(base, index) => {
                self.expect(index, &Ty::Int, "an index")?;
                match self.value(base)? {
                    Ty::List(item) => Ok(*item),
                    other => {
                        Err(self.fault(base.span, format!("'{base}' is {}", other.describe())))
                    }
                }
            }
            ExprKind::List(items) => self.list(expr.span, items),
            ExprKind::Call(name, args) => self.call(expr.span, name, args),
            ExprKind::Negate(inner) => {
                self.expect(inner, &Ty::Number, "the operand of '-'")?;
                self.value(inner)
            }
            ExprKind::Not(inner) => {
                self.expect(inner, &Ty::Bool, "the operand of 'not'")?;
                Ok(Ty::Bool)
            }
            ExprKind::Binary(op @ (BinaryOp::And | BinaryOp::Or), left, right) => {
                let what = format!("an operand of '{}'", op.text());
                self.expect(left, &Ty::Bool, &what)?;
                self.expect(right, &Ty::Bool, &what)?;
                Ok(Ty::Bool)
            }
            ExprKind::Binary(op, left, right) => self.arithmetic(*op, left, right),
            ExprKind::Compare(first, rest) => self.compare(first, rest),
            ExprKind::In(value, list) => {
                let value_ty = self.value(value)?;
                match self.value(list)? {
                    Ty::List(item) if comparable(&value_ty, &item) => Ok(Ty::Bool),
                    Ty::List(item) => Err(self.fault(
                        list.span,
                        format!(
                            "'{value}' is {}, the list holds {}",
                            value_ty.describe(),
                            item.describe()
                        ),
                    )),
                    other => {
                        let message =
                            format!("expected a list after 'in', found {}", other.describe());
                        Err(self.fault(list.span, message))
                    }
                }
            }
        }
    }

    fn name(&self, span: Span, name: &str) -> PatternResult<Ty> {
        if let Some((_, ops)) = self.names.entities.iter().find(|(known, _)| known == name) {
            return Ok(Ty::Entity(ops.clone()));
        }
        if name == "option" {
            return Ok(Ty::Options);
        }
        if name == "given" && self.names.given {
            return Ok(Ty::Given);
        }
        if element_of(name).is_some() {
            return Ok(Ty::Type);
        }
        if self.names.ambiguous.iter().any(|other| other == name) {
            let message = format!(
                "a match may have several operations '{name}'; name the one you mean in the match \
                 expression, as in 'a: {name}(...)'"
            );
            return Err(self.fault(span, message));
        }
        let known = self.names.entities.iter().map(|(known, _)| known.as_str());
        let message = format!(
            "nothing in the pattern is called '{name}'{}",
            suggestion(name, known.chain(["option"]))
        );
        Err(self.fault(span, message))
    }

    fn field(&self, span: Span, base: &Expr, field: &str) -> PatternResult<Ty> {
        let ops = match self.ty(base)? {
            Ty::Entity(ops) => ops,
            Ty::Options => return self.option(span, field),
            Ty::Given => {
                return match field {
                    "size" | "rank" => Ok(Ty::Int),
                    "shape" => Ok(Ty::List(Box::new(Ty::Int))),
                    _ => {
                        let hint = suggestion(field, GIVEN_FIELDS);
                        Err(self.fault(span, format!("'{base}' has no field '{field}'{hint}")))
                    }
                };
            }
            other => {
                let message =
                    format!("'{base}' is {}, it has no field '{field}'", other.describe());
                return Err(self.fault(span, message));
            }
        };
        let decls = ops.iter().filter_map(|op| self.names.table.get(op));
        for decl in decls.clone() {
            if let Some(attr) = decl.attr(field) {
                return self.attr(span, field, attr.kind);
            }
            if decl.operand(field).is_some() || decl.results.iter().any(|name| name == field) {
                return Ok(Ty::Entity(vec![]));
            }
        }
        match field {
            "name" if !ops.is_empty() => return Ok(Ty::Str),
            "out" if !ops.is_empty() => return Ok(Ty::Entity(vec![])),
            _ => {}
        }
        if let Some(ty) = value_field(field) {
            return Ok(ty);
        }
        let mut known = VALUE_FIELDS.to_vec();
        for decl in decls {
            known.extend(decl.attrs.iter().map(|attr| attr.name.as_str()));
            known.extend(decl.operands.iter().map(|operand| operand.name.as_str()));
        }
        let what = match ops.as_slice() {
            [] => format!("'{base}' is a value without a matched operation; it"),
            ops => format!("'{base}' is {}, which", ops.join(" or ")),
        };
        let message =
            format!("{what} has no attribute or field '{field}'{}", suggestion(field, known));
        Err(self.fault(span, message))
    }

    fn option(&self, span: Span, name: &str) -> PatternResult<Ty> {
        match self.names.options.get(name) {
            Some(OptionType::Int) => Ok(Ty::Int),
            Some(OptionType::Float) => Ok(Ty::Number),
            Some(OptionType::Bool) => Ok(Ty::Bool),
            Some(OptionType::Text) => Ok(Ty::Str),
            None => {
                let known = self.names.options.keys().map(String::as_str);
                let message =
                    format!("the target has no option '{name}'{}", suggestion(name, known));
                Err(self.fault(span, message))
            }
        }
    }

    fn attr(&self, span: Span, name: &str, kind: AttrKind) -> PatternResult<Ty> {
        match kind {
            AttrKind::Int => Ok(Ty::Int),
            AttrKind::Float => Ok(Ty::Number),
            AttrKind::Str => Ok(Ty::Str),
            AttrKind::Bool => Ok(Ty::Bool),
            AttrKind::Ints => Ok(Ty::List(Box::new(Ty::Int))),
            AttrKind::Floats => Ok(Ty::List(Box::new(Ty::Number))),
            AttrKind::Type => Ok(Ty::Type),
            AttrKind::Other => {
                Err(self.fault(span, format!("predicates cannot look into attribute '{name}'")))
            }
        }
    }

    fn list(&self, span: Span, items: &[Expr]) -> PatternResult<Ty> {
        let mut common: Option<Ty> = None;
        for item in items {
            let ty = self.value(item)?;
            common = Some(match common {
                None => ty,
                Some(before) if before == ty => ty,
                Some(before) if before.is_number() && ty.is_number() => Ty::Number,
                Some(_) => return Err(self.fault(span, "the elements of the list differ in type")),
            });
        }
        Ok(Ty::List(Box::new(common.unwrap_or(Ty::Number))))
    }

    fn arithmetic(&self, op: BinaryOp, left: &Expr, right: &Expr) -> PatternResult<Ty> {
        let mut list = false;
        let mut item = |expr: &Expr| -> PatternResult<Ty> {
            let ty = match self.value(expr)? {
                Ty::List(item) => {
                    list = true;
                    *item
                }
                ty => ty,
            };
            if ty.is_number() {
                return Ok(ty);
            }
            let message = format!("'{}' needs numbers; '{expr}' is {}", op.text(), ty.describe());
            Err(self.fault(expr.span, message))
        };
        let (a, b) = (item(left)?, item(right)?);
        let ty = if a == Ty::Int && b == Ty::Int { Ty::Int } else { Ty::Number };
        Ok(if list { Ty::List(Box::new(ty)) } else { ty })
    }

    fn compare(&self, first: &Expr, rest: &[(CompareOp, Expr)]) -> PatternResult<Ty> {
        let mut left = self.value(first)?;
        let mut result = Ty::Bool;
        for (op, operand) in rest {
            let right = self.value(operand)?;
            let equality = matches!(op, CompareOp::Eq | CompareOp::Ne);
            let (a, b, lists) = match (&left, &right) {
                (Ty::List(a), Ty::List(b)) => ((**a).clone(), (**b).clone(), 2),
                (Ty::List(a), b) => ((**a).clone(), b.clone(), 1),
                (a, Ty::List(b)) => (a.clone(), (**b).clone(), 1),
                (a, b) => (a.clone(), b.clone(), 0),
            };
            let ordered = a.is_number() && b.is_number();
            if !comparable(&a, &b) || (!equality && !ordered) {
                let message = format!(
                    "'{}' cannot compare {} with {}",
                    op.text(),
                    left.describe(),
                    right.describe()
                );
                return Err(self.fault(operand.span, message));
            }
            if lists == 1 || (lists == 2 && !equality) {
                if rest.len() > 1 {
                    let message = "comparisons of lists do not chain; write all(...) and all(...)";
                    return Err(self.fault(operand.span, message));
                }
                result = Ty::List(Box::new(Ty::Bool));
            }
            left = right;
        }
        Ok(result)
    }
}

fn comparable(a: &Ty, b: &Ty) -> bool {
    match (a, b) {
        (Ty::List(a), Ty::List(b)) => comparable(a, b),
        _ => a == b || (a.is_number() && b.is_number()),
    }
}
