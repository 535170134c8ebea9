//! Subsumption of patterns, from their texts alone: one matches everything that another one
//! matches.
//!
//! The answer "yes" is certain, as far as the call of the first one can be made; "no" only means
//! that it cannot be seen from the texts.

use crate::{
    expr::{BinaryOp, Expr, ExprKind},
    graph::Alias,
    pattern::{
        Pattern,
        ast::{Call, MatchExpr, Node, NodeKind},
    },
};
use std::collections::BTreeMap;

/// True if a pattern has the first choice where both match the same operations. A pattern comes
/// with its place in the manifest.
pub fn comes_first(a: (&Pattern, usize), b: (&Pattern, usize)) -> bool {
    if b.0.spec.compute && !a.0.spec.compute {
        return false;
    }
    match (a.0.spec.benefit, b.0.spec.benefit) {
        (None, None) => a.1 < b.1,
        (Some(first), Some(other)) => first > other || first == other && a.1 < b.1,
        // Against a number of operations nothing can be said in general.
        _ => false,
    }
}

/// True if `a` matches wherever `b` does, with the same operations.
pub fn covers(a: &Pattern, b: &Pattern) -> bool {
    // Without a list of its own a pattern has the target's, which may be longer or shorter.
    let takes = match (&a.spec.dtypes, &b.spec.dtypes) {
        (Some(a), Some(b)) => a.is_empty() || !b.is_empty() && b.iter().all(|ty| a.contains(ty)),
        (a, b) => a == b,
    };
    if !takes {
        return false;
    }
    let mut pairs = Pairs { a: &a.expr, b: &b.expr, names: BTreeMap::new(), steps: 0 };
    if !pairs.node(&a.expr.root, &b.expr.root) {
        return false;
    }
    let known = flat(b);
    flat(a)
        .into_iter()
        .all(|clause| renamed(clause, &pairs.names).is_some_and(|clause| known.contains(&&clause)))
}

/// Conditions, with conjunctions split into their parts.
fn flat(pattern: &Pattern) -> Vec<&Expr> {
    fn split<'e>(expr: &'e Expr, all: &mut Vec<&'e Expr>) {
        match &expr.kind {
            ExprKind::Binary(BinaryOp::And, left, right) => {
                split(left, all);
                split(right, all);
            }
            _ => all.push(expr),
        }
    }
    let mut all = vec![];
    pattern.clauses.iter().for_each(|clause| split(&clause.expr, &mut all));
    all
}

/// Two expressions that are compared, and which names of the first are which of the second.
struct Pairs<'p> {
    a: &'p MatchExpr,
    b: &'p MatchExpr,
    names: BTreeMap<String, Option<String>>,
    steps: usize,
}

/// Pairs of nodes after which a comparison gives up: parts that name each other can make more
/// ways through an expression than can be looked at.
const MAX_STEPS: usize = 20_000;

impl Pairs<'_> {
    fn node(&mut self, a: &Node, b: &Node) -> bool {
        self.steps += 1;
        if self.steps > MAX_STEPS || b.optional && !a.optional {
            return false;
        }
        let mut captures: Vec<String> = a.capture.iter().cloned().collect();
        let mut theirs = b.capture.clone();
        let (mut a, mut b) = (a, b);
        while let NodeKind::Part(name) = &a.kind {
            captures.push(name.clone());
            let Some(part) = self.a.part(name) else { return false };
            a = part;
        }
        while let NodeKind::Part(name) = &b.kind {
            theirs = theirs.or_else(|| Some(name.clone()));
            let Some(part) = self.b.part(name) else { return false };
            b = part;
        }
        captures.iter().all(|name| self.name(name, &theirs)) && self.kind(a, b)
    }

    /// Notes which name of `b` one of `a` is. A name that occurs again is the same value, which
    /// only holds if `b` says so too.
    fn name(&mut self, name: &str, theirs: &Option<String>) -> bool {
        match self.names.get(name) {
            Some(known) => known.is_some() && known == theirs,
            None => {
                self.names.insert(name.to_owned(), theirs.clone());
                true
            }
        }
    }

    fn kind(&mut self, a: &Node, b: &Node) -> bool {
        match (&a.kind, &b.kind) {
            (_, NodeKind::Alt(nodes)) => {
                let before = self.names.clone();
                nodes.iter().all(|b| {
                    self.names.clone_from(&before);
                    self.node(a, b)
                })
            }
            (NodeKind::Alt(nodes), _) => nodes.iter().any(|a| {
                let before = self.names.clone();
                let covered = self.node(a, b);
                if !covered {
                    self.names = before;
                }
                covered
            }),
            // A value that `b` computes would be an operation more of its match.
            (NodeKind::Any, NodeKind::Any | NodeKind::Const | NodeKind::Number { .. }) => true,
            (NodeKind::Const, NodeKind::Const | NodeKind::Number { .. }) => true,
            (NodeKind::Number { .. }, NodeKind::Number { .. }) => a.kind == b.kind,
            (NodeKind::Call(a), NodeKind::Call(b)) => self.call(a, b),
            _ => false,
        }
    }

    fn call(&mut self, a: &Call, b: &Call) -> bool {
        let named = |op: &String| {
            let base = Alias::get(op).map_or(&[][..], |alias| alias.ops);
            a.ops.contains(op)
                || !base.is_empty() && base.iter().all(|op| a.ops.iter().any(|known| known == op))
        };
        if (b.optional && !a.optional) || (b.rest && !a.rest) || a.result != b.result {
            return false;
        }
        let rest = b.args.get(a.args.len()..).unwrap_or_default();
        let is_leaf = |node: &Node| !matches!(node.kind, NodeKind::Call(_) | NodeKind::Alt(_));
        b.ops.iter().all(named)
            && (rest.is_empty() || a.rest && rest.iter().all(is_leaf))
            && a.args.iter().skip(b.args.len()).all(|arg| arg.optional)
            && a.args.iter().zip(&b.args).all(|(a, b)| self.node(a, b))
    }
}

