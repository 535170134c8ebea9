//! Pools: behind convolutions, whose images have their channels last, and on their own.

use super::{
    harness::{Case, compare, compare_on, tensor},
    integer_machines,
};

#[test]
fn pools_of_other_ranks() {
    let case = ranks_of_pools(Case::default());
    compare(&case, 512);
    compare(&case, 128);
}

/// Pools in one and three dimensions behind a convolution.
pub fn ranks_of_pools(mut case: Case) -> Case {
    for (rank, attributes, y) in [
        (1, "graph.max_pool %@ kernel_shape = [3] strides = [2] pads = [1, 1]", &[2, 20, 48][..]),
        (1, "graph.max_pool %@ kernel_shape = [25] pads = [12, 12]", &[2, 20, 96]),
        (
            1,
            "graph.average_pool %@ kernel_shape = [4] strides = [3] ceil_mode = true",
            &[2, 20, 32],
        ),
        (1, "graph.average_pool %@ kernel_shape = [3] pads = [1, 1]", &[2, 20, 96]),
        (1, "graph.global_average_pool %@", &[2, 20, 1]),
        (3, "graph.max_pool %@ kernel_shape = [2, 2, 3] strides = [2, 1, 2]", &[2, 20, 2, 5, 3]),
        (
            3,
            "graph.average_pool %@ kernel_shape = [3, 3, 3] pads = [1, 1, 1, 1, 1, 1]",
            &[2, 20, 4, 6, 8],
        ),
        (
            3,
            "graph.average_pool %@ kernel_shape = [3, 3, 3] pads = [1, 1, 1, 1, 1, 1] count_include_pad = true",
            &[2, 20, 4, 6, 8],
        ),
        (3, "graph.global_max_pool %@", &[2, 20, 1, 1, 1]),
    ] {
        let spatial: &[i64] = if rank == 1 { &[96] } else { &[4, 6, 8] };
        let shape = |channels| [&[2, channels], spatial].concat();
        let x = case.input(&shape(3));
        let w = case.constant(&[&[20, 3][..], &vec![1; rank]].concat());
        let conv = case.op("graph.conv %@, %@", &[&x, &w], &shape(20));
        let pool = case.op(attributes, &[&conv], y);
        case.output(&pool);
    }
    case
}

#[test]
fn pools() {
    let case = all_pools(Case::default());
    compare(&case, 512);
    compare(&case, 128);
}

/// Pools of images behind a convolution.
pub fn all_pools(mut case: Case) -> Case {
    // A convolution first, or there would be no NHWC to follow.
    for (attributes, y) in [
        ("graph.max_pool %@ kernel_shape = [2, 2] strides = [2, 2]", [2, 20, 4, 5]),
        (
            "graph.max_pool %@ kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1]",
            [2, 20, 5, 6],
        ),
        (
            "graph.max_pool %@ kernel_shape = [3, 2] strides = [2, 2] ceil_mode = true",
            [2, 20, 4, 6],
        ),
        ("graph.average_pool %@ kernel_shape = [3, 3] pads = [1, 1, 1, 1]", [2, 20, 9, 11]),
        (
            "graph.average_pool %@ kernel_shape = [3, 3] pads = [1, 1, 1, 1] count_include_pad = true",
            [2, 20, 9, 11],
        ),
        (
            "graph.average_pool %@ kernel_shape = [4, 4] strides = [3, 3] ceil_mode = true",
            [2, 20, 3, 4],
        ),
        // One row, whose windows look over both edges.
        (
            "graph.average_pool %@ kernel_shape = [9, 3] strides = [9, 2] pads = [4, 1, 3, 1]",
            [2, 20, 1, 6],
        ),
        ("graph.global_average_pool %@", [2, 20, 1, 1]),
        ("graph.global_max_pool %@", [2, 20, 1, 1]),
    ] {
        let x = case.input(&[2, 3, 9, 11]);
        let w = case.constant(&[20, 3, 1, 1]);
        let conv = case.op("graph.conv %@, %@", &[&x, &w], &[2, 20, 9, 11]);
        let pool = case.op(attributes, &[&conv], &y);
        case.output(&pool);
    }
    case
}

