//! Random graphs between random devices: whoever computes what, the numbers are the host's.
//!
//! Each case is a graph of real operations and up to four devices, declared in directories of
//! their own, that support random sets of operations and patterns. The devices' code comes out of
//! LLVM as the host's does, but each in a module of its own, called with the device's handle.

use phaseline::{CompileOptions, Compiled, Session, tensor::Tensor};
use std::{
    collections::BTreeSet,
    fmt::Write as _,
    path::{Path, PathBuf},
};

/// Numbers that look random, the same ones every time.
pub struct Random(pub u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    fn floats(&mut self, count: usize) -> Vec<f32> {
        (0..count).map(|_| (self.below(2001) as f32 - 1000.0) / 1000.0).collect()
    }
}

/// A value of the graph: its name and dimensions.
type Value = (String, Vec<usize>);

/// A function in the graph dialect that grows.
#[derive(Default)]
struct Graph {
    text: String,
    values: Vec<Value>,
    names: usize,
}

fn tensor(dims: &[usize]) -> String {
    let dims: Vec<String> = dims.iter().map(usize::to_string).collect();
    format!("tensor<{}xf32>", dims.join("x"))
}

impl Graph {
    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("v{}", self.names)
    }

    fn constant(&mut self, random: &mut Random, dims: &[usize]) -> Value {
        let name = self.fresh();
        let mut hex = String::new();
        for value in random.floats(dims.iter().product()) {
            value.mul_add(0.3, 0.0).to_le_bytes().iter().for_each(|byte| {
                write!(hex, "{byte:02X}").expect("a string");
            });
        }
        let ty = tensor(dims);
        writeln!(self.text, "%{name} = graph.constant dense<\"0x{hex}\"> : {ty}").expect("fits");
        (name, dims.to_vec())
    }

    /// Adds an operation: `what` has the name and attributes with `@` for the operands.
    fn op(&mut self, what: &str, operands: &[&Value], results: &[&[usize]]) {
        let name = self.fresh();
        let list: Vec<String> = operands.iter().map(|(name, _)| format!("%{name}")).collect();
        let from: Vec<String> = operands.iter().map(|(_, dims)| tensor(dims)).collect();
        let to: Vec<String> = results.iter().map(|dims| tensor(dims)).collect();
        let (count, to) = match to.as_slice() {
            [one] => (String::new(), one.clone()),
            many => (format!(":{}", many.len()), format!("({})", many.join(", "))),
        };
        let what = what.replace('@', &list.join(", "));
        let types = format!("({}) -> {to}", from.join(", "));
        writeln!(self.text, "%{name}{count} = graph.{what} : {types}").expect("a string");
        for (index, dims) in results.iter().enumerate() {
            let suffix = if results.len() > 1 { format!("#{index}") } else { String::new() };
            self.values.push((name.clone() + &suffix, dims.to_vec()));
        }
    }

    /// Same as [`Self::op`] for operations whose one type is printed alone.
    fn unary(&mut self, what: &str, x: &Value) {
        let name = self.fresh();
        let what = what.replace('@', &format!("%{}", x.0));
        writeln!(self.text, "%{name} = graph.{what} : {}", tensor(&x.1)).expect("a string");
        self.values.push((name, x.1.clone()));
    }

    /// A value, more often a recent one, so that chains and diamonds are common.
    fn pick(&self, random: &mut Random) -> Value {
        let back = if random.chance(30) { self.values.len() } else { self.values.len().min(3) };
        self.values[self.values.len() - 1 - random.below(back)].clone()
    }

    fn grow(&mut self, random: &mut Random) {
        let x = self.pick(random);
        let dims = x.1.clone();
        let size: usize = dims.iter().product();
        let last = *dims.last().expect("a dimension");
        match random.below(13) {
            0 => self.unary("relu @", &x),
            1 => self.unary("tanh @", &x),
            2 => self.unary("sigmoid @", &x),
            3 => self.unary("softmax @", &x),
            4..=6 => {
                let same: Vec<&Value> = self.values.iter().filter(|v| v.1 == dims).collect();
                let y = same[random.below(same.len())].clone();
                let name = ["add", "add", "mul", "sub"][random.below(4)];
                self.op(&format!("{name} @"), &[&x, &y], &[&dims]);
            }
            7 if dims.len() == 4 => {
                let w = self.constant(random, &[4, dims[1], 3, 3]);
                let b = self.constant(random, &[4]);
                let operands = if random.chance(50) { vec![&x, &w, &b] } else { vec![&x, &w] };
                let to = [dims[0], 4, dims[2], dims[3]];
                self.op("conv @ pads = [1, 1, 1, 1]", &operands, &[&to]);
            }
            7 | 8 => {
                let w = self.constant(random, &[last, 6]);
                let to = [&dims[..dims.len() - 1], &[6]].concat();
                self.op("matmul @", &[&x, &w], &[&to]);
            }
            9 => self.reshape(random, &x, size),
            10 if size <= 600 => {
                let to = [&dims[..1], &[2 * dims[1]], &dims[2..]].concat();
                self.op("concat @ axis = 1", &[&x, &x], &[&to]);
            }
            11 if dims[1].is_multiple_of(2) => {
                let half = dims[1] / 2;
                let to = [&dims[..1], &[half], &dims[2..]].concat();
                self.op(&format!("split @ axis = 1 split = [{half}, {half}]"), &[&x], &[&to, &to]);
            }
            12 if dims.len() == 4 && dims[2] > 1 && dims[3] > 1 => {
                let to = [dims[0], dims[1], dims[2] / 2, dims[3] / 2];
                self.op("max_pool @ kernel_shape = [2, 2] strides = [2, 2]", &[&x], &[&to]);
            }
            _ => {
                let rank = dims.len();
                let mut perm: Vec<usize> = (0..rank).collect();
                perm.swap(rank - 1, rank - 2);
                let to: Vec<usize> = perm.iter().map(|axis| dims[*axis]).collect();
                self.op(&format!("transpose @ perm = {perm:?}"), &[&x], &[&to]);
            }
        }
    }

    fn reshape(&mut self, random: &mut Random, x: &Value, size: usize) {
        let columns = [1, 2, 3, 4, 6].into_iter().filter(|n| size.is_multiple_of(*n));
        let columns: Vec<usize> = columns.collect();
        let column = columns[random.below(columns.len())];
        let rest = size / column;
        let to = if random.chance(50) { vec![column, rest] } else { vec![1, column, 1, rest] };
        let (shape, name) = (self.fresh(), self.fresh());
        let (rank, from, result) = (to.len(), tensor(&x.1), tensor(&to));
        writeln!(
            self.text,
            "%{shape} = graph.constant dense<{to:?}> : tensor<{rank}xi64>\n\
             %{name} = graph.reshape %{}, %{shape} : ({from}, tensor<{rank}xi64>) -> {result}",
            x.0
        )
        .expect("a string");
        self.values.push((name, to));
    }
}

