//! Models given on the command line: what they are, and how they become a module.

use super::{
    args::{ModelArgs, TargetArgs},
    registry::Known,
};
use crate::{
    CompileOptions, DType, Error, Interface, Phase, Result, Session, Tensor, Toolkit,
    artifact::WeightsPlace,
    import::{ImportOptions, ShapeOption, Source, parse_value, program_in},
    io,
    ir::print::Weights,
    targets::Operators,
};
use indexmap::IndexMap;
use melior::ir::Module;
use phaseline_base::size::Symbol;
use std::path::Path;

/// Inputs that are given with a model.
#[derive(Clone, Copy)]
pub struct Given<'a> {
    /// Their values.
    pub values: &'a IndexMap<String, Tensor>,
    /// True if those that decide on shapes become constants.
    pub folded: bool,
}

/// Makes a module of a model.
pub fn import<'s>(
    source: &dyn Source,
    session: &'s Session,
    args: &ModelArgs,
    targets: &CompileOptions<'_>,
) -> Result<Module<'s>> {
    Ok(import_given(source, session, args, targets, None)?.0)
}

/// Makes a module of a model. Given inputs fix the shapes of the model's own. Gives the names of those
/// that became constants.
pub fn import_given<'s>(
    source: &dyn Source,
    session: &'s Session,
    args: &ModelArgs,
    targets: &CompileOptions<'_>,
    given: Option<Given<'_>>,
) -> Result<(Module<'s>, Vec<String>)> {
    let shapes = args.shapes.iter().map(|(name, _)| ("shape", name));
    let options = shapes.chain(args.values.iter().map(|(name, _)| ("value", name)));
    if let Some((option, name)) = options.clone().next().filter(|_| source.is_ir()) {
        let what = if option == "shape" { "types" } else { "inputs" };
        return Err(Error::invalid(format!(
            "{} is IR, which has the {what} that it has: --{option} {name}=... has no use",
            args.model.display()
        )));
    }
    let names: Vec<_> = options.map(|(_, name)| name).collect();
    let twice =
        args.values.iter().find(|(name, _)| names.iter().filter(|n| **n == name).count() > 1);
    if let Some((name, _)) = twice {
        return Err(Error::invalid(format!(
            "input `{name}` is given a value and another value or shape: give it one --value"
        )));
    }
    let operators = match source.is_ir() {
        true => Operators::default(),
        false => targets.operators(session)?,
    };
    let mut options =
        ImportOptions { operators, unroll_loops: args.unroll_loops, ..Default::default() };
    for (name, text) in &args.values {
        if text.contains("..") && !text.starts_with('@') {
            let elements = Symbol::parse_elements(name, text).map_err(Error::invalid)?;
            options.elements.insert(name.clone(), elements);
            continue;
        }
        options.constants.insert(name.clone(), value(source, args, name, text)?);
    }
    let inputs = source.input_names();
    for (name, option) in &args.shapes {
        match option {
            ShapeOption::Range(symbol) => {
                options.symbols.insert(name.clone(), symbol.clone());
            }
            ShapeOption::Dims(dims) => match dims[..] {
                [Some(size)] if inputs.as_ref().is_some_and(|inputs| !inputs.contains(name)) => {
                    options.symbols.insert(name.clone(), Symbol::new(name, size, size));
                }
                _ => {}
            },
        }
        let again = args.shapes.iter().filter(|(other, _)| other == name).count() > 1;
        if again && options.symbols.contains_key(name) {
            return Err(Error::invalid(format!(
                "dimension `{name}` is given more than one size: give it one --shape"
            )));
        }
    }
    let elements = options.elements.values().flatten();
    let ranges = options.symbols.values().chain(elements).any(|symbol| !symbol.is_known());
    options.variants = args.variants();
    if !ranges && !options.variants.is_empty() {
        return Err(Error::invalid(
            "--variant, --buckets and --waste divide ranges of sizes, but no dimension has a range: give one, for example \
             --shape batch=1..8",
        ));
    }
    let mut fixed = vec![];
    match given {
        // Sizes are those of a run then.
        Some(Given { folded: false, .. }) if ranges => {}
        Some(Given { values, .. }) if ranges => {
            for name in source.shape_inputs()? {
                if let Some(value) =
                    values.get(&name).filter(|_| !options.elements.contains_key(&name))
                {
                    options.constants.entry(name.clone()).or_insert_with(|| value.clone());
                    fixed.push(name);
                }
            }
        }
        Some(Given { values, folded: true }) => fixed = options.fix(source, values)?,
        Some(Given { values, .. }) => options.fix_shapes(values),
        None => {}
    }
    for (name, option) in &args.shapes {
        // What is said goes before what is given.
        if let ShapeOption::Dims(dims) = option
            && !options.symbols.contains_key(name)
        {
            options.shapes.insert(name.clone(), dims.clone());
        }
    }
    let module = source.import(session, &options)?;
    if source.is_ir() && !args.trust {
        check_network(&module)?;
    }
    Ok((module, fixed))
}

