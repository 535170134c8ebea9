//! Results of kernels that are looked up in tables, on each machine.

use super::{
    harness::{Case, compare_on, tensor},
    integer_machines,
};

/// Products of bytes with as many channels, which are rounded to bytes and looked up.
fn products(channels: &[i64], element: &str, zero: i64) -> Case {
    let mut case = Case::default();
    for n in channels {
        let (x_shape, w_shape, shape) = ([37, 40], [40, *n], [37, *n]);
        let x = case.input(&x_shape);
        let (scale, zero) = (case.scalar(1.0 / 128.0), case.byte(zero, element));
        let bytes = |shape: &[i64]| tensor(shape, element);
        let parameters = [(scale.as_str(), "tensor<f32>"), (zero.as_str(), &*bytes(&[]))];
        let quantized = "graph.quantize_linear %@, %@, %@";
        let real = tensor(&x_shape, "f32");
        let x = case.op_of(
            quantized,
            &[&[(x.as_str(), real.as_str())][..], &parameters].concat(),
            &x_shape,
            element,
        );
        let w = case.bytes(&w_shape, "i8");
        let (x_type, w_type) = (bytes(&x_shape), tensor(&w_shape, "i8"));
        let operands = [(x.as_str(), x_type.as_str()), (&w, &w_type), parameters[1]];
        let sums =
            case.op_of("graph.matmul_integer %@, %@ a_zero_point %@", &operands, &shape, "i32");
        // All bytes come up.
        let wide = case.scalar(1.0 / 32768.0);
        let operands = [(sums.as_str(), tensor(&shape, "i32")), (&wide, "tensor<f32>".to_owned())];
        let operands = operands.each_ref().map(|(name, ty)| (*name, ty.as_str()));
        let y = case.op_of("graph.dequantize_linear %@, %@", &operands, &shape, "f32");
        let real = tensor(&shape, "f32");
        let operands = [&[(y.as_str(), real.as_str())][..], &parameters].concat();
        let y = case.op_of(quantized, &operands, &shape, element);
        let table = case.bytes(&[256], element);
        let (y_type, table_type) = (bytes(&shape), bytes(&[256]));
        let operands = [(y.as_str(), y_type.as_str()), (&table, &table_type)];
        let y = case.op_of("graph.lookup %@, %@", &operands, &shape, element);
        let operands = [&[(y.as_str(), y_type.as_str())][..], &parameters].concat();
        let y = case.op_of("graph.dequantize_linear %@, %@, %@", &operands, &shape, "f32");
        case.output(&y);
    }
    case
}

#[test]
fn lookups_of_results() {
    for machine in integer_machines() {
        // Whole vectors, rests of them, and single channels.
        for (element, zero) in [("ui8", 120), ("i8", -3)] {
            compare_on(&products(&[1, 3, 16, 29, 64], element, zero), "", machine, 0.0);
        }
    }
}
