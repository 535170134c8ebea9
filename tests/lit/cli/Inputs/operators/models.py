"""Models with operators of a vendor, and what they compute."""

import numpy as np
import onnx
from onnx import TensorProto as T, helper as h, numpy_helper

ACME = [h.make_opsetid("", 18), h.make_opsetid("com.acme", 1)]
rng = np.random.default_rng(1)
x = rng.standard_normal((2, 3, 8)).astype(np.float32)
limit = np.float32(0.25)


def info(name, dims, dtype=T.FLOAT):
    return h.make_tensor_value_info(name, dtype, dims)


def save(name, nodes, outputs, functions=(), inputs=("x",)):
    graph = h.make_graph(
        nodes, "g", [info(i, list(x.shape)) for i in inputs],
        [info(o, d, t) for o, d, t in outputs], [numpy_helper.from_array(limit, "limit")])
    onnx.save(h.make_model(graph, opset_imports=ACME, functions=functions, ir_version=9), name)


def node(op, inputs, outputs, name, **attributes):
    return h.make_node(op, inputs, outputs, name=name, domain="com.acme", **attributes)


gate = node("SoftGate", ["r"], ["s"], "first", beta=1.5)
relu = h.make_node("Relu", ["x"], ["r"], name="relu")
save("gate.onnx", [relu, gate, h.make_node("Neg", ["s"], ["y"], name="neg")],
     [("y", [2, 3, 8], T.FLOAT)])
save("limited.onnx", [relu, node("SoftGate", ["r", "limit"], ["y"], "limited")],
     [("y", [2, 3, 8], T.FLOAT)])
save("histogram.onnx", [relu, node("Histogram", ["r"], ["y"], "count", bins=4)],
     [("y", [2, 3, 4], T.INT32)])
save("blend.onnx", [relu, node("Blend", ["x", "r", "r"], ["a", "b"], "mix")],
     [("a", [2, 3, 8], T.FLOAT), ("b", [2, 3, 8], T.FLOAT)])
save("bins.onnx", [relu, node("Histogram", ["r"], ["y"], "many", bins=100)],
     [("y", [2, 3, 100], T.INT32)])
save("attribute.onnx", [relu, node("SoftGate", ["r"], ["y"], "wrong", alpha=1.5)],
     [("y", [2, 3, 8], T.FLOAT)])
save("missing.onnx", [relu, node("Histogram", ["r"], ["y"], "open")], [("y", [2, 3, 4], T.INT32)])
save("unknown.onnx", [relu, node("SoftGates", ["r"], ["y"], "what")], [("y", [2, 3, 8], T.FLOAT)])
# The model says itself what the operator means.
function = onnx.parser.parse_function("""
    <opset_import: ["" : 18], domain: "com.acme">
    SoftGate <beta> (x) => (y) {
      b = Constant <value_float: float = @beta> ()
      s = Mul (x, b)
      y = Abs (s)
    }""")
save("own.onnx", [relu, node("SoftGate", ["r"], ["y"], "own", beta=2.0)],
     [("y", [2, 3, 8], T.FLOAT)], functions=[function])

r = np.maximum(x, 0)
sigmoid = lambda v: 1 / (1 + np.exp(-v))
np.savez("x.npz", x=x)
np.savez("want.npz", gate=-r * sigmoid(1.5 * r), limited=np.minimum(r * sigmoid(r), limit), own=2 * r,
         low=x + 2 * r, high=x - 2 * r,
         histogram=np.array([[np.histogram(c, 4, (0, 1))[0] for c in b] for b in r]))
