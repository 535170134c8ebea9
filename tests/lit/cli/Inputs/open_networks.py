"""Networks of real kinds with open sizes, at five sizes each, beside onnxruntime: open_networks.py PHASELINE TARGETS NAME...

A U-Net for any height and width, a detector that ends in NonMaxSuppression, and the encoder and decoder of a speech recogniser, as
exporters write them, with few channels.
"""

import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(3)


class Net:
    """A network as it grows; each method gives the name of its result."""

    def __init__(self, **inputs):
        self.inputs, self.nodes, self.weights, self.outputs = inputs, [], {}, []

    def node(self, kind, *operands, outputs=1, **attributes):
        names = [f"{kind.lower()}_{len(self.nodes)}_{at}" for at in range(outputs)]
        operands = [item if isinstance(item, str) else self.constant(item) for item in operands]
        self.nodes.append(helper.make_node(kind, operands, names, **attributes))
        return names[0] if outputs == 1 else names

    def constant(self, value):
        name = f"c{len(self.weights)}"
        self.weights[name] = np.asarray(value)
        return name

    def weight(self, *shape):
        return self.constant((RNG.standard_normal(shape) / np.sqrt(max(1, np.prod(shape[1:])))).astype("f4"))

    def ints(self, *values):
        return self.constant(np.array(values, "i8"))

    def conv(self, x, ins, outs, kernel=3, act="Relu", **attributes):
        rank = attributes.pop("rank", 2)
        pad = kernel // 2
        y = self.node("Conv", x, self.weight(outs, ins, *[kernel] * rank), self.weight(outs), pads=[pad] * 2 * rank, **attributes)
        if act == "Silu":
            return self.node("Mul", y, self.node("Sigmoid", y))
        return self.gelu(y) if act == "Gelu" else self.node(act, y) if act else y

    def gelu(self, x):
        half = self.node("Erf", self.node("Div", x, np.float32(2**0.5)))
        return self.node("Mul", self.node("Mul", x, self.node("Add", half, np.float32(1))), np.float32(0.5))

    def linear(self, x, ins, outs):
        return self.node("Add", self.node("MatMul", x, self.weight(ins, outs)), self.weight(outs))

    def size(self, x, axis):
        """A list of one element."""
        return self.node("Gather", self.node("Shape", x), self.ints(axis), axis=0)

    def scalar(self, x, axis):
        return self.node("Gather", self.node("Shape", x), np.int64(axis), axis=0)

    def norm(self, x, width):
        return self.node("LayerNormalization", x, self.constant(np.ones(width, "f4")), self.weight(width), axis=-1)

    def heads(self, x, count, width):
        shape = self.node("Concat", self.size(x, 0), self.size(x, 1), self.ints(count, width), axis=0)
        return self.node("Transpose", self.node("Reshape", x, shape), perm=[0, 2, 1, 3])

    def attention(self, q, k, v, mask=None):
        heads, width = 2, 8
        scores = self.node("MatMul", q, self.node("Transpose", k, perm=[0, 1, 3, 2]))
        scores = self.node("Mul", scores, np.float32(width**-0.5))
        if mask:
            scores = self.node("Add", scores, mask)
        y = self.node("Transpose", self.node("MatMul", self.node("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
        return self.node("Reshape", y, self.ints(0, 0, heads * width))

    def save(self, name, *outputs):
        types = {"f": TensorProto.FLOAT, "i": TensorProto.INT64}
        inputs = [helper.make_tensor_value_info(key, types[kind], dims) for key, (kind, dims) in self.inputs.items()]
        results = [helper.make_tensor_value_info(key, types[kind], None) for key, kind in outputs]
        weights = [numpy_helper.from_array(value, key) for key, value in self.weights.items()]
        graph = helper.make_graph(self.nodes, name, inputs, results, weights)
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), f"{name}.onnx")


def unet():
    net = Net(x=("f", ["batch", 3, "h", "w"]))
    one = net.conv(net.conv("x", 3, 8), 8, 8)
    two = net.conv(net.node("MaxPool", one, kernel_shape=[2, 2], strides=[2, 2]), 8, 16)
    three = net.conv(net.node("MaxPool", two, kernel_shape=[2, 2], strides=[2, 2]), 16, 16)
    for skip, width in ((two, 16), (one, 8)):
        target = net.node("Slice", net.node("Shape", skip), net.ints(2), net.ints(4))
        sizes = net.node("Concat", net.node("Slice", net.node("Shape", three), net.ints(0), net.ints(2)), target, axis=0)
        up = net.node("Resize", three, "", "", sizes, mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
        three = net.conv(net.node("Concat", up, skip, axis=1), 16 + width, 16)
    net.save("unet", (net.conv(three, 16, 2, 1, None), "f"))
    sizes = [(1, 16, 16), (2, 40, 24), (1, 17, 23), (2, 33, 40), (1, 40, 39)]
    return ["batch=1..2", "h=16..40", "w=16..40"], [{"x": floats(b, 3, h, w)} for b, h, w in sizes]


def detector():
    """Boxes on two grids, whose points are computed from the size of the image."""
    net = Net(x=("f", [1, 3, "h", "w"]))
    x = net.conv(net.conv("x", 3, 8, act="Silu", strides=[2, 2]), 8, 16, act="Silu", strides=[2, 2])
    deep = net.conv(x, 16, 16, act="Silu", strides=[2, 2])
    up = net.node("Resize", deep, "", np.array([1, 1, 2, 2], "f4"), mode="nearest", coordinate_transformation_mode="asymmetric", nearest_mode="floor")
    x = net.conv(net.node("Concat", x, up, axis=1), 32, 16, act="Silu")
    boxes, scores = [], []
    for feature, stride in ((x, 4), (deep, 8)):
        y = net.conv(feature, 16, 7, 1, None)
        y = net.node("Transpose", net.node("Reshape", y, net.ints(0, 7, -1)), perm=[0, 2, 1])
        rows = net.node("Range", np.int64(0), net.scalar(feature, 2), np.int64(1))
        cols = net.node("Range", np.int64(0), net.scalar(feature, 3), np.int64(1))
        grid = net.node("Concat", net.size(feature, 2), net.size(feature, 3), axis=0)
        points = [net.node("Reshape", net.node("Expand", net.node("Unsqueeze", line, net.ints(axis)), grid), net.ints(1, -1, 1))
                  for line, axis in ((cols, 0), (rows, 1))]
        points = net.node("Cast", net.node("Concat", *points, axis=2), to=TensorProto.FLOAT)
        part = lambda a, b: net.node("Slice", y, net.ints(a), net.ints(b), net.ints(2))
        center = net.node("Mul", net.node("Add", net.node("Sigmoid", part(0, 2)), points), np.float32(stride))
        extent = net.node("Mul", net.node("Exp", part(2, 4)), np.float32(2 * stride))
        boxes.append(net.node("Concat", center, extent, axis=2))
        scores.append(net.node("Sigmoid", part(4, 7)))
    boxes = net.node("Concat", *boxes, axis=1)
    scores = net.node("Transpose", net.node("Concat", *scores, axis=1), perm=[0, 2, 1])
    kept = net.node("NonMaxSuppression", boxes, scores, net.ints(10), np.array([0.4], "f4"), np.array([0.55], "f4"), center_point_box=1)
    place = net.node("Squeeze", net.node("Slice", kept, net.ints(2), net.ints(3), net.ints(1)), net.ints(1))
    chosen = net.node("Gather", net.node("Squeeze", boxes, net.ints(0)), place, axis=0)
    net.save("detector", (kept, "i"), (chosen, "f"))
    sizes = [(32, 32), (64, 32), (48, 64), (64, 64), (32, 48)]
    return ["h=32..64 step 16", "w=32..64 step 16"], [{"x": floats(1, 3, h, w)} for h, w in sizes]


def listener():
    """The encoder: two convolutions in time, positions, and a layer of attention."""
    net = Net(mel=("f", ["batch", 10, "frames"]))
    x = net.conv(net.conv("mel", 10, 16, act="Gelu", rank=1), 16, 16, act="Gelu", rank=1, strides=[2])
    x = net.node("Transpose", x, perm=[0, 2, 1])
    x = net.node("Add", x, net.node("Slice", net.weight(50, 16), net.ints(0), net.size(x, 1), net.ints(0)))
    y = net.norm(x, 16)
    heads = [net.heads(net.linear(y, 16, 16), 2, 8) for _ in range(3)]
    x = net.node("Add", x, net.linear(net.attention(*heads), 16, 16))
    x = net.node("Add", x, net.linear(net.gelu(net.linear(net.norm(x, 16), 16, 32)), 32, 16))
    net.save("listener", (net.norm(x, 16), "f"))
    sizes = [(1, 2), (2, 100), (1, 33), (2, 57), (1, 64)]
    return ["batch=1..2", "frames=2..100"], [{"mel": floats(b, 10, t)} for b, t in sizes]


def speaker():
    """The decoder: new tokens after those that the cache has, none of which sees a later one."""
    net = Net(tokens=("i", ["batch", "new"]), heard=("f", ["batch", "length", 16]), key=("f", ["batch", 2, "past", 8]), value=("f", ["batch", 2, "past", 8]))
    x = net.node("Gather", net.weight(30, 16), "tokens", axis=0)
    past, new = net.scalar("key", 2), net.scalar("tokens", 1)
    places = net.node("Range", past, net.node("Add", past, new), np.int64(1))
    x = net.node("Add", x, net.node("Gather", net.weight(40, 16), places, axis=0))
    y = net.norm(x, 16)
    q, k, v = (net.heads(net.linear(y, 16, 16), 2, 8) for _ in range(3))
    k, v = net.node("Concat", "key", k, axis=2), net.node("Concat", "value", v, axis=2)
    all_places = net.node("Range", np.int64(0), net.node("Add", past, new), np.int64(1))
    later = net.node("Greater", net.node("Unsqueeze", all_places, net.ints(0)), net.node("Unsqueeze", places, net.ints(1)))
    mask = net.node("Where", later, np.float32(-1e9), np.float32(0))
    x = net.node("Add", x, net.linear(net.attention(q, k, v, mask), 16, 16))
    q = net.heads(net.linear(net.norm(x, 16), 16, 16), 2, 8)
    other = [net.heads(net.linear("heard", 16, 16), 2, 8) for _ in range(2)]
    x = net.node("Add", x, net.linear(net.attention(q, *other), 16, 16))
    logits = net.node("MatMul", net.norm(x, 16), net.weight(16, 30))
    net.save("speaker", (logits, "f"), (net.node("ArgMax", logits, axis=-1, keepdims=0), "i"), (k, "f"), (v, "f"))
    sizes = [(1, 1, 1, 0), (2, 4, 50, 20), (1, 3, 17, 0), (2, 1, 33, 7), (1, 4, 2, 19)]
    return ["batch=1..2", "new=1..4", "length=1..50", "past=0..20"], [
        {"tokens": RNG.integers(0, 30, (b, n)), "heard": floats(b, m, 16), "key": floats(b, 2, p, 8), "value": floats(b, 2, p, 8)}
        for b, n, m, p in sizes]


def floats(*shape):
    return RNG.standard_normal(shape).astype("f4")


def main(program, targets, *names):
    bad = 0
    for name in names:
        ranges, feeds = globals()[name]()
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4
        run = onnxruntime.InferenceSession(f"{name}.onnx", options)
        for target in targets.split(";"):
            for parts in ([], ["--buckets", "4"]):
                shapes = [f"--shape={text}" for text in ranges]
                done = subprocess.run([program, "compile", f"{name}.onnx", "-t", target, "-o", "out", "--name", "net", *shapes, *parts], check=False)
                if done.returncode:
                    bad += 1
                    continue
                for feed in feeds:
                    np.savez("in.npz", **feed)
                    subprocess.run([program, "run", "out", "--inputs", "in.npz", "--outputs", "out.npz"], check=True, stdout=subprocess.DEVNULL)
                    got = np.load("out.npz")
                    for port, want in zip(run.get_outputs(), run.run(None, feed)):
                        value = got[port.name]
                        if value.shape != want.shape or not np.allclose(value, want, rtol=1e-3, atol=1e-4):
                            bad += 1
                            shapes = {key: item.shape for key, item in feed.items()}
                            print(f"{name} on {target} {parts} {shapes}: {port.name} has shape {value.shape}, expected {want.shape}")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
