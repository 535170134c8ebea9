"""Whole networks with the published architectures and random weights."""

import numpy as np
from net import Net


def mlp(name):
    n = Net(name)
    x = n.input("input", [4, 784])
    for cin, cout in [(784, 256), (256, 128)]:
        x = n.op("Relu", n.dense(x, cin, cout))
    n.output(n.op("Softmax", n.dense(x, 128, 10), axis=-1))
    return n.build()


def lenet(name):
    n = Net(name, opset=11)
    x = n.input("input", [1, 1, 28, 28])
    x = n.op("Relu", n.conv(x, 1, 6, 5))
    x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = n.op("Relu", n.conv(x, 6, 16, 5, pad=[0, 0, 0, 0]))
    x = n.op("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = n.op("Reshape", x, n.const(np.array([1, -1], "i8")))
    for cin, cout in [(400, 120), (120, 84)]:
        x = n.op("Relu", n.dense(x, cin, cout))
    n.output(n.dense(x, 84, 10))
    return n.build()


def ds_cnn(name):
    """Keyword spotting of MLPerf Tiny: asymmetric pads, depthwise-separable blocks."""
    n = Net(name)
    x = n.input("input", [1, 1, 49, 10])
    x = n.op("Relu", n.conv(x, 1, 64, (10, 4), stride=2, pad=[4, 1, 5, 1]))
    for _ in range(4):
        x = n.op("Relu", n.conv(x, 64, 64, 3, group=64))
        x = n.op("Relu", n.conv(x, 64, 64))
    x = n.op("AveragePool", x, kernel_shape=[25, 5], strides=[1, 1])
    n.output(n.dense(n.op("Flatten", x), 64, 12))
    return n.build()


def squeezenet(name):
    """SqueezeNet 1.1 (Iandola et al. 2016)."""
    n = Net(name, opset=9)

    def fire(x, cin, squeeze, expand):
        s = n.op("Relu", n.conv(x, cin, squeeze))
        wide = [n.op("Relu", n.conv(s, squeeze, expand, k)) for k in (1, 3)]
        return n.op("Concat", *wide, axis=1)

    def pool(x):
        return n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2])

    x = n.input("input", [1, 3, 224, 224])
    x = pool(n.op("Relu", n.conv(x, 3, 64, 3, stride=2, pad=[0, 0, 0, 0])))
    x = pool(fire(fire(x, 64, 16, 64), 128, 16, 64))
    x = pool(fire(fire(x, 128, 32, 128), 256, 32, 128))
    x = fire(fire(x, 256, 48, 192), 384, 48, 192)
    x = fire(fire(x, 384, 64, 256), 512, 64, 256)
    x = n.op("Relu", n.conv(n.op("Dropout", x), 512, 1000))
    n.output(n.op("Flatten", n.op("GlobalAveragePool", x)))
    return n.build()


def mobilenet_v2(name):
    """Sandler et al. 2018, batch norms folded, ReLU6 as Clip with constant bounds."""
    n = Net(name)
    zero, six = n.const(np.float32(0)), n.const(np.float32(6))

    def relu6(x):
        return n.op("Clip", x, zero, six)

    x = relu6(n.conv(n.input("input", [1, 3, 224, 224]), 3, 32, 3, stride=2))
    cin = 32
    table = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
             (6, 160, 3, 2), (6, 320, 1, 1)]
    for expansion, cout, repeats, first_stride in table:
        for i in range(repeats):
            stride, hidden, y = first_stride if i == 0 else 1, cin * expansion, x
            if expansion != 1:
                y = relu6(n.conv(y, cin, hidden))
            y = relu6(n.conv(y, hidden, hidden, 3, stride=stride, group=hidden))
            y = n.conv(y, hidden, cout, gain=1.0)
            x = n.op("Add", x, y) if stride == 1 and cin == cout else y
            cin = cout
    x = n.op("GlobalAveragePool", relu6(n.conv(x, cin, 1280)))
    n.output(n.dense(n.op("Flatten", x), 1280, 1000))
    return n.build()


def resnet50(name):
    """He et al. 2015 (stride in the 3x3), batch norms left for the compiler to fold."""
    n = Net(name)

    def conv_bn(x, cin, cout, k, stride=1, gamma=1.0):
        return n.batch_norm(n.conv(x, cin, cout, k, stride=stride, bias=False), cout, gamma)

    x = n.op("Relu", conv_bn(n.input("input", [1, 3, 224, 224]), 3, 64, 7, stride=2))
    x = n.op("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    cin = 64
    for width, blocks, first_stride in [(64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2)]:
        for i in range(blocks):
            stride = first_stride if i == 0 else 1
            y = n.op("Relu", conv_bn(x, cin, width, 1))
            y = n.op("Relu", conv_bn(y, width, width, 3, stride=stride))
            y = conv_bn(y, width, width * 4, 1, gamma=0.3)
            if i == 0:
                x = conv_bn(x, cin, width * 4, 1, stride=stride, gamma=0.7)
            x, cin = n.op("Relu", n.op("Add", y, x)), width * 4
    x = n.op("GlobalAveragePool", x)
    n.output(n.dense(n.op("Flatten", x), 2048, 1000))
    return n.build()


def bert_layer(name, seq=32, hidden=768, heads=12, ffn=3072):
    """One encoder layer of BERT-base, with the shape arithmetic that exporters emit."""
    n = Net(name)
    x = n.input("input", [1, seq, hidden])

    def split_heads(y, perm):
        # Shape -> Gather -> Concat -> Reshape, as torch.onnx writes view(b, s, heads, d).
        shape = n.op("Shape", y)
        dims = [n.op("Unsqueeze", n.op("Gather", shape, n.const(np.int64(i)), axis=0),
                     n.const(np.array([0], "i8"))) for i in (0, 1)]
        rest = n.const(np.array([heads, hidden // heads], "i8"))
        target = n.op("Concat", *dims, rest, axis=0)
        return n.op("Transpose", n.op("Reshape", y, target), perm=perm)

    def layer_norm(y):
        scale, bias = n.rng.uniform(0.8, 1.2, hidden), n.rng.normal(0, 0.05, hidden)
        return n.op("LayerNormalization", y, n.const(scale.astype("f4")),
                    n.const(bias.astype("f4")), axis=-1, epsilon=1e-12)

    def gelu(y):
        e = n.op("Erf", n.op("Div", y, n.const(np.float32(2.0**0.5))))
        e = n.op("Mul", y, n.op("Add", e, n.const(np.float32(1))))
        return n.op("Mul", e, n.const(np.float32(0.5)))

    q = split_heads(n.linear(x, hidden, hidden), [0, 2, 1, 3])
    k = split_heads(n.linear(x, hidden, hidden), [0, 2, 3, 1])
    v = split_heads(n.linear(x, hidden, hidden), [0, 2, 1, 3])
    scores = n.op("Div", n.op("MatMul", q, k), n.const(np.float32((hidden // heads) ** 0.5)))
    a = n.op("Transpose", n.op("MatMul", n.op("Softmax", scores, axis=-1), v), perm=[0, 2, 1, 3])
    a = n.op("Reshape", a, n.const(np.array([0, 0, hidden], "i8")))
    x = layer_norm(n.op("Add", n.linear(a, hidden, hidden), x))
    f = n.linear(gelu(n.linear(x, hidden, ffn)), ffn, hidden)
    n.output(layer_norm(n.op("Add", f, x)))
    return n.build()


MODELS = {f.__name__: f for f in
          (mlp, lenet, ds_cnn, squeezenet, mobilenet_v2, resnet50, bert_layer)}
