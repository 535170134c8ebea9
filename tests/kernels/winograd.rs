//! Convolutions by Winograd's algorithm, which compute what sums tap by tap do.

use super::{
    add_convs,
    cases::Conv,
    harness::{Case, compare_on, run_on, run_on_threads, symbols},
    integer_convs, integer_machines, joints, plain, sum_gate_and_clip,
};

/// Images whose last tiles are short, windows that are not square, strides, dilations, groups, channels that fill no
/// vector, all ranks.
const TILED: &[Conv] = &[
    Conv {
        x: &[1, 16, 8, 12],
        w: &[32, 16, 3, 3],
        attributes: "pads = [1, 1, 1, 1]",
        y: &[1, 32, 8, 12],
    },
    Conv { x: &[2, 37, 7, 11], w: &[19, 37, 3, 3], attributes: "", y: &[2, 19, 5, 9] },
    Conv {
        x: &[1, 20, 6, 9],
        w: &[24, 20, 3, 5],
        attributes: "pads = [2, 0, 0, 3]",
        y: &[1, 24, 6, 8],
    },
    Conv {
        x: &[1, 16, 1, 3],
        w: &[16, 16, 3, 3],
        attributes: "pads = [1, 1, 1, 1]",
        y: &[1, 16, 1, 3],
    },
    Conv { x: &[1, 18, 9, 9], w: &[16, 18, 2, 2], attributes: "", y: &[1, 16, 8, 8] },
    Conv {
        x: &[1, 32, 11, 13],
        w: &[48, 16, 3, 3],
        attributes: "pads = [1, 2, 1, 0] group = 2",
        y: &[1, 48, 11, 13],
    },
    Conv {
        x: &[1, 16, 15, 14],
        w: &[16, 16, 3, 3],
        attributes: "pads = [2, 3, 2, 3] dilations = [2, 3]",
        y: &[1, 16, 15, 14],
    },
    // More positions between taps than the image has.
    Conv {
        x: &[1, 16, 3, 2],
        w: &[16, 16, 3, 3],
        attributes: "pads = [5, 5, 5, 5] dilations = [5, 5]",
        y: &[1, 16, 3, 2],
    },
    Conv {
        x: &[1, 24, 15, 20],
        w: &[16, 24, 3, 3],
        attributes: "strides = [2, 2] pads = [1, 1, 1, 1]",
        y: &[1, 16, 8, 10],
    },
    Conv {
        x: &[1, 17, 12, 9],
        w: &[16, 17, 5, 3],
        attributes: "strides = [2, 1] pads = [2, 0, 1, 1]",
        y: &[1, 16, 6, 8],
    },
    Conv { x: &[1, 16, 40], w: &[20, 16, 3], attributes: "pads = [1, 1]", y: &[1, 20, 40] },
    Conv { x: &[2, 16, 31], w: &[16, 16, 7], attributes: "pads = [3, 3]", y: &[2, 16, 31] },
    Conv {
        x: &[1, 16, 33],
        w: &[16, 16, 3],
        attributes: "pads = [9, 9] dilations = [9]",
        y: &[1, 16, 33],
    },
    Conv {
        x: &[1, 16, 5, 6, 7],
        w: &[24, 16, 3, 3, 3],
        attributes: "pads = [1, 1, 1, 1, 1, 1]",
        y: &[1, 24, 5, 6, 7],
    },
    Conv {
        x: &[1, 16, 6, 5, 4],
        w: &[16, 16, 3, 1, 1],
        attributes: "pads = [1, 0, 0, 1, 0, 0]",
        y: &[1, 16, 6, 5, 4],
    },
];

fn machine(bits: i64, results: i64) -> String {
    format!("vector-bits={bits} winograd={results}")
}

/// Number of different kernels of a case that work by tiles.
fn tiled(case: &Case, machine: &str) -> usize {
    symbols(case, machine).iter().filter(|name| name.starts_with("k_winograd_")).count()
}

