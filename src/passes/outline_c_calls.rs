//! `outline-c-calls`: calls whose arguments only a C compiler knows, in code that LLVM makes.
//!
//! The layout of a structure and the value of a name are in the vendor's header. A call with such
//! an argument becomes a call of a function that takes its plain numbers and buffers. That
//! function, with the original call in it, is printed as C:
//!
//! ```c
//! int32_t phl_call_0(void *device, const float *in0, float *out0) {
//! ```
//! The text is an attribute of the module, since the passes that come after would turn functions to the
//! LLVM dialect. The generators compile it with the vendor's sources.

use crate::{
    codegen::c,
    ir::{
        self, outline::NewFunction, Builder, Op, OpSpec, Val,
        call_extern::{CallExtern, Group, arg_of, is_null, null, struct_of},
        edit,
        names::{self, C_GLUE, C_HEADERS, DEVICE, IO, TARGET},
    },
    pass::{PassResult, OptionValues, Pass, PassError, PassOptions},
};
use melior::ir::{
    Attribute, Region, Type, TypeLike, ValueLike,
    attribute::{ArrayAttribute, StringAttribute},
    operation::OperationLike,
    r#type::MemRefType,
};
use std::collections::BTreeMap;

crate::pass_options! {
    /// Options of `outline-c-calls`.
    pub struct Options {
        headers: String = "", "Headers that the C includes, separated by colons";
    }
}

/// The pass.
pub const PASS: Pass = Pass {
    name: "outline-c-calls",
    summary: "Move calls with structures and names of headers into functions printed as C",
    anchor: "builtin.module",
    options: Options::SPECS,
    dialects: &["arith", "func", "tir"],
    run,
};

fn run<'c>(module: Op<'c>, values: &OptionValues) -> PassResult<'c> {
    let options: Options = values.parse().map_err(PassError::new)?;
    let calls: Vec<_> = edit::walk(module).into_iter().filter_map(only_c).collect();
    let Some((first, _)) = calls.first() else { return Ok(()) };
    let glue = glue(module, *first, &options.headers)?;
    outline(glue, &calls, "phl_call")?;
    let text = c::print(glue)?;
    edit::erase(glue);
    let text = StringAttribute::new(ir::context_of(module), &text);
    edit::set_attr(module, C_GLUE, text.into());
    Ok(())
}

/// Moves calls into functions of `glue`, whose names begin with `stem`; equal ones into the same.
pub(super) fn outline<'c>(
    glue: Op<'c>,
    calls: &[(Op<'c>, CallExtern<'c>)],
    stem: &str,
) -> PassResult<'c> {
    let mut known: BTreeMap<String, String> = BTreeMap::new();
    for (op, call) in calls {
        let outlined = Outlined::new(*op, call)?;
        let key = outlined.key(*op);
        let name = match known.get(&key) {
            Some(name) => name.clone(),
            None => {
                let name = format!("{stem}_{}", known.len());
                outlined.define(glue, *op, call, &name)?;
                known.insert(key, name.clone());
                name
            }
        };
        outlined.replace(*op, &name)?;
    }
    Ok(())
}

/// A call with an argument that only a C compiler knows.
fn only_c(op: Op<'_>) -> Option<(Op<'_>, CallExtern<'_>)> {
    let is_plain = |argument: &Attribute<'_>| {
        arg_of(*argument).is_some()
            || is_null(*argument)
            || ir::attribute::number_type(*argument).is_some()
    };
    let call = CallExtern::of(op).filter(|call| !call.args.iter().all(is_plain))?;
    Some((op, call))
}

/// An empty module for the functions, which is part of `module` until it is printed.
pub(super) fn glue<'c>(module: Op<'c>, first: Op<'c>, headers: &str) -> PassResult<'c, Op<'c>> {
    let context = ir::context_of(module);
    let body = edit::entry_block(module).ok_or_else(|| PassError::new("has no body"))?;
    let builder = Builder::at_end(context, body, first.location());
    let region = Region::new();
    edit::append_block(&region, &[]);
    let headers: Vec<Attribute<'c>> = headers
        .split(':')
        .filter(|name| !name.is_empty())
        .map(|name| builder.str_attr(name))
        .collect();
    let headers = ArrayAttribute::new(context, &headers).into();
    let spec = OpSpec {
        attributes: vec![(C_HEADERS, headers)],
        regions: vec![region],
        ..Default::default()
    };
    let glue = builder.create("builtin.module", spec)?;
    for name in [names::MODEL, TARGET, names::ARTIFACTS] {
        if let Ok(value) = module.attribute(name) {
            edit::set_attr(glue, name, value);
        }
    }
    Ok(glue)
}

