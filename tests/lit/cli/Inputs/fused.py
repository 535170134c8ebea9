"""Models of onnxruntime's fused operators, and what they give there.

Writes NAME.onnx and NAME.npz; called with `check` it compares NAME.out.npz.
"""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

rng = np.random.default_rng(5)


def floats(*shape):
    return rng.standard_normal(shape).astype("f4")


def integers(low, high, shape, dtype):
    return rng.integers(low, high, shape).astype(dtype)


def n_bits(bits, k, n, block, zeros=None):
    blocks, size = -(-k // block), block * bits // 8
    tensors = {"w": integers(0, 256, (n, blocks, size), "u1"), "s": floats(n * blocks) * 0.1}
    if zeros == "packed":
        tensors["z"] = integers(0, 256, (n * -(-blocks * bits // 8),), "u1")
    return {"x": floats(3, k)}, tensors, dict(K=k, N=n, bits=bits, block_size=block)


def grouped(case, block_of):
    """The same with rows that name their blocks."""
    inputs, tensors, attributes = case
    rows = np.arange(attributes["K"])
    names = np.array([block_of(row) for row in rows], "i4")
    return inputs, {**tensors, "z": tensors.get("z"), "g": names}, attributes


def product(x, tensors, attributes):
    """MatMulNBits as it is defined: onnxruntime leaves zero points out where rows name their blocks."""
    k, n, bits = attributes["K"], attributes["N"], attributes["bits"]
    blocks, parts = -(-k // attributes["block_size"]), np.arange(8 // bits) * bits

    def unpacked(packed, columns):
        return (packed.reshape(n, -1, 1) >> parts & (1 << bits) - 1).reshape(n, -1)[:, :columns].astype("f4")

    zero = np.full((n, blocks), 2.0 ** (bits - 1)) if tensors.get("z") is None else unpacked(tensors["z"], blocks)
    rows = tensors["g"]
    return x @ ((unpacked(tensors["w"], k) - zero[:, rows]) * tensors["s"].reshape(n, blocks)[:, rows]).T


# Operator, results, (inputs, constants, attributes); operands are in the order of x, y, then the constants.
CASES = {
    "bias_gelu": ("BiasGelu", 1, ({"x": floats(3, 8)}, {"b": floats(8)}, {})),
    "gelu": ("Gelu", 1, ({"x": floats(3, 8)}, {}, {})),
    "fast_gelu": ("FastGelu", 1, ({"x": floats(3, 8)}, {"b": floats(8)}, {})),
    "quick_gelu": ("QuickGelu", 1, ({"x": floats(3, 8)}, {}, {"alpha": 1.5})),
    "product": ("FusedMatMul", 1, ({"x": floats(2, 7, 5), "y": floats(2, 6, 7)}, {}, dict(transA=1, transB=1, alpha=0.25))),
    "skip": ("SkipLayerNormalization", 4, ({"x": floats(2, 5, 8), "y": floats(2, 5, 8)},
                                           {"g": floats(8), "b": floats(8), "a": floats(8)}, {"epsilon": 1e-5})),
    "skip_rms": ("SkipSimplifiedLayerNormalization", 4, ({"x": floats(2, 5, 8), "y": floats(2, 5, 8)}, {"g": floats(8)}, {})),
    "rms": ("SimplifiedLayerNormalization", 1, ({"x": floats(2, 5, 8)}, {"g": floats(8)}, {})),
    "dynamic": ("DynamicQuantizeMatMul", 1, ({"x": floats(4, 16)},
                                             {"w": integers(-60, 60, (16, 6), "i1"), "s": floats(6) * 0.1, "z": np.zeros(6, "i1")}, {})),
    "to_float": ("MatMulIntegerToFloat", 1, ({"x": integers(0, 100, (4, 16), "u1")}, {
        "w": integers(-60, 60, (16, 6), "i1"), "p": np.float32(0.1), "s": floats(6) * 0.1, "q": np.uint8(7), "z": np.zeros(6, "i1"),
        "b": floats(6)}, {})),
    "four": ("MatMulNBits", 1, n_bits(4, 256, 80, 32)),
    "four_small": ("MatMulNBits", 1, n_bits(4, 96, 10, 32)),
    "four_zeros": ("MatMulNBits", 1, n_bits(4, 264, 70, 32, "packed")),
    "groups": ("MatMulNBits", 1, grouped(n_bits(4, 256, 80, 32), lambda row: row * 5 % 8)),
    "groups_zeros": ("MatMulNBits", 1, grouped(n_bits(4, 256, 80, 32, "packed"), lambda row: 7 - row // 32)),
    "groups_eight": ("MatMulNBits", 1, grouped(n_bits(8, 272, 65, 16), lambda row: row % 17)),
    "groups_own": ("MatMulNBits", 1, grouped(n_bits(4, 256, 80, 32), lambda row: row // 32)),
    "groups_uneven": ("MatMulNBits", 1, grouped(n_bits(4, 96, 10, 32, "packed"), lambda row: min(row % 4, 2))),
    "eight": ("MatMulNBits", 1, n_bits(8, 272, 65, 16)),
}

# Refused models, made by the word `bad`.
good = n_bits(4, 64, 4, 32)
BAD = {
    "bytes": (good[0], {**good[1], "w": good[1]["w"][:, :, 1:]}, good[2]),
    "scales": (good[0], {**good[1], "s": good[1]["s"][1:]}, good[2]),
    "bits": (*good[:2], {**good[2], "bits": 3}),
    "huge": (*good[:2], {**good[2], "K": 2**62, "N": 2**62}),
    "block": (*good[:2], {**good[2], "block_size": 0}),
    "group": grouped(good, lambda row: 2),
}
if sys.argv[1] == "bad":
    CASES = {f"bad_{name}": ("MatMulNBits", 1, case) for name, case in BAD.items()}

for name, (kind, count, (inputs, constants, attributes)) in CASES.items():
    domain = "" if kind.startswith("Simpl") else "com.microsoft"
    names = [f"r{i}" if i in (0, 3) else "" for i in range(count)]
    operands = [*inputs, *(n if v is not None else "" for n, v in constants.items())]
    constants = {n: v for n, v in constants.items() if v is not None}
    node = helper.make_node(kind, operands, names, "node", domain=domain, **attributes)
    values = [helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in inputs.items()]
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in names if n]
    graph = helper.make_graph([node], "g", values, outputs, [numpy_helper.from_array(np.asarray(v), n) for n, v in constants.items()])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    if sys.argv[1] != "check":
        onnx.save(model, f"{name}.onnx")
        np.savez(f"{name}.npz", **inputs)
        continue
    if name.startswith("groups"):
        wanted = [product(inputs["x"], constants, attributes)]
    else:
        wanted = onnxruntime.InferenceSession(model.SerializeToString()).run(None, inputs)
    ours = np.load(f"{name}.out.npz")
    for output, expected in zip([n for n in names if n], wanted):
        np.testing.assert_allclose(ours[output], expected, rtol=2e-4, atol=2e-4 * np.abs(expected).max(), err_msg=name)
