//! Tests of reading model files, on models that are built here.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use prost::Message;

use super::proto::*;
use super::*;
use crate::io::proto::{StringStringEntryProto, TensorProto};
use crate::tensor::{DType, SplitMix64, Tensor};

mod loops;

fn float_tensor(name: &str, values: &[f32]) -> TensorProto {
    TensorProto {
        name: name.to_string(),
        data_type: DType::F32.onnx_code(),
        dims: vec![values.len() as i64],
        raw_data: Some(values.iter().flat_map(|v| v.to_le_bytes()).collect()),
        ..Default::default()
    }
}

fn value(name: &str, dims: &[i64]) -> ValueInfoProto {
    let dim = |&dim: &i64| DimensionProto { value: Some(DimensionValue::Value(dim)) };
    let shape = TensorShapeProto { dim: dims.iter().map(dim).collect() };
    let tensor = TensorTypeProto { elem_type: DType::F32.onnx_code(), shape: Some(shape) };
    let r#type = Some(TypeProto { value: Some(TypeValue::Tensor(tensor)) });
    ValueInfoProto { name: name.to_string(), r#type }
}

fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    NodeProto {
        op_type: op.to_string(),
        input: inputs.iter().map(|name| name.to_string()).collect(),
        output: outputs.iter().map(|name| name.to_string()).collect(),
        ..Default::default()
    }
}

/// `y = x + w`, with the weights `w` stored as given.
fn add_model(weights: TensorProto) -> ModelProto {
    let graph = GraphProto {
        node: vec![node("Add", &["x", "w"], &["y"])],
        name: "add".to_string(),
        initializer: vec![weights],
        input: vec![value("x", &[2])],
        output: vec![value("y", &[2])],
        ..Default::default()
    };
    ModelProto {
        ir_version: Some(8),
        opset_import: vec![OperatorSetIdProto { domain: "ai.onnx".to_string(), version: 17 }],
        graph: Some(graph),
        ..Default::default()
    }
}

fn decode(model: &ModelProto) -> Result<Model, crate::import::ImportError> {
    decode_model(Path::new("dir/m.onnx"), model.encode_to_vec().into())
}

fn external(location: &str, keys: &[(&str, &str)]) -> TensorProto {
    let entry = |key: &str, value: &str| StringStringEntryProto {
        key: key.to_string(),
        value: value.to_string(),
    };
    let mut tensor = float_tensor("w", &[0.0, 0.0]);
    tensor.raw_data = None;
    tensor.data_location = 1;
    tensor.external_data = vec![entry("location", location)];
    tensor.external_data.extend(keys.iter().map(|(k, v)| entry(k, v)));
    tensor
}

#[test]
fn a_model_is_read() {
    let model = decode(&add_model(float_tensor("w", &[1.0, 2.0]))).unwrap();
    assert_eq!(model.opsets[""], 17);
    assert_eq!(model.input_names(), ["x"]);
    assert_eq!(model.output_names(), ["y"]);
    let weights = model.initializers().unwrap();
    assert_eq!(weights["w"], Tensor::from_slice(&[2], &[1.0f32, 2.0]).unwrap());
}

#[test]
fn initializers_may_be_listed_as_inputs() {
    let mut proto = add_model(float_tensor("w", &[1.0, 2.0]));
    proto.graph.as_mut().unwrap().input.push(value("w", &[2]));
    assert_eq!(decode(&proto).unwrap().input_names(), ["x"]);
}

#[test]
fn other_files_are_recognised() {
    let error = |bytes: &'static [u8]| {
        decode_model(Path::new("m.onnx"), Bytes::from_static(bytes)).unwrap_err().to_string()
    };
    assert_eq!(error(b""), "m.onnx: not an ONNX model: it is an empty file");
    assert!(error(b"PK\x03\x04....").contains("zip archive"));
    assert!(error(b"module { func.func @main() }").contains("not an ONNX model"));
    assert!(error(b"version https://git-lfs.github.com/spec/v1").contains("git lfs pull"));
    assert!(error(b"\x1c\0\0\0TFL3").contains("TensorFlow Lite"));
    let empty = decode(&ModelProto::default()).unwrap_err().to_string();
    assert!(empty.contains("not an ONNX model"), "{empty}");
    let mut no_opset = add_model(float_tensor("w", &[1.0, 2.0]));
    no_opset.opset_import.clear();
    assert!(decode(&no_opset).unwrap_err().to_string().contains("operator set"));
}

