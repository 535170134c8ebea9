//! Typed prototypes: the C function that a match becomes a call of.
//!
//! ```text
//! int npu_conv2d(in x, in w, in? b, out y, i32 x.shape[1], bool present(relu),
//!                struct conv_params { stride = conv.strides[0] }, scratch 4 * x.shape[3])
//! ```

use super::{
    ast::MatchExpr,
    check::{Names, Ty, check_scalar},
    error::PatternResult,
    expr::Expr,
    expr_parse::expression,
    near::suggestion,
    resolve::Resolved,
    token::{Token, Tokens},
};
use crate::tensor::DType;
use std::fmt;

/// What a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Nothing.
    Void,
    /// An `int` that is 0 on success.
    Status,
}

/// The C type of a scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CType {
    /// `int8_t` ... `uint64_t`, `float`, `double`, `bool`.
    Scalar(DType),
    /// `size_t`.
    Size,
}

/// A parameter of a prototype.
#[derive(Clone, Debug, PartialEq)]
pub enum Param {
    /// Pointer to the const data of a captured value; a null pointer if it is absent.
    In {
        /// The capture.
        capture: String,
        /// True if the capture may be absent.
        optional: bool,
    },
    /// Pointer to the data of an output: a captured value, or the match's outputs in order.
    Out {
        /// The capture, or a free name.
        name: String,
    },
    /// A scalar that is computed at compile time.
    Scalar {
        /// Its type.
        ty: CType,
        /// Its value.
        value: Expr,
    },
    /// Pointer to a struct that is filled at compile time.
    Struct {
        /// Name of the C type.
        ty: String,
        /// Fields in order; dotted names reach into structs.
        fields: Vec<(String, Expr)>,
    },
    /// Pointer to memory for the duration of the call.
    Scratch {
        /// Its size.
        bytes: Expr,
    },
    /// Handle of the open device.
    Device,
}

/// A C function and how to call it.
#[derive(Clone, Debug, PartialEq)]
pub struct CallProto {
    /// What it returns.
    pub returns: Returns,
    /// Its name.
    pub symbol: String,
    /// Its parameters in order.
    pub params: Vec<Param>,
}

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

    /// Checks captures and expressions against the pattern.
    pub(super) fn check(
        &self,
        text: &str,
        expr: &MatchExpr,
        resolved: &Resolved,
        names: &Names,
    ) -> PatternResult<()> {
        let tokens = Tokens::new(text)?;
        let fault = |message: String| Err(tokens.error_at(expr_span(text), message));
        for param in &self.params {
            match param {
                Param::In { capture, optional } => {
                    if !resolved.captures.contains(capture) {
                        let known = resolved.captures.iter().map(String::as_str);
                        let hint = suggestion(capture, known);
                        return fault(format!("'{expr}' captures no '{capture}'{hint}"));
                    }
                    if !optional && !resolved.always.contains(capture) {
                        return fault(format!(
                            "'{capture}' may be absent; write 'in? {capture}', which passes a null \
                             pointer then"
                        ));
                    }
                }
                Param::Scalar { ty, value } => {
                    let found = check_scalar(text, value, names)?;
                    let fits = match (ty, &found) {
                        (CType::Scalar(DType::Bool), ty) => *ty == Ty::Bool,
                        (CType::Scalar(dtype), ty) if dtype.is_float() => *ty != Ty::Str,
                        (_, ty) => matches!(ty, Ty::Int | Ty::Bool),
                    };
                    if !fits {
                        return Err(tokens.error_at(
                            value.span,
                            format!("'{value}' does not fit the parameter's type {ty}"),
                        ));
                    }
                }
                Param::Struct { fields, .. } => {
                    for (_, value) in fields {
                        check_scalar(text, value, names)?;
                    }
                }
                Param::Scratch { bytes } => {
                    if check_scalar(text, bytes, names)? != Ty::Int {
                        return Err(tokens.error_at(bytes.span, "a size is an integer"));
                    }
                }
                Param::Out { .. } | Param::Device => {}
            }
        }
        if !self.params.iter().any(|param| matches!(param, Param::Out { .. })) {
            return fault("the function has no 'out' parameter".to_owned());
        }
        Ok(())
    }
}

/// The whole of a text.
fn expr_span(text: &str) -> super::error::Span {
    super::error::Span { start: 0, end: text.len() }
}

fn param(tokens: &mut Tokens) -> PatternResult<Param> {
    let (word, span) = tokens.expect_name("in, out, scratch, struct, device or a scalar type")?;
    match word.as_str() {
        "in" => {
            let optional = tokens.eat("?");
            let (capture, _) = tokens.expect_name("a capture")?;
            Ok(Param::In { capture, optional })
        }
        "out" => Ok(Param::Out { name: tokens.expect_name("a name")?.0 }),
        "device" => Ok(Param::Device),
        "scratch" => Ok(Param::Scratch { bytes: expression(tokens)? }),
        "struct" => {
            let (ty, _) = tokens.expect_name("the name of the struct type")?;
            tokens.expect("{", "before the fields")?;
            let mut fields = vec![];
            while !tokens.eat("}") {
                let mut name = tokens.expect_name("the name of a field")?.0;
                while tokens.eat(".") {
                    name = format!("{name}.{}", tokens.expect_name("the name of a field")?.0);
                }
                tokens.expect("=", "before the field's value")?;
                fields.push((name, expression(tokens)?));
                if !tokens.is_at(0, "}") {
                    tokens.expect(",", "or '}' after a field")?;
                }
            }
            Ok(Param::Struct { ty, fields })
        }
        _ => match CType::from_word(&word) {
            Some(_) if matches!(tokens.peek(), Token::Symbol("," | ")") | Token::End) => {
                Err(tokens.error("expected the value of the parameter after its type"))
            }
            Some(ty) => Ok(Param::Scalar { ty, value: expression(tokens)? }),
            None => {
                let known = ["in", "out", "scratch", "struct", "device", "i32", "f32", "size"];
                let hint = suggestion(&word, known);
                Err(tokens.error_at(span, format!("'{word}' starts no parameter{hint}")))
            }
        },
    }
}

impl CType {
    fn from_word(word: &str) -> Option<CType> {
        if word == "size" {
            return Some(CType::Size);
        }
        super::value::dtype_of(word)
            .filter(|dtype| !matches!(dtype, DType::F16 | DType::BF16))
            .map(CType::Scalar)
    }
}

impl fmt::Display for CType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CType::Size => f.write_str("size"),
            CType::Scalar(dtype) => f.write_str(&dtype.mlir_name().replace("ui", "u")),
        }
    }
}

impl fmt::Display for Param {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Param::In { capture, optional: true } => write!(f, "in? {capture}"),
            Param::In { capture, optional: false } => write!(f, "in {capture}"),
            Param::Out { name } => write!(f, "out {name}"),
            Param::Scalar { ty, value } => write!(f, "{ty} {value}"),
            Param::Scratch { bytes } => write!(f, "scratch {bytes}"),
            Param::Device => f.write_str("device"),
            Param::Struct { ty, fields } => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                write!(f, "struct {ty} {{ {} }}", fields.join(", "))
            }
        }
    }
}

impl fmt::Display for CallProto {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let returns = match self.returns {
            Returns::Void => "void",
            Returns::Status => "int",
        };
        let params: Vec<String> = self.params.iter().map(Param::to_string).collect();
        write!(f, "{returns} {}({})", self.symbol, params.join(", "))
    }
}
