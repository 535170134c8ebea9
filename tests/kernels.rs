//! Host kernels compute what the composites' decompositions compute.
//!
//! Each case is compiled twice, through kernels and through the general lowering, and run on the
//! same random inputs.

#![allow(clippy::panic, reason = "tests fail by panicking")]

mod amx;
mod attention;
mod cases;
mod halves;
mod harness;
mod joints;
mod pools;
mod tables;
mod winograd;

use cases::{CONVS, Conv, DEPTHWISE, DEPTHWISE_RANKS, RANKS, SINGLE, TRANSPOSED};
use harness::{Case, compare, compare_on, compare_with, tensor};
use pools::{all_pools, ranks_of_pools};

type After = fn(&mut Case, String, &[i64]) -> String;

fn convs(cases: &[Conv], after: After) -> Case {
    add_convs(Case::default(), cases, after)
}

fn add_convs(mut case: Case, cases: &[Conv], after: After) -> Case {
    for conv in cases {
        let x = case.input(conv.x);
        let w = case.constant(conv.w);
        let b = case.constant(&conv.w[..1]);
        let y =
            case.op(&format!("graph.conv %@, %@, %@ {}", conv.attributes), &[&x, &w, &b], conv.y);
        let y = after(&mut case, y, conv.y);
        case.output(&y);
    }
    case
}

fn plain(_: &mut Case, y: String, _: &[i64]) -> String {
    y
}

#[test]
fn convolutions() {
    compare(&convs(CONVS, plain), 512);
    compare(&convs(CONVS, plain), 128);
}

#[test]
fn depthwise_convolutions() {
    compare(&convs(DEPTHWISE, plain), 512);
    compare(&convs(DEPTHWISE, plain), 256);
}

#[test]
fn images_of_other_ranks() {
    for bits in [512, 128] {
        compare(&convs(RANKS, plain), bits);
        compare(&convs(DEPTHWISE_RANKS, plain), bits);
    }
}

/// The elements before and after a transposed convolution stay on NHWC, too.
#[test]
fn transposed_convolutions() {
    let case = transposed(Case::default());
    compare(&case, 512);
    compare(&case, 256);
}

fn transposed(mut case: Case) -> Case {
    for conv in TRANSPOSED {
        let x = case.input(conv.x);
        let x = case.op("graph.sigmoid %@", &[&x], conv.x);
        let w = case.constant(conv.w);
        let b = case.constant(&conv.y[1..2]);
        let text = format!("graph.conv_transpose %@, %@, %@ {}", conv.attributes);
        let y = case.op(&text, &[&x, &w, &b], conv.y);
        let y = case.op("graph.relu %@", &[&y], conv.y);
        case.output(&y);
    }
    case
}

fn sum_gate_and_clip(case: &mut Case, y: String, shape: &[i64]) -> String {
    let skip = case.input(shape);
    let ones = vec![1; shape.len() - 2];
    let channel = case.constant(&[&shape[1..2], &ones].concat());
    let gate = case.input(&[&shape[..2], &ones].concat());
    let low = case.scalar(-0.25);
    let high = case.scalar(0.5);
    let y = case.op("graph.add %@, %@", &[&y, &skip], shape);
    let y = case.op("graph.mul %@, %@", &[&y, &channel], shape);
    let y = case.op("graph.mul %@, %@", &[&gate, &y], shape);
    case.op("graph.clip %@ min %@ max %@", &[&y, &low, &high], shape)
}

#[test]
fn epilogues_of_convolutions() {
    compare(&convs(CONVS, sum_gate_and_clip), 256);
    compare(&convs(DEPTHWISE, sum_gate_and_clip), 512);
    compare(&convs(RANKS, sum_gate_and_clip), 512);
    compare(&convs(DEPTHWISE_RANKS, sum_gate_and_clip), 128);
}

