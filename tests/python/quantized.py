"""int8 networks: those of models.py quantized by onnxruntime, and one written by hand."""

import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import (CalibrationDataReader, QuantFormat, QuantType,
                                      quantize_static)

import models
import tiny
from net import Net


class _Random(CalibrationDataReader):
    """A few standard normal inputs."""

    def __init__(self, model, count=4):
        value = model.graph.input[0]
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        rng = np.random.default_rng(count)
        self.feeds = iter([{value.name: rng.standard_normal(shape).astype("f4")}
                           for _ in range(count)])

    def get_next(self):
        return next(self.feeds, None)


def _quantize(model, form=QuantFormat.QDQ, **options):
    # Scales per channel came with opset 13; what these models use is the same in both.
    model.opset_import[0].version = max(model.opset_import[0].version, 13)
    calibration = _Random(model, 2)
    logging.disable(logging.WARNING)  # Advice on optimising the model before.
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.onnx"
        quantize_static(model, str(path), calibration, quant_format=form, per_channel=True,
                        activation_type=QuantType.QInt8, weight_type=QuantType.QInt8, **options)
        model = onnx.load(path)
    logging.disable(logging.NOTSET)
    return model


class _QdqNet(Net):
    """A network whose every value is quantized and dequantized."""

    def node(self, x, scale, zero_point, dtype=np.int8):
        """Puts a pair of QuantizeLinear and DequantizeLinear behind a value."""
        parameters = [self.const(np.float32(scale)), self.const(dtype(zero_point))]
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, *parameters), *parameters)

    def qweight(self, shape, scales, zero_axis=0):
        """An int8 constant with a scale each along an axis, or one for all."""
        q = self.const(self.rng.integers(-127, 128, shape).astype("i1"))
        scales = np.asarray(scales, "f4")
        zeros = self.const(np.zeros(scales.shape, "i1"))
        return self.op("DequantizeLinear", q, self.const(scales), zeros, axis=zero_axis)

    def qbias(self, size, scale):
        q = self.const(self.rng.integers(-3000, 3000, size).astype("i4"))
        scales = np.broadcast_to(np.asarray(scale, "f4"), size)
        return self.op("DequantizeLinear", q, self.const(scales),
                       self.const(np.zeros(size, "i4")), axis=0)


def every_layer(name):
    """Each kind of layer that int8 libraries have, activations spelled out."""
    n = _QdqNet(name)
    x = n.node(n.input("input", [1, 3, 12, 12]), 0.03, 5)
    w = n.rng.uniform(0.002, 0.005, 8).astype("f4")
    y = n.op("Conv", x, n.qweight((8, 3, 3, 3), w), n.qbias(8, 0.03 * w), pads=[1, 0, 1, 2],
             strides=[2, 1])
    y = n.node(n.op("Clip", y, n.const(np.float32(0)), n.const(np.float32(6))), 0.02, -128)
    w = n.rng.uniform(0.003, 0.006, 8).astype("f4")
    z = n.op("Conv", y, n.qweight((8, 1, 3, 3), w), n.qbias(8, 0.02 * w), pads=[1, 1, 1, 1],
             group=8)
    z = n.node(n.op("Relu", z), 0.015, -128)
    s = n.node(n.op("Relu", n.op("Add", y, z)), 0.03, -120)
    m = n.node(n.op("Mul", s, y), 0.05, -100)
    # One scale for all channels, no bias, dilated, and two output channels for each of input.
    d = n.op("Conv", m, n.qweight((16, 1, 3, 3), np.float32(0.004)), group=8, dilations=[1, 2],
             pads=[1, 2, 1, 2])
    d = n.node(d, 0.04, 3)
    p = n.node(n.op("MaxPool", d, kernel_shape=[2, 3], strides=[1, 2], pads=[0, 1, 0, 0]), 0.04, 3)
    p = n.node(n.op("AveragePool", p, kernel_shape=[2, 2], strides=[1, 1], pads=[1, 0, 0, 1]),
               0.04, 3)
    g = n.node(n.op("GlobalAveragePool", p), 0.04, 3)
    f = n.op("Flatten", g)
    w = n.rng.uniform(0.004, 0.008, 20).astype("f4")
    f = n.op("Gemm", n.node(f, 0.04, 3), n.qweight((20, 16), w), n.qbias(20, 0.04 * w), transB=1)
    f = n.node(n.op("Relu", f), 0.05, -128)
    t = n.node(n.op("MatMul", f, n.qweight((20, 10), np.float32(0.0005))), 0.02, 7)
    n.output(n.node(n.op("Softmax", t, axis=-1), 1 / 256, -128))
    return n.build()


