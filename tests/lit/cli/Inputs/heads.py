"""Attention and the layers around it in onnxruntime's own operators, and what they give there.

Writes NAME.onnx and NAME.npz; called with `check` it compares NAME.out.npz. Where onnxruntime has no kernel for CPUs the
definition is written here.
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

rng = np.random.default_rng(7)


def floats(*shape):
    return rng.standard_normal(shape).astype("f4")


def ints(*values, dtype="i4"):
    return np.array(values, dtype)


def below(high, *shape, dtype="i4"):
    return rng.integers(0, high, shape).astype(dtype)


def erf_gelu(x):
    from math import erf
    return x * 0.5 * (1 + np.vectorize(erf)(x / 2**0.5))


def group_norm(x, gamma, beta, groups, silu):
    batch, channels = x.shape[0], x.shape[-1]
    y = np.moveaxis(x, -1, 1).reshape(batch, groups, -1)
    y = (y - y.mean(-1, keepdims=True)) / np.sqrt(y.var(-1, keepdims=True) + 1e-5)
    y = np.moveaxis(y.reshape(batch, channels, *x.shape[1:-1]), 1, -1) * gamma + beta
    return y / (1 + np.exp(-y)) if silu else y


def attention(inputs=None, constants=None, length=6, batch=2, width=8, heads=2, **attributes):
    """Operands in the order of the operator; None where there is none."""
    constants = {"w": floats(width, 3 * width), "b": floats(3 * width)} if constants is None else constants
    return {"x": floats(batch, length, width), **constants, **(inputs or {})}, [*constants], dict(num_heads=heads, **attributes)


def grouped(length, room, lengths, total, heads=4, shared=2, size=16, packed=False, rotary=True, more=None, kept=(), **attributes):
    batch = len(lengths)
    inputs = {"q": floats(batch, length, (heads + 2 * shared * packed) * size)}
    inputs |= {"k": None, "v": None} if packed else {"k": floats(batch, length, shared * size), "v": floats(batch, length, shared * size)}
    inputs |= {"pk": floats(batch, shared, room, size), "pv": floats(batch, shared, room, size)} if room else {"pk": None, "pv": None}
    inputs |= {"lengths": ints(*lengths), "total": ints(total)}
    if rotary:
        angle = np.arange(64)[:, None] * 0.3 ** np.arange(size // 2)[None]
        inputs |= {"cos": np.cos(angle).astype("f4"), "sin": np.sin(angle).astype("f4")}
        attributes["do_rotary"] = 1
    return {**inputs, **(more or {})}, ["total", "cos", "sin", *kept], dict(num_heads=heads, kv_num_heads=shared, **attributes)


none = {"cos": None, "sin": None}
x3, kv = floats(2, 5, 8), floats(2, 7, 8)
quantized = {"w": below(256, 8, 24, dtype="u1"), "b": floats(24), "sx": np.float32(0.02), "sw": np.float32(0.01)}
table = below(256, 20, 16, dtype="u1")

# Operator, results, (operands, which of them are constants, attributes), columns of the caches that say something.
CASES = {
    "plain": ("Attention", 1, attention()),
    "sizes": ("Attention", 1, attention(constants={"w": floats(8, 8 + 8 + 4), "b": floats(20)}, qkv_hidden_sizes=[8, 8, 4])),
    "ends": ("Attention", 1, attention({"m": ints(4, 6)})),
    "starts": ("Attention", 1, attention({"m": ints(6, 5, 2, 0)})),
    "numbers": ("Attention", 1, attention({"m": below(2, 2, 6)}, unidirectional=1)),
    "matrix": ("Attention", 1, attention({"m": below(2, 2, 6, 6)}, mask_filter_value=-50.0)),
    "past": ("Attention", 2, attention({"m": None, "p": floats(2, 2, 2, 3, 4)}, unidirectional=1)),
    "added": ("Attention", 1, attention({"m": None, "p": None, "a": floats(1, 2, 6, 6)}, scale=0.4)),
    "integers": ("QAttention", 1, ({"x": below(256, 2, 6, 8, dtype="u1"), **quantized, "m": ints(4, 6), "zx": np.uint8(120),
                                    "zw": np.uint8(100)}, ["w", "b", "sx", "sw", "zx", "zw"], dict(num_heads=2))),
    "apart": ("MultiHeadAttention", 1, ({"x": x3, "k": kv, "v": floats(2, 7, 12)}, [], dict(num_heads=4))),
    "biased": ("MultiHeadAttention", 1, ({"x": x3, "k": kv, "v": kv + 1, "b": floats(24), "m": ints(3, 7)}, ["b"], dict(num_heads=2))),
    "cached": ("MultiHeadAttention", 3, ({"x": x3, "k": x3 + 1, "v": x3 - 1, "b": floats(24), "m": None, "a": floats(1, 2, 5, 8),
                                          "pk": floats(2, 2, 3, 4), "pv": floats(2, 2, 3, 4)}, ["b"], dict(num_heads=2, unidirectional=1))),
    "crossed": ("MultiHeadAttention", 1, ({"x": x3, "k": floats(2, 2, 7, 4), "v": floats(2, 2, 7, 4)}, [], dict(num_heads=2))),
    "prompt": ("GroupQueryAttention", 3, grouped(6, 0, [5, 5], 6)),
    "prompt_padded": ("GroupQueryAttention", 3, grouped(6, 0, [5, 3], 6, packed=True)),
    "step": ("GroupQueryAttention", 3, grouped(1, 7, [7], 8)),
    "step_known": ("GroupQueryAttention", 3, grouped(1, 7, [7, 7], 8, kept=["lengths"], rotary_interleaved=1)),
    "step_uneven": ("GroupQueryAttention", 3, grouped(1, 7, [7, 5], 8)),
    "step_room": ("GroupQueryAttention", 3, grouped(1, 12, [7], 8, local_window_size=3)),
    "steps": ("GroupQueryAttention", 3, grouped(3, 7, [9], 10, rotary=False, more=none, softcap=2.0, scale=0.3)),
    "window": ("GroupQueryAttention", 3, grouped(8, 0, [7, 7], 8, local_window_size=3, rotary=False, more=none)),
    "smooth": ("GroupQueryAttention", 3, grouped(4, 0, [3], 4, smooth_softmax=1)),
    "sink": ("GroupQueryAttention", 3, grouped(4, 3, [6], 7, more={"at": None, "a": floats(1, 4, 4, 7), "h": floats(4)}, kept=["h"])),
    "turned": ("RotaryEmbedding", 1, ({"x": floats(2, 3, 16), "at": below(20, 2, 3, dtype="i8"), "cos": floats(20, 4), "sin": floats(20, 4)},
                                      ["cos", "sin"], {})),
    "turned_from": ("RotaryEmbedding", 1, ({"x": floats(2, 2, 3, 8), "at": ints(5, dtype="i8"), "cos": floats(20, 4), "sin": floats(20, 4)},
                                           ["cos", "sin"], dict(interleaved=1))),
    "embedded": ("EmbedLayerNormalization", 3, ({
        "x": below(20, 2, 5), "s": below(2, 2, 5), "w": floats(20, 8), "p": floats(10, 8), "t": floats(2, 8), "g": floats(8), "b": floats(8),
        "m": ints(1, 1, 1, 0, 0, 1, 1, 1, 1, 1).reshape(2, 5)}, ["w", "p", "t", "g", "b"], {})),
    "embedded_at": ("EmbedLayerNormalization", 2, ({
        "x": below(20, 2, 5), "s": None, "w": floats(20, 8), "p": floats(10, 8), "t": None, "g": floats(8), "b": floats(8), "m": None,
        "at": below(10, 2, 5)}, ["w", "p", "g", "b"], dict(epsilon=1e-3))),
    "conv": ("FusedConv", 1, ({"x": floats(1, 3, 6, 6), "w": floats(4, 3, 3, 3), "b": floats(4), "z": floats(1, 4, 4, 4)}, ["w", "b"],
                              dict(activation="Relu"))),
    "conv_clip": ("FusedConv", 1, ({"x": floats(1, 3, 6, 6), "w": floats(4, 3, 3, 3)}, ["w"], dict(activation="Clip", activation_params=[-0.5, 1.0]))),
    "conv_leaky": ("FusedConv", 1, ({"x": floats(1, 3, 6, 6), "w": floats(4, 3, 3, 3)}, ["w"], dict(activation="LeakyRelu", activation_params=[0.3]))),
    "gemm": ("FusedGemm", 1, ({"x": floats(3, 5), "w": floats(4, 5), "b": floats(4)}, ["w", "b"],
                              dict(activation="LeakyRelu", activation_alpha=0.2, transB=1, alpha=0.5))),
    "rows": ("GatherBlockQuantized", 1, ({"x": table, "at": below(20, 2, 3, dtype="i8"), "s": floats(20, 2), "z": below(256, 20, 1, dtype="u1")},
                                         ["x", "s", "z"], dict(block_size=16, quantize_axis=1))),
    "rows_middle": ("GatherBlockQuantized", 1, ({"x": table, "at": ints(3, 19, dtype="i8"), "s": floats(20, 2)}, ["x", "s"],
                                                dict(block_size=16, quantize_axis=1))),
    "low": ("QuantizeLinear", 1, ({"x": floats(3, 4), "s": np.float32(0.001), "z": np.uint16(30000)}, ["s", "z"], {})),
    "real": ("DequantizeLinear", 1, ({"x": below(60000, 3, 4, dtype="u2"), "s": np.float32(0.001), "z": np.uint16(30000)}, ["s", "z"], {})),
    "bias_add": ("BiasAdd", 1, ({"x": floats(2, 4, 8), "b": floats(8), "s": floats(2, 4, 8)}, ["b"], {})),
    "split": ("BiasSplitGelu", 1, ({"x": floats(2, 4, 16), "b": floats(16)}, ["b"], {})),
    "groups": ("GroupNorm", 1, ({"x": floats(2, 3, 4, 8), "g": floats(8), "b": floats(8)}, ["g", "b"], dict(groups=4, activation=1))),
    "skip_groups": ("SkipGroupNorm", 2, ({"x": floats(2, 3, 4, 8), "g": floats(8), "b": floats(8), "s": floats(2, 8), "c": floats(8)},
                                         ["g", "b", "c"], dict(groups=4, activation=0))),
}
DEFINED = {
    "bias_add": lambda x, b, s: [x + b + s],
    "split": lambda x, b: [(x + b)[..., :8] * erf_gelu((x + b)[..., 8:])],
    "groups": lambda x, g, b: [group_norm(x, g, b, 4, True)],
    "skip_groups": lambda x, g, b, s, c: [group_norm(x + s[:, None, None] + c, g, b, 4, False), x + s[:, None, None] + c],
}
# Refused models, made by the word `bad`.
if sys.argv[1] == "bad":
    unknown = grouped(1, 7, [7], 8)
    CASES = {f"bad_{n}": case for n, case in {
        "heads": ("Attention", 1, attention(heads=3)),
        "mask": ("Attention", 1, attention({"m": ints(4, 6, 1)})),
        "sizes": ("Attention", 1, attention(qkv_hidden_sizes=[8, 8, 4])),
        "total": ("GroupQueryAttention", 3, (unknown[0], ["cos", "sin"], unknown[2])),
        "room": ("GroupQueryAttention", 3, grouped(1, 7, [7], 12)),
        "known": ("GroupQueryAttention", 3, grouped(1, 7, [9], 8, kept=["lengths"])),
        "large": ("MultiHeadAttention", 1, ({n: np.zeros((1, 100000, 8), "f4") for n in "qkv"}, [], dict(num_heads=2, unidirectional=1))),
        "stacked": ("MultiHeadAttention", 1, ({"x": x3}, [], dict(num_heads=2))),
        "bounds": ("FusedConv", 1, ({"x": floats(1, 3, 6, 6), "w": floats(4, 3, 3, 3)}, ["w"], dict(activation="Clip"))),
        "activation": ("FusedConv", 1, ({"x": floats(1, 3, 6, 6), "w": floats(4, 3, 3, 3)}, ["w"], dict(activation="Sine"))),
        "axes": ("GatherBlockQuantized", 1, ({"x": table, "at": ints(3, dtype="i8"), "s": floats(20, 2)}, ["x", "s"], dict(quantize_axis=0))),
        "bits": ("GatherBlockQuantized", 1, ({"x": table, "at": ints(3, dtype="i8"), "s": floats(20, 2)}, ["x", "s"], dict(bits=3))),
    }.items()}
# Rows of the caches that are filled: behind them there is what was there before, or nothing.
FILLED = {"step_uneven": [8, 6], "step_room": [8]}

for name, (kind, count, (operands, constants, attributes)) in CASES.items():
    given = {n: np.asarray(v) for n, v in operands.items() if v is not None}
    inputs = {n: v for n, v in given.items() if n not in constants}
    names = [f"r{i}" for i in range(count)]
    node = helper.make_node(kind, [n if v is not None else "" for n, v in operands.items()], names, "node", domain="com.microsoft", **attributes)
    values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in inputs.items()]
    kinds = [{"QuantizeLinear": 4}.get(kind, 1)] + [6 if kind.startswith("Embed") else 1] + [1] * count
    outputs = [helper.make_tensor_value_info(n, t, None) for n, t in zip(names, kinds)]
    fixed = [numpy_helper.from_array(given[n], n) for n in constants if n in given]
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(helper.make_graph([node], "g", values, outputs, fixed), opset_imports=opsets, ir_version=8)
    if sys.argv[1] != "check":
        onnx.save(model, f"{name}.onnx")
        np.savez(f"{name}.npz", **inputs)
        continue
    if name in DEFINED:
        results = DEFINED[name](**given)
    else:
        results = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"]).run(None, inputs)
    ours = np.load(f"{name}.out.npz")
    for output, expected in zip(names, results):
        got = ours[output]
        assert got.shape == expected.shape, (name, output, got.shape, expected.shape)
        for batch, rows in enumerate(FILLED.get(name, []) if output != "r0" else []):
            got[batch, :, rows:] = expected[batch, :, rows:] = 0
        if name == "prompt_padded" and output == "r0":
            got[1, 4:] = expected[1, 4:] = 0
        np.testing.assert_allclose(got, expected, rtol=2e-4, atol=2e-4 * np.abs(expected).max(), err_msg=f"{name} {output}")
