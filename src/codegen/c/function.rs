//! One function on planned buffers as an `emitc.func`.
//!
//! Loops and functions are emitc operations; statements are `emitc.verbatim` whose text has the
//! names that a reader wants, which emitc's own variables have not.

use super::{
    call,
    expression::{Sum, Text},
};
use crate::{
    ir::{self, Blk, Builder, Op, OpSpec, Val, call_extern::CallExtern, edit, func, memref},
    pass::PassError,
};
use melior::ir::{
    Block, Region, RegionLike, Type, ValueLike, attribute::TypeAttribute, block::BlockLike,
    operation::OperationLike, r#type::FunctionType,
};
use std::collections::HashMap;

/// The result of a conversion.
pub type Failure<'c, T = ()> = Result<T, PassError<'c>>;

/// Where a buffer is.
#[derive(Clone, Debug)]
pub enum Base {
    /// In the host's memory, behind a pointer variable to its elements.
    Pointer(String),
    /// In a device's memory, so many bytes from its start.
    Space(i64),
}

/// A buffer: a place so many elements behind its base.
#[derive(Clone, Debug)]
pub struct Buffer<'c> {
    /// Where it is.
    pub base: Base,
    /// In elements.
    pub offset: Sum<'c>,
    /// Bytes of an element.
    pub element: i64,
}

/// What is known of the values of the function that is converted.
pub struct Writer<'c> {
    sums: HashMap<usize, Sum<'c>>,
    buffers: HashMap<usize, Buffer<'c>>,
    comment: String,
    temporaries: usize,
}

fn key(value: Val<'_>) -> usize {
    value.to_raw().ptr as usize
}

/// The C type of a scalar, and its size.
pub fn c_type(ty: Type<'_>) -> Option<(&'static str, i64)> {
    Some(match &*ty.to_string() {
        "f32" => ("float", 4),
        "f64" => ("double", 8),
        "i1" => ("bool", 1),
        "i8" => ("int8_t", 1),
        "i16" | "f16" | "bf16" => ("int16_t", 2),
        "i32" => ("int32_t", 4),
        "i64" => ("int64_t", 8),
        "index" => ("size_t", 8),
        _ => return None,
    })
}

/// Replaces a `func.func` by an `emitc.func`.
pub fn convert<'c>(function: Op<'c>, device: &str) -> Failure<'c> {
    let Some(body) = edit::entry_block(function) else {
        edit::erase(function);
        return Ok(());
    };
    let b = Builder::before(function)?;
    let signature = func::Signature::of(function)?;
    let mut writer = Writer {
        sums: HashMap::new(),
        buffers: HashMap::new(),
        comment: String::new(),
        temporaries: 0,
    };
    let parameters = parameters(function, &signature)?;
    let mut types = vec![b.parse_type("!emitc.ptr<!emitc.opaque<\"void\">>")?];
    for parameter in &parameters {
        types.push(b.parse_type(&format!("!emitc.ptr<!emitc.opaque<\"{}\">>", parameter.c_type))?);
    }
    let region = Region::new();
    let arguments: Vec<_> = types.iter().map(|ty| (*ty, b.location)).collect();
    let block = region.append_block(Block::new(&arguments));
    // SAFETY: the block belongs to the region that the function takes over, so it lives on.
    let block = unsafe { Blk::from_raw(block.to_raw()) };
    let inside = Builder::at_end(b.context, block, b.location);
    writer.prologue(&inside, device, function, &parameters)?;
    writer.block(&inside, body)?;
    let attributes = vec![
        ("sym_name", b.str_attr(&func::symbol(function))),
        (
            "function_type",
            TypeAttribute::new(FunctionType::new(b.context, &types, &[b.int(32)]).into()).into(),
        ),
    ];
    b.create("emitc.func", OpSpec { attributes, regions: vec![region], ..Default::default() })?;
    edit::erase(function);
    Ok(())
}

