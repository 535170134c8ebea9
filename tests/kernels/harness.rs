//! Modules made of random cases, compiled with and without kernels.

use melior::ir::{ValueLike, operation::OperationLike};
use phaseline::{
    Session,
    artifact::{Compiled, WeightsPlace, machines, signature_of},
    codegen::llvm,
    ir,
    runtime::Executable,
    tensor::Tensor,
};
use std::{
    collections::HashMap,
    fmt::Write,
    sync::{Mutex, OnceLock},
};

/// A module under construction. Values are names without `%`; shapes are of tensors of floats.
#[derive(Default)]
pub struct Case {
    arguments: Vec<Vec<i64>>,
    body: String,
    types: Vec<(String, Vec<i64>)>,
    outputs: Vec<String>,
    seed: u64,
    /// True for floats of 64 bits.
    double: bool,
}

/// The type of a tensor.
pub fn tensor(shape: &[i64], element: &str) -> String {
    let dims: String = shape.iter().map(|dim| format!("{dim}x")).collect();
    format!("tensor<{dims}{element}>")
}

impl Case {
    /// A case whose floats have 64 bits.
    pub fn of_doubles() -> Self {
        Self { double: true, ..Default::default() }
    }

    pub fn element(&self) -> &'static str {
        if self.double { "f64" } else { "f32" }
    }

    fn name(&mut self, shape: &[i64]) -> String {
        let name = format!("v{}", self.types.len());
        self.types.push((name.clone(), shape.to_vec()));
        name
    }

    fn type_of(&self, name: &str) -> String {
        let found = self.types.iter().find(|(other, _)| other == name).expect("a known value");
        tensor(&found.1, self.element())
    }

    pub fn random(&mut self, shape: &[i64]) -> Vec<f32> {
        self.seed += 1;
        random(shape.iter().product(), self.seed)
    }

    /// An argument of the function.
    pub fn input(&mut self, shape: &[i64]) -> String {
        self.arguments.push(shape.to_vec());
        let name = format!("a{}", self.arguments.len() - 1);
        self.types.push((name.clone(), shape.to_vec()));
        name
    }

    /// A constant of random numbers.
    pub fn constant(&mut self, shape: &[i64]) -> String {
        let values = self.random(shape);
        self.dense(shape, &values)
    }

    /// A constant of random positive numbers.
    pub fn positive(&mut self, shape: &[i64]) -> String {
        let values: Vec<f32> = self.random(shape).iter().map(|value| value.abs() + 0.5).collect();
        self.dense(shape, &values)
    }

    /// A constant of random bytes.
    pub fn bytes(&mut self, shape: &[i64], element: &str) -> String {
        let values = self.random(shape);
        let hex: String =
            values.iter().map(|value| format!("{:02X}", (value * 128.0) as i8)).collect();
        let name = self.name(shape);
        let ty = tensor(shape, element);
        let _ = writeln!(self.body, "  %{name} = graph.constant dense<\"0x{hex}\"> : {ty}");
        name
    }

    /// A constant byte of rank 0.
    pub fn byte(&mut self, value: i64, element: &str) -> String {
        let name = self.name(&[]);
        let _ =
            writeln!(self.body, "  %{name} = graph.constant dense<{value}> : tensor<{element}>");
        name
    }

    /// A constant of rank 0.
    pub fn scalar(&mut self, value: f32) -> String {
        self.dense(&[], &[value])
    }

    /// A constant list.
    pub fn floats(&mut self, values: &[f32]) -> String {
        self.dense(&[values.len() as i64], values)
    }

    /// A constant of these numbers.
    pub fn values(&mut self, shape: &[i64], values: &[f32]) -> String {
        self.dense(shape, values)
    }

    fn dense(&mut self, shape: &[i64], values: &[f32]) -> String {
        let name = self.name(shape);
        let hex: String = values
            .iter()
            .flat_map(|value| match self.double {
                true => f64::from(*value).to_le_bytes().to_vec(),
                false => value.to_le_bytes().to_vec(),
            })
            .map(|byte| format!("{byte:02X}"))
            .collect();
        let ty = tensor(shape, self.element());
        let _ = writeln!(self.body, "  %{name} = graph.constant dense<\"0x{hex}\"> : {ty}");
        name
    }

    /// A constant list of integers.
    pub fn integers(&mut self, values: &[i64]) -> String {
        let name = self.name(&[]);
        let count = values.len();
        let _ = writeln!(
            self.body,
            "  %{name} = graph.constant dense<{values:?}> : tensor<{count}xi64>"
        );
        name
    }

    /// An op; `%@` in its text stands for one operand after another.
    pub fn op(&mut self, text: &str, operands: &[&str], shape: &[i64]) -> String {
        let types: Vec<_> = operands.iter().map(|operand| self.type_of(operand)).collect();
        let typed: Vec<_> =
            operands.iter().zip(&types).map(|(operand, ty)| (*operand, ty.as_str())).collect();
        self.op_with_types(text, &typed, shape)
    }

    /// An op with operands that are not all f32.
    pub fn op_with_types(
        &mut self,
        text: &str,
        operands: &[(&str, &str)],
        shape: &[i64],
    ) -> String {
        self.op_of(text, operands, shape, self.element())
    }

    /// An op whose result has other elements than f32.
    pub fn op_of(
        &mut self,
        text: &str,
        operands: &[(&str, &str)],
        shape: &[i64],
        element: &str,
    ) -> String {
        let mut text = text.to_owned();
        for (operand, _) in operands {
            text = text.replacen("%@", &format!("%{operand}"), 1);
        }
        let types: Vec<_> = operands.iter().map(|(_, ty)| *ty).collect();
        let ty = tensor(shape, element);
        let name = self.name(shape);
        // Unary ops whose result has the operand's type print it once.
        let short = [
            "graph.sigmoid",
            "graph.leaky_relu",
            "graph.hard_swish",
            "graph.tanh",
            "graph.relu",
            "graph.erf",
            "graph.softmax",
        ];
        let signature = if short.iter().any(|op| text.starts_with(op)) {
            ty
        } else {
            format!("({}) -> {ty}", types.join(", "))
        };
        let _ = writeln!(self.body, "  %{name} = {text} : {signature}");
        name
    }

    /// The same numbers as elements of another type.
    pub fn cast(&mut self, x: &str, shape: &[i64], (from, to): (&str, &str)) -> String {
        let name = self.name(shape);
        let (from, to) = (tensor(shape, from), tensor(shape, to));
        let _ = writeln!(self.body, "  %{name} = graph.cast %{x} : {from} to {to}");
        name
    }

    /// Makes a value a result of the function.
    pub fn output(&mut self, name: &str) {
        self.outputs.push(name.to_owned());
    }

    fn text(&self) -> String {
        let arguments: Vec<_> = self
            .arguments
            .iter()
            .enumerate()
            .map(|(i, shape)| {
                format!("%a{i}: {} {{phl.name = \"a{i}\"}}", tensor(shape, self.element()))
            })
            .collect();
        let outputs: Vec<_> = self.outputs.iter().map(|name| self.type_of(name)).collect();
        let results: Vec<_> = outputs
            .iter()
            .enumerate()
            .map(|(i, ty)| format!("{ty} {{phl.name = \"y{i}\"}}"))
            .collect();
        let values: Vec<_> = self.outputs.iter().map(|name| format!("%{name}")).collect();
        format!(
            "module {{\nfunc.func @main({}) -> ({}) attributes {{phl.target = \"llvm\"}} {{\n{}  return {} : {}\n}}\n}}\n",
            arguments.join(", "),
            results.join(", "),
            self.body,
            values.join(", "),
            outputs.join(", ")
        )
    }
}

