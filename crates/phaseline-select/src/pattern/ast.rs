//! Match expressions as trees, and their text.

use crate::expr::Span;
use std::fmt;

/// A match expression with its named parts.
#[derive(Clone, Debug, PartialEq)]
pub struct MatchExpr {
    /// Parts that come before the expression, `name = part;` or `(name, name) = operation;`, in order.
    pub parts: Vec<Part>,
    /// The condition on the last operation, the root.
    pub root: Node,
    /// Number of operation calls in the text; each has a `slot` below it.
    pub slots: usize,
}

/// A named part. Its names are also captures of its value, or of the results of its operation.
#[derive(Clone, Debug, PartialEq)]
pub struct Part {
    /// Names: one of the value, or those of the call's [`Call::results`].
    pub names: Vec<String>,
    /// Its expression.
    pub node: Node,
}

/// A condition on a value, with the name that captures it.
#[derive(Clone, Debug)]
pub struct Node {
    /// Name under which predicates and lowering find the value.
    pub capture: Option<String>,
    /// True if the operand may be absent.
    pub optional: bool,
    /// The condition on the value.
    pub kind: NodeKind,
    /// Its place in the text.
    pub span: Span,
}

/// The condition on a value.
#[derive(Clone, Debug, PartialEq)]
pub enum NodeKind {
    /// Any value.
    Any,
    /// A constant.
    Const,
    /// A constant whose elements all are this number, up to a relative tolerance.
    Number {
        /// The number.
        value: f64,
        /// Tolerance, if not the usual one.
        tolerance: Option<f64>,
    },
    /// A result of an operation.
    Call(Call),
    /// One of several, the first that fits.
    Alt(Vec<Node>),
    /// A named part.
    Part(String),
}

/// An operation with its operands.
#[derive(Clone, Debug)]
pub struct Call {
    /// Accepted operations.
    pub ops: Vec<String>,
    /// True if the operation may be missing; the first operand then stands for the whole.
    pub optional: bool,
    /// Operands from the first on. Operands that are not listed must be absent.
    pub args: Vec<Node>,
    /// True if more operands may follow.
    pub rest: bool,
    /// Number of the result that the value is, unless results have names.
    pub result: usize,
    /// Names of the results in order, if they have names; none for `_`.
    pub results: Option<Results>,
    /// Number of this call, from 0 in order of text.
    pub slot: usize,
    /// Place of the names of the operations in the text.
    pub span: Span,
}

/// Names of an operation's results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Results {
    /// Names in order; none for `_`.
    pub names: Vec<Option<String>>,
    /// True if more results may follow.
    pub rest: bool,
}

// Places in the text are no part of the meaning: printed and parsed again, an expression is equal.
impl PartialEq for Node {
    fn eq(&self, other: &Self) -> bool {
        (&self.capture, self.optional, &self.kind) == (&other.capture, other.optional, &other.kind)
    }
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        (&self.ops, self.optional, &self.args, self.rest, self.result, &self.results, self.slot)
            == (
                &other.ops,
                other.optional,
                &other.args,
                other.rest,
                other.result,
                &other.results,
                other.slot,
            )
    }
}

impl MatchExpr {
    /// A named part.
    pub fn part(&self, name: &str) -> Option<&Node> {
        let has = |part: &&Part| part.names.iter().any(|other| other == name);
        self.parts.iter().find(has).map(|part| &part.node)
    }

    /// All calls in order of text.
    pub fn calls(&self) -> Vec<&Call> {
        let mut calls = vec![];
        let nodes = self.parts.iter().map(|part| &part.node).chain([&self.root]);
        nodes.for_each(|node| node.visit(&mut |node| calls.extend(node.call())));
        calls
    }