/// A condition of `a` with the names of `b`; none if it has a name that `b` has not.
fn renamed(expr: &Expr, names: &BTreeMap<String, Option<String>>) -> Option<Expr> {
    let one = |expr: &Expr| renamed(expr, names).map(Box::new);
    let all = |list: &[Expr]| list.iter().map(|expr| renamed(expr, names)).collect::<Option<_>>();
    let kind = match &expr.kind {
        ExprKind::Name(name) => match names.get(name) {
            Some(theirs) => ExprKind::Name(theirs.clone()?),
            None => ExprKind::Name(name.clone()),
        },
        ExprKind::Field(base, field) => ExprKind::Field(one(base)?, field.clone()),
        ExprKind::Index(base, index) => ExprKind::Index(one(base)?, one(index)?),
        ExprKind::List(items) => ExprKind::List(all(items)?),
        ExprKind::Call(name, args) => ExprKind::Call(name.clone(), all(args)?),
        ExprKind::Negate(inner) => ExprKind::Negate(one(inner)?),
        ExprKind::Not(inner) => ExprKind::Not(one(inner)?),
        ExprKind::Binary(op, left, right) => ExprKind::Binary(*op, one(left)?, one(right)?),
        ExprKind::Compare(first, rest) => {
            let rest = rest.iter().map(|(op, expr)| Some((*op, renamed(expr, names)?)));
            ExprKind::Compare(one(first)?, rest.collect::<Option<_>>()?)
        }
        ExprKind::In(value, list) => ExprKind::In(one(value)?, one(list)?),
        ExprKind::Int(_) | ExprKind::Float(_) | ExprKind::Text(_) | ExprKind::Bool(_) => {
            expr.kind.clone()
        }
    };
    Some(Expr { kind, span: expr.span })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{graph::OpTable, pattern::PatternSpec};

    fn pattern(matches: &str, clauses: &[&str]) -> Pattern {
        let table = OpTable::of(crate::ir::graph::OPS).unwrap();
        let spec = clauses.iter().fold(PatternSpec::new("p", matches), |spec, c| spec.clause(*c));
        Pattern::new(spec, &table, &BTreeMap::new()).unwrap()
    }

    fn shadows(a: (&str, &[&str]), b: (&str, &[&str])) -> bool {
        covers(&pattern(a.0, a.1), &pattern(b.0, b.1))
    }

    #[test]
    fn sees_what_covers_what() {
        assert!(shadows(("relu(x)", &[]), ("relu(y: const)", &[])));
        assert!(shadows(("relu|clip(x, ...)", &[]), ("relu(x)", &[])));
        assert!(shadows(("conv(x, w, b?)", &[]), ("conv2d(x, w: const)", &["w.rank == 4"])));
        assert!(shadows(("c = conv(x, w); (relu(c) | c)", &[]), ("relu(conv(a, b))", &[])));
        assert!(shadows(
            ("add(x, y)", &["x.dtype == f32"]),
            ("add(p, q)", &["p.rank == 2 and p.dtype == f32"])
        ));
    }

    #[test]
    fn sees_what_does_not() {
        assert!(!shadows(("relu(y: const)", &[]), ("relu(x)", &[])));
        assert!(!shadows(("relu(x)", &[]), ("relu(conv(x, w))", &[])));
        assert!(!shadows(("relu(x)", &["x.rank == 4"]), ("relu(x)", &[])));
        assert!(!shadows(("add(x, y)", &["x.rank == 2"]), ("add(x, y)", &["y.rank == 2"])));
        assert!(!shadows(("add(x, x)", &[]), ("add(x, y)", &[])));
        assert!(!shadows(("conv(x, w)", &[]), ("conv(x, w, b?)", &[])));
        assert!(!shadows(("relu(conv(x, w))", &[]), ("c = conv(x, w); (relu(c) | c)", &[])));
    }

    #[test]
    fn comparisons_of_parts_that_name_each_other_end() {
        let part = |i: usize| format!("p{i} = (add(p{0}, p{0}) | relu(p{0})); ", i - 1);
        let parts: String = (1..40).map(part).collect();
        let text = format!("p0 = relu(x); {parts}p39");
        let other = text.replace("relu(x)", "sigmoid(x)");
        assert!(!shadows((text.as_str(), &[]), (other.as_str(), &[])));
    }

    #[test]
    fn order_and_benefit_decide_who_comes_first() {
        let plain = pattern("relu(x)", &[]);
        let mut costly = pattern("relu(x)", &[]);
        costly.spec.benefit = Some(5);
        let mut cheap = pattern("relu(x)", &[]);
        cheap.spec.benefit = Some(1);
        assert!(comes_first((&plain, 0), (&plain, 1)));
        assert!(!comes_first((&plain, 1), (&plain, 0)));
        assert!(comes_first((&costly, 1), (&cheap, 0)));
        assert!(!comes_first((&cheap, 0), (&costly, 1)));
        assert!(!comes_first((&plain, 0), (&cheap, 1)));
    }
}