/// A buffer that the function is given.
struct Parameter<'c> {
    value: Val<'c>,
    name: String,
    /// What it points to.
    c_type: String,
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
        let element = c_type(ir::element_type(*ty)).filter(|_| ir::is_memref(*ty));
        let value = func::argument(function, index);
        let (Some((element, _)), Some(value)) = (element, value) else {
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
        let c_type = if is_constant { format!("const {element}") } else { element.to_owned() };
        found.push(Parameter { value, name, c_type });
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
        device: &str,
        function: Op<'c>,
        parameters: &[Parameter<'c>],
    ) -> Failure<'c> {
        let values = edit::arguments(b.block());
        let uses_device = edit::walk(function).iter().any(|op| op.has_attribute("with_device"));
        let name = |c_type: &str, name: &str, value: Val<'c>, used: bool| {
            let text = if used {
                format!("{c_type} *const {name} = {{}};")
            } else {
                "(void){};".to_owned()
            };
            line(b, Text { text, values: vec![value] })
        };
        name(device, "device", values[0], uses_device)?;
        for (parameter, value) in parameters.iter().zip(&values[1..]) {
            let used = !ir::users(parameter.value).is_empty();
            name(&parameter.c_type, &parameter.name, *value, used)?;
            let element = c_type(ir::element_type(parameter.value.r#type()));
            let buffer = Buffer {
                base: Base::Pointer(parameter.name.clone()),
                offset: Sum::default(),
                element: element.map_or(1, |(_, bytes)| bytes),
            };
            self.buffers.insert(key(parameter.value), buffer);
        }
        if edit::walk(function).iter().any(|op| op.has_attribute("returns_status")) {
            line(b, Text::plain("int32_t status = 0;"))?;
        }
        Ok(())
    }

    fn block(&mut self, b: &Builder<'c>, block: Blk<'c>) -> Failure<'c> {
        for op in ir::ops(block) {
            self.op(&b.with_location(op.location()), op)?;
        }
        Ok(())
    }

    fn op(&mut self, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
        let operand = |index: usize| -> Failure<'c, Val<'c>> { Ok(op.operand(index)?) };
        match ir::op_name(op) {
            "scf.for" => self.repeat(b, op)?,
            "scf.yield" => {}
            "func.return" => {
                let zero = literal(b, "0", b.int(32))?;
                b.create("emitc.return", OpSpec { operands: &[zero], ..Default::default() })?;
            }
            "tir.call_extern" => {
                self.note(b, op)?;
                let parts = CallExtern::of(op).ok_or_else(|| PassError::at(&op, "is malformed"))?;
                call::write(self, b, op, &parts)?;
            }
            "tir.buffer" => {
                let result = ir::result0(op);
                let at = ir::attr_i64(op, "offset").unwrap_or_default();
                self.define(op, result, Base::Space(at), Sum::default())?;
            }
            "memref.view" => self.view(b, op)?,
            "memref.subview" | "memref.reinterpret_cast" => self.part(op)?,
            "memref.cast" | "memref.collapse_shape" | "memref.expand_shape" => {
                let source = self.buffer(op, operand(0)?)?.clone();
                self.buffers.insert(key(ir::result0(op)), source);
            }
            "memref.copy" => {
                self.note(b, op)?;
                self.copy(b, op)?;
            }
            "memref.alloc" | "memref.dealloc" => {
                return Err(PassError::at(&op, "has no planned place: run plan-memory first"));
            }
            "memref.get_global" => {
                return Err(PassError::at(
                    &op,
                    "reads a constant that is in no parameter: run \
                     pack-constants first",
                ));
            }
            _ => {
                let sum = self.arithmetic(op)?;
                self.sums.insert(key(ir::result0(op)), sum);
            }
        }
        Ok(())
    }

    fn arithmetic(&self, op: Op<'c>) -> Failure<'c, Sum<'c>> {
        let name = ir::op_name(op);
        let operands: Vec<_> = ir::operands(op)
            .into_iter()
            .map(|value| self.sum(op, value))
            .collect::<Result<_, _>>()?;
        Ok(match (name, &operands[..]) {
            ("arith.constant", []) => {
                let value = ir::attr_i64(op, "value");
                Sum::number(value.ok_or_else(|| unsupported(op))?)
            }
            ("arith.index_cast" | "arith.index_castui", [a]) => a.clone(),
            ("arith.addi", [a, b]) => a.plus(b),
            ("arith.subi", [a, b]) => a.plus(&b.times(-1)),
            ("arith.muli", [a, b]) => match (a.as_number(), b.as_number()) {
                (_, Some(factor)) => a.times(factor),
                (Some(factor), _) => b.times(factor),
                _ => Sum::binary("*", a, b),
            },
            ("arith.remui" | "arith.remsi", [a, b]) => match (a.as_number(), b.as_number()) {
                (Some(a), Some(b)) if b != 0 => Sum::number(a % b),
                _ => Sum::binary("%", a, b),
            },
            ("arith.divui" | "arith.divsi", [a, b]) => match (a.as_number(), b.as_number()) {
                (Some(a), Some(b)) if b != 0 => Sum::number(a / b),
                _ => Sum::binary("/", a, b),
            },
            _ => return Err(unsupported(op)),
        })
    }

    /// The integer that a value is.
    pub fn sum(&self, op: Op<'c>, value: Val<'c>) -> Failure<'c, Sum<'c>> {
        self.sums.get(&key(value)).cloned().ok_or_else(|| {
            PassError::at(
                &op,
                format!("has an operand of type {} with no form in C", value.r#type()),
            )
        })
    }

    /// The place that a buffer is.
    pub fn buffer(&self, op: Op<'c>, value: Val<'c>) -> Failure<'c, &Buffer<'c>> {
        self.buffers.get(&key(value)).ok_or_else(|| {
            PassError::at(&op, format!("has a buffer {} with no place in C", value.r#type()))
        })
    }

    fn define(&mut self, op: Op<'c>, value: Val<'c>, base: Base, offset: Sum<'c>) -> Failure<'c> {
        let element = c_type(ir::element_type(value.r#type())).ok_or_else(|| unsupported(op))?.1;
        self.buffers.insert(key(value), Buffer { base, offset, element });
        Ok(())
    }

    /// A part of a buffer: its start moves by whole elements.
    fn part(&mut self, op: Op<'c>) -> Failure<'c> {
        let operands = ir::operands(op);
        let offsets = ir::attr_i64s(op, "static_offsets").unwrap_or_default();
        let source = self.buffer(op, operands[0])?.clone();
        let recast = ir::op_name(op) == "memref.reinterpret_cast";
        let strides = if recast {
            vec![1]
        } else {
            memref::static_strides(operands[0].r#type()).ok_or_else(|| unsupported(op))?
        };
        // A recast counts from the start of the memory, other parts from the buffer's.
        let mut offset = if recast { Sum::default() } else { source.offset };
        let mut values = operands[1..].iter();
        for (known, stride) in offsets.iter().zip(&strides) {
            let step = if *known == ir::DYNAMIC {
                let value = values.next().ok_or_else(|| unsupported(op))?;
                self.sum(op, *value)?
            } else {
                Sum::number(*known)
            };
            offset = offset.plus(&step.times(*stride));
        }
        self.define(op, ir::result0(op), source.base, offset)
    }

    /// A typed buffer in a block of bytes gets a variable.
    fn view(&mut self, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
        let result = ir::result0(op);
        let source = self.buffer(op, op.operand(0)?)?.clone();
        let shift = self.sum(op, op.operand(1)?)?;
        let Base::Pointer(name) = &source.base else { return Err(unsupported(op)) };
        let element = c_type(ir::element_type(result.r#type())).ok_or_else(|| unsupported(op))?.0;
        let variable = format!("t{}", self.temporaries);
        self.temporaries += 1;
        if !ir::users(result).is_empty() {
            let mut text = Text::plain(format!("{element} *const {variable} = ({element} *)"));
            text.append(pointer(name, &source.offset.plus(&shift), true));
            text.push(";");
            line(b, text)?;
        }
        self.define(op, result, Base::Pointer(variable), Sum::default())
    }

    fn repeat(&mut self, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
        self.note(b, op)?;
        let operands = ir::operands(op);
        let mut bounds = vec![];
        for value in &operands[..3] {
            let number = self.sum(op, *value)?.as_number().ok_or_else(|| {
                PassError::at(&op, "has bounds that are not known when compiling")
            })?;
            bounds.push(literal(b, &number.to_string(), b.index_type())?);
        }
        if operands.len() > 3 {
            return Err(PassError::at(
                &op,
                "carries values from one iteration to the next, which \
                 has no form in C here",
            ));
        }
        let body = edit::entry_block(op).ok_or_else(|| unsupported(op))?;
        for_loop(b, [bounds[0], bounds[1], bounds[2]], |inside, iv| {
            self.sums.insert(key(edit::arguments(body)[0]), Sum::term(Text::value(iv)));
            self.block(inside, body)
        })
    }

    /// Copies within the host's memory: at once where both sides are contiguous.
    fn copy(&mut self, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
        let [source, target] = ir::operands(op)[..] else { return Err(unsupported(op)) };
        let ty = source.r#type();
        let dims = ir::static_dims(ty).ok_or_else(|| unsupported(op))?;
        let strides: Option<Vec<_>> =
            [source, target].iter().map(|value| memref::static_strides(value.r#type())).collect();
        let strides = strides.ok_or_else(|| unsupported(op))?;
        let (from, to) = (self.buffer(op, source)?.clone(), self.buffer(op, target)?.clone());
        let (Base::Pointer(from_name), Base::Pointer(to_name)) = (&from.base, &to.base) else {
            return Err(PassError::at(
                &op,
                "copies to or from a device's memory: run \
                 tir-insert-dma first",
            ));
        };
        let row_major = memref::row_major(&dims);
        if strides.iter().all(|list| *list == row_major) {
            let bytes = dims.iter().product::<i64>() * from.element;
            let mut text = Text::plain("memcpy(");
            text.append(pointer(to_name, &to.offset, false));
            text.push(", ");
            text.append(pointer(from_name, &from.offset, false));
            text.push(&format!(", {bytes});"));
            return line(b, text);
        }
        copy_elements(b, &dims, [&strides[0], &strides[1]], [from.offset, to.offset], &|b, at| {
            let [from, to] = at;
            let mut text = Text::plain(format!("{to_name}["));
            text.append(to.text());
            text.push(&format!("] = {from_name}["));
            text.append(from.text());
            text.push("];");
            line(b, text)
        })
    }

    /// A comment with the name of the node that the following statements compute.
    fn note(&mut self, b: &Builder<'c>, op: Op<'c>) -> Failure<'c> {
        let name = node_name(&op.location().to_string());
        if name.is_empty() || name == self.comment {
            return Ok(());
        }
        line(b, Text::plain(format!("/* {} */", name.replace("*/", "* /").replace('{', "{{"))))?;
        self.comment = name;
        Ok(())
    }
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

fn unsupported(op: Op<'_>) -> PassError<'_> {
    PassError::at(
        &op,
        "has no form in C; only loops, index arithmetic, views, copies and \
         tir.call_extern do",
    )
}

fn copy_elements<'c>(
    b: &Builder<'c>,
    dims: &[i64],
    strides: [&[i64]; 2],
    at: [Sum<'c>; 2],
    body: &dyn Fn(&Builder<'c>, [Sum<'c>; 2]) -> Failure<'c>,
) -> Failure<'c> {
    let Some((size, rest)) = dims.split_first() else { return body(b, at) };
    let [from, to] = strides;
    let mut bounds = [literal(b, "0", b.index_type())?; 3];
    bounds[1] = literal(b, &size.to_string(), b.index_type())?;
    bounds[2] = literal(b, "1", b.index_type())?;
    for_loop(b, bounds, |b, iv| {
        let iv = Sum::term(Text::value(iv));
        let at = [at[0].plus(&iv.times(from[0])), at[1].plus(&iv.times(to[0]))];
        copy_elements(b, rest, [&from[1..], &to[1..]], at, body)
    })
}

fn for_loop<'c>(
    b: &Builder<'c>,
    bounds: [Val<'c>; 3],
    body: impl FnOnce(&Builder<'c>, Val<'c>) -> Failure<'c>,
) -> Failure<'c> {
    let region = Region::new();
    let block = region.append_block(Block::new(&[(b.index_type(), b.location)]));
    // SAFETY: the block belongs to the region that the loop takes over, so it lives on.
    let block = unsafe { Blk::from_raw(block.to_raw()) };
    let inside = Builder::at_end(b.context, block, b.location);
    body(&inside, edit::arguments(block)[0])?;
    inside.create("emitc.yield", OpSpec::default())?;
    b.create(
        "emitc.for",
        OpSpec { operands: &bounds, regions: vec![region], ..Default::default() },
    )?;
    Ok(())
}

fn literal<'c>(b: &Builder<'c>, text: &str, ty: Type<'c>) -> crate::Result<Val<'c>> {
    b.op1_with("emitc.literal", &[], ty, vec![("value", b.str_attr(text))])
}

/// `name + offset`, in parentheses if asked for and needed.
pub fn pointer<'c>(name: &str, offset: &Sum<'c>, parentheses: bool) -> Text<'c> {
    if offset.as_number() == Some(0) {
        return Text::plain(name);
    }
    let mut text = Text::plain(if parentheses { "(" } else { "" });
    text.push(&format!("{name} + "));
    text.append(offset.text());
    text.push(if parentheses { ")" } else { "" });
    text
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
