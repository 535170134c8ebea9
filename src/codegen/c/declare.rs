//! Declarations before the functions of a file: constants and prototypes.

use super::{
    expression::Text,
    memory::constant_name,
    scalar::{self, CType},
    writer::c_type,
};
use crate::{
    ir::{
        self, Op,
        call_extern::{CallExtern, Group, arg_of, is_null},
        elements, func,
    },
    pass::{PassError, PassResult},
};
use melior::ir::{ValueLike, attribute::TypeAttribute, operation::OperationLike};

/// The name in C of a `memref.global`.
pub fn name(global: Op<'_>) -> String {
    constant_name(&func::symbol(global))
}

/// A constant array for a `memref.global`.
pub fn constant(global: Op<'_>) -> PassResult<'_, String> {
    let attribute = |name: &str| global.attribute(name).ok();
    let (Some(value), true) = (attribute("initial_value"), global.has_attribute("constant")) else {
        return Err(PassError::at(
            &global,
            "is memory that keeps its content between runs, which \
             C here has not",
        ));
    };
    let ty = attribute("type").and_then(|ty| TypeAttribute::try_from(ty).ok());
    let ty = ty.ok_or_else(|| PassError::at(&global, "is malformed"))?.value();
    let element = c_type(global, ir::element_type(ty))?;
    let bytes = elements::bytes(value)?;
    let numbers: Vec<_> = bytes
        .chunks_exact(element.bytes() as usize)
        .map(|bytes| number(element, bytes).text().text)
        .collect();
    let name = name(global);
    let list = if numbers.is_empty() { "0".to_owned() } else { numbers.join(", ") };
    let size = numbers.len().max(1);
    Ok(format!("static const {} {name}[{size}] = {{{list}}};", element.name()))
}

/// An element from its bytes in memory.
fn number(ty: CType, bytes: &[u8]) -> scalar::Expr {
    let mut wide = [0; 8];
    wide[..bytes.len()].copy_from_slice(bytes);
    let bits = i64::from_le_bytes(wide);
    let shift = 64 - ty.storage_bits();
    match ty {
        CType::Float => scalar::real(ty, f32::from_bits(bits as u32).into()),
        CType::Double => scalar::real(ty, f64::from_bits(bits as u64)),
        CType::Half | CType::Brain => {
            scalar::Expr::new(Text::plain(format!("{bits:#06x}")), scalar::Level::Atom)
        }
        CType::Code(_) => {
            let code = bits & 0xff;
            scalar::Expr::new(Text::plain(format!("{code:#04x}")), scalar::Level::Atom)
        }
        // The sign is that of the element.
        _ => scalar::integer(ty, bits << shift >> shift),
    }
}

/// The prototype of a function that a call without a header or prototype is to; none if its
/// arguments have no types of their own.
pub fn prototype<'c>(op: Op<'c>) -> Option<String> {
    if op.has_attribute("header") || op.has_attribute("prototype") {
        return None;
    }
    let call = CallExtern::of(op)?;
    let result = if op.has_attribute("returns_status") { "int32_t" } else { "void" };
    let mut parameters = vec![];
    if op.has_attribute("with_device") {
        parameters.push("void *");
    }
    for argument in &call.args {
        parameters.push(match arg_of(*argument) {
            Some((Group::Ins | Group::Outs, _, true)) => "uint32_t",
            Some((Group::Ins, ..)) => "const void *",
            Some((Group::Outs | Group::Scratch, ..)) => "void *",
            Some((Group::Scalars, index, _)) => {
                CType::of(call.groups[0].get(index)?.r#type())?.name()
            }
            None if is_null(*argument) => "const void *",
            None => CType::of(ir::attribute::number_type(*argument)?)?.name(),
        });
    }
    let list = if parameters.is_empty() { "void".to_owned() } else { parameters.join(", ") };
    Some(format!("{result} {}({list});", call.callee))
}
