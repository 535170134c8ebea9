//! Random networks that share views of values (slices, splits, joins, transposes, reshapes, padding, halves
//! rotated), on each kind of host and device, against a plain evaluation without an optimiser.
//!
//! `make fuzz-views COUNT=N SEED=S` goes on where it was stopped: `build/fuzz-views/SEED.json` has what was
//! tried. A network that went wrong is kept there with its inputs, and the command that runs it.

mod network;
mod tensors;

use network::Network;
use phaseline::{CompileOptions, Session, Tensor};
use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};
use tensors::Array;

/// The targets, whose generated C is compiled quickly.
const TARGETS: [(&str, &str); 5] = [
    ("c", "c -cflags=-O0"),
    ("llvm", "llvm"),
    ("vanilla, c", "vanilla, c -cflags=-O0"),
    ("vecdsp, c", "vecdsp, c -cflags=-O0"),
    ("opencl, llvm", "opencl, llvm"),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("build/fuzz-views")
}

#[allow(clippy::disallowed_methods, reason = "make tells tests how much is tried")]
fn setting(name: &str) -> Option<u64> {
    std::env::var(name).ok().and_then(|text| text.parse().ok())
}

fn tensor(array: &Array) -> Tensor {
    Tensor::from_slice(&array.dims, &array.data).expect("a tensor")
}

/// Description of a target's wrong result; none if it is right.
fn fault(session: &Session, network: &Network, target: &str) -> Option<String> {
    let options = CompileOptions { targets: target.into(), poison: true, ..Default::default() };
    let module = match session.parse(network.text.as_bytes(), "views.mlir") {
        Ok(module) => module,
        Err(error) => return Some(format!("is not read: {error}")),
    };
    let loaded = session.compile(module, &options).and_then(|compiled| compiled.load());
    let executable = match loaded {
        Ok(executable) => executable,
        Err(error) => return Some(format!("is not compiled: {error}")),
    };
    let inputs: Vec<Tensor> = network.inputs.iter().map(tensor).collect();
    let outputs = match executable.run(&inputs) {
        Ok(outputs) => outputs,
        Err(error) => return Some(format!("does not run: {error}")),
    };
    let pairs = outputs.iter().zip(&network.outputs).enumerate();
    pairs.filter_map(|(index, (got, wanted))| difference(index, got, wanted)).next()
}

/// Description of a difference beyond that of sums in another order.
fn difference(index: usize, got: &Tensor, wanted: &Array) -> Option<String> {
    let allowed = 1e-4 * wanted.greatest().max(1.0);
    let elements = got.as_slice::<f32>().expect("f32");
    let wrong = |pair: &(&f32, &f32)| {
        let off = (pair.0 - pair.1).abs();
        off.is_nan() || off > allowed
    };
    let pairs = || elements.iter().zip(&wanted.data);
    let (at, (x, y)) = pairs().enumerate().find(|(_, pair)| wrong(pair))?;
    let count = pairs().filter(wrong).count();
    Some(format!(
        "output {index}: {count} of {} elements are wrong, such as {at}: {x}, not {y}",
        elements.len()
    ))
}

/// Keeps a network, its inputs, and what is wrong.
fn keep(network: &Network, (seed, number): (u64, u64), target: &str, fault: &str) {
    let folder = folder().join(format!("{seed}-{number}"));
    fs::create_dir_all(&folder).expect("a folder");
    fs::write(folder.join("net.mlir"), &network.text).expect("writes");
    let named = |arrays: &[Array], stem: &str| {
        arrays.iter().enumerate().map(|(i, array)| (format!("{stem}_{i}"), tensor(array))).collect()
    };
    for (file, arrays, stem) in
        [("inputs.npz", &network.inputs, "input"), ("expected.npz", &network.outputs, "output")]
    {
        phaseline::io::npz::write(&folder.join(file), &named(arrays, stem)).expect("writes");
    }
    let name: String = target.chars().filter(|letter| letter.is_alphanumeric()).collect();
    let text =
        format!("phaseline run net.mlir --poison -t '{target}' --inputs inputs.npz\n{fault}\n");
    fs::write(folder.join(format!("{name}.txt")), text).expect("writes");
}

/// Number of networks tried on each target, and those of them that went wrong.
type State = BTreeMap<String, (u64, Vec<u64>)>;

#[test]
fn views_are_read_before_they_are_written_over() {
    let count = setting("PHASELINE_VIEWS_COUNT");
    let seed = setting("PHASELINE_VIEWS_SEED").unwrap_or(0);
    let file = folder().join(format!("{seed}.json"));
    let kept = fs::read(&file).ok().filter(|_| count.is_some());
    let mut state: State =
        kept.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default();
    let mut session = Session::new();
    for number in 0..count.unwrap_or(20) {
        let is_done = |name: &str| state.get(name).is_some_and(|(tried, _)| *tried > number);
        let targets: Vec<_> = TARGETS.iter().filter(|(name, _)| !is_done(name)).collect();
        if targets.is_empty() {
            continue;
        }
        let network = Network::random(seed, number);
        for (name, target) in targets {
            let found = fault(&session, &network, target);
            let (tried, wrong) = state.entry((*name).to_owned()).or_default();
            *tried = number + 1;
            if let Some(found) = found {
                keep(&network, (seed, number), target, &found);
                println!("seed {seed}, network {number} on '{name}': {found}");
                wrong.push(number);
            }
        }
        if number % 16 == 15 {
            session.clear();
        }
        if count.is_some() {
            fs::create_dir_all(folder()).expect("a folder");
            let text = serde_json::to_vec(&state).expect("is JSON");
            fs::write(&file, text).expect("writes");
        }
    }
    for (name, (tried, wrong)) in &state {
        println!("{name}: {tried} networks of seed {seed}, {} wrong {wrong:?}", wrong.len());
    }
    let wrong: usize = state.values().map(|(_, wrong)| wrong.len()).sum();
    assert_eq!(wrong, 0, "networks are kept in {}", folder().display());
}
