//! Small models in the graph dialect, each of which is one target's wholly.

use std::fmt::Write as _;

/// A model.
pub struct Layer {
    pub name: &'static str,
    pub text: String,
}

/// Numbers between -1 and 1 that look random, the same ones for a seed.
fn numbers(count: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % 2001) as f32 / 1000.0 - 1.0
    };
    (0..count).map(|_| next()).collect()
}

fn ty(dims: &[usize]) -> String {
    let dims: Vec<_> = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{}f32>", dims.concat())
}

/// `%name = graph.constant ...`, with numbers of its own for each name.
pub fn constant(name: &str, dims: &[usize]) -> String {
    let mut hex = String::new();
    let seed = name.bytes().fold(7, |seed: u64, byte| seed.wrapping_mul(31) + u64::from(byte));
    for value in numbers(dims.iter().product(), seed) {
        // Variances and divisors are not near zero.
        let value = if name == "positive" { value.abs() + 0.5 } else { value };
        for byte in value.to_le_bytes() {
            write!(hex, "{byte:02X}").expect("a string");
        }
    }
    format!("  %{name} = graph.constant dense<\"0x{hex}\"> : {}\n", ty(dims))
}

fn scalar(name: &str, value: &str) -> String {
    format!("  %{name} = graph.constant dense<{value}> : tensor<f32>\n")
}

/// A model of these inputs and lines that returns `results`, each of type `!y`.
pub fn model(
    name: &'static str,
    inputs: &[&[usize]],
    y: &[usize],
    body: &str,
    results: &[&str],
) -> Layer {
    let arguments: Vec<_> =
        inputs.iter().enumerate().map(|(i, dims)| format!("%x{i}: {}", ty(dims))).collect();
    let types = vec!["!y"; results.len()].join(", ");
    let text = format!(
        "!x = {}\n!y = {}\nfunc.func @main({}) -> ({types}) {{\n{body}  return {} : {types}\n}}\n",
        ty(inputs[0]),
        ty(y),
        arguments.join(", "),
        results.join(", "),
    );
    Layer { name, text }
}

/// Activations that may follow a layer `%s` to give `%y`.
const ACTIVATIONS: [&str; 17] = [
    "%y = graph.relu %s : !y",
    "%y = graph.clip %s min %low max %high : (!y, tensor<f32>, tensor<f32>) -> !y",
    "%y = graph.clip %s max %high : (!y, tensor<f32>) -> !y",
    "%y = graph.leaky_relu %s alpha = 0.2 : !y",
    "%y = graph.elu %s alpha = 0.5 : !y",
    "%y = graph.tanh %s : !y",
    "%y = graph.mish %s : !y",
    "%y = graph.gelu %s : !y",
    "%y = graph.gelu %s approximate = \"tanh\" : !y",
    "%y = graph.hard_swish %s : !y",
    "%y = graph.hard_sigmoid %s alpha = 0.3 beta = 0.4 : !y",
    "%y = graph.swish %s alpha = 0.7 : !y",
    "%y = graph.sigmoid %s : !y",
    "%g = graph.sigmoid %s : !y\n  %y = graph.mul %s, %g : !y",
    "%d = graph.div %s, %root : (!y, tensor<f32>) -> !y\n  %e = graph.erf %d : !y\n  \
     %f = graph.add %e, %one : (!y, tensor<f32>) -> !y\n  %g = graph.mul %s, %f : !y\n  \
     %y = graph.mul %g, %half : (!y, tensor<f32>) -> !y",
    "%d = graph.mul %s, %inverse : (!y, tensor<f32>) -> !y\n  %e = graph.erf %d : !y\n  \
     %f = graph.add %e, %one : (!y, tensor<f32>) -> !y\n  \
     %g = graph.mul %f, %half : (!y, tensor<f32>) -> !y\n  %y = graph.mul %s, %g : !y",
    "%d = graph.mul %s, %inverse : (!y, tensor<f32>) -> !y\n  %e = graph.erf %d : !y\n  \
     %f = graph.add %e, %one : (!y, tensor<f32>) -> !y\n  \
     %g = graph.mul %s, %half : (!y, tensor<f32>) -> !y\n  %y = graph.mul %g, %f : !y",
];

