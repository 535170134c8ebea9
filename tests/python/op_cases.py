"""One-operator models over several shapes, odd ones included.

Every case is (name, model, inputs); onnxruntime gives the expected outputs.
"""

import itertools

import numpy as np
import op_cases_data
from net import Net
from onnx import TensorProto, helper

F32, I64, I32, BOOL, U8, I8 = (TensorProto.FLOAT, TensorProto.INT64, TensorProto.INT32,
                               TensorProto.BOOL, TensorProto.UINT8, TensorProto.INT8)
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 5), (1, 5, 7, 9)]


class Cases:
    def __init__(self):
        self.found = []
        self.rng = np.random.default_rng(2024)

    def normal(self, *shape, scale=1.0):
        return (self.rng.standard_normal(shape) * scale).astype("f4")

    def add(self, name, kind, inputs, consts=(), n_out=1, opset=17, **attributes):
        """`inputs` are fed at run time; `consts` (dict: position -> array) are initializers."""
        net, operands, feeds = Net(name, opset), [], {}
        consts, feed = dict(consts), iter(inputs)
        for position in range(len(inputs) + len(consts)):
            if position in consts:
                value = consts[position]
                operands.append("" if value is None else net.const(value))
                continue
            array = np.asarray(next(feed))
            key = f"x{position}"
            operands.append(net.input(key, array.shape, helper.np_dtype_to_tensor_dtype(array.dtype)))
            feeds[key] = array
        made = net.op(kind, *operands, n_out=n_out, **attributes)
        for value in [made] if n_out == 1 else made:
            net.output(value, TensorProto.UNDEFINED)
        self.found.append((name, net, feeds))


def unary(c):
    wide = ["Abs", "Neg", "Exp", "Floor", "Ceil", "Round", "Sign", "Sin", "Cos", "Tan", "Atan",
            "Sinh", "Cosh", "Tanh", "Asinh", "Erf", "Relu", "Sigmoid", "Softplus", "Softsign",
            "HardSwish", "Identity", "Elu", "Selu", "LeakyRelu", "HardSigmoid", "ThresholdedRelu",
            "Celu", "Mish"]
    for kind, shape in itertools.product(wide, SHAPES):
        tag = "x".join(map(str, shape)) or "scalar"
        c.add(f"{kind.lower()}_{tag}", kind, [c.normal(*shape, scale=2)],
              opset=18 if kind == "Mish" else 17)
    for kind in ["Log", "Sqrt", "Reciprocal"]:
        c.add(f"{kind.lower()}_3x5", kind, [np.abs(c.normal(3, 5)) + 0.1])
    for kind in ["Asin", "Acos", "Atanh"]:
        c.add(f"{kind.lower()}_3x5", kind, [np.tanh(c.normal(3, 5))])
    c.add("acosh_3x5", "Acosh", [np.abs(c.normal(3, 5)) + 1])
    special = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.5, 2.5, -2.5, 88.8, -104], "f4")
    for kind in ["Relu", "Exp", "Tanh", "Sigmoid", "Round", "Erf", "Abs", "Sign", "Floor"]:
        c.add(f"{kind.lower()}_special", kind, [special])
    for dtype in ["f8", "i4", "i8"]:
        c.add(f"abs_{dtype}", "Abs", [c.normal(4, 3, scale=9).astype(dtype)])
        c.add(f"neg_{dtype}", "Neg", [c.normal(4, 3, scale=9).astype(dtype)])
    c.add("clip_both", "Clip", [c.normal(3, 7)], {1: np.float32(-0.5), 2: np.float32(0.5)})
    c.add("clip_min", "Clip", [c.normal(3, 7)], {1: np.float32(0)})
    c.add("clip_max_only", "Clip", [c.normal(3, 7)], {1: None, 2: np.float32(0)})
    for src, dst in itertools.product(["f4", "f8", "i4", "i8", "u1", "i1", "?"], repeat=2):
        values = (c.normal(3, 5, scale=20) if src[0] in "fi" else np.abs(c.normal(3, 5, scale=20)))
        if dst in ("u1", "i1"):  # Out-of-range float conversions are undefined.
            values = np.clip(np.abs(values), 0, 100)
        c.add(f"cast_{src}_{dst}".replace("?", "b1"), "Cast", [values.astype(src)],
              to=helper.np_dtype_to_tensor_dtype(np.dtype(dst)))
    for src, dst in [("f4", "i4"), ("u8", "f8"), ("i2", "f2"), ("u1", "i1")]:
        c.add(f"bitcast_{src}_{dst}", "BitCast", [c.normal(3, 5, scale=20).astype("i1").astype(src)], opset=26,
              to=helper.np_dtype_to_tensor_dtype(np.dtype(dst)))


