"""Small TensorFlow Lite models: `make` writes NAME.tflite, inputs, and what LiteRT computes; `check` compares
NAME.out.npz with that; `bad` writes damaged and unsupported ones."""

import sys
from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as s
from ai_edge_litert.interpreter import Interpreter, OpResolverType

TYPES = {"float32": 0, "int32": 2, "uint8": 3, "bool": 6, "int8": 9, "float16": 1}
CODE = {k: v for k, v in vars(s.BuiltinOperator).items() if not k.startswith("_")}
OPTIONS = {k: v for k, v in vars(s.BuiltinOptions).items() if not k.startswith("_")}


class Net:
    def __init__(self):
        self.model, self.graph = s.ModelT(), s.SubGraphT()
        self.model.version, self.model.buffers = 3, [s.BufferT()]
        self.model.operatorCodes, self.model.subgraphs = [], [self.graph]
        self.graph.tensors, self.graph.operators = [], []

    def tensor(self, shape, dtype="float32", data=None, scale=None, zero=0, axis=0, name=None):
        t = s.TensorT()
        t.shape, t.type, t.buffer = list(shape), TYPES[str(dtype)], 0
        t.name = name or f"t{len(self.graph.tensors)}"
        if data is not None:
            buffer = s.BufferT()
            buffer.data = np.frombuffer(np.ascontiguousarray(data).tobytes(), np.uint8)
            t.buffer = len(self.model.buffers)
            self.model.buffers.append(buffer)
        if scale is not None:
            q = s.QuantizationParametersT()
            q.scale = list(np.atleast_1d(scale).astype(float))
            q.zeroPoint = list(np.broadcast_to(np.atleast_1d(zero), (len(q.scale),)).astype(int))
            q.quantizedDimension = axis
            t.quantization = q
        self.graph.tensors.append(t)
        return len(self.graph.tensors) - 1

    def const(self, array, **more):
        array = np.asarray(array)
        return self.tensor(array.shape, array.dtype, array, **more)

    def op(self, name, inputs, outputs, options=None, **fields):
        code = s.OperatorCodeT()
        code.builtinCode, code.version = CODE.get(name, 0), 1
        code.deprecatedBuiltinCode = min(code.builtinCode, 127)
        self.model.operatorCodes.append(code)
        op = s.OperatorT()
        op.opcodeIndex = len(self.model.operatorCodes) - 1
        op.inputs, op.outputs = inputs, outputs
        if options:
            table = getattr(s, options + "T")()
            for key, value in fields.items():
                assert hasattr(table, key), key
                setattr(table, key, value)
            op.builtinOptionsType, op.builtinOptions = OPTIONS[options], table
        self.graph.operators.append(op)
        return outputs[0]

    def save(self, path, inputs, outputs):
        self.graph.inputs, self.graph.outputs = inputs, outputs
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        Path(path).write_bytes(bytes(builder.Output()))


RNG = np.random.default_rng(7)


def weights(*shape):
    return RNG.standard_normal(shape).astype(np.float32) * np.float32(0.3)


def floats():
    """Every kind of float layer, with padding of both kinds, on an image whose sizes are odd."""
    n = Net()
    x = n.tensor([1, 11, 9, 4], name="image")
    y = n.op("CONV_2D", [x, n.const(weights(6, 3, 3, 4)), n.const(weights(6))],
             [n.tensor([1, 6, 5, 6])], "Conv2DOptions", padding=0, strideW=2, strideH=2,
             fusedActivationFunction=1)
    d = n.op("DEPTHWISE_CONV_2D", [y, n.const(weights(1, 3, 3, 12)), n.const(weights(12))],
             [n.tensor([1, 6, 5, 12])], "DepthwiseConv2DOptions", padding=0, strideW=1, strideH=1,
             depthMultiplier=2, fusedActivationFunction=3)
    p = n.op("MAX_POOL_2D", [d], [n.tensor([1, 3, 3, 12])], "Pool2DOptions", padding=0, strideW=2,
             strideH=2, filterWidth=2, filterHeight=2)
    a = n.op("AVERAGE_POOL_2D", [p], [n.tensor([1, 3, 3, 12])], "Pool2DOptions", padding=0,
             strideW=1, strideH=1, filterWidth=3, filterHeight=3)
    c = n.op("CONCATENATION", [p, a], [n.tensor([1, 3, 3, 24])], "ConcatenationOptions", axis=-1)
    c = n.op("MUL", [c, n.const(weights(24))], [n.tensor([1, 3, 3, 24])], "MulOptions")
    u = n.op("RESIZE_BILINEAR", [c, n.const(np.array([6, 5], np.int32))],
             [n.tensor([1, 6, 5, 24])], "ResizeBilinearOptions", halfPixelCenters=True)
    u = n.op("PAD", [u, n.const(np.array([[0, 0], [1, 0], [0, 2], [0, 0]], np.int32))],
             [n.tensor([1, 7, 7, 24])])
    t = n.op("TRANSPOSE_CONV", [n.const(np.array([1, 14, 14, 3], np.int32)),
                                n.const(weights(3, 3, 3, 24)), u],
             [n.tensor([1, 14, 14, 3])], "TransposeConvOptions", padding=0, strideW=2, strideH=2)
    t = n.op("STRIDED_SLICE", [t, n.const(np.array([0, 1, -1, 0], np.int32)),
                               n.const(np.array([0, 13, 2, 2], np.int32)),
                               n.const(np.array([1, 2, -3, 1], np.int32))],
             [n.tensor([1, 6, 4, 2])], "StridedSliceOptions", beginMask=1, endMask=1)
    f = n.op("RESHAPE", [t, n.const(np.array([1, -1], np.int32))], [n.tensor([1, 48])])
    f = n.op("FULLY_CONNECTED", [f, n.const(weights(8, 48)), n.const(weights(8))],
             [n.tensor([1, 8])], "FullyConnectedOptions")
    out = n.op("SOFTMAX", [f], [n.tensor([1, 8], name="classes")], "SoftmaxOptions", beta=1.0)
    m = n.op("MEAN", [c, n.const(np.array([1, 2], np.int32))], [n.tensor([1, 24], name="means")],
             "ReducerOptions", keepDims=False)
    return n, [x], [out, m]


