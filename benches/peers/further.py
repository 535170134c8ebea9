"""Further networks: forms of layers that those of networks.py do not have.

They were written after the kernels, to see what falls behind: cross attention and group norms, rotary positions and
grouped heads, unpadded and fractional windows, batches, 16-bit and 64-bit floats, weights that are no constants, graphs.
"""

import numpy as np
import onnx
from onnx import helper

from networks import Net, ints


def split(g, x, sizes, axis):
    names = [f"s{len(g.nodes)}_{i}" for i in range(len(sizes))]
    g.nodes.append(helper.make_node("Split", [x, g.constant(ints(sizes))], names, axis=axis))
    return names


def group_norm(g, x, channels, groups, side):
    y = g.op("InstanceNormalization", g.shape_of(x, 1, groups, -1), g.constant(np.ones(groups, g.dtype)),
             g.constant(np.zeros(groups, g.dtype)))
    y = g.shape_of(y, 1, channels, side, side)
    return g.op("Add", g.op("Mul", y, g.weight(channels, 1, 1, scale=1.0)), g.weight(channels, 1, 1, scale=0.1))


def diffusion(side=32, width=64, words=16, heads=4):
    """A block of a diffusion U-Net: group norms with SiLU, self and cross attention, GEGLU."""
    def build():
        g = Net((1, 4, side, side))
        text = g.input("text", (1, words, width))
        y, n = g.conv("x", 4, width, 3), side * side
        for _ in range(2):
            z = g.conv(g.act(group_norm(g, y, width, 8, side), "silu"), width, width, 3)
            z = g.conv(g.act(group_norm(g, z, width, 8, side), "silu"), width, width, 3)
            y = g.op("Add", y, z)
        z = g.op("Transpose", g.shape_of(group_norm(g, y, width, 8, side), 1, width, n), perm=[0, 2, 1])
        z = g.op("Add", z, g.attention(g.norm(z, width), 1, n, width, heads))
        size, h = width // heads, g.norm(z, width)
        q = g.heads(g.linear(h, width, width), 1, n, heads, size)
        k, v = (g.heads(g.linear(text, width, width), 1, words, heads, size) for _ in range(2))
        s = g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2]))
        s = g.op("Softmax", g.op("Mul", s, g.constant(np.float32(size**-0.5))), axis=-1)
        s = g.op("Transpose", g.op("MatMul", s, v), perm=[0, 2, 1, 3])
        z = g.op("Add", z, g.linear(g.shape_of(s, 1, n, width), width, width))
        a, b = split(g, g.linear(g.norm(z, width), width, 8 * width), [4 * width] * 2, 2)
        z = g.op("Add", z, g.linear(g.op("Mul", a, g.act(b, "gelu")), 4 * width, width))
        z = g.shape_of(g.op("Transpose", z, perm=[0, 2, 1]), 1, width, side, side)
        return g.model(g.conv(g.act(group_norm(g, g.op("Add", y, z), width, 8, side), "silu"), width, 4, 3))
    return build


