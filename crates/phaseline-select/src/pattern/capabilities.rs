//! Declarations of a target that hold for all its patterns.

use super::{PatternResult, check_expression};
use crate::{
    expr::{Expr, ExprKind, OptionType},
    tensor::ElementType,
};
use std::collections::BTreeMap;

/// Abilities of a target besides its patterns.
#[derive(Clone, Debug, PartialEq)]
pub struct Capabilities {
    /// Element types of data, and of constants that devices are given; all, if empty.
    pub dtypes: Vec<ElementType>,
    /// Matches and regions may have several outputs.
    pub multi_output: bool,
    /// A value inside a match may be used outside; it becomes an output. Needs `multi_output`.
    pub taps: bool,
    /// Neighbouring matches are merged into one region.
    pub merge: bool,
    /// Regions are chains, and independent matches stay in separate regions: the device can work on
    /// several at once. Needs `merge`.
    pub parallel: bool,
    /// All sizes have to be known when compiling.
    pub static_only: bool,
    /// Kinds of regions.
    pub region: RegionLimits,
}

/// Limits of a region as a whole (`[region]`).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RegionLimits {
    /// Operations that it has at most, an expression over options.
    pub max_operations: Option<Expr>,
    /// Conditions over options and [`REGION_NAMES`], as written and read.
    pub conditions: Vec<(String, Expr)>,
    /// Patterns of which it has one match at most.
    pub once: Vec<String>,
    /// Patterns whose matches run in one queue of the device, with its number, an expression over options.
    pub queues: Vec<(String, Expr)>,
}

impl RegionLimits {
    /// The limits as text.
    pub fn texts(&self) -> Vec<String> {
        let most = self.max_operations.iter().map(|most| format!("max-operations: {most}"));
        let conditions = self.conditions.iter().map(|(text, _)| text.clone());
        let once = self.once.iter().map(|name| format!("'{name}' at most once"));
        let queues = self.queues.iter().map(|(name, queue)| format!("'{name}' in queue {queue}"));
        most.chain(conditions).chain(once).chain(queues).collect()
    }
}

/// Names in conditions on a region: the number of its operations, and lists of bytes. The lists are
/// for its inputs, its outputs, its constants, and all values that are no constants.
pub const REGION_NAMES: [&str; 5] = ["operations", "inputs", "outputs", "constants", "values"];

/// Checks an expression for a region against the target's options. With `is_number` it is a number
/// of operations, else a condition.
///
/// # Errors
/// A name or an option is not known, or the expression is of another type.
pub fn check_region_expression(
    text: &str,
    expr: &Expr,
    options: &BTreeMap<String, OptionType>,
    is_number: bool,
) -> PatternResult<()> {
    if is_number {
        return check_expression(text, expr, options);
    }
    // Numbers stand for what is not known yet.
    let sample = |name: &str| match name {
        "operations" => Some(ExprKind::Int(1)),
        name if REGION_NAMES.contains(&name) => {
            Some(ExprKind::List(vec![Expr { kind: ExprKind::Int(1), span: expr.span }]))
        }
        _ => None,
    };
    super::check::check_closed_condition(text, &substitute(expr, &sample), options)
}

/// An expression with what some names stand for in their place.
pub fn substitute(expr: &Expr, known: &dyn Fn(&str) -> Option<ExprKind>) -> Expr {
    let inner = |expr: &Expr| Box::new(substitute(expr, known));
    let all = |list: &[Expr]| list.iter().map(|expr| substitute(expr, known)).collect();
    let kind = match &expr.kind {
        ExprKind::Name(name) => known(name).unwrap_or_else(|| expr.kind.clone()),
        ExprKind::Field(of, name) => ExprKind::Field(inner(of), name.clone()),
        ExprKind::Index(of, index) => ExprKind::Index(inner(of), inner(index)),
        ExprKind::List(items) => ExprKind::List(all(items)),
        ExprKind::Call(name, arguments) => ExprKind::Call(name.clone(), all(arguments)),
        ExprKind::Negate(of) => ExprKind::Negate(inner(of)),
        ExprKind::Not(of) => ExprKind::Not(inner(of)),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, inner(left), inner(right)),
        ExprKind::Compare(first, rest) => {
            let rest = rest.iter().map(|(op, expr)| (*op, substitute(expr, known))).collect();
            ExprKind::Compare(inner(first), rest)
        }
        ExprKind::In(value, list) => ExprKind::In(inner(value), inner(list)),
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Text(_) | ExprKind::Bool(_) => {
            expr.kind.clone()
        }
    };
    Expr { kind, span: expr.span }
}

impl Default for Capabilities {
    fn default() -> Self {
        Self {
            dtypes: vec![],
            multi_output: true,
            taps: false,
            merge: true,
            parallel: false,
            static_only: false,
            region: RegionLimits::default(),
        }
    }
}
