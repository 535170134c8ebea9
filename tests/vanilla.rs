//! Layers on the simulated accelerator: each is computed by generated C for the device and by the
//! host in one model, and both are compared.

use phaseline::{
    Phase, Pipeline, Session,
    codegen::{c, llvm},
    ir,
    passes::pack_constants,
    runtime::{self, Executable, Signature},
    target::Registry,
    tensor::Tensor,
};
use std::fmt::Write as _;

/// Numbers that look random, the same ones every time.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u64) -> i64 {
        (self.next() % end) as i64
    }

    fn pick<const N: usize>(&mut self, from: [i64; N]) -> i64 {
        from[self.below(N as u64) as usize]
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.below(2001) - 1000) as f32 / 1000.0).collect()
    }

    fn constant(&mut self, name: &str, dims: &[i64]) -> (String, String) {
        let ty = tensor(dims);
        let count = dims.iter().product::<i64>() as usize;
        let mut hex = String::new();
        for byte in self.floats(count).iter().flat_map(|value| value.to_le_bytes()) {
            write!(hex, "{byte:02X}").expect("a string");
        }
        (format!("%{name} = graph.constant dense<\"0x{hex}\"> : {ty}\n"), ty)
    }
}

fn tensor(dims: &[i64]) -> String {
    let dims: Vec<_> = dims.iter().map(i64::to_string).collect();
    format!("tensor<{}xf32>", dims.join("x"))
}

/// A layer: the operations, the constants that they use, and the types.
struct Case {
    name: String,
    input: Vec<i64>,
    output: Vec<i64>,
    constants: String,
    /// Operands of the composite besides the input, with their types.
    operands: Vec<(String, String)>,
    /// The decomposition, on `%x` and the operands' names, giving `%y`.
    body: String,
}

impl Case {
    fn module(&self) -> String {
        let (x, y) = (tensor(&self.input), tensor(&self.output));
        let mut operands = "%x = %x0".to_owned();
        let mut types = x.clone();
        for (name, ty) in &self.operands {
            write!(operands, ", %{name} = %{name}0").expect("a string");
            write!(types, ", {ty}").expect("a string");
        }
        let layer = format!(
            "{}  %r = graph.composite \"vanilla.layer\" target(\"vanilla\") ({operands}) : \
             ({types}) -> {y} {{\n{}    graph.yield %y : {y}\n  }} loc(\"{}\")\n  return %r : {y}\n",
            self.constants, self.body, self.name
        );
        format!(
            "module {{\nfunc.func @main(%x: {x}) -> ({y}, {y}) attributes {{phl.target = \"llvm\"}} {{\n  \
             %0 = call @vanilla_0(%x) : ({x}) -> {y}\n  %1 = call @host(%x) : ({x}) -> {y}\n  \
             return %0, %1 : {y}, {y}\n}}\n\
             func.func private @vanilla_0(%x0: {x}) -> {y} attributes {{phl.target = \"vanilla\"}} \
             {{\n{layer}}}\n\
             func.func private @host(%x0: {x}) -> {y} attributes {{phl.target = \"llvm\"}} {{\n\
             {layer}}}\n}}\n"
        )
    }

    /// Compiles and runs the layer both ways; gives the C too.
    fn check(&self, random: &mut Random, options: &str) -> String {
        let (executable, text) = compile(&self.module(), options)
            .unwrap_or_else(|error| panic!("{}: {error}", self.name));
        let count = self.input.iter().product::<i64>() as usize;
        let shape: Vec<_> = self.input.iter().map(|dim| *dim as usize).collect();
        let x = Tensor::from_slice(&shape, &random.floats(count)).expect("a tensor");
        let outputs = executable
            .run(std::slice::from_ref(&x))
            .unwrap_or_else(|error| panic!("{}: {error}\n{text}", self.name));
        let [device, host] =
            [0, 1].map(|index| outputs[index].as_slice::<f32>().expect("f32").to_vec());
        let scale = host.iter().fold(1.0_f32, |most, value| most.max(value.abs()));
        for (index, (a, b)) in device.iter().zip(&host).enumerate() {
            let close = (a - b).abs() <= 2e-5 * scale;
            assert!(close, "{}: element {index} is {a}, on the host {b}\n{text}", self.name);
        }
        text
    }
}

fn op<'c>(module: &'c melior::ir::Module<'c>) -> ir::Op<'c> {
    // SAFETY: the module outlives its use here.
    unsafe { ir::Op::from_raw(module.as_operation().to_raw()) }
}