#[test]
fn external_data_is_read_and_checked() {
    let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (path, outside) = (dir.path().join("m.onnx"), other.path().join("w.bin"));
    fs::write(&outside, [0; 12]).unwrap();
    let data: Vec<u8> = [9f32, 1.0, 2.0].iter().flat_map(|v| v.to_le_bytes()).collect();
    fs::write(dir.path().join("w.bin"), data).unwrap();
    let load = |weights: TensorProto| {
        fs::write(&path, add_model(weights).encode_to_vec()).unwrap();
        load_model(&path).and_then(|model| model.initializers())
    };
    let good = load(external("w.bin", &[("offset", "4"), ("length", "8")])).unwrap();
    assert_eq!(good["w"].to_f64(), [1.0, 2.0]);
    let plain = load(external("./w.bin", &[])).unwrap();
    assert_eq!(plain["w"].to_f64(), [9.0, 1.0]);
    for (weights, part) in [
        (external("w.bin", &[("offset", "8")]), "which has 12 bytes"),
        (external("w.bin", &[("offset", "18446744073709551615")]), "which has 12 bytes"),
        (external("w.bin", &[("length", "12")]), "has the length 12"),
        (external("w.bin", &[("offset", "x")]), "not a number"),
        (external("none.bin", &[]), "none.bin cannot be read"),
        (external("../w.bin", &[]), "outside of the model's directory"),
        (external(outside.to_str().unwrap(), &[]), "outside of the model's directory"),
        (external("", &[]), "outside of the model's directory"),
    ] {
        let message = load(weights).unwrap_err().to_string();
        assert!(message.contains("`w`") && message.contains(part), "{message}");
    }
    std::os::unix::fs::symlink(&outside, dir.path().join("link")).unwrap();
    assert!(load(external("link", &[])).unwrap_err().to_string().contains("outside"));
}

#[test]
fn mutated_models_never_panic() {
    let good = add_model(float_tensor("w", &[1.0, 2.0])).encode_to_vec();
    let mut rng = SplitMix64::new(1);
    let try_it = |bytes: Vec<u8>| {
        if let Ok(model) = decode_model(Path::new("m.onnx"), bytes.into()) {
            let _ = model.initializers();
        }
    };
    (0..good.len()).for_each(|length| try_it(good[..length].to_vec()));
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + rng.next_u64() % 4 {
            let position = rng.next_u64() as usize % bytes.len();
            bytes[position] = rng.next_u64() as u8;
        }
        try_it(bytes);
    }
}

// --- importing ---

fn import(model: &ModelProto) -> Result<String, String> {
    import_with(model, &ImportOptions::default())
}

fn import_with(model: &ModelProto, options: &ImportOptions) -> Result<String, String> {
    let session = crate::Session::new();
    let model = decode(model).map_err(|error| error.to_string())?;
    let module = import_model(&session, &model, options).map_err(|error| error.to_string())?;
    Ok(module.as_operation().to_string())
}

fn graph_of(nodes: Vec<NodeProto>, inputs: &[&str], outputs: &[&str]) -> ModelProto {
    let mut model = add_model(float_tensor("w", &[1.0, 2.0]));
    let graph = model.graph.as_mut().unwrap();
    graph.node = nodes;
    graph.input = inputs.iter().map(|name| value(name, &[2])).collect();
    graph.output = outputs.iter().map(|name| value(name, &[2])).collect();
    model
}

fn with_int(mut node: NodeProto, name: &str, number: i64) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: name.to_string(),
        r#type: attribute_type::INT,
        i: Some(number),
        ..Default::default()
    });
    node
}

#[test]
fn a_network_becomes_a_function() {
    let text = import(&add_model(float_tensor("w", &[1.0, 2.0]))).unwrap();
    for part in [
        "@main(%arg0: tensor<2xf32> {phl.name = \"x\"}) -> (tensor<2xf32> {phl.name = \"y\"})",
        "graph.constant dense<[1.000000e+00, 2.000000e+00]> : tensor<2xf32>",
        "graph.add %arg0,",
    ] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
}

