"""A small builder of ONNX networks with seeded weights, for the tests."""

import zlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Net:
    """Collects nodes; each method that adds one returns the name of its output."""

    def __init__(self, name, opset=17):
        self.name, self.opset = name, opset
        self.rng = np.random.default_rng(zlib.crc32(name.encode()))
        self.nodes, self.weights, self.inputs, self.outputs = [], [], [], []

    def input(self, name, shape, dtype=TensorProto.FLOAT):
        self.inputs.append(helper.make_tensor_value_info(name, dtype, shape))
        return name

    def output(self, value, dtype=TensorProto.FLOAT):
        self.outputs.append(helper.make_tensor_value_info(value, dtype, None))

    def const(self, array):
        name = f"const_{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def weight(self, *shape, gain=1.0):
        """Normal weights scaled by fan-in, so that activations keep their range."""
        fan_in = int(np.prod(shape[1:])) if len(shape) > 1 else 100
        return self.const((self.rng.standard_normal(shape) * (gain / fan_in) ** 0.5).astype("f4"))

    def op(self, kind, *inputs, n_out=1, **attributes):
        names = [f"{kind.lower()}_{len(self.nodes)}_{i}" for i in range(n_out)]
        self.nodes.append(
            helper.make_node(kind, inputs, names, name=f"{kind}_{len(self.nodes)}", **attributes)
        )
        return names[0] if n_out == 1 else names

    def conv(self, x, cin, cout, k=1, stride=1, pad=None, group=1, bias=True, gain=2.0):
        kh, kw = k if isinstance(k, tuple) else (k, k)
        pads = pad or [kh // 2, kw // 2, kh // 2, kw // 2]
        operands = [x, self.weight(cout, cin // group, kh, kw, gain=gain)]
        if bias:
            operands.append(self.weight(cout))
        return self.op("Conv", *operands, kernel_shape=[kh, kw], strides=[stride, stride],
                       pads=pads, group=group)

    def batch_norm(self, x, c, gamma=1.0):
        stats = [self.rng.uniform(0.8, 1.2, c) * gamma, self.rng.normal(0, 0.1, c),
                 self.rng.normal(0, 0.1, c), self.rng.uniform(0.8, 1.2, c)]
        return self.op("BatchNormalization", x, *[self.const(s.astype("f4")) for s in stats])

    def dense(self, x, cin, cout, gain=2.0):
        return self.op("Gemm", x, self.weight(cout, cin, gain=gain), self.weight(cout), transB=1)

    def linear(self, x, cin, cout):
        w = self.const((self.rng.standard_normal((cin, cout)) * cin**-0.5).astype("f4"))
        return self.op("Add", self.op("MatMul", x, w), self.weight(cout))

    def build(self):
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", self.opset)],
                                  ir_version=10 if self.opset > 20 else 8,
                                  producer_name="phaseline-tests")
        # Shapes of the outputs come from inference; the declared ones had none.
        inferred = onnx.shape_inference.infer_shapes(model, strict_mode=True, data_prop=True)
        onnx.checker.check_model(inferred)
        return inferred
