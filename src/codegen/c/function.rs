//! One function on planned buffers as an `emitc.func`.
//!
//! Loops, branches and functions are emitc operations; statements are `emitc.verbatim` whose text
//! has the names that a reader wants, which emitc's own variables have not.

use super::{
    expression::{Sum, Text},
    memory::{Base, Buffer},
    scalar::CType,
    writer::{Failure, Writer, key, line},
};
use crate::{
    ir::{self, Blk, Builder, Op, OpSpec, Val, edit, func},
    pass::PassError,
};
use melior::ir::{
    Block, Region, RegionLike, Type, ValueLike, attribute::TypeAttribute, block::BlockLike,
    r#type::FunctionType,
};
use std::collections::{BTreeSet, HashMap};

/// How a function is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Kind {
    /// By the host, with the device of its target first.
    #[default]
    Device,
    /// By functions of the same file, with the array of devices first.
    Internal,
    /// By the program that uses the model, under this name; `make-entry-point` describes how.
    Entry(String),
}

/// What the functions of a module have in common.
#[derive(Clone, Debug, Default)]
pub struct Surroundings {
    /// C type of the target's device.
    pub device: String,
    /// The ids of the targets with a device, in the order of the array of devices.
    pub devices: Vec<String>,
    /// The functions of this module that are called within it.
    pub internal: BTreeSet<String>,
}

/// Replaces a `func.func` by an `emitc.func`; gives the helper functions that it calls.
pub fn convert<'c>(
    function: Op<'c>,
    kind: Kind,
    around: &Surroundings,
) -> Failure<'c, BTreeSet<&'static str>> {
    let Some(body) = edit::entry_block(function) else {
        edit::erase(function);
        return Ok(BTreeSet::new());
    };
    let b = Builder::before(function)?;
    let parameters = parameters(function, &func::Signature::of(function)?)?;
    let types = argument_types(&b, &kind, &parameters)?;
    let region = Region::new();
    let arguments: Vec<_> = types.iter().map(|ty| (*ty, b.location)).collect();
    let block = region.append_block(Block::new(&arguments));
    // SAFETY: the block belongs to the region that the function takes over, so it lives on.
    let block = unsafe { Blk::from_raw(block.to_raw()) };
    let inside = Builder::at_end(b.context, block, b.location);
    let mut writer = Writer::new(kind.clone(), around);
    writer.prologue(&inside, function, &parameters)?;
    writer.block(&inside, body)?;
    let name = match &kind {
        Kind::Entry(name) => name.clone(),
        _ => func::symbol(function),
    };
    let mut attributes = vec![
        ("sym_name", b.str_attr(&name)),
        (
            "function_type",
            TypeAttribute::new(FunctionType::new(b.context, &types, &[b.int(32)]).into()).into(),
        ),
    ];
    if kind == Kind::Internal {
        attributes.push(("specifiers", b.parse_attr("[\"static\"]")?));
    }
    b.create("emitc.func", OpSpec { attributes, regions: vec![region], ..Default::default() })?;
    edit::erase(function);
    Ok(writer.helpers)
}

/// The types of the C function's parameters.
fn argument_types<'c>(
    b: &Builder<'c>,
    kind: &Kind,
    parameters: &[Parameter<'c>],
) -> Failure<'c, Vec<Type<'c>>> {
    const ENTRY: [&str; 6] =
        ["const void *const", "void *const", "const void", "void", "void *const", "void"];
    let pointer = |text: &str| b.parse_type(&format!("!emitc.ptr<!emitc.opaque<\"{text}\">>"));
    let first = match kind {
        Kind::Entry(_) => {
            return Ok(ENTRY.iter().map(|ty| pointer(ty)).collect::<Result<_, _>>()?);
        }
        Kind::Device => pointer("void")?,
        Kind::Internal => pointer("void *const")?,
    };
    let mut types = vec![first];
    for parameter in parameters {
        types.push(pointer(&parameter.c_type)?);
    }
    Ok(types)
}

/// A buffer that the function is given.
pub(super) struct Parameter<'c> {
    value: Val<'c>,
    name: String,
    /// What it points to.
    c_type: String,
    /// What it is for: `input`, `output`, `arena`, `constants`.
    role: String,
}

