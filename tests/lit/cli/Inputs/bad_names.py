"""Prints a model in the graph dialect whose inputs, outputs and nodes have names that C, its headers or comments use."""

NAMES = [
    *"NULL _Bool errno EOF stdin assert class new alignas nullptr INFINITY int32_t while I unix arena".split(),
    *["a*/b", "/*", "??/", "a\\", "a\\\nb", '"', "", "0", "a.b", "a_b", "in_1_a_b", "Größe", "\u202ex", '??/"'],
    *"net_run net_invoke NET_ARENA_BYTES typeof x".split(),
]


def quoted(text):
    return '"' + "".join(c if c.isalnum() else "".join(f"\\{b:02X}" for b in c.encode()) for c in text) + '"'


TYPE = "tensor<2xf32>"
inputs = ", ".join(f"%a{i}: {TYPE} {{phl.name = {quoted(name)}}}" for i, name in enumerate(NAMES))
outputs = ", ".join(f"{TYPE} {{phl.name = {quoted(name)}}}" for name in NAMES)
print(f"func.func @main({inputs}) -> ({outputs}) {{")
for i, name in enumerate(NAMES):
    print(f"  %r{i} = graph.relu %a{i} : {TYPE} loc({quoted(name)})")
print("  return", ", ".join(f"%r{i}" for i in range(len(NAMES))), ":", ", ".join([TYPE] * len(NAMES)))
print("}")