def binary(c):
    pairs = [((), ()), ((3, 5), (3, 5)), ((3, 5), (5,)), ((3, 1), (1, 5)), ((2, 3, 4), (3, 1)),
             ((1, 4, 1, 5), (2, 1, 3, 1)), ((7,), ()), ((1, 3, 8, 8), (3, 1, 1))]
    for kind, (i, (a, b)) in itertools.product(["Add", "Sub", "Mul", "Div", "Min", "Max"],
                                               enumerate(pairs)):
        c.add(f"{kind.lower()}_broadcast{i}", kind, [c.normal(*a), c.normal(*b) + 3])
    for kind, dtype in itertools.product(["Add", "Sub", "Mul", "Div"], ["i4", "i8", "f8"]):
        c.add(f"{kind.lower()}_{dtype}", kind, [c.normal(4, 3, scale=50).astype(dtype),
                                                (np.abs(c.normal(4, 3, scale=5)) + 1).astype(dtype)])
    c.add("pow", "Pow", [np.abs(c.normal(4, 3)) + 0.1, c.normal(4, 3)])
    c.add("pow_square", "Pow", [c.normal(4, 3)], {1: np.float32(2)})
    c.add("mod_int", "Mod", [c.normal(4, 3, scale=9).astype("i4"), np.array([3, -4, 5], "i4")])
    c.add("mod_fmod", "Mod", [c.normal(4, 3, scale=9), np.array([3, -4, 5], "f4")], fmod=1)
    c.add("prelu", "PRelu", [c.normal(1, 4, 3, 3)], {1: c.normal(4, 1, 1)})
    for kind in ["Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"]:
        c.add(f"{kind.lower()}_f4", kind, [np.round(c.normal(4, 5)), np.round(c.normal(5))])
        c.add(f"{kind.lower()}_i8", kind, [np.round(c.normal(4, 5)).astype("i8"),
                                           np.round(c.normal(4, 1)).astype("i8")])
    for kind in ["And", "Or", "Xor"]:
        c.add(kind.lower(), kind, [c.normal(4, 5) > 0, c.normal(5) > 0])
    c.add("not", "Not", [c.normal(4, 5) > 0])
    c.add("where", "Where", [c.normal(4, 1) > 0, c.normal(4, 5), c.normal(5)])
    c.add("sum3", "Sum", [c.normal(2, 3), c.normal(3), c.normal(2, 1)])
    c.add("mean2", "Mean", [c.normal(2, 3), c.normal(3)])
    c.add("max3", "Max", [c.normal(2, 3), c.normal(3), c.normal(2, 1)])


