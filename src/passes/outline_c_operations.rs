//! `outline-c-operations`: single operations whose C a manifest has, in code that LLVM makes.
//!
//! Each becomes a call of a function that is printed as C, with what `[[codegen.emit]]` says in it:
//!
//! ```c
//! float phl_operation_0(float x0) { return my_fast_exp(x0); }
//! ```
//! The text is an attribute of the module, as that of `outline-c-calls`. The pass comes before those that
//! have formulas of their own for operations.

use crate::{
    codegen::c::{
        emission::{self, Emission, passed_as},
        scalar::CType,
    },
    ir::{self, outline::{self, NewFunction}, Builder, Op, Val, edit, names::C_OPERATIONS},
    pass::{OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{
    Type, TypeLike, ValueLike,
    attribute::StringAttribute,
};
use std::collections::BTreeMap;

crate::pass_options! {
    /// Options of `outline-c-operations`.
    pub struct Options {
        headers: String = "", "Headers that the C includes, separated by colons";
        emit: String = "", "C of single operations, as math.exp f32 my_exp($0); arith.divf * my_div($0, $1)";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "outline-c-operations",
    summary: "Make single operations whose C a manifest has calls of functions printed as C",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["arith", "func", "math"],
    run,
};

/// Headers of the standard library that the functions may need.
const STANDARD: [&str; 2] = ["math.h", "stdint.h"];

fn run<'c>(module: Op<'c>, values: &OptionValues) -> Result<(), PassError<'c>> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let emissions =
        Emission::parse_all(ir::context_of(module), &options.emit).map_err(PassError::new)?;
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    let mut text = String::new();
    for op in edit::walk(module) {
        let Some(found) = emission::find(&emissions, op)? else { continue };
        let body = found.function(op)?;
        let name = match known.get(&body) {
            Some(name) => name.clone(),
            None => {
                let name = format!("phl_operation_{}", known.len());
                text += &body.replacen(emission::NAME, &name, 1);
                declare(module, op, &name)?;
                known.insert(body, name.clone());
                name
            }
        };
        call(op, &name)?;
    }
    if text.is_empty() {
        return Ok(());
    }
    let standard = STANDARD.iter().map(|header| format!("#include <{header}>\n"));
    let own = options.headers.split(':').filter(|header| !header.is_empty());
    let own = own.map(|header| format!("#include \"{header}\"\n"));
    let text = standard.chain(own).collect::<String>() + "\n" + &text;
    edit::set_attr(module, C_OPERATIONS, StringAttribute::new(ir::context_of(module), &text).into());
    Ok(())
}

/// Declares the function that is like `op`.
fn declare<'c>(module: Op<'c>, op: Op<'c>, name: &str) -> Result<(), PassError<'c>> {
    let context = ir::context_of(module);
    let body = edit::entry_block(module).ok_or_else(|| PassError::new("has no body"))?;
    let builder = Builder::at_end(context, body, melior::ir::operation::OperationLike::location(&op));
    let given: Vec<_> =
        ir::operands(op).iter().map(|value| passed(&builder, value.r#type())).collect();
    let result = passed(&builder, ir::result0(op)?.r#type());
    NewFunction::private(name).arguments(given).declare(&builder, &[result])?;
    Ok(())
}

/// Calls the function in place of `op`.
fn call<'c>(op: Op<'c>, name: &str) -> Result<(), PassError<'c>> {
    let builder = Builder::before(op)?;
    let given = ir::operands(op).into_iter().map(|value| widened(&builder, value));
    let given: Vec<_> = given.collect::<Result<_, _>>()?;
    let result = ir::result0(op)?;
    let ty = passed(&builder, result.r#type());
    let made = ir::result0(outline::call(&builder, name, &given, &[ty])?)?;
    edit::replace_uses(result, narrowed(&builder, made, result.r#type())?);
    edit::erase(op);
    Ok(())
}

/// The type as which a number is passed.
fn passed<'c>(builder: &Builder<'c>, ty: Type<'c>) -> Type<'c> {
    match CType::of(ty).map(|own| (own, passed_as(own))) {
        Some((own, CType::Int(width))) if own != CType::Int(width) => builder.int(width),
        _ => ty,
    }
}

/// A number of the type as which it is passed.
fn widened<'c>(builder: &Builder<'c>, value: Val<'c>) -> Result<Val<'c>, PassError<'c>> {
    let (from, to) = (value.r#type(), passed(builder, value.r#type()));
    if from == to {
        return Ok(value);
    }
    let (value, op) = match ir::integer_width(from) {
        _ if from.is_index() => (value, "arith.index_cast"),
        Some(1) => (value, "arith.extui"),
        Some(_) => (value, "arith.extsi"),
        None => (builder.op1("arith.bitcast", &[value], bits(builder, from))?, "arith.extui"),
    };
    Ok(builder.op1(op, &[value], to)?)
}

/// The number of type `to` that was passed.
fn narrowed<'c>(
    builder: &Builder<'c>,
    value: Val<'c>,
    to: Type<'c>,
) -> Result<Val<'c>, PassError<'c>> {
    if value.r#type() == to {
        return Ok(value);
    }
    Ok(match ir::integer_width(to) {
        _ if to.is_index() => builder.op1("arith.index_cast", &[value], to)?,
        Some(_) => builder.op1("arith.trunci", &[value], to)?,
        None => {
            let bits = builder.op1("arith.trunci", &[value], bits(builder, to))?;
            builder.op1("arith.bitcast", &[bits], to)?
        }
    })
}

/// The integer of as many bits as a float has.
fn bits<'c>(builder: &Builder<'c>, ty: Type<'c>) -> Type<'c> {
    builder.int(match CType::of(ty) {
        Some(CType::Code(width)) => width,
        _ => 16,
    })
}
