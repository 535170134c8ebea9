//! Bodies of other targets' headers in a host's LLVM: Clang makes IR of them, which is linked into the module
//! before it is optimised, so that each is where it is called.

use super::failed;
use crate::{
    Error, Result,
    artifact::{Machine, own_prefix},
    codegen::c::{
        inlined::{Inlined, MACRO},
        tool::Tool,
    },
    process::Folder,
};
use inkwell::{
    attributes::{Attribute, AttributeLoc},
    context::Context,
    memory_buffer::MemoryBuffer,
    module::{Linkage, Module},
    values::FunctionValue,
};
use std::{collections::BTreeSet, fs};

/// Attribute of a function in LLVM IR: the target whose header has it.
const TARGET: &str = "phl-inline";

/// The IR of what a target's headers have.
#[derive(Clone, Debug)]
pub struct Bodies {
    target: String,
    /// The prefix of names that the target's sources define.
    prefix: String,
    bitcode: Vec<u8>,
    /// Names that it uses and does not define.
    used: BTreeSet<String>,
    /// Names that bodies of other targets use as well, so that each means its own.
    apart: BTreeSet<String>,
    /// The functions that the host calls.
    wanted: BTreeSet<String>,
}

/// Compiles the generated headers for a machine.
pub fn compile(inlined: &[Inlined], machine: &Machine, model: &str) -> Result<Vec<Bodies>> {
    let mut all = inlined
        .iter()
        .map(|one| Bodies::compile(one, machine, model))
        .collect::<Result<Vec<_>>>()?;
    let mut seen = BTreeSet::new();
    let names = all.iter().flat_map(|one| one.used.clone());
    let shared: BTreeSet<String> = names.filter(|name| !seen.insert(name.clone())).collect();
    for one in &mut all {
        one.apart = one.used.intersection(&shared).cloned().collect();
    }
    Ok(all)
}

impl Bodies {
    fn compile(inlined: &Inlined, machine: &Machine, model: &str) -> Result<Self> {
        let folder = Folder::new()?;
        let place = folder.path().join(crate::codegen::c::inlined::FOLDER);
        inlined.write(&place)?;
        let stem = inlined.header.0.trim_end_matches(".h");
        let (source, made) = (format!("{stem}.c"), format!("{stem}.bc"));
        let path = folder.path().join(&source);
        let text = format!("#include \"{}\"\n", inlined.header.0);
        fs::write(&path, text).map_err(|e| Error::io("cannot write", &path, e))?;
        let tool = Tool::of_option(&inlined.clang)?;
        let mut command = tool.command(folder.path());
        command.args(["-std=c11", "-O2", "-ffp-contract=off", "-emit-llvm", "-fPIC"]);
        command.arg(format!("--target={}", machine.triple));
        command.arg(format!("-D{MACRO}=__attribute__((always_inline, flatten))"));
        command.args(inlined.arguments());
        for option in cpu(machine) {
            command.args(["-Xclang", &option]);
        }
        command.args(["-Wno-unused-command-line-argument", "-c", &source, "-o", &made]);
        tool.run(command, &format!("{source}, for inline calls of '{}'", inlined.target))?;
        let path = folder.path().join(&made);
        let bitcode = fs::read(&path).map_err(|e| Error::io("cannot read", &path, e))?;
        let prefix = own_prefix(model, &inlined.target);
        let mut bodies = Self {
            target: inlined.target.clone(),
            prefix,
            bitcode,
            used: BTreeSet::new(),
            apart: BTreeSet::new(),
            wanted: BTreeSet::new(),
        };
        let context = Context::create();
        let module = bodies.read(&context)?;
        let names = |defined: bool| {
            let of_kind = module.get_functions().filter(move |f| is_defined(f) == defined);
            of_kind.filter(|f| f.get_linkage() == Linkage::External).map(|f| name(&f)).collect()
        };
        (bodies.used, bodies.wanted) = (names(false), names(true));
        let globals = module.get_globals().filter(|global| global.is_declaration());
        let globals: Vec<_> =
            globals.map(|g| g.get_name().to_string_lossy().into_owned()).collect();
        bodies.used.extend(globals);
        bodies.used.retain(|name| !name.starts_with("llvm."));
        Ok(bodies)
    }

