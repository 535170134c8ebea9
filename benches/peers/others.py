"""More networks that nobody tuned for: forms that networks.py and further.py do not have.

Batches and odd sizes, samples at computed places, transforms of Fourier, neighbours, routing, loops, caches, warps.
"""

import numpy as np
import onnx
from onnx import helper

from further import split
from networks import Net, ints


def one(g, kind, *inputs, outputs=2, at=0, **attributes):
    """An operation with several results, of which one is wanted."""
    names = [f"m{len(g.nodes)}_{i}" for i in range(outputs)]
    g.nodes.append(helper.make_node(kind, list(inputs), names, **attributes))
    return names[at]


def reduce(g, kind, x, *axes, keepdims=1):
    return g.op(kind, x, g.constant(ints(axes)), keepdims=keepdims)


def scalar(g, value):
    return g.constant(np.float32(value))


def cut(g, x, axis, start, end, step=1):
    return g.op("Slice", x, *(g.constant(ints([v])) for v in (start, end, axis, step)))


def resnet_batch(batch=8, size=56, widths=(64, 128, 256)):
    """A batch of images through residual blocks."""
    def build():
        g = Net((batch, 3, size, size))
        y, channels = g.conv("x", 3, widths[0], 3, 2, act="Relu"), widths[0]
        for filters in widths:
            stride = 1 if filters == channels else 2
            z = g.conv(g.conv(y, channels, filters, 3, stride, act="Relu"), filters, filters, 3)
            skip = y if stride == 1 else g.conv(y, channels, filters, 1, stride)
            y, channels = g.op("Relu", g.op("Add", z, skip)), filters
        return g.model(g.pooled(y, channels, 100))
    return build


def odd(rows=97, columns=73):
    """Channels and sizes that no vector divides, windows of two and four, uneven padding and strides."""
    def build():
        g, y, channels = Net((1, 3, rows, columns)), "x", 3
        for filters, kernel, strides, pads in ((13, (2, 4), (1, 2), (0, 1, 1, 2)), (27, (5, 3), (2, 1), (2, 0, 1, 1)),
                                               (35, (3, 3), (1, 1), (1, 1, 1, 1)), (51, (1, 7), (1, 3), (0, 3, 0, 3))):
            w = g.weight(filters, channels, *kernel)
            y = g.op("Relu", g.op("Conv", y, w, g.weight(filters), kernel_shape=kernel, strides=strides, pads=pads))
            channels = filters
        y = g.op("AveragePool", y, kernel_shape=[3, 2], strides=[2, 1], pads=[1, 0, 1, 1], count_include_pad=1)
        return g.model(g.pooled(y, channels, 7))
    return build


def warp(size=64, width=32):
    """A spatial transformer: an affine grid from the image, samples of the image on it."""
    def build():
        g = Net((1, 3, size, size))
        y = g.conv(g.conv("x", 3, 16, 5, 2, act="Relu"), 16, 32, 5, 2, act="Relu")
        theta = g.op("Mul", g.pooled(y, 32, 6), scalar(g, 0.05))
        theta = g.shape_of(g.op("Add", theta, g.constant(np.float32([[1, 0, 0, 0, 1, 0]]))), 1, 2, 3)
        grid = np.stack([*np.meshgrid(*[np.linspace(-1, 1, size, dtype="f4")] * 2), np.ones((size, size), "f4")], -1)
        grid = g.op("MatMul", g.constant(grid.reshape(1, -1, 3)), g.op("Transpose", theta, perm=[0, 2, 1]))
        y = g.op("GridSample", g.conv("x", 3, width, 3, act="Relu"), g.shape_of(grid, 1, size, size, 2), align_corners=1)
        return g.model(g.pooled(g.conv(y, width, width, 3, act="Relu"), width, 43))
    return build


def regions(size=64, width=64, count=32):
    """The second stage of a detector: RoiAlign, products of what it cuts out."""
    def build():
        g = Net((1, 3, size, size))
        corner = g.random.uniform(0, size / 2, (count, 2))
        boxes = g.constant(np.concatenate([corner, corner + g.random.uniform(8, size / 2, (count, 2))], 1).astype("f4"))
        y = g.conv(g.conv("x", 3, width, 3, 2, act="Relu"), width, width, 3, 2, act="Relu")
        y = g.op("RoiAlign", y, boxes, g.constant(np.zeros(count, ints)), output_height=7, output_width=7,
                 sampling_ratio=2, spatial_scale=0.25)
        y = g.op("Relu", g.linear(g.op("Flatten", y), width * 49, 256))
        return g.model(g.linear(y, 256, 81))
    return build