/// Pools without convolutions around them, on images with their channels first.
fn lone_pools(mut case: Case) -> Case {
    for (x, attributes, y) in [
        (
            &[2, 3, 9, 37][..],
            "kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1]",
            &[2, 3, 5, 19][..],
        ),
        (&[2, 3, 9, 37], "kernel_shape = [2, 2] strides = [2, 2] ceil_mode = true", &[2, 3, 5, 19]),
        (&[1, 2, 12, 70], "kernel_shape = [5, 3] pads = [2, 1, 2, 1]", &[1, 2, 12, 70]),
        (
            &[1, 2, 12, 70],
            "kernel_shape = [3, 5] strides = [3, 3] pads = [0, 2, 0, 2]",
            &[1, 2, 4, 24],
        ),
        (
            &[1, 2, 12, 70],
            "kernel_shape = [2, 6] strides = [1, 5] pads = [0, 0, 0, 5] dilations = [3, 2]",
            &[1, 2, 9, 13],
        ),
        (
            &[1, 2, 12, 70],
            "kernel_shape = [13, 21] strides = [1, 4] pads = [6, 10, 6, 10]",
            &[1, 2, 12, 18],
        ),
        // More rows than are folded together, and some are left.
        (&[2, 40, 21, 19], "kernel_shape = [3, 3] pads = [1, 1, 1, 1]", &[2, 40, 21, 19]),
        (&[2, 40, 21, 19], "kernel_shape = [1, 4] pads = [0, 2, 0, 2]", &[2, 40, 21, 20]),
        (&[2, 2, 9000], "kernel_shape = [25] strides = [2] pads = [12, 12]", &[2, 2, 4500]),
        (&[2, 2, 9000], "kernel_shape = [3]", &[2, 2, 8998]),
        (
            &[1, 2, 5, 6, 9],
            "kernel_shape = [2, 3, 3] strides = [2, 1, 1] pads = [1, 1, 1, 0, 1, 1]",
            &[1, 2, 3, 6, 9],
        ),
    ] {
        let ones = vec![1; x.len() - 2];
        for kind in ["max_pool", "average_pool", "average_pool padded"] {
            let (name, padded) = kind.split_once(' ').unwrap_or((kind, ""));
            if !padded.is_empty() && attributes.contains("ceil_mode") {
                continue;
            }
            let padded = if padded.is_empty() { "" } else { " count_include_pad = true" };
            let image = case.input(x);
            let pool = case.op(&format!("graph.{name} %@ {attributes}{padded}"), &[&image], y);
            let channel = case.constant(&[&x[1..2], &ones].concat());
            let (skip, column) = (case.input(y), case.constant(&y[y.len() - 1..]));
            let sum = case.op("graph.add %@, %@", &[&pool, &channel], y);
            let sum = case.op("graph.mul %@, %@", &[&sum, &column], y);
            let sum = case.op("graph.sub %@, %@", &[&skip, &sum], y);
            case.output(&sum);
        }
    }
    case
}

#[test]
fn pools_on_their_own() {
    for machine in ["vector-bits=512", "vector-bits=256", "vector-bits=128", "plain-integers=true"]
    {
        compare_on(&lone_pools(Case::default()), "", machine, 0.0);
    }
    compare(&lone_pools(Case::of_doubles()), 512);
}

#[test]
fn pools_of_bytes() {
    let mut case = Case::default();
    for element in ["i8", "ui8"] {
        let x = case.input(&[1, 2, 11, 150]);
        let (scale, zero) = (case.scalar(1.0 / 64.0), case.byte(3, element));
        let parameters = [(scale.as_str(), "tensor<f32>"), (zero.as_str(), &*tensor(&[], element))];
        let real = tensor(&[1, 2, 11, 150], "f32");
        let operands = [&[(x.as_str(), real.as_str())][..], &parameters].concat();
        let q =
            case.op_of("graph.quantize_linear %@, %@, %@", &operands, &[1, 2, 11, 150], element);
        let bytes = tensor(&[1, 2, 11, 150], element);
        for (attributes, shape) in [
            ("kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1]", [1, 2, 6, 75]),
            ("kernel_shape = [2, 3] pads = [0, 1, 1, 1]", [1, 2, 11, 150]),
        ] {
            let text = format!("graph.max_pool %@ {attributes}");
            let pool = case.op_of(&text, &[(&q, &bytes)], &shape, element);
            let pooled = tensor(&shape, element);
            let operands = [&[(pool.as_str(), pooled.as_str())][..], &parameters].concat();
            let y = case.op_of("graph.dequantize_linear %@, %@, %@", &operands, &shape, "f32");
            case.output(&y);
        }
    }
    for machine in integer_machines() {
        compare_on(&case, "", machine, 0.0);
    }
}
