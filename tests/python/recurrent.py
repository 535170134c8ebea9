"""Loops over time: recurrent layers with all that they can be told, Scan and Loop.

Every case is (name, model, inputs); onnxruntime gives the expected outputs.
"""

import numpy as np
from net import Net
from onnx import TensorProto, helper, numpy_helper

F32, I64, BOOL, I32 = TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL, TensorProto.INT32
GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}


def layer(found, name, kind, direction="forward", steps=7, batch=3, inputs=5, hidden=6, bias=True,
          lengths=None, state=False, peepholes=False, constant=True, **attributes):
    """A recurrent layer. `constant` says whether its weights are, or inputs of the model."""
    net, feeds = Net(name), {}
    rng = np.random.default_rng(len(name))
    ways, gates = (2 if direction == "bidirectional" else 1), GATES[kind]

    def fed(key, array):
        feeds[key] = array
        return net.input(key, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))

    def given(key, *shape):
        array = (rng.standard_normal(shape) * 0.4).astype("f4")
        return net.const(array) if constant else fed(key, array)

    def normal(*shape):
        return rng.standard_normal(shape).astype("f4")

    operands = [fed("x", normal(steps, batch, inputs)),
                given("w", ways, gates * hidden, inputs), given("r", ways, gates * hidden, hidden),
                given("b", ways, 2 * gates * hidden) if bias else "",
                "" if lengths is None else fed("lengths", np.array(lengths, "i4")),
                fed("h", normal(ways, batch, hidden)) if state else ""]
    if kind == "LSTM":
        operands.append(fed("c", normal(ways, batch, hidden)) if state else "")
        operands.append(given("p", ways, 3 * hidden) if peepholes else "")
    while operands[-1] == "":
        operands.pop()
    made = net.op(kind, *operands, n_out=3 if kind == "LSTM" else 2, hidden_size=hidden,
                  direction=direction, **attributes)
    for output in made:
        net.output(output)
    found.append((name, net, feeds))


def layers(found):
    for kind in GATES:
        low = kind.lower()
        for direction in ["forward", "reverse", "bidirectional"]:
            layer(found, f"{low}_{direction}", kind, direction)
            layer(found, f"{low}_{direction}_lengths", kind, direction, lengths=[7, 2, 4], state=True)
        layer(found, f"{low}_no_bias", kind, bias=False)
        layer(found, f"{low}_long", kind, steps=100, batch=1, inputs=16, hidden=24)
        layer(found, f"{low}_one_unit", kind, batch=1, inputs=1, hidden=1)
        layer(found, f"{low}_variable_weights", kind, "bidirectional", constant=False, state=True)
        layer(found, f"{low}_clip", kind, clip=0.3)
    layer(found, "lstm_peepholes", "LSTM", "bidirectional", peepholes=True, state=True)
    layer(found, "lstm_peepholes_lengths", "LSTM", "reverse", peepholes=True, lengths=[1, 7, 3])
    layer(found, "lstm_input_forget", "LSTM", peepholes=True, input_forget=1)
    layer(found, "lstm_activations", "LSTM", "bidirectional", activations=[
        "HardSigmoid", "ScaledTanh", "Softsign", "Sigmoid", "Relu", "Tanh"],
        activation_alpha=[0.3, 1.2], activation_beta=[0.4, 0.7])
    for reset in [0, 1]:
        layer(found, f"gru_reset_{reset}", "GRU", "bidirectional", linear_before_reset=reset,
              lengths=[3, 7, 5])
    layer(found, "gru_activations", "GRU", activations=["HardSigmoid", "Softplus"],
          linear_before_reset=1)
    layer(found, "rnn_relu", "RNN", "reverse", activations=["Relu"])


def value(name, shape, dtype=F32):
    return helper.make_tensor_value_info(name, dtype, shape)


def constant(name, array):
    return helper.make_node("Constant", [], [name], value=numpy_helper.from_array(np.array(array)))