fn parameters<'c>(
    function: Op<'c>,
    signature: &func::Signature<'c>,
) -> Failure<'c, Vec<Parameter<'c>>> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    let mut found = vec![];
    for (index, (ty, attributes)) in signature.arguments.iter().enumerate() {
        let role = attributes.iter().find(|(name, _)| name == "phl.io");
        let role = role.and_then(|(_, value)| edit::string(*value)).unwrap_or_default();
        let element = CType::of(ir::element_type(*ty)).filter(|_| ir::is_memref(*ty));
        let value = func::argument(function, index);
        let (Some(element), Some(value)) = (element, value) else {
            return Err(PassError::at(
                &function,
                format!("has a parameter of type {ty}, which cannot be passed to C"),
            ));
        };
        let (stem, is_constant) = match &*role {
            "output" => ("out", false),
            "arena" => ("arena", false),
            "input" => ("in", true),
            _ => ("weights", true),
        };
        let count = counts.entry(stem.to_owned()).or_default();
        let name = if stem == "arena" { stem.to_owned() } else { format!("{stem}{count}") };
        *count += 1;
        let element = element.name();
        let c_type = if is_constant { format!("const {element}") } else { element.to_owned() };
        found.push(Parameter { value, name, c_type, role });
    }
    if signature.results.is_empty() {
        return Ok(found);
    }
    Err(PassError::at(&function, "returns values: run convert-functions-to-dps first"))
}

impl<'c> Writer<'c> {
    /// Gives the parameters names.
    fn prologue(
        &mut self,
        b: &Builder<'c>,
        function: Op<'c>,
        parameters: &[Parameter<'c>],
    ) -> Failure<'c> {
        let values = edit::arguments(b.block());
        let uses_device = edit::walk(function).iter().any(|op| self.passes_device(*op));
        let mut used = vec![false; values.len()];
        let device = if self.kind == Kind::Device { 0 } else { self.devices_parameter() };
        let device_type = match self.kind {
            Kind::Device => format!("{} *const device", self.around.device),
            _ => "void *const *const devices".to_owned(),
        };
        if uses_device {
            let text = format!("{device_type} = {{}};");
            line(b, Text { text, values: vec![values[device]] })?;
            used[device] = true;
        }
        let mut next = [0; 2];
        for (index, parameter) in parameters.iter().enumerate() {
            let (argument, place) = match self.kind {
                Kind::Entry(_) => entry_place(function, &parameter.role, &mut next)?,
                _ => (index + 1, String::new()),
            };
            self.place(parameter);
            if ir::users(parameter.value).is_empty() {
                continue;
            }
            used[argument] = true;
            let text = format!("{} *const {} = {{}}{place};", parameter.c_type, parameter.name);
            line(b, Text { text, values: vec![values[argument]] })?;
        }
        for (value, _) in values.iter().zip(used).filter(|(_, used)| !used) {
            line(b, Text { text: "(void){};".to_owned(), values: vec![*value] })?;
        }
        if edit::walk(function).iter().any(|op| self.returns_status(*op)) {
            line(b, Text::plain("int32_t status = 0;"))?;
        }
        Ok(())
    }

    /// A parameter is where its pointer points.
    fn place(&mut self, parameter: &Parameter<'c>) {
        let element = CType::of(ir::element_type(parameter.value.r#type()));
        let buffer = Buffer {
            base: Base::Pointer(parameter.name.clone()),
            offset: Sum::default(),
            element: element.map_or(1, CType::bytes),
        };
        self.buffers.insert(key(parameter.value), buffer);
        if parameter.c_type.starts_with("const ") {
            self.constants.insert(parameter.name.clone());
        }
    }

    /// Which argument is the array of devices.
    fn devices_parameter(&self) -> usize {
        if matches!(self.kind, Kind::Entry(_)) { 4 } else { 0 }
    }
}

/// The argument of the entry point that a buffer of the main function comes from, and where in it.
fn entry_place<'c>(
    function: Op<'c>,
    role: &str,
    next: &mut [usize; 2],
) -> Failure<'c, (usize, String)> {
    let list = match role {
        "constants" => return Ok((2, String::new())),
        "arena" => return Ok((3, String::new())),
        "input" => 0,
        "output" => 1,
        _ => {
            return Err(PassError::at(
                &function,
                format!("has an argument whose phl.io is '{role}', which no entry point is given"),
            ));
        }
    };
    next[list] += 1;
    Ok((list, format!("[{}]", next[list] - 1)))
}