/// Compiles a model for vanilla and the host; `options` are those of `vanilla-tile`.
fn compile(text: &str, options: &str) -> phaseline::Result<(Executable, String)> {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "test")?;
    let registry = Registry::builtin()?;
    let targets = registry.resolve(&"vanilla, llvm".parse()?)?;
    let target = targets.iter().find(|target| target.id == "vanilla").expect("a target");
    let mut pipelines: Vec<_> =
        targets.iter().map(|target| target.pipelines()).collect::<Result<_, _>>()?;
    for (phase, passes) in pipelines.iter_mut().flat_map(|pipelines| &mut pipelines.phases) {
        if passes.starts_with("vanilla-tile") && !options.is_empty() {
            *passes = format!("vanilla-tile{{{options}}}");
        }
        if *phase == Phase::TirPost && options.contains("double-buffer=false") {
            *passes = passes.replace("enable=true", "enable=false");
        }
    }
    let pipeline = Pipeline::assemble(&pipelines)?;
    let run = |phase| session.run_pipeline(&module, pipeline.section(phase).expect("a section"));
    for phase in [
        Phase::PostPartition,
        Phase::Lower,
        Phase::TirSchedule,
        Phase::Bufferize,
        Phase::TirPost,
        Phase::PlanMemory,
    ] {
        run(phase)?;
    }
    let mut signature = Signature::of(op(&module))?;
    for device in &mut signature.devices {
        *device = c::device(target);
    }
    let constants = pack_constants::constants(op(&module))?.into_owned();
    run(Phase::Codegen)?;
    let mut objects = vec![];
    let mut text = String::new();
    for part in ir::ops_of(op(&module)) {
        if ir::attr_str(part, "phl.target").as_deref() == Some("vanilla") {
            let artifacts = c::compile(&session, part, &c::options(target, None, "model", "")?)?;
            text = artifacts.sources[0].1.clone();
            objects.extend(artifacts.objects);
        } else {
            objects.push(llvm::compile(&session, part, "model_host")?);
        }
    }
    Ok((runtime::jit(&objects, &constants, signature, vec![])?, text))
}