def scans(found):
    """Sequences along several axes, from both ends; the body uses values from around it."""
    node = helper.make_node
    for name, axes, ways, out_axes, out_ways in [
            ("scan_plain", [0, 0], [0, 0], [0, 0], [0, 0]),
            ("scan_axes", [1, 0], [0, 0], [1, 0], [0, 0]),
            ("scan_last_axis", [-1, 0], [0, 1], [-1, 0], [0, 1]),
            ("scan_directions", [1, 0], [1, 0], [0, 1], [1, 0])]:
        net, rng = Net(name), np.random.default_rng(len(name))
        body = helper.make_graph(
            [node("Mul", ["a", "outer"], ["scaled"]), node("Add", ["sum", "scaled"], ["next"]),
             node("Sub", ["next", "b"], ["difference"]), node("Max", ["top", "b"], ["highest"]),
             node("Concat", ["difference", "b"], ["both"], axis=0)],
            "body", [value("sum", [4]), value("top", [4]), value("a", [4]), value("b", [4])],
            [value("next", [4]), value("highest", [4]), value("difference", [4]),
             value("both", [8])])
        shapes = {"first": (4,), "top0": (4,),
                  "x": (9, 4) if axes[0] == 0 else (4, 9), "y": (9, 4), "outer": (4,)}
        feeds = {key: rng.standard_normal(shape).astype("f4") for key, shape in shapes.items()}
        for key, array in feeds.items():
            net.input(key, array.shape)
        for made in net.op("Scan", "first", "top0", "x", "y", n_out=4, body=body,
                           num_scan_inputs=2, scan_input_axes=axes, scan_input_directions=ways,
                           scan_output_axes=out_axes, scan_output_directions=out_ways):
            net.output(made)
        found.append((name, net, feeds))


def long_scan(found):
    """A state that swaps with another one, over many steps, and one that nothing changes."""
    net, node = Net("scan_long_swap"), helper.make_node
    body = helper.make_graph(
        [node("Add", ["b", "x"], ["sum"]), node("Mul", ["sum", "k"], ["next"]),
         node("Identity", ["a"], ["old"]), node("Identity", ["k"], ["same"]),
         # onnxruntime gives something else for a state that is collected as it is.
         node("Identity", ["a"], ["seen"])],
        "body", [value("a", [3]), value("b", [3]), value("k", [3]), value("x", [3])],
        [value("next", [3]), value("old", [3]), value("same", [3]), value("seen", [3])])
    rng = np.random.default_rng(5)
    feeds = {"a0": rng.standard_normal(3).astype("f4"), "b0": rng.standard_normal(3).astype("f4"),
             "k0": np.array([0.5, -0.25, 0.125], "f4"),
             "xs": rng.standard_normal((500, 3)).astype("f4")}
    for key, array in feeds.items():
        net.input(key, array.shape)
    for made in net.op("Scan", "a0", "b0", "k0", "xs", n_out=4, body=body, num_scan_inputs=1):
        net.output(made)
    found.append(("scan_long_swap", net, feeds))


def loop(found, name, nodes, states, collected, feeds, trips=6, condition="go", steps=None):
    """A Loop whose body has `i`, `go` and the states, and ends with `on` and what is named.
    `steps` is how often it runs, if that is not its trip count."""
    net = Net(name)
    for key, array in feeds.items():
        net.input(key, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype))
    inputs = [value("i", [], I64), value("go", [], BOOL)]
    inputs += [value(f"s_{key}", feeds[key].shape,
                     helper.np_dtype_to_tensor_dtype(feeds[key].dtype)) for key in states]
    outputs = [value("on", [], BOOL)]
    outputs += [value(states[key], feeds[key].shape,
                      helper.np_dtype_to_tensor_dtype(feeds[key].dtype)) for key in states]
    outputs += [value(key, shape, dtype) for key, dtype, shape in collected]
    nodes = [*nodes, helper.make_node("Identity", [condition], ["on"])]
    body = helper.make_graph(nodes, "body", inputs, outputs)
    operands = [net.const(np.int64(trips)), net.const(np.array(True)), *states]
    made = net.op("Loop", *operands, n_out=len(states) + len(collected), body=body)
    made = [made] if isinstance(made, str) else made
    types = [(helper.np_dtype_to_tensor_dtype(feeds[key].dtype), feeds[key].shape)
             for key in states]
    types += [(dtype, [steps or trips, *shape]) for _, dtype, shape in collected]
    net.outputs += [value(output, shape, dtype) for output, (dtype, shape) in zip(made, types)]
    found.append((name, net, feeds))


