//! Transpositions of any type, size and order, on each vector unit that this machine has.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use phaseline::{CompileOptions, Session, runtime::Executable, tensor::Element, tensor::Tensor};
use std::fmt::Debug;

/// Shapes and orders: long and short sides, neighbours that stay together, several batches, sizes
/// that are no multiple of a square or block, more than one task.
const CASES: &[(&[usize], &[usize])] = &[
    (&[197, 67], &[1, 0]),
    (&[600, 40], &[1, 0]),
    (&[3, 300, 520], &[0, 2, 1]),
    (&[2, 5, 77, 12], &[0, 2, 3, 1]),
    (&[2, 33, 4, 16], &[3, 2, 0, 1]),
    (&[2, 9, 3, 17, 5], &[1, 4, 0, 3, 2]),
    (&[1, 7, 1, 129], &[3, 0, 2, 1]),
    (&[4, 2, 600], &[2, 0, 1]),
    (&[16, 3, 50], &[1, 0, 2]),
    (&[1000, 3], &[1, 0]),
    // So large that lines are fetched ahead.
    (&[1100, 1003], &[1, 0]),
    (&[2, 40, 43, 1300], &[0, 3, 1, 2]),
];

fn targets() -> Vec<&'static str> {
    let mut targets = vec!["llvm"];
    #[cfg(target_arch = "x86_64")]
    {
        targets.push("llvm -mcpu=x86-64");
        if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
            targets.push("llvm -mcpu=x86-64-v3");
        }
    }
    targets
}

fn network(ty: &str) -> String {
    let shape = |dims: &mut dyn Iterator<Item = usize>| {
        let dims: String = dims.map(|dim| format!("{dim}x")).collect();
        format!("tensor<{dims}{ty}>")
    };
    let (mut arguments, mut body, mut names, mut results) = (vec![], String::new(), vec![], vec![]);
    for (index, (dims, perm)) in CASES.iter().enumerate() {
        let from = shape(&mut dims.iter().copied());
        let to = shape(&mut perm.iter().map(|axis| dims[*axis]));
        arguments.push(format!("%x{index}: {from}"));
        body +=
            &format!("  %{index} = graph.transpose %x{index} perm = {perm:?} : ({from}) -> {to}\n");
        names.push(format!("%{index}"));
        results.push(to);
    }
    let (arguments, names, results) = (arguments.join(", "), names.join(", "), results.join(", "));
    format!(
        "func.func @main({arguments}) -> ({results}) {{\n{body}  return {names} : {results}\n}}\n"
    )
}

fn compile(text: &str, target: &str) -> Executable {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "transposes.mlir").expect("a module");
    let options = CompileOptions { targets: target.into(), ..Default::default() };
    session.compile(module, &options).expect("compiles").load().expect("loads")
}

/// Source of each element of the transposed tensor.
fn sources(dims: &[usize], perm: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; dims.len()];
    for axis in (1..dims.len()).rev() {
        strides[axis - 1] = strides[axis] * dims[axis];
    }
    perm.iter().fold(vec![0], |sources, axis| {
        let steps: Vec<usize> = (0..dims[*axis]).map(|at| at * strides[*axis]).collect();
        sources.iter().flat_map(|source| steps.iter().map(move |step| source + step)).collect()
    })
}

fn check<T: Element + PartialEq + Debug>(ty: &str, value: fn(usize) -> T) {
    let inputs: Vec<Vec<T>> =
        CASES.iter().map(|(dims, _)| (0..dims.iter().product()).map(value).collect()).collect();
    let tensors: Vec<Tensor> = CASES
        .iter()
        .zip(&inputs)
        .map(|((dims, _), values)| Tensor::from_slice(dims, values).expect("a tensor"))
        .collect();
    for target in targets() {
        let found = compile(&network(ty), target).run(&tensors).expect("runs");
        for (((dims, perm), values), found) in CASES.iter().zip(&inputs).zip(&found) {
            let expected: Vec<T> = sources(dims, perm).into_iter().map(|at| values[at]).collect();
            let found = found.as_slice::<T>().expect("elements of the type");
            assert!(found == expected, "{target}: {dims:?} of {ty} in the order {perm:?}");
        }
    }
}

#[test]
fn elements_of_each_size_reach_their_places() {
    check("i8", |at| (at % 251) as i8);
    check("i16", |at| (at % 65_521) as i16);
    check("f32", |at| at as f32);
    check("i64", |at| at as i64);
}