fn limits() -> String {
    [
        ("low", "-0.25"),
        ("high", "0.5"),
        ("root", "1.41421356"),
        ("one", "1.0"),
        ("half", "0.5"),
        ("inverse", "0.70710678"),
    ]
    .map(|(name, value)| scalar(name, value))
    .concat()
}

/// `layer` gives `%s`; each activation follows it once alone, and once after a sum with `%x1`.
/// Each copy has constants of its own, so that they stay copies.
pub fn with_activations(
    name: &'static str,
    inputs: &[&[usize]],
    y: &[usize],
    constants: &[(&str, &[usize])],
    layer: &str,
) -> Layer {
    let mut body = limits();
    let mut results = vec![];
    for (index, activation) in ACTIVATIONS.iter().enumerate() {
        for sum in [false, true] {
            let mut lines = layer.to_owned();
            if sum {
                let renamed = lines.replace("%s =", "%t =");
                lines = format!("{renamed}\n  %s = graph.add %x1, %t : !y");
            }
            let lines = format!("  {lines}\n  {activation}\n");
            // Values that each copy makes get its number.
            let mut numbered = lines.clone();
            for (constant_name, dims) in constants {
                body += &constant(&format!("{constant_name}_{index}_{sum}"), dims);
            }
            let own = constants.iter().map(|(name, _)| *name);
            for value in own.chain(["a", "d", "e", "f", "g", "s", "t", "y"]) {
                let new = format!("%{value}_{index}_{sum}");
                for end in [" ", ",", "\n"] {
                    numbered = numbered.replace(&format!("%{value}{end}"), &format!("{new}{end}"));
                }
            }
            body += &numbered;
            results.push(format!("%y_{index}_{sum}"));
        }
    }
    let results: Vec<_> = results.iter().map(String::as_str).collect();
    model(name, inputs, y, &body, &results)
}

fn fused() -> Vec<Layer> {
    let image: &[usize] = &[2, 8, 7, 9];
    vec![
        with_activations(
            "conv2d",
            &[image, image],
            image,
            &[("w", &[8, 8, 3, 3]), ("b", &[8])],
            "%s = graph.conv %x0, %w, %b strides = [1, 1] pads = [1, 1, 1, 1] dilations = [1, 1] : \
             (!x, tensor<8x8x3x3xf32>, tensor<8xf32>) -> !y",
        ),
        with_activations(
            "depthwise conv2d, bias added",
            &[&[1, 20, 9, 9], &[1, 20, 5, 4]],
            &[1, 20, 5, 4],
            &[("w", &[20, 1, 3, 3]), ("b", &[1, 20, 1, 1])],
            "%a = graph.conv %x0, %w strides = [2, 2] pads = [1, 0, 1, 0] dilations = [1, 1] group = 20 : \
             (!x, tensor<20x1x3x3xf32>) -> !y\n  %s = graph.add %a, %b : (!y, tensor<1x20x1x1xf32>) -> !y",
        ),
        with_activations(
            "deconv2d",
            &[&[1, 4, 5, 6], &[1, 6, 10, 12]],
            &[1, 6, 10, 12],
            &[("w", &[4, 3, 3, 3]), ("b", &[6])],
            "%s = graph.conv_transpose %x0, %w, %b strides = [2, 2] pads = [1, 1, 1, 1] dilations = [1, 1] \
             group = 2 output_padding = [1, 1] : (!x, tensor<4x3x3x3xf32>, tensor<6xf32>) -> !y",
        ),
        with_activations(
            "matmul",
            &[&[2, 5, 7], &[2, 5, 9]],
            &[2, 5, 9],
            &[("w", &[7, 9]), ("b", &[9])],
            "%a = graph.matmul %x0, %w : (!x, tensor<7x9xf32>) -> !y\n  \
             %s = graph.add %a, %b : (!y, tensor<9xf32>) -> !y",
        ),
        model(
            "batched matmul",
            &[&[2, 3, 5, 7], &[2, 3, 5, 9], &[2, 3, 7, 9]],
            &[2, 3, 5, 9],
            &(scalar("eight", "8.0")
                + "  %0 = graph.matmul %x0, %x2 : (!x, tensor<2x3x7x9xf32>) -> !y\n  \
                   %1 = graph.div %0, %eight : (!y, tensor<f32>) -> !y\n  \
                   %2 = graph.add %x1, %1 : !y\n  %3 = graph.tanh %2 : !y\n"),
            &["%3"],
        ),
        with_activations(
            "gemm",
            &[&[5, 7], &[5, 9]],
            &[5, 9],
            &[("w", &[9, 7]), ("b", &[9])],
            "%s = graph.gemm %x0, %w, %b alpha = 0.5 beta = 2.0 trans_b = true : \
             (!x, tensor<9x7xf32>, tensor<9xf32>) -> !y",
        ),
    ]
}

