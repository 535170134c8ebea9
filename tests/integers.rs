//! Floats to integers out of range, integers divided by 0 and integers to floats of 16 bits: the same on every target,
//! folded or run, as docs/explanation/semantics.md says.

use half::{bf16, f16};
use phaseline::{CompileOptions, Session, Tensor, tensor::Element};
use std::fmt::Write as _;

/// The code of `c` stops at what C leaves undefined.
const TARGETS: [&str; 4] = [
    "llvm",
    "llvm -mcpu=x86-64",
    "c -cflags=\"-O1 -fsanitize=undefined,float-cast-overflow -fsanitize-undefined-trap-on-error\"",
    "opencl, llvm",
];
const INTEGERS: [(&str, u32, bool); 8] = [
    ("i8", 8, true),
    ("i16", 16, true),
    ("i32", 32, true),
    ("i64", 64, true),
    ("ui8", 8, false),
    ("ui16", 16, false),
    ("ui32", 32, false),
    ("ui64", 64, false),
];

/// Numbers beyond the ends of each integer type and beside them, NaN and infinities.
const NUMBERS: [f64; 30] = [
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
    3e9,
    -3e9,
    1e20,
    -1e20,
    300.7,
    -1.5,
    0.5,
    -0.5,
    127.5,
    128.0,
    255.9,
    256.0,
    -128.9,
    -129.0,
    32_767.9,
    32_768.0,
    65_535.0,
    65_536.0,
    2_147_483_520.0,
    2_147_483_647.5,
    2_147_483_648.0,
    -2_147_483_648.0,
    4_294_967_040.0,
    4_294_967_296.0,
    9.223_372_036_854_776e18,
    1.844_674_407_370_955e19,
    -1e-30,
];

/// The least and the greatest integer of a type.
fn ends(bits: u32, signed: bool) -> (i128, i128) {
    let half = 1_i128 << (bits - 1);
    if signed { (-half, half - 1) } else { (0, 2 * half - 1) }
}

fn run(text: &str, target: &str, inputs: &[Tensor]) -> Vec<Tensor> {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "integers.mlir").expect("a module");
    let options = CompileOptions { targets: target.into(), ..Default::default() };
    let network = session.compile(module, &options).expect("compiles").load().expect("loads");
    network.run(inputs).expect("runs")
}

/// The text of a network: its operations, and what it gives back.
#[derive(Default)]
struct Network {
    arguments: Vec<String>,
    body: String,
    names: Vec<String>,
    types: Vec<String>,
}

impl Network {
    fn input(&mut self, name: &str, ty: &str) {
        self.arguments.push(format!("%{name}: {ty}"));
    }

    fn constant(&mut self, name: &str, ty: &str, tensor: &Tensor) {
        let hex = tensor.bytes().iter().fold(String::new(), |hex, byte| format!("{hex}{byte:02X}"));
        writeln!(self.body, "%{name} = graph.constant dense<\"0x{hex}\"> : {ty}")
            .expect("a string");
    }

    /// One more result of the network.
    fn give(&mut self, operation: &str, ty: &str) {
        let name = format!("%y{}", self.names.len());
        writeln!(self.body, "{name} = {operation}").expect("a string");
        self.names.push(name);
        self.types.push(ty.to_owned());
    }

    fn text(&self) -> String {
        format!(
            "func.func @main({}) -> ({types}) {{\n{}return {} : {types}\n}}",
            self.arguments.join(", "),
            self.body,
            self.names.join(", "),
            types = self.types.join(", ")
        )
    }
}

fn casts_of<T: Element>(element: &str, values: &[T]) {
    let count = values.len();
    let x = Tensor::from_slice(&[count], values).expect("a tensor");
    let ty = format!("tensor<{count}x{element}>");
    let mut network = Network::default();
    network.input("x", &ty);
    network.constant("k", &ty, &x);
    for (integer, ..) in INTEGERS {
        let to = format!("tensor<{count}x{integer}>");
        network.give(&format!("graph.cast %x : {ty} to {to}"), &to);
        network.give(&format!("graph.cast %k : {ty} to {to}"), &to);
    }
    let text = network.text();
    for target in TARGETS {
        let found = run(&text, target, std::slice::from_ref(&x));
        for ((integer, bits, signed), found) in INTEGERS.iter().zip(found.chunks(2)) {
            let (low, high) = ends(*bits, *signed);
            // `as` saturates, with 0 for NaN.
            let want: Vec<_> = x.to_f64().iter().map(|x| (*x as i128).clamp(low, high)).collect();
            assert_eq!(found[0].to_i128(), want, "{target}: {element} to {integer}, run");
            assert_eq!(found[1].to_i128(), want, "{target}: {element} to {integer}, folded");
        }
    }
}

#[test]
fn casts_saturate_folded_or_run() {
    casts_of("f64", &NUMBERS);
    casts_of("f32", &NUMBERS.map(|x| x as f32));
    casts_of("f16", &NUMBERS.map(f16::from_f64));
}

