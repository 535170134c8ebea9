"""Whole networks in the manner of published ones, shortened, one function each.

They are what nobody tuned for: families of architecture, each with a few of its blocks at sizes that its authors use.
`NETWORKS` holds 32-bit floats, `INTEGERS` some of them as onnxruntime quantizes them.
"""

import logging
import tempfile
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_dynamic, quantize_static

from classes import Graph, unet

ints = np.int64


class Net(Graph):
    """A graph whose images know their channels: `self.channels` of a value."""

    def conv(self, x, inputs, filters, kernel=1, stride=1, group=1, dilation=1, act=None, rank=2):
        pad = dilation * (kernel - 1) // 2
        w = self.weight(filters, inputs // group, *[kernel] * rank, scale=(2 / (inputs // group * kernel**rank)) ** 0.5)
        y = self.op("Conv", x, w, self.weight(filters, scale=0.1), kernel_shape=[kernel] * rank,
                    strides=[stride] * rank, pads=[pad] * 2 * rank, dilations=[dilation] * rank, group=group)
        return self.act(y, act)

    def act(self, x, kind):
        if kind is None:
            return x
        if kind == "silu":
            return self.op("Mul", x, self.op("Sigmoid", x))
        if kind == "relu6":
            return self.op("Clip", x, self.constant(np.float32(0)), self.constant(np.float32(6)))
        if kind == "hswish":
            return self.op("HardSwish", x)
        if kind == "gelu":
            half = self.op("Mul", x, self.constant(np.float32(0.5)))
            erf = self.op("Erf", self.op("Div", x, self.constant(np.float32(2**0.5))))
            return self.op("Mul", half, self.op("Add", erf, self.constant(np.float32(1))))
        return self.op(kind, x)

    def linear(self, x, inputs, outputs):
        y = self.op("MatMul", x, self.weight(inputs, outputs, scale=inputs**-0.5))
        return self.op("Add", y, self.weight(outputs, scale=0.1))

    def norm(self, x, width):
        return self.op("LayerNormalization", x, self.weight(width, scale=1.0), self.weight(width, scale=0.1))

    def batch_norm(self, x, width):
        ones = [self.constant(self.random.uniform(0.8, 1.2, width).astype("f4")) for _ in range(2)]
        return self.op("BatchNormalization", x, ones[0], self.weight(width, scale=0.1), self.weight(width, scale=0.1), ones[1])

    def shape_of(self, x, *sizes):
        return self.op("Reshape", x, self.constant(ints(sizes)))

    def heads(self, x, batch, length, heads, size):
        return self.op("Transpose", self.shape_of(x, batch, length, heads, size), perm=[0, 2, 1, 3])

    def attention(self, x, batch, length, width, heads, bias=None):
        size = width // heads
        q, k, v = (self.heads(self.linear(x, width, width), batch, length, heads, size) for _ in range(3))
        scores = self.op("MatMul", q, self.op("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.op("Mul", scores, self.constant(np.float32(size**-0.5)))
        if bias is not None:
            scores = self.op("Add", scores, bias)
        y = self.op("MatMul", self.op("Softmax", scores, axis=-1), v)
        return self.linear(self.shape_of(self.op("Transpose", y, perm=[0, 2, 1, 3]), batch, length, width), width, width)

    def encoder(self, x, batch, length, width, heads, act="gelu", bias=None):
        x = self.op("Add", x, self.attention(self.norm(x, width), batch, length, width, heads, bias))
        y = self.act(self.linear(self.norm(x, width), width, 4 * width), act)
        return self.op("Add", x, self.linear(y, 4 * width, width))

    def squeeze(self, x, channels, reduced, act="Relu", gate="HardSigmoid"):
        y = self.op("GlobalAveragePool", x)
        y = self.conv(self.conv(y, channels, reduced, act=act), reduced, channels)
        return self.op("Mul", x, self.op(gate, y))

    def pooled(self, x, channels, classes):
        y = self.op("Flatten", self.op("GlobalAveragePool", x))
        return self.linear(y, channels, classes)


def resnet(blocks=(1, 1, 1, 1), width=64, size=112, group=1, act="Relu"):
    def build():
        g = Net((1, 3, size, size))
        y = g.op("MaxPool", g.conv("x", 3, width, 7, 2, act=act), kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
        channels = width
        for stage, count in enumerate(blocks):
            filters = width << stage
            for block in range(count):
                stride = 2 if stage and not block else 1
                z = g.conv(g.conv(y, channels, filters, 3, stride, act=act), filters, filters, 3, group=group)
                skip = y if channels == filters else g.conv(y, channels, filters, 1, stride)
                y, channels = g.act(g.op("Add", z, skip), act), filters
        return g.model(g.pooled(y, channels, 100))
    return build


def inverted(rows, size, act, squeeze=None, stem=16, gate="HardSigmoid"):
    """MobileNets and EfficientNets: rows of kernel, expanded, filters, stride."""
    def build():
        g = Net((1, 3, size, size))
        y, channels = g.conv("x", 3, stem, 3, 2, act=act), stem
        for kernel, expanded, filters, stride in rows:
            z = g.conv(y, channels, expanded, act=act)
            z = g.conv(z, expanded, expanded, kernel, stride, group=expanded, act=act)
            if squeeze:
                z = g.squeeze(z, expanded, max(8, expanded // squeeze), "Relu" if act == "hswish" else "silu", gate)
            z = g.conv(z, expanded, filters)
            y = g.op("Add", y, z) if stride == 1 and channels == filters else z
            channels = filters
        return g.model(g.pooled(g.conv(y, channels, 4 * channels, act=act), 4 * channels, 100))
    return build


MOBILE = [(3, 64, 24, 2), (3, 72, 24, 1), (5, 72, 40, 2), (5, 120, 40, 1), (3, 240, 80, 2), (3, 200, 80, 1), (5, 480, 112, 1)]


def convnext(size=96, width=96):
    def build():
        g = Net((1, 3, size, size))
        w = g.weight(width, 3, 4, 4)
        y, side = g.op("Conv", "x", w, g.weight(width), kernel_shape=[4, 4], strides=[4, 4]), size // 4
        for _ in range(3):
            z = g.op("Transpose", g.conv(y, width, width, 7, group=width), perm=[0, 2, 3, 1])
            z = g.linear(g.act(g.linear(g.norm(z, width), width, 4 * width), "gelu"), 4 * width, width)
            z = g.op("Transpose", g.op("Mul", z, g.weight(width)), perm=[0, 3, 1, 2])
            y = g.op("Add", y, z)
        return g.model(g.pooled(y, width, 100))
    return build


def densenet(size=64, growth=32, layers=6):
    def build():
        g = Net((1, 3, size, size))
        y, channels = g.conv("x", 3, 64, 3, 2, act="Relu"), 64
        for block in range(2):
            for _ in range(layers):
                z = g.op("Relu", g.batch_norm(y, channels))
                z = g.op("Relu", g.batch_norm(g.conv(z, channels, 4 * growth), 4 * growth))
                y = g.op("Concat", y, g.conv(z, 4 * growth, growth, 3), axis=1)
                channels += growth
            y = g.conv(g.op("Relu", g.batch_norm(y, channels)), channels, channels // 2)
            y, channels = g.op("AveragePool", y, kernel_shape=[2, 2], strides=[2, 2]), channels // 2
        return g.model(g.pooled(y, channels, 100))
    return build


def shufflenet(size=112, width=116):
    def build():
        g = Net((1, 3, size, size))
        y, side, half = g.conv("x", 3, width, 3, 4, act="Relu"), size // 4, width // 2
        for _ in range(4):
            parts = [f"s{len(g.nodes)}_{i}" for i in range(2)]
            g.nodes.append(onnx.helper.make_node("Split", [y, g.constant(ints([half, half]))], parts, axis=1))
            z = g.conv(parts[1], half, half, act="Relu")
            z = g.conv(g.conv(z, half, half, 3, group=half), half, half, act="Relu")
            y = g.shape_of(g.op("Concat", parts[0], z, axis=1), 1, 2, half, side, side)
            y = g.shape_of(g.op("Transpose", y, perm=[0, 2, 1, 3, 4]), 1, width, side, side)
        return g.model(g.pooled(y, width, 100))
    return build


def detector(size=160, width=32):
    """YOLO in small: SiLU, split blocks, a pyramid of pools, upsampling, boxes from distributions."""
    def build():
        g = Net((1, 3, size, size))

        def block(y, channels, filters):
            y = g.conv(y, channels, filters, act="silu")
            a, b = (f"b{len(g.nodes)}_{i}" for i in range(2))
            g.nodes.append(onnx.helper.make_node("Split", [y, g.constant(ints([filters // 2] * 2))], [a, b], axis=1))
            z = g.op("Add", b, g.conv(g.conv(b, filters // 2, filters // 2, 3, act="silu"), filters // 2, filters // 2, 3, act="silu"))
            return g.conv(g.op("Concat", a, b, z, axis=1), filters * 3 // 2, filters, act="silu")
        y = g.conv(g.conv("x", 3, width // 2, 3, 2, act="silu"), width // 2, width, 3, 2, act="silu")
        fine = block(g.conv(block(y, width, width), width, 2 * width, 3, 2, act="silu"), 2 * width, 2 * width)
        coarse = block(g.conv(fine, 2 * width, 4 * width, 3, 2, act="silu"), 4 * width, 4 * width)
        z = g.conv(coarse, 4 * width, 2 * width, act="silu")
        pools = [z]
        for _ in range(3):
            pools.append(g.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
        z = g.conv(g.op("Concat", *pools, axis=1), 8 * width, 4 * width, act="silu")
        up = g.op("Resize", z, "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest")
        fine = block(g.op("Concat", up, fine, axis=1), 6 * width, 2 * width)
        cells = (size // 8) ** 2
        boxes = g.shape_of(g.conv(g.conv(fine, 2 * width, 64, 3, act="silu"), 64, 64), 1, 4, 16, cells)
        boxes = g.op("Softmax", g.op("Transpose", boxes, perm=[0, 2, 1, 3]), axis=1)
        w = g.constant(np.arange(16, dtype="f4").reshape(1, 16, 1, 1))
        boxes = g.shape_of(g.op("Conv", boxes, w, kernel_shape=[1, 1]), 1, 4, cells)
        scores = g.op("Sigmoid", g.shape_of(g.conv(g.conv(fine, 2 * width, 64, 3, act="silu"), 64, 20), 1, 20, cells))
        return g.model(g.op("Concat", boxes, scores, axis=1))
    return build


def super_resolution(size=64, width=48, blocks=3):
    def build():
        g = Net((1, 3, size, size))
        y = head = g.conv("x", 3, width, 3)
        for _ in range(blocks):
            y = g.op("Add", y, g.conv(g.conv(y, width, width, 3, act="Relu"), width, width, 3))
        y = g.conv(g.op("Add", y, head), width, 3 * 16, 3)
        return g.model(g.op("DepthToSpace", y, blocksize=4, mode="CRD"))
    return build


def style(size=96, width=32):
    """Instance norms, reflected edges, nearest upsampling."""
    def build():
        g = Net((1, 3, size, size))

        def layer(y, inputs, filters, kernel, stride=1, act="Relu"):
            p = kernel // 2
            y = g.op("Pad", y, g.constant(ints([0, 0, p, p] * 2)), mode="reflect")
            w = g.weight(filters, inputs, kernel, kernel)
            y = g.op("Conv", y, w, g.weight(filters), kernel_shape=[kernel] * 2, strides=[stride] * 2)
            y = g.op("InstanceNormalization", y, g.weight(filters, scale=1.0), g.weight(filters))
            return g.act(y, act)
        y = layer(layer("x", 3, width, 9), width, 2 * width, 3, 2)
        for _ in range(2):
            y = g.op("Add", y, layer(layer(y, 2 * width, 2 * width, 3), 2 * width, 2 * width, 3, act=None))
        y = g.op("Resize", y, "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest")
        return g.model(layer(layer(y, 2 * width, width, 3), width, 3, 9, act=None))
    return build


def segmentation(size=128, width=64):
    """Dilated windows side by side and bilinear resizing, as in DeepLab."""
    def build():
        g = Net((1, 3, size, size))
        y = g.conv(g.conv("x", 3, 32, 3, 2, act="Relu"), 32, width, 3, 2, act="Relu")
        low, y = y, g.conv(y, width, 2 * width, 3, 2, act="Relu")
        parts = [g.conv(y, 2 * width, width, 3, dilation=d, act="Relu") for d in (1, 6, 12)]
        mean = g.conv(g.op("GlobalAveragePool", y), 2 * width, width, act="Relu")
        parts.append(g.op("Expand", mean, g.constant(ints([1, width, size // 8, size // 8]))))
        y = g.conv(g.op("Concat", *parts, axis=1), 4 * width, width, act="Relu")
        y = g.op("Resize", y, "", g.constant(np.float32([1, 1, 2, 2])), mode="linear")
        y = g.conv(g.op("Concat", y, low, axis=1), 2 * width, width, 3, act="Relu")
        y = g.op("Resize", g.conv(y, width, 21), "", g.constant(np.float32([1, 1, 4, 4])), mode="linear")
        return g.model(g.op("Softmax", y, axis=1))
    return build


def inception(size=56, width=64):
    def build():
        g = Net((1, width, size, size))
        y, channels = "x", width
        for _ in range(3):
            a = g.conv(y, channels, 32, act="Relu")
            b = g.conv(g.conv(y, channels, 48, act="Relu"), 48, 64, 3, act="Relu")
            c = g.conv(g.conv(y, channels, 16, act="Relu"), 16, 32, 5, act="Relu")
            d = g.conv(g.op("MaxPool", y, kernel_shape=[3, 3], strides=[1, 1], pads=[1] * 4), channels, 32, act="Relu")
            y, channels = g.op("Concat", a, b, c, d, axis=1), 160
        return g.model(g.pooled(y, channels, 100))
    return build


def vit(size=112, patch=16, width=192, heads=3, layers=3):
    def build():
        g, side = Net((1, 3, size, size)), size // patch
        y = g.op("Conv", "x", g.weight(width, 3, patch, patch), g.weight(width), kernel_shape=[patch] * 2, strides=[patch] * 2)
        y = g.op("Transpose", g.shape_of(y, 1, width, side * side), perm=[0, 2, 1])
        y = g.op("Add", g.op("Concat", g.weight(1, 1, width), y, axis=1), g.weight(1, side * side + 1, width))
        for _ in range(layers):
            y = g.encoder(y, 1, side * side + 1, width, heads)
        y = g.op("Gather", g.norm(y, width), g.constant(ints(0)), axis=1)
        return g.model(g.linear(y, width, 100))
    return build


def swin(side=28, width=96, heads=3, window=7):
    """Windows of an image cut by reshapes, the second layer's shifted and masked."""
    def build():
        g, n = Net((1, side * side, width)), side // window
        y = "x"
        for shift in (0, window // 2):
            z = g.shape_of(g.norm(y, width), 1, side, side, width)
            if shift:
                for axis in (1, 2):
                    a = g.op("Slice", z, *[g.constant(ints([v])) for v in (shift, side, axis)])
                    b = g.op("Slice", z, *[g.constant(ints([v])) for v in (0, shift, axis)])
                    z = g.op("Concat", a, b, axis=axis)
            z = g.op("Transpose", g.shape_of(z, 1, n, window, n, window, width), perm=[0, 1, 3, 2, 4, 5])
            z = g.shape_of(z, n * n, window * window, width)
            z = g.attention(z, n * n, window * window, width, heads, g.weight(1, heads, window**2, window**2))
            z = g.op("Transpose", g.shape_of(z, 1, n, n, window, window, width), perm=[0, 1, 3, 2, 4, 5])
            y = g.op("Add", y, g.shape_of(z, 1, side * side, width))
            z = g.linear(g.act(g.linear(g.norm(y, width), width, 4 * width), "gelu"), 4 * width, width)
            y = g.op("Add", y, z)
        return g.model(y)
    return build


def language(length=64, width=256, heads=4, layers=2, words=2000, rms=False):
    """An encoder from words: an embedding, a mask, layers; `rms` is T5's norm, written out, and Relu."""
    def build():
        g = Net((1, length), ints)
        y = g.op("Gather", g.weight(words, width), "x")
        if not rms:
            y = g.norm(g.op("Add", y, g.weight(1, length, width)), width)
        mask = g.constant(np.where(g.random.random((1, 1, 1, length)) < 0.1, -1e4, 0).astype("f4"))
        if rms:
            g.norm = lambda x, n: g.op("Mul", g.op("Div", x, g.op("Sqrt", g.op("Add", g.op(
                "ReduceMean", g.op("Pow", x, g.constant(np.float32(2))), g.constant(ints([-1]))), g.constant(np.float32(1e-6))))),
                g.weight(n, scale=1.0))
        for _ in range(layers):
            y = g.encoder(y, 1, length, width, heads, "Relu" if rms else "gelu", mask)
        return g.model(g.norm(y, width))
    return build


def decoder(past=128, width=512, heads=8, layers=2):
    """One token of a language model with what it remembers of the tokens before."""
    def build():
        g, size = Net((1, 1, width)), width // heads
        y, results = "x", []
        for layer in range(layers):
            h = g.norm(y, width)
            q, k, v = (g.heads(g.linear(h, width, width), 1, 1, heads, size) for _ in range(3))
            k, v = (g.op("Concat", g.input(f"past_{n}{layer}", (1, heads, past, size)), t, axis=2) for n, t in (("k", k), ("v", v)))
            results += [k, v]
            s = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
            s = g.op("Softmax", g.op("Mul", s, g.constant(np.float32(size**-0.5))), axis=-1)
            z = g.op("Transpose", g.op("MatMul", s, v), perm=[0, 2, 1, 3])
            y = g.op("Add", y, g.linear(g.shape_of(z, 1, 1, width), width, width))
            z = g.linear(g.act(g.linear(g.norm(y, width), width, 4 * width), "gelu"), 4 * width, width)
            y = g.op("Add", y, z)
        return g.model(g.linear(g.norm(y, width), width, 4000), *results)
    return build


def recurrent(kind="LSTM", length=64, width=64, hidden=128, layers=2):
    """Two directions each, then a label for each step."""
    def build():
        g, gates = Net((length, 1, width)), {"LSTM": 4, "GRU": 3, "RNN": 1}[kind]
        y, inputs = "x", width
        for _ in range(layers):
            w, r = g.weight(2, gates * hidden, inputs, scale=0.08), g.weight(2, gates * hidden, hidden, scale=0.08)
            more = {"linear_before_reset": 1} if kind == "GRU" else {}
            y = g.op(kind, y, w, r, g.weight(2, 2 * gates * hidden, scale=0.1), hidden_size=hidden, direction="bidirectional", **more)
            y = g.shape_of(g.op("Transpose", y, perm=[0, 2, 1, 3]), length, 1, 2 * hidden)
            inputs = 2 * hidden
        return g.model(g.linear(y, inputs, 40))
    return build


def reader(height=32, columns=128, hidden=128):
    """A CNN over a line of text, then an LSTM over its columns."""
    def build():
        g, channels, y = Net((1, 1, height, columns)), 1, "x"
        for filters, pool in ((32, (2, 2)), (64, (2, 2)), (128, (2, 1)), (128, (2, 1))):
            y = g.conv(y, channels, filters, 3, act="Relu")
            y, channels = g.op("MaxPool", y, kernel_shape=list(pool), strides=list(pool)), filters
        y = g.op("ReduceMean", y, g.constant(ints([2])), keepdims=0)
        y = g.op("Transpose", y, perm=[2, 0, 1])
        w, r = (g.weight(2, 4 * hidden, 128, scale=0.08) for _ in range(2))
        y = g.op("LSTM", y, w, r, g.weight(2, 8 * hidden, scale=0.1), hidden_size=hidden, direction="bidirectional")
        y = g.shape_of(g.op("Transpose", y, perm=[0, 2, 1, 3]), columns // 4, 2 * hidden)
        return g.model(g.op("LogSoftmax", g.linear(y, 2 * hidden, 37), axis=-1))
    return build


def speech(frames=200, width=256, heads=4):
    """Strided 1-d windows with gelu, then an encoder: the first half of Whisper."""
    def build():
        g = Net((1, 80, frames))
        y = g.conv(g.conv("x", 80, width, 3, rank=1, act="gelu"), width, width, 3, 2, rank=1, act="gelu")
        y = g.op("Add", g.op("Transpose", y, perm=[0, 2, 1]), g.weight(1, frames // 2, width))
        for _ in range(2):
            y = g.encoder(y, 1, frames // 2, width, heads)
        return g.model(g.norm(y, width))
    return build


def waves(samples=16000, width=128):
    """Strided 1-d windows over samples, as in wav2vec."""
    def build():
        g, y, inputs = Net((1, 1, samples)), "x", 1
        for kernel, stride in ((10, 5), (3, 2), (3, 2), (3, 2), (2, 2)):
            w = g.weight(width, inputs, kernel)
            y = g.op("Conv", y, w, kernel_shape=[kernel], strides=[stride])
            if inputs == 1:
                y = g.op("InstanceNormalization", y, g.weight(width, scale=1.0), g.weight(width))
            y, inputs = g.act(y, "gelu"), width
        return g.model(g.norm(g.op("Transpose", y, perm=[0, 2, 1]), width))
    return build


def conformer(length=100, width=144, heads=4):
    def build():
        g, y = Net((1, length, width)), "x"
        for _ in range(2):
            z = g.linear(g.act(g.linear(g.norm(y, width), width, 4 * width), "silu"), 4 * width, width)
            y = g.op("Add", y, g.op("Mul", z, g.constant(np.float32(0.5))))
            y = g.op("Add", y, g.attention(g.norm(y, width), 1, length, width, heads))
            z = g.op("Transpose", g.norm(y, width), perm=[0, 2, 1])
            z = g.conv(z, width, 2 * width, rank=1)
            a, b = (f"g{len(g.nodes)}_{i}" for i in range(2))
            g.nodes.append(onnx.helper.make_node("Split", [z, g.constant(ints([width] * 2))], [a, b], axis=1))
            z = g.op("Mul", a, g.op("Sigmoid", b))
            z = g.act(g.batch_norm(g.conv(z, width, width, 31, group=width, rank=1), width), "silu")
            y = g.op("Add", y, g.op("Transpose", g.conv(z, width, width, rank=1), perm=[0, 2, 1]))
            y = g.norm(y, width)
        return g.model(y)
    return build


def temporal(length=400, width=64):
    """Causal dilated 1-d convolutions."""
    def build():
        g, y = Net((1, width, length)), "x"
        for dilation in (1, 2, 4, 8):
            z = y
            for _ in range(2):
                z = g.op("Pad", z, g.constant(ints([0, 0, 2 * dilation, 0, 0, 0])))
                z = g.op("Relu", g.op("Conv", z, g.weight(width, width, 3), g.weight(width), kernel_shape=[3], dilations=[dilation]))
            y = g.op("Relu", g.op("Add", y, z))
        return g.model(y)
    return build


def volume(side=32, width=16):
    """A U-Net of volumes with instance norms."""
    def build():
        g = Net((1, 1, side, side, side))

        def layer(y, inputs, filters):
            y = g.conv(y, inputs, filters, 3, rank=3)
            y = g.op("InstanceNormalization", y, g.weight(filters, scale=1.0), g.weight(filters))
            return g.op("LeakyRelu", y, alpha=0.01)
        top = layer(layer("x", 1, width), width, width)
        y = layer(g.op("MaxPool", top, kernel_shape=[2] * 3, strides=[2] * 3), width, 2 * width)
        y = g.op("ConvTranspose", y, g.weight(2 * width, width, 2, 2, 2), g.weight(width), kernel_shape=[2] * 3, strides=[2] * 3)
        y = layer(g.op("Concat", y, top, axis=1), 2 * width, width)
        return g.model(g.op("Softmax", g.conv(y, width, 3, rank=3), axis=1))
    return build


def points(count=1024):
    """PointNet: products per point, then the largest of all points."""
    def build():
        g = Net((1, 3, count))
        y, inputs = "x", 3
        for filters in (64, 64, 128, 512):
            y, inputs = g.op("Relu", g.batch_norm(g.conv(y, inputs, filters, rank=1), filters)), filters
        y = g.op("ReduceMax", y, g.constant(ints([2])), keepdims=0)
        return g.model(g.linear(g.act(g.linear(y, 512, 256), "Relu"), 256, 40))
    return build


def mixer(tokens=196, width=256):
    def build():
        g, y = Net((1, tokens, width)), "x"
        for _ in range(3):
            z = g.op("Transpose", g.norm(y, width), perm=[0, 2, 1])
            z = g.linear(g.act(g.linear(z, tokens, 384), "gelu"), 384, tokens)
            y = g.op("Add", y, g.op("Transpose", z, perm=[0, 2, 1]))
            y = g.op("Add", y, g.linear(g.act(g.linear(g.norm(y, width), width, 1024), "gelu"), 1024, width))
        return g.model(y)
    return build


class Samples(CalibrationDataReader):
    def __init__(self, model):
        value = model.graph.input[0]
        shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
        random = np.random.default_rng(3)
        self.feeds = iter([{value.name: random.standard_normal(shape).astype("f4")} for _ in range(2)])

    def get_next(self):
        return next(self.feeds, None)


def quantized(build, how, **options):
    """A network quantized by onnxruntime's tool: `how` is qdq, qop or dynamic."""
    def make():
        model = build()
        logging.disable(logging.WARNING)  # Advice on optimising the model before.
        with tempfile.TemporaryDirectory() as folder:
            path = str(Path(folder) / "model.onnx")
            if how == "dynamic":
                quantize_dynamic(model, path, **options)
            else:
                form = QuantFormat.QDQ if how == "qdq" else QuantFormat.QOperator
                quantize_static(model, path, Samples(model), quant_format=form, **options)
            model = onnx.load(path)
        logging.disable(logging.NOTSET)
        return model
    return make


S8 = {"activation_type": QuantType.QInt8, "weight_type": QuantType.QInt8, "per_channel": True}
U8 = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QInt8, "per_channel": True}
U8U8 = {"activation_type": QuantType.QUInt8, "weight_type": QuantType.QUInt8}

NETWORKS = {
    "resnet": resnet(),
    "resnext": resnet(group=32),
    "mobilenet-v3": inverted(MOBILE, 112, "hswish", 4),
    "efficientnet": inverted(MOBILE, 112, "silu", 16, gate="Sigmoid"),
    "convnext": convnext(),
    "densenet": densenet(),
    "shufflenet": shufflenet(),
    "inception": inception(),
    "detector": detector(),
    "super-resolution": super_resolution(),
    "style": style(),
    "segmentation": segmentation(),
    "unet": unet((1, 3, 96, 96), 16, 3),
    "volume": volume(),
    "vit": vit(),
    "swin": swin(),
    "mixer": mixer(),
    "bert": language(),
    "t5": language(rms=True),
    "decoder": decoder(),
    "lstm": recurrent("LSTM"),
    "gru": recurrent("GRU"),
    "reader": reader(),
    "speech": speech(),
    "waves": waves(),
    "conformer": conformer(),
    "temporal": temporal(),
    "points": points(),
}

INTEGERS = {
    "resnet-qdq-s8": quantized(resnet(), "qdq", **S8),
    "resnet-qdq-u8": quantized(resnet(), "qdq", **U8),
    "resnet-qop-u8u8": quantized(resnet(), "qop", **U8U8),
    "mobilenet-v2-qdq-u8": quantized(inverted(MOBILE, 112, "relu6"), "qdq", **U8),
    "mobilenet-v2-qop-s8": quantized(inverted(MOBILE, 112, "relu6"), "qop", **S8),
    "mobilenet-v3-qdq-u8": quantized(inverted(MOBILE, 112, "hswish", 4), "qdq", **U8),
    "densenet-qdq-u8": quantized(densenet(), "qdq", **U8),
    "shufflenet-qdq-u8": quantized(shufflenet(), "qdq", **U8),
    "inception-qop-u8": quantized(inception(), "qop", **U8),
    "detector-qdq-u8": quantized(detector(), "qdq", **U8),
    "unet-qdq-s8": quantized(unet((1, 3, 96, 96), 16, 3), "qdq", **S8),
    "temporal-qdq-u8": quantized(temporal(), "qdq", **U8),
    "volume-qdq-u8": quantized(volume(), "qdq", **U8),
    "vit-qdq-s8": quantized(vit(), "qdq", **S8),
    "vit-qdq-u8": quantized(vit(), "qdq", **U8),
    "bert-dynamic": quantized(language(), "dynamic"),
    "t5-dynamic": quantized(language(rms=True), "dynamic"),
    "decoder-dynamic": quantized(decoder(), "dynamic"),
    "speech-dynamic": quantized(speech(), "dynamic"),
    "lstm-dynamic": quantized(recurrent("LSTM"), "dynamic"),
    "resnet-dynamic": quantized(resnet(), "dynamic"),
}