def blocks():
    """Dilation by blocks, and what moves dimensions."""
    n = Net()
    x = n.tensor([2, 6, 4, 3], name="image")
    sizes, edges = n.const(np.array([2, 2], np.int32)), n.const(np.array([[1, 1], [0, 2]], np.int32))
    b = n.op("SPACE_TO_BATCH_ND", [x, sizes, edges], [n.tensor([8, 4, 3, 3])])
    b = n.op("TANH", [b], [n.tensor([8, 4, 3, 3])])
    y = n.op("BATCH_TO_SPACE_ND", [b, sizes, edges], [n.tensor([2, 6, 4, 3])])
    y = n.op("ATAN2", [y, x], [n.tensor([2, 6, 4, 3])])
    y = n.op("TRANSPOSE", [y, n.const(np.array([3, 1, 0, 2], np.int32))], [n.tensor([3, 6, 2, 4])])
    pieces = [n.tensor([1, 6, 2, 4]) for _ in range(3)]
    n.op("SPLIT", [n.const(np.array(0, np.int32)), y], pieces, "SplitOptions", numSplits=3)
    z = n.op("SQUARED_DIFFERENCE", [pieces[0], pieces[2]], [n.tensor([1, 6, 2, 4])])
    z = n.op("SUM", [z, n.const(np.array([-1], np.int32))], [n.tensor([1, 6, 2], name="sums")],
             "ReducerOptions", keepDims=False)
    return n, [x], [z]


def integers():
    """A quantized network: a scale for each channel, a residual sum, a pool, a product, softmax."""
    n = Net()
    q8 = lambda shape, scale, zero, **more: n.tensor(shape, "int8", scale=scale, zero=zero, **more)

    def layer(name, x, sx, w, shape, scale, zero, axis, options, **fields):
        scales = np.abs(w).max(tuple(d for d in range(w.ndim) if d != axis)) / 127
        dims = [-1 if d == axis else 1 for d in range(w.ndim)]
        stored = np.round(w / scales.reshape(dims)).astype(np.int8)
        bias = RNG.integers(-500, 500, len(scales)).astype(np.int32)
        return n.op(name, [x, n.const(stored, scale=scales, axis=axis),
                           n.const(bias, scale=scales * sx, axis=0)],
                    [q8(shape, scale, zero)], options, **fields)

    window = {"padding": 0, "strideW": 1, "strideH": 1}
    x = q8([1, 8, 8, 3], 0.02, -3, name="image")
    a = layer("CONV_2D", x, 0.02, weights(8, 3, 3, 3), [1, 8, 8, 8], 0.03, -128, 0,
              "Conv2DOptions", fusedActivationFunction=1, **window)
    b = layer("DEPTHWISE_CONV_2D", a, 0.03, weights(1, 3, 3, 8), [1, 8, 8, 8], 0.025, 4, 3,
              "DepthwiseConv2DOptions", depthMultiplier=1, **window)
    c = n.op("ADD", [a, b], [q8([1, 8, 8, 8], 0.04, -7)], "AddOptions", fusedActivationFunction=0)
    p = n.op("AVERAGE_POOL_2D", [c], [q8([1, 1, 1, 8], 0.04, -7)], "Pool2DOptions", padding=1,
             strideW=8, strideH=8, filterWidth=8, filterHeight=8)
    f = n.op("RESHAPE", [p, n.const(np.array([-1, 8], np.int32))], [q8([1, 8], 0.04, -7)])
    w = weights(5, 8)
    scale = float(np.abs(w).max() / 127)
    f = n.op("FULLY_CONNECTED", [f, n.const(np.round(w / scale).astype(np.int8), scale=scale),
                                 n.const(np.arange(5, dtype=np.int32), scale=scale * 0.04)],
             [q8([1, 5], 0.01, 2)], "FullyConnectedOptions")
    out = n.op("SOFTMAX", [f], [q8([1, 5], 1 / 256, -128, name="classes")], "SoftmaxOptions", beta=1.0)
    return n, [x], [out]