fn random(count: i64, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    (0..count)
        .map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            ((state >> 40) as f32) / (1u64 << 23) as f32 - 1.0
        })
        .collect()
}

/// Compares kernels for vectors of `bits` bits with the general lowering.
pub fn compare(case: &Case, bits: u32) {
    compare_with(case, "", bits);
}

/// The same, with passes before layouts are assigned.
pub fn compare_with(case: &Case, before: &str, bits: u32) {
    compare_on(case, before, &format!("vector-bits={bits}"), 0.0);
}

/// The same for a machine that options of `lower-host-kernels` describe. Results may be `step`
/// apart.
pub fn compare_on(case: &Case, before: &str, machine: &str, step: f32) {
    let (error, step) = (if case.double { 1e-13 } else { 1e-4 }, f64::from(step));
    let found = run_on(case, before, machine);
    for (index, (found, expected)) in found.iter().zip(expected(case)).enumerate() {
        let found = doubles(found);
        assert!(expected.iter().any(|value| *value != 0.0), "output {index} is all zero");
        for (at, (f, e)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (f.is_nan() && e.is_nan()) || (f - e).abs() <= (error * e.abs().max(1.0)).max(step),
                "output {index}, element {at}: {f}, expected {e}"
            );
        }
    }
}

/// The results of the general lowering. It is compiled once for all machines that a case is tried on.
fn expected(case: &Case) -> Vec<Vec<f64>> {
    static KNOWN: OnceLock<Mutex<HashMap<String, Vec<Vec<f64>>>>> = OnceLock::new();
    let known = KNOWN.get_or_init(Default::default);
    let text = case.text();
    if let Some(results) = known.lock().expect("no panic").get(&text) {
        return results.clone();
    }
    let results = compile(case, "", false).run(&inputs(case)).expect("runs");
    let results: Vec<_> = results.iter().map(doubles).collect();
    known.lock().expect("no panic").insert(text, results.clone());
    results
}