/// Channels, and groups of them, are normalized where the images are.
#[test]
fn normalizations_between_convolutions() {
    for mut case in [Case::default(), Case::of_doubles()] {
        for (shape, norm) in [
            (&[2, 3, 9, 7][..], "graph.instance_norm %@, %@, %@"),
            (&[1, 3, 40], "graph.instance_norm %@, %@, %@ epsilon = 1.0e-2"),
            (&[2, 3, 4, 3, 5], "graph.instance_norm %@, %@, %@"),
            (&[2, 3, 6, 5], "graph.group_norm %@, %@, %@ num_groups = 4"),
            (&[1, 3, 31], "graph.group_norm %@, %@, %@ num_groups = 1 epsilon = 1.0e-3"),
            (&[1, 3, 2, 4, 3], "graph.group_norm %@, %@, %@ num_groups = 12"),
        ] {
            let x = case.input(shape);
            let with = |channels| [&[shape[0], channels], &shape[2..]].concat();
            let window =
                |filters, depth| [&[filters, depth], &vec![1; shape.len() - 2][..]].concat();
            let w = case.constant(&window(12, 3));
            let y = case.op("graph.conv %@, %@", &[&x, &w], &with(12));
            let (scale, bias) = (case.constant(&[12]), case.constant(&[12]));
            let y = case.op(norm, &[&y, &scale, &bias], &with(12));
            let y = case.op("graph.relu %@", &[&y], &with(12));
            let y = reshaped_groups(&mut case, &y, &with(12));
            let w = case.constant(&window(5, 12));
            let y = case.op("graph.conv %@, %@", &[&y, &w], &with(5));
            case.output(&y);
        }
        compare(&case, 512);
    }
}

/// Four groups that are made channels, normalized and made groups again.
fn reshaped_groups(case: &mut Case, y: &str, shape: &[i64]) -> String {
    let grouped = [shape[0], 4, shape[1..].iter().product::<i64>() / 4];
    let (scale, bias) = (case.constant(&[4]), case.constant(&[4]));
    let (to, from) = (case.integers(&grouped), case.integers(shape));
    let list = |count: usize| format!("tensor<{count}xi64>");
    let element = |case: &Case, shape: &[i64]| tensor(shape, case.element());
    let (whole, parts) = (element(case, shape), element(case, &grouped));
    let y = case.op_with_types("graph.reshape %@, %@", &[(y, &whole), (&to, &list(3))], &grouped);
    let y = case.op("graph.instance_norm %@, %@, %@", &[&y, &scale, &bias], &grouped);
    let types = [(&*y, &*parts), (&*from, &list(shape.len()))];
    case.op_with_types("graph.reshape %@, %@", &types, shape)
}

fn several_activations(case: &mut Case, y: String, shape: &[i64]) -> String {
    let sigmoid = case.op("graph.sigmoid %@", &[&y], shape);
    let swish = case.op("graph.mul %@, %@", &[&y, &sigmoid], shape);
    let y = case.op("graph.leaky_relu %@ alpha = 0.125", &[&swish], shape);
    let y = case.op("graph.hard_swish %@", &[&y], shape);
    case.op("graph.tanh %@", &[&y], shape)
}

#[test]
fn activations() {
    compare(&convs(&CONVS[..4], several_activations), 512);
}

#[test]
fn products() {
    let case = all_products(Case::default());
    compare(&case, 512);
    compare(&case, 256);
}