def suppression(size=96, width=32):
    """A one-stage detector to its end: scores, boxes, no overlap (a fixed number of them)."""
    def build():
        g = Net((1, 3, size, size))
        y = g.conv(g.conv(g.conv("x", 3, width, 3, 2, act="silu"), width, width, 3, 2, act="silu"), width, 2 * width, 3, 2, act="silu")
        n = (size // 8) ** 2
        raw = g.op("Transpose", g.shape_of(g.conv(y, 2 * width, 12), 1, 12, n), perm=[0, 2, 1])
        spots = g.constant(np.stack(np.meshgrid(*[np.arange(size // 8)] * 2), -1).reshape(1, n, 2).astype("f4") * 8)
        center = g.op("Add", spots, g.op("Mul", g.op("Sigmoid", cut(g, raw, 2, 0, 2)), scalar(g, 8)))
        extent = g.op("Mul", g.op("Exp", cut(g, raw, 2, 2, 4)), scalar(g, 16))
        half = g.op("Mul", extent, scalar(g, 0.5))
        boxes = g.op("Concat", g.op("Sub", center, half), g.op("Add", center, half), axis=2)
        scores = g.op("Sigmoid", cut(g, raw, 2, 4, 12))
        best = reduce(g, "ReduceMax", scores, 2, keepdims=0)
        where = one(g, "TopK", best, g.constant(ints([50])), at=1, axis=1)
        rows = [g.op("GatherND", v, g.op("Unsqueeze", where, g.constant(ints([2]))), batch_dims=1) for v in (boxes, scores)]
        return g.model(g.op("Concat", *rows, axis=2))
    return build


def spectrum(length=8000, frame=400, hop=160, bins=80):
    """The front of a speech network: frames, a Fourier transform as products, mel bands, logarithms, windows."""
    def build():
        g = Net((1, length))
        frames = (length - frame) // hop + 1
        at = g.constant((np.arange(frames)[:, None] * hop + np.arange(frame)).astype(ints))
        y = g.op("Mul", g.op("Gather", "x", at, axis=1), g.constant(np.hanning(frame).astype("f4")))
        turn = np.exp(-2j * np.pi * np.outer(np.arange(frame), np.arange(frame // 2 + 1)) / frame)
        parts = [g.op("MatMul", y, g.constant(p.astype("f4"))) for p in (turn.real, turn.imag)]
        power = g.op("Add", *(g.op("Mul", p, p) for p in parts))
        y = g.op("MatMul", power, g.constant(np.abs(g.random.standard_normal((frame // 2 + 1, bins))).astype("f4")))
        y = g.op("Log", g.op("Max", y, scalar(g, 1e-5)))
        y = g.op("Sub", y, reduce(g, "ReduceMean", y, 1, 2))
        y = g.op("Transpose", y, perm=[0, 2, 1])
        y = g.conv(g.conv(y, bins, 128, 3, rank=1, act="gelu"), 128, 128, 3, 2, rank=1, act="gelu")
        return g.model(g.linear(g.op("Transpose", y, perm=[0, 2, 1]), 128, 32))
    return build


def fourier(length=64, width=128, layers=2):
    """FNet: a Fourier transform (DFT) over tokens and features in place of attention."""
    def build():
        g, y = Net((1, length, width)), "x"
        for _ in range(layers):
            z = g.op("Unsqueeze", y, g.constant(ints([3])))
            z = g.op("DFT", g.op("DFT", z, axis=2), axis=1)
            z = g.op("Squeeze", cut(g, z, 3, 0, 1), g.constant(ints([3])))
            y = g.norm(g.op("Add", y, z), width)
            y = g.norm(g.op("Add", y, g.linear(g.act(g.linear(y, width, 4 * width), "gelu"), 4 * width, width)), width)
        return g.model(y)
    return build


def linear_attention(length=256, width=128, heads=4):
    """Attention without scores: ELU features, keys times values first; a causal form with running sums."""
    def build():
        g, size = Net((1, length, width)), width // heads
        q, k, v = (g.heads(g.linear("x", width, width), 1, length, heads, size) for _ in range(3))
        q, k = (g.op("Add", g.op("Elu", t), scalar(g, 1)) for t in (q, k))
        state = g.op("MatMul", g.op("Transpose", k, perm=[0, 1, 3, 2]), v)
        rest = g.op("MatMul", q, g.op("Transpose", reduce(g, "ReduceSum", k, 2), perm=[0, 1, 3, 2]))
        y = g.op("Div", g.op("MatMul", q, state), rest)
        past = g.op("CumSum", g.op("Mul", k, v), g.constant(np.int32(2)))
        y = g.op("Add", y, g.op("Div", g.op("Mul", q, past), g.op("CumSum", k, g.constant(np.int32(2)))))
        y = g.shape_of(g.op("Transpose", y, perm=[0, 2, 1, 3]), 1, length, width)
        return g.model(g.linear(y, width, width))
    return build


def radiance(rays=64, samples=32, width=128, octaves=6):
    """NeRF: sines of positions, a wide product for each sample, colours blended along rays."""
    def build():
        g = Net((rays * samples, 3))
        waves = g.op("MatMul", "x", g.constant(np.kron(2.0 ** np.arange(octaves), np.eye(3)).astype("f4")))
        code = g.op("Concat", "x", g.op("Sin", waves), g.op("Cos", waves), axis=1)
        inputs = 3 + 6 * octaves
        y = g.op("Relu", g.linear(code, inputs, width))
        y = g.op("Relu", g.linear(y, width, width))
        y = g.op("Relu", g.linear(g.op("Concat", y, code, axis=1), width + inputs, width))
        out = g.linear(y, width, 4)
        color = g.shape_of(g.op("Sigmoid", cut(g, out, 1, 0, 3)), rays, samples, 3)
        density = g.shape_of(g.op("Softplus", cut(g, out, 1, 3, 4)), rays, samples, 1)
        depth = g.op("CumSum", density, g.constant(np.int32(1)), exclusive=1)
        weight = g.op("Mul", g.op("Exp", g.op("Neg", depth)), g.op("Sub", scalar(g, 1), g.op("Exp", g.op("Neg", density))))
        return g.model(reduce(g, "ReduceSum", g.op("Mul", weight, color), 1, keepdims=0))
    return build


def flow(rows=256, width=64, layers=4):
    """RealNVP: half of the features scale and move the other half; SIREN's sines within."""
    def build():
        g = Net((rows, width))
        half = width // 2
        a, b = split(g, "x", [half] * 2, 1)
        for _ in range(layers):
            h = g.op("Sin", g.op("Mul", g.linear(a, half, 128), scalar(g, 30)))
            s, t = split(g, g.linear(h, 128, width), [half] * 2, 1)
            a, b = g.op("Add", g.op("Mul", b, g.op("Exp", g.op("Tanh", s))), t), a
        return g.model(g.op("Concat", a, b, axis=1))
    return build


def experts(length=64, width=128, count=8, chosen=2):
    """A mixture of experts: a gate's best two, all experts as one batch of products."""
    def build():
        g = Net((length, width))
        gate = g.op("Softmax", g.linear("x", width, count), axis=1)
        best = one(g, "TopK", gate, g.constant(ints([chosen])), axis=1)
        least = cut(g, best, 1, chosen - 1, chosen)
        gate = g.op("Where", g.op("GreaterOrEqual", gate, least), gate, scalar(g, 0))
        gate = g.op("Div", gate, reduce(g, "ReduceSum", gate, 1))
        y = g.op("Unsqueeze", "x", g.constant(ints([0])))
        y = g.op("Relu", g.op("MatMul", y, g.weight(count, width, 4 * width, scale=width**-0.5)))
        y = g.op("MatMul", y, g.weight(count, 4 * width, width, scale=(4 * width) ** -0.5))
        gate = g.op("Unsqueeze", g.op("Transpose", gate, perm=[1, 0]), g.constant(ints([2])))
        return g.model(reduce(g, "ReduceSum", g.op("Mul", y, gate), 0, keepdims=0))
    return build


def capsules(inputs=288, outputs=10, size=8, wide=16, rounds=3):
    """Capsules: a product for each pair, routing by agreement."""
    def build():
        g = Net((1, inputs, size))
        def squash(x, axis):
            square = reduce(g, "ReduceSum", g.op("Mul", x, x), axis)
            root = g.op("Sqrt", g.op("Add", square, scalar(g, 1e-6)))
            return g.op("Mul", x, g.op("Div", root, g.op("Add", square, scalar(g, 1))))
        u = g.op("MatMul", g.weight(1, inputs, outputs, wide, size, scale=0.3), g.shape_of("x", 1, inputs, 1, size, 1))
        u = g.shape_of(u, 1, inputs, outputs, wide)
        b = g.constant(np.zeros((1, inputs, outputs, 1), "f4"))
        for turn in range(rounds):
            s = reduce(g, "ReduceSum", g.op("Mul", g.op("Softmax", b, axis=2), u), 1)
            v = squash(s, 3)
            if turn + 1 < rounds:
                b = g.op("Add", b, reduce(g, "ReduceSum", g.op("Mul", u, v), 3))
        return g.model(g.op("ReduceL2", v, g.constant(ints([3])), keepdims=0))
    return build


def dense_residuals(size=48, width=48, growth=24):
    """ESRGAN's blocks: every layer sees all before it; LeakyRelu, pixel shuffle."""
    def build():
        g = Net((1, 3, size, size))
        y = first = g.conv("x", 3, width, 3)
        for _ in range(2):
            seen, channels = y, width
            for _ in range(3):
                z = g.op("LeakyRelu", g.conv(seen, channels, growth, 3), alpha=0.2)
                seen, channels = g.op("Concat", seen, z, axis=1), channels + growth
            y = g.op("Add", y, g.op("Mul", g.conv(seen, channels, width, 3), scalar(g, 0.2)))
        y = g.op("DepthToSpace", g.conv(g.op("Add", first, y), width, 4 * width, 3), blocksize=2, mode="CRD")
        return g.model(g.conv(g.op("LeakyRelu", y, alpha=0.2), width, 3, 3))
    return build


def pyramid(size=64, width=64):
    """BiFPN: levels that are resized, weighted, added; separable windows."""
    def build():
        g = Net((1, width, size, size))
        levels = ["x"]
        for _ in range(2):
            levels.append(g.op("MaxPool", levels[-1], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))
        def block(*xs):
            w = g.op("Relu", g.constant(np.abs(g.random.standard_normal(len(xs))).astype("f4")))
            w = g.op("Div", w, g.op("Add", reduce(g, "ReduceSum", w, 0), scalar(g, 1e-4)))
            parts = [g.op("Mul", x, cut(g, w, 0, i, i + 1)) for i, x in enumerate(xs)]
            total = parts[0]
            for part in parts[1:]:
                total = g.op("Add", total, part)
            y = g.conv(g.act(total, "silu"), width, width, 3, group=width)
            return g.batch_norm(g.conv(y, width, width), width)
        def up(x):
            return g.op("Resize", x, "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest",
                        coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        for _ in range(2):
            a, b, c = levels
            middle = block(b, up(c))
            a = block(a, up(middle))
            b = block(b, middle, g.op("MaxPool", a, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))
            c = block(c, g.op("MaxPool", b, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4))
            levels = [a, b, c]
        return g.model(g.conv(levels[0], width, 36, 3))
    return build


def dilated(size=33, width=128):
    """DeepLab: windows with holes beside a pool over everything, enlarged to the image."""
    def build():
        g = Net((1, width, size, size))
        parts = [g.conv("x", width, 64, act="Relu")]
        parts += [g.conv("x", width, 64, 3, dilation=d, act="Relu") for d in (6, 12, 18)]
        pooled = g.conv(g.op("GlobalAveragePool", "x"), width, 64, act="Relu")
        parts.append(g.op("Resize", pooled, "", "", g.constant(ints([1, 64, size, size])), mode="linear"))
        y = g.conv(g.op("Concat", *parts, axis=1), 5 * 64, 64, act="Relu")
        y = g.op("Resize", g.conv(y, 64, 21), "", "", g.constant(ints([1, 21, 129, 129])), mode="linear",
                 coordinate_transformation_mode="align_corners")
        return g.model(y)
    return build


def text_lines(height=32, columns=128, hidden=96):
    """CRNN: windows, then an LSTM in both directions over columns, log softmax."""
    def build():
        g, y, channels = Net((1, 1, height, columns)), "x", 1
        for filters, window in ((32, [2, 2]), (64, [2, 2]), (128, [2, 1]), (128, [4, 1])):
            y = g.op("MaxPool", g.conv(y, channels, filters, 3, act="Relu"), kernel_shape=window, strides=window)
            channels = filters
        y = g.op("Transpose", g.op("Squeeze", y, g.constant(ints([2]))), perm=[2, 0, 1])
        for inputs in (channels, 2 * hidden):
            w, r = g.weight(2, 4 * hidden, inputs, scale=0.08), g.weight(2, 4 * hidden, hidden, scale=0.08)
            y = g.op("LSTM", y, w, r, g.weight(2, 8 * hidden, scale=0.1), hidden_size=hidden, direction="bidirectional")
            y = g.shape_of(g.op("Transpose", y, perm=[0, 2, 1, 3]), columns // 4, 1, 2 * hidden)
        return g.model(g.op("LogSoftmax", g.linear(y, 2 * hidden, 37), axis=2))
    return build


def neighbours(points=256, near=16, width=64):
    """DGCNN: the nearest points by distance, features of edges, maxima."""
    def build():
        g, y, inputs = Net((points, 3)), "x", 3
        for outputs in (width, width):
            square = reduce(g, "ReduceSum", g.op("Mul", y, y), 1)
            cross = g.op("MatMul", y, g.op("Transpose", y, perm=[1, 0]))
            far = g.op("Sub", g.op("Add", square, g.op("Transpose", square, perm=[1, 0])), g.op("Mul", cross, scalar(g, 2)))
            at = one(g, "TopK", far, g.constant(ints([near])), at=1, axis=1, largest=0)
            other = g.op("Gather", y, at, axis=0)
            self = g.op("Expand", g.op("Unsqueeze", y, g.constant(ints([1]))), g.constant(ints([points, near, inputs])))
            edge = g.op("Concat", self, g.op("Sub", other, self), axis=2)
            y = reduce(g, "ReduceMax", g.op("LeakyRelu", g.linear(edge, 2 * inputs, outputs), alpha=0.2), 1, keepdims=0)
            inputs = outputs
        return g.model(g.linear(reduce(g, "ReduceMax", y, 0), inputs, 40))
    return build


def graph_attention(nodes=256, width=64, heads=4):
    """GAT on a dense adjacency: sums of two vectors, LeakyRelu, a mask, softmax."""
    def build():
        g, size = Net((nodes, width)), width // heads
        mask = g.constant(np.where(g.random.random((1, nodes, nodes)) < 0.1, 0, -1e9).astype("f4"))
        h = g.op("Transpose", g.shape_of(g.op("MatMul", "x", g.weight(width, width)), nodes, heads, size), perm=[1, 0, 2])
        a, b = (g.op("MatMul", h, g.weight(heads, size, 1, scale=0.3)) for _ in range(2))
        e = g.op("LeakyRelu", g.op("Add", a, g.op("Transpose", b, perm=[0, 2, 1])), alpha=0.2)
        y = g.op("MatMul", g.op("Softmax", g.op("Add", e, mask), axis=2), h)
        return g.model(g.op("Elu", g.shape_of(g.op("Transpose", y, perm=[1, 0, 2]), nodes, width)))
    return build


def equation(rows=64, width=64, steps=10):
    """A neural ODE: Euler steps in a loop of a fixed number of turns."""
    def build():
        g = Net((rows, width))
        w, c, v, d = g.weight(width, 128), g.weight(128), g.weight(128, width), g.weight(width)
        body = helper.make_graph(
            [helper.make_node("MatMul", ["h", w], ["a"]), helper.make_node("Add", ["a", c], ["a1"]),
             helper.make_node("Tanh", ["a1"], ["t"]), helper.make_node("MatMul", ["t", v], ["b"]),
             helper.make_node("Add", ["b", d], ["b1"]), helper.make_node("Mul", ["b1", "dt"], ["s"]),
             helper.make_node("Add", ["h", "s"], ["next"]), helper.make_node("Identity", ["go"], ["on"])], "step",
            [helper.make_tensor_value_info("i", 7, []), helper.make_tensor_value_info("go", 9, []),
             helper.make_tensor_value_info("h", 1, [rows, width])],
            [helper.make_tensor_value_info("on", 9, []), helper.make_tensor_value_info("next", 1, [rows, width])],
            [onnx.numpy_helper.from_array(np.float32(0.1), "dt")])
        y = g.op("Loop", g.constant(ints(steps)), g.constant(np.bool_(True)), "x", body=body)
        return g.model(g.linear(y, width, 10))
    return build


def latents(length=1024, width=64, count=32, inner=128):
    """Perceiver: a few latents look at a long input, then at each other."""
    def build():
        g = Net((1, length, width))
        z = g.weight(1, count, inner, scale=1.0)
        for _ in range(2):
            q = g.linear(g.norm(z, inner), inner, inner)
            k, v = (g.linear("x", width, inner) for _ in range(2))
            s = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 2, 1])), scalar(g, inner**-0.5))
            z = g.op("Add", z, g.linear(g.op("MatMul", g.op("Softmax", s, axis=-1), v), inner, inner))
            z = g.encoder(z, 1, count, inner, 4)
        return g.model(reduce(g, "ReduceMean", z, 1))
    return build


def optical_flow(size=32, width=64, rounds=2):
    """RAFT: products of all pairs, pooled, looked up, a convolutional GRU."""
    def build():
        g = Net((1, 3, size * 2, size * 2))
        other = g.input("y", (1, 3, size * 2, size * 2))
        n = size // 2
        a, b = (g.conv(g.conv(x, 3, 32, 7, 2, act="Relu"), 32, width, 3, 2) for x in ("x", other))
        pairs = g.op("MatMul", g.op("Transpose", g.shape_of(a, 1, width, n * n), perm=[0, 2, 1]), g.shape_of(b, 1, width, n * n))
        pairs = g.shape_of(g.op("Mul", pairs, scalar(g, width**-0.5)), n * n, 1, n, n)
        pooled = g.op("AveragePool", pairs, kernel_shape=[4, 4], strides=[4, 4])
        seen = g.op("Transpose", g.shape_of(pooled, 1, n, n, n * n // 16), perm=[0, 3, 1, 2])
        h = g.op("Tanh", g.conv(a, width, width))
        for _ in range(rounds):
            x = g.op("Concat", h, g.conv(seen, n * n // 16, 48, act="Relu"), axis=1)
            z, r = (g.op("Sigmoid", g.conv(x, width + 48, width, 3)) for _ in range(2))
            q = g.op("Concat", g.op("Mul", r, h), g.conv(seen, n * n // 16, 48, act="Relu"), axis=1)
            q = g.op("Tanh", g.conv(q, width + 48, width, 3))
            h = g.op("Add", g.op("Mul", g.op("Sub", scalar(g, 1), z), h), g.op("Mul", z, q))
        mask = g.op("Softmax", g.shape_of(g.conv(h, width, 36), 1, 4, 9, n, n), axis=2)
        flow = g.op("Unsqueeze", g.conv(h, width, 9), g.constant(ints([1])))
        return g.model(reduce(g, "ReduceSum", g.op("Mul", mask, flow), 2, keepdims=0))
    return build


def separation(length=4000, width=64, hidden=128):
    """Conv-TasNet: a learned transform of waves, dilated windows, norms over everything, the transform back."""
    def build():
        g = Net((1, 1, length))
        w = g.weight(width, 1, 16)
        y = code = g.op("Relu", g.op("Conv", "x", w, kernel_shape=[16], strides=[8]))
        def norm(x, channels):
            mean = reduce(g, "ReduceMean", x, 1, 2)
            d = g.op("Sub", x, mean)
            s = g.op("Sqrt", g.op("Add", reduce(g, "ReduceMean", g.op("Mul", d, d), 1, 2), scalar(g, 1e-8)))
            return g.op("Add", g.op("Mul", g.op("Div", d, s), g.weight(1, channels, 1, scale=1.0)), g.weight(1, channels, 1))
        y = g.conv(norm(y, width), width, width, rank=1)
        for dilation in (1, 2, 4, 8):
            z = g.op("PRelu", g.conv(y, width, hidden, rank=1), g.constant(np.float32([[0.25]])))
            z = g.conv(norm(z, hidden), hidden, hidden, 3, dilation=dilation, group=hidden, rank=1)
            z = norm(g.op("PRelu", z, g.constant(np.float32([[0.25]]))), hidden)
            y = g.op("Add", y, g.conv(z, hidden, width, rank=1))
        y = g.op("Mul", code, g.op("Sigmoid", g.conv(y, width, width, rank=1)))
        return g.model(g.op("ConvTranspose", y, g.weight(width, 1, 16), kernel_shape=[16], strides=[8]))
    return build


def cached_step(past=1500, width=256, heads=8):
    """One token of a decoder with caches: attention to 128 kept keys and to 1,500 frames."""
    def build():
        g, size = Net((1, 1, width)), width // heads
        caches = [g.input(name, (1, heads, n, size)) for name, n in (("k", 127), ("v", 127), ("ck", past), ("cv", past))]
        y = "x"
        def look(q, k, v):
            s = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
            s = g.op("Softmax", g.op("Mul", s, scalar(g, size**-0.5)), axis=-1)
            return g.linear(g.shape_of(g.op("Transpose", g.op("MatMul", s, v), perm=[0, 2, 1, 3]), 1, 1, width), width, width)
        h = g.norm(y, width)
        q, k, v = (g.heads(g.linear(h, width, width), 1, 1, heads, size) for _ in range(3))
        k, v = (g.op("Concat", cache, t, axis=2) for cache, t in zip(caches, (k, v)))
        y = g.op("Add", y, look(q, k, v))
        q = g.heads(g.linear(g.norm(y, width), width, width), 1, 1, heads, size)
        y = g.op("Add", y, look(q, *caches[2:]))
        h = g.act(g.linear(g.norm(y, width), width, 4 * width), "gelu")
        return g.model(g.op("Add", y, g.linear(h, 4 * width, width)), k, v)
    return build


def modulated(size=16, width=64, batch=2):
    """StyleGAN: filters scaled for each image, a group for each; blurred enlargement, noise."""
    def build():
        g = Net((batch, width, size, size))
        style = g.input("s", (batch, 128))
        w = g.op("Mul", g.weight(1, width, width, 3, 3), g.shape_of(g.linear(style, 128, width), batch, 1, width, 1, 1))
        norm = g.op("Sqrt", g.op("Add", reduce(g, "ReduceSum", g.op("Mul", w, w), 2, 3, 4), scalar(g, 1e-8)))
        w = g.shape_of(g.op("Div", w, norm), batch * width, width, 3, 3)
        y = g.op("Conv", g.shape_of("x", 1, batch * width, size, size), w, kernel_shape=[3, 3], pads=[1] * 4, group=batch)
        y = g.shape_of(y, batch, width, size, size)
        y = g.op("LeakyRelu", g.op("Add", y, g.weight(1, 1, size, size)), alpha=0.2)
        y = g.op("Resize", y, "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest",
                 coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        blur = np.outer([1, 3, 3, 1], [1, 3, 3, 1]).astype("f4") / 64
        y = g.op("Conv", y, g.constant(np.tile(blur, (width, 1, 1, 1))), kernel_shape=[4, 4], pads=[1, 1, 2, 2], group=width)
        return g.model(g.conv(y, width, 3))
    return build


def relative(length=64, width=128, heads=4):
    """Transformer-XL: scores by distance, shifted by a pad and a reshape."""
    def build():
        g, size = Net((1, length, width)), width // heads
        q, k, v = (g.heads(g.linear("x", width, width), 1, length, heads, size) for _ in range(3))
        r = g.weight(1, heads, size, length, scale=0.1)
        a = g.op("MatMul", g.op("Add", q, g.weight(1, heads, 1, size)), g.op("Transpose", k, perm=[0, 1, 3, 2]))
        b = g.op("MatMul", g.op("Add", q, g.weight(1, heads, 1, size)), r)
        b = g.op("Pad", b, g.constant(ints([0, 0, 0, 1, 0, 0, 0, 0])))
        b = cut(g, g.shape_of(b, 1, heads, length + 1, length), 2, 1, length + 1)
        s = g.op("Softmax", g.op("Mul", g.op("Add", a, b), scalar(g, size**-0.5)), axis=-1)
        y = g.shape_of(g.op("Transpose", g.op("MatMul", s, v), perm=[0, 2, 1, 3]), 1, length, width)
        return g.model(g.norm(g.op("Add", "x", g.linear(y, width, width)), width))
    return build


def covariance(length=196, width=128, heads=4):
    """XCiT: normalized channels attend to channels; PoolFormer's pools less the input."""
    def build():
        g, size, side = Net((1, length, width)), width // heads, int(length**0.5)
        q, k, v = (g.op("Transpose", g.heads(g.linear("x", width, width), 1, length, heads, size), perm=[0, 1, 3, 2]) for _ in range(3))
        q, k = (g.op("Div", t, g.op("ReduceL2", t, g.constant(ints([3])))) for t in (q, k))
        s = g.op("Softmax", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), axis=-1)
        y = g.shape_of(g.op("Transpose", g.op("MatMul", s, v), perm=[0, 3, 1, 2]), 1, length, width)
        y = g.shape_of(g.op("Transpose", g.op("Add", "x", y), perm=[0, 2, 1]), 1, width, side, side)
        y = g.op("Sub", g.op("AveragePool", y, kernel_shape=[3, 3], pads=[1] * 4), y)
        return g.model(g.pooled(g.conv(y, width, width, 3, group=width, act="gelu"), width, 100))
    return build


def focus(size=96, width=32):
    """YOLOv5 and v8: every second pixel, pools of five in a row, distributions of distances."""
    def build():
        g = Net((1, 3, size, size))
        parts = [cut(g, cut(g, "x", 2, i, size, 2), 3, j, size, 2) for i in (0, 1) for j in (0, 1)]
        y = g.conv(g.op("Concat", *parts, axis=1), 12, width, 3, act="silu")
        y = g.conv(y, width, 2 * width, 3, 2, act="silu")
        z = [g.conv(y, 2 * width, width, act="silu")]
        for _ in range(3):
            z.append(g.op("MaxPool", z[-1], kernel_shape=[5, 5], pads=[2] * 4))
        y = g.conv(g.op("Concat", *z, axis=1), 4 * width, 64, act="silu")
        n = (size // 4) ** 2
        d = g.op("Transpose", g.shape_of(g.conv(y, 64, 64), 1, 4, 16, n), perm=[0, 2, 1, 3])
        w = g.constant(np.arange(16, dtype="f4").reshape(1, 16, 1, 1))
        d = g.shape_of(g.op("Conv", g.op("Softmax", d, axis=1), w, kernel_shape=[1, 1]), 1, 4, n)
        return g.model(g.op("Concat", d, g.op("Sigmoid", g.shape_of(g.conv(y, 64, 20), 1, 20, n)), axis=1))
    return build


def phrases(length=64, words=2000, width=128):
    """TextCNN: embedded words, windows of three widths, the maximum over time."""
    def build():
        g = Net((1, length))
        at = g.op("Cast", g.op("Abs", g.op("Mul", "x", scalar(g, 300))), to=onnx.TensorProto.INT64)
        y = g.op("Transpose", g.op("Gather", g.weight(words, width, scale=1.0), at), perm=[0, 2, 1])
        parts = [g.op("GlobalMaxPool", g.op("Relu", g.op("Conv", y, g.weight(100, width, k), g.weight(100), kernel_shape=[k])))
                 for k in (3, 4, 5)]
        return g.model(g.op("Softmax", g.linear(g.op("Flatten", g.op("Concat", *parts, axis=1)), 300, 5), axis=1))
    return build


def gated(length=128, width=64, layers=2):
    """gMLP: tokens are mixed by a product from the left, gates; a shift in time of some channels."""
    def build():
        g, y = Net((1, length, width)), "x"
        for _ in range(layers):
            u, v = split(g, g.act(g.linear(g.norm(y, width), width, 4 * width), "gelu"), [2 * width] * 2, 2)
            v = g.op("Add", g.op("MatMul", g.weight(length, length), g.norm(v, 2 * width)), g.weight(length, 1, scale=1.0))
            y = g.op("Add", y, g.linear(g.op("Mul", u, v), 2 * width, width))
            a, b = split(g, y, [width // 4, 3 * width // 4], 2)
            a = g.op("Pad", cut(g, a, 1, 0, length - 1), g.constant(ints([0, 1, 0, 0, 0, 0])))
            y = g.op("Concat", a, b, axis=2)
        return g.model(y)
    return build


def faces(size=56, width=32):
    """ArcFace: PReLU, batch norms first, a normalized vector against normalized centres."""
    def build():
        g = Net((1, 3, size, size))
        y, channels = g.op("PRelu", g.conv("x", 3, width, 3), g.weight(width, 1, 1)), width
        for filters in (width, 2 * width, 4 * width):
            z = g.op("PRelu", g.conv(g.batch_norm(y, channels), channels, filters, 3), g.weight(filters, 1, 1))
            y, channels = g.op("Add", g.conv(z, filters, filters, 3, 2), g.conv(y, channels, filters, 1, 2)), filters
        y = g.linear(g.op("Flatten", g.batch_norm(y, channels)), channels * (size // 8) ** 2, 128)
        y = g.op("LpNormalization", y, axis=1, p=2)
        centres = g.random.standard_normal((128, 200)).astype("f4")
        return g.model(g.op("MatMul", y, g.constant(centres / np.linalg.norm(centres, axis=0))))
    return build


def encoder_batch(batch=4, length=128, width=256):
    """A batch of sequences with a mask each."""
    def build():
        g = Net((batch, length, width))
        mask = g.constant(np.where(np.arange(length) < g.random.integers(60, length, (batch, 1)), 0, -1e4).astype("f4").reshape(batch, 1, 1, length))
        return g.model(g.encoder(g.encoder("x", batch, length, width, 8, bias=mask), batch, length, width, 8, bias=mask))
    return build


def sound_events(bins=64, frames=96):
    """A CNN on spectrograms, then a GRU in both directions, attention pooling."""
    def build():
        g, y, channels = Net((1, 1, frames, bins)), "x", 1
        for filters in (32, 64, 64):
            y = g.op("AveragePool", g.op("Relu", g.batch_norm(g.conv(y, channels, filters, 3), filters)), kernel_shape=[1, 4], strides=[1, 4])
            channels = filters
        y = g.shape_of(g.op("Transpose", y, perm=[2, 0, 1, 3]), frames, 1, channels)
        w, r = g.weight(2, 192, channels, scale=0.1), g.weight(2, 192, 64, scale=0.1)
        y = g.op("GRU", y, w, r, g.weight(2, 384, scale=0.1), hidden_size=64, direction="bidirectional", linear_before_reset=1)
        y = g.shape_of(g.op("Transpose", y, perm=[2, 0, 1, 3]), 1, frames, 128)
        a, b = g.op("Softmax", g.linear(y, 128, 10), axis=1), g.op("Sigmoid", g.linear(y, 128, 10))
        return g.model(reduce(g, "ReduceSum", g.op("Mul", a, b), 1, keepdims=0))
    return build


OTHERS = {
    "resnet-batch": resnet_batch(), "odd": odd(), "warp": warp(), "regions": regions(), "suppression": suppression(),
    "spectrum": spectrum(), "fourier": fourier(), "linear-attention": linear_attention(), "radiance": radiance(),
    "flow": flow(), "experts": experts(), "capsules": capsules(), "dense-residuals": dense_residuals(),
    "pyramid": pyramid(), "dilated": dilated(), "text-lines": text_lines(), "neighbours": neighbours(),
    "graph-attention": graph_attention(), "equation": equation(), "latents": latents(), "optical-flow": optical_flow(),
    "separation": separation(), "cached-step": cached_step(), "modulated": modulated(), "relative": relative(),
    "covariance": covariance(), "focus": focus(), "phrases": phrases(), "gated": gated(), "faces": faces(),
    "encoder-batch": encoder_batch(), "sound-events": sound_events(),
}
