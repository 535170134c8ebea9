"""Models of the classes of layers that networks are made of, one function each.

A case is a name and a function that returns an onnx model with weights from a seed. Sizes are those of published
networks, so that a kernel which is fast for round numbers only does not look good.
"""

import numpy as np
import onnx
from onnx import helper, numpy_helper


class Graph:
    """An onnx graph under construction; x is its first input."""

    def __init__(self, shape, dtype=np.float32, seed=1):
        self.random = np.random.default_rng(seed)
        self.dtype = np.dtype(dtype)
        self.nodes, self.weights, self.inputs = [], [], []
        self.input("x", shape)

    def input(self, name, shape):
        code = helper.np_dtype_to_tensor_dtype(self.dtype)
        self.inputs.append(helper.make_tensor_value_info(name, code, list(shape)))
        return name

    def weight(self, *shape, scale=None):
        """Normal values; of the input's type if that is a float."""
        scale = scale or 1.0 / np.sqrt(max(1, np.prod(shape[1:])))
        dtype = self.dtype if self.dtype.kind == "f" else np.float32
        return self.constant((self.random.standard_normal(shape) * scale).astype(dtype))

    def constant(self, values):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def op(self, kind, *inputs, domain="", **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], domain=domain, **attributes))
        return name

    def model(self, *results):
        outputs = [onnx.ValueInfoProto(name=name) for name in results]
        graph = helper.make_graph(self.nodes, "bench", self.inputs, outputs, self.weights)
        opset = [helper.make_opsetid("", 18), helper.make_opsetid("com.microsoft", 1)]
        return onnx.shape_inference.infer_shapes(helper.make_model(graph, opset_imports=opset, ir_version=10))


