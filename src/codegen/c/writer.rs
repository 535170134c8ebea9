//! The statements of one function: what is known of its values, and which operation is written how.

use super::{
    arith, call, control,
    expression::{Sum, Text},
    function::{Kind, Surroundings},
    math,
    memory::{self, Buffer},
    scalar::{CType, Expr, Level, fill},
};
use crate::{
    ir::{self, Blk, Builder, Op, OpSpec, Val, call_extern::CallExtern, func},
    pass::PassError,
};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::collections::{BTreeSet, HashMap};

/// The result of a conversion.
pub type Failure<'c, T = ()> = Result<T, PassError<'c>>;

/// Characters up to which an expression is written where it is used instead of being given a name.
const INLINE_WIDTH: usize = 48;

/// A number in the function: an index is a sum, others are any expression.
#[derive(Clone, Debug)]
pub enum Scalar<'c> {
    /// Index arithmetic.
    Sum(Sum<'c>),
    /// Anything else.
    Expr(Expr<'c>),
}

/// What is known of the values of the function that is converted.
pub struct Writer<'c> {
    scalars: HashMap<usize, Scalar<'c>>,
    /// Buffers by their values; their handling is in `memory`.
    pub(super) buffers: HashMap<usize, Buffer<'c>>,
    /// How the function is called.
    pub(super) kind: Kind,
    /// What it shares with the others of its module.
    pub(super) around: Surroundings,
    /// The pointers to memory that is only read.
    pub(super) constants: BTreeSet<String>,
    /// The helper functions that it calls.
    pub(super) helpers: BTreeSet<&'static str>,
    comment: String,
    names: HashMap<&'static str, usize>,
}

/// What a value is known by.
pub fn key(value: Val<'_>) -> usize {
    value.to_raw().ptr as usize
}

/// The C type of a value's type.
pub fn c_type<'c>(op: Op<'c>, ty: Type<'c>) -> Failure<'c, CType> {
    CType::of(ty)
        .ok_or_else(|| PassError::at(&op, format!("has a value of type {ty}, which C has not")))
}

impl<'c> Writer<'c> {
    /// A writer that knows no values.
    pub fn new(kind: Kind, around: &Surroundings) -> Self {
        Self {
            scalars: HashMap::new(),
            buffers: HashMap::new(),
            kind,
            around: around.clone(),
            constants: BTreeSet::new(),
            helpers: BTreeSet::new(),
            comment: String::new(),
            names: HashMap::new(),
        }
    }

