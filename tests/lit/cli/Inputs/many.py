"""Writes a network of so many operations: a `fan` of different ones of one value, or a `row` of equal ones."""

import sys

kind, count = sys.argv[1], int(sys.argv[2])
TYPE = "tensor<4x8xf32>"
print(f'func.func @main(%x: {TYPE} {{phl.name = "x"}}) -> ({TYPE} {{phl.name = "out"}}) {{')
last = "%x"
for i in range(count):
    if kind == "row":
        print(f"  %v{i} = graph.sigmoid {last} : {TYPE}")
        last = f"%v{i}"
    else:
        print(f"  %v{i} = graph.leaky_relu %x alpha = {(i + 1) * 1e-5:e} : {TYPE}")
        print(f"  %s{i} = graph.add {last}, %v{i} : {TYPE}")
        last = f"%s{i}"
print(f"  return {last} : {TYPE}\n}}")
