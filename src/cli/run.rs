//! `phaseline run`, and what `verify` and `bench` share with it.

use super::{
    args::{CacheArgs, DataArgs, InputArgs, ModelArgs, RunArgs, TargetArgs},
    cache::Entry,
    model::{
        Given, check_open, compile_options, import_given, model_name, random_inputs, read_inputs,
    },
    print, print_error,
    progress::Progress,
};
use crate::{
    CompileOptions, Error, Interface, Phase, Result, Session, Tensor, Toolkit, io,
    runtime::{self, Executable},
};
use indexmap::IndexMap;
use melior::ir::Module;
use std::time::{Duration, Instant};

/// A model that is ready to run, with its inputs.
pub struct Ready {
    /// The code.
    pub executable: Executable,
    /// All inputs by name.
    pub inputs: IndexMap<String, Tensor>,
    /// Time to import and compile; zero for a package.
    pub compile: Duration,
    /// Time to link or load.
    pub load: Duration,
}

/// Runs a model once.
pub fn run(toolkit: &Toolkit, args: &RunArgs) -> Result<()> {
    let mut ready = prepare(
        toolkit,
        &args.model,
        &args.target,
        &args.data,
        &Preparation::new(&args.cache, args.trace.is_some()),
    )?;
    ready.executable.set_threads(args.threads)?;
    let outputs = ready.executable.run_named(&ready.inputs)?;
    if let Some(path) = &args.trace {
        let inputs: Vec<_> = ready.inputs.values().cloned().collect();
        let mut again = ready.executable.output_buffers()?;
        let events = ready.executable.run_traced(&inputs, &mut again)?;
        io::write_bytes(path, ready.executable.chrome_trace(&events)?)?;
    }
    match &args.data.outputs {
        Some(path) => Ok(io::save_outputs(path, &outputs)?),
        None => print(&summary(&outputs)),
    }
}

/// Settings for making a model ready.
pub struct Preparation<'a> {
    cache: &'a CacheArgs,
    /// True if runs can be followed step by step.
    trace: bool,
    /// True if inputs that decide on shapes become constants.
    folded: bool,
}

impl<'a> Preparation<'a> {
    /// Settings for runs on inputs that are known.
    pub fn new(cache: &'a CacheArgs, trace: bool) -> Self {
        Self { cache, trace, folded: true }
    }

    /// Settings for runs on any inputs, as of a package.
    pub fn of_program(self) -> Self {
        Self { folded: false, ..self }
    }
}

/// Reads or makes the inputs, compiles or loads the model.
pub fn prepare(
    toolkit: &Toolkit,
    model: &ModelArgs,
    target: &TargetArgs,
    data: &DataArgs,
    how: &Preparation<'_>,
) -> Result<Ready> {
    if model.model.is_dir() {
        return prepare_package(model, data);
    }
    let progress = Progress::new();
    progress.say("reading the model");
    let start = Instant::now();
    let session = super::new_session(toolkit);
    let observer = |phase| progress.phase(phase);
    let mut options =
        compile_options(toolkit, target, model_name(&model.model), Phase::Import, Some(&observer))?;
    options.trace = how.trace;
    let (module, inputs) = open(&session, model, &options, (&data.inputs, how.folded))?;
    let entry = Entry::of(&session, &module, &options, how.cache)?;
    let compile = start.elapsed();
    let loading = Instant::now();
    if let Some(executable) = entry.as_ref().and_then(|entry| entry.take(runtime::load)) {
        return Ok(Ready { executable, inputs, compile, load: loading.elapsed() });
    }
    let compiled = session.compile(module, &options)?;
    if let Some(entry) = entry {
        entry.keep(|cache, key| cache.keep(key, &compiled));
    }
    let compile = start.elapsed();
    let start = Instant::now();
    let executable = compiled.load()?;
    Ok(Ready { executable, inputs, compile, load: start.elapsed() })
}