def llama(length=64, width=256, heads=8, shared=2, layers=2, dtype=np.float32):
    """Rotary positions, grouped heads, RMS norms, SwiGLU, a causal mask."""
    def build():
        g = Net((1, length, width), dtype)
        size, rest = width // heads, heads // shared
        f = g.dtype.type
        angles = np.outer(np.arange(length), 1e4 ** (-np.arange(0, size, 2) / size))
        cos, sin = (g.constant(np.tile(v, 2)[None, None].astype(g.dtype)) for v in (np.cos(angles), np.sin(angles)))
        mask = g.constant(np.triu(np.full((1, 1, length, length), -1e4), 1).astype(g.dtype))

        def norm(x):
            square = g.op("ReduceMean", g.op("Mul", x, x), g.constant(ints([-1])))
            root = g.op("Sqrt", g.op("Add", square, g.constant(f(1e-5))))
            return g.op("Mul", g.op("Div", x, root), g.weight(width, scale=1.0))

        def linear(x, inputs, outputs):
            return g.op("MatMul", x, g.weight(inputs, outputs, scale=inputs**-0.5))

        def rotate(x):
            a, b = split(g, x, [size // 2] * 2, 3)
            turned = g.op("Concat", g.op("Neg", b), a, axis=3)
            return g.op("Add", g.op("Mul", x, cos), g.op("Mul", turned, sin))

        def repeat(x):
            x = g.op("Expand", g.op("Unsqueeze", x, g.constant(ints([2]))), g.constant(ints([1, shared, rest, length, size])))
            return g.shape_of(x, 1, heads, length, size)
        y = "x"
        for _ in range(layers):
            h = norm(y)
            q = rotate(g.heads(linear(h, width, width), 1, length, heads, size))
            k = repeat(rotate(g.heads(linear(h, width, shared * size), 1, length, shared, size)))
            v = repeat(g.heads(linear(h, width, shared * size), 1, length, shared, size))
            s = g.op("Div", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), g.constant(f(size**0.5)))
            s = g.op("Softmax", g.op("Add", s, mask), axis=-1)
            z = g.shape_of(g.op("Transpose", g.op("MatMul", s, v), perm=[0, 2, 1, 3]), 1, length, width)
            y = g.op("Add", y, linear(z, width, width))
            h = norm(y)
            z = g.op("Mul", g.act(linear(h, width, 3 * width), "silu"), linear(h, width, 3 * width))
            y = g.op("Add", y, linear(z, 3 * width, width))
        return g.model(norm(y))
    return build


def four_bits(width=512, block=32, layers=2):
    """Products with weights of four bits, one row."""
    def build():
        g, y = Net((1, width)), "x"
        for inputs, outputs in ((width, 4 * width), (4 * width, width)) * layers:
            blocks = inputs // block
            w = g.constant(g.random.integers(0, 256, (outputs, blocks, block // 2), dtype=np.uint8))
            s = g.constant((g.random.random(outputs * blocks) * 0.02).astype("f4"))
            y = g.op("MatMulNBits", y, w, s, domain="com.microsoft", K=inputs, N=outputs, bits=4, block_size=block)
            y = g.act(y, "gelu") if outputs > inputs else y
        return g.model(y)
    return build


def embedded_weights(length=32, width=256, layers=3):
    """Weights stored as 8-bit integers with a scale for each column, widened in the graph."""
    def build():
        g, y = Net((1, length, width)), "x"
        for _ in range(layers):
            w = g.constant(g.random.integers(-127, 128, (width, width)).astype("i1"))
            w = g.op("Mul", g.op("Cast", w, to=onnx.TensorProto.FLOAT), g.constant((g.random.random(width) * 1e-3).astype("f4")))
            y = g.op("Relu", g.op("MatMul", y, w))
        return g.model(y)
    return build


def autoencoder(size=64, width=32, batch=4):
    """A batch of images; strided windows down, transposed ones up, ELU."""
    def build():
        g, y, channels = Net((batch, 3, size, size)), "x", 3
        for filters in (width, 2 * width, 4 * width):
            y, channels = g.op("Elu", g.conv(y, channels, filters, 4 - 1, 2)), filters
        for filters in (2 * width, width, 3):
            w = g.weight(channels, filters, 4, 4, scale=0.05)
            y = g.op("ConvTranspose", y, w, g.weight(filters), kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4)
            y, channels = g.op("Elu", y) if filters > 3 else g.op("Tanh", y), filters
        return g.model(y)
    return build


def generator(width=128):
    """DCGAN: from a vector to an image, LeakyRelu and batch norms."""
    def build():
        g = Net((1, 100, 1, 1))
        w = g.weight(100, 4 * width, 4, 4)
        y, channels = g.op("ConvTranspose", "x", w, kernel_shape=[4, 4]), 4 * width
        for filters in (2 * width, width, width // 2):
            y = g.op("LeakyRelu", g.batch_norm(y, channels), alpha=0.2)
            w = g.weight(channels, filters, 4, 4, scale=0.03)
            y = g.op("ConvTranspose", y, w, kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4)
            channels = filters
        return g.model(g.op("Tanh", g.conv(g.op("Relu", y), channels, 3, 3)))
    return build


def classic(size=120):
    """AlexNet and VGG: large unpadded windows, LRN, overlapping pools, wide products."""
    def build():
        g = Net((1, 3, size, size))
        y = g.op("Relu", g.op("Conv", "x", g.weight(64, 3, 11, 11), g.weight(64), kernel_shape=[11, 11], strides=[4, 4]))
        y = g.op("MaxPool", g.op("LRN", y, size=5), kernel_shape=[3, 3], strides=[2, 2])
        y = g.op("Relu", g.op("Conv", y, g.weight(192, 32, 5, 5), g.weight(192), kernel_shape=[5, 5], pads=[2] * 4, group=2))
        y = g.op("MaxPool", g.op("LRN", y, size=5), kernel_shape=[3, 3], strides=[2, 2])
        y = g.conv(g.conv(y, 192, 384, 3, act="Relu"), 384, 256, 3, act="Relu")
        y = g.op("Flatten", y)
        side = 6
        y = g.op("Relu", g.op("Gemm", y, g.weight(1024, 256 * side * side, scale=0.01), g.weight(1024), transB=1))
        return g.model(g.op("Softmax", g.op("Gemm", y, g.weight(100, 1024, scale=0.03), g.weight(100), transB=1), axis=1))
    return build


def mobile_vit(side=16, width=64):
    """Patches of an image unfolded for attention and folded again, depthwise windows between."""
    def build():
        g = Net((1, width, side, side))
        n, y = side // 2, g.conv("x", width, width, 3, act="silu")
        z = g.shape_of(g.conv(y, width, 96), 96 * n, 2, n, 2)
        z = g.shape_of(g.op("Transpose", z, perm=[0, 2, 1, 3]), 1, 96, n * n, 4)
        z = g.shape_of(g.op("Transpose", z, perm=[0, 3, 2, 1]), 4, n * n, 96)
        for _ in range(2):
            z = g.encoder(z, 4, n * n, 96, 4, "silu")
        z = g.op("Transpose", g.shape_of(g.norm(z, 96), 1, 4, n * n, 96), perm=[0, 3, 2, 1])
        z = g.op("Transpose", g.shape_of(z, 96 * n, n, 2, 2), perm=[0, 2, 1, 3])
        z = g.conv(g.shape_of(z, 1, 96, side, side), 96, width, act="silu")
        y = g.conv(g.op("Concat", y, z, axis=1), 2 * width, width, 3, act="silu")
        return g.model(g.pooled(y, width, 100))
    return build


def video(frames=8, size=56):
    """Windows over space, then over time, as in R(2+1)D; a batch norm and pool each."""
    def build():
        g = Net((1, 3, frames, size, size))
        y, channels = "x", 3
        for filters, stride in ((32, 2), (64, 2), (128, 2)):
            w = g.weight(filters, channels, 1, 3, 3)
            y = g.op("Conv", y, w, kernel_shape=[1, 3, 3], strides=[1, stride, stride], pads=[0, 1, 1] * 2)
            y = g.op("Relu", g.batch_norm(y, filters))
            w = g.weight(filters, filters, 3, 1, 1)
            y = g.op("Relu", g.op("Conv", y, w, g.weight(filters), kernel_shape=[3, 1, 1], pads=[1, 0, 0] * 2))
            channels = filters
        return g.model(g.linear(g.op("Flatten", g.op("GlobalAveragePool", y)), channels, 50))
    return build


def tabular(batch=256, columns=64):
    """A batch of rows: embeddings, crossed products, SELU."""
    def build():
        g, y, inputs = Net((batch, columns)), "x", columns
        for outputs in (256, 128, 64):
            y, inputs = g.op("Selu", g.op("Gemm", y, g.weight(inputs, outputs), g.weight(outputs))), outputs
        y = g.op("Concat", y, g.op("Mul", "x", g.op("ReduceSum", "x", g.constant(ints([1])))), axis=1)
        return g.model(g.op("Sigmoid", g.linear(y, 64 + columns, 1)))
    return build


def recommender(batch=64, fields=26, size=32):
    """Products of all pairs of embeddings, as in DLRM: no weights in them."""
    def build():
        g = Net((batch, fields * size))
        y = g.shape_of("x", batch, fields, size)
        pairs = g.op("MatMul", y, g.op("Transpose", y, perm=[0, 2, 1]))
        y = g.op("Concat", g.op("Flatten", pairs), "x", axis=1)
        y = g.op("Relu", g.linear(y, fields * fields + fields * size, 256))
        return g.model(g.op("Sigmoid", g.linear(y, 256, 1)))
    return build


def graph_network(nodes=512, edges=2048, width=64):
    """Messages along edges, gathered and summed per node."""
    def build():
        g, y = Net((nodes, width)), "x"
        ends = [g.constant(g.random.integers(0, nodes, (edges,)).astype(ints)) for _ in range(2)]
        target = g.op("Expand", g.op("Unsqueeze", ends[1], g.constant(ints([1]))), g.constant(ints([edges, width])))
        zeros = g.constant(np.zeros((nodes, width), "f4"))
        for _ in range(3):
            m = g.op("Relu", g.linear(g.op("Concat", *(g.op("Gather", y, e) for e in ends), axis=1), 2 * width, width))
            y = g.op("Add", y, g.linear(g.op("ScatterElements", zeros, target, m, axis=0, reduction="add"), width, width))
        return g.model(g.op("ReduceMean", y, g.constant(ints([0]))))
    return build


def batch_lstm(length=24, batch=16, width=96, hidden=160):
    """Sequences in a batch, one direction, states in and out, then attention over the steps."""
    def build():
        g = Net((length, batch, width))
        w, r = g.weight(1, 4 * hidden, width, scale=0.08), g.weight(1, 4 * hidden, hidden, scale=0.08)
        y = g.shape_of(g.op("LSTM", "x", w, r, g.weight(1, 8 * hidden, scale=0.1), hidden_size=hidden), length, batch, hidden)
        y = g.op("Transpose", y, perm=[1, 0, 2])
        s = g.op("Softmax", g.linear(g.op("Tanh", g.linear(y, hidden, 64)), 64, 1), axis=1)
        y = g.op("ReduceSum", g.op("Mul", y, s), g.constant(ints([1])), keepdims=0)
        return g.model(g.linear(y, hidden, 10))
    return build


def state_space(length=64, width=128, states=16):
    """A selective state space: products, a depthwise window, a scan over steps."""
    def build():
        g = Net((1, length, width))
        z, gate = split(g, g.linear("x", width, 4 * width), [2 * width] * 2, 2)
        z = g.op("Pad", g.op("Transpose", z, perm=[0, 2, 1]), g.constant(ints([0, 0, 3, 0, 0, 0])))
        z = g.op("Conv", z, g.weight(2 * width, 1, 4), g.weight(2 * width), kernel_shape=[4], group=2 * width)
        z = g.act(g.op("Transpose", z, perm=[0, 2, 1]), "silu")
        z = g.shape_of(z, length, 2 * width, 1)
        step = g.op("Softplus", g.weight(length, 2 * width, 1))
        decay = g.op("Exp", g.op("Mul", step, g.constant(-np.arange(1, states + 1, dtype="f4").reshape(1, 1, -1))))
        more = g.op("Mul", z, g.weight(length, 1, states))
        body = helper.make_graph(
            [helper.make_node("Mul", ["h", "d"], ["hd"]), helper.make_node("Add", ["hd", "m"], ["next"]),
             helper.make_node("Identity", ["next"], ["out"])], "step",
            [helper.make_tensor_value_info(n, 1, [2 * width, states]) for n in ("h", "d", "m")],
            [helper.make_tensor_value_info(n, 1, [2 * width, states]) for n in ("next", "out")])
        start = g.constant(np.zeros((2 * width, states), "f4"))
        g.nodes.append(helper.make_node("Scan", [start, decay, more], ["last", "all"], body=body, num_scan_inputs=2))
        y = g.op("ReduceSum", g.op("Mul", "all", g.weight(length, 1, states)), g.constant(ints([2])), keepdims=0)
        y = g.op("Mul", g.shape_of(y, 1, length, 2 * width), g.act(gate, "silu"))
        return g.model(g.linear(y, 2 * width, width))
    return build


def filters_from_inputs(size=32, width=32):
    """A convolution whose filters another layer computes, and a product of the image with itself."""
    def build():
        g = Net((1, width, size, size))
        code = g.op("Flatten", g.op("GlobalAveragePool", "x"))
        w = g.shape_of(g.linear(code, width, width * width * 9), width, width, 3, 3)
        y = g.op("Relu", g.op("Conv", "x", w, kernel_shape=[3, 3], pads=[1] * 4))
        y = g.shape_of(y, width, size * size)
        return g.model(g.op("MatMul", y, g.op("Transpose", y, perm=[1, 0])))
    return build


def correlation(size=48, width=64):
    """A Siamese tracker: the features of one image slide over those of the other."""
    def build():
        g = Net((1, 3, size, size))
        other = g.input("y", (1, 3, 24, 24))
        def tower(x):
            return g.conv(g.conv(x, 3, width, 3, 2, act="Relu"), width, width, 3, act="Relu")
        w = g.shape_of(tower(other), width, 1, 12, 12)
        return g.model(g.op("Conv", tower("x"), w, kernel_shape=[12, 12], group=width))
    return build


def double(batch=16, width=256):
    """64-bit floats."""
    def build():
        g, y = Net((batch, width), np.float64), "x"
        for _ in range(3):
            y = g.op("Tanh", g.op("Add", g.op("MatMul", y, g.weight(width, width)), g.weight(width)))
        return g.model(y)
    return build


def keypoints(size=64, width=32):
    """Two resolutions that exchange what they see, as in HRNet, then the place of each maximum."""
    def build():
        g = Net((1, 3, size, size))
        y = g.conv(g.conv("x", 3, width, 3, 2, act="Relu"), width, width, 3, act="Relu")
        z = g.conv(y, width, 2 * width, 3, 2, act="Relu")
        for _ in range(2):
            y2, z2 = g.conv(y, width, width, 3, act="Relu"), g.conv(z, 2 * width, 2 * width, 3, act="Relu")
            up = g.op("Resize", g.conv(z2, 2 * width, width), "", g.constant(np.float32([1, 1, 2, 2])), mode="linear")
            y, z = g.op("Relu", g.op("Add", y2, up)), g.op("Relu", g.op("Add", z2, g.conv(y2, width, 2 * width, 3, 2)))
        heat = g.shape_of(g.conv(y, width, 17), 17, (size // 2) ** 2)
        return g.model(g.op("Cast", g.op("ArgMax", heat, axis=1), to=onnx.TensorProto.FLOAT))
    return build


def proposals(count=400):
    """The end of a detector: boxes from offsets, the best of them, and those without overlap."""
    def build():
        g = Net((1, count, 4))
        size = g.op("Exp", g.op("Mul", "x", g.constant(np.float32(0.2))))
        low = g.op("Sub", "x", size)
        corners = g.op("Concat", g.op("Slice", low, g.constant(ints([0])), g.constant(ints([2])), g.constant(ints([2]))),
                       g.op("Slice", g.op("Add", "x", size), g.constant(ints([0])), g.constant(ints([2])), g.constant(ints([2]))), axis=2)
        scores = g.op("Sigmoid", g.op("ReduceSum", "x", g.constant(ints([2])), keepdims=0))
        names = ["best", "where"]
        g.nodes.append(helper.make_node("TopK", [scores, g.constant(ints([100]))], names, axis=1))
        rows = g.op("GatherND", corners, g.op("Unsqueeze", "where", g.constant(ints([2]))), batch_dims=1)
        return g.model(rows)
    return build


def harmonics(length=4096, width=32):
    """Sines with a Snake activation: 1-d windows around elementwise work."""
    def build():
        g, y, channels = Net((1, 1, length)), "x", 1
        for _ in range(3):
            y, channels = g.conv(y, channels, width, 7, rank=1), width
            s = g.op("Sin", g.op("Mul", y, g.weight(width, 1, scale=1.0)))
            y = g.op("Add", y, g.op("Mul", s, s))
        return g.model(g.op("Tanh", g.conv(y, width, 1, 7, rank=1)))
    return build


def ghost(size=56, width=48):
    """Cheap features beside dear ones, channel and spatial gates (CBAM), PReLU, hard sigmoids."""
    def build():
        g = Net((1, 3, size, size))
        y = g.op("PRelu", g.conv("x", 3, width, 3, 2), g.weight(width, 1, 1))
        for _ in range(2):
            a = g.op("PRelu", g.conv(y, width, width // 2), g.weight(width // 2, 1, 1))
            b = g.conv(a, width // 2, width // 2, 3, group=width // 2, act="Relu")
            y = g.op("Add", y, g.op("Concat", a, b, axis=1))
            pooled = [g.op(k, y) for k in ("GlobalAveragePool", "GlobalMaxPool")]
            gates = [g.conv(g.conv(p, width, 8, act="Relu"), 8, width) for p in pooled]
            y = g.op("Mul", y, g.op("Sigmoid", g.op("Add", *gates)))
            maps = [g.op(k, y, g.constant(ints([1]))) for k in ("ReduceMean", "ReduceMax")]
            y = g.op("Mul", y, g.op("Sigmoid", g.conv(g.op("Concat", *maps, axis=1), 2, 1, 7)))
        return g.model(g.pooled(y, width, 50))
    return build


def einsums(length=64, width=128, heads=4):
    """Attention in einsum notation, as exported from JAX."""
    def build():
        g, size = Net((2, length, width)), width // heads
        q, k, v = (g.op("Einsum", "x", g.weight(width, heads, size, scale=width**-0.5), equation="btd,dhs->bths") for _ in range(3))
        s = g.op("Softmax", g.op("Einsum", q, k, equation="bqhs,bkhs->bhqk"), axis=-1)
        y = g.op("Einsum", s, v, equation="bhqk,bkhs->bqhs")
        return g.model(g.op("Einsum", y, g.weight(heads, size, width, scale=width**-0.5), equation="bqhs,hsd->bqd"))
    return build


FURTHER = {
    "diffusion": diffusion(),
    "llama": llama(),
    "llama-f16": llama(dtype=np.float16),
    "four-bits": four_bits(),
    "stored-int8": embedded_weights(),
    "autoencoder": autoencoder(),
    "generator": generator(),
    "classic": classic(),
    "mobile-vit": mobile_vit(),
    "video-2+1": video(),
    "tabular": tabular(),
    "recommender": recommender(),
    "graph": graph_network(),
    "lstm-batch": batch_lstm(),
    "state-space": state_space(),
    "filters": filters_from_inputs(),
    "correlation": correlation(),
    "double": double(),
    "keypoints": keypoints(),
    "proposals": proposals(),
    "harmonics": harmonics(),
    "ghost": ghost(),
    "einsums": einsums(),
}
