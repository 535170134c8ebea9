"""Writes netN.mlir, N convolutions in a row."""

import sys

T = "tensor<1x8x6x6xf32>"
W = "tensor<8x8x3x3xf32>"
for n in map(int, sys.argv[1:]):
    with open(f"net{n}.mlir", "w") as file:
        print(f"func.func @main(%y0: {T}) -> {T} {{", file=file)
        print(f"  %w = graph.constant dense<0.01> : {W}", file=file)
        for i in range(1, n + 1):
            conv = f"graph.conv %y{i - 1}, %w pads = [1, 1, 1, 1]"
            print(f"  %y{i} = {conv} : ({T}, {W}) -> {T}", file=file)
        print(f"  return %y{n} : {T}\n}}", file=file)
