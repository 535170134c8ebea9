//! Checks prototypes against their patterns when a manifest is loaded.

use super::{BlockPart, CType, CallProto, Layout, Param};
use crate::{
    error::suggestion,
    expr::{ExprKind, PatternError, PatternResult, Span, token::Tokens},
    graph::OpTable,
    pattern::{
        ast::{MatchExpr, NodeKind},
        check::{Names, Ty, check_scalar, check_values},
        resolve::Resolved,
    },
    tensor::DType,
};

impl CallProto {
    /// Checks that the host's own code can make the call: it passes tensors, numbers and arrays.
    pub fn check_inline(&self, text: &str) -> PatternResult<()> {
        let strange = self.params.iter().find_map(|param| match param {
            Param::Struct { .. } => Some("a structure"),
            Param::Name(_) => Some("a name of a header"),
            Param::Device => Some("the device"),
            _ => None,
        });
        let Some(strange) = strange else { return Ok(()) };
        let message = format!(
            "an inline call passes tensors, numbers, arrays and scratch memory, not {strange}: pass \
             what it stands for, or leave out inline"
        );
        let span = Span { start: 0, end: text.len() };
        Err(PatternError::new(text, span, message))
    }

    /// Checks that nothing goes by the loops of a tile, where there are none.
    pub(in crate::pattern) fn check_whole(&self, text: &str) -> PatternResult<()> {
        let cut = self.params.iter().flat_map(Param::flat).find_map(|param| match param {
            Param::Const { over, .. } => over.as_ref(),
            _ => None,
        });
        let Some(name) = cut else { return Ok(()) };
        let message = format!("'over {name}' is a loop of a tile, and the pattern has no tile");
        Err(PatternError::new(text, Span { start: 0, end: text.len() }, message))
    }

    /// Checks what comes as given: all that is computed goes by places, so that any order of these will do.
    pub(in crate::pattern) fn check_given(
        &self,
        text: &str,
        resolved: &Resolved,
        table: &OpTable,
    ) -> PatternResult<()> {
        if !self.is_given() {
            return Ok(());
        }
        let fault = |span: Span, message: String| Err(PatternError::new(text, span, message));
        let whole = Span { start: 0, end: text.len() };
        let choices = resolved.slots.iter().flatten();
        if let Some(choice) = choices.into_iter().find(|choice| !goes_by_places(&choice.op, table))
        {
            let message = format!(
                "'as given' is for what is computed place by place, which {} is not: say the layout that \
                 the function wants",
                choice.written
            );
            return fault(whole, message);
        }
        let params: Vec<&Param> = self.params.iter().flat_map(Param::flat).collect();
        let (mut given, mut known) = (vec![], false);
        for param in &params {
            let is_given = param.layout() == Some(&Layout::Given);
            match param {
                Param::In { capture, .. } if is_given => {
                    given.push(capture.as_str());
                    known = true;
                }
                Param::Out { name, .. } if is_given => given.push(name.as_str()),
                Param::Out { name, .. } => {
                    let message = format!(
                        "'{name}' has a layout of its own, beside operands as given: \
                         write 'out {name} as given'"
                    );
                    return fault(whole, message);
                }
                _ => {}
            }
        }
        if !known {
            let message = "results as given have the layout of operands, of which none is as given";
            return fault(whole, message.to_owned());
        }
        if resolved.names.contains_key("given") {
            let message = "'given' names the buffer of a call, and something in the match expression: \
                           call that otherwise";
            return fault(whole, message.to_owned());
        }
        for param in params {
            let (Param::Scalar { value: expr, .. }
            | Param::Value(expr)
            | Param::Const { values: expr, .. }
            | Param::Scratch { bytes: expr }) = param
            else {
                continue;
            };
            let mut wrong = None;
            expr.visit(&mut |part| {
                if let ExprKind::Field(base, field) = &part.kind
                    && let ExprKind::Name(name) = &base.kind
                    && given.contains(&name.as_str())
                    && matches!(field.as_str(), "size" | "bytes" | "shape")
                {
                    wrong.get_or_insert((part.span, part.to_string(), field.clone()));
                }
            });
            if let Some((span, part, field)) = wrong {
                let instead = if field == "shape" { "shape" } else { "size" };
                let message = format!(
                    "'{part}' is of the model's tensor, whose buffer may have another order and more \
                     elements: write given.{instead}"
                );
                return fault(span, message);
            }
        }
        Ok(())
    }

