"""Writes a network: a row, a tree and a fan of elementwise operations, and a join of their slices."""

TYPE = "tensor<16x24xf32>"
PIECE = "tensor<1x24xf32>"
lines = []
names = iter(range(10**6))


def op(text, result=TYPE):
    name = f"%v{next(names)}"
    lines.append(f"  {name} = graph.{text} : {result}")
    return name


row = "%x"
for i in range(600):
    row = op(f"{['relu', 'neg', 'abs'][i % 3]} {row}")
    row = op(f"max {row}, %y") if i % 5 == 0 else row
level = [op(f"max %x, {op(f'neg %c{i % 9}')}") for i in range(256)]
while len(level) > 1:
    level = [op(f"max {a}, {b}") for a, b in zip(level[::2], level[1::2])]
fan = "%y"
for i in range(300):
    fan = op(f"max {fan}, {op('relu %x')}")
pieces = []
for i in range(600):
    source = (row, level[0], fan)[i % 3]
    window = f"starts = [{i % 16}, 0] ends = [{i % 16 + 1}, 24] axes = [0, 1]"
    pieces.append((source, i % 16))

inputs = ["%x", "%y"] + [f"%c{i}" for i in range(9)]
arguments = ", ".join(f'{name}: {TYPE} {{phl.name = "{name[1:]}"}}' for name in inputs)
joined = [source for source, _ in pieces]
whole = f"tensor<{16 * len(joined)}x24xf32>"
types = ", ".join([TYPE] * len(joined))
print(f'func.func @main({arguments}) -> ({whole} {{phl.name = "out"}}) {{')
print("\n".join(lines))
print(f"  %out = graph.concat {', '.join(joined)} axis = 0 : ({types}) -> {whole}")
print(f"  return %out : {whole}\n}}")
