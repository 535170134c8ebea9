"""Writes a target whose one pattern has parts that name each other."""

parts = "".join(f"p{i} = (add(p{i - 1}, p{i - 1}) | relu(p{i - 1})); " for i in range(1, 60))
print(f"""version = 1

[target]
name = "knot"
role = "device"
doc = "Takes nothing that a network has"

[[pattern]]
name = "knot"
match = "p0 = relu(x); {parts}p59"
call = "void knot(in x, out p59)"
""")
