//! The state of writing one function: what is known of its values, the names that are taken and the
//! lines so far.

use super::{
    context::Context,
    emission::Emission,
    expression::{Sum, Text},
    memory::Buffer,
    names::{Names, node_name},
    scalar::{CType, Expr, Level, fill, function_call, signed},
    session, words,
};
use crate::{
    ir::{self, Op, Val, memory::Memory, names, tir, view::OpView},
    pass::{PassError, PassResult},
};
use melior::ir::{Type, ValueLike, operation::OperationLike};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Characters up to which an expression is written where it is used instead of being given a name.
const INLINE_WIDTH: usize = 48;

/// Calling convention of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// By the host, with the device of its target first.
    #[default]
    Device,
    /// By functions of the same file, with the array of devices first.
    Internal,
    /// By the program that uses the model, under this name; `make-entry-point` describes how.
    Entry(String),
    /// By the device itself, once for each index of a grid.
    Launched,
}

/// Properties that the functions of a module share.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// C type of the target's device.
    pub device: String,
    /// The ids of the targets with a device, in the order of the array of devices.
    pub devices: Vec<String>,
    /// The memories of devices.
    pub memories: Vec<Memory>,
    /// The pools of the board, in the order in which the entry point is given them.
    pub pools: Vec<String>,
    /// Cleanup functions after a failure, for devices with memory, and the indices of these
    /// devices.
    pub settled: Vec<(String, usize)>,
    /// The devices that are activated around an inference.
    pub contexts: Vec<Context>,
    /// The functions of this module that are called within it.
    pub internal: BTreeSet<String>,
    /// The C of single operations, where it is not the usual.
    pub emissions: Vec<Emission>,
    /// Names that mean something in the file, which no variable may have.
    pub reserved: BTreeSet<String>,
}

/// A number in the function: an index is a sum, others are any expression.
#[derive(Clone, Debug)]
pub enum Scalar {
    /// Index arithmetic.
    Sum(Sum),
    /// Anything else.
    Expr(Expr),
}

/// State of the function that is printed, with what is known of its values.
pub struct Writer<'m> {
    scalars: HashMap<ir::Id, Scalar>,
    /// Buffers by their values; their handling is in `memory`.
    pub(super) buffers: HashMap<ir::Id, Buffer>,
    /// Calling convention of the function.
    pub(super) kind: Kind,
    /// Properties that it shares with the others of its module.
    pub(super) around: &'m Surroundings,
    /// The pointers to memory that is only read.
    pub(super) constants: BTreeSet<String>,
    /// The helper functions that it calls.
    pub(super) helpers: BTreeSet<&'static str>,
    /// The names that it has.
    pub(super) names: Names,
    /// Constant structures by type and content, of each block that is open.
    pub(super) structures: Vec<BTreeMap<(String, String), String>>,
    /// Declarations of buffers at fixed places, which stand before what uses them first.
    pub(super) later: HashMap<ir::Id, String>,
    comment: String,
    lines: String,
    loops: usize,
}

/// The C type of a value's type.
pub fn c_type<'c>(op: Op<'c>, ty: Type<'c>) -> PassResult<'c, CType> {
    CType::of(ty).ok_or_else(|| {
        PassError::at(&op, format!("has a value of type {ty}, which has no C equivalent"))
    })
}

impl<'m> Writer<'m> {
    /// A writer that knows no values.
    pub fn new(kind: Kind, around: &'m Surroundings) -> Self {
        Self {
            scalars: HashMap::new(),
            buffers: HashMap::new(),
            kind,
            around,
            constants: BTreeSet::new(),
            helpers: BTreeSet::new(),
            names: Names::new(&around.reserved),
            structures: vec![BTreeMap::new()],
            later: HashMap::new(),
            comment: String::new(),
            lines: String::new(),
            loops: 0,
        }
    }

    /// The lines, and the helper functions that they call.
    pub fn finish(self) -> (String, BTreeSet<&'static str>) {
        (self.lines, self.helpers)
    }

