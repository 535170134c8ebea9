//! Reads predicates.
//!
//! From loosest to tightest: `or`, `and`, `not`, comparisons (which chain) and `in`, `+ -`,
//! `* / // %`, unary `-`, then `.field`, `[index]` and calls.

use super::{
    BinaryOp, CompareOp, Expr, ExprKind, PatternResult,
    token::{Token, Tokens},
};

impl Expr {
    /// Reads a predicate or another expression over captures.
    pub fn parse(text: &str) -> PatternResult<Self> {
        let mut tokens = Tokens::new(text)?;
        let expr = expression(&mut tokens)?;
        tokens.expect_end()?;
        Ok(expr)
    }
}

/// Reads an expression and stops where it ends.
pub fn expression(tokens: &mut Tokens) -> PatternResult<Expr> {
    let mut left = conjunction(tokens)?;
    while tokens.eat_word("or") {
        left = binary(BinaryOp::Or, left, conjunction(tokens)?);
    }
    Ok(left)
}

fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
    let span = left.span.to(right.span);
    Expr { kind: ExprKind::Binary(op, Box::new(left), Box::new(right)), span }
}

fn conjunction(tokens: &mut Tokens) -> PatternResult<Expr> {
    let mut left = negation(tokens)?;
    while tokens.eat_word("and") {
        left = binary(BinaryOp::And, left, negation(tokens)?);
    }
    Ok(left)
}

fn negation(tokens: &mut Tokens) -> PatternResult<Expr> {
    let span = tokens.span();
    if tokens.eat_word("not") {
        let inner = negation(tokens)?;
        let span = span.to(inner.span);
        return Ok(Expr { kind: ExprKind::Not(Box::new(inner)), span });
    }
    comparison(tokens)
}

fn comparison(tokens: &mut Tokens) -> PatternResult<Expr> {
    let first = sum(tokens)?;
    let negated = matches!(tokens.peek(), Token::Name(word) if word == "not");
    if negated || matches!(tokens.peek(), Token::Name(word) if word == "in") {
        tokens.eat_word("not");
        if !tokens.eat_word("in") {
            return Err(tokens.error("expected 'in' after 'not'"));
        }
        let list = sum(tokens)?;
        let span = first.span.to(list.span);
        let test = Expr { kind: ExprKind::In(Box::new(first), Box::new(list)), span };
        return Ok(match negated {
            true => Expr { kind: ExprKind::Not(Box::new(test)), span },
            false => test,
        });
    }
    let mut rest = vec![];
    while let Some(op) = compare_op(tokens) {
        rest.push((op, sum(tokens)?));
    }
    if tokens.is_at(0, "=") {
        return Err(tokens.error("'=' is no comparison; write '=='"));
    }
    Ok(match rest.last() {
        None => first,
        Some((_, last)) => {
            let span = first.span.to(last.span);
            Expr { kind: ExprKind::Compare(Box::new(first), rest), span }
        }
    })
}

fn compare_op(tokens: &mut Tokens) -> Option<CompareOp> {
    const OPS: [CompareOp; 6] =
        [CompareOp::Eq, CompareOp::Ne, CompareOp::Le, CompareOp::Ge, CompareOp::Lt, CompareOp::Gt];
    OPS.into_iter().find(|op| tokens.eat(op.text()))
}

fn sum(tokens: &mut Tokens) -> PatternResult<Expr> {
    let mut left = product(tokens)?;
    loop {
        let op = if tokens.eat("+") {
            BinaryOp::Add
        } else if tokens.eat("-") {
            BinaryOp::Sub
        } else {
            return Ok(left);
        };
        left = binary(op, left, product(tokens)?);
    }
}

fn product(tokens: &mut Tokens) -> PatternResult<Expr> {
    let mut left = unary(tokens)?;
    loop {
        let op = if tokens.eat("*") {
            BinaryOp::Mul
        } else if tokens.eat("/") || tokens.eat("//") {
            BinaryOp::Div
        } else if tokens.eat("%") {
            BinaryOp::Rem
        } else {
            return Ok(left);
        };
        left = binary(op, left, unary(tokens)?);
    }
}