fn all_products(mut case: Case) -> Case {
    for (a, b, constant, y) in [
        (vec![5, 7], vec![7, 3], true, vec![5, 3]),
        (vec![1, 40], vec![40, 100], true, vec![1, 100]),
        (vec![33, 20], vec![20, 65], false, vec![33, 65]),
        (vec![2, 3, 9, 8], vec![2, 3, 8, 17], false, vec![2, 3, 9, 17]),
        (vec![2, 9, 8], vec![8, 50], true, vec![2, 9, 50]),
        (vec![4, 8], vec![3, 8, 5], false, vec![3, 4, 5]),
        (vec![2, 3, 4, 8], vec![3, 8, 5], false, vec![2, 3, 4, 5]),
        (vec![1, 1], vec![1, 1], true, vec![1, 1]),
        (vec![4, 9, 8], vec![4, 8, 19], true, vec![4, 9, 19]),
        (vec![3, 4, 9, 8], vec![1, 4, 8, 19], true, vec![3, 4, 9, 19]),
        (vec![3, 4, 9, 8], vec![4, 8, 19], false, vec![3, 4, 9, 19]),
        (vec![3, 1, 9, 8], vec![1, 4, 8, 19], true, vec![3, 4, 9, 19]),
        (vec![1, 4, 9, 8], vec![3, 1, 8, 19], false, vec![3, 4, 9, 19]),
        (vec![2, 3, 4, 5, 8], vec![1, 3, 4, 8, 33], true, vec![2, 3, 4, 5, 33]),
        (vec![2, 3, 4, 5, 8], vec![2, 1, 4, 8, 3], true, vec![2, 3, 4, 5, 3]),
    ] {
        let left = case.input(&a);
        let right = if constant { case.constant(&b) } else { case.input(&b) };
        let y_value = case.op("graph.matmul %@, %@", &[&left, &right], &y);
        let bias = case.input(&y[y.len() - 1..]);
        let sum = case.op("graph.add %@, %@", &[&y_value, &bias], &y);
        case.output(&sum);
    }
    case
}

#[test]
fn general_products() {
    compare(&all_general_products(Case::default()), 512);
}

fn all_general_products(mut case: Case) -> Case {
    for (a, b, c, attributes) in [
        ([6, 10], [10, 4], vec![4], ""),
        ([6, 10], [4, 10], vec![6, 4], "trans_b = true"),
        ([10, 6], [10, 4], vec![6, 1], "alpha = 0.5 beta = 2.0 trans_a = true"),
        ([10, 6], [4, 10], vec![1], "alpha = 2.0 trans_a = true trans_b = true"),
    ] {
        let left = case.input(&a);
        let right = case.constant(&b);
        let bias = case.input(&c);
        let y = case.op(
            &format!("graph.gemm %@, %@, %@ {attributes}"),
            &[&left, &right, &bias],
            &[6, 4],
        );
        let y = case.op("graph.relu %@", &[&y], &[6, 4]);
        case.output(&y);
    }
    case
}

/// Kernels of 64-bit floats: half as many lanes, and no step in 32 bits.
#[test]
fn doubles() {
    let double = Case::of_doubles;
    for machine in ["vector-bits=512", "vector-bits=256", "vector-bits=128", "plain-integers=true"]
    {
        compare_on(&add_convs(double(), CONVS, sum_gate_and_clip), "", machine, 0.0);
        compare_on(&all_products(double()), "", machine, 0.0);
        compare_on(&all_pools(double()), "", machine, 0.0);
    }
    for cases in [DEPTHWISE, RANKS, DEPTHWISE_RANKS] {
        compare(&add_convs(double(), cases, sum_gate_and_clip), 512);
    }
    for case in [transposed, ranks_of_pools, all_general_products] {
        compare(&case(double()), 256);
    }
    compare(&add_convs(double(), &CONVS[..4], several_activations), 512);
}

/// The exact GELU as exporters write it, which is long enough to be emitted in a loop.
#[test]
fn long_epilogues() {
    let mut case = Case::default();
    let shape = [9, 40];
    let x = case.input(&[9, 12]);
    let w = case.constant(&[12, 40]);
    let (root, one, half) = (case.scalar(2f32.sqrt()), case.scalar(1.0), case.scalar(0.5));
    let bias = case.constant(&[40]);
    let y = case.op("graph.matmul %@, %@", &[&x, &w], &shape);
    let y = case.op("graph.add %@, %@", &[&y, &bias], &shape);
    let e = case.op("graph.div %@, %@", &[&y, &root], &shape);
    let e = case.op("graph.erf %@", &[&e], &shape);
    let e = case.op("graph.add %@, %@", &[&e, &one], &shape);
    let y = case.op("graph.mul %@, %@", &[&y, &e], &shape);
    let y = case.op("graph.mul %@, %@", &[&y, &half], &shape);
    case.output(&y);
    compare(&case, 512);
}

