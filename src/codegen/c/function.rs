//! One function on planned buffers as a C function.

use super::{
    context::{Calls, is_in_session},
    expression::Sum,
    memory::{Base, Buffer},
    names::value_name,
    scalar::{CType, Expr},
    session, statement,
    writer::{Kind, Surroundings, Writer, field},
};
use crate::{
    ir::{
        self, Op, Val, edit, func, memory,
        names::{self, IO, NAME},
        tir,
    },
    pass::{PassError, PassResult},
};
use melior::ir::operation::OperationLike;
use std::collections::BTreeSet;

/// The parameters of the entry point, by what they are for.
const ENTRY: [(&str, &str); 6] = [
    ("inputs", "const void *const *"),
    ("outputs", "void *const *"),
    ("constants", "const void *"),
    ("arena", "void *"),
    ("devices", "void *const *"),
    ("pool", "void *"),
];

/// The same on a board: there are several blocks of constants and of working memory.
const ENTRY_OF_BOARD: [(&str, &str); 6] = [
    ENTRY[0],
    ENTRY[1],
    ("constants", "const void *const *"),
    ("arena", "void *const *"),
    ENTRY[4],
    ENTRY[5],
];

/// Calls from which on a function is not optimised, if they are all that it has: compilers take
/// minutes for thousands of them, and find nothing.
const MANY_CALLS: usize = 1000;

/// Attribute that keeps compilers from optimising a function.
const UNOPTIMISED: [&str; 5] = [
    "#if defined(__clang__)",
    "__attribute__((optnone))",
    "#elif defined(__GNUC__)",
    "__attribute__((optimize(\"O0\")))",
    "#endif",
];

/// The text of a function that has a body, and the helper functions that it calls.
pub fn print<'c>(
    function: Op<'c>,
    kind: Kind,
    around: &Surroundings,
) -> PassResult<'c, (String, BTreeSet<&'static str>)> {
    let body =
        edit::entry_block(function).ok_or_else(|| PassError::at(&function, "has no body"))?;
    let mut writer = Writer::new(kind.clone(), around);
    let buffers = buffers(&mut writer, function, &func::Signature::of(function)?)?;
    let calls = Calls::of(function).filter(|_| kind == Kind::Device);
    let symbol = func::symbol(function);
    let (specifier, name) = match &kind {
        Kind::Entry(name) => ("", name.clone()),
        Kind::Internal => ("static ", symbol.clone()),
        // What is called around it is in the function of that name.
        Kind::Device if calls.is_some() => ("static ", format!("{symbol}_active")),
        Kind::Device | Kind::Launched => ("", symbol.clone()),
    };
    let in_session = is_in_session(function);
    let owned = |(ty, name): (&str, &str)| (ty.to_owned(), name.to_owned());
    let parameters: Vec<(String, String)> = match &kind {
        Kind::Entry(_) => {
            let entry = if around.pools.is_empty() { ENTRY } else { ENTRY_OF_BOARD };
            entry.iter().map(|(name, ty)| owned((ty, name))).collect()
        }
        _ => {
            let device = match (&kind, &*around.device) {
                (Kind::Internal, _) => ("void *const *", "devices"),
                (_, "void") if !in_session => ("void *", "device"),
                _ => ("void *", "handle"),
            };
            let buffers = buffers.iter();
            let buffers = buffers.map(|buffer| (buffer.declared(), buffer.name.clone()));
            std::iter::once(owned(device)).chain(buffers).collect()
        }
    };
    if kind == Kind::Device && is_long_row(function) {
        UNOPTIMISED.iter().for_each(|line| writer.line(*line));
    }
    let typed: Vec<_> = parameters.iter().map(|(ty, name)| format!("{ty}{name}")).collect();
    let typed = typed.join(", ");
    writer.line(format!("{specifier}int32_t {name}({typed}) {{"));
    prologue(&mut writer, function, &buffers)?;
    statement::block(&mut writer, body)?;
    writer.line("}");
    let (mut text, helpers) = writer.finish();
    if specifier.is_empty() && kind != Kind::Launched {
        text.insert_str(0, &format!("int32_t {name}({typed});\n"));
    }
    if let Some(calls) = calls {
        text += &calls.around((&symbol, &name), &parameters, in_session);
    }
    Ok((text, helpers))
}

