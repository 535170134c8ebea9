//! Calls of C functions.

use super::{
    expression::Text,
    kernel,
    memory::{Base, pointer},
    scalar::fill,
    writer::Writer,
};
use crate::{
    ir::{
        self, Op, Val,
        call_extern::{CallExtern, Group, SCRATCH_OUT, arg_of, struct_of},
        edit, names, size,
    },
    pass::{PassError, PassResult},
};
use melior::ir::{Attribute, AttributeLike, ValueLike, operation::OperationLike};

/// An argument of a call in C.
struct Argument {
    text: Text,
    /// True if it is known when the code is compiled.
    constant: bool,
    /// True for a structure in the block around it.
    local: bool,
}

impl Argument {
    fn constant(text: impl Into<String>) -> Self {
        Self { text: Text::plain(text), constant: true, local: false }
    }

    fn variable(text: Text) -> Self {
        Self { text, constant: false, local: false }
    }
}

/// Writes a `tir.call_extern`.
pub fn write<'c>(writer: &mut Writer<'_>, op: Op<'c>, call: &CallExtern<'c>) -> PassResult<'c> {
    let mut arguments = vec![];
    if writer.passes_device(op) {
        arguments.push(writer.device(op)?);
    }
    let mut local = false;
    for argument in &call.args {
        let argument = write_argument(writer, op, call, *argument)?;
        local |= argument.local;
        arguments.push(argument.text.text);
    }
    if op.has_attribute(names::LAUNCH) {
        arguments = kernel::arguments(op, arguments);
    }
    let text = format!("{}({})", call.callee, arguments.join(", "));
    // Structures live as long as the block around them: in blocks of their own they share a place.
    if local {
        writer.line("{");
    }
    writer.line(match writer.returns_status(op) {
        true => format!("if ((status = {text}) != 0) return {};", writer.failure()),
        false => format!("{text};"),
    });
    if local {
        writer.line("}");
    }
    Ok(())
}

fn write_argument<'c>(
    writer: &mut Writer<'_>,
    op: Op<'c>,
    call: &CallExtern<'c>,
    argument: Attribute<'c>,
) -> PassResult<'c, Argument> {
    if let Some((group, index, by_offset)) = arg_of(argument) {
        if group == Group::Scratch {
            return Err(PassError::at(
                &op,
                "needs scratch memory that has no place yet: run \
                 plan-memory first",
            ));
        }
        let operand = call.groups[group as usize].get(index).copied();
        let operand = operand.ok_or_else(|| PassError::at(&op, "is malformed"))?;
        check_elements(op, operand)?;
        let mut argument = write_operand(writer, op, operand, group, by_offset)?;
        if group == Group::Outs && ir::attr_i64(op, SCRATCH_OUT) == Some(index as i64) {
            argument.text = fill("(void *)($0)", &[argument.text]);
        }
        return Ok(argument);
    }
    if let Some((name, fields)) = struct_of(argument) {
        return structure(writer, op, call, &name, fields);
    }
    if let Some(name) = ir::memref::name(argument) {
        return Ok(match is_constant_name(&name) {
            true => Argument::constant(name),
            false => Argument::variable(Text::plain(name)),
        });
    }
    if let Some(number) = number(argument) {
        return Ok(Argument::constant(number));
    }
    let numbers = numbers(argument)
        .ok_or_else(|| PassError::at(&op, format!("passes {argument}, which has no form in C")))?;
    Ok(Argument::constant(format!("{{{}}}", numbers.join(", "))))
}

/// The names of a header that a call uses, and the types of its structures.
pub fn words(op: Op<'_>) -> Vec<String> {
    fn collect(argument: Attribute<'_>, found: &mut Vec<String>) {
        if let Some((ty, fields)) = struct_of(argument) {
            found.extend(ty.split(' ').map(str::to_owned));
            fields.into_iter().for_each(|(_, value)| collect(value, found));
        }
        found.extend(ir::memref::name(argument));
    }
    let mut found = vec![];
    let call = CallExtern::of(op);
    call.iter().flat_map(|call| &call.args).for_each(|arg| collect(*arg, &mut found));
    found
}

/// True if a name of a header stands for a number: in capitals, as enumerators and macros are, and
/// not variables.
fn is_constant_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_uppercase())
        && !name.contains(|c: char| c.is_ascii_lowercase())
}