fn alone() -> Vec<Layer> {
    let image: &[usize] = &[2, 6, 7, 9];
    let pool = "strides = [2, 2] pads = [1, 1, 1, 1] dilations = [1, 1]";
    let mut layers = vec![
        model(
            "pools",
            &[&[2, 5, 10, 11]],
            &[2, 5, 5, 6],
            &format!(
                "  %0 = graph.max_pool %x0 kernel_shape = [3, 3] {pool} : (!x) -> !y\n  \
                 %1 = graph.average_pool %x0 kernel_shape = [3, 3] {pool} : (!x) -> !y\n  \
                 %2 = graph.average_pool %x0 kernel_shape = [3, 3] {pool} count_include_pad = true : (!x) -> !y\n  \
                 %3 = graph.max_pool %x0 kernel_shape = [2, 1] strides = [2, 2] pads = [0, 0, 0, 0] \
                 dilations = [1, 1] ceil_mode = true : (!x) -> !y\n"
            ),
            &["%0", "%1", "%2", "%3"],
        ),
        model(
            "global pools",
            &[image],
            &[2, 6, 1, 1],
            "  %0 = graph.global_max_pool %x0 : (!x) -> !y\n  %1 = graph.global_average_pool %x0 : (!x) -> !y\n",
            &["%0", "%1"],
        ),
        model(
            "batch norm of a sum",
            &[image, image],
            image,
            &(["m", "bb", "sss"].map(|name| constant(name, &[6])).concat()
                + &constant("positive", &[6])
                + "  %0 = graph.max %x0, %x1 : !x\n  \
                   %1 = graph.batch_norm %0, %sss, %bb, %m, %positive epsilon = 1.0e-3 : \
                   (!x, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6xf32>) -> !y\n  \
                   %2 = graph.relu %1 : !y\n"),
            &["%2"],
        ),
        model(
            "softmax",
            &[&[2, 3, 4, 5]],
            &[2, 3, 4, 5],
            "  %0 = graph.softmax %x0 axis = 1 : !x\n  %1 = graph.softmax %x0 : !x\n  \
             %2 = graph.log_softmax %x0 axis = 2 : !x\n",
            &["%0", "%1", "%2"],
        ),
        model(
            "conv2d and concat",
            &[image, &[2, 2, 7, 9]],
            &[2, 14, 7, 9],
            &(constant("w", &[6, 6, 1, 1])
                + "  %0 = graph.conv %x0, %w strides = [1, 1] pads = [0, 0, 0, 0] dilations = [1, 1] : \
                   (!x, tensor<6x6x1x1xf32>) -> !x\n  \
                   %1 = graph.concat %0, %x1, %x0 axis = 1 : (!x, tensor<2x2x7x9xf32>, !x) -> !y\n"),
            &["%1"],
        ),
        // Transposes between calls with images and others are loops in the region's C.
        model(
            "conv2d, softmax, product and pool in one region",
            &[image],
            &[2, 6, 7, 8],
            &(constant("w", &[6, 6, 1, 1])
                + &constant("k", &[9, 9])
                + "  %0 = graph.conv %x0, %w strides = [1, 1] pads = [0, 0, 0, 0] dilations = [1, 1] : \
                   (!x, tensor<6x6x1x1xf32>) -> !x\n  \
                   %1 = graph.softmax %0 axis = 2 : !x\n  \
                   %2 = graph.matmul %1, %k : (!x, tensor<9x9xf32>) -> !x\n  \
                   %3 = graph.max_pool %2 kernel_shape = [1, 2] strides = [1, 1] pads = [0, 0, 0, 0] \
                   dilations = [1, 1] : (!x) -> !y\n"),
            &["%3"],
        ),
        with_activations(
            "eltwise",
            &[&[3, 5, 7], &[3, 5, 7]],
            &[3, 5, 7],
            &[("k", &[3, 5, 7])],
            "%s = graph.sub %x0, %k : !y",
        ),
    ];
    // The factor is NaN and infinite in places; abs keeps the others from fusing with the product.
    let odd = "  %k = graph.constant dense<[1.0, 0x7FC00000, 0x7F800000, 0xFF800000, -1.0]> : tensor<5xf32>\n  \
               %0 = graph.mul %x0, %k : (!x, tensor<5xf32>) -> !x\n  %1 = graph.abs %0 : !x\n";
    let unary = ["relu", "exp", "hard_sigmoid", "tanh", "gelu", "sigmoid", "sqrt"]
        .map(|op| format!("  %{op} = graph.{op} %1 : !x\n"));
    let binary = ["max", "min"].map(|op| {
        format!(
            "  %{op}0 = graph.{op} %1, %x1 : (!x, tensor<3x1xf32>) -> !x\n  \
             %{op}1 = graph.{op} %x1, %1 : (tensor<3x1xf32>, !x) -> !x\n"
        )
    });
    let clip =
        "  %clip = graph.clip %1 min %low max %high : (!x, tensor<f32>, tensor<f32>) -> !x\n";
    let results =
        "%relu %exp %hard_sigmoid %tanh %gelu %sigmoid %sqrt %max0 %max1 %min0 %min1 %clip";
    layers.push(model(
        "NaN and infinity",
        &[&[2, 3, 5], &[3, 1]],
        &[2, 3, 5],
        &(limits() + odd + &unary.concat() + &binary.concat() + clip),
        &results.split(' ').collect::<Vec<_>>(),
    ));
    let mut body =
        constant("c", &[6, 1, 1]) + &constant("positive", &[2, 1, 7, 1]) + &scalar("k", "3.0");
    let mut results = vec![];
    for op in ["add", "sub", "mul", "max", "min"] {
        let lines = format!(
            "  %{op}0 = graph.{op} %x0, %x1 : !x\n  \
             %{op}1 = graph.{op} %c, %{op}0 : (tensor<6x1x1xf32>, !x) -> !y\n  \
             %{op}2 = graph.{op} %{op}1, %k : (!y, tensor<f32>) -> !y\n  \
             %{op}3 = graph.relu %{op}2 : !y\n"
        );
        body += &lines;
        results.push(format!("%{op}3"));
    }
    body += "  %div0 = graph.div %x0, %positive : (!x, tensor<2x1x7x1xf32>) -> !y\n";
    results.push("%div0".to_owned());
    let results: Vec<_> = results.iter().map(String::as_str).collect();
    layers.push(model("binary", &[image, image], image, &body, &results));
    let unary = ["abs", "exp", "round"].map(|op| format!("  %{op} = graph.{op} %x0 : !x\n"));
    let roots = "  %sqrt = graph.sqrt %exp : !x\n";
    let body = unary.concat() + roots;
    layers.push(model("unary", &[&[77]], &[77], &body, &["%abs", "%round", "%sqrt"]));
    layers
}

