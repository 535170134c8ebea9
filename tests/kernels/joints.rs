//! Concatenations of results of kernels, which write them where they belong.

use super::{
    harness::{Case, compare, compare_on, tensor},
    integer_machines,
};

/// A convolution whose window is of ones but for the last dimension, with its bias.
fn conv(
    case: &mut Case,
    x: &str,
    shape: &[i64],
    filters: i64,
    (size, group): (i64, i64),
) -> String {
    let rank = shape.len() - 2;
    let window = [vec![1; rank - 1], vec![size]].concat();
    let w = case.constant(&[&[filters, shape[1] / group][..], &window].concat());
    let b = case.constant(&[filters]);
    let pads = [vec![0; rank - 1], vec![size / 2]].concat();
    let text =
        format!("graph.conv %@, %@, %@ pads = {:?} group = {group}", [&pads[..], &pads].concat());
    let y = [&[shape[0], filters][..], &shape[2..]].concat();
    case.op(&text, &[x, &w, &b], &y)
}

fn concat(case: &mut Case, values: &[&str], axis: usize, shape: &[i64]) -> String {
    let places = vec!["%@"; values.len()].join(", ");
    case.op(&format!("graph.concat {places} axis = {axis}"), values, shape)
}

/// Along `axis`: a convolution that nothing else reads, an input, a depthwise convolution that is read again, a pool,
/// and the third of these once more.
pub fn inception(mut case: Case, shape: &[i64], axis: usize) -> Case {
    let rank = shape.len() - 2;
    let x = case.input(shape);
    let raw = case.input(shape);
    let a = conv(&mut case, &x, shape, shape[1], (3, 1));
    let b = conv(&mut case, &x, shape, shape[1], (5, shape[1]));
    let b = case.op("graph.relu %@", &[&b], shape);
    let kernel = [vec![1; rank - 1], vec![3]].concat();
    let pads = [vec![0; rank - 1], vec![1]].concat();
    let text = format!(
        "graph.max_pool %@ kernel_shape = {kernel:?} pads = {:?}",
        [&pads[..], &pads].concat()
    );
    let c = case.op(&text, &[&b], shape);
    let mut whole = shape.to_vec();
    whole[axis] *= 5;
    let y = concat(&mut case, &[&a, &raw, &b, &c, &b], axis, &whole);
    let again = conv(&mut case, &b, shape, 7, (1, 1));
    let last = conv(&mut case, &y, &whole, 5, (1, 1));
    case.output(&y);
    case.output(&again);
    case.output(&last);
    case
}

#[test]
fn parts_of_images() {
    for shape in [&[2, 12, 5, 6][..], &[1, 19, 30], &[2, 8, 3, 4, 5]] {
        for axis in 0..shape.len() {
            let case = inception(Case::default(), shape, axis);
            compare(&case, 512);
            compare(&case, 128);
        }
    }
}

/// Each layer reads all before it and appends to them; `activated` layers read through an activation, which can read
/// slices.
fn dense(mut case: Case, activated: bool) -> Case {
    let mut shape = vec![2, 8, 6, 5];
    let mut all = case.input(&shape);
    all = conv(&mut case, &all, &shape, 8, (1, 1));
    for _ in 0..4 {
        let read = match activated {
            true => case.op("graph.sigmoid %@", &[&all], &shape),
            false => all.clone(),
        };
        let new = conv(&mut case, &read, &shape, 12, (3, 1));
        let new = case.op("graph.tanh %@", &[&new], &[2, 12, 6, 5]);
        shape[1] += 12;
        all = concat(&mut case, &[&all, &new], 1, &shape);
    }
    case.output(&all);
    case
}

#[test]
fn growing_concatenations() {
    for activated in [true, false] {
        compare(&dense(Case::default(), activated), 256);
        compare(&dense(Case::of_doubles(), activated), 512);
    }
}

