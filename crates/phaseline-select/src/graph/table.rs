//! Declarations of operations: the names of their operands, results and attributes.
//!
//! Patterns are checked against such a table when they are loaded. It is filled from the dialect's
//! own declaration; the text form is for tests and tools.

use super::{AttrValue, Evaluator, Facts, OpId, eval::OpScope};
pub use crate::op_info::{Arity, AttrKind};
use crate::{
    expr::{
        Expr, PatternError, PatternResult,
        token::{Token, Tokens},
    },
    op_info::{AttrInfo, OpInfo, ValueInfo},
};
use std::{collections::BTreeMap, fmt};

/// The types of attributes by their names in the text form.
const KINDS: [(AttrKind, &str); 8] = [
    (AttrKind::Int, "int"),
    (AttrKind::Float, "float"),
    (AttrKind::Str, "str"),
    (AttrKind::Bool, "bool"),
    (AttrKind::Ints, "ints"),
    (AttrKind::Floats, "floats"),
    (AttrKind::Type, "type"),
    (AttrKind::Other, "other"),
];

/// An operand of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OperandDecl {
    /// Name.
    pub name: String,
    /// Number of values that it stands for.
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
    /// Number of arithmetic operations that it takes, where they do not go by elements of the
    /// result.
    pub flops: Option<Flops>,
    /// Facts that costs go by.
    pub traits: OpTraits,
}

/// Facts of an operation that its costs go by, as ODS has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpTraits {
    /// An element of the result depends on the elements at the same place of the operands alone.
    pub elementwise: bool,
    /// True if it only reinterprets the dimensions of a tensor, or only reads them.
    pub view: bool,
    /// Arithmetic operations that one element of the result takes.
    pub cost: u32,
}

impl Default for OpTraits {
    /// Traits of an operation of which ODS says nothing.
    fn default() -> Self {
        Self { elementwise: false, view: false, cost: 1 }
    }
}

/// The number of arithmetic operations that an operation takes, as an expression over `self`.
#[derive(Clone, Debug, PartialEq)]
pub struct Flops(Expr);

impl Flops {
    /// A number by an expression.
    pub fn new(expr: Expr) -> Self {
        Self(expr)
    }

    /// The number for an operation; none if it depends on a dynamic dimension.
    pub fn of_op(&self, op: OpId, facts: Facts<'_>) -> Option<f64> {
        let scope = OpScope { op };
        let flops = Evaluator::new(facts, &scope).eval(&self.0).as_f64()?;
        flops.is_finite().then_some(flops)
    }
}

impl OpDecl {
    /// The least and the greatest number of operands; `None` for no limit.
    pub fn operand_range(&self) -> (usize, Option<usize>) {
        let least = self.operands.iter().filter(|o| o.arity == Arity::One).count();
        let variadic = self.operands.iter().any(|o| o.arity == Arity::Variadic);
        (least, (!variadic).then_some(self.operands.len()))
    }

    /// True for an operator of a vendor, which has a domain in its name.
    pub fn is_vendors(&self) -> bool {
        self.name.contains('.')
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

/// The operations that patterns may name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct OpTable {
    ops: BTreeMap<String, OpDecl>,
    /// The names of operators of vendors by what patterns call them.
    operators: BTreeMap<String, String>,
}

impl OpTable {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// The operations of a dialect by what its ODS says; those that patterns cannot name are left out.
    pub fn of(dialect: &[&OpInfo]) -> crate::Result<Self> {
        let mut table = Self::new();
        for info in dialect.iter().filter(|info| !info.structure) {
            let decl = declaration(info).map_err(|error| {
                crate::Error::internal(format!("ODS of '{}': {error}", info.name))
            })?;
            table.insert(decl);
        }
        Ok(table)
    }

    /// Adds or replaces an operation.
    pub fn insert(&mut self, op: OpDecl) {
        self.ops.insert(op.name.clone(), op);
    }

    /// Adds an operator of a vendor, whose full name patterns write as this word.
    pub fn name_operator(&mut self, word: &str, op: OpDecl) {
        self.operators.insert(word.to_owned(), op.name.clone());
        self.insert(op);
    }

    /// The operation that patterns call by this name.
    pub fn find(&self, written: &str) -> Option<&OpDecl> {
        self.get(written).or_else(|| self.get(self.operators.get(written)?))
    }