/// Ops that follow convolutions to NHWC.
#[test]
fn ops_between_convolutions() {
    let mut case = Case::default();
    let x = case.input(&[1, 3, 8, 6]);
    let w = case.constant(&[10, 3, 3, 3]);
    let conv = |case: &mut Case| {
        case.op("graph.conv %@, %@ pads = [1, 1, 1, 1]", &[&x, &w], &[1, 10, 8, 6])
    };
    let (a, b) = (conv(&mut case), conv(&mut case));
    let joined = case.op("graph.concat %@, %@ axis = 1", &[&a, &b], &[1, 20, 8, 6]);
    let soft = case.op("graph.softmax %@ axis = 1", &[&joined], &[1, 20, 8, 6]);
    let pads = case.integers(&[0, 0, 1, 2, 0, 0, 0, 1]);
    let padded = case.op_with_types(
        "graph.pad %@, %@",
        &[(&soft, "tensor<1x20x8x6xf32>"), (&pads, "tensor<8xi64>")],
        &[1, 20, 9, 9],
    );
    let mean = case.op("graph.reduce_mean %@ axes = [2, 3] keepdims = false", &[&padded], &[1, 20]);
    let most = case.op("graph.reduce_max %@ axes = [1]", &[&padded], &[1, 1, 9, 9]);
    let scales = case.floats(&[1.0, 1.0, 2.0, 2.0]);
    let large = case.op_with_types(
        "graph.resize %@ scales %@",
        &[(&padded, "tensor<1x20x9x9xf32>"), (&scales, "tensor<4xf32>")],
        &[1, 20, 18, 18],
    );
    for value in [mean, most, large] {
        case.output(&value);
    }
    compare(&case, 256);
}

/// Batch normalization that is folded first, against one that is not.
#[test]
fn batch_normalization() {
    let mut case = Case::default();
    let x = case.input(&[1, 3, 8, 8]);
    let w = case.constant(&[10, 3, 3, 3]);
    let parameters: Vec<_> = (0..3).map(|_| case.constant(&[10])).collect();
    let var = case.positive(&[10]);
    let y = case.op("graph.conv %@, %@", &[&x, &w], &[1, 10, 6, 6]);
    let y = case.op(
        "graph.batch_norm %@, %@, %@, %@, %@",
        &[&y, &parameters[0], &parameters[1], &parameters[2], &var],
        &[1, 10, 6, 6],
    );
    let y = case.op("graph.relu %@", &[&y], &[1, 10, 6, 6]);
    // The second one has no convolution to go into.
    let z = case.op(
        "graph.batch_norm %@, %@, %@, %@, %@",
        &[&y, &parameters[0], &parameters[1], &parameters[2], &var],
        &[1, 10, 6, 6],
    );
    case.output(&z);
    compare_with(&case, "graph-simplify{rules=fold-batch-norm,scale-batch-norm},", 512);
}

