"""Writes a network of so many operations or inputs: a `fan` of different operations of one value, a `row` of
equal ones, `turns` of one that only a library has and one that only a host has, or a `join` of inputs."""

import sys

kind, count = sys.argv[1], int(sys.argv[2])
TYPE = "tensor<4x8xf32>"
if kind == "join":
    shapes = [f"tensor<2x3x{1 + i % 4}xf32>" for i in range(count)]
    result = f"tensor<2x3x{sum(1 + i % 4 for i in range(count))}xf32>"
    inputs = ", ".join(f'%x{i}: {shape} {{phl.name = "x{i}"}}' for i, shape in enumerate(shapes))
    print(f'func.func @main({inputs}) -> ({result} {{phl.name = "out"}}) {{')
    values = ", ".join(f"%x{i}" for i in range(count))
    print(f"  %y = graph.concat {values} axis = 2 : ({', '.join(shapes)}) -> {result}")
    print(f"  return %y : {result}\n}}")
    sys.exit()
print(f'func.func @main(%x: {TYPE} {{phl.name = "x"}}) -> ({TYPE} {{phl.name = "out"}}) {{')
last = "%x"
for i in range(count):
    if kind in ("row", "turns"):
        operation = "floor" if kind == "turns" and i % 2 else "sigmoid"
        print(f"  %v{i} = graph.{operation} {last} : {TYPE}")
        last = f"%v{i}"
    else:
        print(f"  %v{i} = graph.leaky_relu %x alpha = {(i + 1) * 1e-5:e} : {TYPE}")
        print(f"  %s{i} = graph.add {last}, %v{i} : {TYPE}")
        last = f"%s{i}"
print(f"  return {last} : {TYPE}\n}}")
