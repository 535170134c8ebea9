//! What operations exist: the names of their operands, results and attributes.
//!
//! Patterns are checked against such a table when they are loaded. It is filled from the dialect's
//! own declaration; the text form is for tests and tools.

use super::{
    error::{PatternError, PatternResult},
    token::{Token, Tokens},
};
use crate::partition::graph::AttrValue;
use std::{collections::BTreeMap, fmt};

/// How many values an operand stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arity {
    /// One.
    One,
    /// None or one.
    Optional,
    /// Any number; only the last operand may be so.
    Variadic,
}

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AttrKind {
    /// Integer.
    Int,
    /// Float.
    Float,
    /// Text.
    Str,
    /// Boolean.
    Bool,
    /// List of integers.
    Ints,
    /// List of floats.
    Floats,
    /// Element type.
    Type,
    /// Something that predicates cannot look into.
    Other,
}

impl AttrKind {
    const NAMES: [(AttrKind, &'static str); 8] = [
        (AttrKind::Int, "int"),
        (AttrKind::Float, "float"),
        (AttrKind::Str, "str"),
        (AttrKind::Bool, "bool"),
        (AttrKind::Ints, "ints"),
        (AttrKind::Floats, "floats"),
        (AttrKind::Type, "type"),
        (AttrKind::Other, "other"),
    ];
}

/// An operand of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandDecl {
    /// Name.
    pub name: String,
    /// How many values it stands for.
    pub arity: Arity,
}

/// An attribute of an operation.
#[derive(Clone, Debug, PartialEq)]
pub struct AttrDecl {
    /// Name.
    pub name: String,
    /// Type.
    pub kind: AttrKind,
    /// Its value where it is left out.
    pub default: Option<AttrValue>,
}

/// An operation.
#[derive(Clone, Debug, PartialEq)]
pub struct OpDecl {
    /// Name without dialect prefix.
    pub name: String,
    /// Operands in order.
    pub operands: Vec<OperandDecl>,
    /// Names of the results.
    pub results: Vec<String>,
    /// True if the last result stands for any number of results.
    pub variadic_results: bool,
    /// Attributes.
    pub attrs: Vec<AttrDecl>,
    /// True if its two operands may be swapped.
    pub commutative: bool,
}

impl OpDecl {
    /// The least and the greatest number of operands; `None` for no limit.
    pub fn operand_range(&self) -> (usize, Option<usize>) {
        let least = self.operands.iter().filter(|o| o.arity == Arity::One).count();
        let variadic = self.operands.iter().any(|o| o.arity == Arity::Variadic);
        (least, (!variadic).then_some(self.operands.len()))
    }

    /// The place of an operand.
    pub fn operand(&self, name: &str) -> Option<usize> {
        self.operands.iter().position(|operand| operand.name == name)
    }

    /// An attribute.
    pub fn attr(&self, name: &str) -> Option<&AttrDecl> {
        self.attrs.iter().find(|attr| attr.name == name)
    }
}

/// The operations of the graph dialect, written by `dialects/op_table.rs`.
const GRAPH_OPS: &str = include_str!(concat!(env!("OUT_DIR"), "/graph_ops.txt"));

/// The operations that patterns may name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpTable {
    ops: BTreeMap<String, OpDecl>,
}

impl OpTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The operations of the graph dialect.
    pub fn graph() -> crate::Result<Self> {
        Self::parse(GRAPH_OPS).map_err(|error| crate::Error::internal(error.to_string()))
    }

    /// Adds or replaces an operation.
    pub fn insert(&mut self, op: OpDecl) {
        self.ops.insert(op.name.clone(), op);
    }

    /// An operation by name.
    pub fn get(&self, name: &str) -> Option<&OpDecl> {
        self.ops.get(name)
    }

    /// All operations, by name.
    pub fn iter(&self) -> impl Iterator<Item = &OpDecl> {
        self.ops.values()
    }

    /// Number of operations.
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// True if there are no operations.
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// True if `name` is an operation whose two operands may be swapped.
    pub fn is_commutative(&self, name: &str) -> bool {
        self.get(name).is_some_and(|op| op.commutative)
    }

    /// Reads the text form, one operation a line:
    ///
    /// ```text
    /// conv(x, w, b?) -> y {strides: ints, group: int = 1}
    /// add(a, b) commutative -> y
    /// concat(inputs...) -> y {axis: int}
    /// ```
    pub fn parse(text: &str) -> PatternResult<Self> {
        let mut table = Self::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if !line.is_empty() {
                let place = |error: PatternError| error.within(format!("line {}", index + 1));
                table.insert(parse_decl(line).map_err(place)?);
            }
        }
        Ok(table)
    }
}

