//! Patterns: what a target can take over, as data.
//!
//! A [`Pattern`] has a match expression over the operations of the graph
//! (`relu?(add?(conv2d(x, w: const), b: const))`), conditions on its captures
//! (`conv2d.group == 1`), and a lowering of matches. The same declaration drives matching,
//! explanations of failed matches, and code generation. `matcher.rs` finds matches, and
//! `matcher/objection.rs` evaluates the conditions of one.
//!
//! # Match expressions
//! - `conv(x, w)`: a result of that operation with these operands. Operands that are not listed
//!   must be absent; `...` lets any follow. `#1` after it means the second result.
//! - `relu|clip(x)`: one of several operations. `relu?(x)`: the operation, or `x` alone.
//! - `x`: any value, captured. `x?`: an operand that may be absent. `_`: any value.
//! - `w: const`: a constant, captured; `s: 0.5`, `0.79788 ~ 1e-3`: a constant with this number as
//!   all its elements. `y: relu(x)` captures a result, `b?: const` an operand that may be absent.
//! - `(relu(x) | clip(x, 0, 6))`: alternatives. `c = conv(x, w); (relu(c) | c)`: named parts.
//! - `(values, indices) = top_k(x, k)`: names of an operation's results.
//! - A name that occurs twice is the same value. Two calls are two different operations. Operands
//!   of commutative operations match in either order.
//!
//! # Conditions
//! Comparisons, `in [...]`, `and`, `or`, `not`, arithmetic; `x.dtype`, `x.rank`, `x.shape[1]`,
//! `x.size`, `x.bytes`, `x.is_const`, `x.is_static`, `x.value` (of a constant with equal elements),
//! `x.uses`; attributes `conv.strides[0]`, operands `conv.w.shape` and results `conv.out` of matched
//! operations; `option.sram`. A comparison of a list with a number gives a list:
//! `all(conv.dilations == 1)`.
//!
//! Functions are `present(b)`, `known(e)`, `select(c, a, b)`, `all`, `any`, `len`, `min`, `max`,
//! `sum`, `prod`, `abs`, `floor`, `sqrt`, `exp` and `pow2`. `round` rounds half away from zero.
//! `range(n)` lists 0 to n - 1, `values(s)` the elements of a small constant. Lists are made by
//! `repeat(l, n)`, `join(a, b)` and the slice `l[start:end]`. `quant_multiplier` and `quant_shift`
//! are the fixed-point form of a real factor.

pub mod ast;
mod call;
mod capabilities;
mod check;
mod cost;
mod failure;
mod found;
mod matcher;
mod operator;
mod parse;
mod resolve;
pub mod tile;

#[cfg(test)]
mod tests;

pub use ast::MatchExpr;
pub use call::{
    BlockPart, BoundArg, BoundCall, BoundLayout, CType, CallProto, GivenLayout, Layout, Param,
    Permutation, Returns, goes_by_places,
};
pub use capabilities::{
    Capabilities, REGION_NAMES, RegionLimits, check_region_expression, substitute,
};
pub use check::{Ty, check_expression};
pub use cost::check_rate;
pub use failure::{Failure, Reason};
pub use found::{Match, MatchScope};
pub use matcher::{find_forms, find_match};
pub use operator::check_of_operator;
pub use tile::{DimSpec, DmaSpec, GivenSpec, LoopSpec, OwnSpec, PoolSpec, Tile, TileSpec};

use crate::{
    expr::{Expr, ExprKind, OptionType, PatternError, PatternResult},
    graph::{Arity, OpTable},
    tensor::ElementType,
};
use resolve::Resolved;
use std::collections::BTreeMap;

/// A condition of a pattern.
#[derive(Clone, Debug)]
pub struct Clause {
    /// As written.
    pub text: String,
    /// Read.
    pub expr: Expr,
}