#[test]
fn large_weights_are_blobs_that_share_the_file() {
    let values: Vec<f32> = (0..100).map(|v| v as f32).collect();
    let mut model = add_model(float_tensor("w", &values));
    model.graph.as_mut().unwrap().input = vec![value("x", &[100])];
    let text = import(&model).unwrap();
    assert!(text.contains("graph.constant dense_resource<w> : tensor<100xf32>"), "{text}");
    // One value everywhere needs no blob.
    let mut model = add_model(float_tensor("w", &[3.0; 100]));
    model.graph.as_mut().unwrap().input = vec![value("x", &[100])];
    let text = import(&model).unwrap();
    assert!(text.contains("graph.constant dense<3.000000e+00> : tensor<100xf32>"), "{text}");
}

#[test]
fn nodes_may_be_in_any_order() {
    let nodes = vec![node("Relu", &["a"], &["y"]), node("Abs", &["x"], &["a"])];
    let text = import(&graph_of(nodes, &["x"], &["y"])).unwrap();
    assert!(text.find("graph.abs").unwrap() < text.find("graph.relu").unwrap(), "{text}");
}

#[test]
fn broken_structure_is_one_message() {
    let message = |nodes: Vec<NodeProto>| import(&graph_of(nodes, &["x"], &["y"])).unwrap_err();
    assert_eq!(
        message(vec![node("Add", &["x", "gone"], &["y"])]),
        "dir/m.onnx: node `Add_0` (Add) reads `gone`, which no node, input or initializer provides"
    );
    assert_eq!(
        message(vec![node("Add", &["x", "b"], &["a"]), node("Abs", &["a"], &["b"])]),
        "dir/m.onnx: the graph's output `y` is provided by no node, input or initializer"
    );
    assert_eq!(
        message(vec![
            node("Add", &["x", "b"], &["y"]),
            node("Abs", &["y"], &["a"]),
            node("Neg", &["a"], &["b"]),
        ]),
        "dir/m.onnx: the graph is cyclic: `Abs_1` (Abs) -> `Neg_2` (Neg) -> `Add_0` (Add) -> back \
         to the first"
    );
    let twice = message(vec![node("Abs", &["x"], &["y"]), node("Neg", &["x"], &["y"])]);
    assert!(twice.contains("`Neg_1` (Neg) provides the value `y`, which node `Abs_0`"), "{twice}");
    let input = message(vec![node("Abs", &["w"], &["x"]), node("Abs", &["x"], &["y"])]);
    assert!(input.contains("an input or initializer provides, too"), "{input}");
}

#[test]
fn all_unsupported_operators_are_listed() {
    let mut odd = node("Odd", &["x"], &["a"]);
    odd.domain = "com.example".to_string();
    odd.name = "first".to_string();
    let nodes = vec![odd, node("Bernoulli", &["a"], &["b"]), node("Bernoulli", &["b"], &["y"])];
    let mut model = graph_of(nodes, &["x"], &["y"]);
    model.opset_import.push(OperatorSetIdProto { domain: "com.example".to_string(), version: 3 });
    assert_eq!(
        import(&model).unwrap_err(),
        "dir/m.onnx: 2 unsupported operators: Odd (com.example opset 3, 1 node: `first`); \
         Bernoulli (ai.onnx opset 17, 2 nodes: `Bernoulli_1`, `Bernoulli_2`)"
    );
}

#[test]
fn refused_operators_come_with_a_remedy() {
    let model = graph_of(vec![node("Unique", &["x"], &["y"])], &["x"], &["y"]);
    let message = import(&model).unwrap_err();
    assert!(message.contains("go on in the program around it"), "{message}");
}

#[test]
fn bad_nodes_are_named() {
    let message = |node: NodeProto| import(&graph_of(vec![node], &["x"], &["y"])).unwrap_err();
    let strange = message(with_int(node("Abs", &["x"], &["y"]), "axis", 1));
    assert_eq!(strange, "dir/m.onnx: node `Abs_0` (Abs): the operator has no attribute `axis`");
    let range = message(with_int(node("Softmax", &["x"], &["y"]), "axis", 7));
    assert!(range.contains("node `Softmax_0` (Softmax): 'graph.softmax' op"), "{range}");
    let few = message(node("Add", &["x"], &["y"]));
    assert!(few.ends_with("node `Add_0` (Add): has 1 inputs, expected 2"), "{few}");
    let mut negative = node("Not", &["x"], &["y"]);
    negative.name = "invert".to_string();
    assert!(message(negative).contains("node `invert` (Not): 'graph.not' op"), "wrong type");
}

