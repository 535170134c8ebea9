//! NaN and infinity in maxima, minima, ranks and softmaxes: the same on every target, as
//! docs/explanation/semantics.md says.

use phaseline::{CompileOptions, Session, Tensor};

const SIDE: usize = 9;
const CHANNELS: usize = 16;

const TEXT: &str = "
!x = tensor<1x16x9x9xf32>
!w = tensor<1x16x5x5xf32>
!d = tensor<1x16x7x7xf32>
!c = tensor<1x16x1x1xf32>
!i = tensor<1x16x9x1xi64>
!k = tensor<1x16x9x4xf32>
!ki = tensor<1x16x9x4xi64>
func.func @main(%x: !x, %o: !x) -> (!w, !w, !d, !c, !c, !c, !x, !x, !x, !x, !i, !i, !i, !k, !k, !x, !x) {
  %k = graph.constant dense<4> : tensor<1xi64>
  %lo = graph.constant dense<-0.5> : tensor<f32>
  %hi = graph.constant dense<0.5> : tensor<f32>
  %0 = graph.max_pool %x kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1] : (!x) -> !w
  %1:2 = graph.max_pool_with_indices %x kernel_shape = [3, 3] strides = [2, 2] pads = [1, 1, 1, 1] : (!x) -> (!w, tensor<1x16x5x5xi64>)
  %2 = graph.max_pool %x kernel_shape = [2, 2] dilations = [2, 2] : (!x) -> !d
  %3 = graph.global_max_pool %x : (!x) -> !c
  %4 = graph.reduce_max %x axes = [2, 3] : (!x) -> !c
  %5 = graph.reduce_min %x axes = [2, 3] : (!x) -> !c
  %6 = graph.max %x, %o : !x
  %7 = graph.min %x, %o : !x
  %sum = graph.add %x, %o : !x
  %8 = graph.relu %sum : !x
  %9 = graph.clip %x min %lo max %hi : (!x, tensor<f32>, tensor<f32>) -> !x
  %10 = graph.argmax %x axis = -1 : (!x) -> !i
  %11 = graph.argmin %x axis = -1 : (!x) -> !i
  %12 = graph.argmax %x axis = -1 select_last_index = true : (!x) -> !i
  %13, %n13 = graph.top_k %x, %k axis = 3 : (!x, tensor<1xi64>) -> (!k, !ki)
  %14, %n14 = graph.top_k %o, %k axis = 3 largest = false : (!x, tensor<1xi64>) -> (!k, !ki)
  %15 = graph.softmax %x axis = 3 : !x
  %16 = graph.log_softmax %x axis = 1 : !x
  return %0, %1#0, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16
    : !w, !w, !d, !c, !c, !c, !x, !x, !x, !x, !i, !i, !i, !k, !k, !x, !x
}
";

/// Usual numbers with NaN, infinities, subnormals and -0 among them.
fn image(seed: u64) -> Vec<f32> {
    const RARE: [f32; 8] =
        [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0, 1e-45, -1e-40, f32::MAX, f32::NAN];
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize
    };
    let plane = SIDE * SIDE;
    let mut x: Vec<f32> = (0..CHANNELS * plane)
        .map(|_| if next() % 12 == 0 { RARE[next() % 8] } else { next() as f32 / 1e9 - 1.0 })
        .collect();
    // Windows and rows of nothing but minus infinity, and of nothing but NaN.
    x[plane..2 * plane].fill(f32::NEG_INFINITY);
    x[2 * plane..3 * plane].fill(f32::NAN);
    // Rows without any.
    x[3 * plane..4 * plane].fill(0.25);
    x
}

fn more(a: f32, b: f32) -> f32 {
    if a.is_nan() || a > b { a } else { b }
}

fn less(a: f32, b: f32) -> f32 {
    if a.is_nan() || a < b { a } else { b }
}

fn pool(x: &[f32], kernel: usize, stride: usize, dilation: usize, pad: usize) -> Vec<f32> {
    let out = (SIDE + 2 * pad - dilation * (kernel - 1) - 1) / stride + 1;
    let mut y = vec![];
    for (c, row, column) in places(CHANNELS, out) {
        let taps = (0..kernel).flat_map(|i| (0..kernel).map(move |j| (i, j)));
        y.push(taps.fold(f32::NEG_INFINITY, |best, (i, j)| {
            let (h, w) = (row * stride + i * dilation, column * stride + j * dilation);
            let inside = (pad..pad + SIDE).contains(&h) && (pad..pad + SIDE).contains(&w);
            if inside { more(best, x[(c * SIDE + h - pad) * SIDE + w - pad]) } else { best }
        }));
    }
    y
}

