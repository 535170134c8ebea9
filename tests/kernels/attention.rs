//! Attention as one kernel: masks, sizes that are no multiples, rows without keys.

use super::harness::{Case, compare, tensor};

/// Dimensions before the matrices, and `[queries, keys, depth, size of values]`.
type Sizes<'s> = (&'s [i64], [i64; 4]);

fn shape(lead: &[i64], matrix: [i64; 2]) -> Vec<i64> {
    [lead, &matrix].concat()
}

/// Scores, scaled, and what `mask` makes of them.
fn scores(
    case: &mut Case,
    (lead, [n, m, d, _]): Sizes<'_>,
    mask: impl Fn(&mut Case, String, &[i64]) -> String,
) -> String {
    let (q, k) = (case.input(&shape(lead, [n, d])), case.input(&shape(lead, [d, m])));
    let dims = shape(lead, [n, m]);
    let s = case.op("graph.matmul %@, %@", &[&q, &k], &dims);
    let scale = case.scalar(1.7);
    let s = case.op("graph.mul %@, %@", &[&s, &scale], &dims);
    mask(case, s, &dims)
}

/// The product of the softmax of scores and values.
fn result(case: &mut Case, (lead, [n, m, _, dv]): Sizes<'_>, scores: &str) -> String {
    let v = case.input(&shape(lead, [m, dv]));
    let p = case.op("graph.softmax %@", &[scores], &shape(lead, [n, m]));
    case.op("graph.matmul %@, %@", &[&p, &v], &shape(lead, [n, dv]))
}

fn attention(
    case: &mut Case,
    sizes: Sizes<'_>,
    mask: impl Fn(&mut Case, String, &[i64]) -> String,
) {
    let s = scores(case, sizes, mask);
    let y = result(case, sizes, &s);
    case.output(&y);
}

fn no_mask(_: &mut Case, scores: String, _: &[i64]) -> String {
    scores
}

#[test]
fn sizes() {
    let mut case = Case::default();
    for sizes in [
        (&[1, 2][..], [64, 64, 32, 32]),
        (&[2, 3], [49, 49, 32, 32]),
        (&[1, 2], [197, 197, 40, 40]),
        (&[3], [77, 130, 72, 24]),
        (&[], [33, 17, 5, 7]),
        (&[1, 4], [1, 129, 64, 64]),
        (&[2, 2], [3, 3, 1, 1]),
        (&[2], [300, 1, 8, 16]),
        (&[1, 1], [128, 1024, 16, 16]),
        (&[2, 2, 3], [20, 31, 8, 80]),
    ] {
        attention(&mut case, sizes, no_mask);
    }
    for bits in [512, 256, 128] {
        compare(&case, bits);
    }
}

/// Masks of all forms, as inputs and as constants.
#[test]
fn masks() {
    let mut case = Case::default();
    let sizes = (&[2, 3][..], [21, 37, 16, 24]);
    for mask in [
        &[2, 3, 21, 37][..],
        &[2, 1, 1, 37],
        &[2, 1, 21, 37],
        &[3, 21, 37],
        &[1, 3, 1, 1],
        &[2, 3, 21, 1],
        &[21, 37],
        &[37],
        &[1],
    ] {
        for constant in [false, true] {
            attention(&mut case, sizes, |case, s, dims| {
                let mask = if constant { case.constant(mask) } else { case.input(mask) };
                case.op("graph.add %@, %@", &[&s, &mask], dims)
            });
        }
    }
    for bits in [512, 256, 128] {
        compare(&case, bits);
    }
}

/// Causal masks, and rows that see no key, whose results are NaN.
#[test]
fn hidden_keys() {
    let mut case = Case::default();
    for (n, m, sees) in [(50, 50, 0), (50, 70, 20), (40, 24, -8)] {
        let values: Vec<f32> = (0..n * m)
            .map(|at| if at % m <= at / m + sees { 0.0 } else { f32::NEG_INFINITY })
            .collect();
        attention(&mut case, (&[1, 2], [n, m, 16, 16]), |case, s, dims| {
            let mask = case.values(&[n, m], &values);
            case.op("graph.add %@, %@", &[&s, &mask], dims)
        });
    }
    for bits in [512, 256, 128] {
        compare(&case, bits);
    }
}