/// Layers of `dnnl`.
pub fn dnnl() -> Vec<Layer> {
    fused().into_iter().chain(alone()).collect()
}

/// Layers of `openblas`.
pub fn openblas() -> Vec<Layer> {
    vec![
        model(
            "products",
            &[&[2, 5, 7], &[2, 7, 9]],
            &[2, 5, 9],
            &(constant("w", &[7, 9])
                + "  %0 = graph.matmul %x0, %w : (!x, tensor<7x9xf32>) -> !y\n  \
                   %1 = graph.matmul %x0, %x1 : (!x, tensor<2x7x9xf32>) -> !y\n"),
            &["%0", "%1"],
        ),
        model(
            "gemms",
            &[&[7, 5]],
            &[5, 9],
            &(constant("w", &[9, 7])
                + &constant("row", &[9])
                + &constant("column", &[5, 1])
                + "  %0 = graph.gemm %x0, %w alpha = 0.5 trans_a = true trans_b = true : \
                   (!x, tensor<9x7xf32>) -> !y\n  \
                   %1 = graph.gemm %x0, %w, %row trans_a = true trans_b = true : \
                   (!x, tensor<9x7xf32>, tensor<9xf32>) -> !y\n  \
                   %2 = graph.gemm %x0, %w, %column beta = 2.0 trans_a = true trans_b = true : \
                   (!x, tensor<9x7xf32>, tensor<5x1xf32>) -> !y\n"),
            &["%0", "%1", "%2"],
        ),
    ]
}