/// The results with the kernels of a machine.
pub fn run_on(case: &Case, before: &str, machine: &str) -> Vec<Tensor> {
    compile(case, &passes(before, machine), true).run(&inputs(case)).expect("runs")
}

/// The results of runs on so many threads each.
pub fn run_on_threads(case: &Case, machine: &str, threads: &[u32]) -> Vec<Vec<Tensor>> {
    let mut kernels = compile(case, &passes("", machine), true);
    let inputs = inputs(case);
    let run = |threads: &u32| {
        kernels.set_threads(*threads).expect("a pool of threads");
        kernels.run(&inputs).expect("runs")
    };
    threads.iter().map(run).collect()
}

/// The names of the functions after kernels of a machine were made.
pub fn symbols(case: &Case, machine: &str) -> Vec<String> {
    let session = Session::new();
    let mut module =
        session.parse(case.text().as_bytes(), "case").unwrap_or_else(|e| panic!("{e}"));
    let pipeline = format!("builtin.module({}canonicalize)", passes("", machine));
    session.run_pipeline(&mut module, &pipeline).unwrap_or_else(|e| panic!("{e}"));
    ir::ops_of(op(&module)).into_iter().filter_map(|op| ir::attr_str(op, "sym_name")).collect()
}

/// The element types of the arguments of each of a machine's kernels.
pub fn types_read(case: &Case, machine: &str) -> Vec<Vec<String>> {
    let session = Session::new();
    let mut module =
        session.parse(case.text().as_bytes(), "case").unwrap_or_else(|e| panic!("{e}"));
    let pipeline = format!("builtin.module({}canonicalize)", passes("", machine));
    session.run_pipeline(&mut module, &pipeline).unwrap_or_else(|e| panic!("{e}"));
    let kernels = ir::ops_of(op(&module));
    let kernels = kernels.into_iter().filter(|function| function.has_attribute("phl.kernel"));
    let types = kernels.map(|kernel| {
        let block = ir::edit::entry_block(kernel).expect("a body");
        let arguments = ir::edit::arguments(block);
        arguments.iter().map(|value| ir::element_type(value.r#type()).to_string()).collect()
    });
    types.collect()
}

/// Number of different kernels of a machine that use AMX's registers.
pub fn amx_kernels(case: &Case, before: &str, machine: &str) -> usize {
    let session = Session::new();
    let mut module =
        session.parse(case.text().as_bytes(), "case").unwrap_or_else(|e| panic!("{e}"));
    let pipeline = format!("builtin.module({}canonicalize)", passes(before, machine));
    session.run_pipeline(&mut module, &pipeline).unwrap_or_else(|e| panic!("{e}"));
    ir::ops_of(op(&module)).iter().filter(|function| function.has_attribute("phl.amx")).count()
}

fn passes(before: &str, machine: &str) -> String {
    format!(
        "{before}func.func(graph-assign-layout,graph-fuse-host),canonicalize,\
         lower-host-kernels{{{machine}}},"
    )
}

fn inputs(case: &Case) -> Vec<Tensor> {
    case.arguments
        .iter()
        .enumerate()
        .map(|(i, shape)| {
            let dims: Vec<usize> = shape.iter().map(|dim| *dim as usize).collect();
            let values = random(shape.iter().product(), 1000 + i as u64);
            if case.double {
                let values: Vec<_> = values.into_iter().map(f64::from).collect();
                return Tensor::from_slice(&dims, &values).expect("a tensor");
            }
            Tensor::from_slice(&dims, &values).expect("a tensor")
        })
        .collect()
}

fn doubles(tensor: &Tensor) -> Vec<f64> {
    match tensor.as_slice::<f32>() {
        Some(values) => values.iter().map(|value| f64::from(*value)).collect(),
        None => tensor.as_slice::<f64>().expect("floats").to_vec(),
    }
}

fn compile(case: &Case, passes: &str, kernels: bool) -> Executable {
    let session = Session::new();
    let text = case.text();
    let mut module = session.parse(text.as_bytes(), "case").unwrap_or_else(|e| panic!("{e}"));
    let run = |pipeline: &str, module: &mut melior::ir::Module<'_>| {
        session.run_pipeline(module, pipeline).unwrap_or_else(|e| panic!("{e}"));
    };
    run(&format!("builtin.module({passes}canonicalize)"), &mut module);
    if kernels {
        let calls = ir::edit::walk(op(&module))
            .into_iter()
            .filter(|op| ir::op_name(*op) == "tir.call_extern")
            .count();
        assert!(calls > 0, "no kernel was made");
    }
    run(
        "builtin.module(func.func(convert-graph-to-linalg),convert-functions-to-dps,\
         func.func(eliminate-empty-tensors),one-shot-bufferize,canonicalize,cse)",
        &mut module,
    );
    let signature = signature_of(op(&module)).expect("has a signature");
    let host = llvm::pipeline("", "native", "");
    // Loops that are run once are not worth the effort.
    let host = if kernels { host } else { host.replacen("opt-level=3", "opt-level=1", 1) };
    run(
        &format!(
            "builtin.module(split-by-target,for-target{{target=llvm pipeline=builtin.module({host})}})"
        ),
        &mut module,
    );
    let host = ir::ops_of(op(&module))[0];
    let objects = llvm::compile(&session, host, "model_host").expect("compiles");
    let compiled = Compiled {
        weights: WeightsPlace::Auto,
        signature,
        objects,
        constants: Default::default(),
        machine: machines::of(host).expect("a machine"),
        files: vec![],
        targets: vec![],
        link: vec![],
        cc: "cc".into(),
        layouts: vec![],
    };
    compiled.load().expect("links")
}

fn op<'a>(module: &'a melior::ir::Module<'_>) -> ir::Op<'a> {
    ir::root(module)
}
