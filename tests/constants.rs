//! Constant folding of a compile: values that depend on constants alone are computed, where that
//! takes no more memory.

use phaseline::{CompileOptions, Phase, Session, Tensor};

/// Side of the weights, which are too many for folders.
const SIDE: usize = 128;

/// Bytes of f32 weights as MLIR's text has them.
fn weights() -> String {
    let values = (0..SIDE * SIDE).map(|i| ((i * 37 % 101) as f32 - 50.0) / 64.0);
    let bytes: String =
        values.flat_map(f32::to_le_bytes).map(|byte| format!("{byte:02X}")).collect();
    format!("dense<\"0x{bytes}\"> : tensor<{SIDE}x{SIDE}xf32>")
}

fn network(body: &str) -> String {
    format!(
        "func.func @main(%x: tensor<3x{SIDE}xf32> {{phl.name = \"x\"}}) -> (tensor<3x{SIDE}xf32> {{phl.name = \"y\"}}) {{
           %w = graph.constant {}
           {body}
           %y = graph.matmul %x, %v : (tensor<3x{SIDE}xf32>, tensor<{SIDE}x{SIDE}xf32>) -> tensor<3x{SIDE}xf32>
           return %y : tensor<3x{SIDE}xf32>
         }}",
        weights()
    )
}

/// Rows less their means, by their deviations.
fn standardized() -> String {
    network(&format!(
        "%mean = graph.reduce_mean %w axes = [1] : (tensor<{SIDE}x{SIDE}xf32>) -> tensor<{SIDE}x1xf32>
         %c = graph.sub %w, %mean : (tensor<{SIDE}x{SIDE}xf32>, tensor<{SIDE}x1xf32>) -> tensor<{SIDE}x{SIDE}xf32>
         %s = graph.mul %c, %c : tensor<{SIDE}x{SIDE}xf32>
         %var = graph.reduce_mean %s axes = [1] : (tensor<{SIDE}x{SIDE}xf32>) -> tensor<{SIDE}x1xf32>
         %dev = graph.sqrt %var : tensor<{SIDE}x1xf32>
         %v = graph.div %c, %dev : (tensor<{SIDE}x{SIDE}xf32>, tensor<{SIDE}x1xf32>) -> tensor<{SIDE}x{SIDE}xf32>"
    ))
}

fn options(evaluate: bool) -> CompileOptions<'static> {
    CompileOptions { name: "net".into(), evaluate_constants: evaluate, ..Default::default() }
}

/// The network after constants are evaluated, as text without weights.
fn evaluated(text: &str) -> String {
    let session = Session::new();
    let mut module = session.parse(text.as_bytes(), "net.mlir").expect("is valid");
    session.run_phases(&mut module, &options(true), Phase::PrePartition).expect("runs");
    let lines = module.as_operation().to_string();
    lines.lines().filter(|line| !line.contains("graph.constant")).collect::<Vec<_>>().join("\n")
}

fn run(text: &str, evaluate: bool) -> Tensor {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "net.mlir").expect("is valid");
    let compiled = session.compile(module, &options(evaluate)).expect("compiles");
    let x = Tensor::random(phaseline::DType::F32, &[3, SIDE], 1).expect("fits");
    compiled.load().expect("runs here").run(&[x]).expect("runs").remove(0)
}

#[test]
fn standardized_weights_are_constants() {
    let text = standardized();
    let after = evaluated(&text);
    assert!(after.contains("graph.matmul"), "{after}");
    for op in ["graph.div", "graph.sub", "graph.reduce_mean", "graph.sqrt"] {
        assert!(!after.contains(op), "{after}");
    }
    let (with, without) = (run(&text, true).to_f64(), run(&text, false).to_f64());
    assert!(with.iter().zip(&without).all(|(a, b)| (a - b).abs() < 1e-4), "{with:?} {without:?}");
}

#[test]
fn the_same_weights_give_the_same_bytes() {
    let compile = || {
        let session = Session::new();
        let module = session.parse(standardized().as_bytes(), "net.mlir").expect("is valid");
        session.compile(module, &options(true)).expect("compiles").constants
    };
    assert_eq!(compile(), compile());
}

#[test]
fn weights_that_are_stored_smaller_stay_so() {
    let text = network(&format!(
        "%scale = graph.constant dense<0.01> : tensor<f32>
         %zero = graph.constant dense<0> : tensor<i8>
         %q = graph.quantize_linear %w, %scale, %zero : (tensor<{SIDE}x{SIDE}xf32>, tensor<f32>, tensor<i8>) -> tensor<{SIDE}x{SIDE}xi8>
         %v = graph.dequantize_linear %q, %scale, %zero : (tensor<{SIDE}x{SIDE}xi8>, tensor<f32>, tensor<i8>) -> tensor<{SIDE}x{SIDE}xf32>"
    ));
    let after = evaluated(&text);
    assert!(!after.contains("graph.quantize_linear"), "{after}");
    assert!(after.contains("graph.dequantize_linear"), "{after}");
}

