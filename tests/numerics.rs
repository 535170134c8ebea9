//! The errors that docs/explanation/semantics.md states for elementwise functions, over the whole range of f32,
//! f16 and bf16: NaN, infinities, subnormals and zeros of both signs included.

use half::{bf16, f16};
use phaseline::{CompileOptions, Session, Tensor, runtime::Executable};

// Those of Rust are less exact, or missing.
unsafe extern "C" {
    safe fn erf(x: f64) -> f64;
    safe fn asinh(x: f64) -> f64;
    safe fn acosh(x: f64) -> f64;
    safe fn atanh(x: f64) -> f64;
}

/// Bound on an error.
#[derive(Clone, Copy)]
enum Bound {
    /// In units of the last place of the true result, and those of the least normal number below it.
    Ulps(f64),
    /// The same, or 2^-140 where that is more: a factor is below the least normal number.
    NormalUlps(f64),
    /// In units of 2^-24 of the argument.
    OfArgument(f64),
}

struct Function {
    /// The operation without `graph.` and operand.
    name: &'static str,
    attributes: &'static str,
    exact: fn(f64) -> f64,
    bound: Bound,
}

const fn f(name: &'static str, exact: fn(f64) -> f64, bound: Bound) -> Function {
    Function { name, attributes: "", exact, bound }
}

fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

fn softplus(x: f64) -> f64 {
    if x.is_nan() { x } else { x.max(0.0) + (-x.abs()).exp().ln_1p() }
}

/// The table of docs/explanation/semantics.md.
const FUNCTIONS: &[Function] = &[
    f("exp", f64::exp, Bound::Ulps(2.0)),
    f("log", f64::ln, Bound::Ulps(1.0)),
    f("sin", f64::sin, Bound::Ulps(2.0)),
    f("cos", f64::cos, Bound::Ulps(2.0)),
    f("tan", f64::tan, Bound::Ulps(4.0)),
    f("asin", f64::asin, Bound::Ulps(3.0)),
    f("acos", f64::acos, Bound::Ulps(2.0)),
    f("atan", f64::atan, Bound::Ulps(2.0)),
    f("sinh", f64::sinh, Bound::Ulps(3.0)),
    f("cosh", f64::cosh, Bound::Ulps(3.0)),
    f("tanh", f64::tanh, Bound::Ulps(6.0)),
    f("asinh", |x| asinh(x), Bound::Ulps(3.0)),
    f("acosh", |x| acosh(x), Bound::Ulps(3.0)),
    f("atanh", |x| atanh(x), Bound::Ulps(3.0)),
    f("erf", |x| erf(x), Bound::Ulps(7.0)),
    f("sigmoid", sigmoid, Bound::Ulps(3.0)),
    f("softplus", softplus, Bound::Ulps(3.0)),
    f("elu", |x| if x < 0.0 { x.exp_m1() } else { x }, Bound::Ulps(3.0)),
    f("swish", |x| x * sigmoid(x), Bound::NormalUlps(4.0)),
    f("mish", |x| x * softplus(x).tanh(), Bound::NormalUlps(8.0)),
    Function {
        name: "gelu",
        attributes: "",
        exact: |x| 0.5 * x * (1.0 + erf(x * std::f64::consts::FRAC_1_SQRT_2)),
        bound: Bound::OfArgument(4.0),
    },
    Function {
        name: "gelu",
        attributes: " approximate = \"tanh\"",
        exact: |x| {
            let inner = std::f64::consts::FRAC_2_PI.sqrt() * (x + 0.044715 * x * x * x);
            0.5 * x * (1.0 + inner.tanh())
        },
        bound: Bound::OfArgument(4.0),
    },
];