/// Models that `dnnl` must leave to the host, with the reason.
pub fn refused() -> Vec<(&'static str, String, &'static str)> {
    let image = [1, 3, 8, 8];
    let dynamic = "func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {\n  \
                   %0 = graph.softmax %x : tensor<?x4xf32>\n  return %0 : tensor<?x4xf32>\n}\n";
    let double = "func.func @main(%x: tensor<3x4xf64>) -> tensor<3x4xf64> {\n  \
                  %0 = graph.tanh %x : tensor<3x4xf64>\n  return %0 : tensor<3x4xf64>\n}\n";
    let weights = model(
        "",
        &[&image, &[4, 3, 3, 3]],
        &[1, 4, 6, 6],
        "  %0 = graph.conv %x0, %x1 strides = [1, 1] pads = [0, 0, 0, 0] dilations = [1, 1] : \
         (!x, tensor<4x3x3x3xf32>) -> !y\n",
        &["%0"],
    );
    let volume = model(
        "",
        &[&[1, 3, 8, 8, 8]],
        &[1, 4, 8, 8, 8],
        &(constant("w", &[4, 3, 1, 1, 1])
            + "  %0 = graph.conv %x0, %w strides = [1, 1, 1] pads = [0, 0, 0, 0, 0, 0] dilations = [1, 1, 1] : \
               (!x, tensor<4x3x1x1x1xf32>) -> !y\n"),
        &["%0"],
    );
    let pool = model(
        "",
        &[&image],
        &[1, 3, 5, 5],
        "  %0 = graph.average_pool %x0 kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1] \
         dilations = [1, 1] ceil_mode = true count_include_pad = true : (!x) -> !y\n",
        &["%0"],
    );
    vec![
        ("softmax", dynamic.to_owned(), "a dimension is dynamic"),
        ("tanh", double.to_owned(), "it is f64"),
        ("conv", weights.text, "its weights are computed"),
        ("conv3d", volume.text, "it is no image"),
        ("average_pool", pool.text, "windows reach over the padding, which counts"),
    ]
}