    /// Names under which patterns may call operators of vendors.
    pub fn operator_words(&self) -> impl Iterator<Item = &str> {
        self.operators.keys().map(String::as_str)
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

    /// Facts of an operation that its costs go by.
    pub fn traits(&self, name: &str) -> OpTraits {
        self.get(name).map(|op| op.traits).unwrap_or_default()
    }

    /// Reads the text form, one operation a line; it says nothing of what costs go by:
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

/// Declaration of an operation for patterns, as ODS has it.
fn declaration(info: &OpInfo) -> PatternResult<OpDecl> {
    let operand =
        |value: &ValueInfo| OperandDecl { name: value.name.to_owned(), arity: value.arity };
    let attribute = |attr: &AttrInfo| {
        let default = attr.default.map(|text| parse_default(&mut Tokens::new(text)?, attr.kind));
        Ok(AttrDecl { name: attr.name.to_owned(), kind: attr.kind, default: default.transpose()? })
    };
    Ok(OpDecl {
        name: info.mnemonic.to_owned(),
        operands: info.operands.iter().map(operand).collect(),
        results: info.results.iter().map(|result| result.name.to_owned()).collect(),
        variadic_results: info.results.iter().any(|result| result.arity == Arity::Variadic),
        attrs: info.attributes.iter().map(attribute).collect::<PatternResult<_>>()?,
        commutative: info.commutative,
        flops: info.flops.map(|text| Expr::parse(text).map(Flops)).transpose()?,
        traits: OpTraits {
            elementwise: info.elementwise,
            view: info.view || info.cost == 0,
            cost: info.cost,
        },
    })
}

fn parse_decl(line: &str) -> PatternResult<OpDecl> {
    let mut tokens = Tokens::new(line)?;
    let (name, _) = tokens.expect_name("the name of an operation")?;
    tokens.expect("(", "before the operands")?;
    let mut op = OpDecl {
        flops: None,
        traits: OpTraits::default(),
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
            op.attrs.push(parse_attr(&mut tokens)?);
            if !tokens.is_at(0, "}") {
                tokens.expect(",", "between attributes")?;
            }
        }
    }
    tokens.expect_end()?;
    Ok(op)
}

fn parse_attr(tokens: &mut Tokens) -> PatternResult<AttrDecl> {
    let (name, _) = tokens.expect_name("the name of an attribute")?;
    tokens.expect(":", "before the type of the attribute")?;
    let (kind, span) = tokens.expect_name("the type of the attribute")?;
    let found = KINDS.iter().find(|(_, text)| *text == kind);
    let Some((kind, _)) = found else {
        return Err(tokens.error_at(span, format!("'{kind}' is not a type")));
    };
    let default = if tokens.eat("=") { Some(parse_default(tokens, *kind)?) } else { None };
    Ok(AttrDecl { name, kind: *kind, default })
}

fn parse_floats(tokens: &mut Tokens) -> PatternResult<AttrValue> {
    let mut floats = vec![];
    while !tokens.eat("]") {
        if let AttrValue::Float(value) = parse_default(tokens, AttrKind::Float)? {
            floats.push(value);
        }
        if !tokens.is_at(0, "]") {
            tokens.expect(",", "between numbers")?;
        }
    }
    Ok(AttrValue::Floats(floats))
}

fn parse_default(tokens: &mut Tokens, kind: AttrKind) -> PatternResult<AttrValue> {
    if tokens.eat("[") {
        if kind == AttrKind::Floats {
            return parse_floats(tokens);
        }
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

impl AttrDecl {
    /// Reads the text form: `axes: ints`, `alpha: float = 0.5`.
    ///
    /// # Errors
    /// The text is of another form.
    pub fn parse(text: &str) -> PatternResult<Self> {
        let mut tokens = Tokens::new(text)?;
        let attr = parse_attr(&mut tokens)?;
        tokens.expect_end()?;
        Ok(attr)
    }
}

impl fmt::Display for AttrDecl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = KINDS.iter().find(|(other, _)| *other == self.kind);
        write!(f, "{}: {}", self.name, found.map_or("other", |row| row.1))?;
        match &self.default {
            Some(AttrValue::Int(value)) => write!(f, " = {value}"),
            Some(AttrValue::Float(value)) => write!(f, " = {value:?}"),
            Some(AttrValue::Bool(value)) => write!(f, " = {value}"),
            Some(AttrValue::Str(text)) => write!(f, " = '{text}'"),
            Some(AttrValue::Ints(values)) => write!(f, " = {values:?}"),
            Some(AttrValue::Floats(values)) => write!(f, " = {values:?}"),
            Some(AttrValue::Type(_)) | None => Ok(()),
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
