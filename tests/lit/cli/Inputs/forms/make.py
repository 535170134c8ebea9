"""Two networks of layers that are integer operators: `images.onnx` (QLinearConv, com.microsoft's integer layers) and
`products.onnx` (QLinearMatMul, ConvInteger and MatMulInteger with scales that are known). Each with inputs, and what
onnxruntime gives for them, as folders for `phaseline verify`."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(3)


class Net:
    def __init__(self):
        self.nodes, self.tensors = [], []

    def const(self, array):
        name = f"c{len(self.tensors)}"
        self.tensors.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def op(self, kind, *inputs, domain="", **attributes):
        name = f"{kind}_{len(self.nodes)}"
        inputs = [i if isinstance(i, str) else self.const(i) for i in inputs]
        self.nodes.append(
            helper.make_node(kind, inputs, [name], name=name, domain=domain, **attributes))
        return name

    def conv(self, x, shape, given, result, group=1, bias=True, scales=None):
        w = RNG.integers(-60, 61, shape).astype("i1")
        ws = np.float32(scales) if scales else RNG.uniform(0.002, 0.004, shape[0]).astype("f4")
        wz = np.zeros(ws.shape, "i1")
        more = [RNG.integers(-900, 900, shape[0]).astype("i4")] if bias else []
        return self.op("QLinearConv", x, *given, w, ws, wz, *result, *more, group=group,
                       pads=[shape[2] // 2] * 4)

    def save(self, name, x, shape, y):
        value = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, name, [value(x, TensorProto.INT8, shape)],
                                  [value(y, TensorProto.INT8, None)], self.tensors)
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        folder = Path(name)
        (folder / "test_data_set_0").mkdir(parents=True)
        onnx.save(model, folder / "model.onnx")
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        session = onnxruntime.InferenceSession(str(folder / "model.onnx"), options)
        feed = RNG.integers(-128, 128, shape).astype("i1")
        (want,) = session.run(None, {x: feed})
        assert np.ptp(want.astype(int)) > 60, (name, want)
        for kind, array in (("input", feed), ("output", want)):
            tensor = numpy_helper.from_array(array, x if kind == "input" else y)
            (folder / "test_data_set_0" / f"{kind}_0.pb").write_bytes(tensor.SerializeToString())


def kind(scale, zero):
    return np.float32(scale), np.int8(zero)


def images():
    n, at = Net(), "com.microsoft"
    a, b, c = kind(0.03, 4), kind(0.04, -9), kind(0.05, 3)
    y = n.conv("x", (8, 3, 3, 3), a, b)
    z = n.conv(y, (8, 1, 3, 3), b, c, group=8, scales=0.008)
    s = n.op("QLinearAdd", y, *b, z, *c, *kind(0.05, -2), domain=at)
    m = n.op("QLinearMul", s, *kind(0.05, -2), y, *b, *kind(0.06, -1), domain=at)
    p = n.op("QLinearConcat", *kind(0.06, 0), m, *kind(0.06, -1), s, *kind(0.05, -2), domain=at, axis=1)
    p = n.op("QLinearLeakyRelu", p, *kind(0.06, 0), *kind(0.05, -10), domain=at, alpha=0.2)
    p = n.op("QLinearSigmoid", p, *kind(0.05, -10), *kind(1 / 256, -128), domain=at)
    p = n.conv(p, (12, 16, 1, 1), kind(1 / 256, -128), kind(0.01, 5), bias=False)
    p = n.op("QLinearAveragePool", p, *kind(0.01, 5), *kind(0.01, 5), domain=at, kernel_shape=[2, 2],
             strides=[2, 2])
    n.save("images", "x", [1, 3, 24, 20], p)


def products():
    n = Net()
    w = RNG.integers(-60, 61, (6, 2, 3, 3)).astype("i1")
    y = n.op("ConvInteger", "x", w, np.int8(4))
    y = n.op("Add", y, RNG.integers(-500, 500, (1, 6, 1, 1)).astype("i4"))
    y = n.op("Mul", n.op("Cast", y, to=TensorProto.FLOAT), RNG.uniform(1e-4, 2e-4, (6, 1, 1)).astype("f4"))
    y = n.op("QuantizeLinear", n.op("Relu", y), np.float32(0.02), np.int8(-128))
    y = n.op("Reshape", y, np.array([6, 16]))
    w = RNG.integers(-60, 61, (16, 10)).astype("i1")
    y = n.op("QLinearMatMul", y, *kind(0.02, -128), w, RNG.uniform(0.003, 0.006, 10).astype("f4"),
             np.zeros(10, "i1"), *kind(0.04, 7))
    w = RNG.integers(-60, 61, (10, 5)).astype("i1")
    y = n.op("MatMulInteger", y, w, np.int8(7))
    y = n.op("Mul", n.op("Cast", y, to=TensorProto.FLOAT), np.float32(0.006))
    y = n.op("QuantizeLinear", y, np.float32(0.1), np.int8(1))
    n.save("products", "x", [1, 2, 6, 6], y)


images()
products()