/// What follows the contraction: a bias and an activation, or not.
fn epilogue(random: &mut Random, case: &mut Case, channels: &[i64]) {
    let y = tensor(&case.output);
    if random.below(3) == 0 {
        let (constant, ty) = random.constant("added0", channels);
        case.constants.push_str(&constant);
        case.operands.push(("added".into(), ty.clone()));
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

fn conv(random: &mut Random, n: i64, depthwise: bool, limit: i64) -> Case {
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
    let (weights, weights_ty) = random.constant("w0", &[out_c, weight_c, kh, kw]);
    let mut case = Case {
        name: format!(
            "conv {n}x{in_c}x{h}x{w} -> {output:?} kernel {kh}x{kw} strides {sh} {sw} dilations \
             {dh} {dw} pads {top} {left} {bottom} {right} depthwise {depthwise}"
        ),
        input: vec![n, in_c, h, w],
        output: output.clone(),
        constants: weights,
        operands: vec![("w".into(), weights_ty.clone())],
        body: String::new(),
    };
    let (mut operands, mut types) = ("%x, %w".to_owned(), weights_ty);
    if random.below(2) == 0 {
        let (constant, ty) = random.constant("b0", &[out_c]);
        case.constants.push_str(&constant);
        case.operands.push(("b".into(), ty.clone()));
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

fn dense(random: &mut Random, limit: u64) -> Case {
    let (rows, inner, outer) =
        (1 + random.below(70), 1 + random.below(limit), 1 + random.below(limit));
    let gemm = random.below(2) == 0;
    let transposed = gemm && random.below(2) == 0;
    let dims = if transposed { [outer, inner] } else { [inner, outer] };
    let (weights, ty) = random.constant("w0", &dims);
    let mut case = Case {
        name: format!("dense {rows}x{inner} -> {outer} gemm {gemm} transposed {transposed}"),
        input: vec![rows, inner],
        output: vec![rows, outer],
        constants: weights,
        operands: vec![("w".into(), ty.clone())],
        body: String::new(),
    };
    let (x, y) = (tensor(&case.input), tensor(&case.output));
    if gemm {
        let (constant, bias) = random.constant("b0", &[outer]);
        case.constants.push_str(&constant);
        case.operands.push(("b".into(), bias.clone()));
        writeln!(
            case.body,
            "%z = graph.gemm %x, %w, %b alpha = 0.5 beta = 2.0 {}: ({x}, {ty}, {bias}) -> {y}",
            if transposed { "trans_b = true " } else { "" }
        )
        .expect("a string");
    } else {
        writeln!(case.body, "%z = graph.matmul %x, %w : ({x}, {ty}) -> {y}").expect("a string");
    }
    epilogue(random, &mut case, &[outer]);
    case
}

/// A sum of two results, or an activation, alone.
fn elementwise(dims: &[i64], sum: bool) -> Case {
    let ty = tensor(dims);
    let body = if sum {
        format!("%y = graph.add %x, %x : ({ty}, {ty}) -> {ty}\n")
    } else {
        format!("%y = graph.relu %x : {ty}\n")
    };
    Case {
        name: format!("elementwise {dims:?} sum {sum}"),
        input: dims.to_vec(),
        output: dims.to_vec(),
        constants: String::new(),
        operands: vec![],
        body,
    }
}

#[test]
fn sums_and_activations_agree_with_the_host() {
    let random = &mut Random(99);
    for dims in [&[1, 3, 100, 77][..], &[7], &[40000], &[5, 9]] {
        for sum in [true, false] {
            elementwise(dims, sum).check(random, "");
        }
    }
}

#[test]
fn random_convolutions_agree_with_the_host() {
    let random = &mut Random(0x1234_5678_9ABC);
    for index in 0..10 {
        let n = 1 + i64::from(index % 4 == 3);
        conv(random, n, index % 3 == 2, 40).check(random, "");
    }
}

#[test]
fn random_products_agree_with_the_host() {
    let random = &mut Random(0xABCD_EF01);
    for limit in [3, 30, 300, 900] {
        dense(random, limit).check(random, "");
    }
}

#[test]
fn every_cut_gives_the_same() {
    let random = &mut Random(77);
    let options = [
        "double-buffer=false",
        "rows=1 in-channels=3",
        "rows=2 columns=3 out-channels=8 in-channels=1",
        "scratchpad=16384 columns=1",
        "rows=5 out-channels=8 double-buffer=false",
    ];
    for (index, options) in options.into_iter().enumerate() {
        conv(random, 1, index == 3, 20).check(random, options);
        dense(random, 40).check(random, options);
    }
}

#[test]
fn the_c_is_fit_to_read() {
    let random = &mut Random(5);
    let text = conv(random, 1, false, 20).check(random, "rows=2 in-channels=4");
    for part in
        ["#include \"vanilla.h\"", "vanilla_conv2d(device, &(vanilla_conv2d_params){", "/* conv 1x"]
    {
        assert!(text.contains(part), "{part}\n{text}");
    }
    assert!(text.lines().all(|line| line.len() <= 100), "{text}");
}

#[test]
fn layers_in_one_function_pass_their_results_through_host_memory() {
    let ty = tensor(&[1, 2048, 7, 7]);
    let layer = |name: &str, from: &str, to: &str, op: &str| {
        format!(
            "%{to} = graph.composite \"vanilla.{name}\" target(\"vanilla\") (%a = %{from}) : \
             ({ty}) -> {ty} {{\n{op}graph.yield %s : {ty}\n}}\n"
        )
    };
    let relu = layer("relu", "x", "y", &format!("%s = graph.relu %a : {ty}\n"));
    let sum = format!("%s = graph.add %a, %a : ({ty}, {ty}) -> {ty}\n");
    let [first, second] = [("y", "z"), ("z", "r")].map(|(from, to)| layer("add", from, to, &sum));
    let text = format!(
        "module {{\nfunc.func @main(%x: {ty}) -> {ty} attributes {{phl.target = \"llvm\"}} {{\n\
         %0 = call @vanilla_0(%x) : ({ty}) -> {ty}\nreturn %0 : {ty}\n}}\n\
         func.func private @vanilla_0(%x: {ty}) -> {ty} attributes {{phl.target = \"vanilla\"}} \
         {{\n{relu}{first}{second}return %r : {ty}\n}}\n}}\n"
    );
    let (executable, c) = compile(&text, "").expect("compiles");
    let values = Random(3).floats(2048 * 49);
    let x = Tensor::from_slice(&[1, 2048, 7, 7], &values).expect("a tensor");
    let outputs = executable.run(std::slice::from_ref(&x)).unwrap_or_else(|e| panic!("{e}\n{c}"));
    for (found, x) in outputs[0].as_slice::<f32>().expect("f32").iter().zip(values) {
        assert_eq!(*found, 4.0 * x.max(0.0));
    }
}