/// `count` arguments, the functions of them and as many results.
fn network(ty: &str, count: usize, constant: Option<&str>) -> String {
    let ty = format!("tensor<{count}x{ty}>");
    let results = vec![ty.as_str(); FUNCTIONS.len()].join(", ");
    let (argument, first) = match constant {
        Some(bits) => (String::new(), format!("  %x = graph.constant dense<{bits}> : {ty}\n")),
        None => (format!("%x: {ty}"), String::new()),
    };
    let mut text = format!("func.func @main({argument}) -> ({results}) {{\n{first}");
    for (i, function) in FUNCTIONS.iter().enumerate() {
        let Function { name, attributes, .. } = function;
        text += &format!("  %{i} = graph.{name} %x{attributes} : {ty}\n");
    }
    let names: Vec<String> = (0..FUNCTIONS.len()).map(|i| format!("%{i}")).collect();
    text + &format!("  return {} : {results}\n}}\n", names.join(", "))
}

fn compile(text: &str, target: &str) -> Executable {
    let session = Session::new();
    let module = session.parse(text.as_bytes(), "functions.mlir").expect("a module");
    let options = CompileOptions { targets: target.into(), ..Default::default() };
    session.compile(module, &options).expect("compiles").load().expect("loads")
}

/// Every 20,011th of all patterns of bits, what is near to the ends of ranges, usual arguments, and
/// those nearest to multiples of a quarter turn.
fn arguments() -> Vec<f32> {
    let mut all: Vec<f32> = (0..=u32::MAX).step_by(20_011).map(f32::from_bits).collect();
    let ends = [0.0, 0.5, 1.0, 2.0, 9.02, 88.72284, 103.97208, 1e6, 1e8, 1e20, 3.4028235e38];
    let subnormal = [1e-45, 1.1754942e-38, 1.1754944e-38, 1e-40];
    for x in ends.into_iter().chain(subnormal).chain([f32::INFINITY]) {
        let bits = x.to_bits();
        let near = (bits.saturating_sub(20)..=(bits + 20)).map(f32::from_bits);
        all.extend(near.flat_map(|x| [x, -x]));
    }
    all.extend((-120_000..=120_000).map(|i| i as f32 / 1000.0));
    all.extend((1..40_000).map(|i| (i as f64 * std::f64::consts::FRAC_PI_2) as f32));
    // The bits of the f32 numbers that come nearest to a multiple of a quarter turn.
    all.extend(
        [0x6f79_be45, 0x50a3_e87f, 0x437c_e5f1, 0x6a19_76f1, 0x53b1_46a6].map(f32::from_bits),
    );
    all
}

/// The distance of neighbours at a number, for a type with so many fraction bits and this least
/// exponent of normal numbers.
fn ulp(exact: f64, fraction: i32, least: i32) -> f64 {
    let exponent = exact.abs().log2().floor().max(f64::from(least));
    2f64.powi(exponent as i32 - fraction)
}

/// Description of a wrong result; none if it is right.
fn fault(function: &Function, x: f32, got: f32) -> Option<String> {
    let x64 = f64::from(x);
    let exact = (function.exact)(x64);
    let report =
        |what: &str| Some(format!("{}({x:e}): {got:e}, not {exact:e}: {what}", function.name));
    if exact.is_nan() || got.is_nan() {
        return if exact.is_nan() && got.is_nan() { None } else { report("NaN") };
    }
    // Beyond the greatest number the next one is counted, as if there were no end.
    let beyond = 2f64.powi(128);
    let error = (f64::from(got).clamp(-beyond, beyond) - exact.clamp(-beyond, beyond)).abs();
    let exact = exact.clamp(-f64::from(f32::MAX), f64::from(f32::MAX));
    let unit = ulp(exact, 23, -126);
    let allowed = match function.bound {
        Bound::Ulps(count) => count * unit,
        Bound::NormalUlps(count) => (count * unit).max(2f64.powi(-140)),
        Bound::OfArgument(count) => count * 2f64.powi(-24) * x64.abs() + 2f64.powi(-149),
    };
    if error.is_nan() || error > allowed {
        return report(&format!("off by {:.2} last places", error / unit));
    }
    let zero = got == 0.0 && exact == 0.0;
    if zero && !x.is_infinite() && got.is_sign_negative() != exact.is_sign_negative() {
        return report("the sign of zero");
    }
    None
}

