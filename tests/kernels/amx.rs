//! AMX's registers, on machines that have them. Sums are exact, so results are those of vectors, bit for bit.

use super::{
    QUANTIZED,
    cases::Conv,
    harness::{Case, amx_kernels, compare_on, run_on, tensor},
    integer_convs, integer_machines, quantized, quantized_weights,
};

/// The options of `lower-host-kernels` for a machine with AMX.
pub const AMX: &str = "vector-bits=512 byte-products=true byte-matrices=true";
const VNNI: &str = "vector-bits=512 byte-products=true";

/// Large enough that AMX pays.
pub const CONVS: &[Conv] = &[
    // Rows that are a register's, and a rest of them.
    Conv {
        x: &[1, 64, 10, 11],
        w: &[40, 64, 3, 3],
        attributes: "pads = [1, 1, 1, 1]",
        y: &[1, 40, 10, 11],
    },
    Conv {
        x: &[2, 48, 15, 17],
        w: &[33, 48, 3, 3],
        attributes: "strides = [2, 2] pads = [1, 1, 1, 1]",
        y: &[2, 33, 8, 9],
    },
    // A rest of 4 bytes, and points that overlap.
    Conv { x: &[1, 68, 9, 37], w: &[70, 68, 1, 1], attributes: "", y: &[1, 70, 9, 37] },
    Conv {
        x: &[2, 128, 10, 41],
        w: &[64, 128, 1, 1],
        attributes: "strides = [2, 2]",
        y: &[2, 64, 5, 21],
    },
    // A rest of two bytes of a word.
    Conv { x: &[1, 130, 3, 33], w: &[48, 130, 1, 1], attributes: "", y: &[1, 48, 3, 33] },
    Conv {
        x: &[1, 64, 12, 40],
        w: &[48, 32, 3, 3],
        attributes: "pads = [1, 1, 1, 1] group = 2",
        y: &[1, 48, 12, 40],
    },
    Conv {
        x: &[1, 32, 20, 50],
        w: &[32, 32, 3, 3],
        attributes: "pads = [2, 2, 2, 2] dilations = [2, 2]",
        y: &[1, 32, 20, 50],
    },
    Conv {
        x: &[1, 3, 40, 40],
        w: &[32, 3, 7, 7],
        attributes: "strides = [2, 2] pads = [3, 3, 3, 3]",
        y: &[1, 32, 20, 20],
    },
    Conv {
        x: &[1, 30, 12, 33],
        w: &[64, 30, 3, 2],
        attributes: "pads = [0, 1, 2, 0]",
        y: &[1, 64, 12, 33],
    },
    // Weights that do not stay in a cache.
    Conv {
        x: &[1, 256, 4, 4],
        w: &[256, 256, 3, 3],
        attributes: "pads = [1, 1, 1, 1]",
        y: &[1, 256, 4, 4],
    },
    // Rows whose copies do not stay in the first level cache.
    Conv {
        x: &[1, 512, 5, 28],
        w: &[32, 512, 3, 3],
        attributes: "pads = [1, 1, 1, 1]",
        y: &[1, 32, 5, 28],
    },
    Conv { x: &[1, 64, 100], w: &[32, 64, 5], attributes: "pads = [2, 2]", y: &[1, 32, 100] },
    Conv {
        x: &[1, 32, 6, 7, 20],
        w: &[32, 32, 3, 3, 3],
        attributes: "pads = [1, 1, 1, 1, 1, 1]",
        y: &[1, 32, 6, 7, 20],
    },
    Conv {
        x: &[2, 16, 9, 8, 18],
        w: &[24, 16, 3, 2, 3],
        attributes: "strides = [2, 1, 1] pads = [1, 0, 1, 0, 0, 1]",
        y: &[2, 24, 4, 7, 18],
    },
];

fn here() -> bool {
    integer_machines().contains(&AMX)
}

/// Dimensions before the matrices of an image, of weights and of their product, and sizes of these.
type Product<'a> = ([&'a [i64]; 3], [i64; 3]);

/// Single matrices, and several, which may share weights.
const PRODUCTS: &[Product<'_>] = &[
    ([&[], &[], &[]], [50, 200, 48]),
    ([&[], &[], &[]], [196, 64, 100]),
    ([&[], &[], &[]], [17, 1000, 33]),
    ([&[], &[], &[]], [33, 36, 20]),
    ([&[3], &[3], &[3]], [33, 36, 20]),
    ([&[2, 3], &[1, 3], &[2, 3]], [19, 40, 33]),
    ([&[2, 1], &[1, 3], &[2, 3]], [5, 7, 9]),
];