/// Convolutions of integers; `zeros` are the zero points of the image and the filters.
fn integer_convs(cases: &[Conv], image: &str, weights: &str, zeros: (i64, Option<i64>)) -> Case {
    let mut case = Case::default();
    for conv in cases {
        let (x_type, w_type) = (tensor(conv.x, image), tensor(conv.w, weights));
        let x = case.input(conv.x);
        let scale = case.scalar(1.0 / 128.0);
        let zero = case.byte(zeros.0, image);
        let zero_type = tensor(&[], image);
        let x = case.op_of(
            "graph.quantize_linear %@, %@, %@",
            &[(&x, &tensor(conv.x, "f32")), (&scale, "tensor<f32>"), (&zero, &zero_type)],
            conv.x,
            image,
        );
        let w = case.bytes(conv.w, weights);
        let mut text = "graph.conv_integer %@, %@ x_zero_point %@ ".to_owned();
        let weights_zero_type = tensor(&[], weights);
        let mut operands: Vec<(&str, &str)> =
            vec![(&x, &x_type), (&w, &w_type), (&zero, &zero_type)];
        let weights_zero = zeros.1.map(|zero| case.byte(zero, weights));
        if let Some(zero) = &weights_zero {
            text += "w_zero_point %@ ";
            operands.push((zero, &weights_zero_type));
        }
        let sums = case.op_of(&(text + conv.attributes), &operands, conv.y, "i32");
        let one = case.scalar(1.0);
        let y = case.op_of(
            "graph.dequantize_linear %@, %@",
            &[(&sums, &tensor(conv.y, "i32")), (&one, "tensor<f32>")],
            conv.y,
            "f32",
        );
        case.output(&y);
    }
    case
}

/// The machines whose integer instructions this one has, as options of `lower-host-kernels`.
pub fn integer_machines() -> Vec<&'static str> {
    let mut machines = vec![];
    #[cfg(target_arch = "x86_64")]
    {
        machines.push("vector-bits=128");
        if is_x86_feature_detected!("avx2") {
            machines.push("vector-bits=256");
        }
        if is_x86_feature_detected!("avx512bw") {
            machines.push("vector-bits=512");
        }
        if is_x86_feature_detected!("avx512vnni") && is_x86_feature_detected!("avx512vl") {
            machines.extend([
                "vector-bits=512 byte-products=true",
                "vector-bits=256 byte-products=true",
            ]);
        }
        if is_x86_feature_detected!("avx512vbmi") && is_x86_feature_detected!("avx512vnni") {
            machines.push("vector-bits=512 byte-products=true byte-tables=true");
        }
        // Not only the machine has to have it, but the system has to let this process use it.
        let machine =
            phaseline::artifact::machines::select("", "native", "").expect("this machine");
        if machine.features.contains("+amx-int8") && !machine.features.contains("-amx-tile") {
            machines.push(amx::AMX);
        }
    }
    machines.push("plain-integers=true");
    machines
}

#[test]
fn convolutions_of_integers() {
    for machine in integer_machines() {
        compare_on(&integer_convs(CONVS, "ui8", "i8", (128, None)), "", machine, 0.0);
        compare_on(&integer_convs(CONVS, "i8", "i8", (5, Some(0))), "", machine, 0.0);
        // Less their zero point these weights have nine bits.
        compare_on(&integer_convs(CONVS, "i8", "ui8", (-128, Some(3))), "", machine, 0.0);
    }
}

/// The cuts are those of other images, whatever the machine.
#[test]
fn integers_of_other_ranks() {
    let machines = integer_machines();
    for machine in machines.iter().rev().take(2) {
        compare_on(&integer_convs(RANKS, "ui8", "i8", (128, None)), "", machine, 0.0);
        compare_on(&integer_convs(DEPTHWISE_RANKS, "i8", "i8", (7, None)), "", machine, 0.0);
    }
}

#[test]
fn depthwise_convolutions_of_integers() {
    for machine in integer_machines() {
        compare_on(&integer_convs(SINGLE, "i8", "i8", (5, None)), "", machine, 0.0);
        compare_on(&integer_convs(DEPTHWISE, "ui8", "i8", (77, None)), "", machine, 0.0);
        compare_on(&integer_convs(DEPTHWISE, "i8", "ui8", (0, Some(200))), "", machine, 0.0);
    }
}