/// Casts in vectors, behind a product, where a kernel of the host casts.
#[test]
fn casts_in_kernels_saturate() {
    const COUNT: usize = 48;
    let text = format!(
        "func.func @main(%x: tensor<4x{COUNT}xf32>, %w: tensor<{COUNT}x{COUNT}xf32>) -> (tensor<4x{COUNT}xi32>, tensor<4x{COUNT}xui8>) {{
           %p = graph.matmul %x, %w : (tensor<4x{COUNT}xf32>, tensor<{COUNT}x{COUNT}xf32>) -> tensor<4x{COUNT}xf32>
           %0 = graph.cast %p : tensor<4x{COUNT}xf32> to tensor<4x{COUNT}xi32>
           %1 = graph.cast %p : tensor<4x{COUNT}xf32> to tensor<4x{COUNT}xui8>
           return %0, %1 : tensor<4x{COUNT}xi32>, tensor<4x{COUNT}xui8>
         }}"
    );
    let finite: Vec<f32> = NUMBERS.iter().map(|x| *x as f32).filter(|x| x.is_finite()).collect();
    let x: Vec<f32> = (0..4 * COUNT).map(|i| finite[i % finite.len()]).collect();
    let identity: Vec<f32> =
        (0..COUNT * COUNT).map(|i| f32::from(u8::from(i / COUNT == i % COUNT))).collect();
    let inputs = [
        Tensor::from_slice(&[4, COUNT], &x).expect("a tensor"),
        Tensor::from_slice(&[COUNT, COUNT], &identity).expect("a tensor"),
    ];
    for target in TARGETS {
        let found = run(&text, target, &inputs);
        for (found, (bits, signed)) in found.iter().zip([(32, true), (8, false)]) {
            let (low, high) = ends(bits, signed);
            let want: Vec<_> = x.iter().map(|x| (*x as i128).clamp(low, high)).collect();
            assert_eq!(found.to_i128(), want, "{target}");
        }
    }
}

fn divisions_of<T: Element>(element: &str, bits: u32, signed: bool, convert: fn(i128) -> T) {
    let (low, high) = ends(bits, signed);
    let few: Vec<i128> = [low, low + 1, -7, -3, -1, 0, 1, 3, 7, high]
        .into_iter()
        .filter(|value| *value >= low)
        .collect();
    let pairs: Vec<(i128, i128)> =
        few.iter().flat_map(|a| few.iter().map(move |b| (*a, *b))).collect();
    let (a, b): (Vec<T>, Vec<T>) = pairs.iter().map(|(a, b)| (convert(*a), convert(*b))).unzip();
    let (ty, count) = (format!("tensor<{}x{element}>", pairs.len()), pairs.len());
    let inputs = [
        Tensor::from_slice(&[count], &a).expect("a tensor"),
        Tensor::from_slice(&[count], &b).expect("a tensor"),
    ];
    let mut network = Network::default();
    for (name, tensor) in ["a", "b"].iter().zip(&inputs) {
        network.input(name, &ty);
        network.constant(&format!("k{name}"), &ty, tensor);
    }
    for operands in ["%a, %b :", "%ka, %kb :", "%a, %kb :"] {
        network.give(&format!("graph.div {operands} {ty}"), &ty);
        network.give(&format!("graph.mod {} {ty}", operands.replace(" :", " fmod = false :")), &ty);
        network.give(&format!("graph.mod {} {ty}", operands.replace(" :", " fmod = true :")), &ty);
    }
    let wrap = |value: i128| if value > high { low } else { value };
    type Rule<'r> = &'r dyn Fn(i128, i128) -> i128;
    let rules: [(&str, Rule); 3] = [
        ("div", &|a, b| wrap(a.checked_div(b).unwrap_or(0))),
        ("mod", &|a, b| {
            let rest = a.checked_rem(b).unwrap_or(0);
            if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
        }),
        ("fmod", &|a, b| a.checked_rem(b).unwrap_or(0)),
    ];
    for target in TARGETS {
        let found = run(&network.text(), target, &inputs);
        for (found, (name, rule)) in found.iter().zip(rules.iter().cycle()) {
            let want: Vec<i128> = pairs.iter().map(|(a, b)| rule(*a, *b)).collect();
            assert_eq!(found.to_i128(), want, "{target}: {name} of {element}");
        }
    }
}

#[test]
fn divisions_have_results_for_all_integers() {
    divisions_of("i8", 8, true, |x| x as i8);
    divisions_of("i32", 32, true, |x| x as i32);
    divisions_of("i64", 64, true, |x| x as i64);
    divisions_of("ui8", 8, false, |x| x as u8);
    divisions_of("ui64", 64, false, |x| x as u64);
}

fn halves_of<T: Element>(element: &str, values: &[T]) {
    let x = Tensor::from_slice(&[values.len()], values).expect("a tensor");
    let shape = |element: &str| format!("tensor<{}x{element}>", values.len());
    let mut network = Network::default();
    network.input("x", &shape(element));
    for to in ["f16", "bf16"] {
        let operation = format!("graph.cast %x : {} to {}", shape(element), shape(to));
        network.give(&operation, &shape(to));
    }
    for target in TARGETS {
        let found = run(&network.text(), target, std::slice::from_ref(&x));
        let single: Vec<f32> = x.to_i128().iter().map(|x| *x as f32).collect();
        let want: Vec<f16> = single.iter().map(|x| f16::from_f32(*x)).collect();
        assert_eq!(found[0].as_slice::<f16>(), Some(&want[..]), "{target}: {element} to f16");
        let want: Vec<bf16> = single.iter().map(|x| bf16::from_f32(*x)).collect();
        assert_eq!(found[1].as_slice::<bf16>(), Some(&want[..]), "{target}: {element} to bf16");
    }
}

/// Folding makes one cast of the two by way of f32.
#[test]
fn integers_become_floats_of_16_bits() {
    halves_of("i1", &[true, false]);
    halves_of("i8", &[0_i8, 1, -1, 127, -128]);
    halves_of("ui8", &[0_u8, 1, 128, 255]);
    halves_of(
        "i32",
        &[0, 100, -2049, 2051, 65_504, 65_519, 65_520, 16_777_217, i32::MAX, i32::MIN],
    );
    halves_of("i64", &[0_i64, 100, -2049, 65_519, 65_520, i64::MAX, i64::MIN]);
    halves_of("ui64", &[0_u64, 100, 65_519, 65_520, u64::MAX]);
}