    /// All capture names, in order of text, without duplicates.
    pub fn captures(&self) -> Vec<String> {
        let mut names = indexmap::IndexSet::new();
        for part in &self.parts {
            part.node.visit(&mut |node| names.extend(node.names()));
            names.extend(part.names.clone());
        }
        self.root.visit(&mut |node| names.extend(node.names()));
        names.into_iter().collect()
    }
}

impl Node {
    /// Calls `f` on this node and all below it, in order of text.
    pub fn visit<'n>(&'n self, f: &mut impl FnMut(&'n Node)) {
        f(self);
        match &self.kind {
            NodeKind::Call(call) => call.args.iter().for_each(|arg| arg.visit(f)),
            NodeKind::Alt(nodes) => nodes.iter().for_each(|node| node.visit(f)),
            NodeKind::Any | NodeKind::Const | NodeKind::Number { .. } | NodeKind::Part(_) => {}
        }
    }

    /// The captures that the node itself makes.
    pub fn names(&self) -> Vec<String> {
        let results = self.call().and_then(|call| call.results.as_ref());
        let results = results.into_iter().flat_map(|results| results.names.iter().flatten());
        self.capture.iter().chain(results).cloned().collect()
    }

    /// The text as one of several alternatives. A bare name before `|` would be read as the name
    /// of an operation, hence the brackets.
    fn branch_text(&self) -> String {
        let plain = self.capture.is_none() && !self.optional;
        match self.kind {
            NodeKind::Call(_) | NodeKind::Number { .. } | NodeKind::Alt(_) if plain => {
                self.to_string()
            }
            _ => format!("({self})"),
        }
    }

    /// The call, if the node is one.
    pub fn call(&self) -> Option<&Call> {
        match &self.kind {
            NodeKind::Call(call) => Some(call),
            _ => None,
        }
    }
}

impl fmt::Display for MatchExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.parts {
            match part.node.call().and_then(|call| call.results.as_ref()) {
                Some(results) => write!(f, "{results} = {}; ", part.node)?,
                None => write!(f, "{} = {}; ", part.names.join(", "), part.node)?,
            }
        }
        if let Some(results) = self.root.call().and_then(|call| call.results.as_ref()) {
            write!(f, "{results} = ")?;
        }
        write!(f, "{}", self.root)
    }
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.optional { "?" } else { "" };
        match (&self.capture, &self.kind) {
            (Some(name), NodeKind::Any) => return write!(f, "{name}{mark}"),
            (Some(name), _) => write!(f, "{name}{mark}: ")?,
            (None, NodeKind::Any) => return write!(f, "_{mark}"),
            (None, _) if self.optional => write!(f, "_{mark}: ")?,
            (None, _) => {}
        }
        match &self.kind {
            NodeKind::Any => Ok(()),
            NodeKind::Const => f.write_str("const"),
            NodeKind::Number { value, tolerance } => {
                write!(f, "{value:?}")?;
                tolerance.map_or(Ok(()), |tolerance| write!(f, " ~ {tolerance:?}"))
            }
            NodeKind::Part(name) => f.write_str(name),
            NodeKind::Alt(nodes) => {
                let texts: Vec<String> = nodes.iter().map(Node::branch_text).collect();
                write!(f, "({})", texts.join(" | "))
            }
            NodeKind::Call(call) => write!(f, "{call}"),
        }
    }
}

impl fmt::Display for Results {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.names.iter().map(|name| name.as_deref().unwrap_or("_"));
        let names: Vec<_> = names.chain(self.rest.then_some("...")).collect();
        write!(f, "({})", names.join(", "))
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ops.as_slice() {
            [op] => f.write_str(op)?,
            ops => write!(f, "({})", ops.join("|"))?,
        }
        let mut args: Vec<String> = self.args.iter().map(Node::to_string).collect();
        if self.rest {
            args.push("...".to_owned());
        }
        write!(f, "{}({})", if self.optional { "?" } else { "" }, args.join(", "))?;
        if self.result != 0 {
            write!(f, "#{}", self.result)?;
        }
        Ok(())
    }
}