#[test]
fn functions_are_inlined_with_their_attributes() {
    let mut inner = node("LeakyRelu", &["t"], &["out"]);
    inner.attribute.push(AttributeProto {
        name: "alpha".to_string(),
        ref_attr_name: "slope".to_string(),
        r#type: attribute_type::FLOAT,
        ..Default::default()
    });
    let function = FunctionProto {
        name: "Twice".to_string(),
        domain: "own".to_string(),
        input: vec!["in".to_string()],
        output: vec!["out".to_string()],
        attribute: vec!["slope".to_string()],
        node: vec![node("Add", &["in", "in"], &["t"]), inner],
        opset_import: vec![OperatorSetIdProto { domain: String::new(), version: 17 }],
        ..Default::default()
    };
    let call = |input: &str, output: &str, slope: f32| {
        let mut call = node("Twice", &[input], &[output]);
        call.domain = "own".to_string();
        call.attribute.push(AttributeProto {
            name: "slope".to_string(),
            r#type: attribute_type::FLOAT,
            f: Some(slope),
            ..Default::default()
        });
        call
    };
    let nodes = vec![call("x", "a", 0.5), call("a", "y", 0.25)];
    let mut model = graph_of(nodes, &["x"], &["y"]);
    model.functions.push(function.clone());
    let text = import(&model).unwrap();
    assert!(text.contains("alpha = 5.000000e-01"), "{text}");
    assert!(text.contains("alpha = 2.500000e-01"), "{text}");
    assert_eq!(text.matches("graph.add").count(), 2, "{text}");
    // A function that calls itself never ends.
    let mut endless = function;
    endless.node = vec![call("in", "out", 1.0)];
    model.functions = vec![endless];
    assert!(import(&model).unwrap_err().contains("call each other"));
}

#[test]
fn shapes_and_constants_come_from_options() {
    let mut model = graph_of(vec![node("Reshape", &["x", "s"], &["y"])], &["x", "s"], &["y"]);
    let graph = model.graph.as_mut().unwrap();
    let mut open = TensorTypeProto { elem_type: DType::I64.onnx_code(), shape: None };
    let dim = DimensionProto { value: Some(DimensionValue::Value(2)) };
    open.shape = Some(TensorShapeProto { dim: vec![dim] });
    graph.input[1].r#type = Some(TypeProto { value: Some(TypeValue::Tensor(open)) });
    let name = DimensionProto { value: Some(DimensionValue::Param("n".to_string())) };
    let shape = Some(TensorShapeProto { dim: vec![name] });
    let open = TensorTypeProto { elem_type: DType::F32.onnx_code(), shape };
    graph.input[0].r#type = Some(TypeProto { value: Some(TypeValue::Tensor(open)) });
    let decoded = decode(&model).unwrap();
    assert_eq!(shape_like_inputs(&decoded).unwrap(), ["s"]);
    let mut options = ImportOptions::default();
    options.shapes.insert("x".to_string(), vec![Some(6)]);
    let target = Tensor::from_slice(&[2], &[3i64, -1]).unwrap();
    options.constants.insert("s".to_string(), target);
    let text = import_with(&model, &options).unwrap();
    assert!(text.contains("@main(%arg0: tensor<6xf32> {phl.name = \"x\"})"), "{text}");
    assert!(text.contains("-> (tensor<3x2xf32>"), "{text}");
    options.shapes.insert("z".to_string(), vec![]);
    let message = import_with(&model, &options).unwrap_err();
    assert!(message.contains("no input `z`") && message.contains("`x`, `s`"), "{message}");
    options.shapes.shift_remove("z");
    let wrong = Tensor::from_slice(&[2], &[1f32, 2.0]).unwrap();
    options.constants.insert("s".to_string(), wrong);
    assert!(import_with(&model, &options).unwrap_err().contains("is f32, but the input is i64"));
}