def wide_layers(name):
    """Each kind of layer in int16, whose zero points are 0, with int8 weights."""
    n = _QdqNet(name, opset=21)

    def node(x, scale):
        return n.node(x, scale, 0, np.int16)

    x = node(n.input("input", [1, 6, 12, 10]), 0.0002)
    p = node(n.op("MaxPool", x, kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 0, 1]), 0.0002)
    q = node(n.op("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2]), 0.0002)
    s = node(n.op("Relu", n.op("Add", p, q)), 0.0003)
    m = node(n.op("Clip", n.op("Mul", s, q), n.const(np.float32(-1)), n.const(np.float32(2))),
             0.0001)
    w = n.rng.uniform(0.002, 0.005, 8).astype("f4")
    c = n.op("Conv", m, n.qweight((8, 6, 3, 3), w), n.qbias(8, 0.0001 * w), pads=[1, 0, 1, 2])
    c = node(n.op("Relu", c), 0.0002)
    d = n.op("Conv", c, n.qweight((8, 1, 3, 3), np.float32(0.003)),
             n.qbias(8, 0.0002 * np.float32(0.003)), group=8, pads=[1, 1, 1, 1])
    g = node(n.op("GlobalAveragePool", node(d, 0.0001)), 0.0001)
    f = n.op("Flatten", g)
    f = n.op("Gemm", node(f, 0.0001), n.qweight((12, 8), np.float32(0.004)),
             n.qbias(12, 0.0001 * np.float32(0.004)), transB=1)
    w = n.rng.uniform(0.004, 0.008, 10).astype("f4")
    f = n.op("MatMul", node(f, 0.0001), n.qweight((12, 10), w, zero_axis=1))
    n.output(node(n.op("Softmax", node(f, 0.0001), axis=-1), 2.0**-15))
    return n.build()


def _residual(name):
    """A float network with what onnxruntime has integer operators of its own for."""
    n = Net(name)
    x = n.input("input", [1, 3, 10, 10])
    a = n.op("LeakyRelu", n.conv(x, 3, 8, 3, stride=2), alpha=0.2)
    b = n.op("Sigmoid", n.conv(a, 8, 8, 3))
    y = n.op("Concat", n.op("Add", a, b), n.op("Mul", a, b), axis=1)
    y = n.op("GlobalAveragePool", n.conv(y, 16, 12))
    n.output(n.op("Softmax", n.op("Flatten", y), axis=-1))
    return n.build()


def _with_probabilities(name):
    """A quantized network with a layer of floats at its end, as exporters leave it."""
    def build(_):
        model = _network(name)(name)
        logits = model.graph.output.pop()
        model.graph.node.append(
            onnx.helper.make_node("Softmax", [logits.name], ["probabilities"], axis=-1))
        result = onnx.helper.make_tensor_value_info("probabilities", onnx.TensorProto.FLOAT, None)
        result.type.CopyFrom(logits.type)
        model.graph.output.append(result)
        return model
    return build


def _network(name, **options):
    make = models.MODELS.get(name) or tiny.MODELS[name]
    return lambda _: _quantize(make(name), **options)


# 7-bit weights: kernels for machines without dot products saturate sums of two products.
_OPERATORS = {"form": QuantFormat.QOperator, "reduce_range": True}

MODELS = {
    "every_layer": every_layer,
    "wide_layers": wide_layers,
    "lenet": _network("lenet"),
    "ds_cnn": _network("ds_cnn", extra_options={"QDQKeepRemovableActivations": True}),
    "mobilenet_v2": _network("mobilenet_v2"),
    **{name: _network(name) for name in tiny.MODELS},
    "lenet_softmax": _with_probabilities("lenet"),
    "mobilenet_v2_softmax": _with_probabilities("mobilenet_v2"),
    "ds_cnn_qlinear": _network("ds_cnn", **_OPERATORS),
    "residual_qlinear": lambda name: _quantize(_residual(name), **_OPERATORS),
}


def steps(name):
    """Number of steps of the output's scale that are right: one-off roundings of many layers add up."""
    return 5 if name.startswith("mobilenet_v2") else 2


def tolerance(name, model):
    """Tolerance for `phaseline verify`, and the output's scale. If all logits are off by at most d, a probability is
    off by a factor of at most e^2d."""
    step = output_scale(model)
    error = (steps(name) + 0.01) * step
    if name.endswith("_softmax"):
        return {"rtol": float(np.expm1(2 * error)), "atol": 1e-6, "step": step}
    return {"rtol": 0, "atol": error, "step": step}


def output_scale(model):
    """The scale of the last DequantizeLinear before the output: the size of one step."""
    constants = {w.name: onnx.numpy_helper.to_array(w) for w in model.graph.initializer}
    last = {name: node for node in model.graph.node for name in node.output}
    node = last[model.graph.output[0].name]
    if node.op_type == "Softmax":
        node = last[node.input[0]]
    assert node.op_type == "DequantizeLinear", node.op_type
    return float(constants[node.input[1]])
