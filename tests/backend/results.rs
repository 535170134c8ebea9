//! Results of a run stay as they are, whatever runs or goes afterwards: outputs take the memory of
//! dropped ones.

use phaseline::{
    CompileOptions, Session,
    artifact::Compiled,
    runtime::{self, Executable},
    tensor::Tensor,
};
use std::{sync::Arc, thread};

const ROWS: usize = 64;
const COLUMNS: usize = 128;

/// Outputs of three sizes: two that are computed, the input, one of them again, and a constant.
const NETWORK: &str = "
    func.func @main(%x: tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x3xf32>,
        tensor<64x128xf32>, tensor<64x128xf32>, tensor<4xf32>) {
      %w = graph.constant dense<0.5> : tensor<128x3xf32>
      %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %0 = graph.relu %x : tensor<64x128xf32>
      %1 = graph.matmul %x, %w : (tensor<64x128xf32>, tensor<128x3xf32>) -> tensor<64x3xf32>
      return %0, %1, %x, %0, %c : tensor<64x128xf32>, tensor<64x3xf32>, tensor<64x128xf32>,
        tensor<64x128xf32>, tensor<4xf32>
    }";

fn compiled() -> Compiled {
    let session = Session::new();
    let module = session.parse(NETWORK.as_bytes(), "results.mlir").expect("is valid");
    session.compile(module, &CompileOptions::default()).expect("compiles")
}

/// The network in this process, from a package, and on two threads.
fn executables() -> [Executable; 3] {
    let compiled = compiled();
    let work = tempfile::tempdir().expect("a directory");
    compiled.write_package(work.path()).expect("writes");
    let mut two = compiled.load().expect("loads");
    two.set_threads(2).expect("starts a thread");
    [compiled.load().expect("loads"), runtime::load(work.path()).expect("loads"), two]
}

/// Small integers, so that sums are exact; other ones for each number.
fn input(number: usize) -> Tensor {
    let x: Vec<f32> =
        (0..ROWS * COLUMNS).map(|i| ((i * 7 + number * 5) % 23) as f32 - 11.0).collect();
    Tensor::from_slice(&[ROWS, COLUMNS], &x).expect("a tensor")
}

fn run(network: &Executable, number: usize) -> Vec<Tensor> {
    network.run(&[input(number)]).expect("runs")
}

/// Fails unless these are the outputs for an input.
fn check(outputs: &[Tensor], x: &Tensor) {
    let x = x.as_slice::<f32>().expect("f32");
    let positive: Vec<f32> = x.iter().map(|x| x.max(0.0)).collect();
    let halves = x.chunks(COLUMNS).flat_map(|row| [row.iter().sum::<f32>() * 0.5; 3]).collect();
    let wanted = [positive.clone(), halves, x.to_vec(), positive, vec![1.0, 2.0, 3.0, 4.0]];
    assert_eq!(outputs.len(), wanted.len());
    for (place, (output, wanted)) in outputs.iter().zip(wanted).enumerate() {
        assert_eq!(output.as_slice::<f32>().expect("f32"), wanted, "output {place}");
    }
}

/// Start addresses of tensors, in order.
fn places<'a>(tensors: impl IntoIterator<Item = &'a Tensor>) -> Vec<*const u8> {
    let mut places: Vec<_> = tensors.into_iter().map(|tensor| tensor.bytes().as_ptr()).collect();
    places.sort_unstable();
    places
}

#[test]
fn results_stay_when_the_network_runs_again() {
    for network in executables() {
        let (first, second) = (run(&network, 1), run(&network, 2));
        check(&first, &input(1));
        check(&second, &input(2));
        let mut all = places(first.iter().chain(&second));
        all.dedup();
        assert_eq!(all.len(), 10, "outputs share memory");
        // The memory of the second ones is that of the next, and the first ones stay.
        let free = places(&second);
        drop(second);
        let third = run(&network, 3);
        assert_eq!(places(&third), free);
        check(&third, &input(3));
        check(&first, &input(1));
        // Of the first ones a copy is left, which shares their memory.
        let kept = first.clone();
        drop((first, third));
        check(&run(&network, 4), &input(4));
        check(&kept, &input(1));
        assert_eq!(run(&network, 5)[1].to_f64(), run(&network, 5)[1].to_f64());
    }
}

#[test]
fn results_can_be_inputs_of_the_next_run() {
    for network in executables() {
        let mut state = input(1);
        for _ in 0..4 {
            // All others are dropped, and the memory of the state before is free from here on.
            let outputs = network.run(std::slice::from_ref(&state)).expect("runs");
            check(&outputs, &state);
            state = outputs[0].clone();
        }
        let x = input(1);
        let positive: Vec<f32> =
            x.as_slice::<f32>().expect("f32").iter().map(|x| x.max(0.0)).collect();
        assert_eq!(state.as_slice::<f32>().expect("f32"), positive);
    }
}

#[test]
fn results_stay_when_a_run_fails() {
    for network in executables() {
        let first = run(&network, 1);
        network.run(&[]).expect_err("has too few inputs");
        let other = Tensor::from_slice(&[2], &[0.0_f32; 2]).expect("a tensor");
        network.run(&[other]).expect_err("has another shape");
        check(&first, &input(1));
        check(&run(&network, 2), &input(2));
        check(&first, &input(1));
    }
}

#[test]
fn results_go_to_other_threads_and_outlive_the_network() {
    for network in executables() {
        let network = Arc::new(network);
        let threads: Vec<_> = (0..4)
            .map(|number| {
                let network = network.clone();
                thread::spawn(move || {
                    let mut before = run(&network, number);
                    for _ in 0..25 {
                        let outputs = run(&network, number + 4);
                        check(&before, &input(number));
                        check(&outputs, &input(number + 4));
                        before = run(&network, number);
                    }
                    (number, before)
                })
            })
            .collect();
        let results: Vec<_> =
            threads.into_iter().map(|thread| thread.join().expect("ends")).collect();
        drop(Arc::into_inner(network).expect("nobody else has it"));
        // Its memory is nobody's now: these are dropped without a place to go back to.
        let checked = thread::spawn(move || {
            results.iter().for_each(|(number, outputs)| check(outputs, &input(*number)));
        });
        checked.join().expect("results are right");
    }
}