/// The declaration of a pattern, as texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternSpec {
    /// Name, unique in its target.
    pub name: String,
    /// One line for tables.
    pub doc: String,
    /// The match expression.
    pub matches: String,
    /// The conditions, all of which must hold.
    pub clauses: Vec<String>,
    /// Element types of tensors, in place of the target's; those if `None`.
    pub dtypes: Option<Vec<ElementType>>,
    /// Preference over other matches; the number of matched operations if `None`.
    pub benefit: Option<i64>,
    /// Cost of a match in nanoseconds, an expression; estimated if `None`.
    pub cost: Option<String>,
    /// Tolerance for integers against the host's, for checks; one step if `None`.
    pub steps: Option<u32>,
    /// Tolerance for floats against the host's, for checks, in units of the last place of their
    /// type; the usual if `None`.
    pub ulps: Option<u32>,
    /// The type that sums are made in, for checks: that of the target if `None`.
    pub accumulate: Option<ElementType>,
    /// True if only finite numbers count, for checks. If false, NaN and infinity are to become what
    /// they become on the host; if `None`, checks only say where they do not.
    pub finite: Option<bool>,
    /// False for work that is not worth a region of its own, such as a reshape.
    pub compute: bool,
    /// Name of a registered lowering.
    pub lower: Option<String>,
    /// Prototype of the function that a match becomes a call of.
    pub call: Option<String>,
    /// True if the host's own code makes the call, without a function of the target around it.
    pub inline: bool,
    /// Tiling of the call's work.
    pub tile: Option<TileSpec>,
}

impl PatternSpec {
    /// A pattern of this name that matches this expression.
    pub fn new(name: impl Into<String>, matches: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            doc: String::new(),
            matches: matches.into(),
            clauses: vec![],
            dtypes: None,
            benefit: None,
            cost: None,
            steps: None,
            ulps: None,
            accumulate: None,
            finite: None,
            compute: true,
            lower: None,
            call: None,
            inline: false,
            tile: None,
        }
    }

    /// Adds a condition.
    #[must_use]
    pub fn clause(mut self, text: impl Into<String>) -> Self {
        self.clauses.push(text.into());
        self
    }

    /// Sets the preference.
    #[must_use]
    pub fn benefit(mut self, benefit: i64) -> Self {
        self.benefit = Some(benefit);
        self
    }

    /// Sets what a match costs, in nanoseconds.
    #[must_use]
    pub fn cost(mut self, text: impl Into<String>) -> Self {
        self.cost = Some(text.into());
        self
    }

    /// Marks the pattern as not worth a region of its own.
    #[must_use]
    pub fn no_compute(mut self) -> Self {
        self.compute = false;
        self
    }

    /// Names the registered lowering.
    #[must_use]
    pub fn lower(mut self, name: impl Into<String>) -> Self {
        self.lower = Some(name.into());
        self
    }

    /// The pattern of any operands of an operation with the operands' names as captures, if it has a
    /// call, which may pass them.
    #[must_use]
    pub fn with_operands(mut self, table: &OpTable) -> Self {
        let any = format!("{}(...)", self.name);
        let op = table.find(&self.name).filter(|_| self.call.is_some() && self.matches == any);
        let Some(op) = op else { return self };
        let operands = op.operands.iter().map(|operand| match operand.arity {
            Arity::One => operand.name.clone(),
            Arity::Variadic => "...".to_owned(),
            Arity::Optional => format!("{}?", operand.name),
        });
        let operands: Vec<String> = operands.collect();
        self.matches = format!("{}({})", self.name, operands.join(", "));
        self
    }

    /// Gives the prototype of the function to call.
    #[must_use]
    pub fn call(mut self, proto: impl Into<String>) -> Self {
        self.call = Some(proto.into());
        self
    }
}

/// A pattern that has been read and checked.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The declaration.
    pub spec: PatternSpec,
    /// The match expression.
    pub expr: MatchExpr,
    /// The conditions.
    pub clauses: Vec<Clause>,
    /// Cost of a match.
    pub cost: Option<Expr>,
    /// The function to call, if lowering is a call.
    pub call: Option<CallProto>,
    /// Tiling of the call's work.
    pub tile: Option<Tile>,
    /// Captures whose element type a condition is about.
    typed: Vec<String>,
    resolved: Resolved,
}