    /// Checks captures and expressions against the pattern.
    pub(in crate::pattern) fn check(
        &self,
        text: &str,
        expr: &MatchExpr,
        resolved: &Resolved,
        names: &Names,
    ) -> PatternResult<()> {
        let checker = Checker { tokens: Tokens::new(text)?, text, expr, resolved, names };
        let all: Vec<&Param> = self.params.iter().flat_map(Param::flat).collect();
        for param in &all {
            checker.param(param)?;
        }
        let count = |wanted: fn(&Param) -> bool| all.iter().filter(|param| wanted(param)).count();
        if count(|param| matches!(param, Param::Out { .. })) == 0 {
            return checker.fault("the function has no 'out' parameter");
        }
        if count(|param| matches!(param, Param::Scratch { .. })) > 1 {
            return checker.fault("a call has one scratch memory at most; ask for the sum");
        }
        let given = all.iter().filter_map(|param| match param {
            Param::In { capture, .. } => Some(capture),
            Param::Out { over, .. } => over.as_ref(),
            _ => None,
        });
        for capture in all.iter().filter_map(|param| param.over()) {
            if given.clone().filter(|other| *other == capture).count() > 1 {
                return checker.fault(format!(
                    "the call writes over '{capture}', which another parameter passes as well: pass it once"
                ));
            }
        }
        let later = self.params.iter().skip(1);
        if later.clone().any(|param| *param == Param::Device) {
            return checker.fault("'device' is the first parameter, if there is one");
        }
        Ok(())
    }
}

/// True if an operation computes each place of its result from the same place of operands: where its other operands
/// are single elements, or a table.
pub fn goes_by_places(op: &str, table: &OpTable) -> bool {
    const MAYBE: [&str; 3] = ["quantize_linear", "dequantize_linear", "gather"];
    table.traits(op).elementwise || MAYBE.contains(&op)
}

struct Checker<'a> {
    tokens: Tokens<'a>,
    text: &'a str,
    expr: &'a MatchExpr,
    resolved: &'a Resolved,
    names: &'a Names<'a>,
}

impl Checker<'_> {
    fn fault<T>(&self, message: impl Into<String>) -> PatternResult<T> {
        Err(self.tokens.error_at(Span { start: 0, end: self.text.len() }, message.into()))
    }

    fn param(&self, param: &Param) -> PatternResult<()> {
        match param {
            Param::In { capture, optional, layout } => {
                self.input(capture, *optional)?;
                self.blocks(layout.as_ref())
            }
            Param::Out { layout, over, .. } => {
                over.iter().try_for_each(|capture| self.over(capture))?;
                self.blocks(layout.as_ref())
            }
            Param::Scalar { ty, value } => {
                let found = check_scalar(self.text, value, self.names)?;
                let fits = match ty {
                    CType::Scalar(DType::Bool) => found == Ty::Bool,
                    CType::Scalar(dtype) if dtype.is_float() => found != Ty::Str,
                    // Whether another number is an integer shows in each match.
                    _ => found != Ty::Str && !matches!(value.kind, ExprKind::Float(_)),
                };
                if fits {
                    return Ok(());
                }
                let message = match ty {
                    CType::Scalar(DType::Bool) => format!(
                        "'{value}' is no condition, which a parameter of type bool takes: true, false, or \
                         a comparison"
                    ),
                    _ => format!("'{value}' does not fit the parameter's type {ty}"),
                };
                Err(self.tokens.error_at(value.span, message))
            }
            Param::Value(value) => match check_scalar(self.text, value, self.names)? {
                Ty::Str => {
                    let message = "a text is no field; write 'name X' for an enumerator";
                    Err(self.tokens.error_at(value.span, message))
                }
                _ => Ok(()),
            },
            Param::Const { values, .. } => check_values(self.text, values, self.names),
            Param::Scratch { bytes } => match check_scalar(self.text, bytes, self.names)? {
                Ty::Int | Ty::Number => Ok(()),
                _ => Err(self.tokens.error_at(bytes.span, "a size is an integer")),
            },
            Param::Device | Param::Name(_) | Param::Struct { .. } => Ok(()),
        }
    }

    fn blocks(&self, layout: Option<&Layout>) -> PatternResult<()> {
        let Some(Layout::Blocked(parts)) = layout else { return Ok(()) };
        for block in parts.iter().filter_map(BlockPart::block) {
            if check_scalar(self.text, block, self.names)? != Ty::Int {
                return Err(self.tokens.error_at(block.span, "the size of a block is an integer"));
            }
        }
        Ok(())
    }

    /// An operand that a call writes over is there, and no constant.
    fn over(&self, capture: &String) -> PatternResult<()> {
        if self.resolved.captures.contains(capture) && !self.resolved.always.contains(capture) {
            return self.fault(format!(
                "'{capture}' may be absent, and is written over: make a pattern of each case"
            ));
        }
        let mut constant = false;
        let nodes = self.expr.parts.iter().map(|part| &part.node).chain([&self.expr.root]);
        nodes.for_each(|node| {
            node.visit(&mut |node| {
                let is_it = node.capture.as_ref() == Some(capture);
                constant |= is_it && matches!(node.kind, NodeKind::Const | NodeKind::Number { .. });
            });
        });
        if constant {
            return self.fault(format!("'{capture}' is a constant, which nothing is written over"));
        }
        self.input(capture, false)
    }

    fn input(&self, capture: &String, optional: bool) -> PatternResult<()> {
        if !self.resolved.captures.contains(capture) {
            let known = self.resolved.captures.iter().map(String::as_str);
            let hint = suggestion(capture, known);
            return self.fault(format!("'{}' captures no '{capture}'{hint}", self.expr));
        }
        if !optional && !self.resolved.always.contains(capture) {
            return self.fault(format!(
                "'{capture}' may be absent; write 'in? {capture}', which passes a null pointer then"
            ));
        }
        Ok(())
    }
}