/// The address of a structure: of one that is made once if its fields never change, which calls in
/// the same block share.
fn structure<'c>(
    writer: &mut Writer<'_>,
    op: Op<'c>,
    call: &CallExtern<'c>,
    ty: &str,
    fields: Vec<(String, Attribute<'c>)>,
) -> PassResult<'c, Argument> {
    let mut texts = vec![];
    let mut constant = true;
    for (name, value) in fields {
        let pointer = arg_of(value)
            .is_some_and(|(group, _, by_offset)| group != Group::Scalars && !by_offset);
        let argument = write_argument(writer, op, call, value)?;
        constant &= argument.constant;
        let text = argument.text.text;
        // Fields are often pointers to what is not const, though it is only read.
        texts.push(match pointer {
            true => format!(".{name} = (void *)({text})"),
            false => format!(".{name} = {text}"),
        });
    }
    let content = texts.join(", ");
    if !constant || texts.is_empty() {
        let text = Text::plain(format!("&({ty}){{{content}}}"));
        return Ok(Argument { text, constant: false, local: true });
    }
    let key = (ty.to_owned(), content);
    let known = writer.structures.iter().find_map(|block| block.get(&key)).cloned();
    let name = known.unwrap_or_else(|| {
        let name = writer.names.of_structure(ty);
        writer.line(format!("static const {ty} {name} = {{{}}};", key.1));
        if let Some(block) = writer.structures.last_mut() {
            block.insert(key, name.clone());
        }
        name
    });
    Ok(Argument::constant(format!("&{name}")))
}

/// Fails if a buffer has elements of less than a byte: here each has a byte of its own, which is not
/// how functions know them.
fn check_elements<'c>(op: Op<'c>, operand: Val<'c>) -> PassResult<'c> {
    let ty = operand.r#type();
    match size::packed_bits(ir::element_type(ty)) {
        Some(_) if ir::is_memref(ty) => Err(PassError::at(
            &op,
            format!(
                "passes a buffer of type {ty}, each of whose elements takes a byte: pass bytes with \
                 packed elements"
            ),
        )),
        _ => Ok(()),
    }
}

fn write_operand<'c>(
    writer: &Writer<'_>,
    op: Op<'c>,
    operand: Val<'c>,
    group: Group,
    by_offset: bool,
) -> PassResult<'c, Argument> {
    if group == Group::Scalars {
        let text = writer.expr(op, operand)?.text();
        let known = edit::defining_op(operand).map(ir::op_name) == Some("arith.constant");
        return Ok(Argument { text, constant: known, local: false });
    }
    let buffer = writer.buffer(op, operand)?;
    match (&buffer.base, by_offset) {
        (Base::Pointer(name), false) => {
            Ok(Argument::variable(pointer(name, &buffer.offset, false)))
        }
        (Base::Space(start), true) => {
            let bytes = buffer.offset.times(buffer.element);
            let bytes = bytes.plus(&super::expression::Sum::number(*start));
            Ok(match bytes.as_number() {
                Some(number) => Argument::constant(number.to_string()),
                None => Argument::variable(fill("(uint32_t)($0)", &[bytes.text()])),
            })
        }
        (Base::Pointer(_), true) => {
            Err(PassError::at(&op, "passes the offset of a buffer that is in the host's memory"))
        }
        (Base::Space(_), false) => Err(PassError::at(
            &op,
            "passes the address of a buffer in a \
             device's memory; pass its offset",
        )),
    }
}

fn float(value: f64) -> String {
    match value {
        v if v.is_nan() => "(0.0 / 0.0)".to_owned(),
        v if v.is_infinite() => format!("({}1.0 / 0.0)", if v < 0.0 { "-" } else { "" }),
        v => format!("{v:?}"),
    }
}

/// The numbers of a list.
fn numbers(attribute: Attribute<'_>) -> Option<Vec<String>> {
    let text = |list: Vec<i64>| list.iter().map(ToString::to_string).collect();
    if let Some(list) = ir::attribute::i32s(attribute) {
        return Some(list.iter().map(ToString::to_string).collect());
    }
    if attribute.is_dense_i64_array() {
        return ir::i64s(attribute).map(text);
    }
    if !attribute.is_array() {
        return None;
    }
    edit::array(attribute).into_iter().map(number).collect()
}

/// The number that an attribute is.
fn number(attribute: Attribute<'_>) -> Option<String> {
    let int = ir::attribute::int(attribute).map(|value| value.to_string());
    int.or_else(|| ir::attribute::float(attribute).map(float))
}