impl Pattern {
    /// Reads a declaration and checks it against the operations and the target's options.
    pub fn new(
        spec: PatternSpec,
        table: &OpTable,
        options: &BTreeMap<String, OptionType>,
    ) -> PatternResult<Self> {
        let place = |what: &str| format!("pattern '{}', {what}", spec.name);
        let expr = MatchExpr::parse(&spec.matches).map_err(|e| e.within(place("match")))?;
        let resolved =
            resolve::resolve(&spec.matches, &expr, table).map_err(|e| e.within(place("match")))?;
        let names = check::Names {
            table,
            options,
            entities: &resolved.entities,
            ambiguous: &resolved.ambiguous,
            given: false,
        };
        let mut clauses = vec![];
        for (index, text) in spec.clauses.iter().enumerate() {
            let clause = Expr::parse(text).and_then(|expr| {
                check::check_condition(text, &expr, &names)?;
                Ok(Clause { text: text.clone(), expr })
            });
            clauses.push(clause.map_err(|e| e.within(place(&format!("where[{index}]"))))?);
        }
        let cost = spec.cost.as_ref().map(|text| {
            let expr = Expr::parse(text)?;
            cost::check_number(text, &expr, &names)?;
            Ok(expr)
        });
        let cost = cost.transpose().map_err(|e: PatternError| e.within(place("cost")))?;
        let mut within_call = names;
        let call = spec.call.as_ref().map(|text| {
            let proto = CallProto::parse(text)?;
            within_call.given = proto.is_given();
            let names = &within_call;
            if spec.inline {
                proto.check_inline(text)?;
            }
            match &spec.tile {
                // What differs from tile to tile is checked as if it were a number.
                Some(tile) => proto
                    .map(&mut |expr| Tile::closed(tile, text, expr))?
                    .check(text, &expr, &resolved, names)?,
                None => {
                    proto.check_whole(text)?;
                    proto.check(text, &expr, &resolved, names)?;
                }
            }
            proto.check_given(text, &resolved, table)?;
            Ok(proto)
        });
        let call = call.transpose().map_err(|e: PatternError| e.within(place("call")))?;
        let tile = match (&spec.tile, &call) {
            (Some(tile), Some(call)) => Some(Tile::new(tile.clone(), call, &within_call)),
            _ => None,
        };
        let tile = tile.transpose().map_err(|e: PatternError| e.within(place("tile")))?;
        let typed = typed_captures(&clauses);
        Ok(Self { spec, expr, clauses, cost, call, tile, typed, resolved })
    }

    /// Name of the pattern.
    pub fn name(&self) -> &str {
        &self.spec.name
    }

    /// Capture names in order of text.
    pub fn captures(&self) -> &[String] {
        &self.resolved.captures
    }

    /// True if every match has the capture.
    pub fn always_captures(&self, name: &str) -> bool {
        self.resolved.always.contains(name)
    }

    /// The operations that a match can end with.
    pub fn roots(&self) -> impl Iterator<Item = &str> {
        self.resolved.roots.iter().map(String::as_str)
    }

    /// All operations that the pattern names, maybe more than once.
    pub fn ops(&self) -> impl Iterator<Item = &str> {
        self.resolved.slots.iter().flatten().map(|choice| choice.op.as_str())
    }
}

/// Captures whose `dtype` conditions read.
fn typed_captures(clauses: &[Clause]) -> Vec<String> {
    let mut names = vec![];
    for clause in clauses {
        clause.expr.visit(&mut |part| {
            if let ExprKind::Field(base, field) = &part.kind
                && let (ExprKind::Name(name), "dtype") = (&base.kind, field.as_str())
            {
                names.push(name.clone());
            }
        });
    }
    names
}