fn places(channels: usize, side: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    (0..channels * side * side).map(move |i| (i / side / side, i / side % side, i % side))
}

/// Positions in a row in the order of size in which NaN is the greatest, equals in order.
fn ranks(row: &[f32], largest: bool) -> Vec<usize> {
    let mut all: Vec<usize> = (0..row.len()).collect();
    all.sort_by(|a, b| {
        let key = |i: usize| {
            if row[i].is_nan() { f64::MAX } else { f64::from(row[i]).clamp(-1e300, 1e300) }
        };
        let order = key(*a).total_cmp(&key(*b));
        let order = if key(*a) == key(*b) { std::cmp::Ordering::Equal } else { order };
        if largest { order.reverse() } else { order }
    });
    all
}

fn softmax(x: &[f32], step: usize, count: usize, log: bool) -> Vec<f64> {
    (0..x.len())
        .map(|at| {
            let first = at / (step * count) * step * count + at % step;
            let row = || (0..count).map(|i| x[first + i * step]);
            let max = row().fold(f32::NEG_INFINITY, more);
            if !max.is_finite() {
                return f64::NAN;
            }
            let shifted = f64::from(x[at]) - f64::from(max);
            let sum: f64 = row().map(|v| (f64::from(v) - f64::from(max)).exp()).sum();
            if log { shifted - sum.ln() } else { shifted.exp() / sum }
        })
        .collect()
}

fn expected(x: &[f32], o: &[f32]) -> Vec<Vec<f64>> {
    let wide = |values: Vec<f32>| values.into_iter().map(f64::from).collect::<Vec<f64>>();
    let plane = |fold: fn(f32, f32) -> f32| {
        wide(
            x.chunks(SIDE * SIDE)
                .map(|plane| plane.iter().copied().reduce(fold).expect("some"))
                .collect(),
        )
    };
    let pairs = |f: fn(f32, f32) -> f32| wide(x.iter().zip(o).map(|(a, b)| f(*a, *b)).collect());
    let rows = |f: &dyn Fn(&[f32]) -> Vec<f64>| x.chunks(SIDE).flat_map(f).collect::<Vec<f64>>();
    let has_nan = |row: &[f32]| row.iter().position(|v| v.is_nan());
    vec![
        wide(pool(x, 3, 2, 1, 1)),
        wide(pool(x, 3, 2, 1, 1)),
        wide(pool(x, 2, 1, 2, 0)),
        plane(more),
        plane(more),
        plane(less),
        pairs(more),
        pairs(less),
        pairs(|a, b| if a + b < 0.0 { 0.0 } else { a + b }),
        wide(x.iter().map(|v| v.clamp(-0.5, 0.5)).collect()),
        rows(&|row| vec![ranks(row, true)[0] as f64]),
        rows(&|row| vec![has_nan(row).unwrap_or(ranks(row, false)[0]) as f64]),
        rows(&|row| {
            let turned: Vec<f32> = row.iter().rev().copied().collect();
            vec![(SIDE - 1 - ranks(&turned, true)[0]) as f64]
        }),
        rows(&|row| ranks(row, true)[..4].iter().map(|i| f64::from(row[*i])).collect()),
        o.chunks(SIDE)
            .flat_map(|row| ranks(row, false).into_iter().take(4).map(|i| f64::from(row[i])))
            .collect(),
        softmax(x, 1, SIDE, false),
        softmax(x, SIDE * SIDE, CHANNELS, true),
    ]
}

#[test]
fn maxima_keep_nan_on_every_target() {
    let (x, o) = (image(1), image(7));
    let expected = expected(&x, &o);
    let shape = [1, CHANNELS, SIDE, SIDE];
    let inputs = [&x, &o].map(|values| Tensor::from_slice(&shape, values).expect("a tensor"));
    for target in
        ["llvm", "llvm -mcpu=x86-64", "c", "vanilla, llvm", "dnnl, llvm", "openblas, llvm"]
    {
        if target.contains("x86-64") && !cfg!(target_arch = "x86_64") {
            continue;
        }
        let session = Session::new();
        let module = session.parse(TEXT.as_bytes(), "maxima.mlir").expect("a module");
        let options = CompileOptions { targets: target.into(), ..Default::default() };
        let network = session.compile(module, &options).expect("compiles").load().expect("loads");
        let outputs = network.run(&inputs).expect("runs");
        for (number, (y, want)) in outputs.iter().zip(&expected).enumerate() {
            let y = y.to_f64();
            assert_eq!(y.len(), want.len());
            for (at, (y, want)) in y.iter().zip(want).enumerate() {
                let same = y == want || (y.is_nan() && want.is_nan());
                let near = (y - want).abs() <= 1e-6 + 1e-5 * want.abs();
                assert!(same || near, "{target}: result {number} is {y} at {at}, not {want}");
            }
        }
    }
}

