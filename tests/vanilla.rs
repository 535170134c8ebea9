//! Layers on simulated accelerators with a scratchpad: each is computed by generated C for the device
//! and by the host, and both are compared.

#![allow(clippy::panic, reason = "tests fail by panicking")]

mod cases;
mod devices;

use cases::{Device, Random, conv, dense, elementwise, tensor};

fn vanilla() -> Device {
    Device::new("vanilla")
}

#[test]
fn sums_and_activations_agree_with_the_host() {
    let random = &mut Random(99);
    for dims in [&[1, 3, 100, 77][..], &[7], &[40000], &[5, 9]] {
        for sum in [true, false] {
            elementwise(dims, sum).check(random, &vanilla());
        }
    }
}

#[test]
fn random_convolutions_agree_with_the_host() {
    let random = &mut Random(0x1234_5678_9ABC);
    for index in 0..10 {
        let n = 1 + i64::from(index % 4 == 3);
        conv(random, n, index % 3 == 2, 40).check(random, &vanilla());
    }
}

#[test]
fn random_products_agree_with_the_host() {
    let random = &mut Random(0xABCD_EF01);
    for limit in [3, 30, 300, 900] {
        dense(random, limit).check(random, &vanilla());
    }
}

#[test]
fn every_cut_gives_the_same() {
    let random = &mut Random(77);
    let cases = [
        ("vanilla -double-buffer=false", ""),
        ("vanilla", "oh=1:ic=3:rows=1"),
        ("vanilla", "oh=2:ow=3:oc=8:ic=1"),
        ("vanilla -scratchpad=16k", "ow=1"),
        ("vanilla -double-buffer=false", "oh=5:oc=8:rows=3"),
    ];
    for (index, (spec, sizes)) in cases.into_iter().enumerate() {
        let device = || Device::new(spec).sizes(sizes);
        conv(random, 1, index == 3, 20).check(random, &device());
        dense(random, 40).check(random, &device());
    }
}

#[test]
fn the_c_is_fit_to_read() {
    let random = &mut Random(5);
    let (text, _) = conv(random, 1, false, 20).check(random, &vanilla().sizes("oh=2:ic=4"));
    for part in ["#include \"vanilla.h\"", "vanilla_conv2d(device, &vanilla_conv2d_params_0, "] {
        assert!(text.contains(part), "{part}\n{text}");
    }
    // A command in a comment stays in one line, to be copied.
    let is_command = |line: &str| line.starts_with(" *     cc ");
    assert!(text.lines().all(|line| line.len() <= 100 || is_command(line)), "{text}");
}

#[test]
fn layers_in_one_function_pass_their_results_through_host_memory() {
    let dims = [1, 512, 7, 7];
    let (ty, x) = (tensor(&dims), tensor(&[1, 8, 7, 7]));
    let (weights, w) = Random(9).constant("w", &[512, 8, 1, 1]);
    // A layer that is worth a region, and operations beside it.
    let body = format!(
        "%0 = graph.conv %x, %w : ({x}, {w}) -> {ty}\n\
         %1 = graph.add %0, %0 : ({ty}, {ty}) -> {ty}\n\
         %2 = graph.relu %1 : {ty}\n\
         %y = graph.add %2, %1 : ({ty}, {ty}) -> {ty}\n"
    );
    let case = cases::Case {
        name: "conv, add, relu, add".into(),
        input: vec![1, 8, 7, 7],
        output: dims.to_vec(),
        constants: weights,
        body,
    };
    let random = &mut Random(3);
    let (code, _) = case.check(random, &vanilla());
    for function in ["vanilla_conv2d(", "vanilla_add(", "vanilla_activate("] {
        assert!(code.contains(function), "{function}\n{code}");
    }
}
