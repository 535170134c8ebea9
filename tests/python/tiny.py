"""The networks of MLPerf Tiny with random weights: what small quantized targets are measured by."""

import numpy as np
from net import Net


def kws(name):
    """Keyword spotting: a depthwise-separable network over 49 frames of 10 coefficients."""
    n = Net(name)
    x = n.input("input", [1, 1, 49, 10])
    x = n.op("Relu", n.conv(x, 1, 64, (10, 4), stride=2, pad=[4, 1, 5, 1]))
    for _ in range(4):
        x = n.op("Relu", n.conv(x, 64, 64, 3, group=64))
        x = n.op("Relu", n.conv(x, 64, 64))
    x = n.op("AveragePool", x, kernel_shape=[25, 5], strides=[25, 5])
    n.output(n.op("Softmax", n.dense(n.op("Flatten", x), 64, 12), axis=-1))
    return n.build()


def vww(name):
    """Visual wake words: MobileNetV1 with a quarter of the channels on 96x96 images."""
    n = Net(name)
    x = n.op("Relu", n.conv(n.input("input", [1, 3, 96, 96]), 3, 8, 3, stride=2))
    cin = 8
    table = [(16, 1), (32, 2), (32, 1), (64, 2), (64, 1), (128, 2), *[(128, 1)] * 5, (256, 2),
             (256, 1)]
    for cout, stride in table:
        x = n.op("Relu", n.conv(x, cin, cin, 3, stride=stride, group=cin))
        x, cin = n.op("Relu", n.conv(x, cin, cout)), cout
    x = n.op("AveragePool", x, kernel_shape=[3, 3], strides=[3, 3])
    n.output(n.op("Softmax", n.dense(n.op("Flatten", x), 256, 2), axis=-1))
    return n.build()


def image(name):
    """Image classification: ResNet-8 on 32x32 images."""
    n = Net(name)
    x = n.op("Relu", n.conv(n.input("input", [1, 3, 32, 32]), 3, 16, 3))
    cin = 16
    for cout, stride in [(16, 1), (32, 2), (64, 2)]:
        y = n.op("Relu", n.conv(x, cin, cout, 3, stride=stride))
        y = n.conv(y, cout, cout, 3, gain=1.0)
        if stride != 1:
            x = n.conv(x, cin, cout, stride=stride, gain=1.0)
        x, cin = n.op("Relu", n.op("Add", x, y)), cout
    x = n.op("AveragePool", x, kernel_shape=[8, 8], strides=[8, 8])
    n.output(n.op("Softmax", n.dense(n.op("Flatten", x), 64, 10), axis=-1))
    return n.build()


def anomaly(name):
    """Anomaly detection: an autoencoder of dense layers."""
    n = Net(name)
    x = n.input("input", [1, 640])
    sizes = [640, *[128] * 4, 8, *[128] * 4]
    for cin, cout in zip(sizes, sizes[1:]):
        x = n.op("Relu", n.dense(x, cin, cout))
    n.output(n.dense(x, 128, 640, gain=1.0))
    return n.build()


MODELS = {f"tiny_{f.__name__}": f for f in (kws, vww, image, anomaly)}
