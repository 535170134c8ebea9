//! Networks in patches give the numbers of networks that are whole: random chains of windows with
//! all kinds of strides, dilations and padding, in floats and in quantized numbers.

#![allow(clippy::panic, reason = "tests fail by panicking")]

use phaseline::{CompileOptions, Session, tensor::Tensor};
use std::fmt::Write as _;

/// Numbers that look random, the same ones every time.
struct Random(u64);

impl Random {
    fn below(&mut self, end: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end as u64) as i64
    }

    fn from(&mut self, first: i64, last: i64) -> i64 {
        first + self.below(last - first + 1)
    }
}

/// A network that grows; `dims` is the shape of the last value.
struct Net {
    text: String,
    dims: [i64; 4],
    last: String,
    names: usize,
    quantized: bool,
}

fn tensor(dims: &[i64], element: &str) -> String {
    let dims: String = dims.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}{element}>")
}

impl Net {
    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("%v{}", self.names)
    }

    fn line(&mut self, what: &str) -> String {
        let name = self.fresh();
        writeln!(self.text, "  {name} = graph.{what}").expect("a string");
        name
    }

    fn weights(&mut self, random: &mut Random, dims: &[i64]) -> String {
        let count: i64 = dims.iter().product();
        let mut hex = String::new();
        if self.quantized {
            for _ in 0..count {
                write!(hex, "{:02X}", random.from(-90, 90) as i8).expect("a string");
            }
            let w = self.line(&format!("constant dense<\"0x{hex}\"> : {}", tensor(dims, "i8")));
            let (i8s, f32s) = (tensor(dims, "i8"), tensor(dims, "f32"));
            return self.line(&format!(
                "dequantize_linear {w}, %ws, %wz : ({i8s}, tensor<f32>, tensor<i8>) -> {f32s}"
            ));
        }
        for _ in 0..count {
            let value = random.from(-1000, 1000) as f32 / 4000.0;
            value
                .to_le_bytes()
                .iter()
                .for_each(|byte| write!(hex, "{byte:02X}").expect("a string"));
        }
        self.line(&format!("constant dense<\"0x{hex}\"> : {}", tensor(dims, "f32")))
    }

    /// Strides, pads and dilations of windows of a kernel, and the shape that they lead to.
    fn windows(&mut self, random: &mut Random, kernel: [i64; 2]) -> Option<(String, [i64; 2])> {
        let stride = [random.from(1, 2), random.from(1, 2)];
        let dilation = [random.from(1, 2), random.from(1, 2)];
        let pad = |random: &mut Random, at: usize| random.below(kernel[at].min(3));
        let pads = [pad(random, 0), pad(random, 1), pad(random, 0), pad(random, 1)];
        let out = |at: usize| {
            let reach = (kernel[at] - 1) * dilation[at] + 1;
            (self.dims[2 + at] + pads[at] + pads[2 + at] - reach) / stride[at] + 1
        };
        let size = [out(0), out(1)];
        let text = format!("strides = {stride:?} pads = {pads:?} dilations = {dilation:?}");
        size.iter().all(|size| *size >= 4).then_some((text, size))
    }

    fn conv(&mut self, random: &mut Random) {
        let kernel = [random.from(1, 4), random.from(1, 4)];
        let Some((windows, size)) = self.windows(random, kernel) else { return };
        let channels = self.dims[1];
        let depthwise = random.below(2) == 0;
        let (filters, group) =
            if depthwise { (channels, channels) } else { (random.from(3, 9), 1) };
        let w = [filters, channels / group, kernel[0], kernel[1]];
        let weights = self.weights(random, &w);
        let to = [1, filters, size[0], size[1]];
        let types = format!(
            "({}, {}) -> {}",
            tensor(&self.dims, "f32"),
            tensor(&w, "f32"),
            tensor(&to, "f32")
        );
        let last = self.last.clone();
        self.last =
            self.line(&format!("conv {last}, {weights} {windows} group = {group} : {types}"));
        self.dims = to;
    }

    fn pool(&mut self, random: &mut Random) {
        let kernel = [random.from(2, 3), random.from(2, 3)];
        let Some((windows, size)) = self.windows(random, kernel) else { return };
        let to = [1, self.dims[1], size[0], size[1]];
        let (name, more) = match random.below(3) {
            0 => ("max_pool", ""),
            1 => ("average_pool", " count_include_pad = true"),
            _ => ("average_pool", ""),
        };
        let types = format!("({}) -> {}", tensor(&self.dims, "f32"), tensor(&to, "f32"));
        let last = self.last.clone();
        let what = format!("{name} {last} kernel_shape = {kernel:?} {windows}{more} : {types}");
        self.last = self.line(&what);
        self.dims = to;
    }

    fn pad(&mut self, random: &mut Random) {
        let amounts = [random.below(3), random.below(2), random.below(2), random.below(3)];
        let [a, b, c, d] = amounts;
        let pads =
            self.line(&format!("constant dense<[0, 0, {a}, {b}, 0, 0, {c}, {d}]> : tensor<8xi64>"));
        let value = self.line("constant dense<0.25> : tensor<f32>");
        let to = [1, self.dims[1], self.dims[2] + a + c, self.dims[3] + b + d];
        let types = format!(
            "({}, tensor<8xi64>, tensor<f32>) -> {}",
            tensor(&self.dims, "f32"),
            tensor(&to, "f32")
        );
        let last = self.last.clone();
        self.last = self.line(&format!("pad {last}, {pads} value {value} : {types}"));
        self.dims = to;
    }

    /// A value of the same shape is added, as around the layers of a residual network.
    fn residual(&mut self, random: &mut Random) {
        let before = self.last.clone();
        let ty = tensor(&self.dims, "f32");
        self.conv_same(random);
        let last = self.last.clone();
        self.last = self.line(&format!("add {last}, {before} : ({ty}, {ty}) -> {ty}"));
    }

    fn conv_same(&mut self, random: &mut Random) {
        let channels = self.dims[1];
        let w = [channels, channels, 3, 3];
        let weights = self.weights(random, &w);
        let ty = tensor(&self.dims, "f32");
        let last = self.last.clone();
        self.last = self.line(&format!(
            "conv {last}, {weights} pads = [1, 1, 1, 1] : ({ty}, {}) -> {ty}",
            tensor(&w, "f32")
        ));
    }

    fn relu(&mut self) {
        let (last, ty) = (self.last.clone(), tensor(&self.dims, "f32"));
        self.last = self.line(&format!("relu {last} : {ty}"));
    }

    /// Through int8 and back.
    fn quantize(&mut self) {
        let (f32s, i8s) = (tensor(&self.dims, "f32"), tensor(&self.dims, "i8"));
        let last = self.last.clone();
        let q = self.line(&format!(
            "quantize_linear {last}, %s, %z : ({f32s}, tensor<f32>, tensor<i8>) -> {i8s}"
        ));
        self.last = self.line(&format!(
            "dequantize_linear {q}, %s, %z : ({i8s}, tensor<f32>, tensor<i8>) -> {f32s}"
        ));
    }
}

