//! Reads match expressions.
//!
//! ```text
//! match  = { names '=' node ';' } [ names '=' ] node
//! names  = name | '(' (name | '_') { ',' (name | '_') } [ ',' '...' ] ')'
//! node   = [ (name | '_') [ '?' ] ':' ] core { '|' core }
//! core   = call | 'const' | number [ '~' tolerance ] | name [ '?' ] | '_' [ '?' ] | '(' node ')'
//! call   = ops [ '?' ] '(' [ node { ',' node } [ ',' '...' ] ] ')' [ '#' result ]
//! ops    = name { '|' name } | '(' name { '|' name } ')'
//! ```

use super::ast::{Call, MatchExpr, Node, NodeKind, Part, Results};
use crate::expr::{
    PatternResult, Span, dtype_of,
    token::{Token, Tokens},
};

/// Words that cannot be captures: they mean something in predicates.
pub(super) const RESERVED: [&str; 12] =
    ["const", "and", "or", "not", "in", "true", "false", "option", "present", "all", "any", "self"];

impl MatchExpr {
    /// Reads a match expression. Names are checked later, against a table of operations.
    pub fn parse(text: &str) -> PatternResult<Self> {
        let mut parser = Parser { tokens: Tokens::new(text)?, parts: vec![], slots: 0 };
        let mut last = None;
        loop {
            if last.is_some() {
                break;
            }
            if matches!(parser.tokens.peek(), Token::Name(_)) && parser.tokens.is_at(1, "=") {
                last = parser.part()?;
            } else if parser.results_follow() {
                last = parser.results_part()?;
            } else {
                break;
            }
        }
        let root = match last {
            Some(root) => root,
            None => parser.node()?,
        };
        parser.tokens.expect_end()?;
        Ok(Self { parts: parser.parts, root, slots: parser.slots })
    }
}

struct Parser<'t> {
    tokens: Tokens<'t>,
    parts: Vec<Part>,
    slots: usize,
}