/// True for a function with very many calls, and no loops.
fn is_long_row(function: Op<'_>) -> bool {
    let ops = edit::walk(function);
    let calls = ops.iter().filter(|op| ir::op_name(**op) == tir::CallExtern::NAME).count();
    calls >= MANY_CALLS && ops.iter().all(|op| op.region_count() == 0)
}

/// A buffer that the function is given.
pub(super) struct Parameter<'c> {
    pub(super) value: Val<'c>,
    pub(super) name: String,
    /// C type that it points to; for a number, its own type.
    pub(super) ty: String,
    /// Role of the buffer: `input`, `output`, `arena`, `constants`.
    role: String,
    /// The memory of a device, or pool of the board, that it is in; empty for the host's.
    space: String,
}

impl Parameter<'_> {
    /// Text before the name in a list of parameters.
    fn declared(&self) -> String {
        match self.role == names::NUMBER {
            true => format!("const {} ", self.ty),
            false => format!("{} *", self.ty),
        }
    }
}

/// The buffers, and numbers, which the writer knows from then on.
pub(super) fn buffers<'c>(
    writer: &mut Writer<'_>,
    function: Op<'c>,
    signature: &func::Signature<'c>,
) -> PassResult<'c, Vec<Parameter<'c>>> {
    if !signature.results.is_empty() {
        return Err(PassError::at(&function, "returns values: run convert-functions-to-dps first"));
    }
    let mut found = vec![];
    for (index, (ty, attributes)) in signature.arguments.iter().enumerate() {
        let text = |wanted: &str| {
            let attribute = attributes.iter().find(|(name, _)| name == wanted);
            attribute.and_then(|(_, value)| edit::string(*value)).unwrap_or_default()
        };
        let (role, space) = (text(IO), memory::of_argument(attributes));
        let is_number = role == names::NUMBER && !ir::is_memref(*ty);
        let element = CType::of(ir::element_type(*ty)).filter(|_| is_number || ir::is_memref(*ty));
        let value = func::argument(function, index);
        let (Some(element), Some(value)) = (element, value) else {
            return Err(PassError::at(
                &function,
                format!("has a parameter of type {ty}, which cannot be passed to C"),
            ));
        };
        if is_number {
            let (name, ty) = (writer.names.numbered("n"), element.name().to_owned());
            writer.know_expr(function, value, Expr::atom(name.clone()))?;
            found.push(Parameter { value, name, ty, role, space });
            continue;
        }
        let name = buffer_name(writer, &role, || [text(NAME), value_name(value)]);
        let written =
            matches!(&*role, "output" | "arena" | names::DEVICE_ARENA | names::POOL_ARENA);
        let constant = if written { "" } else { "const " };
        let buffer = Buffer {
            base: Base::Pointer(name.clone()),
            offset: Sum::default(),
            element: element.bytes(),
        };
        writer.buffers.insert(ir::id(value), buffer);
        if !constant.is_empty() {
            writer.constants.insert(name.clone());
        }
        found.push(Parameter {
            value,
            name,
            ty: format!("{constant}{}", element.name()),
            role,
            space,
        });
    }
    Ok(found)
}

/// Name of a buffer in C; `known` are its names in the model.
fn buffer_name(writer: &mut Writer<'_>, role: &str, known: impl FnOnce() -> [String; 2]) -> String {
    let entry = matches!(writer.kind, Kind::Entry(_));
    match role {
        "arena" if entry => "memory".to_owned(),
        "arena" => "arena".to_owned(),
        "constants" => "weights".to_owned(),
        names::POOL_ARENA => writer.names.numbered(if entry { "memory" } else { "arena" }),
        names::DEVICE_ARENA => writer.names.numbered("values"),
        names::POOL_CONSTANTS | names::DEVICE_CONSTANTS => writer.names.numbered("weights"),
        _ => {
            let stem = if role == "output" { "out" } else { "in" };
            let like = known().iter().find_map(|name| writer.names.like(name));
            like.unwrap_or_else(|| writer.names.numbered(stem))
        }
    }
}