/// Transposes move elements as they are stored: what widens them stands behind.
#[test]
fn weights_are_transposed_once() {
    let halves = network(&format!(
        "%h = graph.cast %w : tensor<{SIDE}x{SIDE}xf32> to tensor<{SIDE}x{SIDE}xf16>
         %c = graph.cast %h : tensor<{SIDE}x{SIDE}xf16> to tensor<{SIDE}x{SIDE}xf32>
         %v = graph.transpose %c perm = [1, 0] : (tensor<{SIDE}x{SIDE}xf32>) -> tensor<{SIDE}x{SIDE}xf32>"
    ));
    let values = |count: usize, range: i64| {
        let values: Vec<String> =
            (0..count as i64).map(|i| (i * 7 % range - range / 2).to_string()).collect();
        values.join(", ")
    };
    let rows: Vec<_> = (0..SIDE)
        .map(|row| {
            format!(
                "[{}]",
                values(SIDE + row, 15)
                    .rsplitn(SIDE + 1, ", ")
                    .take(SIDE)
                    .collect::<Vec<_>>()
                    .join(", ")
            )
        })
        .collect();
    let scales: Vec<_> =
        (0..SIDE * 4).map(|i| format!("[{:.3}]", 0.01 + i as f64 / 4096.0)).collect();
    let blocks: Vec<_> = scales
        .chunks(4)
        .map(|row| format!("[{}]", row.concat().replace("][", ", ").trim_matches(['[', ']'])))
        .collect();
    let dequantized = |scale: &str, attributes: &str| {
        network(&format!(
            "%q = graph.constant dense<[{}]> : tensor<{SIDE}x{SIDE}xi4>
             {scale}
             %r = graph.dequantize_linear %q, %s {attributes}
             %v = graph.transpose %r perm = [1, 0] : (tensor<{SIDE}x{SIDE}xf32>) -> tensor<{SIDE}x{SIDE}xf32>",
            rows.join(", ")
        ))
    };
    let per_row = dequantized(
        &format!(
            "%s = graph.constant dense<[{}]> : tensor<{SIDE}xf32>",
            scales[..SIDE].concat().replace("][", ", ").trim_matches(['[', ']'])
        ),
        &format!(
            "axis = 0 : (tensor<{SIDE}x{SIDE}xi4>, tensor<{SIDE}xf32>) -> tensor<{SIDE}x{SIDE}xf32>"
        ),
    );
    let in_blocks = dequantized(
        &format!("%s = graph.constant dense<[{}]> : tensor<{SIDE}x4xf32>", blocks.join(", ")),
        &format!(
            "block_size = 32 : (tensor<{SIDE}x{SIDE}xi4>, tensor<{SIDE}x4xf32>) -> tensor<{SIDE}x{SIDE}xf32>"
        ),
    );
    for (name, text) in [("halves", halves), ("per row", per_row), ("in blocks", in_blocks)] {
        let after = evaluated(&text);
        assert!(!after.contains("graph.transpose"), "{name}: {after}");
        assert!(
            after.contains("graph.cast") || after.contains("graph.dequantize_linear"),
            "{name}: {after}"
        );
        let (with, without) = (run(&text, true).to_f64(), run(&text, false).to_f64());
        assert!(with.iter().zip(&without).all(|(a, b)| (a - b).abs() < 1e-4), "{name}");
    }
}

/// A row is computed, but not repeated 2,700 times.
#[test]
fn what_would_grow_stays() {
    let text = network(&format!(
        "%row = graph.reduce_mean %w axes = [0] : (tensor<{SIDE}x{SIDE}xf32>) -> tensor<1x{SIDE}xf32>
         %flat = graph.constant dense<[1, {SIDE}]> : tensor<2xi64>
         %big = graph.constant dense<[900, 3, {SIDE}]> : tensor<3xi64>
         %e = graph.expand %row, %big : (tensor<1x{SIDE}xf32>, tensor<3xi64>) -> tensor<900x3x{SIDE}xf32>
         %z = graph.add %x, %e : (tensor<3x{SIDE}xf32>, tensor<900x3x{SIDE}xf32>) -> tensor<900x3x{SIDE}xf32>
         %m = graph.reduce_max %z axes = [0, 1] : (tensor<900x3x{SIDE}xf32>) -> tensor<1x1x{SIDE}xf32>
         %n = graph.reshape %m, %flat : (tensor<1x1x{SIDE}xf32>, tensor<2xi64>) -> tensor<1x{SIDE}xf32>
         %v = graph.add %w, %n : (tensor<{SIDE}x{SIDE}xf32>, tensor<1x{SIDE}xf32>) -> tensor<{SIDE}x{SIDE}xf32>"
    ));
    let after = evaluated(&text);
    assert!(after.contains("graph.expand") && !after.contains("graph.reduce_mean"), "{after}");
}

#[test]
fn packages_with_and_without_have_keys_of_their_own() {
    let session = Session::new();
    let module = session.parse(standardized().as_bytes(), "net.mlir").expect("is valid");
    let [with, again, without] = [true, true, false].map(|evaluate| {
        let key = session.cache_key(&module, &options(evaluate)).expect("is known");
        format!("{:?}", key.expect("can be kept"))
    });
    assert_eq!(with, again);
    assert_ne!(with, without);
}