def fused():
    """Quantized layers with activations of their own, an image that two of them read, and a product of an image."""
    n = Net()
    q8 = lambda shape, scale, zero, **more: n.tensor(shape, "int8", scale=scale, zero=zero, **more)
    whole = lambda shape: RNG.integers(-60, 61, shape).astype(np.int8)
    biases = lambda count, scale: n.const(RNG.integers(-900, 900, count).astype(np.int32), scale=scale)
    x = q8([1, 6, 6, 4], 0.02, -3, name="image")
    a = n.op("CONV_2D", [x, n.const(whole((4, 3, 3, 4)), scale=0.01), biases(4, 0.02 * 0.01)],
             [q8([1, 6, 6, 4], 6 / 255, -128)], "Conv2DOptions", padding=0, strideW=1, strideH=1,
             fusedActivationFunction=3)
    b = n.op("CONV_2D", [a, n.const(whole((4, 1, 1, 4)), scale=0.01), biases(4, 6 / 255 * 0.01)],
             [q8([1, 6, 6, 4], 0.05, 4)], "Conv2DOptions", padding=0, strideW=1, strideH=1)
    c = n.op("ADD", [a, b], [q8([1, 6, 6, 4], 0.05, -100)], "AddOptions", fusedActivationFunction=1)
    out = n.op("FULLY_CONNECTED", [c, n.const(whole((5, 144)), scale=0.002), biases(5, 0.05 * 0.002)],
               [q8([1, 5], 0.1, 2, name="scores")], "FullyConnectedOptions", fusedActivationFunction=0)
    return n, [x], [out]


NETS = {"floats": floats, "blocks": blocks, "integers": integers, "fused": fused}


def make():
    for name, build in NETS.items():
        net, inputs, outputs = build()
        net.save(f"{name}.tflite", inputs, outputs)
        run = Interpreter(f"{name}.tflite",
                          experimental_op_resolver_type=OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES)
        run.allocate_tensors()
        feeds = {}
        for port in run.get_input_details():
            x = RNG.standard_normal(port["shape"])
            x = x.astype(np.float32) if port["dtype"] == np.float32 else (x * 50).clip(-128, 127).astype(np.int8)
            feeds[port["name"]] = x
            run.set_tensor(port["index"], x)
        run.invoke()
        np.savez(f"{name}.npz", **feeds)
        np.savez(f"{name}.want.npz", **{p["name"]: run.get_tensor(p["index"]) for p in run.get_output_details()})


def check():
    for name in NETS:
        want, got = np.load(f"{name}.want.npz"), np.load(f"{name}.out.npz")
        for key in want:
            assert got[key].shape == want[key].shape and got[key].dtype == want[key].dtype, (name, key)
            # One step of a quantized result: LiteRT scales sums in fixed point, ONNX's way is in floats.
            limit = 1 if want[key].dtype == np.int8 else 1e-4
            worst = np.abs(got[key].astype(float) - want[key].astype(float)).max()
            assert worst <= limit and np.ptp(want[key].astype(float)) > 10 * limit, (name, key, worst)


def bad():
    net, inputs, outputs = integers()
    net.save("good.tflite", inputs, outputs)
    data = Path("good.tflite").read_bytes()
    # As old converters have it, which LiteRT no longer takes: biases with the dimension of the filters.
    for tensor in net.graph.tensors:
        if len(tensor.shape) == 1 and tensor.quantization:
            tensor.quantization.quantizedDimension = 3
    net.save("old.tflite", inputs, outputs)
    Path("short.tflite").write_bytes(data[: len(data) // 2])
    Path("other.tflite").write_bytes(b"\x08\x00\x00\x00ONNXmodel")
    n = Net()
    x = n.tensor([1, 4, 4, 2], name="x")
    y = n.op("SVDF", [x], [n.tensor([1, 4], name="filtered")])
    n.op("RFFT2D", [y], [n.tensor([1, 4], name="spectrum")])
    n.save("unknown.tflite", [x], [2])
    n = Net()
    x = n.tensor([1, 4, 4, 2], name="x")
    y = n.op("CONV_2D", [x, n.const(weights(3, 3, 3, 5))], [n.tensor([1, 4, 4, 3], name="y")],
             "Conv2DOptions", strideW=1, strideH=1)
    n.save("channels.tflite", [x], [y])
    n = Net()
    x = n.tensor([8, 4, 4, 2], name="x")
    sizes, edges = n.const(np.array([2**30] * 2, np.int32)), n.const(np.zeros((2, 2), np.int32))
    y = n.op("BATCH_TO_SPACE_ND", [x, sizes, edges], [n.tensor([1, 8, 8, 2], name="y")])
    n.save("blocks_bad.tflite", [x], [y])
    n = Net()
    x = n.tensor([1, 4], name="x")
    y = n.op("RELU", [n.tensor([1, 4], name="state")], [n.tensor([1, 4], name="y")])
    n.save("nowhere.tflite", [x], [y])


if __name__ == "__main__":
    {"make": make, "check": check, "bad": bad}[sys.argv[1]]()
