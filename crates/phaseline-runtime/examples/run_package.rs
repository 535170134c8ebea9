//! Runs a package: `run_package PACKAGE [INPUTS [OUTPUTS]]`.
//!
//! INPUTS is a `.npz` file by the names of the inputs, or a `.npy` file for the one that there is; inputs are
//! random without it. Outputs go to OUTPUTS, a `.npz` file; their shapes and first elements are printed.

#![allow(clippy::print_stdout, reason = "a program that prints its results")]

use phaseline_runtime::{Error, Executable, Result, Tensor, io, load};
use std::{path::Path, process::ExitCode};

/// Elements of an output that are printed.
const SHOWN: usize = 8;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match run(&arguments) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &[String]) -> Result<String> {
    let (package, inputs, outputs) = match arguments {
        [package] => (package, None, None),
        [package, inputs] => (package, Some(inputs), None),
        [package, inputs, outputs] => (package, Some(inputs), Some(outputs)),
        _ => return Err(Error::invalid("usage: run_package PACKAGE [INPUTS [OUTPUTS]]")),
    };
    let model = load(Path::new(package))?;
    let inputs = match inputs {
        Some(path) => {
            let ports = model.signature().inputs.iter();
            let names: Vec<String> = ports.map(|port| port.name.clone()).collect();
            io::load_inputs(Path::new(path), &names)?
        }
        None => random(&model)?.into_iter().collect(),
    };
    let results = model.run_named(&inputs)?;
    if let Some(path) = outputs {
        io::save_outputs(Path::new(path), &results)?;
    }
    let line = |(name, tensor): (&String, &Tensor)| {
        let first: Vec<String> =
            tensor.to_f64().iter().take(SHOWN).map(|value| format!("{value}")).collect();
        let more = if tensor.len() > SHOWN { " ..." } else { "" };
        format!("{name}: {}{:?} = {}{more}\n", tensor.dtype(), tensor.shape(), first.join(" "))
    };
    Ok(results.iter().map(line).collect())
}

/// A value for each input.
fn random(model: &Executable) -> Result<Vec<(String, Tensor)>> {
    let ports = model.signature().inputs.iter();
    let value = |port: &phaseline_runtime::artifact::Port| {
        let tensor = Tensor::random_named(port.dtype, &port.shape, 1, &port.name)?;
        Ok((port.name.clone(), tensor))
    };
    ports.map(value).collect()
}