/// A slice that is read after the rest was written.
#[test]
fn inner_concatenations_that_are_read_late() {
    let mut case = Case::default();
    let x = case.input(&[1, 8, 6, 6]);
    let a = conv(&mut case, &x, &[1, 8, 6, 6], 8, (3, 1));
    let inner = concat(&mut case, &[&x, &a], 1, &[1, 16, 6, 6]);
    let b = conv(&mut case, &x, &[1, 8, 6, 6], 8, (1, 1));
    let late = case.op("graph.relu %@", &[&inner], &[1, 16, 6, 6]);
    let outer = concat(&mut case, &[&inner, &b], 1, &[1, 24, 6, 6]);
    let sum = conv(&mut case, &outer, &[1, 24, 6, 6], 16, (1, 1));
    let sum = case.op("graph.add %@, %@", &[&sum, &late], &[1, 16, 6, 6]);
    case.output(&outer);
    case.output(&sum);
    compare(&case, 512);
}

/// The same where it is the whole of another concatenation that was written before.
#[test]
fn inner_concatenations_that_are_read_late_in_two_steps() {
    let mut case = Case::default();
    let shape = [1, 8, 6, 6];
    let x = case.input(&shape);
    let a = conv(&mut case, &x, &shape, 8, (3, 1));
    let inner = concat(&mut case, &[&x, &a], 1, &[1, 16, 6, 6]);
    let z = conv(&mut case, &x, &shape, 8, (1, 1));
    let late = case.op("graph.relu %@", &[&inner], &[1, 16, 6, 6]);
    let y = conv(&mut case, &late, &[1, 16, 6, 6], 8, (1, 1));
    let outer = concat(&mut case, &[&inner, &y], 1, &[1, 24, 6, 6]);
    let last = concat(&mut case, &[&z, &outer], 1, &[1, 32, 6, 6]);
    case.output(&last);
    compare(&case, 512);
}

#[test]
fn parts_of_matrices() {
    let mut case = Case::default();
    for (shape, axis) in
        [(vec![3, 5, 16], 2), (vec![3, 5, 16], 1), (vec![3, 5, 16], 0), (vec![2, 3, 4, 8], 1)]
    {
        let x = case.input(&shape);
        let depth = shape[shape.len() - 1];
        let values: Vec<_> = (0..2)
            .map(|_| {
                let w = case.constant(&[depth, depth]);
                case.op("graph.matmul %@, %@", &[&x, &w], &shape)
            })
            .collect();
        let mut whole = shape.clone();
        whole[axis] *= 3;
        let y = concat(&mut case, &[&values[0], &x, &values[1]], axis, &whole);
        let again = case.op("graph.sigmoid %@", &[&values[1]], &shape);
        case.output(&y);
        case.output(&again);
    }
    compare(&case, 512);
    compare(&case, 256);
}

/// Bytes without a sign.
#[test]
fn parts_of_integers() {
    let (shape, whole) = ([1, 16, 6, 6], [1, 32, 6, 6]);
    let mut case = Case::default();
    let values: Vec<_> = (0..2)
        .map(|_| {
            let x = case.input(&shape);
            let (scale, zero) = (case.scalar(0.02), case.byte(128, "ui8"));
            let q = |case: &mut Case, x: &str| {
                let typed = [
                    (x, &*tensor(&shape, "f32")),
                    (&*scale, "tensor<f32>"),
                    (&*zero, "tensor<ui8>"),
                ];
                case.op_of("graph.quantize_linear %@, %@, %@", &typed, &shape, "ui8")
            };
            let x = q(&mut case, &x);
            let x = case.op_of(
                "graph.dequantize_linear %@, %@, %@",
                &[(&x, &*tensor(&shape, "ui8")), (&scale, "tensor<f32>"), (&zero, "tensor<ui8>")],
                &shape,
                "f32",
            );
            let y = conv(&mut case, &x, &shape, 16, (3, 1));
            q(&mut case, &y)
        })
        .collect();
    let part = tensor(&shape, "ui8");
    let typed = [(&*values[0], &*part), (&*values[1], &*part)];
    let y = case.op_of("graph.concat %@, %@ axis = 1", &typed, &whole, "ui8");
    let (scale, zero) = (case.scalar(1.0), case.byte(0, "ui8"));
    let ty = tensor(&whole, "ui8");
    let typed = [(&*y, &*ty), (&*scale, "tensor<f32>"), (&*zero, "tensor<ui8>")];
    let y = case.op_of("graph.dequantize_linear %@, %@, %@", &typed, &whole, "f32");
    case.output(&y);
    for machine in integer_machines() {
        compare_on(&case, "func.func(graph-quantized-to-integer),", machine, 1.0);
    }
}