impl Parser<'_> {
    /// A part; the node itself if it is the last, which is the expression then.
    fn part(&mut self) -> PatternResult<Option<Node>> {
        let name = self.part_name()?;
        self.tokens.expect("=", "after the name of the part")?;
        let mut node = self.node()?;
        let is_last = matches!(self.tokens.peek(), Token::End);
        if is_last && node.capture.is_none() {
            node.capture = Some(name);
            return Ok(Some(node));
        }
        let kind = NodeKind::Part(name.clone());
        let whole = Node { capture: None, optional: false, kind, span: node.span };
        self.parts.push(Part { names: vec![name], node });
        if is_last {
            return Ok(Some(whole));
        }
        self.tokens.expect(";", "after a part")?;
        Ok(None)
    }

    /// An operation whose results have names; the node itself if it is the last.
    fn results_part(&mut self) -> PatternResult<Option<Node>> {
        let results = self.results()?;
        self.tokens.expect("=", "after the names of the results")?;
        let mut node = self.node()?;
        let span = node.span;
        match &mut node.kind {
            NodeKind::Call(call)
                if !call.optional && call.result == 0 && node.capture.is_none() =>
            {
                call.results = Some(results.clone());
            }
            _ => {
                let message = "names of several results need one operation, neither optional nor \
                               one of several forms, without a name or '#' of its own";
                return Err(self.tokens.error_at(span, message));
            }
        }
        if matches!(self.tokens.peek(), Token::End) {
            return Ok(Some(node));
        }
        self.parts.push(Part { names: results.names.into_iter().flatten().collect(), node });
        self.tokens.expect(";", "after a part")?;
        Ok(None)
    }

    /// `(a, b, ...)` before `=`.
    fn results(&mut self) -> PatternResult<Results> {
        self.tokens.expect("(", "before the names of results")?;
        let mut results = Results { names: vec![], rest: false };
        loop {
            if self.tokens.eat("...") {
                results.rest = true;
            } else if matches!(self.tokens.peek(), Token::Name(name) if name == "_") {
                self.tokens.take();
                results.names.push(None);
            } else {
                let span = self.tokens.span();
                let name = Some(self.part_name()?);
                if results.names.contains(&name) {
                    return Err(self.tokens.error_at(span, "two results of one name"));
                }
                results.names.push(name);
            }
            if results.rest || !self.tokens.eat(",") {
                break;
            }
        }
        self.tokens.expect(")", "after the names of results")?;
        Ok(results)
    }

    /// True if names in brackets and `=` come next.
    fn results_follow(&self) -> bool {
        if !self.tokens.is_at(0, "(") {
            return false;
        }
        let mut at = 1;
        while matches!(self.tokens.peek_at(at), Token::Name(_)) && self.tokens.is_at(at + 1, ",") {
            at += 2;
        }
        let last =
            matches!(self.tokens.peek_at(at), Token::Name(_)) || self.tokens.is_at(at, "...");
        last && self.tokens.is_at(at + 1, ")") && self.tokens.is_at(at + 2, "=")
    }

    /// A name that no part has.
    fn part_name(&mut self) -> PatternResult<String> {
        let (name, span) = self.capture_name("the name of a part")?;
        if self.parts.iter().any(|part| part.names.contains(&name)) {
            return Err(self.tokens.error_at(span, format!("part '{name}' is defined twice")));
        }
        Ok(name)
    }

    fn capture_name(&mut self, what: &str) -> PatternResult<(String, Span)> {
        let (name, span) = self.tokens.expect_name(what)?;
        if RESERVED.contains(&name.as_str()) || dtype_of(&name).is_some() {
            let message = format!("'{name}' has a meaning of its own; choose another name");
            return Err(self.tokens.error_at(span, message));
        }
        Ok((name, span))
    }

    fn node(&mut self) -> PatternResult<Node> {
        let start = self.tokens.span();
        let mut label = None;
        let mark = usize::from(self.tokens.is_at(1, "?"));
        if matches!(self.tokens.peek(), Token::Name(_)) && self.tokens.is_at(1 + mark, ":") {
            let (name, _) = self.capture_name("a name")?;
            let optional = self.tokens.eat("?");
            self.tokens.expect(":", "after the name")?;
            label = Some((name, optional));
        }
        let mut nodes = vec![self.core()?];
        while self.tokens.eat("|") {
            nodes.push(self.core()?);
        }
        let span = start.to(self.tokens.last_span());
        let mut node = match nodes.pop() {
            Some(only) if nodes.is_empty() => only,
            last => {
                nodes.extend(last);
                Node { capture: None, optional: false, kind: NodeKind::Alt(nodes), span }
            }
        };
        if let Some((name, optional)) = label {
            if node.capture.is_some() || node.optional {
                let message = format!("a second name, '{name}', for the same value");
                return Err(self.tokens.error_at(span, message));
            }
            node.capture = (name != "_").then_some(name);
            node.optional = optional;
            node.span = span;
        }
        Ok(node)
    }

    fn core(&mut self) -> PatternResult<Node> {
        let span = self.tokens.span();
        let plain = |kind, span| Node { capture: None, optional: false, kind, span };
        if self.call_follows() {
            let call = self.call()?;
            return Ok(plain(NodeKind::Call(call), span.to(self.tokens.last_span())));
        }
        if self.tokens.eat("(") {
            let mut node = self.node()?;
            self.tokens.expect(")", "to close the bracket")?;
            node.span = span.to(self.tokens.last_span());
            return Ok(node);
        }
        match self.tokens.peek().clone() {
            Token::Int(_) | Token::Float(_) => self.number(),
            Token::Symbol("-") => self.number(),
            Token::Name(word) if word == "const" => {
                self.tokens.take();
                Ok(plain(NodeKind::Const, span))
            }
            Token::Name(_) => {
                let (name, _) = self.capture_name("a name")?;
                let optional = self.tokens.eat("?");
                if !optional && self.parts.iter().any(|part| part.names.contains(&name)) {
                    return Ok(plain(NodeKind::Part(name), span));
                }
                let capture = (name != "_").then_some(name);
                Ok(Node { capture, optional, kind: NodeKind::Any, span })
            }
            other => Err(self.tokens.error(format!(
                "expected an operation, a name, a number, 'const' or '_', found {}",
                other.describe()
            ))),
        }
    }

    fn number(&mut self) -> PatternResult<Node> {
        let span = self.tokens.span();
        let value = self.signed()?;
        let tolerance = if self.tokens.eat("~") { Some(self.signed()?) } else { None };
        let span = span.to(self.tokens.last_span());
        if tolerance.is_some_and(|tolerance| tolerance < 0.0) {
            return Err(self.tokens.error_at(span, "a tolerance is not negative"));
        }
        let kind = NodeKind::Number { value, tolerance };
        Ok(Node { capture: None, optional: false, kind, span })
    }

    fn signed(&mut self) -> PatternResult<f64> {
        let sign = if self.tokens.eat("-") { -1.0 } else { 1.0 };
        match *self.tokens.peek() {
            Token::Int(value) => {
                self.tokens.take();
                Ok(sign * value as f64)
            }
            Token::Float(value) => {
                self.tokens.take();
                Ok(sign * value)
            }
            ref other => {
                Err(self.tokens.error(format!("expected a number, found {}", other.describe())))
            }
        }
    }

    /// True if names of operations and an opening bracket come next.
    fn call_follows(&self) -> bool {
        let bracket = usize::from(self.tokens.is_at(0, "("));
        let mut at = bracket;
        loop {
            if !matches!(self.tokens.peek_at(at), Token::Name(_)) {
                return false;
            }
            at += 1;
            if !self.tokens.is_at(at, "|") {
                break;
            }
            at += 1;
        }
        if bracket == 1 {
            if !self.tokens.is_at(at, ")") {
                return false;
            }
            at += 1;
        }
        at += usize::from(self.tokens.is_at(at, "?"));
        self.tokens.is_at(at, "(")
    }

    fn call(&mut self) -> PatternResult<Call> {
        let start = self.tokens.span();
        let bracket = self.tokens.eat("(");
        let mut ops = vec![self.tokens.expect_name("the name of an operation")?.0];
        while self.tokens.eat("|") {
            ops.push(self.tokens.expect_name("the name of an operation")?.0);
        }
        if bracket {
            self.tokens.expect(")", "after the names of operations")?;
        }
        let span = start.to(self.tokens.last_span());
        let optional = self.tokens.eat("?");
        let slot = self.slots;
        self.slots += 1;
        self.tokens.expect("(", "before the operands")?;
        let (mut args, mut rest) = (vec![], false);
        while !self.tokens.eat(")") {
            if self.tokens.eat("...") {
                rest = true;
                self.tokens.expect(")", "after '...'")?;
                break;
            }
            args.push(self.node()?);
            if !self.tokens.is_at(0, ")") {
                self.tokens.expect(",", "or ')' after an operand")?;
            }
        }
        let mut result = 0;
        if self.tokens.eat("#") {
            result = match *self.tokens.peek() {
                Token::Int(index @ 0..=1000) => index as usize,
                ref other => {
                    let found = other.describe();
                    let message = format!("expected the number of a result, found {found}");
                    return Err(self.tokens.error(message));
                }
            };
            self.tokens.take();
        }
        if optional && args.first().is_none_or(|arg| arg.optional) {
            let message = "an optional operation needs a first operand, which stands for the \
                           whole when the operation is missing";
            return Err(self.tokens.error_at(span, message));
        }
        Ok(Call { ops, optional, args, rest, result, results: None, slot, span })
    }
}
