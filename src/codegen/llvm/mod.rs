//! Host code: from the LLVM dialect through LLVM to object files.

pub(crate) mod bodies;
pub(crate) mod device;
pub(crate) mod dialect;
pub(crate) mod effort;
mod parallel;
mod split;

use crate::{
    Error, Result, Session,
    artifact::{Machine, Object, machines},
    codegen::c::inlined::Inlined,
    ir::{self, Op, edit, names::model_name},
    phase::strip_comments,
};
use bodies::Bodies;
use inkwell::{
    context::Context, memory_buffer::MemoryBuffer, module::Module, passes::PassBuilderOptions,
    support::LLVMString, targets::FileType,
};
use melior::ir::{Attribute, attribute::ArrayAttribute, operation::OperationLike};

/// The passes that make LLVM dialect of a module of host functions on planned buffers, for the
/// machine that the options of `set-llvm-target` say.
pub fn pipeline(mtriple: &str, mcpu: &str, mattr: &str) -> String {
    let passes = strip_comments(include_str!("../../../targets/llvm/codegen.pipeline"));
    passes
        .replace("${option.mtriple}", mtriple)
        .replace("${option.mcpu}", mcpu)
        .replace("${option.mattr}", mattr)
        .replace("${option.opt_level}", &effort::MOST.to_string())
}

/// Compiles a module in the LLVM dialect, on which `set-llvm-target` ran, to object files: one, or
/// several of a large module, which are compiled at the same time.
pub fn compile(session: &Session, module: Op<'_>, name: &str) -> Result<Vec<Object>> {
    compile_with(session, module, name, &[])
}

/// The same for a module that calls what headers of other targets have.
pub fn compile_with(
    session: &Session,
    module: Op<'_>,
    name: &str,
    inlined: &[Inlined],
) -> Result<Vec<Object>> {
    let machine = machines::of(module)?;
    let bodies = bodies::compile(inlined, &machine, &model_name(module))?;
    let plan = Plan { machine: &machine, level: effort::of(module), bodies: &bodies };
    let described = undescribed(module);
    let made = compile_undescribed(session, module, &plan);
    describe(described);
    let named = |(index, bytes)| {
        let name = if index == 0 { format!("{name}.o") } else { format!("{name}_{index}.o") };
        Object { name, bytes }
    };
    Ok(made?.into_iter().enumerate().map(named).collect())
}

/// Settings of the compile of a module.
struct Plan<'a> {
    machine: &'a Machine,
    level: i64,
    bodies: &'a [Bodies],
}

fn compile_undescribed(session: &Session, module: Op<'_>, plan: &Plan<'_>) -> Result<Vec<Vec<u8>>> {
    let parts = split::parts(module)?;
    if parts.is_empty() {
        let context = Context::create();
        let llvm = translate_plain(session, module, &context)?;
        return Ok(vec![object(&context, &llvm, plan, false)?]);
    }
    let bitcode = |part: &split::Part<'_>| {
        let context = Context::create();
        let llvm = translate_plain(session, ir::root(&part.module), &context)?;
        Ok((llvm.write_bitcode_to_memory().as_slice().to_vec(), part.vectorized))
    };
    // LLVM's contexts are for one thread each, and so is MLIR's, so modules go over as bitcode.
    parallel::map(parts.iter().map(bitcode), parts.len(), |(bitcode, vectorized)| {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(&bitcode, "part");
        let llvm = Module::parse_bitcode_from_buffer(&buffer, &context)
            .map_err(|error| failed("cannot read its bitcode", &error))?;
        object(&context, &llvm, plan, vectorized)
    })
}

fn object<'a>(
    context: &'a Context,
    module: &Module<'a>,
    plan: &Plan<'_>,
    vectorized: bool,
) -> Result<Vec<u8>> {
    let target = machines::create_at(plan.machine, effort::of_code(plan.level))?;
    let mut passes = effort::passes(plan.level, vectorized);
    let used = bodies::link(plan.bodies, context, module)?;
    if !plan.bodies.is_empty() {
        // Bodies that nothing calls any more.
        passes.push_str(",globaldce");
    }
    optimise(module, &target, &passes)?;
    bodies::settle(plan.bodies, module, &used)?;
    let buffer = target
        .write_to_memory_buffer(module, FileType::Object)
        .map_err(|error| failed("made no object", &error))?;
    Ok(buffer.as_slice().to_vec())
}

fn failed(what: &str, reason: &LLVMString) -> Error {
    Error::internal(format!("LLVM {what}: {}", reason.to_string_lossy()))
}

/// The LLVM IR of a module in the LLVM dialect, before or after optimisation, for people.
pub fn llvm_ir(session: &Session, module: Op<'_>, optimised: bool) -> Result<String> {
    let context = Context::create();
    let llvm = translate(session, module, &context)?;
    if optimised {
        let passes = effort::passes(effort::of(module), false);
        optimise(&llvm, &machines::create(&machines::of(module)?)?, &passes)?;
    }
    Ok(llvm.print_to_string().to_string())
}

fn translate<'a>(session: &Session, module: Op<'_>, context: &'a Context) -> Result<Module<'a>> {
    let described = undescribed(module);
    let translated = translate_plain(session, module, context);
    describe(described);
    translated
}

/// Puts back what [`undescribed`] took.
fn describe<'c>(described: Vec<(Op<'c>, Attribute<'c>)>) {
    for (function, arguments) in described {
        edit::set_attr(function, ARGUMENTS, arguments);
    }
}

/// Attribute of functions that holds those of their arguments.
const ARGUMENTS: &str = "arg_attrs";

/// Takes what only this project's passes read from the arguments of all functions, and returns what
/// was there. MLIR warns of each such attribute with the text of the whole function, so that the
/// time to translate would grow with the square of the number of arguments.
fn undescribed<'c>(module: Op<'c>) -> Vec<(Op<'c>, Attribute<'c>)> {
    let context = ir::context_of(module);
    let mut found = vec![];
    for function in ir::ops_of(module).into_iter().filter(|op| ir::op_name(*op) == "llvm.func") {
        let Ok(arguments) = function.attribute(ARGUMENTS) else { continue };
        let plain: Vec<_> = edit::array(arguments)
            .into_iter()
            .map(|argument| {
                let mut attributes = edit::dictionary(argument);
                attributes.retain(|(name, _)| !name.starts_with("phl."));
                edit::dictionary_attr(context, &attributes)
            })
            .collect();
        edit::set_attr(function, ARGUMENTS, ArrayAttribute::new(context, &plain).into());
        found.push((function, arguments));
    }
    found
}

fn translate_plain<'a>(
    session: &Session,
    module: Op<'_>,
    context: &'a Context,
) -> Result<Module<'a>> {
    // SAFETY: both contexts are live; the module that comes back belongs to `context`, and a null
    // one is not touched.
    unsafe {
        let raw = mlir_sys::mlirTranslateModuleToLLVMIR(module.to_raw(), context.raw().cast());
        if raw.is_null() {
            return Err(session.failure("the module cannot be translated to LLVM IR"));
        }
        Ok(Module::new(raw.cast()))
    }
}

fn optimise(
    module: &Module<'_>,
    machine: &inkwell::targets::TargetMachine,
    passes: &str,
) -> Result<()> {
    let options = PassBuilderOptions::create();
    options.set_loop_vectorization(true);
    options.set_loop_slp_vectorization(true);
    options.set_loop_interleaving(true);
    options.set_loop_unrolling(true);
    module.run_passes(passes, machine, options).map_err(|error| failed("failed", &error))
}