fn check(target: &str) {
    let x = arguments();
    let network = compile(&network("f32", x.len(), None), target);
    let input = Tensor::from_slice(&[x.len()], &x).expect("a tensor");
    let outputs = network.run(&[input]).expect("runs");
    for (function, output) in FUNCTIONS.iter().zip(&outputs) {
        let y = output.as_slice::<f32>().expect("f32");
        let faults: Vec<_> = x.iter().zip(y).filter_map(|(x, y)| fault(function, *x, *y)).collect();
        let first = faults.iter().take(5).collect::<Vec<_>>();
        assert!(faults.is_empty(), "{target}: {} wrong, such as {first:#?}", faults.len());
    }
}

#[test]
fn errors_are_bounded_on_llvm_for_this_machine() {
    check("llvm");
}

#[test]
fn errors_are_bounded_on_llvm_without_fused_multiply_add() {
    if cfg!(target_arch = "x86_64") {
        check("llvm -mcpu=x86-64");
    }
}

#[test]
fn errors_are_bounded_on_c() {
    check("c");
}

/// A 16-bit result is that of f32, rounded: at most one place off, where f32 is near to a tie.
#[test]
fn results_of_16_bit_floats_are_within_one_place() {
    let bits: Vec<u16> = (0..=u16::MAX).collect();
    let halves: Vec<f16> = bits.iter().map(|bits| f16::from_bits(*bits)).collect();
    let brains: Vec<bf16> = bits.iter().map(|bits| bf16::from_bits(*bits)).collect();
    for target in ["llvm", "c"] {
        let count = bits.len();
        let x = Tensor::from_slice(&[count], &halves).expect("a tensor");
        let half = compile(&network("f16", count, None), target).run(&[x]).expect("runs");
        let x = Tensor::from_slice(&[count], &brains).expect("a tensor");
        let brain = compile(&network("bf16", count, None), target).run(&[x]).expect("runs");
        for (i, function) in FUNCTIONS.iter().enumerate() {
            let (y16, ybf) = (half[i].to_f64(), brain[i].to_f64());
            for at in 0..count {
                let exact = (function.exact)(halves[at].to_f64());
                assert_near(function, halves[at].to_f64(), y16[at], exact, (10, -14, 16));
                let exact = (function.exact)(brains[at].to_f64());
                assert_near(function, brains[at].to_f64(), ybf[at], exact, (7, -126, 128));
            }
        }
    }
}

/// `format` is the fraction bits, and the least and the first exponent that is too great.
fn assert_near(function: &Function, x: f64, got: f64, exact: f64, format: (i32, i32, i32)) {
    if exact.is_nan() || got.is_nan() {
        assert!(exact.is_nan() && got.is_nan(), "{}({x:e}) is {got:e}", function.name);
        return;
    }
    let (fraction, least, end) = format;
    let end = 2f64.powi(end);
    let error = (got.clamp(-end, end) - exact.clamp(-end, end)).abs();
    let unit = ulp(exact.clamp(-end / 2.0, end / 2.0), fraction, least);
    let allowed = match function.bound {
        Bound::OfArgument(count) => unit + count * 2f64.powi(-24) * x.abs(),
        _ => unit,
    };
    assert!(error <= allowed, "{}({x:e}) is {got:e}, not {exact:e}", function.name);
}

/// A constant is computed when the model is compiled, by what would else compute it at run time.
#[test]
fn constants_are_computed_as_inputs_are() {
    const BITS: [u32; 8] = [
        0x7fc0_0000,
        0xffc0_0000,
        0x7f80_0000,
        0xff80_0000,
        0x8000_0000,
        0x0000_0001,
        0x4974_2400,
        0x60ad_78ec,
    ];
    let text: Vec<String> = BITS.iter().map(|bits| format!("{bits:#010X}")).collect();
    let folded =
        compile(&network("f32", BITS.len(), Some(&format!("[{}]", text.join(", ")))), "llvm");
    let folded = folded.run(&[]).expect("runs");
    let x: Vec<f32> = BITS.map(f32::from_bits).to_vec();
    let input = Tensor::from_slice(&[BITS.len()], &x).expect("a tensor");
    let outputs = compile(&network("f32", BITS.len(), None), "llvm").run(&[input]).expect("runs");
    for (function, (folded, output)) in FUNCTIONS.iter().zip(folded.iter().zip(&outputs)) {
        let (a, b) =
            (folded.as_slice::<f32>().expect("f32"), output.as_slice::<f32>().expect("f32"));
        for ((x, a), b) in x.iter().zip(a).zip(b) {
            assert_eq!(fault(function, *x, *a), None, "of a constant");
            assert_eq!(fault(function, *x, *b), None, "of an input");
        }
    }
}

