//! Kernels that multiply pairs of bf16, on machines that do, and those that read weights of 16 bits.

use super::{
    amx,
    cases::{CONVS, Conv, RANKS},
    harness::{Case, amx_kernels, compare_on, types_read},
};

const VECTORS: &str = "vector-bits=512 half-products=true";
/// Bits of an f32 that a bf16 lacks.
const LOST: u32 = 0xffff;
/// Last place of a bf16 below 4: sums that differ in their last places may round to neighbours.
const ROUNDED: f32 = 0.02;

/// The machines whose products of bf16 this one has, fast or not, as options of `lower-host-kernels`.
fn machines() -> Vec<String> {
    let mut machines = vec![];
    #[cfg(target_arch = "x86_64")]
    {
        let machine =
            phaseline::artifact::machines::select("", "native", "").expect("this machine");
        let has = |feature: &str| machine.features.contains(&format!("+{feature}"));
        if has("avx512bf16") {
            machines.push(VECTORS.to_owned());
        }
        if has("amx-bf16") && !machine.features.contains("-amx-tile") {
            machines.push(format!("{} half-products=true", amx::AMX));
        }
    }
    machines
}

/// Weights that bf16 has.
fn weights(case: &mut Case, shape: &[i64]) -> String {
    let values = case.random(shape);
    let values: Vec<f32> =
        values.iter().map(|value| f32::from_bits(value.to_bits() & !LOST)).collect();
    case.values(shape, &values)
}

/// The same number rounded to bf16.
fn rounded(case: &mut Case, x: &str, shape: &[i64]) -> String {
    let x = case.cast(x, shape, ("f32", "bf16"));
    case.cast(&x, shape, ("bf16", "f32"))
}

fn convs(cases: &[Conv]) -> Case {
    let mut case = Case::default();
    for conv in cases {
        let x = case.input(conv.x);
        let x = rounded(&mut case, &x, conv.x);
        let (w, b) = (weights(&mut case, conv.w), case.constant(&conv.w[..1]));
        let text = format!("graph.conv %@, %@, %@ {}", conv.attributes);
        let y = case.op(&text, &[&x, &w, &b], conv.y);
        let y = case.op("graph.leaky_relu %@ alpha = 0.5", &[&y], conv.y);
        case.output(&y);
    }
    case
}

#[test]
fn convolutions_of_halves() {
    for machine in machines() {
        for cases in [CONVS, RANKS, amx::CONVS] {
            let case = convs(cases);
            let read = types_read(&case, &machine);
            let narrow = read.iter().filter(|types| types[..2] == ["bf16", "bf16"]).count();
            assert!(narrow > cases.len() / 3, "{narrow} of {} convolutions", cases.len());
            compare_on(&case, "", &machine, 0.0);
        }
    }
}

/// Matrices, some of whose reductions are odd, with more weights than a cache has among them.
fn products(rows: &[i64]) -> Case {
    let mut case = Case::default();
    for m in rows {
        for (k, n) in [(64, 48), (77, 130), (512, 700), (33, 19)] {
            let x = case.input(&[*m, k]);
            let x = rounded(&mut case, &x, &[*m, k]);
            let w = weights(&mut case, &[k, n]);
            let y = case.op("graph.matmul %@, %@", &[&x, &w], &[*m, n]);
            case.output(&y);
        }
    }
    case
}

#[test]
fn products_of_halves() {
    for machine in machines() {
        compare_on(&products(&[1, 3, 17, 64, 101]), "", &machine, 0.0);
    }
}

/// Values between kernels are bf16 in memory if all that read them read bf16, and are rounded at
/// the same place.
#[test]
fn halves_between_kernels() {
    for machine in machines() {
        let mut case = Case::default();
        let x = case.input(&[40, 64]);
        let mut x = rounded(&mut case, &x, &[40, 64]);
        for _ in 0..3 {
            let w = weights(&mut case, &[64, 64]);
            let y = case.op("graph.matmul %@, %@", &[&x, &w], &[40, 64]);
            let y = case.op("graph.tanh %@", &[&y], &[40, 64]);
            x = rounded(&mut case, &y, &[40, 64]);
        }
        case.output(&x);
        let read = types_read(&case, &machine);
        // The first two share a kernel.
        assert!(
            read.len() == 2 && read.iter().all(|types| types[..2] == ["bf16", "bf16"]),
            "{read:?}"
        );
        compare_on(&case, "", &machine, ROUNDED);

        // One that reads f32 as well.
        let w = weights(&mut case, &[64, 64]);
        let y = case.op("graph.matmul %@, %@", &[&x, &w], &[40, 64]);
        let y = case.op("graph.add %@, %@", &[&y, &x], &[40, 64]);
        case.output(&y);
        compare_on(&case, "", &machine, ROUNDED);
    }
}

#[test]
fn kernels_in_registers_of_amx_multiply_halves() {
    let machines = machines();
    let Some(machine) = machines.iter().find(|machine| machine.contains(amx::AMX)) else { return };
    for conv in amx::CONVS.chunks(1) {
        assert_eq!(amx_kernels(&convs(conv), "", machine), 1, "the convolution of {:?}", conv[0].x);
    }
    assert!(amx_kernels(&products(&[64]), "", machine) >= 3);
}

/// Few rows read weights as they fit in 16 bits, on machines that widen them; many do not.
#[test]
fn weights_in_sixteen_bits() {
    let mut case = Case::default();
    for (m, scale, bits) in [(1, 1.0, 0), (3, 1.0, 0), (15, 33.0 / 32.0, 3), (16, 1.0, 0)] {
        let x = case.input(&[m, 200]);
        // A scale with more places than bf16 has leaves numbers of f16.
        let values: Vec<f32> =
            (0..200 * 90).map(|at| ((at * 37 + bits) % 101 - 50) as f32 / 64.0 * scale).collect();
        let w = case.values(&[200, 90], &values);
        let y = case.op("graph.matmul %@, %@", &[&x, &w], &[m, 90]);
        case.output(&y);
    }
    let weights = |machine| -> Vec<String> {
        types_read(&case, machine).into_iter().map(|types| types[1].clone()).collect()
    };
    let mut found = weights("vector-bits=256");
    found.sort();
    assert_eq!(found, ["bf16", "bf16", "f16", "f32"]);
    let mut found = weights("vector-bits=128");
    found.sort();
    assert_eq!(found, ["bf16", "bf16", "f32", "f32"]);
    for bits in [512, 256, 128] {
        compare_on(&case, "", &format!("vector-bits={bits}"), 0.0);
    }
}