    fn read<'a>(&self, context: &'a Context) -> Result<Module<'a>> {
        let buffer = MemoryBuffer::create_from_memory_range_copy(&self.bitcode, "inline");
        Module::parse_bitcode_from_buffer(&buffer, context).map_err(|error| {
            failed(&format!("cannot read what Clang made for '{}'", self.target), &error)
        })
    }

    /// Gives what the target's sources may define the name that it has there.
    fn rename(&self, module: &Module<'_>, is_meant: impl Fn(&String) -> bool) {
        for name in self.used.iter().filter(|name| is_meant(name)) {
            let new = format!("{}{name}", self.prefix);
            if let Some(function) = module.get_function(name).filter(|f| !is_defined(f)) {
                function.as_global_value().set_name(&new);
            } else if let Some(global) = module.get_global(name).filter(|g| g.is_declaration()) {
                global.set_name(&new);
            }
        }
    }

    /// Links the bodies into a module that calls some of them.
    fn link<'a>(&self, context: &'a Context, module: &Module<'a>) -> Result<()> {
        if !self.wanted.iter().any(|name| module.get_function(name).is_some()) {
            return Ok(());
        }
        let bodies = self.read(context)?;
        bodies.set_triple(&module.get_triple());
        bodies.set_data_layout(&module.get_data_layout());
        self.rename(&bodies, |name| self.apart.contains(name));
        let always = enum_attribute(context, "alwaysinline");
        for function in bodies.get_functions().filter(is_defined) {
            let target = context.create_string_attribute(TARGET, &self.target);
            function.add_attribute(AttributeLoc::Function, target);
            if has(&function, "noinline").is_none() {
                function.add_attribute(AttributeLoc::Function, always);
            }
        }
        module.link_in_module(bodies).map_err(|error| {
            failed(&format!("cannot link the inline calls of '{}'", self.target), &error)
        })?;
        for name in &self.wanted {
            if let Some(function) = module.get_function(name) {
                function.set_linkage(Linkage::Internal);
            }
        }
        Ok(())
    }
}

/// Links all into a module; gives the names that only they use.
pub fn link<'a>(
    all: &[Bodies],
    context: &'a Context,
    module: &Module<'a>,
) -> Result<BTreeSet<String>> {
    let functions = module.get_functions().map(|function| name(&function));
    let globals =
        module.get_globals().map(|global| global.get_name().to_string_lossy().into_owned());
    let own: BTreeSet<String> = functions.chain(globals).collect();
    all.iter().try_for_each(|bodies| bodies.link(context, module))?;
    Ok(all
        .iter()
        .flat_map(|bodies| &bodies.used)
        .filter(|name| !own.contains(*name))
        .cloned()
        .collect())
}

/// Looks whether all bodies are where they are called, and gives what they use of their targets' sources the
/// names that it has there. `used` is from [`link()`].
pub fn settle(all: &[Bodies], module: &Module<'_>, used: &BTreeSet<String>) -> Result<()> {
    for function in module.get_functions().filter(is_defined) {
        let Some(target) = function.get_string_attribute(AttributeLoc::Function, TARGET) else {
            continue;
        };
        return Err(not_inlined(&function, &target.get_string_value().to_string_lossy()));
    }
    all.iter().for_each(|bodies| bodies.rename(module, |name| used.contains(name)));
    Ok(())
}

/// Error with the reason that the body of a function is not inlined.
fn not_inlined(function: &FunctionValue<'_>, target: &str) -> Error {
    let name = name(function);
    let reason = match () {
        () if has(function, "noinline").is_some() => "it is `noinline`: take that away",
        () if function.get_type().is_var_arg() => {
            "it takes any number of arguments: give it those that it needs"
        }
        () if calls(function, function) => "it calls itself: write a loop",
        () if function
            .get_string_attribute(AttributeLoc::Function, "target-features")
            .is_some()
            && has(function, "alwaysinline").is_some() =>
        {
            "its address is taken, or it is for a processor with features that the code of the host is not made for: \
             call it by its name, and name the features in the host's -mattr"
        }
        () => "its address is taken: call it by its name",
    };
    Error::invalid(format!(
        "target '{target}': the body of '{name}' was not inlined where the host's code calls it, as inline = true \
         demands: {reason}; or leave out inline, for a region of the target"
    ))
}

/// True if a function has a call of another.
fn calls(function: &FunctionValue<'_>, callee: &FunctionValue<'_>) -> bool {
    let wanted = callee.as_global_value().as_pointer_value();
    function.get_basic_block_iter().any(|block| {
        block.get_instructions().any(|instruction| {
            instruction.get_operands().any(|operand| {
                let value = operand.and_then(|operand| operand.value());
                value.is_some_and(|value| {
                    value.is_pointer_value() && value.into_pointer_value() == wanted
                })
            })
        })
    })
}

fn has(function: &FunctionValue<'_>, attribute: &str) -> Option<Attribute> {
    function
        .get_enum_attribute(AttributeLoc::Function, Attribute::get_named_enum_kind_id(attribute))
}

fn enum_attribute(context: &Context, name: &str) -> Attribute {
    context.create_enum_attribute(Attribute::get_named_enum_kind_id(name), 0)
}

fn is_defined(function: &FunctionValue<'_>) -> bool {
    function.count_basic_blocks() > 0
}

fn name(function: &FunctionValue<'_>) -> String {
    function.get_name().to_string_lossy().into_owned()
}

/// The processor, as Clang's own arguments say it.
fn cpu(machine: &Machine) -> Vec<String> {
    let mut options = vec![];
    if !machine.cpu.is_empty() {
        options.extend(["-target-cpu".to_owned(), machine.cpu.clone()]);
    }
    for feature in machine.features.split(',').filter(|feature| !feature.is_empty()) {
        options.extend(["-target-feature".to_owned(), feature.to_owned()]);
    }
    options
}