fn parse_decl(line: &str) -> PatternResult<OpDecl> {
    let mut tokens = Tokens::new(line)?;
    let (name, _) = tokens.expect_name("the name of an operation")?;
    tokens.expect("(", "before the operands")?;
    let mut op = OpDecl {
        name,
        operands: vec![],
        results: vec![],
        variadic_results: false,
        attrs: vec![],
        commutative: false,
    };
    while !tokens.eat(")") {
        let (name, _) = tokens.expect_name("the name of an operand")?;
        let arity = if tokens.eat("?") {
            Arity::Optional
        } else if tokens.eat("...") {
            Arity::Variadic
        } else {
            Arity::One
        };
        op.operands.push(OperandDecl { name, arity });
        if !tokens.is_at(0, ")") {
            tokens.expect(",", "between operands")?;
        }
    }
    op.commutative = tokens.eat_word("commutative");
    if tokens.eat("-") {
        tokens.expect(">", "before the results")?;
        while let Token::Name(_) = tokens.peek() {
            op.results.push(tokens.expect_name("the name of a result")?.0);
            op.variadic_results = tokens.eat("...");
            if op.variadic_results || !tokens.eat(",") {
                break;
            }
        }
    }
    if tokens.eat("{") {
        while !tokens.eat("}") {
            let (name, _) = tokens.expect_name("the name of an attribute")?;
            tokens.expect(":", "before the type of the attribute")?;
            let (kind, span) = tokens.expect_name("the type of the attribute")?;
            let found = AttrKind::NAMES.iter().find(|(_, text)| *text == kind);
            let Some((kind, _)) = found else {
                return Err(tokens.error_at(span, format!("'{kind}' is not a type")));
            };
            let default =
                if tokens.eat("=") { Some(parse_default(&mut tokens, *kind)?) } else { None };
            op.attrs.push(AttrDecl { name, kind: *kind, default });
            if !tokens.is_at(0, "}") {
                tokens.expect(",", "between attributes")?;
            }
        }
    }
    tokens.expect_end()?;
    Ok(op)
}

fn parse_default(tokens: &mut Tokens, kind: AttrKind) -> PatternResult<AttrValue> {
    if tokens.eat("[") {
        let mut ints = vec![];
        while !tokens.eat("]") {
            match parse_default(tokens, AttrKind::Int)? {
                AttrValue::Int(value) => ints.push(value),
                _ => return Err(tokens.error("expected an integer")),
            }
            if !tokens.is_at(0, "]") {
                tokens.expect(",", "between integers")?;
            }
        }
        return Ok(AttrValue::Ints(ints));
    }
    let negative = tokens.eat("-");
    let value = match (tokens.peek(), kind) {
        (Token::Int(value), AttrKind::Int) => {
            AttrValue::Int(if negative { value.wrapping_neg() } else { *value })
        }
        (Token::Int(value), AttrKind::Float) => {
            AttrValue::Float(if negative { -(*value as f64) } else { *value as f64 })
        }
        (Token::Float(value), AttrKind::Float) => {
            AttrValue::Float(if negative { -value } else { *value })
        }
        (Token::Name(word), AttrKind::Bool) if word == "true" || word == "false" => {
            AttrValue::Bool(word == "true")
        }
        (Token::Text(text), AttrKind::Str) => AttrValue::Str(text.clone()),
        (other, _) => {
            return Err(tokens.error(format!("{} is no default for it", other.describe())));
        }
    };
    tokens.take();
    Ok(value)
}

impl fmt::Display for AttrDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = AttrKind::NAMES.iter().find(|(other, _)| *other == self.kind);
        write!(f, "{}: {}", self.name, found.map_or("other", |row| row.1))?;
        match &self.default {
            Some(AttrValue::Int(value)) => write!(f, " = {value}"),
            Some(AttrValue::Float(value)) => write!(f, " = {value:?}"),
            Some(AttrValue::Bool(value)) => write!(f, " = {value}"),
            Some(AttrValue::Str(text)) => write!(f, " = '{text}'"),
            Some(AttrValue::Ints(values)) => write!(f, " = {values:?}"),
            Some(AttrValue::Floats(_) | AttrValue::Type(_)) | None => Ok(()),
        }
    }
}

impl fmt::Display for OpDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let operands: Vec<String> = self
            .operands
            .iter()
            .map(|operand| match operand.arity {
                Arity::One => operand.name.clone(),
                Arity::Optional => format!("{}?", operand.name),
                Arity::Variadic => format!("{}...", operand.name),
            })
            .collect();
        write!(f, "{}({})", self.name, operands.join(", "))?;
        if self.commutative {
            f.write_str(" commutative")?;
        }
        if !self.results.is_empty() {
            let dots = if self.variadic_results { "..." } else { "" };
            write!(f, " -> {}{dots}", self.results.join(", "))?;
        }
        let attrs: Vec<String> = self.attrs.iter().map(AttrDecl::to_string).collect();
        if !attrs.is_empty() {
            write!(f, " {{{}}}", attrs.join(", "))?;
        }
        Ok(())
    }
}