def convolution(c):
    grid = [  # N, C, H, W, F, KH, KW, stride, pads, dilation, group
        (1, 3, 8, 8, 4, 3, 3, 1, [1, 1, 1, 1], 1, 1), (1, 1, 5, 5, 1, 1, 1, 1, [0, 0, 0, 0], 1, 1),
        (2, 16, 7, 9, 24, 3, 3, 2, [1, 0, 1, 2], 1, 1), (1, 8, 14, 14, 17, 1, 1, 1, [0] * 4, 1, 1),
        (1, 32, 7, 7, 64, 3, 3, 1, [1, 1, 1, 1], 1, 1), (1, 16, 9, 9, 16, 3, 3, 1, [1] * 4, 1, 16),
        (1, 12, 9, 11, 12, 5, 3, 2, [2, 1, 2, 1], 1, 12), (1, 8, 9, 9, 12, 3, 3, 1, [1] * 4, 1, 4),
        (1, 6, 13, 13, 10, 3, 3, 1, [2] * 4, 2, 1), (1, 3, 23, 19, 16, 7, 7, 2, [3] * 4, 1, 1),
        (1, 5, 6, 6, 33, 2, 2, 1, [0, 1, 1, 0], 1, 1), (3, 20, 4, 4, 40, 1, 1, 2, [0] * 4, 1, 1),
        (1, 6, 6, 6, 12, 3, 3, 1, [1] * 4, 1, 6), (1, 70, 1, 1, 35, 1, 1, 1, [0] * 4, 1, 1),
        (1, 2, 5, 40, 3, 5, 1, 1, [2, 0, 2, 0], 1, 1), (1, 64, 15, 15, 64, 3, 3, 3, [0] * 4, 1, 64)]
    for i, (n, ch, h, w, f, kh, kw, s, pads, d, g) in enumerate(grid):
        for bias in (False, True):
            consts = {1: c.normal(f, ch // g, kh, kw)}
            if bias:
                consts[2] = c.normal(f)
            c.add(f"conv2d_{i}_bias{int(bias)}", "Conv", [c.normal(n, ch, h, w)], consts,
                  strides=[s, s], pads=pads, dilations=[d, d], group=g, kernel_shape=[kh, kw])
    c.add("conv2d_runtime_weights", "Conv", [c.normal(1, 3, 8, 8), c.normal(4, 3, 3, 3)])
    c.add("conv2d_same_upper", "Conv", [c.normal(1, 3, 9, 8)], {1: c.normal(4, 3, 3, 2)},
          auto_pad="SAME_UPPER", strides=[2, 2])
    c.add("conv2d_same_lower", "Conv", [c.normal(1, 3, 9, 8)], {1: c.normal(4, 3, 3, 2)},
          auto_pad="SAME_LOWER", strides=[2, 2])
    c.add("conv1d", "Conv", [c.normal(2, 4, 15)], {1: c.normal(6, 2, 3), 2: c.normal(6)},
          pads=[1, 2], strides=[2], group=2)
    c.add("conv3d", "Conv", [c.normal(1, 2, 5, 6, 7)], {1: c.normal(3, 2, 3, 2, 3)}, pads=[1] * 6)
    for i, (s, pads, op, d, g) in enumerate([([1, 1], [0] * 4, [0, 0], [1, 1], 1),
                                             ([2, 2], [1] * 4, [1, 1], [1, 1], 1),
                                             ([3, 2], [0, 1, 2, 1], [1, 0], [1, 2], 2)]):
        c.add(f"conv_transpose_{i}", "ConvTranspose", [c.normal(1, 4, 5, 6)],
              {1: c.normal(4, 3, 3, 3), 2: c.normal(3 * g)}, strides=s, pads=pads,
              output_padding=op, dilations=d, group=g)


def pooling(c):
    for i, (k, s, pads, extra) in enumerate([
            ([2, 2], [2, 2], [0] * 4, {}), ([3, 3], [2, 2], [1] * 4, {}),
            ([3, 2], [1, 2], [1, 0, 1, 1], {}), ([3, 3], [2, 2], [0] * 4, {"ceil_mode": 1}),
            ([5, 5], [1, 1], [2] * 4, {})]):
        x = c.normal(2, 5, 10, 11)
        c.add(f"max_pool_{i}", "MaxPool", [x], kernel_shape=k, strides=s, pads=pads, **extra)
        c.add(f"average_pool_{i}", "AveragePool", [x], kernel_shape=k, strides=s, pads=pads, **extra)
        c.add(f"average_pool_include_{i}", "AveragePool", [x], kernel_shape=k, strides=s,
              pads=pads, count_include_pad=1, **extra)
        c.add(f"lp_pool_{i}", "LpPool", [x], kernel_shape=k, strides=s, pads=pads)
    c.add("max_pool_dilated", "MaxPool", [c.normal(1, 3, 9, 9)], kernel_shape=[2, 2], dilations=[2, 2])
    c.add("max_pool_indices", "MaxPool", [c.normal(1, 3, 9, 9)], n_out=2, kernel_shape=[3, 3],
          strides=[2, 2])
    # The image that was pooled is larger than the smallest one that pools to this.
    places = np.array([[[[5, 7], [13, 15]], [[25, 27], [33, 39]]]])
    c.add("max_unpool_shape", "MaxUnpool", [c.normal(1, 2, 2, 2), places], {2: np.array([1, 2, 5, 4])},
          kernel_shape=[2, 2], strides=[2, 2])
    # Shape inference does not read the shape.
    net = c.found[-1][1]
    net.outputs[-1] = helper.make_tensor_value_info(net.outputs[-1].name, F32, [1, 2, 5, 4])
    c.add("max_unpool", "MaxUnpool", [c.normal(1, 2, 2, 2), places % 16 + 16 * np.arange(2).reshape(1, 2, 1, 1)],
          kernel_shape=[2, 2], strides=[2, 2])
    # A long signal as one column, with a long window.
    c.add("conv_long_column", "Conv", [c.normal(1, 1, 900, 1)], {1: c.normal(2, 1, 151, 1)}, strides=[7, 1], pads=[75, 0, 80, 0])
    c.add("max_pool_1d", "MaxPool", [c.normal(1, 3, 9)], kernel_shape=[3])
    c.add("average_pool_one_row", "AveragePool", [c.normal(1, 8, 1, 9)], kernel_shape=[3, 3], strides=[1, 2], pads=[1, 2, 1, 1])
    c.add("average_pool_one_plane", "AveragePool", [c.normal(1, 3, 1, 4, 9)], kernel_shape=[3, 2, 3], pads=[1, 0, 1] * 2)
    c.add("average_pool_3d", "AveragePool", [c.normal(1, 2, 5, 5, 5)], kernel_shape=[2, 2, 2])
    for kind in ["GlobalAveragePool", "GlobalMaxPool"]:
        c.add(f"{kind.lower()}", kind, [c.normal(2, 3, 5, 7)])


def linear(c):
    for i, (a, b) in enumerate([((3, 5), (5, 7)), ((1, 64), (64, 10)), ((2, 3, 5), (5, 7)),
                                ((4, 2, 3, 5), (2, 5, 6)), ((5,), (5, 3)), ((3, 5), (5,)),
                                ((5,), (5,)), ((2, 1, 3, 5), (1, 4, 5, 2)), ((33, 47), (47, 65)),
                                ((128, 96), (96, 100))]):
        c.add(f"matmul_{i}", "MatMul", [c.normal(*a), c.normal(*b)])
        c.add(f"matmul_const_{i}", "MatMul", [c.normal(*a)], {1: c.normal(*b)})
    c.add("matmul_f8", "MatMul", [c.normal(3, 5).astype("f8"), c.normal(5, 7).astype("f8")])
    for ta, tb, bias in itertools.product([0, 1], [0, 1], [None, (), (7,), (1, 7), (3, 1), (3, 7)]):
        a, b = c.normal(*((5, 3) if ta else (3, 5))), c.normal(*((7, 5) if tb else (5, 7)))
        consts = {1: b} | ({} if bias is None else {2: c.normal(*bias)})
        tag = "none" if bias is None else "x".join(map(str, bias)) or "scalar"
        c.add(f"gemm_{ta}{tb}_{tag}", "Gemm", [a], consts, transA=ta, transB=tb)
    c.add("gemm_alpha_beta", "Gemm", [c.normal(3, 5), c.normal(5, 7), c.normal(7)], alpha=0.5, beta=2.0)


def normalization(c):
    x = c.normal(2, 6, 4, 5)
    for axis in (-1, 0, 1, 3):
        c.add(f"softmax_{axis}", "Softmax", [x], axis=axis)
        c.add(f"log_softmax_{axis}", "LogSoftmax", [x], axis=axis)
    c.add("softmax_opset11", "Softmax", [x], opset=11, axis=1)
    c.add("softmax_large", "Softmax", [np.array([[1000, 1001, 999], [-1e9, 0, 1]], "f4")])
    c.add("softmax_wide", "Softmax", [c.normal(3, 1000)])
    for kind, length in itertools.product(("Softmax", "LogSoftmax"), (10, 16, 37, 197, 300, 1001)):
        rows = c.normal(5, length, scale=30)
        rows[1, :7], rows[2, 3], rows[3, 5], rows[4] = -np.inf, np.nan, np.inf, -np.inf
        c.add(f"{kind.lower()}_{length}", kind, [rows])
        c.add(f"{kind.lower()}_columns_{length}", kind, [c.normal(2, 30, length, scale=9)], axis=1)
    stats = {1: c.normal(6), 2: c.normal(6), 3: c.normal(6), 4: np.abs(c.normal(6)) + 0.1}
    c.add("batch_norm", "BatchNormalization", [x], stats, epsilon=1e-3)
    c.add("instance_norm", "InstanceNormalization", [x], {1: c.normal(6), 2: c.normal(6)})
    for axis, tail in ((-1, (5,)), (2, (4, 5)), (1, (6, 4, 5))):
        c.add(f"layer_norm_{axis}", "LayerNormalization", [x], {1: c.normal(*tail), 2: c.normal(*tail)},
              axis=axis)
    c.add("lrn", "LRN", [x], size=3, alpha=0.1, beta=0.7, bias=1.5)
    c.add("lp_norm", "LpNormalization", [x], axis=1, p=2)


def reduction(c):
    kinds = ["Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"]
    for kind, (i, (axes, keep)) in itertools.product(kinds, enumerate(
            [(None, 1), ([1], 0), ([0, 2], 1), ([-1], 1), ([1, 2, 3], 0)])):
        x = np.abs(c.normal(2, 3, 4, 5)) + 0.1
        extra = {} if axes is None else {"axes": axes}
        c.add(f"reduce_{kind.lower()}_{i}", f"Reduce{kind}", [x], opset=12, keepdims=keep, **extra)
    c.add("reduce_sum_axes_input", "ReduceSum", [c.normal(2, 3, 4)], {1: np.array([1], "i8")}, opset=13)
    for axis in (0, -1):
        for kind in ("ArgMax", "ArgMin"):
            c.add(f"{kind.lower()}_{axis}", kind, [c.normal(3, 4, 5)], axis=axis, keepdims=0)
        c.add(f"cumsum_{axis}", "CumSum", [c.normal(3, 4)], {1: np.array(axis, "i4")}, exclusive=1)


def movement(c):
    x = c.normal(2, 3, 4, 5)
    ints = lambda *v: np.array(v, "i8")
    for i, s in enumerate([(6, 20), (0, -1), (120,), (1, 2, 1, 60), (-1, 1)]):
        c.add(f"reshape_{i}", "Reshape", [x], {1: ints(*s)})
    for perm in ([3, 2, 1, 0], [0, 2, 3, 1], [1, 0, 2, 3]):
        c.add("transpose_" + "".join(map(str, perm)), "Transpose", [x], perm=perm)
    c.add("transpose_default", "Transpose", [x])
    for axis in range(-1, 3):
        c.add(f"concat_{axis}", "Concat", [x, x + 1, x * 2], axis=axis)
        c.add(f"flatten_{axis}", "Flatten", [x], axis=axis)
        c.add(f"gather_{axis}", "Gather", [x, ints(1, 0, -1, 1) % 2], axis=axis)
    c.add("gather_const_negative", "Gather", [x], {1: ints(-1, 0)}, axis=3)
    c.add("gather_nd", "GatherND", [x], {1: np.array([[0, 1], [1, 2]], "i8")})
    c.add("gather_elements", "GatherElements", [c.normal(3, 3)], {1: np.array([[0, 2, 1]], "i8")}, axis=0)
    c.add("split_equal", "Split", [c.normal(6, 4)], n_out=3, axis=0)
    c.add("split_sizes", "Split", [c.normal(6, 4)], {1: ints(1, 2, 3)}, n_out=3, axis=0)
    for i, (starts, ends, axes, steps) in enumerate([
            ([1], [3], [2], [1]), ([-2], [99], [-1], [1]), ([4], [0], [3], [-2]),
            ([0, 1], [2, 4], [0, 3], [1, 2]), ([-1], [-99], [1], [-1])]):
        c.add(f"slice_{i}", "Slice", [x], {1: ints(*starts), 2: ints(*ends), 3: ints(*axes), 4: ints(*steps)})
    for mode in ("constant", "reflect", "edge"):
        c.add(f"pad_{mode}", "Pad", [x], {1: ints(0, 1, 2, 0, 1, 0, 1, 3)}, mode=mode)
    c.add("pad_value", "Pad", [x], {1: ints(0, 0, 1, 1, 0, 0, 1, 1), 2: np.float32(2.5)})
    c.add("expand", "Expand", [c.normal(3, 1)], {1: ints(2, 3, 4)})
    c.add("tile", "Tile", [c.normal(2, 3)], {1: ints(2, 3)})
    c.add("squeeze", "Squeeze", [c.normal(1, 3, 1)], {1: ints(0)})
    c.add("unsqueeze", "Unsqueeze", [c.normal(3, 4)], {1: ints(0, -1)})
    c.add("depth_to_space", "DepthToSpace", [c.normal(1, 8, 2, 3)], blocksize=2)
    c.add("depth_to_space_crd", "DepthToSpace", [c.normal(1, 8, 2, 3)], blocksize=2, mode="CRD")
    c.add("space_to_depth", "SpaceToDepth", [c.normal(1, 2, 4, 6)], blocksize=2)
    c.add("trilu", "Trilu", [c.normal(4, 5)], upper=0)
    for size, batch in [(1, ()), (2, (3,)), (5, (2, 2)), (17, ())]:
        c.add(f"det_{size}", "Det", [c.normal(*batch, size, size)])
    c.add("det_swaps", "Det", [np.array([[[0, 2, 1], [3, 0, 0], [0, 0, 4]], [[1, 2, 3], [2, 4, 6], [0, 1, 0]]], "f4")])
    c.add("top_k", "TopK", [c.normal(3, 9)], {1: ints(4)}, n_out=2)
    # Rows that are shorter and longer than what is kept in one way, axes, equal elements and NaN.
    for i, (shape, count, attributes) in enumerate([
            ((2, 300), 17, {}), ((2, 300), 90, {"largest": 0}), ((70, 3, 2), 20, {"axis": 0}), ((1, 65), 65, {}),
            ((3, 40), 1, {"largest": 0}), ((80,), 66, {})]):
        for kind in ("f4", "f8", "i4"):
            values = np.round(c.normal(*shape, scale=20)).astype(kind)
            c.add(f"top_k_{i}_{kind}", "TopK", [values], {1: ints(count)}, n_out=2, **attributes)
    # Rows that are sorted, with equal elements, both zeros and infinity. (Where onnxruntime puts NaN is not defined.)
    for i, (shape, count, attributes) in enumerate([
            ((2, 1024), 1024, {}), ((3, 777), 700, {"largest": 0}), ((513, 2), 513, {"axis": 0}), ((2, 129), 129, {})]):
        for kind in ("f4", "f8", "i4", "f2"):
            values = np.round(c.normal(*shape, scale=20)).astype(kind)
            if kind == "f4":
                values.flat[::50], values.flat[1::70], values.flat[2::90] = -0.0, np.inf, -np.inf
            c.add(f"top_k_sorted_{i}_{kind}", "TopK", [values], {1: ints(count)}, n_out=2, **attributes)
    c.add("one_hot", "OneHot", [ints(0, 2, -1)], {1: ints(4), 2: np.array([0, 1], "f4")})
    c.add("scatter_nd", "ScatterND", [c.normal(4, 3)], {1: np.array([[1], [3]], "i8"), 2: c.normal(2, 3)})
    for image, block, counts, windows in [
            ([5, 6], [2, 3], 16, {}), ([7, 9], [3, 3], 20, {"strides": [2, 2], "pads": [1, 1, 1, 1]}),
            ([9, 10], [3, 2], 21, {"strides": [1, 3], "pads": [0, 1, 2, 1], "dilations": [2, 3]})]:
        c.add(f"col2im_{image[0]}", "Col2Im",
              [c.normal(2, 3 * block[0] * block[1], counts)], {1: ints(*image), 2: ints(*block)}, opset=18, **windows)
    for mode, transform in [("nearest", "asymmetric"), ("linear", "half_pixel"),
                            ("linear", "align_corners"), ("cubic", "half_pixel")]:
        c.add(f"resize_{mode}_{transform}", "Resize", [x], {1: None, 2: np.array([1, 1, 2, 1.6], "f4")},
              mode=mode, coordinate_transformation_mode=transform)


def quantization(c):
    scale = np.float32(0.05)
    for dtype, zero in (("u1", 120), ("i1", -3)):
        z = np.array(zero, dtype)
        c.add(f"quantize_{dtype}", "QuantizeLinear", [c.normal(3, 5, scale=4)], {1: scale, 2: z})
        q = c.rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, (3, 5)).astype(dtype)
        c.add(f"dequantize_{dtype}", "DequantizeLinear", [q], {1: scale, 2: z})
    per_channel = np.abs(c.normal(4)) * 0.1 + 0.01
    w = c.rng.integers(-127, 127, (4, 3, 3, 3)).astype("i1")
    x = c.rng.integers(0, 255, (1, 3, 8, 8)).astype("u1")
    c.add("qlinear_conv", "QLinearConv", [x],
          {1: scale, 2: np.uint8(128), 3: w, 4: per_channel.astype("f4"), 5: np.zeros(4, "i1"),
           6: np.float32(0.5), 7: np.uint8(110), 8: c.rng.integers(-500, 500, 4).astype("i4")},
          pads=[1, 1, 1, 1])
    c.add("matmul_integer", "MatMulInteger", [c.rng.integers(0, 255, (3, 8)).astype("u1"),
                                              c.rng.integers(0, 255, (8, 5)).astype("u1")],
          {2: np.uint8(12), 3: np.uint8(0)})


def spectrum(c):
    numbers = {1: np.array(4, "i8"), 3: np.array(16, "i8")}
    for name, shape in [("real", (2, 50)), ("part", (2, 50, 1)), ("complex", (2, 50, 2))]:
        onesided = int(name != "complex")
        c.add(f"stft_{name}", "STFT", [c.normal(*shape)], {**numbers, 2: c.normal(16)}, onesided=onesided)
        c.add(f"stft_{name}_plain", "STFT", [c.normal(*shape)], {**numbers, 2: None}, onesided=onesided)


FAMILIES = [unary, binary, convolution, pooling, linear, normalization, reduction, movement,
            quantization, *op_cases_data.FAMILIES, spectrum]


def all_cases():
    c = Cases()
    for family in FAMILIES:
        family(c)
    return c.found
