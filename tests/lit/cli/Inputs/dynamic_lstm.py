"""Models with DynamicQuantizeLSTM, made by onnxruntime's quantizer, and what they give.

Writes NAME.onnx, NAME.npz (input) and checks NAME.out.npz when called a second time: near to onnxruntime, and less near
to a float LSTM on the dequantized weights, which rounds neither inputs nor states. The weights have 7 bits:
onnxruntime saturates sums of products of 8 bits on machines without VNNI.
"""

import os
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import quantize_dynamic

CASES = {"plain": (False, "forward"), "channels": (True, "bidirectional")}


def model(direction):
    rng, ways, hidden, inputs = np.random.default_rng(1), (2 if direction == "bidirectional" else 1), 12, 9
    weights = {"w": (ways, 4 * hidden, inputs), "r": (ways, 4 * hidden, hidden), "b": (ways, 8 * hidden)}
    tensors = [numpy_helper.from_array((rng.standard_normal(s) * 0.4).astype("f4"), n) for n, s in weights.items()]
    node = helper.make_node("LSTM", ["x", "w", "r", "b"], ["y", "h", "c"], "layer", hidden_size=hidden, direction=direction)
    values = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [20, 2, inputs])]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in "yhc"]
    graph = helper.make_graph([node], "lstm", values, outputs, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def dequantized(quantized):
    """The LSTM on floats that the quantized one stands for."""
    stored = {t.name: numpy_helper.to_array(t) for t in quantized.graph.initializer}
    node = next(n for n in quantized.graph.node if n.op_type == "DynamicQuantizeLSTM")
    result = model(helper.get_node_attr_value(node, "direction").decode())
    floats = {"b": stored[node.input[3]]}
    for name, place, first in [("w", 1, 8), ("r", 2, 10)]:
        scale, zero = (stored[node.input[first + i]].astype("f4") for i in (0, 1))
        shape = (scale.shape[0], 1, -1)
        floats[name] = (stored[node.input[place]] - zero.reshape(shape)) * scale.reshape(shape)
        floats[name] = np.ascontiguousarray(floats[name].transpose(0, 2, 1).astype("f4"))
    del result.graph.initializer[:]
    result.graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in floats.items())
    return result


def run(model, feeds):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds)))


for name, (per_channel, direction) in CASES.items():
    if sys.argv[1] == "make":
        onnx.save(model(direction), "float.onnx")
        quantize_dynamic("float.onnx", f"{name}.onnx", per_channel=per_channel, reduce_range=True)
        os.remove("float.onnx")
        np.savez(f"{name}.npz", x=np.random.default_rng(2).standard_normal((20, 2, 9)).astype("f4"))
        continue
    quantized, feeds, ours = onnx.load(f"{name}.onnx"), dict(np.load(f"{name}.npz")), np.load(f"{name}.out.npz")
    assert any(n.op_type == "DynamicQuantizeLSTM" for n in quantized.graph.node)
    for of, bound in [(dequantized(quantized), 0.05), (quantized, 0.01)]:
        for output, expected in run(of, feeds).items():
            distance = np.abs(ours[output] - expected).max()
            assert distance < bound, (name, output, distance, bound)