/// A model of `count` operations, and the shapes of its inputs.
fn model(random: &mut Random, count: usize) -> (String, Vec<Vec<usize>>) {
    let mut graph = Graph::default();
    let inputs = vec![vec![1, 4, 6, 6], vec![1, 4, 6, 6], vec![4, 6]];
    for (index, dims) in inputs.iter().enumerate() {
        graph.values.push((format!("x{index}"), dims.clone()));
    }
    (0..count).for_each(|_| graph.grow(random));
    let total = graph.values.len();
    let mut returned = BTreeSet::from([total - 1]);
    (0..random.below(3)).for_each(|_| {
        returned.insert(total - 1 - random.below(total.min(6)));
    });
    let outputs: Vec<&Value> = returned.iter().map(|index| &graph.values[*index]).collect();
    let types: Vec<String> = outputs.iter().map(|(_, dims)| tensor(dims)).collect();
    let names: Vec<String> = outputs.iter().map(|(name, _)| format!("%{name}")).collect();
    let arguments = inputs.iter().enumerate();
    let arguments = arguments.map(|(index, dims)| format!("%x{index}: {}", tensor(dims)));
    let arguments: Vec<String> = arguments.collect();
    let text = format!(
        "func.func @main({}) -> ({}) {{\n{}return {} : {}\n}}\n",
        arguments.join(", "),
        types.join(", "),
        graph.text,
        names.join(", "),
        types.join(", ")
    );
    (text, inputs)
}

const OPS: [(&str, &str); 13] = [
    ("relu", "relu.x.rank == 4"),
    ("tanh", "tanh.x.size > 100"),
    ("sigmoid", "sigmoid.x.rank == 2"),
    ("softmax", "softmax.x.rank == 2"),
    ("add", "add.a.uses == 1"),
    ("mul", "mul.a.rank == 4"),
    ("sub", "sub.a.size >= 1"),
    ("conv", "present(b)"),
    ("matmul", "matmul.a.rank == 2"),
    ("concat", "concat.axis == 1"),
    ("split", "split.axis == 1"),
    ("reshape", "reshape.x.rank == 4"),
    ("transpose", "transpose.x.rank == 2"),
];

const PATTERNS: [&str; 8] = [
    "relu(add(x, y))",
    "relu?(add?(conv(x, w: const, b?: const), y))",
    "tanh?(mul(x, y))",
    "s = relu(x); add(tanh(s), s)",
    "mul(sigmoid(x), x)",
    "add(split(x)#1, y)",
    "softmax(matmul(x, w: const))",
    "transpose(reshape(x, shape: const))",
];

