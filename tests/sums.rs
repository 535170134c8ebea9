//! Long sums are added up in blocks, whatever the loops look like.
//!
//! One term is 2^24, and all others are 1: added one by one behind it, each of them is lost. In blocks of 512 only those
//! of its own block are.

use phaseline::{CompileOptions, Session, Tensor};

const GREAT: f32 = 16_777_216.0;

/// True if the element at an index is great.
type IsGreat = fn(&[usize]) -> bool;

/// An operation on inputs of its own.
struct Case {
    /// Its text: `{a}` and `{b}` are the inputs.
    text: &'static str,
    /// The types of the inputs, and which of their elements are great.
    inputs: Vec<(Vec<usize>, IsGreat)>,
    /// Value of the great ones.
    great: f32,
    output: Vec<usize>,
    /// The terms of an element of the result.
    terms: fn(&[usize]) -> usize,
    /// Divisor of the result.
    divisor: f64,
}

fn tensor_type(dims: &[usize]) -> String {
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}xf32>").replace("xxf32", "xf32")
}

fn position(mut place: usize, dims: &[usize]) -> Vec<usize> {
    let mut at = vec![0; dims.len()];
    for (index, dim) in at.iter_mut().zip(dims).rev() {
        (*index, place) = (place % dim, place / dim);
    }
    at
}

fn input(dims: &[usize], great: f32, is_great: fn(&[usize]) -> bool) -> Tensor {
    let count = dims.iter().product();
    let values: Vec<f32> =
        (0..count).map(|i| if is_great(&position(i, dims)) { great } else { 1.0 }).collect();
    Tensor::from_slice(dims, &values).expect("a tensor")
}

/// A reduction of one input.
fn reduction(
    text: &'static str,
    dims: &[usize],
    is_great: fn(&[usize]) -> bool,
    output: &[usize],
) -> Case {
    let terms: fn(&[usize]) -> usize =
        match dims.iter().product::<usize>() / output.iter().product::<usize>() {
            5_000 => |_| 5_000,
            12_000 => |_| 12_000,
            600_000 => |_| 600_000,
            3_600 => |_| 3_600,
            1_600 => |_| 1_600,
            other => unreachable!("{other} terms"),
        };
    let inputs = vec![(dims.to_vec(), is_great)];
    Case { text, inputs, great: GREAT, output: output.to_vec(), terms, divisor: 1.0 }
}

fn reductions() -> Vec<Case> {
    let first: fn(&[usize]) -> bool = |at| at[1] == 0;
    let leading: fn(&[usize]) -> bool = |at| at[0] == 0;
    let corner: fn(&[usize]) -> bool = |at| at[0] == 0 && at[2] == 0;
    let pixel: fn(&[usize]) -> bool = |at| at[2] == 0 && at[3] == 0;
    let squared = Case {
        great: 4096.0,
        ..reduction("graph.reduce_sum_square {a} axes = [1]", &[3, 5_000], first, &[3, 1])
    };
    let global = Case {
        divisor: 3_600.0,
        ..reduction("graph.global_average_pool {a}", &[1, 2, 60, 60], pixel, &[1, 2, 1, 1])
    };
    let pool = "graph.average_pool {a} kernel_shape = [40, 40] strides = [40, 40]";
    let pool = Case { divisor: 1_600.0, ..reduction(pool, &[1, 2, 40, 40], pixel, &[1, 2, 1, 1]) };
    vec![
        reduction("graph.reduce_sum {a} axes = [1]", &[3, 5_000], first, &[3, 1]),
        reduction("graph.reduce_sum {a} axes = [0]", &[5_000, 70], leading, &[1, 70]),
        reduction("graph.reduce_sum {a} axes = [0, 2]", &[40, 5, 300], corner, &[1, 5, 1]),
        reduction("graph.reduce_sum {a} axes = [1]", &[1, 600_000], first, &[1, 1]),
        reduction("graph.reduce_sum {a} axes = [0]", &[600_000, 2], leading, &[1, 2]),
        squared,
        global,
        pool,
    ]
}

/// The taps of a window of three with padding of one that are inside of nine pixels.
fn taps(at: usize) -> usize {
    3 - usize::from(at == 0) - usize::from(at == 8)
}