#[test]
fn tiles() {
    let case = add_convs(Case::default(), TILED, plain);
    for (results, least) in [(2, 13), (3, 2), (4, 7), (5, 1), (6, 3)] {
        let machine = machine(256, results);
        let count = tiled(&case, &machine);
        assert!(count >= least, "{count} kernels have tiles of {results} results");
        compare_on(&case, "", &machine, 0.0);
    }
    assert_eq!(tiled(&case, &machine(256, 1)), 0);
}

#[test]
fn tiles_on_other_machines() {
    let case = add_convs(Case::default(), TILED, sum_gate_and_clip);
    for (bits, results) in [(512, 2), (512, 4), (128, 4), (128, 2)] {
        compare_on(&case, "", &machine(bits, results), 0.0);
    }
    let case = add_convs(Case::of_doubles(), TILED, sum_gate_and_clip);
    for (bits, results) in [(512, 4), (256, 2)] {
        compare_on(&case, "", &machine(bits, results), 0.0);
    }
}

/// Sums of integers are the same as tap by tap, whatever the signs and zero points of bytes, and with weights of nine bits.
#[test]
fn tiles_of_integers() {
    let machines = integer_machines();
    let pairs =
        machines.iter().filter(|machine| !machine.contains("byte-") && !machine.contains("plain"));
    for machine in pairs {
        let with = |results: i64| format!("{machine} winograd={results}");
        for (image, weights, zeros) in
            [("ui8", "i8", (128, None)), ("i8", "i8", (5, Some(0))), ("i8", "ui8", (-128, Some(3)))]
        {
            let case = integer_convs(TILED, image, weights, zeros);
            let expected = run_on(&case, "", &with(1));
            assert_eq!(tiled(&case, &with(1)), 0);
            for (results, least) in [(2, 11), (3, 1)] {
                let count = tiled(&case, &with(results));
                assert!(
                    count >= least,
                    "{count} kernels have tiles of {results} results on {machine}"
                );
                assert!(
                    run_on(&case, "", &with(results)) == expected,
                    "{results} results on {machine}"
                );
            }
        }
    }
}

/// Cost decides: by tiles where there is much to do, and tap by tap where there is little.
#[test]
fn tiles_are_chosen_by_cost() {
    let large = Conv {
        x: &[1, 64, 28, 28],
        w: &[64, 64, 3, 3],
        attributes: "pads = [1, 1, 1, 1]",
        y: &[1, 64, 28, 28],
    };
    // Weights would be read from memory for few points.
    let deep =
        Conv { x: &[1, 512, 3, 3], w: &[512, 512, 3, 3], attributes: "", y: &[1, 512, 1, 1] };
    for bits in [512, 256, 128] {
        let machine = machine(bits, 0);
        let large = add_convs(Case::default(), std::slice::from_ref(&large), plain);
        assert_eq!(tiled(&large, &machine), 1);
        let deep = add_convs(Case::default(), std::slice::from_ref(&deep), plain);
        assert_eq!(tiled(&deep, &machine), 0);
    }
}

/// Each call works in the memory of its first task, so threads do not disturb each other.
#[test]
fn threads_have_memory_of_their_own() {
    let conv = Conv {
        x: &[1, 48, 40, 40],
        w: &[64, 48, 3, 3],
        attributes: "pads = [1, 1, 1, 1]",
        y: &[1, 64, 40, 40],
    };
    let case = add_convs(Case::default(), &[conv], plain);
    let machine = machine(256, 2);
    assert_eq!(tiled(&case, &machine), 1);
    let threads: Vec<u32> = [1, 2, 3, 8].into_iter().cycle().take(80).collect();
    let results = run_on_threads(&case, &machine, &threads);
    for (result, threads) in results.iter().zip(threads) {
        assert!(*result == results[0], "{threads} threads");
    }
}

/// Concatenations of results.
#[test]
fn parts_of_images() {
    for shape in [&[2, 16, 5, 6][..], &[1, 19, 30], &[2, 16, 3, 4, 5]] {
        for axis in 0..shape.len() {
            let case = joints::inception(Case::default(), shape, axis);
            assert!(tiled(&case, &machine(512, 2)) > 0);
            compare_on(&case, "", &machine(512, 2), 0.0);
        }
    }
}