def loops(found):
    node, rng = helper.make_node, np.random.default_rng(11)
    x = {"x": rng.standard_normal((2, 3)).astype("f4")}
    step = [node("Add", ["s_x", "w"], ["sum"]), node("Tanh", ["sum"], ["next"])]
    outer = {**x, "w": rng.standard_normal((2, 3)).astype("f4")}
    loop(found, "loop_state", step, {"x": "next"}, [], outer)
    loop(found, "loop_collects", step, {"x": "next"}, [("sum", F32, [2, 3]), ("s_x", F32, [2, 3])], outer)
    loop(found, "loop_many", step, {"x": "next"}, [("next", F32, [2, 3])], outer, trips=1000)
    # A loop that never runs collects nothing: of the type that a step would give.
    loop(found, "loop_never", step, {"x": "next"}, [("sum", F32, [2, 3]), ("s_x", F32, [2, 3])], outer, trips=0)
    # The number of the iteration as a value: it picks a row, and is added.
    rows = {**x, "rows": rng.standard_normal((6, 2, 3)).astype("f4")}
    loop(found, "loop_counter", [
        node("Gather", ["rows", "i"], ["row"], axis=0), node("Cast", ["i"], ["number"], to=F32),
        node("Mul", ["row", "number"], ["scaled"]), node("Add", ["s_x", "scaled"], ["next"]),
        node("Identity", ["i"], ["seen"])],
        {"x": "next"}, [("seen", I64, []), ("row", F32, [2, 3])], rows)
    # ... and as what decides: only known when the loop is unrolled.
    loop(found, "loop_stops", [
        constant("three", np.int64(3)), node("Less", ["i", "three"], ["less"]), *step],
        {"x": "next"}, [("next", F32, [2, 3])], outer, condition="less", steps=4)
    loop(found, "loop_slices", [
        constant("one", np.int64([1])), constant("axis", np.int64([0])),
        node("Unsqueeze", ["i", "axis"], ["start"]), node("Add", ["start", "one"], ["end"]),
        node("Slice", ["rows", "start", "end", "axis"], ["cut"]),
        node("Squeeze", ["cut", "axis"], ["row"]), node("Add", ["s_x", "row"], ["next"])],
        {"x": "next"}, [], rows)
    # A loop in a loop, which uses a state of the outer one and a value from around both.
    inner = helper.make_graph(
        [node("Add", ["t", "w"], ["u"]), node("Mul", ["u", "s_x"], ["v"]),
         node("Identity", ["go2"], ["on2"])], "inner",
        [value("j", [], I64), value("go2", [], BOOL), value("t", [2, 3])],
        [value("on2", [], BOOL), value("v", [2, 3]), value("u", [2, 3])])
    loop(found, "loop_nested", [
        constant("n", np.int64(5)), constant("yes", np.array(True)),
        node("Loop", ["n", "yes", "s_x"], ["last", "all"], body=inner),
        node("ReduceMean", ["all"], ["mean"], axes=[0], keepdims=0),
        node("Sub", ["mean", "last"], ["next0"]), node("Tanh", ["next0"], ["next"])],
        {"x": "next"}, [("mean", F32, [2, 3])], outer, trips=4)
    # Integers and booleans as states.
    loop(found, "loop_types", [
        node("Add", ["s_n", "i"], ["n1"]), node("Not", ["s_flag"], ["flag1"]),
        node("Cast", ["s_small"], ["wide"], to=I32), constant("seven", np.int32(7)),
        node("Add", ["wide", "seven"], ["more"]), node("Cast", ["more"], ["small1"], to=TensorProto.UINT8)],
        {"n": "n1", "flag": "flag1", "small": "small1"},
        [("n1", I64, [2]), ("flag1", BOOL, [2]), ("small1", TensorProto.UINT8, [3])],
        {"n": np.array([1, 2], "i8"), "flag": np.array([True, False]),
         "small": np.array([250, 3, 4], "u1")})


def all_cases():
    found = []
    layers(found)
    scans(found)
    long_scan(found)
    loops(found)
    return found
