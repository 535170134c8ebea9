//! Calls of C functions.

use super::{
    expression::Text,
    memory::{Base, pointer},
    writer::{Failure, Writer, line},
};
use crate::{
    ffi,
    ir::{
        self, Builder, Op, Val,
        call_extern::{CallExtern, Group, SCRATCH_OUT, arg_of},
        edit,
    },
    pass::PassError,
};
use melior::ir::{Attribute, AttributeLike};

/// Writes a `tir.call_extern`.
pub fn write<'c>(
    writer: &Writer<'c>,
    b: &Builder<'c>,
    op: Op<'c>,
    call: &CallExtern<'c>,
) -> Failure<'c> {
    let returns_status = writer.returns_status(op);
    let mut text = Text::plain(if returns_status { "status = " } else { "" });
    text.push(&format!("{}(", call.callee));
    let mut first = true;
    if writer.passes_device(op) {
        text.push(&writer.device(op)?);
        first = false;
    }
    for argument in &call.args {
        if !std::mem::take(&mut first) {
            text.push(", ");
        }
        text.append(write_argument(writer, op, call, *argument)?);
    }
    text.push(");");
    line(b, text)?;
    if returns_status {
        line(b, Text::plain("if (status != 0) return status;"))?;
    }
    Ok(())
}

fn write_argument<'c>(
    writer: &Writer<'c>,
    op: Op<'c>,
    call: &CallExtern<'c>,
    argument: Attribute<'c>,
) -> Failure<'c, Text<'c>> {
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
        let text = write_operand(writer, op, operand, group, by_offset)?;
        let is_scratch = group == Group::Outs
            && ir::attr_i64(op, SCRATCH_OUT).is_some_and(|place| place == index as i64);
        if !is_scratch {
            return Ok(text);
        }
        let mut cast = Text::plain("(void *)(");
        cast.append(text);
        cast.push(")");
        return Ok(cast);
    }
    let raw = argument.to_raw();
    // SAFETY: the accessors take any attribute of the kind that is asked for first; texts live as
    // long as the context.
    unsafe {
        match ffi::phlTirAttrKind(raw) {
            ffi::PhlTirAttrKind::PHL_TIR_ATTR_NAME => return Ok(Text::plain(name_of(argument))),
            ffi::PhlTirAttrKind::PHL_TIR_ATTR_STRUCT => {
                let fields =
                    edit::dictionary(Attribute::from_raw(ffi::phlTirStructAttrFields(raw)));
                let mut text = Text::plain(format!("&({}){{{{", name_of(argument)));
                for (index, (name, value)) in fields.into_iter().enumerate() {
                    text.push(if index > 0 { ", " } else { "" });
                    text.push(&format!(".{name} = "));
                    let pointer = arg_of(value)
                        .is_some_and(|(group, _, by_offset)| group != Group::Scalars && !by_offset);
                    // Fields are often pointers to what is not const, though it is only read.
                    text.push(if pointer { "(void *)(" } else { "" });
                    text.append(write_argument(writer, op, call, value)?);
                    text.push(if pointer { ")" } else { "" });
                }
                text.push("}");
                return Ok(text);
            }
            _ => {}
        }
        if mlir_sys::mlirAttributeIsAInteger(raw) {
            return Ok(Text::plain(mlir_sys::mlirIntegerAttrGetValueInt(raw).to_string()));
        }
        if mlir_sys::mlirAttributeIsAFloat(raw) {
            return Ok(Text::plain(float(mlir_sys::mlirFloatAttrGetValueDouble(raw))));
        }
    }
    let numbers = numbers(argument)
        .ok_or_else(|| PassError::at(&op, format!("passes {argument}, which has no form in C")))?;
    let mut text = Text::plain("{{");
    text.push(&numbers.join(", "));
    text.push("}");
    Ok(text)
}

fn write_operand<'c>(
    writer: &Writer<'c>,
    op: Op<'c>,
    operand: Val<'c>,
    group: Group,
    by_offset: bool,
) -> Failure<'c, Text<'c>> {
    if group == Group::Scalars {
        return Ok(writer.expr(op, operand)?.text());
    }
    let buffer = writer.buffer(op, operand)?;
    match (&buffer.base, by_offset) {
        (Base::Pointer(name), false) => Ok(pointer(name, &buffer.offset, false)),
        (Base::Space(start), true) => {
            let bytes = buffer.offset.times(buffer.element);
            let bytes = bytes.plus(&super::expression::Sum::number(*start));
            if bytes.as_number().is_some() {
                return Ok(bytes.text());
            }
            let mut text = Text::plain("(uint32_t)(");
            text.append(bytes.text());
            text.push(")");
            Ok(text)
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

/// The text of a `#tir.name`, or the name of a struct.
fn name_of(attribute: Attribute<'_>) -> String {
    // SAFETY: the accessor takes any attribute; the text lives as long as the context.
    unsafe { ir::text(ffi::phlTirAttrName(attribute.to_raw())) }
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
    let raw = attribute.to_raw();
    // SAFETY: the kind is checked first; indices are in range.
    unsafe {
        if mlir_sys::mlirAttributeIsADenseI64Array(raw) {
            let count = mlir_sys::mlirDenseArrayGetNumElements(raw);
            return Some(
                (0..count)
                    .map(|index| mlir_sys::mlirDenseI64ArrayGetElement(raw, index).to_string())
                    .collect(),
            );
        }
        if mlir_sys::mlirAttributeIsADenseI32Array(raw) {
            let count = mlir_sys::mlirDenseArrayGetNumElements(raw);
            return Some(
                (0..count)
                    .map(|index| mlir_sys::mlirDenseI32ArrayGetElement(raw, index).to_string())
                    .collect(),
            );
        }
        if !mlir_sys::mlirAttributeIsAArray(raw) {
            return None;
        }
    }
    edit::array(attribute)
        .into_iter()
        .map(|element| {
            let raw = element.to_raw();
            // SAFETY: the kind is checked first.
            unsafe {
                if mlir_sys::mlirAttributeIsAInteger(raw) {
                    Some(mlir_sys::mlirIntegerAttrGetValueInt(raw).to_string())
                } else if mlir_sys::mlirAttributeIsAFloat(raw) {
                    Some(float(mlir_sys::mlirFloatAttrGetValueDouble(raw)))
                } else {
                    None
                }
            }
        })
        .collect()
}
