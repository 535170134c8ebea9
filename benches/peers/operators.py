"""Operators one by one, most on images of 200,000 elements: what falls off a cliff shows as a ratio. In no table."""

from functools import partial

import numpy as np
from onnx import TensorProto as T
from onnx import helper, numpy_helper, shape_inference

RANDOM = np.random.default_rng(0)
OPERATORS = {}
IMAGE = [1, 64, 56, 56]
ROWS = [256, 1000]


def build(operator, inputs, constants, outputs, opset, attributes):
    """`inputs` are shapes, or shapes and element types; of a constant the name is given."""
    names, values = [], []
    for index, given in enumerate(inputs):
        if isinstance(given, str):
            names.append(given)
            continue
        shape, dtype = given if isinstance(given, tuple) else (given, T.FLOAT)
        names.append(f"x{index}")
        values.append(helper.make_tensor_value_info(names[-1], dtype, shape))
    results = [f"y{index}" for index in range(outputs)]
    graph = helper.make_graph(
        [helper.make_node(operator, names, results, **attributes)], "operator", values,
        [helper.make_empty_tensor_value_info(name) for name in results],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return shape_inference.infer_shapes(model, strict_mode=True)


def add(name, operator, inputs, constants=None, outputs=1, opset=18, **attributes):
    OPERATORS[name] = partial(build, operator, inputs, constants or {}, outputs, opset, attributes)


def floats(*shape):
    return RANDOM.standard_normal(shape).astype(np.float32)


def elementwise():
    unary = """Abs Acos Acosh Asin Asinh Atan Atanh Ceil Celu Cos Cosh Elu Erf Exp Floor HardSigmoid HardSwish IsInf IsNaN
        LeakyRelu Log Mish Neg Reciprocal Relu Round Selu Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh
        ThresholdedRelu"""
    for operator in unary.split():
        add(operator.lower(), operator, [IMAGE])
    add("gelu", "Gelu", [IMAGE], opset=20)
    add("not", "Not", [(IMAGE, T.BOOL)])
    add("clip", "Clip", [IMAGE, "low", "high"], {"low": np.float32(-1), "high": np.float32(1)})
    add("prelu", "PRelu", [IMAGE, "slope"], {"slope": floats(64, 1, 1)})
    add("where", "Where", [(IMAGE, T.BOOL), IMAGE, IMAGE])
    for operator in "Add Div Max Min Mod Mul Pow Sub".split():
        attributes = {"fmod": 1} if operator == "Mod" else {}
        for kind, shape in {"": IMAGE, "-channels": [64, 1, 1], "-columns": [56]}.items():
            add(operator.lower() + kind, operator, [IMAGE, shape], **attributes)
    for operator in "Equal Greater Less And Or Xor".split():
        dtype = T.BOOL if operator in ("And", "Or", "Xor") else T.FLOAT
        add(operator.lower(), operator, [(IMAGE, dtype), (IMAGE, dtype)])
    add("shift", "BitShift", [([200000], T.UINT32)] * 2, direction="LEFT")
    add("sum", "Sum", [IMAGE] * 3)


def reductions():
    kinds = {"channels": [1], "image": [2, 3], "columns": [3], "rows": [2]}
    for operator in "L1 L2 LogSumExp Max Mean Min Prod Sum SumSquare".split():
        for kind, axes in kinds.items():
            add(f"reduce-{operator.lower()}-{kind}", f"Reduce{operator}", [IMAGE, "axes"], {"axes": np.array(axes)})
    for axis in (1, 2, 3):
        for operator in "ArgMax Hardmax LogSoftmax LpNormalization Softmax".split():
            add(f"{operator.lower()}-{axis}", operator, [IMAGE], axis=axis)
        add(f"cumsum-{axis}", "CumSum", [IMAGE, "axis"], {"axis": np.array(axis)})
        add(f"topk-{axis}", "TopK", [IMAGE, "k"], {"k": np.array([5])}, 2, axis=axis)
    add("argmax-rows", "ArgMax", [ROWS], axis=1)
    for name, shape, kept in [("many", [10, 8400], 300), ("sorted", [1, 50257], 50257), ("sorted-rows", [64, 1000], 1000)]:
        add(f"topk-{name}", "TopK", [shape, "k"], {"k": np.array([kept])}, 2, axis=1)


def movement():
    for axis in (1, 2, 3):
        places = {"i": RANDOM.integers(0, 56, 40)}
        add(f"concat-{axis}", "Concat", [IMAGE, IMAGE], axis=axis)
        add(f"split-{axis}", "Split", [IMAGE], outputs=2, axis=axis, num_outputs=2)
        add(f"gather-{axis}", "Gather", [IMAGE, "i"], places, axis=axis)
        add(f"gather-elements-{axis}", "GatherElements", [IMAGE, "i"], {"i": RANDOM.integers(0, 56, IMAGE)}, axis=axis)
        order = {"i": np.argsort(RANDOM.random(IMAGE), axis=axis)}
        add(f"scatter-elements-{axis}", "ScatterElements", [IMAGE, "i", IMAGE], order, axis=axis)
        for name, (start, end, step) in {"flip": (-1, -1000, -1), "every-other": (1, 50, 2)}.items():
            numbers = {"s": np.array([start]), "e": np.array([end]), "a": np.array([axis]), "t": np.array([step])}
            add(f"{name}-{axis}", "Slice", [IMAGE, *numbers], numbers)
    for perm in ([0, 1, 3, 2], [0, 2, 1, 3], [0, 2, 3, 1], [0, 3, 1, 2], [0, 3, 2, 1], [3, 2, 1, 0]):
        add("transpose-" + "".join(map(str, perm)), "Transpose", [IMAGE], perm=perm)
    add("tile", "Tile", [[1, 16, 28, 28], "n"], {"n": np.array([1, 2, 2, 2])})
    add("expand", "Expand", [[1, 64, 1, 56], "n"], {"n": np.array(IMAGE)})
    for mode in ("constant", "reflect", "edge", "wrap"):
        add(f"pad-{mode}", "Pad", [IMAGE, "p"], {"p": np.array([0, 0, 2, 2, 0, 0, 2, 2])}, opset=19, mode=mode)
    for mode in ("DCR", "CRD"):
        add(f"depth-to-space-{mode}", "DepthToSpace", [IMAGE], blocksize=2, mode=mode)
    add("space-to-depth", "SpaceToDepth", [IMAGE], blocksize=2)
    add("trilu", "Trilu", [[512, 512]])
    add("gather-nd", "GatherND", [[100, 100, 64], "i"], {"i": RANDOM.integers(0, 100, (2000, 2))})
    add("scatter-nd", "ScatterND", [[100, 100, 64], "i", [2000, 64]],
        {"i": np.stack(np.unravel_index(RANDOM.permutation(10000)[:2000], (100, 100)), 1)})


def images():
    for mode in ("nearest", "linear", "cubic"):
        for kind in ("half_pixel", "align_corners", "asymmetric"):
            for name, factor in {"grow": 2, "shrink": 0.5}.items():
                add(f"{name}-{mode}-{kind}", "Resize", [IMAGE, "", "s"], {"s": np.array([1, 1, factor, factor], np.float32)},
                    mode=mode, coordinate_transformation_mode=kind)
    scale = {"s": floats(64), "b": floats(64)}
    add("instance-norm", "InstanceNormalization", [IMAGE, "s", "b"], scale)
    add("batch-norm", "BatchNormalization", [IMAGE, "s", "b", "m", "v"], scale | {"m": floats(64), "v": floats(64) ** 2})
    add("layer-norm", "LayerNormalization", [ROWS, "s"], {"s": floats(1000)})
    add("layer-norm-image", "LayerNormalization", [IMAGE, "s"], {"s": floats(64, 56, 56)}, axis=1)
    add("lrn", "LRN", [IMAGE], size=5)
    for size in (2, 3, 7):
        add(f"max-pool-{size}", "MaxPool", [IMAGE], kernel_shape=[size, size], strides=[2, 2])
        add(f"average-pool-{size}", "AveragePool", [IMAGE], kernel_shape=[size, size], pads=[size // 2] * 4)
    for operator in "GlobalAveragePool GlobalLpPool GlobalMaxPool".split():
        add(operator.lower(), operator, [IMAGE])
    add("lp-pool", "LpPool", [IMAGE], kernel_shape=[3, 3])
    for mode in ("linear", "nearest"):
        add(f"grid-sample-{mode}", "GridSample", [[1, 32, 56, 56], [1, 56, 56, 2]], opset=20, mode=mode)
    add("col2im", "Col2Im", [[1, 144, 784], "s", "b"], {"s": np.array([28, 28]), "b": np.array([3, 3])}, pads=[1] * 4)
    for name, shape, attributes in (
            ("groups", (64, 2, 3, 3), {"group": 32, "pads": [1] * 4}), ("dilated", (64, 64, 3, 3), {"dilations": [4, 4], "pads": [4] * 4}),
            ("row", (64, 64, 1, 15), {"pads": [0, 7, 0, 7]}), ("column", (64, 64, 15, 1), {"pads": [7, 0, 7, 0]}),
            ("two-per-channel", (128, 1, 3, 3), {"group": 64, "pads": [1] * 4}), ("depthwise-7", (64, 1, 7, 7), {"group": 64, "pads": [3] * 4})):
        add(f"conv-{name}", "Conv", [IMAGE, "w"], {"w": floats(*shape)}, **attributes)
    add("conv-variable", "Conv", [[1, 32, 28, 28], [32, 32, 3, 3]], pads=[1] * 4)


def products():
    add("matrix-vector", "MatMul", [[1000, 1000], [1000]])
    add("outer-product", "MatMul", [[1000, 1], [1, 1000]])
    add("shared-matrices", "MatMul", [[12, 4, 64, 64], "w"], {"w": floats(1, 4, 64, 128)})
    for name, (a, b) in {"a": ([256, 128], [256, 128]), "b": ([128, 256], [128, 256]), "ab": ([256, 128], [128, 256])}.items():
        add(f"gemm-transposed-{name}", "Gemm", [a, b], transA=int("a" in name), transB=int("b" in name))
    add("einsum", "Einsum", [[2, 64, 8, 32], [2, 64, 8, 32]], equation="bqhd,bkhd->bhqk")


def types():
    for name in "INT64 INT32 FLOAT16 DOUBLE UINT8 INT8".split():
        dtype, short = getattr(T, name), name.lower()
        add(f"add-{short}", "Add", [([200000], dtype)] * 2)
        add(f"from-{short}", "Cast", [([200000], dtype)], to=T.FLOAT)
        add(f"to-{short}", "Cast", [[200000]], to=dtype)
        add(f"transpose-{short}", "Transpose", [([500, 400], dtype)], perm=[1, 0])
    parameters = {"s": np.float32(0.02), "z": np.uint8(128)}
    add("quantize", "QuantizeLinear", [IMAGE, "s", "z"], parameters)
    add("dequantize", "DequantizeLinear", [(IMAGE, T.UINT8), "s", "z"], parameters)
    add("dynamic-quantize", "DynamicQuantizeLinear", [IMAGE], outputs=3)


for family in (elementwise, reductions, movement, images, products, types):
    family()
