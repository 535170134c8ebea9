"""Depthwise and pointwise layers: depthwise_pair.py CHANNELS SIZE STRIDE OUTPUTS, as IR."""

import sys

channels, size, stride, outputs = map(int, sys.argv[1:])
made = (size + 2 - 3) // stride + 1


def tensor(*dims):
    return f"tensor<{'x'.join(map(str, dims))}xf32>"


x, y, z = (tensor(1, c, s, s) for c, s in ((channels, size), (channels, made), (outputs, made)))
dw, pw = tensor(channels, 1, 3, 3), tensor(outputs, channels, 1, 1)
taps = [0.25, -0.125, 0.5, 0.125, 1.0, -0.25, 0.0625, 0.375, -0.5]
print(f"func.func @main(%x: {x}) -> {z} {{")
rows = [[[taps[(3 * i + c) % 9 : (3 * i + c) % 9 + 3] if (3 * i + c) % 9 < 7 else taps[:3] for i in range(3)]] for c in range(channels)]
print(f"  %w = graph.constant dense<{rows}> : {dw}")
print(f"  %v = graph.constant dense<0.0625> : {pw}")
print(f"  %0 = graph.conv %x, %w strides = [{stride}, {stride}] pads = [1, 1, 1, 1] group = {channels} : ({x}, {dw}) -> {y}")
print(f"  %1 = graph.relu %0 : {y}")
print(f"  %2 = graph.conv %1, %v : ({y}, {pw}) -> {z}")
print(f"  return %2 : {z}")
print("}")