/// Caps on scores, elementwise operations on weights and on results, and shared keys.
#[test]
fn steps() {
    let mut case = Case::default();
    let sizes = (&[2, 2][..], [45, 53, 16, 24]);
    let dims = [2, 2, 45, 53];
    let s = scores(&mut case, sizes, |case, s, dims| {
        let cap = case.scalar(3.0);
        let s = case.op("graph.div %@, %@", &[&s, &cap], dims);
        let s = case.op("graph.tanh %@", &[&s], dims);
        case.op("graph.mul %@, %@", &[&s, &cap], dims)
    });
    let p = case.op("graph.softmax %@", &[&s], &dims);
    let (keep, rows) = (case.input(&[1, 2, 1, 53]), case.input(&[2, 1, 45, 1]));
    let p = case.op("graph.mul %@, %@", &[&p, &keep], &dims);
    let p = case.op("graph.add %@, %@", &[&p, &rows], &dims);
    let v = case.input(&[1, 1, 53, 24]);
    let y = case.op("graph.matmul %@, %@", &[&p, &v], &[2, 2, 45, 24]);
    let gate = case.input(&[2, 2, 45, 24]);
    let y = case.op("graph.mul %@, %@", &[&y, &gate], &[2, 2, 45, 24]);
    let y = case.op("graph.sigmoid %@", &[&y], &[2, 2, 45, 24]);
    case.output(&y);
    for bits in [512, 256, 128] {
        compare(&case, bits);
    }
}

/// `where` with truth values that broadcast.
fn choose(case: &mut Case, value: &str, mask: &[i64], dims: &[i64]) -> String {
    let (given, zero) = (case.input(mask), case.scalar(0.0));
    let types = [tensor(mask, "f32"), tensor(&[], "f32"), tensor(mask, "i1"), tensor(dims, "f32")];
    let operands = [(&*given, &*types[0]), (&*zero, &*types[1])];
    let truth = case.op_of("graph.greater %@, %@", &operands, mask, "i1");
    let least = case.scalar(-100.0);
    let operands = [(&*truth, &*types[2]), (value, &*types[3]), (&*least, &*types[1])];
    case.op_with_types("graph.where %@, %@, %@", &operands, dims)
}

#[test]
fn masks_that_choose() {
    let mut case = Case::default();
    let sizes = (&[2, 3][..], [21, 37, 16, 24]);
    for mask in [&[2, 3, 21, 37][..], &[2, 1, 1, 37], &[3, 21, 37], &[2, 3, 21, 1], &[37], &[1]] {
        attention(&mut case, sizes, |case, s, dims| choose(case, &s, mask, dims));
    }
    // Between softmax and the product, and behind other roots.
    let s = scores(&mut case, sizes, no_mask);
    let p = case.op("graph.softmax %@", &[&s], &[2, 3, 21, 37]);
    let p = choose(&mut case, &p, &[2, 1, 21, 1], &[2, 3, 21, 37]);
    let v = case.input(&[2, 3, 37, 24]);
    let y = case.op("graph.matmul %@, %@", &[&p, &v], &[2, 3, 21, 24]);
    case.output(&y);
    for mask in [&[21, 24][..], &[24], &[21, 1]] {
        let (x, w) = (case.input(&[21, 16]), case.constant(&[16, 24]));
        let y = case.op("graph.matmul %@, %@", &[&x, &w], &[21, 24]);
        let y = choose(&mut case, &y, mask, &[21, 24]);
        case.output(&y);
    }
    for bits in [512, 256, 128] {
        compare(&case, bits);
    }
}