    /// One line of C.
    pub fn line(&mut self, text: impl AsRef<str>) {
        self.lines.push_str(text.as_ref());
        self.lines.push('\n');
    }

    /// A line that opens a block, the block, and the line that closes it.
    pub fn block<'c>(
        &mut self,
        head: impl AsRef<str>,
        body: impl FnOnce(&mut Self) -> PassResult<'c>,
    ) -> PassResult<'c> {
        self.line(format!("{}{{", head.as_ref()));
        self.scope(body)?;
        self.line("}");
        Ok(())
    }

    /// The inside of a block: what is declared there is known there alone.
    pub fn scope<'c>(&mut self, body: impl FnOnce(&mut Self) -> PassResult<'c>) -> PassResult<'c> {
        self.structures.push(BTreeMap::new());
        let result = body(self);
        self.structures.pop();
        result
    }

    /// True while the text stands in no block but the function's.
    pub fn is_outermost(&self) -> bool {
        self.structures.len() == 1
    }

    /// A loop that counts from the first bound up to the second by the third.
    pub fn for_loop<'c>(
        &mut self,
        ty: CType,
        [from, to, step]: [Text; 3],
        body: impl FnOnce(&mut Self, &str) -> PassResult<'c>,
    ) -> PassResult<'c> {
        let name = self.names.of_loop(self.loops);
        let step = match step.text.as_str() {
            "1" => format!("++{name}"),
            text => format!("{name} += {text}"),
        };
        self.loops += 1;
        let head =
            format!("for ({} {name} = {}; {name} < {}; {step}) ", ty.name(), from.text, to.text);
        self.block(head, |writer| body(writer, &name))?;
        self.loops -= 1;
        Ok(())
    }

    /// Records the number that a value stands for.
    pub fn know(&mut self, value: Val<'_>, scalar: Scalar) {
        self.scalars.insert(ir::id(value), scalar);
    }

    /// Records the expression that a value stands for.
    pub fn know_expr<'c>(&mut self, op: Op<'c>, value: Val<'c>, expr: Expr) -> PassResult<'c> {
        let scalar = match c_type(op, value.r#type())? {
            CType::Index => Scalar::Sum(match expr.as_number() {
                Some(number) => Sum::number(number),
                None => Sum::term(expr.at(Level::Unary)),
            }),
            _ => Scalar::Expr(expr),
        };
        self.know(value, scalar);
        Ok(())
    }

    /// Defines the result of an operation without effects: as the expression itself where that is
    /// short and used once, else as a variable.
    pub fn define<'c>(&mut self, op: Op<'c>, expr: Expr) -> PassResult<'c> {
        let result = ir::result0(op)?;
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
            self.constant(ty, "x", &expr)
        };
        self.know_expr(op, result, expr)
    }

    /// Declares a variable that keeps its value.
    pub fn constant(&mut self, ty: CType, stem: &'static str, value: &Expr) -> Expr {
        let name = self.names.numbered(stem);
        self.line(format!("const {} {name} = {};", ty.name(), signed(ty, value).text().text));
        Expr::atom(name)
    }

    /// Declares a variable that is assigned again.
    pub fn variable(&mut self, ty: CType, stem: &'static str, value: Option<&Expr>) -> Expr {
        let name = self.names.numbered(stem);
        let start =
            value.map(|value| format!(" = {}", signed(ty, value).text().text)).unwrap_or_default();
        self.line(format!("{} {name}{start};", ty.name()));
        Expr::new(Text::changing(name), Level::Atom)
    }

    /// The number that a value is, as an expression.
    pub fn expr<'c>(&self, op: Op<'c>, value: Val<'c>) -> PassResult<'c, Expr> {
        match self.scalars.get(&ir::id(value)) {
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
    pub fn sum<'c>(&self, op: Op<'c>, value: Val<'c>) -> PassResult<'c, Sum> {
        if let Some(Scalar::Sum(sum)) = self.scalars.get(&ir::id(value)) {
            return Ok(sum.clone());
        }
        let expr = self.expr(op, value)?;
        Ok(match expr.as_number() {
            Some(number) => Sum::number(number),
            None => Sum::term(expr.at(Level::Unary)),
        })
    }

    /// True for a pointer to memory that is only read.
    pub fn is_constant(&self, pointer: &str) -> bool {
        self.constants.contains(pointer)
    }

    /// True for a call that gives back a status: so says the call, and so do all functions here.
    pub fn returns_status(&self, op: Op<'_>) -> bool {
        tir::CallExtern::of(op).is_some_and(|call| call.returns_status()) || self.is_internal(op)
    }

    /// True for a call that is given a device, or the array of devices.
    pub fn passes_device(&self, op: Op<'_>) -> bool {
        tir::CallExtern::of(op).is_some_and(|call| call.with_device()) || self.is_internal(op)
    }

    /// True for a call of a function of the same module.
    fn is_internal(&self, op: Op<'_>) -> bool {
        tir::CallExtern::of(op).is_some_and(|call| self.around.internal.contains(call.callee()))
    }

    /// The device argument of a call: that of the function's own target, the one of the callee's
    /// target, or all of them.
    pub fn device<'c>(&self, op: Op<'c>) -> PassResult<'c, String> {
        if self.is_internal(op) && self.kind != Kind::Device {
            return Ok("devices".to_owned());
        }
        if self.kind == Kind::Device {
            let name = if op.has_attribute(names::SESSION) { "handle" } else { "device" };
            return Ok(name.to_owned());
        }
        let id = ir::attr_str(op, names::DEVICE).unwrap_or_default();
        let index = self.around.devices.iter().position(|device| *device == id);
        let in_session = self.around.memories.iter().any(|memory| memory.target == id)
            && !op.has_attribute(names::SESSION);
        let text = |index| match in_session {
            true => field(index, session::DEVICE),
            false => format!("devices[{index}]"),
        };
        index.map(text).ok_or_else(|| {
            PassError::at(
                &op,
                format!(
                    "passes the device of '{id}', which is not in phl.devices of the module; set \
                     phl.device to the id of a target that is"
                ),
            )
        })
    }

    /// The status that a function ends with when a call fails: of the entry point after devices have
    /// ended what they started.
    pub fn failure(&self) -> String {
        let status = "status".to_owned();
        if !matches!(self.kind, Kind::Entry(_)) {
            return status;
        }
        let ended = self.around.settled.iter();
        let settled = ended
            .fold(status, |status, (name, device)| format!("{name}(devices[{device}], {status})"));
        self.deactivated(settled, self.around.contexts.len())
    }

    /// A status after the first of the devices that are activated have been ended, the last one first.
    pub fn deactivated(&self, status: String, count: usize) -> String {
        let ended = self.around.contexts.iter().take(count).rev();
        ended.fold(status, |status, context| {
            format!("{}(devices[{}], {status})", context.deactivate, context.device)
        })
    }

    /// Calls a helper function, which is printed with the code.
    pub fn helper(&mut self, name: &'static str, arguments: &[Expr]) -> Expr {
        self.helpers.insert(name);
        function_call(name, arguments)
    }

    /// A comment with the name of the node that the following statements compute.
    pub fn note(&mut self, op: Op<'_>) {
        let name = node_name(op);
        if name.is_empty() || name == self.comment {
            return;
        }
        self.line(format!("/* {} */", words::comment(&name)));
        self.comment = name;
    }

    /// Assigns to a variable or an element.
    pub fn assign(&mut self, place: Text, value: Text) {
        self.line(fill("$0 = $1;", &[place, value]).text);
    }
}

/// A field of the session of a device.
pub fn field(device: usize, field: usize) -> String {
    format!("((void *const *)devices[{device}])[{field}]")
}

/// The error for an operation that cannot be written.
pub fn unsupported(op: Op<'_>) -> PassError<'_> {
    PassError::at(
        &op,
        "has no form in C; only structured loops and branches, arithmetic, math functions, \
         buffers and tir.call_extern do",
    )
}