#[test]
fn mutated_models_never_crash_the_import() {
    let mut conv = with_int(node("Conv", &["x", "k"], &["a"]), "group", 1);
    conv.attribute.push(AttributeProto {
        name: "pads".to_string(),
        r#type: attribute_type::INTS,
        ints: vec![1, 1, 1, 1],
        ..Default::default()
    });
    let nodes = vec![
        conv,
        with_int(node("Softmax", &["a"], &["b"]), "axis", 1),
        with_int(node("Concat", &["a", "b"], &["c"]), "axis", 0),
        node("Reshape", &["c", "s"], &["y"]),
    ];
    let mut model = graph_of(nodes, &["x"], &["y"]);
    let graph = model.graph.as_mut().unwrap();
    graph.input = vec![value("x", &[1, 1, 4, 4])];
    let mut kernel = float_tensor("k", &[0.5; 9]);
    kernel.dims = vec![1, 1, 3, 3];
    let shape = TensorProto {
        name: "s".to_string(),
        data_type: DType::I64.onnx_code(),
        dims: vec![2],
        int64_data: vec![-1, 4],
        ..Default::default()
    };
    graph.initializer = vec![kernel, shape];
    assert!(import(&model).unwrap().contains("tensor<8x4xf32>"));
    let good = model.encode_to_vec();
    let session = crate::Session::new();
    let mut rng = SplitMix64::new(7);
    let mut imported = 0;
    for _ in 0..5_000 {
        let mut bytes = good.clone();
        for _ in 0..1 + rng.next_u64() % 3 {
            let position = rng.next_u64() as usize % bytes.len();
            bytes[position] = rng.next_u64() as u8;
        }
        if let Ok(model) = decode_model(Path::new("m.onnx"), bytes.into()) {
            let _ = shape_like_inputs(&model);
            let result = import_model(&session, &model, &ImportOptions::default());
            imported += usize::from(result.is_ok());
            session.clear_diagnostics();
        }
    }
    assert!(imported > 0, "some mutations are harmless");
}

// --- control flow ---

fn with_graph(mut node: NodeProto, name: &str, graph: GraphProto) -> NodeProto {
    node.attribute.push(AttributeProto {
        name: name.to_string(),
        r#type: attribute_type::GRAPH,
        g: Some(graph),
        ..Default::default()
    });
    node
}

fn body(nodes: Vec<NodeProto>, inputs: &[&str], outputs: &[&str]) -> GraphProto {
    GraphProto {
        node: nodes,
        input: inputs.iter().map(|name| value(name, &[2])).collect(),
        output: outputs.iter().map(|name| value(name, &[2])).collect(),
        ..Default::default()
    }
}

fn scalar_tensor(name: &str, dtype: DType, number: i32) -> TensorProto {
    let mut tensor =
        TensorProto { name: name.to_string(), data_type: dtype.onnx_code(), ..Default::default() };
    if dtype == DType::I64 {
        tensor.int64_data = vec![number.into()];
    } else {
        tensor.int32_data = vec![number];
    }
    tensor
}

#[test]
fn a_known_condition_takes_one_branch() {
    let branch = node("If", &["c"], &["y"]);
    let branch =
        with_graph(branch, "then_branch", body(vec![node("Abs", &["x"], &["t"])], &[], &["t"]));
    let branch =
        with_graph(branch, "else_branch", body(vec![node("Neg", &["x"], &["e"])], &[], &["e"]));
    let mut model = graph_of(vec![branch], &["x"], &["y"]);
    model.graph.as_mut().unwrap().initializer = vec![scalar_tensor("c", DType::Bool, 0)];
    let text = import(&model).unwrap();
    assert!(text.contains("graph.neg") && !text.contains("graph.abs"), "{text}");
    // With an unknown one both are computed.
    let graph = model.graph.as_mut().unwrap();
    graph.initializer.clear();
    let mut condition = value("c", &[]);
    if let Some(TypeProto { value: Some(TypeValue::Tensor(tensor)) }) = &mut condition.r#type {
        tensor.elem_type = DType::Bool.onnx_code();
    }
    graph.input.push(condition);
    assert_eq!(shape_like_inputs(&decode(&model).unwrap()).unwrap(), ["c"]);
    let text = import(&model).unwrap();
    assert!(text.contains("graph.where"), "{text}");
    assert!(text.contains("graph.neg") && text.contains("graph.abs"), "{text}");
}

#[test]
fn errors_inside_of_graphs_name_the_inner_node() {
    let broken = body(vec![node("Abs", &["nowhere"], &["t"])], &[], &["t"]);
    let branch = with_graph(node("If", &["c"], &["y"]), "then_branch", broken.clone());
    let branch = with_graph(branch, "else_branch", broken);
    let mut model = graph_of(vec![branch], &["x"], &["y"]);
    model.graph.as_mut().unwrap().initializer = vec![scalar_tensor("c", DType::Bool, 1)];
    let message = import(&model).unwrap_err();
    assert!(message.contains("If_0") && message.contains("`nowhere`"), "{message}");
}