/// Operands that a call needs from its function.
struct Outlined<'c> {
    /// The operands that are passed on, by group and place in it.
    passed: Vec<(Group, usize, Val<'c>)>,
    /// Constants, which are made where the call is, so that structures of them are constant.
    constants: Vec<(usize, Op<'c>)>,
}

impl<'c> Outlined<'c> {
    fn new(op: Op<'c>, call: &CallExtern<'c>) -> PassResult<'c, Self> {
        if call.args.iter().any(|argument| has_offset(*argument)) {
            return Err(PassError::at(
                &op,
                "passes the place of a buffer in a pool, which is no number yet: run \
                 pass-pool-offsets first",
            ));
        }
        let mut found = Self { passed: vec![], constants: vec![] };
        for group in [Group::Scalars, Group::Ins, Group::Outs] {
            for (index, value) in call.groups[group as usize].iter().enumerate() {
                let constant = edit::defining_op(*value)
                    .filter(|op| ir::op_name(*op) == "arith.constant" && group == Group::Scalars);
                match constant {
                    Some(constant) => found.constants.push((index, constant)),
                    None => found.passed.push((group, index, *value)),
                }
            }
        }
        Ok(found)
    }

    /// Key of a call: calls with equal keys share one function.
    fn key(&self, op: Op<'c>) -> String {
        let types = self.passed.iter().map(|(group, index, value)| {
            format!("{group:?} {index}: {}", parameter(*value))
        });
        let numbers = self.constants.iter().map(|(index, op)| {
            let value = op.attribute("value").map(|value| value.to_string());
            format!("{index} is {}", value.unwrap_or_default())
        });
        let attributes = op.attributes().map(|(name, value)| {
            let name = name.as_string_ref();
            format!("{} = {value}", name.as_str().unwrap_or_default())
        });
        types.chain(numbers).chain(attributes).collect::<Vec<_>>().join("\n")
    }

    /// Defines the function with the call.
    fn define(&self, glue: Op<'c>, op: Op<'c>, call: &CallExtern<'c>, name: &str) -> PassResult<'c> {
        let context = ir::context_of(op);
        let body = edit::entry_block(glue).ok_or_else(|| PassError::new("has no body"))?;
        let roles = self.passed.iter().map(|(group, ..)| {
            let role = match group {
                Group::Scalars => names::NUMBER,
                Group::Ins => "input",
                Group::Outs | Group::Scratch => "output",
            };
            let role = StringAttribute::new(context, role).into();
            edit::dictionary_attr(context, &[(IO.to_owned(), role)])
        });
        let roles: Vec<_> = roles.collect();
        let outside = Builder::at_end(context, body, op.location());
        NewFunction::public(name)
            .arguments(self.passed.iter().map(|(_, _, value)| parameter(*value)))
            .with("arg_attrs", ArrayAttribute::new(context, &roles).into())
            .define(&outside, |b, arguments| {
                let mut inside = call.clone();
                for ((group, index, _), argument) in self.passed.iter().zip(arguments) {
                    if let Some(operand) = inside.groups[*group as usize].get_mut(*index) {
                        *operand = *argument;
                    }
                }
                for (index, constant) in &self.constants {
                    let copy = ir::result0(b.insert_clone(*constant))?;
                    if let Some(operand) = inside.groups[Group::Scalars as usize].get_mut(*index) {
                        *operand = copy;
                    }
                }
                inside.build(b, &[])?;
                Ok::<_, PassError<'c>>(vec![])
            })?;
        Ok(())
    }

    /// Calls the function in place of `op`.
    fn replace(&self, op: Op<'c>, name: &str) -> PassResult<'c> {
        let context = ir::context_of(op);
        let builder = Builder::before(op)?;
        let mut call = CallExtern::new(name);
        let unit = Attribute::unit(context);
        match op.has_attribute("with_device") {
            true => call.set("with_device", unit),
            false => call.args.push(null(context)?),
        }
        for (group, _, value) in &self.passed {
            // Half floats are integers in C, which functions get in other registers.
            let is_half = value.r#type().is_f16() || value.r#type().is_bf16();
            let value = match is_half {
                true => builder.op1("arith.bitcast", &[*value], builder.int(16))?,
                false => *value,
            };
            call.push(context, *group, value);
        }
        call.set("returns_status", unit);
        for name in [DEVICE, "strided"] {
            if let Ok(value) = op.attribute(name) {
                call.set(name, value);
            }
        }
        call.build(&builder, &[])?;
        edit::erase(op);
        Ok(())
    }
}

/// True if an argument, or a field of it, is the place of a buffer in its memory space.
fn has_offset(argument: Attribute<'_>) -> bool {
    let fields = struct_of(argument).map(|(_, fields)| fields).unwrap_or_default();
    arg_of(argument).is_some_and(|(_, _, by_offset)| by_offset)
        || fields.into_iter().any(|(_, value)| has_offset(value))
}

/// The type of the parameter for an operand: buffers are pointers to their elements.
fn parameter<'c>(value: Val<'c>) -> Type<'c> {
    let ty = value.r#type();
    match ir::is_memref(ty) {
        true => MemRefType::new(ir::element_type(ty), &[ir::DYNAMIC], None, None).into(),
        false => ty,
    }
}
