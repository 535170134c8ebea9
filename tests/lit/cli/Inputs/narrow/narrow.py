"""Writes narrow.onnx: constants of less than a byte and of 8-bit floats, and 16-bit floats."""

import onnx
from onnx import TensorProto as T
from onnx import helper as h

SMALL = [
    (T.INT4, [-8, 7, 3, -1, 2]),
    (T.UINT4, [15, 1, 8, 2, 3]),
    (T.INT2, [-2, 1, 0, -1, 1]),
    (T.UINT2, [3, 1, 0, 2, 3]),
    (T.FLOAT8E4M3FN, [1.5, -448, 0.001953125, 2, -3]),
    (T.FLOAT8E5M2, [1.5, -57344, 0.0000152587890625, 2, -3.5]),
    (T.FLOAT4E2M1, [0.5, -6, 3, -1.5, 4]),
]
nodes, initializers, outputs = [], [], []
inputs = [h.make_tensor_value_info("i", T.FLOAT, [5])]
for k, (kind, values) in enumerate(SMALL):
    initializers.append(h.make_tensor(f"x{k}", kind, [5], values))
    initializers.append(h.make_tensor(f"s{k}", T.FLOAT, [], [0.5]))
    nodes.append(h.make_node("DequantizeLinear", [f"x{k}", f"s{k}"], [f"d{k}"]))
    nodes.append(h.make_node("Add", [f"d{k}", "i"], [f"y{k}"]))
    outputs.append(h.make_tensor_value_info(f"y{k}", T.FLOAT, [5]))
# 8-bit floats that are computed, and not only stored.
nodes.append(h.make_node("QuantizeLinear", ["i", "s0"], ["q"], output_dtype=T.FLOAT8E4M3FN))
nodes.append(h.make_node("DequantizeLinear", ["q", "s0"], ["r"]))
outputs.append(h.make_tensor_value_info("r", T.FLOAT, [5]))
for k, kind in enumerate([T.FLOAT16, T.BFLOAT16]):
    inputs.append(h.make_tensor_value_info(f"h{k}", kind, [6]))
    nodes.append(h.make_node("Add", [f"h{k}", f"h{k}"], [f"z{k}"]))
    outputs.append(h.make_tensor_value_info(f"z{k}", kind, [6]))
graph = h.make_graph(nodes, "g", inputs, outputs, initializers)
model = h.make_model(graph, opset_imports=[h.make_opsetid("", 25)])
model.ir_version = 12
onnx.save(model, "narrow.onnx")
