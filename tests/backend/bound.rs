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