fn products() -> Vec<Case> {
    let product = |rows, columns| Case {
        text: "graph.matmul {a}, {b}",
        inputs: vec![(vec![rows, 3_000], |at| at[1] == 0), (vec![3_000, columns], |_| false)],
        great: GREAT,
        output: vec![rows, columns],
        terms: |_| 3_000,
        divisor: 1.0,
    };
    let middle: fn(&[usize]) -> bool = |at| at[1] == 0 && at[2] == 1 && at[3] == 1;
    let convolution = Case {
        text: "graph.conv {a}, {b} pads = [1, 1, 1, 1]",
        inputs: vec![(vec![1, 128, 9, 9], |_| false), (vec![2, 128, 3, 3], middle)],
        great: GREAT,
        output: vec![1, 2, 9, 9],
        terms: |at| 128 * taps(at[2]) * taps(at[3]),
        divisor: 1.0,
    };
    let grouped = Case {
        text: "graph.conv {a}, {b} pads = [1, 1, 1, 1] group = 2",
        inputs: vec![(vec![1, 256, 9, 9], |_| false), (vec![2, 128, 3, 3], middle)],
        ..convolution_like(&convolution)
    };
    // Inside, two of four taps meet in each direction.
    let transposed = Case {
        text: "graph.conv_transpose {a}, {b} strides = [2, 2] pads = [1, 1, 1, 1]",
        inputs: vec![
            (vec![1, 300, 5, 5], |at| at[1] == 0 && at[2] % 2 == 0 && at[3] % 2 == 0),
            (vec![300, 2, 4, 4], |_| false),
        ],
        great: GREAT,
        output: vec![1, 2, 10, 10],
        terms: |at| {
            let meet = |at: usize| 2 - usize::from(at == 0 || at == 9);
            300 * meet(at[2]) * meet(at[3])
        },
        divisor: 1.0,
    };
    vec![product(2, 70), product(1, 1), convolution, grouped, transposed]
}

fn convolution_like(case: &Case) -> Case {
    Case { inputs: vec![], output: case.output.clone(), ..*case }
}

/// One network of all cases, and its inputs.
fn network(cases: &[Case]) -> (String, Vec<Tensor>) {
    let (mut arguments, mut body, mut types) = (vec![], String::new(), vec![]);
    let mut tensors = vec![];
    for (index, case) in cases.iter().enumerate() {
        let mut text = case.text.to_owned();
        let mut of = vec![];
        for ((dims, is_great), name) in case.inputs.iter().zip(["a", "b"]) {
            let ty = tensor_type(dims);
            arguments.push(format!("%{name}{index}: {ty}"));
            text = text.replace(&format!("{{{name}}}"), &format!("%{name}{index}"));
            of.push(ty);
            tensors.push(input(dims, case.great, *is_great));
        }
        let result = tensor_type(&case.output);
        body += &format!("%y{index} = {text} : ({}) -> {result}\n", of.join(", "));
        types.push(result);
    }
    let names: Vec<_> = (0..cases.len()).map(|index| format!("%y{index}")).collect();
    let (types, names) = (types.join(", "), names.join(", "));
    let text = format!(
        "func.func @main({}) -> ({types}) {{\n{body}return {names} : {types}\n}}",
        arguments.join(", ")
    );
    (text, tensors)
}

fn check(cases: &[Case], target: &str, lost: f64) {
    let (text, inputs) = network(cases);
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "sums.mlir").expect("a module");
    let options = CompileOptions { targets: target.into(), ..Default::default() };
    let network = session.compile(module, &options).expect("compiles").load().expect("loads");
    let outputs = network.run(&inputs).expect("runs");
    for (case, output) in cases.iter().zip(outputs) {
        for (place, found) in output.to_f64().into_iter().enumerate() {
            let terms = (case.terms)(&position(place, &case.output)) as f64;
            // Where several great terms meet or none does, as the weights say it.
            let great = ((found * case.divisor) / f64::from(GREAT)).round();
            let want = great * f64::from(GREAT) + terms - great;
            let off = (want - found * case.divisor) / great.max(1.0);
            assert!((-8.0..lost).contains(&off), "{target}: {} at {place}: {off}", case.text);
        }
    }
}

#[test]
fn loops_in_c_and_kernels_add_up_in_blocks() {
    let cases: Vec<Case> = reductions().into_iter().chain(products()).collect();
    for target in ["c", "opencl, llvm"] {
        check(&cases, target, 540.0);
    }
}

/// Sums in vectors lose less; what is no vector is in blocks of 4,096.
#[test]
fn loops_of_llvm_add_up_in_blocks() {
    check(&reductions(), "llvm", 4_200.0);
}
