"""tape.py REGIONS WIDTH: a perceptron for the device `tape`, with a softmax of the host between its regions."""

import sys

regions, width = map(int, sys.argv[1:])
ty, wide = f"tensor<1x{width}xf32>", f"tensor<{width}x{width}xf32>"
lines = [f"func.func @main(%x: {ty}) -> {ty} {{"]
value = "%x"
for i in range(regions):
    row = ", ".join(f"{((i + k) % 7 - 3) / 8}" for k in range(width))
    lines += [
        f"  %w{i} = graph.constant dense<[{', '.join(['[' + row + ']'] * width)}]> : {wide}",
        f"  %p{i} = graph.matmul {value}, %w{i} : ({ty}, {wide}) -> {ty}",
        f"  %r{i} = graph.relu %p{i} : {ty}",
        f"  %s{i} = graph.softmax %r{i} axis = 1 : {ty}",
    ]
    value = f"%s{i}"
print("\n".join([*lines, f"  return {value} : {ty}", "}"]))
