//! Kernels: the functions that a device runs over a grid, as a program in its language, and the calls
//! that launch them.
//!
//! The program stands in the C as strings, `KERNELS[KERNELS_COUNT]`, which the device is given when it
//! is opened. A kernel takes each buffer as two arguments: what it is in, and the offset in bytes.

use super::{
    expression::Text,
    format::format,
    function::buffers,
    helpers, math,
    scalar::{CType, Expr, Level, cast_to},
    statement, words,
    writer::{Kind, Surroundings, Writer, unsupported},
};
use crate::{
    ir::{self, Op, edit, func, names, names::symbol_name},
    pass::{PassError, PassResult},
};
use melior::ir::operation::OperationLike;
use std::{collections::BTreeSet, fmt::Write};

/// Text before the kernels in OpenCL C: parts of the standard library that generated C uses.
const PRELUDE: &str = include_str!("kernel_prelude.cl");

/// True for a kernel.
pub fn is_kernel(function: Op<'_>) -> bool {
    function.has_attribute(names::LAUNCHED)
}

/// The array with the texts of the kernels of a target.
pub fn array_name(model: &str, target: &str) -> String {
    symbol_name(model, &format!("{}_kernels", crate::artifact::c_identifier(target)))
}

/// The C that holds the kernels.
pub fn print<'c>(name: &str, kernels: &[Op<'c>], around: &Surroundings) -> PassResult<'c, String> {
    let mut found = BTreeSet::new();
    let mut texts = vec![];
    for kernel in kernels {
        let (text, helpers) = function(*kernel, around)?;
        found.extend(helpers);
        texts.push(format(&text));
    }
    let shared: String = helpers::texts(&found).map(|text| format!("{text}\n\n")).collect();
    texts.insert(0, format!("{PRELUDE}{}\n{shared}", float_names()));
    let mut out = format!(
        "\nconst size_t {name}_count = {};\nconst char *const {name}[] = {{\n",
        texts.len()
    );
    for text in texts {
        for line in text.lines() {
            // Writing to a string does not fail.
            let _ = writeln!(out, "    \"{}\\n\"", words::string(line));
        }
        out.push_str("    ,\n");
    }
    Ok(out + "};\n")
}

/// Functions of `<math.h>` on `float`, whose names have no letter more here.
fn float_names() -> String {
    let names: BTreeSet<_> = math::functions().filter(|name| !name.starts_with("is")).collect();
    let meaning = |name| if name == "tanh" { "tanh_to_one" } else { name };
    names.into_iter().map(|name| format!("#define {name}f {}\n", meaning(name))).collect()
}

fn function<'c>(
    kernel: Op<'c>,
    around: &Surroundings,
) -> PassResult<'c, (String, BTreeSet<&'static str>)> {
    let body = edit::entry_block(kernel).ok_or_else(|| PassError::at(&kernel, "has no body"))?;
    let mut writer = Writer::new(Kind::Launched, around);
    let buffers = buffers(&mut writer, kernel, &func::Signature::of(kernel)?)?;
    let written: Vec<_> = edit::walk(kernel)
        .into_iter()
        .filter(|op| ir::op_name(*op) == "memref.store")
        .filter_map(|op| ir::operands(op).get(1).map(|place| ir::memref::base(*place)))
        .collect();
    let parameters: Vec<_> = (0..buffers.len())
        .map(|index| format!("__global char *base{index}, const ulong offset{index}"))
        .collect();
    let name = func::symbol(kernel);
    writer.line(format!("__kernel void {name}({}) {{", parameters.join(", ")));
    for (index, buffer) in buffers.iter().enumerate() {
        if ir::users(buffer.value).is_empty() {
            continue;
        }
        let plain = buffer.ty.trim_start_matches("const ");
        let constant = if written.contains(&buffer.value) { "" } else { "const " };
        let ty = format!("__global {constant}{plain} *");
        writer.line(format!("{ty}const {} = ({ty})(base{index} + offset{index});", buffer.name));
    }
    statement::block(&mut writer, body)?;
    writer.line("}");
    Ok(writer.finish())
}

/// The index of a work item.
pub fn global_id<'c>(writer: &mut Writer<'_>, op: Op<'c>) -> PassResult<'c> {
    if writer.kind != Kind::Launched {
        return Err(unsupported(op));
    }
    let text = op.attribute("dimension").map(|dim| dim.to_string()).unwrap_or_default();
    let dim = ["x>", "y>", "z>"].iter().position(|end| text.ends_with(end));
    let dim = dim.ok_or_else(|| unsupported(op))?;
    let call = Expr::new(Text::plain(format!("get_global_id({dim})")), Level::Atom);
    let ty = CType::Index;
    let variable = writer.constant(ty, "g", &cast_to(ty.name(), &call));
    writer.know_expr(op, ir::result0(op)?, variable)
}

/// The arguments of a call that launches a kernel, from the device and the buffers.
pub fn arguments(op: Op<'_>, mut arguments: Vec<String>) -> Vec<String> {
    let kernel = ir::attr_str(op, names::LAUNCH).unwrap_or_default();
    let sizes = ir::attr_i64s(op, names::GRID).unwrap_or_default();
    let sizes: Vec<_> = sizes.iter().map(ToString::to_string).collect();
    let buffers = arguments.split_off(arguments.len().min(1));
    let list = match buffers.is_empty() {
        true => "NULL".to_owned(),
        false => format!("(const void *const[]){{{}}}", buffers.join(", ")),
    };
    arguments.push(format!("\"{}\"", words::string(&kernel)));
    arguments.push(format!("(const size_t[]){{{}}}", sizes.join(", ")));
    arguments.push(list);
    arguments.push(buffers.len().to_string());
    arguments
}