/// An image rounded to bytes.
fn quantized(case: &mut Case, x: &str, shape: &[i64]) -> String {
    let (scale, zero) = (case.scalar(1.0 / 64.0), case.byte(120, "ui8"));
    let parameters = [(scale.as_str(), "tensor<f32>"), (zero.as_str(), "tensor<ui8>")];
    let (real, bytes) = (tensor(shape, "f32"), tensor(shape, "ui8"));
    let operands = [&[(x, real.as_str())][..], &parameters].concat();
    let q = case.op_of("graph.quantize_linear %@, %@, %@", &operands, shape, "ui8");
    let operands = [&[(q.as_str(), bytes.as_str())][..], &parameters].concat();
    case.op_of("graph.dequantize_linear %@, %@, %@", &operands, shape, "f32")
}

/// Weights that are stored as bytes, with a scale for each position along `axis`.
fn quantized_weights(case: &mut Case, shape: &[i64], axis: usize) -> String {
    let (w, count) = (case.bytes(shape, "i8"), &shape[axis..=axis]);
    let scales = case.positive(count);
    let small = case.scalar(1.0 / 512.0);
    let scales = case.op("graph.mul %@, %@", &[&scales, &small], count);
    let types = (tensor(shape, "i8"), tensor(count, "f32"));
    case.op_of(
        &format!("graph.dequantize_linear %@, %@ axis = {axis}"),
        &[(&w, &types.0), (&scales, &types.1)],
        shape,
        "f32",
    )
}

/// The host's passes for quantized networks, in front of the others.
const QUANTIZED: &str = "canonicalize,func.func(graph-simplify{rules=prepare-quantized,quantize-parts},graph-quantized-to-integer),";

/// Quantized layers through all of the host's passes: a bias for each channel, and integers that
/// are written by the kernel.
#[test]
fn quantized_layers() {
    let mut case = Case::default();
    for conv in CONVS.iter().chain(DEPTHWISE).chain(RANKS) {
        let x = case.input(conv.x);
        let x = quantized(&mut case, &x, conv.x);
        let w = quantized_weights(&mut case, conv.w, 0);
        let b = case.constant(&conv.w[..1]);
        let y =
            case.op(&format!("graph.conv %@, %@, %@ {}", conv.attributes), &[&x, &w, &b], conv.y);
        let y = case.op("graph.relu %@", &[&y], conv.y);
        let y = quantized(&mut case, &y, conv.y);
        case.output(&y);
        // The sum with an image that is kept as integers.
        let sum =
            case.op(&format!("graph.conv %@, %@, %@ {}", conv.attributes), &[&x, &w, &b], conv.y);
        let sum = case.op("graph.add %@, %@", &[&sum, &y], conv.y);
        let sum = quantized(&mut case, &sum, conv.y);
        case.output(&sum);
    }
    for machine in integer_machines() {
        // Sums of integers round once where sums of floats round often: a half may fall either way,
        // in each of two layers.
        compare_on(&case, QUANTIZED, machine, 2.01 / 64.0);
    }
}

/// Transposed convolutions of bytes, too, with other layers of bytes before and after.
#[test]
fn quantized_transposed_convolutions() {
    let mut case = Case::default();
    for conv in TRANSPOSED {
        let x = case.input(conv.x);
        let x = quantized(&mut case, &x, conv.x);
        let x = case.op("graph.relu %@", &[&x], conv.x);
        let x = quantized(&mut case, &x, conv.x);
        let w = quantized_weights(&mut case, conv.w, 1);
        let b = case.constant(&conv.y[1..2]);
        let text = format!("graph.conv_transpose %@, %@, %@ {}", conv.attributes);
        let y = case.op(&text, &[&x, &w, &b], conv.y);
        let y = case.op("graph.relu %@", &[&y], conv.y);
        let y = quantized(&mut case, &y, conv.y);
        case.output(&y);
    }
    for machine in integer_machines() {
        compare_on(&case, QUANTIZED, machine, 2.01 / 64.0);
    }
}