/// Rows of which much is kept are sorted in another way, which ranks NaN, zeros and equal elements the same.
#[test]
fn long_rows_are_ranked_like_short_ones() {
    const LONG: usize = 432;
    let (x, session) = (image(3), Session::new());
    let input = Tensor::from_slice(&[3, LONG], &x[..3 * LONG]).expect("a tensor");
    for (kept, largest) in [(LONG, true), (LONG, false), (300, true), (1, false)] {
        let text = format!(
            "func.func @main(%x: tensor<3x{LONG}xf32>) -> (tensor<3x{kept}xf32>, tensor<3x{kept}xi64>) {{
               %k = graph.constant dense<{kept}> : tensor<1xi64>
               %y, %n = graph.top_k %x, %k axis = 1 largest = {largest}
                 : (tensor<3x{LONG}xf32>, tensor<1xi64>) -> (tensor<3x{kept}xf32>, tensor<3x{kept}xi64>)
               return %y, %n : tensor<3x{kept}xf32>, tensor<3x{kept}xi64>
             }}"
        );
        for target in ["llvm", "c"] {
            let module = session.parse(text.as_bytes(), "rows.mlir").expect("a module");
            let options = CompileOptions { targets: target.into(), ..Default::default() };
            let network =
                session.compile(module, &options).expect("compiles").load().expect("loads");
            let outputs = network.run(std::slice::from_ref(&input)).expect("runs");
            let (values, numbers) = (outputs[0].to_f64(), outputs[1].to_f64());
            for (row, x) in x[..3 * LONG].chunks(LONG).enumerate() {
                for (place, number) in ranks(x, largest)[..kept].iter().enumerate() {
                    let at = row * kept + place;
                    assert_eq!(numbers[at], *number as f64, "{target}, row {row}, place {place}");
                    let (y, want) = (values[at], f64::from(x[*number]));
                    assert!(y.to_bits() == want.to_bits() || y.is_nan() && want.is_nan());
                }
            }
        }
    }
}

/// Integers with and without a sign, of which much is kept.
#[test]
fn long_rows_of_integers_are_ranked() {
    const LONG: usize = 300;
    const KEPT: usize = 280;
    let x: Vec<f64> = image(5)[..LONG].iter().map(|x| f64::from((x * 300.0) as i32)).collect();
    let bytes: Vec<u8> = x.iter().map(|x| *x as i64 as u8).collect();
    let short: Vec<i16> = x.iter().map(|x| *x as i16).collect();
    let long: Vec<i64> = x.iter().map(|x| (*x as i64) << 40).collect();
    let rows = [
        ("ui8", Tensor::from_slice(&[LONG], &bytes).expect("a tensor")),
        ("i16", Tensor::from_slice(&[LONG], &short).expect("a tensor")),
        ("i64", Tensor::from_slice(&[LONG], &long).expect("a tensor")),
    ];
    for (element, row) in rows {
        for largest in [true, false] {
            let text = format!(
                "func.func @main(%x: tensor<{LONG}x{element}>) -> tensor<{KEPT}xi64> {{
                   %k = graph.constant dense<{KEPT}> : tensor<1xi64>
                   %y, %n = graph.top_k %x, %k axis = 0 largest = {largest}
                     : (tensor<{LONG}x{element}>, tensor<1xi64>) -> (tensor<{KEPT}x{element}>, tensor<{KEPT}xi64>)
                   return %n : tensor<{KEPT}xi64>
                 }}"
            );
            let session = Session::new();
            let module = session.parse(text.as_bytes(), "rows.mlir").expect("a module");
            let network = session
                .compile(module, &CompileOptions::default())
                .expect("compiles")
                .load()
                .expect("loads");
            let numbers = network.run(std::slice::from_ref(&row)).expect("runs")[0].to_f64();
            let values = row.to_f64();
            let mut want: Vec<usize> = (0..LONG).collect();
            want.sort_by(|a, b| {
                let order = values[*a].total_cmp(&values[*b]);
                if largest { order.reverse() } else { order }
            });
            let found: Vec<usize> = numbers.iter().map(|number| *number as usize).collect();
            assert_eq!(found, want[..KEPT], "{element}, largest = {largest}");
        }
    }
}
