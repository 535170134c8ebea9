//! Layers of random sizes, computed by a device and by the host.

use phaseline::{CompileOptions, Compiled, Pipeline, Session, tensor::Tensor};
use std::{fmt::Write as _, path::PathBuf};

/// Numbers that look random, the same ones every time.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: u64) -> i64 {
        (self.next() % end) as i64
    }

    pub fn pick<const N: usize>(&mut self, from: [i64; N]) -> i64 {
        from[self.below(N as u64) as usize]
    }

    pub fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.below(2001) - 1000) as f32 / 1000.0).collect()
    }

    pub fn constant(&mut self, name: &str, dims: &[i64]) -> (String, String) {
        let ty = tensor(dims);
        let count = dims.iter().product::<i64>() as usize;
        let mut hex = String::new();
        for byte in self.floats(count).iter().flat_map(|value| value.to_le_bytes()) {
            write!(hex, "{byte:02X}").expect("a string");
        }
        (format!("%{name} = graph.constant dense<\"0x{hex}\"> : {ty}\n"), ty)
    }
}

pub fn tensor(dims: &[i64]) -> String {
    let dims: Vec<_> = dims.iter().map(i64::to_string).collect();
    format!("tensor<{}xf32>", dims.join("x"))
}

/// A layer: the operations, the constants that they use, and the types.
pub struct Case {
    /// Name for messages.
    pub name: String,
    /// Dimensions of the input.
    pub input: Vec<i64>,
    /// Dimensions of the output.
    pub output: Vec<i64>,
    /// Weights and biases.
    pub constants: String,
    /// The operations, on `%x` and the constants, giving `%y`.
    pub body: String,
}

/// A device to compile for.
pub struct Device {
    /// The target spec without the host.
    pub spec: String,
    /// Folder of its manifest, unless it is built in.
    pub path: Option<PathBuf>,
    /// The C function that has to be called.
    pub calls: String,
    /// Sizes of tiles, as `tile-calls` takes them.
    pub sizes: String,
}

impl Device {
    /// A device of a built-in kind, whose functions have its name.
    pub fn new(spec: &str) -> Self {
        let kind = spec.split(' ').next().unwrap_or_default();
        let (spec, calls) = (spec.to_owned(), format!("{kind}_"));
        Self { spec, path: None, calls, sizes: String::new() }
    }

    /// The same with these sizes of tiles.
    pub fn sizes(mut self, sizes: &str) -> Self {
        self.sizes = sizes.to_owned();
        self
    }

    fn compile(&self, text: &str, spec: &str) -> phaseline::Result<Compiled> {
        let session = Session::new();
        let module = session.parse(text.as_bytes(), "test")?;
        let mut options = CompileOptions {
            targets: spec.to_owned(),
            target_path: self.path.iter().cloned().collect(),
            ..Default::default()
        };
        if !self.sizes.is_empty() {
            let text = session.pipeline(&options)?.to_string();
            let sized = format!("tile-calls{{sizes={}}}", self.sizes);
            options.pipeline = Some(Pipeline::parse(&text.replace("tile-calls", &sized), "test")?);
        }
        session.compile(module, &options)
    }

    /// Compiles for the device and a host; gives the device's C too.
    pub fn build(&self, text: &str) -> phaseline::Result<(Compiled, String)> {
        let compiled = self.compile(text, &format!("{}, llvm", self.spec))?;
        let is_code = |path: &str| path.starts_with("src/model_");
        let codes = compiled.files.iter().filter(|file| is_code(&file.path));
        let code = codes.map(|file| String::from_utf8_lossy(&file.bytes).into_owned()).collect();
        Ok((compiled, code))
    }
}

fn run(compiled: &Compiled, x: &Tensor) -> phaseline::Result<Vec<f32>> {
    let outputs = compiled.load()?.run(std::slice::from_ref(x))?;
    Ok(outputs[0].as_slice::<f32>().expect("f32").to_vec())
}

impl Case {
    /// The layer as a model.
    pub fn module(&self) -> String {
        let (x, y) = (tensor(&self.input), tensor(&self.output));
        format!(
            "func.func @main(%x: {x}) -> {y} {{\n{}{}return %y : {y}\n}}\n",
            self.constants, self.body
        )
    }