def conv(shape, filters, kernel, dtype=np.float32, layers=1, **attributes):
    """Layers of one convolution and a Relu each."""
    def build():
        g = Graph(shape, dtype)
        y, channels = "x", shape[1]
        for _ in range(layers):
            group = attributes.get("group", 1)
            w = g.weight(filters, channels // group, *kernel)
            y = g.op("Relu", g.op("Conv", y, w, g.weight(filters), kernel_shape=kernel, **attributes))
            channels = filters
        return g.model(y)
    return build


def conv_transpose(shape, filters, kernel, dtype=np.float32, **attributes):
    def build():
        g = Graph(shape, dtype)
        w = g.weight(shape[1], filters // attributes.get("group", 1), *kernel)
        return g.model(g.op("ConvTranspose", "x", w, g.weight(filters), kernel_shape=kernel, **attributes))
    return build


def pool(kind, shape, **attributes):
    def build():
        g = Graph(shape)
        return g.model(g.op(kind, "x", **attributes))
    return build


def product(shape, columns, dtype=np.float32):
    def build():
        g = Graph(shape, dtype)
        return g.model(g.op("MatMul", "x", g.weight(shape[-1], columns)))
    return build


def attention(batch, length, width, heads):
    """Self-attention with its projections."""
    def build():
        g = Graph((batch, length, width))
        size = width // heads
        def project():
            y = g.op("Add", g.op("MatMul", "x", g.weight(width, width)), g.weight(width))
            y = g.op("Reshape", y, g.constant(np.int64([batch, length, heads, size])))
            return g.op("Transpose", y, perm=[0, 2, 1, 3])
        q, k, v = project(), project(), project()
        scores = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = g.op("Mul", scores, g.constant(np.float32(size ** -0.5)))
        y = g.op("MatMul", g.op("Softmax", scores, axis=-1), v)
        y = g.op("Reshape", g.op("Transpose", y, perm=[0, 2, 1, 3]), g.constant(np.int64([batch, length, width])))
        return g.model(g.op("MatMul", y, g.weight(width, width)))
    return build


def unary(kind, shape, **attributes):
    def build():
        g = Graph(shape)
        return g.model(g.op(kind, "x", **attributes))
    return build


def layer_norm(shape):
    def build():
        g = Graph(shape)
        return g.model(g.op("LayerNormalization", "x", g.weight(shape[-1]), g.weight(shape[-1])))
    return build


def resize(shape, mode, scales):
    def build():
        g = Graph(shape)
        return g.model(g.op("Resize", "x", "", g.constant(np.float32(scales)), mode=mode))
    return build


def unet(shape, width, levels):
    """A U-Net: pairs of convolutions, pools on the way down, transposed convolutions and concatenations up."""
    def build():
        g = Graph(shape)
        def pair(y, channels, filters):
            for inputs in (channels, filters):
                w = g.weight(filters, inputs, 3, 3)
                y = g.op("Relu", g.op("Conv", y, w, g.weight(filters), kernel_shape=[3, 3], pads=[1] * 4))
            return y
        y, channels, skips = "x", shape[1], []
        for level in range(levels):
            filters = width << level
            y = pair(y, channels, filters)
            skips.append((y, filters))
            y, channels = g.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), filters
        y = pair(y, channels, channels * 2)
        channels *= 2
        for skip, filters in reversed(skips):
            w = g.weight(channels, filters, 2, 2)
            y = g.op("ConvTranspose", y, w, g.weight(filters), kernel_shape=[2, 2], strides=[2, 2])
            y = pair(g.op("Concat", y, skip, axis=1), 2 * filters, filters)
            channels = filters
        return g.model(g.op("Conv", y, g.weight(2, channels, 1, 1), kernel_shape=[1, 1]))
    return build


def wavenet(length, channels, layers):
    """Dilated 1-d convolutions with gates and residual sums."""
    def build():
        g = Graph((1, channels, length))
        y, total = "x", None
        for layer in range(layers):
            dilation = 1 << (layer % 8)
            def branch(kind):
                w = g.weight(channels, channels, 3)
                z = g.op("Conv", y, w, g.weight(channels), kernel_shape=[3], dilations=[dilation],
                         pads=[dilation, dilation])
                return g.op(kind, z)
            z = g.op("Mul", branch("Tanh"), branch("Sigmoid"))
            skip = g.op("Conv", z, g.weight(channels, channels, 1), kernel_shape=[1])
            total = skip if total is None else g.op("Add", total, skip)
            y = g.op("Add", y, skip)
        return g.model(total)
    return build


def vocoder(length, width):
    """Transposed 1-d convolutions with residual blocks, as in HiFi-GAN."""
    def build():
        g, channels = Graph((1, 80, length)), width
        y = g.op("Conv", "x", g.weight(channels, 80, 7), g.weight(channels), kernel_shape=[7], pads=[3, 3])
        for stride, kernel in ((8, 16), (8, 16), (2, 4)):
            y = g.op("LeakyRelu", y, alpha=0.1)
            pad = (kernel - stride) // 2
            w = g.weight(channels, channels // 2, kernel)
            channels //= 2
            y = g.op("ConvTranspose", y, w, g.weight(channels), kernel_shape=[kernel], strides=[stride], pads=[pad, pad])
            for dilation in (1, 3, 5):
                z = g.op("LeakyRelu", y, alpha=0.1)
                w = g.weight(channels, channels, 3)
                z = g.op("Conv", z, w, g.weight(channels), kernel_shape=[3], dilations=[dilation], pads=[dilation] * 2)
                y = g.op("Add", y, z)
        return g.model(g.op("Tanh", g.op("Conv", y, g.weight(1, channels, 7), kernel_shape=[7], pads=[3, 3])))
    return build


def video(shape, width):
    """A small 3-d CNN."""
    def build():
        g = Graph(shape)
        y, channels = "x", shape[1]
        for filters in (width, 2 * width, 4 * width):
            w = g.weight(filters, channels, 3, 3, 3)
            y = g.op("Relu", g.op("Conv", y, w, g.weight(filters), kernel_shape=[3] * 3, pads=[1] * 6))
            y = g.op("MaxPool", y, kernel_shape=[2] * 3, strides=[2] * 3)
            channels = filters
        y = g.op("Flatten", g.op("GlobalAveragePool", y))
        return g.model(g.op("MatMul", y, g.weight(channels, 10)))
    return build


def half_cnn(size, widths):
    """A CNN of 16-bit floats with residual sums."""
    def build():
        g = Graph((1, 3, size, size), HALF)
        y, channels = "x", 3
        for filters in widths:
            def layer(x, inputs):
                w = g.weight(filters, inputs, 3, 3)
                return g.op("Conv", x, w, g.weight(filters), kernel_shape=[3, 3], pads=[1] * 4)
            y = g.op("Relu", layer(y, channels))
            y = g.op("Relu", g.op("Add", y, layer(y, filters)))
            y, channels = g.op("MaxPool", y, kernel_shape=[2, 2], strides=[2, 2]), filters
        return g.model(g.op("GlobalAveragePool", y))
    return build


HALF = np.float16

CASES = {
    "conv-1d": conv((1, 64, 4000), 64, [9], pads=[4, 4]),
    "conv-1d-strided": conv((1, 512, 3199), 512, [3], strides=[2]),
    "conv-1d-grouped": conv((1, 768, 99), 768, [128], pads=[64, 64], group=16),
    "conv-1d-depthwise": conv((1, 256, 1000), 256, [31], pads=[15, 15], group=256),
    "conv-1d-wide": conv((1, 1, 16000), 32, [448], pads=[224, 223]),
    "conv-2d": conv((1, 64, 56, 56), 64, [3, 3], pads=[1] * 4),
    "conv-2d-depthwise-31": conv((1, 128, 28, 28), 128, [31, 31], pads=[15] * 4, group=128),
    "conv-3d": conv((1, 32, 16, 28, 28), 32, [3] * 3, pads=[1] * 6),
    "conv-3d-depthwise": conv((1, 64, 16, 28, 28), 64, [3] * 3, pads=[1] * 6, group=64),
    "conv-f16": conv((1, 64, 56, 56), 64, [3, 3], HALF, pads=[1] * 4),
    "conv-transpose-1d": conv_transpose((1, 256, 200), 128, [16], strides=[8], pads=[4, 4]),
    "conv-transpose-2d": conv_transpose((1, 128, 28, 28), 64, [2, 2], strides=[2, 2]),
    "conv-transpose-2d-overlap": conv_transpose((1, 128, 16, 16), 64, [4, 4], strides=[2, 2], pads=[1] * 4),
    "conv-transpose-2d-depthwise": conv_transpose((1, 32, 32, 32), 32, [4, 4], strides=[2, 2], pads=[1] * 4, group=32),
    "conv-transpose-3d": conv_transpose((1, 64, 8, 14, 14), 32, [2] * 3, strides=[2] * 3),
    "max-pool-2d": pool("MaxPool", (1, 64, 112, 112), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4),
    "average-pool-3d": pool("AveragePool", (1, 64, 16, 28, 28), kernel_shape=[2] * 3, strides=[2] * 3),
    "product": product((1, 197, 768), 3072),
    "cnn-f16": half_cnn(64, (32, 64, 64, 128)),
    "product-f16": product((1, 197, 768), 768, HALF),
    "attention": attention(1, 197, 384, 6),
    "attention-long": attention(1, 1024, 256, 4),
    "softmax": unary("Softmax", (12, 197, 197), axis=-1),
    "erf": unary("Erf", (1, 197, 3072)),
    "layer-norm": layer_norm((8, 197, 384)),
    "transpose": unary("Transpose", (64, 197, 384), perm=[0, 2, 1]),
    "reduce-sum": unary("ReduceSum", (64, 197, 384), keepdims=0),
    "resize-linear": resize((1, 64, 56, 56), "linear", [1, 1, 2, 2]),
    "unet": unet((1, 1, 128, 128), 16, 3),
    "wavenet": wavenet(4000, 32, 16),
    "vocoder": vocoder(32, 128),
    "video": video((1, 3, 16, 56, 56), 16),
}
