//! Reads prototypes.

use super::{CType, CallProto, Layout, Param, Returns};
use crate::{
    error::suggestion,
    expr::{
        PatternResult, dtype_of,
        parse::expression,
        token::{Token, Tokens},
    },
    tensor::DType,
};

impl CallProto {
    /// Reads a prototype.
    pub fn parse(text: &str) -> PatternResult<Self> {
        let mut tokens = Tokens::new(text)?;
        let (returns, span) = tokens.expect_name("'void' or 'int'")?;
        let returns = match returns.as_str() {
            "void" => Returns::Void,
            "int" => Returns::Status,
            other => {
                let message = format!("a function returns void or int (0 is success), not {other}");
                return Err(tokens.error_at(span, message));
            }
        };
        let (symbol, _) = tokens.expect_name("the name of the function")?;
        tokens.expect("(", "before the parameters")?;
        let mut params = vec![];
        while !tokens.eat(")") {
            params.push(param(&mut tokens)?);
            if !tokens.is_at(0, ")") {
                tokens.expect(",", "or ')' after a parameter")?;
            }
        }
        tokens.expect_end()?;
        Ok(Self { returns, symbol, params })
    }
}

fn param(tokens: &mut Tokens) -> PatternResult<Param> {
    let (word, span) = tokens.expect_name("in, out, scratch, struct, device or a scalar type")?;
    match word.as_str() {
        "in" => {
            let optional = tokens.eat("?");
            let (capture, _) = tokens.expect_name("a capture")?;
            Ok(Param::In { capture, optional, layout: layout(tokens)? })
        }
        "out" => {
            let (name, _) = tokens.expect_name("a name")?;
            let layout = layout(tokens)?;
            let over = match tokens.eat_word("over") {
                true => Some(tokens.expect_name("the capture that is written over")?.0),
                false => None,
            };
            Ok(Param::Out { name, layout, over })
        }
        "name" => Ok(Param::Name(tokens.expect_name("an enumerator or macro")?.0)),
        "const" => {
            let (word, span) = tokens.expect_name("the type of the elements")?;
            let Some(CType::Scalar(dtype)) = CType::from_word(&word) else {
                return Err(tokens.error_at(span, format!("'{word}' is no type of elements")));
            };
            let values = expression(tokens)?;
            let over = match tokens.eat_word("over") {
                true => Some(tokens.expect_name("a loop of the tile")?.0),
                false => None,
            };
            Ok(Param::Const { dtype, values, over })
        }
        "device" => Ok(Param::Device),
        "scratch" => Ok(Param::Scratch { bytes: expression(tokens)? }),
        "struct" => {
            let (tag, _) = tokens.expect_name("the name of the struct")?;
            tokens.expect("{", "before the fields")?;
            Ok(Param::Struct { ty: format!("struct {tag}"), fields: fields(tokens)? })
        }
        _ if tokens.eat("{") => Ok(Param::Struct { ty: word, fields: fields(tokens)? }),
        _ => match CType::from_word(&word) {
            Some(_) if matches!(tokens.peek(), Token::Symbol("," | ")") | Token::End) => {
                Err(tokens.error("expected the value of the parameter after its type"))
            }
            Some(ty) => Ok(Param::Scalar { ty, value: expression(tokens)? }),
            None => {
                let known = [
                    "in", "out", "scratch", "struct", "device", "name", "const", "size", "bool",
                    "i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64", "f32", "f64",
                ];
                let hint = suggestion(&word, known);
                Err(tokens.error_at(span, format!("'{word}' starts no parameter{hint}")))
            }
        },
    }
}

/// The fields of a struct after the opening brace.
fn fields(tokens: &mut Tokens) -> PatternResult<Vec<(String, Param)>> {
    let mut fields: Vec<(String, Param)> = vec![];
    while !tokens.eat("}") {
        let (mut name, span) = tokens.expect_name("the name of a field")?;
        while tokens.eat(".") {
            name = format!("{name}.{}", tokens.expect_name("the name of a field")?.0);
        }
        let within = |a: &str, b: &str| a.strip_prefix(b).is_some_and(|rest| rest.starts_with('.'));
        let same = |other: &str| name == other || within(&name, other) || within(other, &name);
        if fields.iter().any(|(other, _)| same(other)) {
            return Err(tokens.error_at(span, format!("the field '{name}' has a value already")));
        }
        tokens.expect("=", "before the field's value")?;
        fields.push((name, field(tokens)?));
        if !tokens.is_at(0, "}") {
            tokens.expect(",", "or '}' after a field")?;
        }
    }
    Ok(fields)
}

/// The value of a struct's field: a parameter that starts with a word, or an expression.
fn field(tokens: &mut Tokens) -> PatternResult<Param> {
    let words = ["in", "name", "const", "scratch"];
    let is_param = matches!(tokens.peek(), Token::Name(word) if words.contains(&word.as_str()))
        && !matches!(tokens.peek_at(1), Token::Symbol("." | "[" | "," | "}"));
    if is_param { param(tokens) } else { expression(tokens).map(Param::Value) }
}

fn layout(tokens: &mut Tokens) -> PatternResult<Option<Layout>> {
    if tokens.eat_word("as") { Layout::parse(tokens).map(Some) } else { Ok(None) }
}

impl CType {
    fn from_word(word: &str) -> Option<CType> {
        if word == "size" {
            return Some(CType::Size);
        }
        dtype_of(word).filter(|dtype| !matches!(dtype, DType::F16 | DType::BF16)).map(CType::Scalar)
    }
}