/// Imports a model, and reads or makes its inputs. If they are `folded`, those that decide on shapes become
/// constants, which standard error is told.
pub fn open<'s>(
    session: &'s Session,
    model: &ModelArgs,
    options: &CompileOptions<'_>,
    (data, folded): (&InputArgs, bool),
) -> Result<(Module<'s>, IndexMap<String, Tensor>)> {
    let source = super::bytecode::open(&model.model)?;
    let names = source.input_names();
    let given = match (&data.inputs, &names) {
        (Some(path), Some(names)) => Some(read_inputs(path, names, &model.values)?),
        _ => None,
    };
    let with = given.as_ref().map(|values| Given { values, folded });
    let (module, fixed) = import_given(&*source, session, model, options, with)?;
    if !fixed.is_empty() {
        let names: Vec<_> = fixed.iter().map(|name| format!("'{name}'")).collect();
        print_error(&format!(
            "note: taken as constants of this run, since they decide on shapes: {} (compile --value does \
             the same)\n",
            names.join(", ")
        ));
    }
    check_open(&*source, &module)?;
    let mut interface = Interface::of(&module)?;
    crate::sizes::greatest(&module, &mut interface)?;
    let inputs = match (given, &data.inputs, data.random_inputs) {
        (Some(given), ..) => given,
        (None, Some(path), _) => {
            let names: Vec<_> = interface.inputs.iter().map(|input| input.name.clone()).collect();
            read_inputs(path, &names, &[])?
        }
        (None, None, Some(seed)) => random_inputs(&interface, seed)?,
        (None, None, None) if interface.inputs.is_empty() => IndexMap::new(),
        (None, None, None) => return Err(missing_inputs(&interface)),
    };
    // Inputs that became constants are gone from the interface.
    let inputs = interface
        .inputs
        .iter()
        .filter_map(|input| Some((input.name.clone(), inputs.get(&input.name)?.clone())))
        .collect();
    Ok((module, inputs))
}

fn prepare_package(model: &ModelArgs, data: &DataArgs) -> Result<Ready> {
    let folder = &model.model;
    let shapes = model.shapes.iter().map(|(name, _)| ("shape", name));
    let mut options = shapes.chain(model.values.iter().map(|(name, _)| ("value", name)));
    if let Some((option, name)) = options.next() {
        return Err(Error::invalid(format!(
            "{} is compiled already: --{option} {name}=... has no use; give it to compile",
            folder.display()
        )));
    }
    let start = Instant::now();
    let executable = runtime::load(folder)?;
    let load = start.elapsed();
    let signature = executable.signature();
    let given = signature.given();
    let greatest = |index: usize| signature.bounds.as_ref()?.greatest(index);
    let elements = given.iter().enumerate();
    let interface = Interface {
        inputs: given.iter().map(Into::into).collect(),
        outputs: vec![],
        elements: elements
            .filter_map(|(index, port)| Some((port.name.clone(), greatest(index)?)))
            .collect(),
    };
    let names: Vec<_> = interface.inputs.iter().map(|input| input.name.clone()).collect();
    let inputs = match (&data.inputs.inputs, data.inputs.random_inputs) {
        (Some(path), _) => read_inputs(path, &names, &[])?,
        (None, Some(seed)) => random_inputs(&interface, seed)?,
        (None, None) if names.is_empty() => IndexMap::new(),
        (None, None) => return Err(missing_inputs(&interface)),
    };
    Ok(Ready { executable, inputs, compile: Duration::ZERO, load })
}

fn missing_inputs(interface: &Interface) -> Error {
    let list: Vec<_> = interface.inputs.iter().map(|input| format!("  {input}")).collect();
    Error::invalid(format!(
        "the model takes inputs and none are given; add --inputs PATH or --random-inputs SEED:\n{}",
        list.join("\n")
    ))
}

/// One line per output: type, range and mean, for a look at the terminal.
fn summary(outputs: &IndexMap<String, Tensor>) -> String {
    let mut text = String::new();
    for (name, tensor) in outputs {
        let values = tensor.to_f64();
        let least = values.iter().copied().fold(f64::INFINITY, f64::min);
        let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let mean = values.iter().sum::<f64>() / values.len().max(1) as f64;
        text.push_str(&format!(
            "{name}: {}{:?} min {least:.6} max {most:.6} mean {mean:.6}\n",
            tensor.dtype(),
            tensor.shape()
        ));
    }
    text
}
