//! Inputs and outputs in the memory of a device: buffers that programs have there.

use phaseline::{
    CompileOptions, Session, Tensor,
    runtime::{Executable, Input, Output},
    tensor::AlignedBuffer,
};

const STEP: &str = r#"
func.func @main(%x: tensor<8xf32> {phl.name = "x"}, %old: tensor<8xf32> {phl.name = "old"})
    -> (tensor<8xf32> {phl.name = "y"}, tensor<8xf32> {phl.name = "new"}) {
  %n = graph.add %old, %x : tensor<8xf32>
  %y = graph.relu %n : tensor<8xf32>
  return %y, %n : tensor<8xf32>, tensor<8xf32>
}
"#;

fn load(bind: &[&str]) -> Executable {
    let session = Session::new();
    let module = session.parse(STEP.as_bytes(), "step.mlir").expect("parses");
    let options = CompileOptions {
        targets: "far, llvm".into(),
        target_path: vec!["tests/targets/far".into()],
        bind: bind.iter().map(|port| ((*port).to_owned(), "far".to_owned())).collect(),
        ..Default::default()
    };
    session.compile(module, &options).expect("compiles").load().expect("loads")
}

fn ones() -> Tensor {
    Tensor::from_slice(&[8], &[1.0f32; 8]).expect("has 8 elements")
}

#[test]
fn a_state_stays_on_the_device() {
    let model = load(&["old", "new"]);
    let x = ones();
    let states = [model.allocate("old"), model.allocate("new")].map(|state| state.expect("fits"));
    states[0].write(&[0; 32]).expect("writes");
    let mut y = AlignedBuffer::zeroed(32).expect("there is memory");
    for step in 0..5 {
        let (old, new) = (&states[step % 2], &states[(step + 1) % 2]);
        let mut outputs = [Output::Host(&mut y), Output::Device(new)];
        model.run_bound(&[Input::Host(&x), Input::Device(old)], &mut outputs).expect("runs");
        let first = f32::from_le_bytes(y.as_ref()[..4].try_into().expect("has 4 bytes"));
        assert_eq!(first, step as f32 + 1.0);
    }
    let mut state = [0; 32];
    states[1].read_into(&mut state).expect("reads");
    assert_eq!(f32::from_le_bytes(state[28..].try_into().expect("has 4 bytes")), 5.0);
}

#[test]
fn runs_without_buffers_copy() {
    let (plain, bound) = (load(&[]), load(&["x", "old", "y", "new"]));
    let inputs = [ones(), ones()];
    for _ in 0..20 {
        // Buffers that were not freed would fill the device's table of blocks.
        assert_eq!(plain.run(&inputs).expect("runs"), bound.run(&inputs).expect("runs"));
    }
}

#[test]
fn buffers_in_wrong_places_are_named() {
    let (model, other) = (load(&["old", "new"]), load(&["old", "new"]));
    let x = ones();
    let mut y = AlignedBuffer::zeroed(32).expect("there is memory");
    let (state, strange) =
        (model.allocate("old").expect("fits"), other.allocate("old").expect("fits"));
    let mut fails = |old: Input<'_>, wanted: &str| {
        let mut outputs = [Output::Host(&mut y), Output::Device(&state)];
        let error = model.run_bound(&[Input::Host(&x), old], &mut outputs).expect_err("fails");
        assert!(error.to_string().contains(wanted), "{error}");
    };
    fails(Input::Host(&x), "input 'old' is in another memory: expected the memory of target 'far'");
    fails(Input::Device(&strange), "the buffer of input 'old' belongs to another model");
    fails(Input::Device(&state), "the buffer of output 'new' is that of another input or output");
    let error = state.write(&[0; 5]).expect_err("fails");
    assert!(error.to_string().contains("a buffer on a device has 32 bytes, but 5 are given"));
    let error = model.allocate("x").expect_err("fails");
    assert!(
        error.to_string().contains("no input or output 'x' in the memory of a device"),
        "{error}"
    );
}