    /// Compiles and runs the layer both ways; gives the C and the device's results.
    pub fn check(&self, random: &mut Random, device: &Device) -> (String, Vec<f32>) {
        let text = self.module();
        let (compiled, code) =
            device.build(&text).unwrap_or_else(|error| panic!("{}: {error}", self.name));
        assert!(code.contains(&device.calls), "{} is not on {}\n{code}", self.name, device.spec);
        let host = Device::new("").compile(&text.replace("\"vanilla\"", "\"host\""), "llvm");
        let host = host.unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let count = self.input.iter().product::<i64>() as usize;
        let shape: Vec<_> = self.input.iter().map(|dim| *dim as usize).collect();
        let x = Tensor::from_slice(&shape, &random.floats(count)).expect("a tensor");
        let [found, expected] = [&compiled, &host].map(|compiled| {
            run(compiled, &x).unwrap_or_else(|error| panic!("{}: {error}\n{code}", self.name))
        });
        let scale = expected.iter().fold(1.0_f32, |most, value| most.max(value.abs()));
        for (index, (a, b)) in found.iter().zip(&expected).enumerate() {
            let close = (a - b).abs() <= 2e-5 * scale;
            assert!(close, "{}: element {index} is {a}, on the host {b}\n{code}", self.name);
        }
        (code, found)
    }
}

/// Epilogue of the contraction: a bias and an activation, or not.
fn epilogue(random: &mut Random, case: &mut Case, channels: &[i64]) {
    let y = tensor(&case.output);
    if random.below(3) == 0 {
        let (constant, ty) = random.constant("added", channels);
        case.constants.push_str(&constant);
        writeln!(case.body, "%s = graph.add %z, %added : ({y}, {ty}) -> {y}").expect("a string");
    } else {
        case.body = case.body.replace("%z", "%s");
    }
    match random.below(3) {
        0 => writeln!(case.body, "%y = graph.relu %s : {y}").expect("a string"),
        1 => {
            case.body.push_str(
                "%low = graph.constant dense<0.0> : tensor<f32>\n\
                 %high = graph.constant dense<6.0> : tensor<f32>\n",
            );
            writeln!(
                case.body,
                "%y = graph.clip %s min %low max %high : ({y}, tensor<f32>, tensor<f32>) -> {y}"
            )
            .expect("a string");
        }
        _ => case.body = case.body.replace("%s", "%y"),
    }
}

pub fn conv(random: &mut Random, n: i64, depthwise: bool, limit: i64) -> Case {
    let out_c = 1 + random.below(limit as u64);
    let in_c = if depthwise { out_c } else { 1 + random.below(limit as u64) };
    let mut one = || {
        let kernel = random.pick([1, 1, 2, 3, 3, 5, 7]);
        let (stride, dilation) = (random.pick([1, 1, 2, 3, 4]), random.pick([1, 1, 1, 2, 3]));
        let [begin, end] = [random.pick([0, 1, 2, 5]), random.pick([0, 1, 3])];
        let size = (dilation * (kernel - 1) + 1 - begin - end).max(1) + random.below(24);
        (kernel, stride, dilation, begin, end, size)
    };
    let ((kh, sh, dh, top, bottom, h), (kw, sw, dw, left, right, w)) = (one(), one());
    let w = if random.below(8) == 0 { w + 700 } else { w };
    let size = |h: i64, pads: i64, k: i64, s: i64, d: i64| (h + pads - d * (k - 1) - 1) / s + 1;
    let output =
        vec![n, out_c, size(h, top + bottom, kh, sh, dh), size(w, left + right, kw, sw, dw)];
    let weight_c = if depthwise { 1 } else { in_c };
    let (weights, weights_ty) = random.constant("w", &[out_c, weight_c, kh, kw]);
    let mut case = Case {
        name: format!(
            "conv {n}x{in_c}x{h}x{w} -> {output:?} kernel {kh}x{kw} strides {sh} {sw} dilations \
             {dh} {dw} pads {top} {left} {bottom} {right} depthwise {depthwise}"
        ),
        input: vec![n, in_c, h, w],
        output: output.clone(),
        constants: weights,
        body: String::new(),
    };
    let (mut operands, mut types) = ("%x, %w".to_owned(), weights_ty);
    if random.below(2) == 0 {
        let (constant, ty) = random.constant("b", &[out_c]);
        case.constants.push_str(&constant);
        operands.push_str(", %b");
        write!(types, ", {ty}").expect("a string");
    }
    let group = if depthwise { format!(" group = {out_c}") } else { String::new() };
    writeln!(
        case.body,
        "%z = graph.conv {operands} strides = [{sh}, {sw}] pads = [{top}, {left}, {bottom}, \
         {right}] dilations = [{dh}, {dw}]{group} : ({}, {types}) -> {}",
        tensor(&case.input),
        tensor(&case.output)
    )
    .expect("a string");
    epilogue(random, &mut case, &[out_c, 1, 1]);
    case
}

