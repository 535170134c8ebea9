//! Loops that stay loops.

use super::*;

/// A Loop of so many iterations that adds x to its state, and collects the sums.
fn summing_loop(iterations: i32) -> ModelProto {
    let inner = body(
        vec![node("Add", &["carried", "x"], &["sum"]), node("Identity", &["go"], &["on"])],
        &["i", "go", "carried"],
        &["on", "sum", "sum"],
    );
    let looped = with_graph(node("Loop", &["n", "", "x"], &["last", "all"]), "body", inner);
    let mut model = graph_of(vec![looped], &["x"], &["last", "all"]);
    model.graph.as_mut().unwrap().initializer = vec![scalar_tensor("n", DType::I64, iterations)];
    model
}

#[test]
fn loops_of_known_length_stay_loops_or_are_unrolled() {
    let mut model = summing_loop(3);
    let text = import(&model).unwrap();
    assert_eq!(text.matches("graph.add").count(), 1, "{text}");
    assert!(text.contains("graph.scan 3"), "{text}");
    assert!(text.contains("tensor<3x2xf32> {phl.name = \"all\"}"), "{text}");
    let unrolled = ImportOptions { unroll_loops: Some(3), ..Default::default() };
    let text = import_with(&model, &unrolled).unwrap();
    assert_eq!(text.matches("graph.add").count(), 3, "{text}");
    // A trip count that only running tells is refused, with the node's name.
    let graph = model.graph.as_mut().unwrap();
    graph.initializer.clear();
    graph.input.push(value("n", &[]));
    let message = import(&model).unwrap_err();
    assert!(message.contains("Loop (ai.onnx opset 17, 1 node: `Loop_0`)"), "{message}");
    assert!(message.contains("trip count"), "{message}");
}

#[test]
fn loops_that_never_run_collect_nothing() {
    let text = import(&summing_loop(0)).unwrap();
    assert!(text.contains("tensor<0x2xf32> {phl.name = \"all\"}"), "{text}");
    assert!(!text.contains("graph.scan") && !text.contains("graph.add"), "{text}");
    // Its type is what the body declares where a step cannot be imported; else it is asked for.
    let unknown = |declared: &[&str]| {
        let mut inner = body(
            vec![node("NoSuchThing", &["carried"], &["odd"]), node("Identity", &["go"], &["on"])],
            &["i", "go", "carried"],
            &["on", "carried", "odd"],
        );
        inner.output[2].r#type = None;
        if !declared.is_empty() {
            inner.output[2] = value("odd", &[4, 5]);
        }
        let looped = with_graph(node("Loop", &["n", "", "x"], &["last", "all"]), "body", inner);
        let mut model = graph_of(vec![looped], &["x"], &["last", "all"]);
        model.graph.as_mut().unwrap().initializer = vec![scalar_tensor("n", DType::I64, 0)];
        import(&model)
    };
    let text = unknown(&["odd"]).unwrap();
    assert!(text.contains("tensor<0x4x5xf32> {phl.name = \"all\"}"), "{text}");
    let message = unknown(&[]).unwrap_err();
    assert!(message.contains("declare its shape as an output of the body"), "{message}");
}

#[test]
fn scans_over_no_elements_collect_nothing() {
    let inner = body(vec![node("Add", &["s", "e"], &["n"])], &["s", "e"], &["n", "n"]);
    let scan = with_int(node("Scan", &["x", "z"], &["last", "all"]), "num_scan_inputs", 1);
    let mut model = graph_of(vec![with_graph(scan, "body", inner)], &["x"], &["last", "all"]);
    model.graph.as_mut().unwrap().input.push(value("z", &[0, 2]));
    let text = import(&model).unwrap();
    assert!(text.contains("tensor<0x2xf32> {phl.name = \"all\"}"), "{text}");
    assert!(!text.contains("graph.scan") && !text.contains("graph.add"), "{text}");
}

#[test]
fn recurrent_layers_may_have_no_steps() {
    let mut model = graph_of(vec![node("RNN", &["x", "k", "r"], &["y", "h"])], &[], &["y", "h"]);
    let graph = model.graph.as_mut().unwrap();
    graph.input = vec![value("x", &[0, 3, 4]), value("k", &[1, 5, 4]), value("r", &[1, 5, 5])];
    let text = import(&model).unwrap();
    assert!(text.contains("tensor<0x1x3x5xf32> {phl.name = \"y\"}"), "{text}");
    assert!(text.contains("tensor<1x3x5xf32> {phl.name = \"h\"}"), "{text}");
}

#[test]
fn what_is_imported_of_a_loop_does_not_grow_with_its_steps() {
    let size =
        |steps: i32| import(&summing_loop(steps)).unwrap().replace(&steps.to_string(), "N").len();
    assert_eq!(size(1003), size(7_000_003));
}

#[test]
fn loops_that_change_from_step_to_step_are_unrolled() {
    // The state grows by a row in each iteration.
    let grow = body(
        vec![
            with_int(node("Concat", &["carried", "x"], &["longer"]), "axis", 0),
            node("Identity", &["go"], &["on"]),
        ],
        &["i", "go", "carried"],
        &["on", "longer"],
    );
    let looped = with_graph(node("Loop", &["n", "", "x"], &["last"]), "body", grow);
    let mut model = graph_of(vec![looped], &["x"], &["last"]);
    model.graph.as_mut().unwrap().initializer = vec![scalar_tensor("n", DType::I64, 5)];
    let text = import(&model).unwrap();
    assert!(!text.contains("graph.scan"), "{text}");
    assert!(text.contains("tensor<12xf32> {phl.name = \"last\"}"), "{text}");
    // The number of the iteration decides whether there is another one.
    let until = body(
        vec![node("Less", &["i", "three"], &["on"]), node("Add", &["carried", "x"], &["sum"])],
        &["i", "go", "carried"],
        &["on", "sum"],
    );
    let looped = with_graph(node("Loop", &["n", "yes", "x"], &["last"]), "body", until);
    let mut model = graph_of(vec![looped], &["x"], &["last"]);
    model.graph.as_mut().unwrap().initializer = vec![
        scalar_tensor("n", DType::I64, 9),
        scalar_tensor("yes", DType::Bool, 1),
        scalar_tensor("three", DType::I64, 3),
    ];
    let text = import(&model).unwrap();
    assert_eq!(text.matches("graph.add").count(), 4, "{text}");
}