/// Fails for IR that does more than to compute tensors.
fn check_network(module: &Module<'_>) -> Result<()> {
    let Some(found) = program_in(module) else { return Ok(()) };
    Err(Error::invalid(format!(
        "{found}: IR with more than a network's operations is a program, which may call any function with your \
         rights; if you know who wrote it, add --trust, or --from=PHASE if --emit=PHASE printed it"
    )))
}

/// The value that `--value` gives an input: text, or `@` and a file.
fn value(source: &dyn Source, args: &ModelArgs, name: &str, text: &str) -> Result<Tensor> {
    let Some(file) = text.strip_prefix('@') else {
        let fault = |reason: String| {
            Error::invalid(format!("{}: --value {name}={text}: {reason}", args.model.display()))
        };
        let Some(dtype) = source.input_type(name) else {
            let inputs = source.input_names().unwrap_or_default();
            let known: Vec<_> = inputs.iter().map(|input| format!("`{input}`")).collect();
            return Err(fault(match inputs.iter().any(|input| input == name) {
                true => format!("input `{name}` is of a type that has no values"),
                false => format!("there is no input `{name}`; the inputs are {}", known.join(", ")),
            }));
        };
        return parse_value(text, dtype).map_err(fault);
    };
    let path = Path::new(file);
    #[cfg(feature = "onnx")]
    if path.extension().is_some_and(|ending| ending == "pb") {
        return Ok(io::pb::read(path)?.1);
    }
    if !path.is_file() {
        return Err(Error::invalid(format!(
            "--value {name}=@{file}: there is no such file; it is an .npy, .npz or .pb"
        )));
    }
    let mut read = io::load_inputs(path, &[name.to_owned()])?;
    read.shift_remove(name).ok_or_else(|| Error::internal("an input that was read is lost"))
}

/// The name of an open dimension of an input: the model's own, or `INPUT.AXIS`.
pub fn dimension_name(source: &dyn Source, input: &str, axis: usize) -> String {
    let own = source.dimension_names(input).into_iter().nth(axis).flatten();
    own.unwrap_or_else(|| format!("{input}.{axis}"))
}

/// Fails, before any work, if dimensions of inputs have neither a size nor a range.
///
/// # Errors
/// All of them are in one message.
pub fn check_open(source: &dyn Source, module: &Module<'_>) -> Result<()> {
    if source.is_ir() {
        return Ok(());
    }
    let mut interface = Interface::of(module)?;
    crate::sizes::greatest(module, &mut interface)?;
    let (mut places, mut sizes, mut ranges) = (vec![], vec![], vec![]);
    for input in &interface.inputs {
        for (axis, _) in input.shape.iter().enumerate().filter(|(_, size)| size.is_none()) {
            let name = dimension_name(source, &input.name, axis);
            let size = format!("--shape {name}=1");
            if !sizes.contains(&size) {
                places.push(format!("`{name}` (dimension {axis} of input `{}`)", input.name));
                ranges.push(format!("{size}..8"));
                sizes.push(size);
            }
        }
    }
    if sizes.is_empty() {
        return Ok(());
    }
    Err(Error::invalid(format!(
        "the model leaves sizes of its inputs open: {}; give each one size, for example {}, or a range, which leaves the size \
         to each run: {}",
        places.join(", "),
        sizes.join(" "),
        ranges.join(" ")
    )))
}