pub fn dense(random: &mut Random, limit: u64) -> Case {
    let (rows, inner, outer) =
        (1 + random.below(70), 1 + random.below(limit), 1 + random.below(limit));
    let gemm = random.below(2) == 0;
    let transposed = gemm && random.below(2) == 0;
    let dims = if transposed { [outer, inner] } else { [inner, outer] };
    let (weights, ty) = random.constant("w", &dims);
    let mut case = Case {
        name: format!("dense {rows}x{inner} -> {outer} gemm {gemm} transposed {transposed}"),
        input: vec![rows, inner],
        output: vec![rows, outer],
        constants: weights,
        body: String::new(),
    };
    let (x, y) = (tensor(&case.input), tensor(&case.output));
    if gemm {
        let (constant, bias) = random.constant("b", &[outer]);
        case.constants.push_str(&constant);
        writeln!(
            case.body,
            "%z = graph.gemm %x, %w, %b {}: ({x}, {ty}, {bias}) -> {y}",
            if transposed { "trans_b = true " } else { "" }
        )
        .expect("a string");
    } else {
        writeln!(case.body, "%z = graph.matmul %x, %w : ({x}, {ty}) -> {y}").expect("a string");
    }
    epilogue(random, &mut case, &[outer]);
    case
}

/// A sum of two values, or an activation, alone on the device, which they are not worth.
pub fn elementwise(dims: &[i64], sum: bool) -> Case {
    let ty = tensor(dims);
    let body = if sum {
        format!("%y = graph.add %x, %x {{phl.target = \"vanilla\"}} : ({ty}, {ty}) -> {ty}\n")
    } else {
        format!("%y = graph.relu %x {{phl.target = \"vanilla\"}} : {ty}\n")
    };
    Case {
        name: format!("elementwise {dims:?} sum {sum}"),
        input: dims.to_vec(),
        output: dims.to_vec(),
        constants: String::new(),
        body,
    }
}

/// A product with bias and activation, up to these rows, inner and outer columns.
pub fn product(random: &mut Random, [rows, inner, outer]: [u64; 3]) -> Case {
    let [rows, inner, outer] = [rows, inner, outer]
        .map(|size| if size > 64 { size as i64 } else { 1 + random.below(size) });
    let (weights, w) = random.constant("w", &[inner, outer]);
    let (bias, b) = random.constant("b", &[outer]);
    let (x, y) = (tensor(&[rows, inner]), tensor(&[rows, outer]));
    let body = match random.below(3) {
        0 => format!("%y = graph.matmul %x, %w : ({x}, {w}) -> {y}\n"),
        1 => format!("%y = graph.gemm %x, %w, %b : ({x}, {w}, {b}) -> {y}\n"),
        _ => format!(
            "%z = graph.gemm %x, %w, %b : ({x}, {w}, {b}) -> {y}\n%y = graph.relu %z : {y}\n"
        ),
    };
    Case {
        name: format!("product {rows}x{inner} -> {outer}"),
        input: vec![rows, inner],
        output: vec![rows, outer],
        constants: weights + &bias,
        body,
    }
}