/// Writes a device that supports a random set of operations.
fn device(random: &mut Random, folder: &Path, name: &str) {
    let mut text = format!(
        "version = 1\n[target]\nname = \"{name}\"\nrole = \"device\"\ndoc = \"Random\"\n\
         [capabilities]\nmerge = {}\n",
        random.chance(80)
    );
    let wide = random.chance(60);
    let taps = wide && random.chance(60);
    write!(text, "multi-output = {wide}\ntaps = {taps}\n").expect("a string");
    for (number, pattern) in PATTERNS.iter().enumerate().filter(|_| random.chance(40)) {
        write!(
            text,
            "[[pattern]]\nname = \"p{number}\"\nmatch = \"{pattern}\"\nlower = \"default\"\n"
        )
        .expect("a string");
    }
    for (op, clause) in OPS {
        if random.chance(55) {
            continue;
        }
        let clause = clause.replace("present(b)", "conv.group == 1");
        let clause =
            if random.chance(30) { format!("where = [\"{clause}\"]\n") } else { "".into() };
        let compute = !matches!(op, "reshape" | "transpose" | "concat");
        write!(text, "[[op]]\nop = \"{op}\"\ncompute = {compute}\n{clause}").expect("a string");
    }
    text.push_str(
        "[phases]\ncodegen = { file = \"codegen.pipeline\" }\n[codegen]\nkind = \"llvm\"\n",
    );
    let folder = folder.join(name);
    std::fs::create_dir_all(&folder).expect("creates");
    std::fs::write(folder.join("target.toml"), text).expect("writes");
    let pipeline = include_str!("../../targets/llvm/codegen.pipeline")
        .replace("${option.mcpu}", "native")
        .replace("${option.mtriple}", "")
        .replace("${option.mattr}", "")
        .replace("${option.opt_level}", "3");
    std::fs::write(folder.join("codegen.pipeline"), pipeline).expect("writes");
}

fn compile(text: &str, spec: &str, path: &[PathBuf]) -> Compiled {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "random").unwrap_or_else(|e| panic!("{e}\n{text}"));
    let options = CompileOptions {
        targets: spec.to_owned(),
        target_path: path.to_vec(),
        ..CompileOptions::default()
    };
    let compiled = session.compile(module, &options);
    compiled.unwrap_or_else(|error| panic!("{spec}: {error}\n{text}"))
}

fn run(compiled: &Compiled, inputs: &[Tensor]) -> Vec<Vec<f32>> {
    let outputs = compiled.load().expect("links").run(inputs).expect("runs");
    outputs.iter().map(|output| output.as_slice::<f32>().expect("f32").to_vec()).collect()
}

/// Compiles and runs one case; says on how many devices something ran.
fn check(seed: u64, with_memory: bool) -> usize {
    let mut random = Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let random = &mut random;
    random.below(2);
    let work = tempfile::tempdir().expect("a directory");
    let mut spec = String::new();
    if random.chance(20) {
        spec.push_str("vanilla, ");
    }
    for index in 0..1 + random.below(4) {
        let name = format!("d{index}");
        device(random, work.path(), &name);
        // Devices with memory of their own, whose work begins late or at once.
        if with_memory && (index == 0 || random.chance(60)) {
            write!(spec, "m{index}: far -late={}, ", random.chance(70)).expect("a string");
        }
        write!(spec, "{name}, ").expect("a string");
    }
    spec.push_str("llvm");
    let count = 4 + random.below(16);
    let (text, shapes) = model(random, count);
    let inputs = shapes.iter().map(|dims| {
        let values = random.floats(dims.iter().product());
        Tensor::from_slice(dims, &values).expect("a tensor")
    });
    let inputs: Vec<Tensor> = inputs.collect();
    let far = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/targets/far");
    let path = [work.path().to_path_buf(), far];
    let compiled = compile(&text, &spec, &path);
    if seed.is_multiple_of(5) {
        let again = compile(&text, &spec, &path);
        assert_eq!(compiled.objects, again.objects, "seed {seed}: a second compile differs");
        assert_eq!(compiled.constants, again.constants, "seed {seed}: a second compile differs");
    }
    let expected = run(&compile(&text, "llvm", &[]), &inputs);
    let found = run(&compiled, &inputs);
    for (index, (found, expected)) in found.iter().zip(&expected).enumerate() {
        let scale = expected.iter().fold(1.0_f32, |most, value| most.max(value.abs()));
        for (a, b) in found.iter().zip(expected) {
            let close = (a - b).abs() <= 1e-4 * scale;
            assert!(close, "seed {seed}, {spec}: output {index} is {a}, on the host {b}\n{text}");
        }
    }
    compiled.signature.devices.len()
}

#[test]
fn random_partitions_compute_what_the_host_computes() {
    let used: Vec<usize> = (0..CASES).map(|seed| check(seed, false)).collect();
    let several = used.iter().filter(|count| **count >= 2).count();
    assert!(several >= used.len() / 3, "few cases use several devices: {used:?}");
}

#[test]
fn devices_with_memory_compute_what_the_host_computes() {
    let used: Vec<usize> = (0..CASES / 2).map(|seed| check(1000 + seed, true)).collect();
    let several = used.iter().filter(|count| **count >= 2).count();
    assert!(several >= used.len() / 3, "few cases use several devices: {used:?}");
}

/// Enough for each operation and pattern to be met by several devices; a case takes about 0.3 s.
const CASES: u64 = 40;
