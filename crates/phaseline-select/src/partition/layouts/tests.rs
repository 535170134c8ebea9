//! Layouts on small graphs.

use super::super::tests::{Owned, device, run, with};
use crate::{
    graph::text::graph,
    partition::{LayoutReport, Partition, partition},
    pattern::{BoundLayout, PatternSpec},
};

const NHWC: &str = "void conv(in x as nhwc, in w, out y as nhwc)";
const BLOCKS: &str = "void conv(in x as [0, 1/4, 2, 3, 1%4], in w, out y as [0, 1/4, 2, 3, 1%4])";

/// A device with a convolution and elementwise operations as given.
fn weft(conv: &str) -> Owned {
    let spec = |name: &str, matches: &str, call: &str| PatternSpec::new(name, matches).call(call);
    device(
        "weft",
        &[
            spec("conv", "conv(x, w: const)", conv),
            spec("relu", "relu(x)", "void relu(in x as given, out y as given, size given.size)"),
            spec(
                "div",
                "div(a, b)",
                "void div(in a as given, in b as given, out y as given, size given.size)",
            ),
            spec(
                "bias",
                "add(a, b: const)",
                "void bias(in a as given, in b, out y as given, size given.size)",
            ),
            spec(
                "add",
                "add(a, b)",
                "void add(in a as given, in b as given, out y as given, size given.size)",
            ),
        ],
    )
}

/// The layouts of the calls that take tensors as given, by pattern, with what `given.size` is.
fn given(partition: &Partition) -> Vec<(String, Option<BoundLayout>)> {
    let composites = partition.regions.iter().flat_map(|region| &region.composites);
    let of = composites.filter(|composite| composite.name != "conv");
    of.map(|composite| {
        let given = composite.found.given.as_ref().map(|given| given.layout.clone());
        (composite.name.clone(), given)
    })
    .collect()
}

fn report(partition: &Partition) -> LayoutReport {
    partition.layouts.clone().expect("there are calls with tensors as given")
}

fn chain(channels: i64, middle: &str, ty: &str) -> String {
    format!(
        "x = arg 1x4x8x8xf32
         v = const {channels}x4x1x1xf32
         w = const {channels}x{channels}x1x1xf32
         a = conv(x, v, _) {{group = 1}} : 1x{channels}x8x8x{ty}
         {middle}
         z = conv(m, w, _) {{group = 1}} : 1x{channels}x8x8x{ty}
         return z"
    )
}

#[test]
fn what_stands_between_convolutions_has_their_layout() {
    for conv in [NHWC, BLOCKS] {
        let middle = "r = relu(a) : 1x8x8x8xf32
                      m = add(r, a) : 1x8x8x8xf32";
        let (view, _) = graph(&chain(8, middle, "f32"));
        let partition = run(&view, &[weft(conv)]);
        assert!(given(&partition).iter().all(|(_, layout)| layout.is_some()), "{partition:?}");
        assert_eq!((report(&partition).between_calls, report(&partition).at_borders), (0, 2));
        assert_eq!(report(&partition).border_bytes, 4 * 64 * (4 + 8));
    }
}

#[test]
fn blocks_that_are_not_full_are_filled_for_convolutions_alone() {
    let middle = "r = relu(a) : 1x6x8x8xf32
                  m = add(r, a) : 1x6x8x8xf32";
    let (view, _) = graph(&chain(6, middle, "f32"));
    let partition = run(&view, &[weft(BLOCKS)]);
    assert_eq!((report(&partition).between_calls, report(&partition).filled), (0, 1));
    assert_eq!(report(&partition).filled_bytes, 4 * 64 * 6);
    let found =
        partition.regions[0].composites.iter().find(|it| it.name == "relu").expect("is there");
    assert!(found.found.given.as_ref().is_some_and(|given| given.padding));
    // Nothing is divided by what stands there, where that may end the program.
    let (view, _) = graph(&chain(6, "m = div(a, a) : 1x6x8x8xi32", "i32"));
    let partition = run(&view, &[weft(BLOCKS)]);
    let found =
        partition.regions[0].composites.iter().find(|it| it.name == "div").expect("is there");
    assert!(found.found.given.as_ref().is_none_or(|given| !given.padding));
}

#[test]
fn operands_that_are_spread_are_given_in_the_model_s_layout() {
    let middle = "b = const 8x1x1xf32
                  m = add(a, b) : 1x8x8x8xf32";
    let (view, _) = graph(&chain(8, middle, "f32"));
    let partition = run(&view, &[weft(NHWC)]);
    assert_eq!(given(&partition), [("bias".to_owned(), None)]);
    assert_eq!(report(&partition).between_calls, 2);
    let middle = "b = const 1xf32
                  m = add(a, b) : 1x8x8x8xf32";
    let (view, _) = graph(&chain(8, middle, "f32"));
    assert_eq!(report(&run(&view, &[weft(NHWC)])).between_calls, 0);
}

#[test]
fn of_patterns_of_one_price_the_one_whose_layout_fits_is_taken() {
    let mut specs = vec![
        PatternSpec::new("conv", "conv(x, w: const)").call(NHWC),
        PatternSpec::new("relu", "relu(x)").call("void relu(in x, out y, size x.size)"),
        PatternSpec::new("relu_nhwc", "relu(x)")
            .call("void relu(in x as nhwc, out y as nhwc, size x.size)"),
    ];
    let (view, _) = graph(&chain(8, "m = relu(a) : 1x8x8x8xf32", "f32"));
    let names = |partition: &Partition| {
        let composites = partition.regions.iter().flat_map(|region| &region.composites);
        composites.map(|composite| composite.name.clone()).collect::<Vec<_>>()
    };
    let partition = run(&view, &[device("weft", &specs)]);
    assert_eq!(names(&partition), ["conv", "relu_nhwc", "conv"]);
    assert_eq!(report(&partition).between_calls, 0);
    // A benefit is a preference.
    specs[1].benefit = Some(5);
    let partition = run(&view, &[device("weft", &specs)]);
    assert_eq!(names(&partition), ["conv", "relu", "conv"]);
}

#[test]
fn long_chains_and_checks_get_layouts() {
    let mut middle = String::from("r0 = relu(a) : 1x8x8x8xf32\n");
    for place in 1..60 {
        middle += &format!("r{place} = relu(r{}) : 1x8x8x8xf32\n", place - 1);
    }
    middle += "m = relu(r59) : 1x8x8x8xf32";
    let (view, _) = graph(&chain(8, &middle, "f32"));
    assert_eq!(report(&run(&view, &[weft(NHWC)])).between_calls, 0);
    // Whatever neighbours have.
    let (view, _) = graph("x = arg 1x6x8x8xf32\ny = relu(x) : 1x6x8x8xf32\nreturn y");
    let mut found = vec![];
    for number in 0..3 {
        let forced = with(&view, &[weft(BLOCKS)], |request| {
            partition(&crate::partition::Request { layout: Some(number), ..*request })
                .expect("divides")
        });
        found.push(given(&forced).remove(0).1.is_some());
    }
    assert_eq!(found, [true, false, true]);
}