    /// Writes the operations of a block but its terminator's values.
    pub fn block(&mut self, b: &Builder<'c>, block: Blk<'c>) -> Failure<'c> {
        for op in ir::ops(block) {
            self.op(&b.with_location(op.location()), op)?;
        }
        Ok(())
    }

    fn op(&mut self, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
        let name = ir::op_name(op);
        if control::write(self, b, op)? || memory::write(self, b, op)? {
            return Ok(());
        }
        match name {
            "func.return" => {
                let zero = literal(b, "0", b.int(32))?;
                b.create("emitc.return", OpSpec { operands: &[zero], ..Default::default() })?;
                Ok(())
            }
            "tir.call_extern" => {
                self.note(b, op)?;
                let parts = CallExtern::of(op).ok_or_else(|| PassError::at(&op, "is malformed"))?;
                call::write(self, b, op, &parts)
            }
            _ if name.starts_with("math.") => math::write(self, b, op),
            _ => arith::write(self, b, op),
        }
    }

    /// A name that the function has not had yet: the stem and a number.
    pub fn name(&mut self, stem: &'static str) -> String {
        let count = self.names.entry(stem).or_default();
        *count += 1;
        format!("{stem}{}", *count - 1)
    }

    /// Says what a value is.
    pub fn know(&mut self, value: Val<'c>, scalar: Scalar<'c>) {
        self.scalars.insert(key(value), scalar);
    }

    /// Defines the result of an operation without effects: as the expression itself where that is
    /// short and used once, else as a variable.
    pub fn define(&mut self, b: &Builder<'c>, op: Op<'c>, expr: Expr<'c>) -> Failure<'c> {
        let result = ir::result0(op);
        let users = ir::users(result);
        let ty = c_type(op, result.r#type())?;
        let once = match users[..] {
            [] => return Ok(()),
            [user] => user.block() == op.block(),
            _ => false,
        };
        let expr = if expr.is_simple() || once && expr.width() <= INLINE_WIDTH {
            expr
        } else {
            self.variable(b, ty, "x", &expr, true)?
        };
        let scalar = match ty {
            CType::Index => Scalar::Sum(match expr.as_number() {
                Some(number) => Sum::number(number),
                None => Sum::term(expr.at(Level::Unary)),
            }),
            _ => Scalar::Expr(expr),
        };
        self.know(result, scalar);
        Ok(())
    }

    /// Declares a variable; gives its name.
    pub fn variable(
        &mut self,
        b: &Builder<'c>,
        ty: CType,
        stem: &'static str,
        value: &Expr<'c>,
        constant: bool,
    ) -> Failure<'c, Expr<'c>> {
        let name = self.name(stem);
        let constant = if constant { "const " } else { "" };
        let text = format!("{constant}{} {name} = $0;", ty.name());
        line(b, fill(&text, &[value.text()]))?;
        Ok(Expr::atom(name))
    }

    /// The number that a value is, as an expression.
    pub fn expr(&self, op: Op<'c>, value: Val<'c>) -> Failure<'c, Expr<'c>> {
        match self.scalars.get(&key(value)) {
            Some(Scalar::Expr(expr)) => Ok(expr.clone()),
            Some(Scalar::Sum(sum)) => Ok(match sum.as_number() {
                Some(number) if number >= 0 => Expr::atom(number.to_string()),
                Some(_) => Expr::new(sum.text(), Level::Unary),
                None if sum.is_term() => Expr::new(sum.text(), Level::Unary),
                None => Expr::new(sum.text(), Level::Sum),
            }),
            None => Err(PassError::at(
                &op,
                format!("has an operand of type {} with no form in C", value.r#type()),
            )),
        }
    }

    /// The index that a value is.
    pub fn sum(&self, op: Op<'c>, value: Val<'c>) -> Failure<'c, Sum<'c>> {
        if let Some(Scalar::Sum(sum)) = self.scalars.get(&key(value)) {
            return Ok(sum.clone());
        }
        let expr = self.expr(op, value)?;
        Ok(match expr.as_number() {
            Some(number) => Sum::number(number),
            None => Sum::term(expr.at(Level::Unary)),
        })
    }

    /// Whether a pointer is to memory that is only read.
    pub fn is_constant(&self, pointer: &str) -> bool {
        self.constants.contains(pointer)
    }

    /// Whether a call gives back a status: so says the call, and so do all functions here.
    pub fn returns_status(&self, op: Op<'c>) -> bool {
        ir::op_name(op) == "tir.call_extern"
            && (op.has_attribute("returns_status") || self.is_internal(op))
    }

    /// Whether a call is given a device, or the array of devices.
    pub fn passes_device(&self, op: Op<'c>) -> bool {
        ir::op_name(op) == "tir.call_extern"
            && (op.has_attribute("with_device") || self.is_internal(op))
    }

    /// Whether a call is to a function of the same module.
    fn is_internal(&self, op: Op<'c>) -> bool {
        let callee = func::symbol_ref(op, "callee").unwrap_or_default();
        self.around.internal.contains(&callee)
    }

    /// What a call passes as its device: that of the function's own target, the one of the callee's
    /// target, or all of them.
    pub fn device(&self, op: Op<'c>) -> Failure<'c, String> {
        if self.is_internal(op) && self.kind != Kind::Device {
            return Ok("devices".to_owned());
        }
        if self.kind == Kind::Device {
            return Ok("device".to_owned());
        }
        let id = ir::attr_str(op, "phl.device").unwrap_or_default();
        let index = self.around.devices.iter().position(|device| *device == id);
        index.map(|index| format!("devices[{index}]")).ok_or_else(|| {
            PassError::at(
                &op,
                format!(
                    "passes the device of '{id}', which is not in phl.devices of the module; set \
                     phl.device to the id of a target that is"
                ),
            )
        })
    }

    /// Calls a helper function, which is printed with the code.
    pub fn helper(&mut self, name: &'static str, arguments: &[Expr<'c>]) -> Expr<'c> {
        self.helpers.insert(name);
        function_call(name, arguments)
    }

    /// A comment with the name of the node that the following statements compute.
    pub fn note(&mut self, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
        let name = node_name(&op.location().to_string());
        if name.is_empty() || name == self.comment {
            return Ok(());
        }
        line(b, Text::plain(format!("/* {} */", name.replace("*/", "* /").replace('{', "{{"))))?;
        self.comment = name;
        Ok(())
    }
}

/// A call of a C function without effects.
pub fn function_call<'c>(name: &str, arguments: &[Expr<'c>]) -> Expr<'c> {
    let mut text = Text::plain(format!("{name}("));
    for (index, argument) in arguments.iter().enumerate() {
        text.push(if index > 0 { ", " } else { "" });
        text.append(argument.text());
    }
    text.push(")");
    Expr::new(text, Level::Atom)
}

/// The name in a location that has one.
fn node_name(location: &str) -> String {
    let Some(rest) = location.strip_prefix("loc(\"") else { return String::new() };
    match rest.split_once('"') {
        // A quote that a position follows is a file.
        Some((name, after)) if !after.starts_with(':') => name.to_owned(),
        _ => String::new(),
    }
}

/// The error for an operation that cannot be written.
pub fn unsupported(op: Op<'_>) -> PassError<'_> {
    PassError::at(
        &op,
        "has no form in C; only structured loops and branches, arithmetic, math functions, \
         buffers and tir.call_extern do",
    )
}

/// A literal of emitc: C text without values.
pub fn literal<'c>(b: &Builder<'c>, text: &str, ty: Type<'c>) -> crate::Result<Val<'c>> {
    b.op1_with("emitc.literal", &[], ty, vec![("value", b.str_attr(text))])
}

/// One line of C.
pub fn line<'c>(b: &Builder<'c>, text: Text<'c>) -> Failure<'c> {
    // Without values the text is taken as it is.
    let value = if text.values.is_empty() { text.text.replace("{{", "{") } else { text.text };
    let attributes = vec![("value", b.str_attr(&value))];
    let spec = OpSpec { operands: &text.values, attributes, ..Default::default() };
    b.create("emitc.verbatim", spec)?;
    Ok(())
}
