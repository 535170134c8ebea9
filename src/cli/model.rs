//! Models given on the command line: what they are, and how they become a module.

use super::{
    args::{ModelArgs, TargetArgs},
    registry::Known,
};
use crate::{
    CompileOptions, Error, Interface, Phase, Pipeline, Result, Session, Tensor,
    import::{ImportOptions, Source},
    io,
    ir::print::Weights,
    targets::Operators,
};
use indexmap::IndexMap;
use melior::ir::Module;
use std::path::Path;

/// Makes a module of a model. Given inputs fix the shapes of the model's own, and the values of those
/// that decide on shapes.
pub fn import<'s>(
    source: &dyn Source,
    session: &'s Session,
    args: &ModelArgs,
    targets: &CompileOptions<'_>,
    given: Option<&IndexMap<String, Tensor>>,
) -> Result<Module<'s>> {
    if let Some((name, _)) = args.shapes.first().filter(|_| source.is_ir()) {
        return Err(Error::invalid(format!(
            "{} is IR, which has the types that it has: --shape {name}=... has no use",
            args.model.display()
        )));
    }
    let operators = match source.is_ir() {
        true => Operators::default(),
        false => targets.operators(session)?,
    };
    let mut options =
        ImportOptions { operators, unroll_loops: args.unroll_loops, ..Default::default() };
    if let Some(given) = given {
        options.fix(source, given)?;
    }
    for (name, dims) in &args.shapes {
        options.shapes.insert(name.clone(), dims.clone());
    }
    source.import(session, &options)
}

/// Reads the inputs at `path` for the inputs called `names`.
pub fn read_inputs(path: &Path, names: &[String]) -> Result<IndexMap<String, Tensor>> {
    Ok(io::load_inputs(path, names)?)
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
            let tensor = Tensor::random_named(input.dtype, &shape, seed, &input.name)?;
            Ok((input.name.clone(), tensor))
        })
        .collect()
}

/// The options of a compile.
pub fn compile_options<'a>(
    args: &TargetArgs,
    name: String,
    after: Phase,
    observer: Option<&'a dyn Fn(Phase)>,
) -> Result<CompileOptions<'a>> {
    let pipeline = match &args.pipeline {
        None => None,
        Some(path) => {
            let text = crate::io::read_text(path).map_err(|e| Error::io("cannot read", path, e))?;
            Some(Pipeline::parse(&text, &path.to_string_lossy())?)
        }
    };
    let known = Known::of(&args.known)?;
    Ok(CompileOptions {
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
        passes: args.passes.clone(),
        patches: args.memory.patches,
        arena_limit: args.memory.arena_limit,
        after,
        dump_phases: args.dump_phases.clone(),
        dump_weights: if args.dump_weights { Weights::Print } else { Weights::Elide },
        reproducer: args.reproducer.clone(),
        observer,
        pass_observer: None,
        cc: super::data::c_compiler(),
        trace: false,
        poison: args.poison,
        plan_picture: false,
        bind: args.bind.clone(),
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