const DECODER: &str = r#"
func.func @main(%q: tensor<2x8xf32> {phl.name = "q"}, %row: tensor<1x2x8xf32> {phl.name = "row"},
    %at: tensor<1x1xi64> {phl.name = "at"}, %cache: tensor<16x2x8xf32> {phl.name = "cache"})
    -> (tensor<32x2xf32> {phl.name = "y"}, tensor<16x2x8xf32> {phl.name = "next"}) {
  %next = graph.scatter_nd %cache, %at, %row
      : (tensor<16x2x8xf32>, tensor<1x1xi64>, tensor<1x2x8xf32>) -> tensor<16x2x8xf32>
  %flat = graph.constant dense<[32, 8]> : tensor<2xi64>
  %rows = graph.reshape %next, %flat : (tensor<16x2x8xf32>, tensor<2xi64>) -> tensor<32x8xf32>
  %t = graph.transpose %q perm = [1, 0] : (tensor<2x8xf32>) -> tensor<8x2xf32>
  %y = graph.matmul %rows, %t : (tensor<32x8xf32>, tensor<8x2xf32>) -> tensor<32x2xf32>
  return %y, %next : tensor<32x2xf32>, tensor<16x2x8xf32>
}
"#;

fn decoder(targets: &str, bind: &[&str]) -> Executable {
    let session = Session::new();
    let module = session.parse(DECODER.as_bytes(), "decoder.mlir").expect("parses");
    let options = CompileOptions {
        targets: targets.into(),
        target_path: vec!["tests/targets/scribe".into()],
        bind: bind.iter().map(|port| ((*port).to_owned(), "scribe".to_owned())).collect(),
        states: vec![("cache".to_owned(), "next".to_owned())],
        ..Default::default()
    };
    session.compile(module, &options).expect("compiles").load().expect("loads")
}

/// A tensor of numbers that differ from step to step.
fn numbers(shape: &[usize], step: usize) -> Tensor {
    let count: usize = shape.iter().product();
    let values: Vec<f32> = (0..count).map(|i| ((i * 7 + step * 3) % 11) as f32 - 5.0).collect();
    Tensor::from_slice(shape, &values).expect("has so many elements")
}

#[test]
fn a_cache_is_one_buffer_that_runs_append_to() {
    let (model, host) = (decoder("scribe, llvm", &["cache", "next"]), decoder("llvm", &[]));
    let cache = model.allocate("cache").expect("fits");
    cache.write(&[0; 1024]).expect("writes");
    let mut known = Tensor::from_slice(&[16, 2, 8], &[0f32; 256]).expect("has 256 elements");
    let mut y = AlignedBuffer::zeroed(256).expect("there is memory");
    for step in 0..16 {
        let (q, row) = (numbers(&[2, 8], step), numbers(&[1, 2, 8], step + 1));
        let at = Tensor::from_slice(&[1, 1], &[step as i64]).expect("has an element");
        let inputs = [Input::Host(&q), Input::Host(&row), Input::Host(&at), Input::Device(&cache)];
        let mut outputs = [Output::Host(&mut y), Output::Device(&cache)];
        model.run_bound(&inputs, &mut outputs).expect("runs");
        let mut wanted = host.run(&[q, row, at, known]).expect("runs");
        assert_eq!(y.as_ref()[..], wanted[0].bytes()[..]);
        known = wanted.remove(1);
    }
    let mut left = [0; 1024];
    cache.read_into(&mut left).expect("reads");
    assert_eq!(left[..], known.bytes()[..]);
    // Another buffer would have other rows in it.
    let other = model.allocate("next").expect("fits");
    let (q, row) = (numbers(&[2, 8], 0), numbers(&[1, 2, 8], 1));
    let at = Tensor::from_slice(&[1, 1], &[0i64]).expect("has an element");
    let inputs = [Input::Host(&q), Input::Host(&row), Input::Host(&at), Input::Device(&cache)];
    let mut outputs = [Output::Host(&mut y), Output::Device(&other)];
    let error = model.run_bound(&inputs, &mut outputs).expect_err("fails");
    assert!(
        error.to_string().contains(
            "output 'next' is the new value of input 'cache', but has another buffer: give the same one for both"
        ),
        "{error}"
    );
}