/// Writes the lines before the statements: the entry point's buffers, casts to `void` of unused
/// parameters, the status, and the activation of devices.
fn prologue<'c>(
    writer: &mut Writer<'_>,
    function: Op<'c>,
    buffers: &[Parameter<'c>],
) -> PassResult<'c> {
    let ops = edit::walk(function);
    let given: Vec<_> = ops.iter().filter(|op| writer.passes_device(**op)).collect();
    // A device's own function may pass its session on.
    let is_on = |op: &Op<'c>| writer.kind == Kind::Device && op.has_attribute(names::SESSION);
    let uses_session = given.iter().any(|op| is_on(op));
    let uses_device = given.iter().any(|op| !is_on(op));
    let is_entry = matches!(writer.kind, Kind::Entry(_));
    let returns_status = ops.iter().any(|op| writer.returns_status(*op))
        || (is_entry && !writer.around.contexts.is_empty());
    let in_session = writer.kind == Kind::Device && is_in_session(function);
    let own_type = writer.kind == Kind::Device && (writer.around.device != "void" || in_session);
    let mut unused = vec![];
    match (own_type, uses_device) {
        (true, true) => {
            let device = if in_session { session::DEVICE_OF_HANDLE } else { "handle" };
            writer.line(format!("{} *const device = {device};", writer.around.device));
        }
        (true, false) if uses_session => {}
        (true, false) => unused.push("handle"),
        (false, false) if writer.kind == Kind::Device => unused.push("device"),
        (false, false) if is_entry && !writer.around.contexts.is_empty() => {}
        (false, false) => unused.push("devices"),
        (false, true) => {}
    }
    let is_used = |parameter: &Parameter<'c>| !ir::users(parameter.value).is_empty();
    if let Kind::Entry(_) = writer.kind {
        let mut used = BTreeSet::new();
        let mut next = [0; 2];
        for parameter in buffers {
            let around = writer.around;
            let (argument, place) = entry_place(function, parameter, around, &mut next)?;
            if is_used(parameter) {
                used.insert(argument);
                writer.line(format!("{} *const {} = {place};", parameter.ty, parameter.name));
            }
        }
        let names = ENTRY.iter().map(|(name, _)| *name).filter(|name| *name != "devices");
        unused.extend(names.filter(|name| !used.contains(name)));
    } else {
        unused.extend(buffers.iter().filter(|buffer| !is_used(buffer)).map(|b| &*b.name));
    }
    for name in unused {
        writer.line(format!("(void){name};"));
    }
    if returns_status {
        writer.line("int32_t status = 0;");
    }
    if is_entry {
        activate(writer);
    }
    Ok(())
}

/// Activates the devices that are, one after the other; where one fails, those before it are ended.
fn activate(writer: &mut Writer<'_>) {
    for (index, context) in writer.around.contexts.iter().enumerate() {
        let (call, device) = (&context.activate, context.device);
        let status = writer.deactivated("status".to_owned(), index);
        writer.line(format!("if ((status = {call}(devices[{device}])) != 0) return {status};"));
    }
}

/// The argument of the entry point that a buffer of the main function comes from, and how.
fn entry_place<'c>(
    function: Op<'c>,
    parameter: &Parameter<'c>,
    around: &Surroundings,
    next: &mut [usize; 2],
) -> PassResult<'c, (&'static str, String)> {
    let role = &*parameter.role;
    let (list, name) = match role {
        names::DEVICE_ARENA | names::DEVICE_CONSTANTS => {
            let place =
                if role == names::DEVICE_ARENA { session::VALUES } else { session::CONSTANTS };
            let memory = around.memories.iter().find(|memory| memory.space == parameter.space);
            let device = memory.and_then(|memory| {
                around.devices.iter().position(|device| *device == memory.target)
            });
            let device = device.ok_or_else(|| {
                let space = &parameter.space;
                PassError::at(&function, format!("has values in '{space}', which no device has"))
            })?;
            return Ok(("devices", field(device, place)));
        }
        names::POOL_ARENA | names::POOL_CONSTANTS => {
            let list = if role == names::POOL_ARENA { "arena" } else { "constants" };
            let place = around.pools.iter().position(|pool| *pool == parameter.space);
            let place = place.ok_or_else(|| {
                let pool = &parameter.space;
                PassError::at(
                    &function,
                    format!("has values in pool '{pool}', which the board lacks"),
                )
            })?;
            return Ok((list, format!("{list}[{place}]")));
        }
        "constants" => return Ok(("constants", "constants".to_owned())),
        "arena" => return Ok(("arena", "arena".to_owned())),
        "input" => (0, "inputs"),
        "output" => (1, "outputs"),
        _ => {
            return Err(PassError::at(
                &function,
                format!("has an argument whose phl.io is '{role}', which no entry point is given"),
            ));
        }
    };
    next[list] += 1;
    Ok((name, format!("{name}[{}]", next[list] - 1)))
}