/// Products, whose weights may have a zero point.
fn products(image: &str, weights: &str, zeros: (i64, Option<i64>)) -> Case {
    let mut case = Case::default();
    for (lead, [m, k, n]) in PRODUCTS {
        let [x_shape, w_shape, shape] =
            [(lead[0], [*m, *k]), (lead[1], [*k, *n]), (lead[2], [*m, *n])]
                .map(|(lead, matrix)| [lead, &matrix].concat());
        let x = case.input(&x_shape);
        let (scale, zero) = (case.scalar(1.0 / 128.0), case.byte(zeros.0, image));
        let (x_type, w_type) = (tensor(&x_shape, image), tensor(&w_shape, weights));
        let zero_type = tensor(&[], image);
        let x = case.op_of(
            "graph.quantize_linear %@, %@, %@",
            &[(&x, &tensor(&x_shape, "f32")), (&scale, "tensor<f32>"), (&zero, &zero_type)],
            &x_shape,
            image,
        );
        let w = case.bytes(&w_shape, weights);
        let mut operands: Vec<(&str, &str)> =
            vec![(&x, &x_type), (&w, &w_type), (&zero, &zero_type)];
        let mut text = "graph.matmul_integer %@, %@ a_zero_point %@ ".to_owned();
        let weights_zero = zeros.1.map(|zero| case.byte(zero, weights));
        let weights_zero_type = tensor(&[], weights);
        if let Some(zero) = &weights_zero {
            text += "b_zero_point %@";
            operands.push((zero, &weights_zero_type));
        }
        let sums = case.op_of(&text, &operands, &shape, "i32");
        let one = case.scalar(1.0);
        let operands = [(sums.as_str(), tensor(&shape, "i32")), (&one, "tensor<f32>".to_owned())];
        let operands = operands.each_ref().map(|(name, ty)| (*name, ty.as_str()));
        let y = case.op_of("graph.dequantize_linear %@, %@", &operands, &shape, "f32");
        case.output(&y);
    }
    case
}

/// Elements of images and of weights, and their zero points.
type Kind = (&'static str, &'static str, (i64, Option<i64>));

/// With signs and without, and weights of nine bits less their zero point.
const KINDS: &[Kind] = &[
    ("ui8", "i8", (128, None)),
    ("i8", "i8", (5, Some(0))),
    ("ui8", "ui8", (7, Some(128))),
    ("i8", "ui8", (-128, Some(3))),
    ("ui8", "ui8", (200, Some(90))),
];

#[test]
fn sums_in_registers_of_amx_are_exact() {
    if !here() {
        return;
    }
    for (image, weights, zeros) in KINDS {
        for conv in CONVS.chunks(1) {
            let case = integer_convs(conv, image, weights, *zeros);
            let made = amx_kernels(&case, "", AMX);
            assert_eq!(made, 1, "the convolution of {:?} of {image} with {weights}", conv[0].x);
        }
        let products = products(image, weights, *zeros);
        assert_eq!(amx_kernels(&products, "", AMX), 4, "products of {image} with {weights}");
        for case in [integer_convs(CONVS, image, weights, *zeros), products] {
            compare_on(&case, "", AMX, 0.0);
        }
    }
}

/// Quantized layers in a row, with sums of their results.
#[test]
fn networks_give_the_same_bytes_as_with_vectors() {
    if !here() {
        return;
    }
    let mut case = Case::default();
    for conv in CONVS {
        let x = case.input(conv.x);
        let x = quantized(&mut case, &x, conv.x);
        let w = quantized_weights(&mut case, conv.w, 0);
        let b = case.constant(&conv.w[..1]);
        let text = format!("graph.conv %@, %@, %@ {}", conv.attributes);
        let y = case.op(&text, &[&x, &w, &b], conv.y);
        let y = case.op("graph.relu %@", &[&y], conv.y);
        let y = quantized(&mut case, &y, conv.y);
        let sum = case.op(&text, &[&x, &w, &b], conv.y);
        let sum = case.op("graph.add %@, %@", &[&sum, &y], conv.y);
        let sum = quantized(&mut case, &sum, conv.y);
        case.output(&sum);
    }
    assert!(amx_kernels(&case, QUANTIZED, AMX) >= CONVS.len(), "layers use AMX");
    assert_eq!(amx_kernels(&case, QUANTIZED, VNNI), 0, "vectors do not");
    let (amx, vnni) = (run_on(&case, QUANTIZED, AMX), run_on(&case, QUANTIZED, VNNI));
    for (index, (amx, vnni)) in amx.iter().zip(&vnni).enumerate() {
        assert!(amx.bytes() == vnni.bytes(), "output {index}");
    }
}