/// Reads the inputs at `path` for the inputs called `names`, but for those whose values are known.
pub fn read_inputs(
    path: &Path,
    names: &[String],
    known: &[(String, String)],
) -> Result<IndexMap<String, Tensor>> {
    let is_known = |name: &str| known.iter().any(|(known, _)| known == name);
    Ok(io::load_some_inputs(path, names, &|name| !is_known(name))?)
}

/// Inputs from a seed, for an interface whose shapes are all known.
pub fn random_inputs(interface: &Interface, seed: u64) -> Result<IndexMap<String, Tensor>> {
    interface
        .inputs
        .iter()
        .map(|input| {
            let shape = input.static_shape().ok_or_else(|| {
                Error::invalid(format!(
                    "random inputs need a known shape, and '{input}' has none: add --shape {}=...",
                    input.name
                ))
            })?;
            let tensor = match interface.elements.get(&input.name) {
                Some(values) if input.dtype == DType::I32 => {
                    let values: Vec<_> = values
                        .iter()
                        .map(|value| i32::try_from(*value).unwrap_or(i32::MAX))
                        .collect();
                    Tensor::from_slice(&shape, &values)?
                }
                Some(values) => Tensor::from_slice(&shape, values)?,
                None => Tensor::random_named(input.dtype, &shape, seed, &input.name)?,
            };
            Ok((input.name.clone(), tensor))
        })
        .collect()
}

/// The options of a compile.
pub fn compile_options<'a>(
    toolkit: &Toolkit,
    args: &TargetArgs,
    name: String,
    after: Phase,
    observer: Option<&'a dyn Fn(Phase)>,
) -> Result<CompileOptions<'a>> {
    let pipeline = match &args.pipeline {
        None => None,
        Some(path) => {
            let text = crate::io::read_text(path).map_err(|e| Error::io("cannot read", path, e))?;
            Some(toolkit.phases.parse(&text, &path.to_string_lossy())?)
        }
    };
    let known = Known::of(toolkit, &args.known)?;
    let placed =
        |(phase, passes): &(Phase, String)| Ok((toolkit.phases.placed(*phase)?, passes.clone()));
    Ok(CompileOptions {
        phases: toolkit.phases.clone(),

        targets: known.expanded(&args.target)?,
        target_path: known.paths,
        placement: args.placement.clone(),
        pools: args.pools.clone(),
        placement_search: args.placement_search,
        profile: args.profile.clone(),
        apart: args.apart,
        lowering_order: args.lowering_order.clone(),
        name,
        pipeline,
        evaluate_constants: true,
        passes: args.passes.iter().map(placed).collect::<Result<_>>()?,
        patches: args.memory.patches,
        arena_limit: args.memory.arena_limit,
        after: toolkit.phases.placed(after)?,
        dump_phases: args.dump_phases.clone(),
        dump_weights: if args.dump_weights { Weights::Print } else { Weights::Elide },
        reproducer: args.reproducer.clone(),
        observer,
        pass_observer: None,
        cc: super::data::c_compiler(),
        trace: false,
        poison: args.poison,
        weights: WeightsPlace::Auto,
        layouts: vec![],
        plan_picture: false,
        bind: args.bind.clone(),
        states: args.state.clone(),
        devices: None,
    })
}

/// A C identifier made of a model's file name.
pub fn model_name(path: &Path) -> String {
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let mut name: String = stem
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '_' })
        .collect();
    if name.is_empty() || name.starts_with(|c: char| c.is_ascii_digit()) {
        name.insert_str(0, "model_");
    }
    name
}

/// Checks a name that the user gave with `--name`.
pub fn check_name(name: &str) -> Result<String> {
    let good = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if !good {
        return Err(Error::invalid(format!(
            "--name '{name}' is not a C identifier (letters, digits and _, not starting with a \
             digit)"
        )));
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_become_identifiers() {
        for (file, name) in
            [("a/ResNet-50.onnx", "resnet_50"), ("1x.onnx", "model_1x"), ("net.mlir", "net")]
        {
            assert_eq!(model_name(Path::new(file)), name);
            assert!(check_name(name).is_ok());
        }
        assert!(check_name("a-b").is_err() && check_name("").is_err() && check_name("1").is_err());
    }
}
