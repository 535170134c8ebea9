"""Networks of forms that the other sets do not have, written after everything else: none was looked at while kernels were made.

Several heads and scales, cross attention, gates, state spaces, modulated filters, correlations, codebooks,
the layers of onnxruntime's `com.microsoft` that exporters write, shapes computed in the graph.
"""

import numpy as np
import onnx
from onnx import helper

from further import split
from networks import S8, U8, U8U8, Net, ints, quantized
from others import cut, one, reduce, scalar


def same(g, x, inputs, filters, kernel, stride=1, group=1, act=None):
    """A convolution whose padding is to be computed, and a norm after it, as TensorFlow's exporters leave them."""
    w = g.weight(filters, inputs // group, kernel, kernel, scale=(2 / (inputs // group * kernel**2)) ** 0.5)
    y = g.op("Conv", x, w, kernel_shape=[kernel] * 2, strides=[stride] * 2, group=group, auto_pad="SAME_UPPER")
    return g.act(g.batch_norm(y, filters), act)


def c2f(g, x, inputs, filters, count):
    """Halves of which one goes through bottlenecks; every stage is kept."""
    y = g.conv(x, inputs, filters, act="silu")
    parts = split(g, y, [filters // 2] * 2, 1)
    for _ in range(count):
        z = g.conv(g.conv(parts[-1], filters // 2, filters // 2, 3, act="silu"), filters // 2, filters // 2, 3, act="silu")
        parts.append(g.op("Add", parts[-1], z))
    return g.conv(g.op("Concat", *parts, axis=1), (2 + count) * filters // 2, filters, act="silu")


def detector_v8(size=128, width=32, bins=16, classes=20):
    """Three scales, a pyramid both ways, distributions over distances whose mean is a box."""
    def build():
        g = Net((1, 3, size, size))
        y = g.conv(g.conv("x", 3, width // 2, 3, 2, act="silu"), width // 2, width, 3, 2, act="silu")
        y, levels = c2f(g, y, width, width, 1), []
        for i in (2, 4, 8):
            y = c2f(g, g.conv(y, width * i // 2, width * i, 3, 2, act="silu"), width * i, width * i, 1)
            levels.append(y)
        pools = [g.conv(levels[2], width * 8, width * 4, act="silu")]
        for _ in range(3):
            pools.append(g.op("MaxPool", pools[-1], kernel_shape=[5, 5], strides=[1, 1], pads=[2] * 4))
        levels[2] = g.conv(g.op("Concat", *pools, axis=1), width * 16, width * 8, act="silu")
        twice = g.constant(np.float32([1, 1, 2, 2]))
        for i in (1, 0):
            up = g.op("Resize", levels[i + 1], "", twice, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
            levels[i] = c2f(g, g.op("Concat", up, levels[i], axis=1), width * (2 << i) * 3, width * (2 << i), 1)
        found = []
        for i, level in enumerate(levels):
            n, channels = (size // (8 << i)) ** 2, width * (2 << i)
            boxes = g.conv(g.conv(level, channels, 64, 3, act="silu"), 64, 4 * bins)
            names = g.conv(g.conv(level, channels, 64, 3, act="silu"), 64, classes)
            found.append(g.shape_of(g.op("Concat", boxes, names, axis=1), 1, 4 * bins + classes, n))
        found = g.op("Concat", *found, axis=2)
        n = sum((size // (8 << i)) ** 2 for i in range(3))
        boxes, names = cut(g, found, 1, 0, 4 * bins), cut(g, found, 1, 4 * bins, 4 * bins + classes)
        boxes = g.op("Softmax", g.op("Transpose", g.shape_of(boxes, 1, 4, bins, n), perm=[0, 2, 1, 3]), axis=1)
        w = g.constant(np.arange(bins, dtype="f4").reshape(1, bins, 1, 1))
        boxes = g.shape_of(g.op("Conv", boxes, w, kernel_shape=[1, 1]), 1, 4, n)
        return g.model(g.op("Concat", boxes, g.op("Sigmoid", names), axis=1))
    return build


def cross(g, x, memory, length, other, width, heads):
    size = width // heads
    q = g.heads(g.linear(x, width, width), 1, length, heads, size)
    k, v = (g.heads(g.linear(memory, width, width), 1, other, heads, size) for _ in range(2))
    scores = g.op("Mul", g.op("MatMul", q, g.op("Transpose", k, perm=[0, 1, 3, 2])), scalar(g, size**-0.5))
    y = g.op("Transpose", g.op("MatMul", g.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    return g.linear(g.shape_of(y, 1, length, width), width, width)


def set_detector(size=128, width=128, heads=8, queries=50):
    """A backbone, an encoder with positions, learned queries that attend to the image."""
    def build():
        g = Net((1, 3, size, size))
        y, channels = g.conv("x", 3, 32, 7, 2, act="Relu"), 32
        for filters in (64, 128, width):
            y, channels = g.conv(g.conv(y, channels, filters, 3, 2, act="Relu"), filters, filters, 3, act="Relu"), filters
        n = (size // 16) ** 2
        memory = g.op("Transpose", g.shape_of(y, 1, width, n), perm=[0, 2, 1])
        memory = g.op("Add", memory, g.weight(1, n, width, scale=0.3))
        for _ in range(2):
            memory = g.encoder(memory, 1, n, width, heads, "Relu")
        x = g.weight(1, queries, width, scale=1.0)
        for _ in range(2):
            x = g.norm(g.op("Add", x, g.attention(x, 1, queries, width, heads)), width)
            x = g.norm(g.op("Add", x, cross(g, x, memory, queries, n, width, heads)), width)
            z = g.linear(g.op("Relu", g.linear(x, width, 512)), 512, width)
            x = g.norm(g.op("Add", x, z), width)
        boxes = g.op("Sigmoid", g.linear(g.op("Relu", g.linear(x, width, width)), width, 4))
        return g.model(g.op("Concat", boxes, g.linear(x, width, 21), axis=2))
    return build


def hear(frames=300, bins=80, width=256, heads=4, words=24):
    """Encoder and decoder of speech: two windows over time, sinusoids, a causal decoder with cross attention."""
    def build():
        g = Net((1, bins, frames))
        y = g.conv(g.conv("x", bins, width, 3, act="gelu", rank=1), width, width, 3, 2, act="gelu", rank=1)
        n = (frames + 1) // 2
        y = g.op("Add", g.op("Transpose", y, perm=[0, 2, 1]), g.weight(1, n, width, scale=0.3))
        y = g.norm(g.encoder(y, 1, n, width, heads), width)
        x = g.weight(1, words, width, scale=1.0)
        mask = g.constant(np.triu(np.full((words, words), -1e9, "f4"), 1))
        for _ in range(2):
            x = g.op("Add", x, g.attention(g.norm(x, width), 1, words, width, heads, mask))
            x = g.op("Add", x, cross(g, g.norm(x, width), y, words, n, width, heads))
            x = g.op("Add", x, g.linear(g.act(g.linear(g.norm(x, width), width, 4 * width), "gelu"), 4 * width, width))
        return g.model(g.linear(g.norm(x, width), width, 2000))
    return build


def waveform_encoder(length=8000, width=192, heads=4):
    """Strided windows on sound, a grouped window of 64 steps for positions, an encoder."""
    def build():
        g, y, channels, steps = Net((1, 1, length)), "x", 1, length
        for kernel, stride in ((10, 5), (3, 2), (3, 2), (3, 2), (2, 2)):
            w = g.weight(width, channels, kernel, scale=(2 / (channels * kernel)) ** 0.5)
            y = g.op("Conv", y, w, g.weight(width, scale=0.1), kernel_shape=[kernel], strides=[stride])
            steps, channels = (steps - kernel) // stride + 1, width
            if kernel == 10:
                y = g.op("InstanceNormalization", y, g.weight(width, scale=1.0), g.weight(width, scale=0.1))
            y = g.act(y, "gelu")
        w = g.weight(width, width // 16, 64, scale=0.1)
        z = g.op("Conv", y, w, g.weight(width, scale=0.1), kernel_shape=[64], pads=[32, 32], group=16)
        y = g.op("Add", y, g.act(cut(g, z, 2, 0, -1), "gelu"))
        y = g.norm(g.op("Transpose", y, perm=[0, 2, 1]), width)
        for _ in range(2):
            y = g.encoder(y, 1, steps, width, heads)
        return g.model(g.linear(y, width, 32))
    return build


def selective(length=48, width=128, states=8):
    """A state space whose transitions depend on the input, as a Scan over time; gates, a causal window of four."""
    def build():
        g = Net((1, length, width))
        inner, x = 2 * width, "x"
        for _ in range(2):
            a, gate = split(g, g.linear(g.norm(x, width), width, 2 * inner), [inner] * 2, 2)
            a = g.op("Transpose", a, perm=[0, 2, 1])
            w = g.weight(inner, 1, 4, scale=0.5)
            a = g.op("Conv", a, w, g.weight(inner, scale=0.1), kernel_shape=[4], pads=[3, 0], group=inner)
            a = g.act(g.op("Transpose", a, perm=[0, 2, 1]), "silu")
            rate = g.op("Softplus", g.linear(a, inner, inner))
            b, c = g.linear(a, inner, states), g.linear(a, inner, states)
            decay = g.op("Exp", g.op("Mul", g.op("Unsqueeze", rate, g.constant(ints([3]))),
                                     g.constant(-g.random.uniform(0.5, 2, (1, 1, inner, states)).astype("f4"))))
            given = g.op("Mul", g.op("Unsqueeze", g.op("Mul", rate, a), g.constant(ints([3]))), g.op("Unsqueeze", b, g.constant(ints([2]))))
            step = [helper.make_node("Mul", ["h", "d"], ["hd"]), helper.make_node("Add", ["hd", "u"], ["h1"]),
                    helper.make_node("MatMul", ["h1", "c"], ["yc"])]
            value = helper.make_tensor_value_info
            body = helper.make_graph(step, "step", [value("h", 1, [1, inner, states]), value("d", 1, [1, inner, states]),
                                                    value("u", 1, [1, inner, states]), value("c", 1, [1, states, 1])],
                                     [value("h1", 1, [1, inner, states]), value("yc", 1, [1, inner, 1])])
            start = g.constant(np.zeros((1, inner, states), "f4"))
            c = g.op("Unsqueeze", c, g.constant(ints([3])))
            y = one(g, "Scan", start, decay, given, c, at=1, body=body, num_scan_inputs=3,
                    scan_input_axes=[1, 1, 1], scan_output_axes=[1])
            y = g.op("Squeeze", y, g.constant(ints([3])))
            y = g.op("Mul", g.op("Add", y, g.op("Mul", a, g.weight(inner, scale=1.0))), g.act(gate, "silu"))
            x = g.op("Add", x, g.linear(y, inner, width))
        return g.model(x)
    return build


def parallel_scales(size=96, widths=(24, 48, 96)):
    """Images of three resolutions that exchange what they know, as networks of poses keep them."""
    def build():
        g = Net((1, 3, size, size))
        y = g.conv(g.conv("x", 3, 32, 3, 2, act="Relu"), 32, widths[0], 3, 2, act="Relu")
        levels = [y]
        for w0, w1 in zip(widths, widths[1:]):
            levels.append(g.conv(levels[-1], w0, w1, 3, 2, act="Relu"))
        for _ in range(2):
            levels = [g.op("Relu", g.op("Add", y, g.conv(g.conv(y, w, w, 3, act="Relu"), w, w, 3))) for y, w in zip(levels, widths)]
            mixed = []
            for i, w in enumerate(widths):
                parts = []
                for j, (y, v) in enumerate(zip(levels, widths)):
                    if j > i:
                        scale = g.constant(np.float32([1, 1, 2 ** (j - i), 2 ** (j - i)]))
                        y = g.op("Resize", g.conv(y, v, w), "", scale, mode="linear", coordinate_transformation_mode="half_pixel")
                    for k in range(j, i):
                        y = g.conv(y, widths[k], widths[k + 1], 3, 2, act="Relu" if k + 1 < i else None)
                    parts.append(y)
                mixed.append(g.op("Relu", g.op("Sum", *parts)))
            levels = mixed
        return g.model(g.conv(levels[0], widths[0], 17))
    return build


def diffusion_block(size=32, width=96, heads=4, words=20):
    """Group norms, a time that shifts channels, attention to the image and to words, up and down."""
    def build():
        g = Net((1, 4, size, size))
        time = g.act(g.linear(g.weight(1, 128, scale=1.0), 128, 4 * width), "silu")
        context = g.weight(1, words, width, scale=1.0)

        def group_norm(x, channels):
            y = g.shape_of(x, 0, 32, -1)
            y = g.op("InstanceNormalization", y, g.constant(np.ones(32, "f4")), g.constant(np.zeros(32, "f4")))
            y = g.op("Reshape", y, g.op("Shape", x))
            return g.op("Add", g.op("Mul", y, g.weight(1, channels, 1, 1, scale=1.0)), g.weight(1, channels, 1, 1, scale=0.1))

        def block(x, inputs, channels):
            y = g.conv(g.act(group_norm(x, inputs), "silu"), inputs, channels, 3)
            shift = g.op("Unsqueeze", g.linear(time, 4 * width, channels), g.constant(ints([2, 3])))
            y = g.conv(g.act(group_norm(g.op("Add", y, shift), channels), "silu"), channels, channels, 3)
            return g.op("Add", y, x if inputs == channels else g.conv(x, inputs, channels))

        def attend(x, channels, side):
            n = side * side
            y = g.op("Transpose", g.shape_of(group_norm(x, channels), 1, channels, n), perm=[0, 2, 1])
            y = g.op("Add", y, g.attention(g.norm(y, channels), 1, n, channels, heads))
            y = g.op("Add", y, cross(g, g.norm(y, channels), g.linear(context, width, channels), n, words, channels, heads))
            a, b = split(g, g.linear(g.norm(y, channels), channels, 4 * channels), [2 * channels] * 2, 2)
            y = g.op("Add", y, g.linear(g.op("Mul", a, g.act(b, "gelu")), 2 * channels, channels))
            return g.op("Add", x, g.shape_of(g.op("Transpose", y, perm=[0, 2, 1]), 1, channels, side, side))

        y = g.conv("x", 4, width, 3)
        first = block(y, width, width)
        y = g.conv(first, width, width, 3, 2)
        y = attend(block(y, width, 2 * width), 2 * width, size // 2)
        up = g.op("Resize", y, "", g.constant(np.float32([1, 1, 2, 2])), mode="nearest")
        y = block(g.op("Concat", g.conv(up, 2 * width, width, 3), first, axis=1), 2 * width, width)
        return g.model(g.conv(g.act(group_norm(y, width), "silu"), width, 4, 3))
    return build


def style_generator(size=16, width=64):
    """Filters scaled by a style and normalised, one group for each image; blurs; noise."""
    def build():
        g = Net((2, 128))
        w = g.op("LeakyRelu", g.linear(g.op("LeakyRelu", g.linear("x", 128, 128), alpha=0.2), 128, 128), alpha=0.2)
        y, side = g.weight(2, width, size, size, scale=1.0), size
        blur = np.outer([1, 3, 3, 1], [1, 3, 3, 1]).astype("f4") / 64
        for _ in range(2):
            style = g.shape_of(g.op("Add", g.linear(w, 128, width), scalar(g, 1)), 2, 1, width, 1, 1)
            f = g.op("Mul", g.weight(1, width, width, 3, 3, scale=0.05), style)
            f = g.op("Div", f, g.op("Sqrt", g.op("Add", reduce(g, "ReduceSumSquare", f, 2, 3, 4), scalar(g, 1e-8))))
            f = g.shape_of(f, 2 * width, width, 3, 3)
            y = g.op("Conv", g.shape_of(y, 1, 2 * width, side, side), f, kernel_shape=[3, 3], pads=[1] * 4, group=2)
            y = g.op("Add", g.shape_of(y, 2, width, side, side), g.weight(1, 1, side, side, scale=0.1))
            y = g.op("LeakyRelu", g.op("Add", y, g.weight(width, 1, 1, scale=0.1)), alpha=0.2)
            kernel = g.constant(np.tile(blur * 4, (width, 1, 1, 1)))
            y = g.op("ConvTranspose", y, kernel, kernel_shape=[4, 4], strides=[2, 2], pads=[1] * 4, group=width)
            side *= 2
        return g.model(g.conv(y, width, 3))
    return build


def codebooks(length=4000, width=48, codes=128, books=3):
    """A codec of sound: an encoder, nearest vectors of several books one after the other, a decoder."""
    def build():
        g, y, channels = Net((1, 1, length)), "x", 1
        for filters, stride in ((width, 1), (width, 2), (2 * width, 4), (2 * width, 5)):
            w = g.weight(filters, channels, max(3, 2 * stride), scale=(2 / (channels * max(3, 2 * stride))) ** 0.5)
            k = max(3, 2 * stride)
            y = g.op("Conv", g.op("Elu", y), w, g.weight(filters, scale=0.1), kernel_shape=[k], strides=[stride], pads=[(k - stride + 1) // 2, (k - stride) // 2])
            channels = filters
        rest = g.op("Transpose", y, perm=[0, 2, 1])
        total = None
        for _ in range(books):
            book = (g.random.standard_normal((codes, channels))).astype("f4")
            near = g.op("MatMul", rest, g.constant(np.ascontiguousarray(book.T)))
            near = g.op("Sub", g.op("Mul", near, scalar(g, 2)), g.constant((book**2).sum(1)))
            chosen = g.op("Gather", g.constant(book), g.op("ArgMax", near, axis=2, keepdims=0), axis=0)
            total = chosen if total is None else g.op("Add", total, chosen)
            rest = g.op("Sub", rest, chosen)
        y = g.op("Transpose", total, perm=[0, 2, 1])
        for filters, stride in ((2 * width, 5), (width, 4), (width, 2)):
            w = g.weight(channels, filters, 2 * stride, scale=0.1)
            y = g.op("ConvTranspose", g.op("Elu", y), w, g.weight(filters, scale=0.1), kernel_shape=[2 * stride], strides=[stride],
                     pads=[(stride + 1) // 2, stride // 2])
            channels = filters
        return g.model(g.op("Tanh", g.conv(y, channels, 1, 7, rank=1)))
    return build


def masks(size=64, width=48):
    """Prototypes times coefficients, masks cut by comparison, as one-stage segmenters give them; PReLU, LRN, LpPool."""
    def build():
        g = Net((1, 3, size, size))
        y = g.op("PRelu", g.conv("x", 3, width, 3, 2), g.weight(width, 1, 1, scale=0.2))
        y = g.op("LRN", y, size=5, alpha=1e-3, beta=0.75, bias=1.0)
        y = g.op("LpPool", y, kernel_shape=[2, 2], strides=[2, 2], p=2)
        y = g.op("PRelu", g.conv(y, width, 2 * width, 3), g.weight(2 * width, 1, 1, scale=0.2))
        n = (size // 4) ** 2
        protos = g.shape_of(g.conv(y, 2 * width, 32, 3, act="Relu"), 32, n)
        weights = g.op("Tanh", g.op("Transpose", g.shape_of(g.conv(y, 2 * width, 32), 32, n), perm=[1, 0]))
        found = g.op("Sigmoid", g.op("MatMul", weights, protos))
        good = g.op("Cast", g.op("Greater", found, scalar(g, 0.5)), to=1)
        return g.model(g.op("Mul", reduce(g, "ReduceSum", g.op("Mul", found, good), 1), g.op("Reciprocal", g.op("Add", reduce(g, "ReduceSum", good, 1), scalar(g, 1)))))
    return build


def tensorflow(size=75, width=32):
    """Channels last with transpositions around each layer, padding to be computed, norms that were not folded."""
    def build():
        g = Net((1, size, size, 3))
        y, channels = "x", 3
        for filters, kernel, stride, group in ((width, 3, 2, 1), (width, 3, 1, width), (2 * width, 1, 1, 1), (2 * width, 5, 2, 2 * width), (4 * width, 1, 1, 1)):
            y = g.op("Transpose", y, perm=[0, 3, 1, 2])
            y = g.op("Transpose", same(g, y, channels, filters, kernel, stride, group), perm=[0, 2, 3, 1])
            y, channels = g.act(y, "relu6"), filters
        y = reduce(g, "ReduceMean", y, 1, 2, keepdims=0)
        return g.model(g.op("Softmax", g.op("Gemm", y, g.weight(channels, 50), g.weight(50, scale=0.1)), axis=1))
    return build


def contrib(length=64, width=256, heads=4):
    """The fused layers of onnxruntime's optimizer: attention, skip norms, gelus with biases."""
    def build():
        g, ms = Net((1, length, width)), {"domain": "com.microsoft"}
        x = "x"
        for _ in range(2):
            y = g.op("Attention", x, g.weight(width, 3 * width, scale=width**-0.5), g.weight(3 * width, scale=0.1), num_heads=heads, **ms)
            y = g.linear(y, width, width)
            x = g.op("SkipLayerNormalization", y, x, g.weight(width, scale=1.0), g.weight(width, scale=0.1), g.weight(width, scale=0.1), epsilon=1e-5, **ms)
            y = g.op("BiasGelu", g.op("MatMul", x, g.weight(width, 4 * width, scale=width**-0.5)), g.weight(4 * width, scale=0.1), **ms)
            y = g.op("MatMul", y, g.weight(4 * width, width, scale=0.03))
            x = g.op("SkipLayerNormalization", y, x, g.weight(width, scale=1.0), g.weight(width, scale=0.1), g.weight(width, scale=0.1), epsilon=1e-5, **ms)
        return g.model(g.linear(x, width, 100))
    return build


def fusion_pyramid(size=96, width=48):
    """Weighted sums of scales, depthwise separable layers: the pyramid of small detectors."""
    def build():
        g = Net((1, 3, size, size))
        y, levels = g.conv(g.conv("x", 3, width, 3, 2, act="silu"), width, width, 3, 2, act="silu"), []
        for _ in range(3):
            y = g.conv(g.conv(y, width, width, 3, 2, group=width, act="silu"), width, width)
            levels.append(y)

        def mix(*parts):
            weights = [g.op("Relu", g.constant(np.float32([g.random.uniform(0.2, 1)]))) for _ in parts]
            total = g.op("Add", g.op("Sum", *weights), scalar(g, 1e-4))
            y = g.op("Div", g.op("Sum", *(g.op("Mul", p, w) for p, w in zip(parts, weights))), total)
            return g.conv(g.conv(g.act(y, "silu"), width, width, 3, group=width), width, width)

        for _ in range(2):
            ups = [levels[2]]
            for level in (levels[1], levels[0]):
                shape = g.op("Shape", level)
                up = g.op("Resize", ups[-1], "", "", shape, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
                ups.append(mix(level, up))
            downs = [ups[2]]
            for level, up in ((levels[1], ups[1]), (levels[2], None)):
                pooled = g.op("MaxPool", downs[-1], kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
                downs.append(mix(*([level, up, pooled] if up else [level, pooled])))
            levels = downs
        heads = [g.op("Flatten", g.conv(g.conv(y, width, width, 3, group=width, act="silu"), width, 36), axis=1) for y in levels]
        return g.model(g.op("Concat", *heads, axis=1))
    return build


def translator(steps=20, width=128, words=500):
    """A recurrent encoder both ways, attention of a decoder's cell inside a Loop."""
    def build():
        g = Net((steps, 1, width))
        y = one(g, "GRU", "x", g.weight(2, 3 * width, width, scale=0.08), g.weight(2, 3 * width, width, scale=0.08),
                g.weight(2, 6 * width, scale=0.1), hidden_size=width, direction="bidirectional", linear_before_reset=1)
        y = g.shape_of(g.op("Transpose", y, perm=[2, 0, 1, 3]), 1, steps, 2 * width)
        keys = g.op("Transpose", g.linear(y, 2 * width, width), perm=[0, 2, 1])
        table, w0, w1, back = g.weight(words, width, scale=1.0), g.weight(3 * width, width), g.weight(width, width), g.weight(width, words)
        node, value = helper.make_node, helper.make_tensor_value_info
        axis = g.constant(ints([1]))
        body = helper.make_graph([
            node("Unsqueeze", ["h", axis], ["q"]), node("MatMul", ["q", keys], ["s"]), node("Softmax", ["s"], ["p"], axis=-1),
            node("MatMul", ["p", y], ["c3"]), node("Squeeze", ["c3", axis], ["c"]), node("Gather", [table, "word"], ["e"], axis=0),
            node("Concat", ["e", "c"], ["i"], axis=1), node("MatMul", ["i", w0], ["a"]), node("MatMul", ["h", w1], ["b"]),
            node("Add", ["a", "b"], ["ab"]), node("Tanh", ["ab"], ["h1"]), node("MatMul", ["h1", back], ["l"]),
            node("ArgMax", ["l"], ["word1"], axis=1, keepdims=0), node("Identity", ["go"], ["go1"])], "step",
            [value("i0", 7, []), value("go", 9, []), value("h", 1, [1, width]), value("word", 7, [1])],
            [value("go1", 9, []), value("h1", 1, [1, width]), value("word1", 7, [1]), value("l", 1, [1, words])])
        first = g.op("Tanh", g.linear(g.op("Squeeze", cut(g, y, 1, -1, steps), axis), 2 * width, width))
        return g.model(one(g, "Loop", g.constant(ints(12)), g.constant(np.bool_(True)), first, g.constant(ints([0])), outputs=3, at=2, body=body))
    return build


def windows(size=56, width=64, heads=2, window=7):
    """Attention in windows, then in a grid, each after an inverted bottleneck."""
    def build():
        g = Net((1, 3, size, size))
        y, side = g.conv(g.conv("x", 3, width, 3, 2, act="gelu"), width, width, 3), size // 2
        for _ in range(2):
            z = g.conv(g.batch_norm(y, width), width, 4 * width, act="gelu")
            z = g.squeeze(g.conv(z, 4 * width, 4 * width, 3, group=4 * width, act="gelu"), 4 * width, width // 4, "silu", "Sigmoid")
            y = g.op("Add", y, g.conv(z, 4 * width, width))
            count = side // window
            for grid in (False, True):
                split_up = (1, width, window, count, window, count) if grid else (1, width, count, window, count, window)
                perm = [0, 3, 5, 2, 4, 1] if grid else [0, 2, 4, 3, 5, 1]
                z = g.shape_of(g.op("Transpose", g.shape_of(y, *split_up), perm=perm), count * count, window * window, width)
                z = g.encoder(z, count * count, window * window, width, heads, bias=g.weight(heads, window * window, window * window, scale=0.1))
                z = g.shape_of(z, 1, count, count, window, window, width)
                back = [0, 5, 3, 1, 4, 2] if grid else [0, 5, 1, 3, 2, 4]
                y = g.shape_of(g.op("Transpose", z, perm=back), 1, width, side, side)
        return g.model(g.pooled(y, width, 100))
    return build


def demix(length=6144, width=32):
    """A U-Net on sound: gated windows of eight, a recurrent middle, transposed windows."""
    def build():
        g = Net((1, 2, length))
        y, channels, skips = "x", 2, []
        for filters in (width, 2 * width, 4 * width):
            w = g.weight(filters, channels, 8, scale=(2 / (8 * channels)) ** 0.5)
            y = g.op("Relu", g.op("Conv", y, w, g.weight(filters, scale=0.1), kernel_shape=[8], strides=[4], pads=[2, 2]))
            a, b = split(g, g.conv(y, filters, 2 * filters, rank=1), [filters] * 2, 1)
            y, channels = g.op("Mul", a, g.op("Sigmoid", b)), filters
            skips.append(y)
        z = g.op("Transpose", y, perm=[2, 0, 1])
        z = one(g, "LSTM", z, g.weight(2, 4 * channels, channels, scale=0.08), g.weight(2, 4 * channels, channels, scale=0.08), outputs=3,
                hidden_size=channels, direction="bidirectional")
        z = g.shape_of(g.op("Transpose", z, perm=[0, 2, 1, 3]), length // 64, 1, 2 * channels)
        y = g.op("Transpose", g.linear(z, 2 * channels, channels), perm=[1, 2, 0])
        for filters in (2 * width, width, 2):
            y = g.op("Add", y, skips.pop())
            a, b = split(g, g.conv(y, channels, 2 * channels, 3, rank=1), [channels] * 2, 1)
            y = g.op("Mul", a, g.op("Sigmoid", b))
            w = g.weight(channels, filters, 8, scale=0.1)
            y, channels = g.op("ConvTranspose", y, w, g.weight(filters, scale=0.1), kernel_shape=[8], strides=[4], pads=[2, 2]), filters
            y = g.op("Relu", y) if filters > 2 else y
        return g.model(y)
    return build


def recurrent_flow(size=32, width=64, steps=3):
    """All pairs of places compared, looked up around a flow, which a convolutional GRU corrects step by step."""
    def build():
        g = Net((2, 3, 4 * size, 4 * size))
        y = g.conv(g.conv("x", 3, width, 7, 2, act="Relu"), width, width, 3, 2, act="Relu")
        a, b = (cut(g, y, 0, i, i + 1) for i in range(2))
        n = size * size
        pairs = g.op("MatMul", g.op("Transpose", g.shape_of(a, 1, width, n), perm=[0, 2, 1]), g.shape_of(b, 1, width, n))
        pairs = g.op("Mul", g.shape_of(pairs, n, 1, size, size), scalar(g, width**-0.5))
        spots = np.stack(np.meshgrid(np.arange(size), np.arange(size)), -1).reshape(n, 1, 1, 2).astype("f4")
        around = np.stack(np.meshgrid(np.arange(-2, 3), np.arange(-2, 3)), -1).reshape(1, 5, 5, 2).astype("f4")
        flow, h = g.constant(np.zeros((n, 1, 1, 2), "f4")), g.op("Tanh", g.conv(a, width, width))
        for _ in range(steps):
            at = g.op("Add", g.op("Add", flow, g.constant(spots)), g.constant(around))
            at = g.op("Sub", g.op("Mul", at, scalar(g, 2 / (size - 1))), scalar(g, 1))
            seen = g.op("GridSample", pairs, at, align_corners=1, padding_mode="zeros")
            seen = g.op("Transpose", g.shape_of(seen, 1, size, size, 25), perm=[0, 3, 1, 2])
            image = g.op("Transpose", g.shape_of(flow, 1, size, size, 2), perm=[0, 3, 1, 2])
            x = g.op("Concat", g.conv(seen, 25, width, act="Relu"), g.conv(image, 2, 16, 3, act="Relu"), axis=1)
            hx = g.op("Concat", h, x, axis=1)
            z, r = (g.op("Sigmoid", g.conv(hx, 2 * width + 16, width, 3)) for _ in range(2))
            q = g.op("Tanh", g.conv(g.op("Concat", g.op("Mul", r, h), x, axis=1), 2 * width + 16, width, 3))
            h = g.op("Add", g.op("Mul", g.op("Sub", scalar(g, 1), z), h), g.op("Mul", z, q))
            change = g.op("Transpose", g.conv(h, width, 2, 3), perm=[0, 2, 3, 1])
            flow = g.op("Add", flow, g.shape_of(change, n, 1, 1, 2))
        return g.model(flow)
    return build


def embeddings(batch=64, fields=12, size=32):
    """Tables of words, products of all pairs, layers beside them: what shops recommend with."""
    def build():
        g = Net((batch, 13))
        dense = g.op("Relu", g.linear(g.op("Relu", g.linear("x", 13, 64)), 64, size))
        rows = []
        for i in range(fields):
            at = g.op("Cast", g.op("Clip", g.op("Mul", g.op("Abs", cut(g, "x", 1, i, i + 1)), scalar(g, 100)), scalar(g, 0), scalar(g, 999)), to=7)
            rows.append(g.op("Gather", g.weight(1000, size, scale=1.0), at, axis=0))
        rows = g.op("Concat", g.op("Unsqueeze", dense, g.constant(ints([1]))), *rows, axis=1)
        pairs = g.op("MatMul", rows, g.op("Transpose", rows, perm=[0, 2, 1]))
        upper = np.argwhere(np.triu(np.ones((fields + 1, fields + 1)), 1))
        pairs = g.op("Transpose", g.op("GatherND", g.op("Transpose", pairs, perm=[1, 2, 0]), g.constant(upper.astype(ints))), perm=[1, 0])
        y = g.op("Concat", dense, pairs, axis=1)
        y = g.op("Relu", g.linear(g.op("Relu", g.linear(y, size + len(upper), 256)), 256, 128))
        return g.model(g.op("Sigmoid", g.linear(y, 128, 1)))
    return build


def language_step(room=256, width=256, heads=8, shared=2, layers=2):
    """One word of a language model as onnxruntime's exporter writes it: grouped queries on a cache, rotations inside."""
    def build():
        g, ms, size = Net((1, 1, width)), {"domain": "com.microsoft"}, width // heads
        angles = np.outer(np.arange(2 * room), 1e4 ** (-np.arange(0, size, 2) / size)).astype("f4")
        fixed = [g.constant(v) for v in (np.int32([room]), np.int32(room + 1), np.cos(angles), np.sin(angles))]
        x, caches = "x", []
        for i in range(layers):
            y = g.op("SimplifiedLayerNormalization", x, g.weight(width, scale=1.0), epsilon=1e-5)
            q, k, v = (g.op("MatMul", y, g.weight(width, n * size)) for n in (heads, shared, shared))
            past = [g.input(f"past_{kind}{i}", (1, shared, room, size)) for kind in "kv"]
            names = [f"heads{i}", f"keys{i}", f"values{i}"]
            g.nodes.append(helper.make_node("GroupQueryAttention", [q, k, v, *past, *fixed], names, num_heads=heads,
                                            kv_num_heads=shared, do_rotary=1, **ms))
            caches += names[1:]
            y, sum_ = f"norm{i}", f"sum{i}"
            g.nodes.append(helper.make_node("SkipSimplifiedLayerNormalization", [
                g.op("MatMul", names[0], g.weight(width, width)), x, g.weight(width, scale=1.0)], [y, "", "", sum_], epsilon=1e-5, **ms))
            a, b = (g.op("MatMul", y, g.weight(width, 4 * width)) for _ in range(2))
            x = g.op("Add", sum_, g.op("MatMul", g.op("Mul", g.act(a, "silu"), b), g.weight(4 * width, width)))
        return g.model(x, *caches)
    return build


WIDER = {
    "detector-v8": detector_v8(), "set-detector": set_detector(), "hear": hear(), "waveform-encoder": waveform_encoder(),
    "selective": selective(), "parallel-scales": parallel_scales(), "diffusion-block": diffusion_block(),
    "style-generator": style_generator(), "codebooks": codebooks(), "masks": masks(),
    "tensorflow": tensorflow(), "contrib": contrib(), "fusion-pyramid": fusion_pyramid(), "translator": translator(),
    "windows": windows(), "demix": demix(), "recurrent-flow": recurrent_flow(), "embeddings": embeddings(),
    "language-step": language_step(),
}

# The same as onnxruntime quantizes them.
INTEGERS = {
    f"{name}-{how}": quantized(WIDER[name], form, **options)
    for name, how, form, options in (
        ("detector-v8", "qdq-u8", "qdq", U8), ("detector-v8", "qop-s8", "qop", S8), ("set-detector", "qdq-u8", "qdq", U8),
        ("hear", "dynamic", "dynamic", {}), ("waveform-encoder", "qdq-u8", "qdq", U8), ("waveform-encoder", "dynamic", "dynamic", {}),
        ("parallel-scales", "qdq-s8", "qdq", S8), ("parallel-scales", "qop-u8", "qop", U8),
        ("diffusion-block", "qdq-u8", "qdq", U8), ("codebooks", "qdq-u8", "qdq", U8), ("masks", "qdq-u8", "qdq", U8),
        ("tensorflow", "qdq-u8u8", "qdq", U8U8), ("tensorflow", "qop-u8u8", "qop", U8U8), ("fusion-pyramid", "qdq-u8", "qdq", U8),
        ("windows", "qdq-u8", "qdq", U8), ("windows", "dynamic", "dynamic", {}), ("demix", "qdq-u8", "qdq", U8),
        ("embeddings", "qdq-u8", "qdq", U8), ("embeddings", "dynamic", "dynamic", {}),
        ("style-generator", "qdq-u8", "qdq", U8), ("recurrent-flow", "qdq-u8", "qdq", U8))
}