/// A random network, and the shape of its input.
fn network(random: &mut Random, quantized: bool) -> (String, Vec<i64>) {
    let dims = [1, random.from(1, 4), random.from(24, 40), random.from(24, 40)];
    let last = "%x".to_owned();
    let mut net = Net { text: String::new(), dims, last, names: 0, quantized };
    for (name, value, ty) in
        [("s", "0.05", "f32"), ("z", "3", "i8"), ("ws", "0.004", "f32"), ("wz", "0", "i8")]
    {
        writeln!(net.text, "  %{name} = graph.constant dense<{value}> : tensor<{ty}>")
            .expect("fits");
    }
    if quantized {
        net.quantize();
    }
    for _ in 0..6 {
        match random.below(if quantized { 4 } else { 8 }) {
            0..=3 => net.conv(random),
            4 => net.pool(random),
            5 => net.pad(random),
            6 => net.residual(random),
            _ => net.relu(),
        }
        if quantized {
            net.quantize();
        }
    }
    let pooled = [1, net.dims[1], net.dims[2] / 3, net.dims[3] / 3];
    let types = format!("({}) -> {}", tensor(&net.dims, "f32"), tensor(&pooled, "f32"));
    let last = net.last.clone();
    net.last =
        net.line(&format!("max_pool {last} kernel_shape = [3, 3] strides = [3, 3] : {types}"));
    let text = format!(
        "func.func @main(%x: {}) -> {} {{\n{}  return {} : {}\n}}\n",
        tensor(&dims, "f32"),
        tensor(&pooled, "f32"),
        net.text,
        net.last,
        tensor(&pooled, "f32")
    );
    (text, dims.to_vec())
}

/// Results of a network, and the bytes of its arena.
fn run(text: &str, input: &Tensor, targets: &str, patches: Option<i64>) -> (Vec<f32>, usize) {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "net.mlir").expect("the test's networks are valid");
    let options = CompileOptions { targets: targets.into(), patches, ..Default::default() };
    let compiled = session.compile(module, &options).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let bytes = compiled.signature.arena_bytes;
    let network = compiled.load().expect("loads");
    let outputs = network.run(std::slice::from_ref(input)).expect("runs");
    (outputs[0].as_slice::<f32>().expect("is of f32").to_vec(), bytes)
}

/// Compares networks with and without patches; gives how many took less memory.
fn compare(seed: u64, count: usize, quantized: bool, targets: &str, tolerance: f32) -> usize {
    let mut random = Random(seed);
    let mut smaller = 0;
    for _ in 0..count {
        let (text, dims) = network(&mut random, quantized);
        let shape: Vec<usize> = dims.iter().map(|dim| *dim as usize).collect();
        let input =
            Tensor::random_named(phaseline::tensor::DType::F32, &shape, seed, "x").expect("fits");
        let (whole, bytes) = run(&text, &input, targets, None);
        let (patched, less) = run(&text, &input, targets, Some(6));
        smaller += usize::from(less < bytes);
        assert_eq!(whole.len(), patched.len());
        let scale = whole.iter().fold(1.0_f32, |most, value| most.max(value.abs()));
        for (at, (a, b)) in whole.iter().zip(&patched).enumerate() {
            assert!((a - b).abs() <= tolerance * scale, "{targets}, {at}: {a} and {b}\n{text}");
        }
    }
    smaller
}

#[test]
fn floats_in_patches_are_the_same() {
    let smaller = compare(1, 8, false, "llvm", 1e-5);
    assert!(smaller >= 3, "only {smaller} of 8 networks took less memory");
}

#[test]
fn integers_in_patches_are_the_same_to_the_bit() {
    let smaller = compare(2, 5, true, "llvm", 0.0);
    assert!(smaller >= 2, "only {smaller} of 5 networks took less memory");
}

#[test]
fn devices_and_c_compute_patches_too() {
    let smaller = compare(3, 1, true, "c", 0.0) + compare(4, 1, true, "cmsis-nn, c", 0.0);
    assert!(smaller >= 1, "only {smaller} of 2 networks took less memory");
}