fn unary(tokens: &mut Tokens) -> PatternResult<Expr> {
    let span = tokens.span();
    if !tokens.eat("-") {
        return postfix(tokens);
    }
    let inner = unary(tokens)?;
    let span = span.to(inner.span);
    Ok(match inner.kind {
        ExprKind::Int(value) => Expr { kind: ExprKind::Int(value.wrapping_neg()), span },
        ExprKind::Float(value) => Expr { kind: ExprKind::Float(-value), span },
        _ => Expr { kind: ExprKind::Negate(Box::new(inner)), span },
    })
}

/// Reads a value with its fields, indices and arguments.
pub fn postfix(tokens: &mut Tokens) -> PatternResult<Expr> {
    let mut base = primary(tokens)?;
    loop {
        if tokens.eat(".") {
            let (name, span) = tokens.expect_name("the name of a field after '.'")?;
            let span = base.span.to(span);
            base = Expr { kind: ExprKind::Field(Box::new(base), name), span };
        } else if tokens.eat("[") {
            base = index(base, tokens)?;
        } else {
            return Ok(base);
        }
    }
}

/// Reads what follows the bracket in `list[2]` or `list[1:3]`, of which either end may be left out.
fn index(base: Expr, tokens: &mut Tokens) -> PatternResult<Expr> {
    let first = match tokens.is_at(0, ":") {
        true => None,
        false => Some(expression(tokens)?),
    };
    let is_slice = tokens.eat(":");
    let last = match is_slice && !tokens.is_at(0, "]") {
        true => Some(expression(tokens)?),
        false => None,
    };
    tokens.expect("]", "after the index")?;
    let span = base.span.to(tokens.last_span());
    let kind = match (is_slice, first) {
        (false, Some(first)) => ExprKind::Index(Box::new(base), Box::new(first)),
        (_, first) => {
            let start = first.unwrap_or(Expr { kind: ExprKind::Int(0), span });
            let all = ExprKind::Call("len".to_owned(), vec![base.clone()]);
            let end = last.unwrap_or(Expr { kind: all, span });
            ExprKind::Call("slice".to_owned(), vec![base, start, end])
        }
    };
    Ok(Expr { kind, span })
}

fn primary(tokens: &mut Tokens) -> PatternResult<Expr> {
    let span = tokens.span();
    let token = tokens.peek().clone();
    let kind = match token {
        Token::Int(value) => ExprKind::Int(value),
        Token::Float(value) => ExprKind::Float(value),
        Token::Text(text) => ExprKind::Text(text),
        Token::Name(word) if word == "true" || word == "false" => ExprKind::Bool(word == "true"),
        Token::Name(word) if ["and", "or", "in", "not"].contains(&word.as_str()) => {
            return Err(tokens.error(format!("expected a value, found '{word}'")));
        }
        Token::Name(name) => {
            tokens.take();
            if !tokens.eat("(") {
                return Ok(Expr { kind: ExprKind::Name(name), span });
            }
            let args = list(tokens, ")")?;
            let span = span.to(tokens.last_span());
            return Ok(Expr { kind: ExprKind::Call(name, args), span });
        }
        Token::Symbol("(") => {
            tokens.take();
            let inner = expression(tokens)?;
            tokens.expect(")", "to close the bracket")?;
            return Ok(Expr { kind: inner.kind, span: span.to(tokens.last_span()) });
        }
        Token::Symbol("[") => {
            tokens.take();
            let items = list(tokens, "]")?;
            return Ok(Expr { kind: ExprKind::List(items), span: span.to(tokens.last_span()) });
        }
        other => {
            return Err(tokens.error(format!("expected a value, found {}", other.describe())));
        }
    };
    tokens.take();
    Ok(Expr { kind, span })
}

fn list(tokens: &mut Tokens, close: &str) -> PatternResult<Vec<Expr>> {
    let mut items = vec![];
    while !tokens.eat(close) {
        items.push(expression(tokens)?);
        if !tokens.is_at(0, close) {
            tokens.expect(",", &format!("or '{close}'"))?;
        }
    }
    Ok(items)
}
