"""Compares DequantizeLinear of small types with onnxruntime, on the hosts `llvm` and `c`."""

import subprocess

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper

rng = np.random.default_rng(1)


def packed(name, code, values, raw):
    """An initializer of four bits, in raw_data or in int32_data."""
    flat = [int(v) & 15 for v in np.ravel(values)] + [0]
    data = [flat[i] | flat[i + 1] << 4 for i in range(0, len(flat) - 1, 2)]
    if raw:
        return T(name=name, data_type=code, dims=values.shape, raw_data=bytes(data))
    return T(name=name, data_type=code, dims=values.shape, int32_data=data)


def model(code, shape, axis, block, zero, raw, as_node):
    low, high = (-8, 8) if code == T.INT4 else (0, 16)
    values = rng.integers(low, high, shape)
    if block:
        scales = [d // block if i == axis else d for i, d in enumerate(shape)]
    else:
        scales = [] if axis is None else [shape[axis]]
    scale = rng.uniform(0.1, 2, scales).astype(np.float32)
    tensors = [numpy_helper.from_array(scale, "s")]
    inputs = ["w", "s"]
    if zero:
        inputs.append("z")
        tensors.append(packed("z", code, rng.integers(low, high, scales), raw))
    attributes = {} if axis is None else {"axis": axis}
    attributes.update({"block_size": block} if block else {})
    w = packed("w", code, values, raw)
    nodes = []
    if as_node:
        nodes.append(h.make_node("Constant", [], ["w"], value=w))
    else:
        tensors.append(w)
    nodes.append(h.make_node("DequantizeLinear", inputs, ["d"], **attributes))
    nodes.append(h.make_node("MatMul", ["x", "d"], ["y"]))
    graph = h.make_graph(
        nodes,
        "g",
        [h.make_tensor_value_info("x", T.FLOAT, [2, shape[0]])],
        [h.make_tensor_value_info("y", T.FLOAT, [2, shape[1]])],
        tensors,
    )
    return h.make_model(graph, opset_imports=[h.make_opsetid("", 21)], ir_version=10)


CASES = [
    (T.INT4, [3, 3], None, 0, False, True, False),
    (T.UINT4, [3, 5], None, 0, True, False, True),
    (T.INT4, [16, 24], 1, 0, True, True, False),
    (T.UINT4, [16, 24], 0, 0, True, True, False),
    (T.INT4, [16, 6], 0, 4, False, False, False),
    (T.UINT4, [8, 32], 1, 16, True, True, False),
]

for number, case in enumerate(CASES):
    built = model(*case)
    onnx.save(built, "m.onnx")
    x = rng.standard_normal((2, case[1][0])).astype(np.float32)
    np.savez("x.npz", x=x)
    # Optimized, onnxruntime quantizes x too.
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    want = onnxruntime.InferenceSession("m.onnx", options).run(None, {"x": x})[0]
    for host in ("llvm", "c"):
        subprocess.run(
            ["phaseline", "run", "m.onnx", "-t", host, "--inputs", "x.npz", "--outputs", "y.npz"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
        got = np.load("y.npz")["y"]
        assert np.allclose(got, want, rtol=1e-5, atol=1e-4), (number, host, got, want)

# Floats of eight bits, by their values; C has none.
values = np.array([[0x38, 0xB8, 0x40], [0x01, 0x7E, 0x00]], dtype=np.uint8)
floats = np.array([[1, -1, 2], [2.0**-9, 448, 0]], dtype=np.float32)
w = T(name="w", data_type=T.FLOAT8E4M3FN, dims=[2, 3], raw_data=values.tobytes())
node = h.make_node("DequantizeLinear", ["w", "s"], ["d"])
last = h.make_node("Mul", ["x", "d"], ["y"])
ends = [[h.make_tensor_value_info(name, T.FLOAT, [2, 3])] for name in "xy"]
scale = numpy_helper.from_array(np.float32(0.5), "s")
graph = h.make_graph([node, last], "g", *ends, [w, scale])
onnx.save(h.make_model(graph, opset_imports=[h.make_opsetid("", 21)], ir_version=10), "m.onnx")
np.savez("x.npz", x=np.ones([2, 3], np.float32))
subprocess.run(
    ["phaseline", "run", "m.onnx", "--inputs", "x.npz", "--outputs", "y.npz"],
    check=True,
    stdout=subprocess.DEVNULL,
)
assert np.array_equal(np.load("y.npz")["y"], floats / 2)