#[test]
fn doubles_are_within_a_few_places_of_the_c_library() {
    let x: Vec<f64> = (0..=u64::MAX).step_by(1 << 49).map(f64::from_bits).collect();
    let network = compile(&network("f64", x.len(), None), "llvm");
    let input = Tensor::from_slice(&[x.len()], &x).expect("a tensor");
    let outputs = network.run(&[input]).expect("runs");
    for (function, output) in FUNCTIONS.iter().zip(&outputs) {
        // Differences and logarithms of sums lose places.
        let exact_form = !matches!(function.name, "softplus" | "elu");
        if !exact_form || !matches!(function.bound, Bound::Ulps(_)) {
            continue;
        }
        for (x, y) in x.iter().zip(output.as_slice::<f64>().expect("f64")) {
            let exact = (function.exact)(*x);
            let same = exact.is_nan() && y.is_nan() || exact == *y;
            let near = (exact - y).abs() <= 4.0 * ulp(exact, 52, -1022);
            assert!(same || near, "{}({x:e}) is {y:e}, not {exact:e}", function.name);
        }
    }
}

/// f16 as f32 and back, with an instruction for it and without: every f16, and what lies at, between and beside them.
#[test]
fn conversions_of_f16_are_exact() {
    let halves: Vec<f16> = (0..=u16::MAX).map(f16::from_bits).collect();
    let between = halves.iter().flat_map(|half| {
        let bits = half.to_f32().to_bits();
        // A tie lies half of the last place of f16 above.
        [bits, bits | 0xfff, bits | 0x1000, bits | 0x1001].map(f32::from_bits)
    });
    let reals: Vec<f32> = between.chain(arguments()).collect();
    let (m, n) = (halves.len(), reals.len());
    let text = format!(
        "func.func @main(%x: tensor<{m}xf16>, %y: tensor<{n}xf32>) -> (tensor<{m}xf32>, tensor<{n}xf16>) {{\n  \
           %0 = graph.cast %x : tensor<{m}xf16> to tensor<{m}xf32>\n  \
           %1 = graph.cast %y : tensor<{n}xf32> to tensor<{n}xf16>\n  \
           return %0, %1 : tensor<{m}xf32>, tensor<{n}xf16>\n}}\n"
    );
    let mut targets = vec!["llvm"];
    if cfg!(target_arch = "x86_64") {
        targets.push("llvm -mcpu=x86-64");
    }
    for target in targets {
        let inputs = [
            Tensor::from_slice(&[m], &halves).expect("a tensor"),
            Tensor::from_slice(&[n], &reals).expect("a tensor"),
        ];
        let found = compile(&text, target).run(&inputs).expect("runs");
        let wide = found[0].as_slice::<f32>().expect("floats");
        for (half, wide) in halves.iter().zip(wide) {
            let exact = half.to_f32();
            assert!(
                exact.is_nan() && wide.is_nan() || exact.to_bits() == wide.to_bits(),
                "{target}: {half} is {wide}"
            );
        }
        let narrow = found[1].as_slice::<f16>().expect("halves");
        for (real, narrow) in reals.iter().zip(narrow) {
            let exact = f16::from_f32(*real);
            assert!(
                exact.is_nan() && narrow.is_nan() || exact.to_bits() == narrow.to_bits(),
                "{target}: {real:e} is {narrow}, not {exact}"
            );
        }
    }
}
