"""One-operator models of ops that move, index, resample and quantize: over types, ranks and edges."""

import itertools

import numpy as np

TYPES = ["f4", "f8", "f2", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "?"]
SHAPES = [(), (1,), (7,), (3, 5), (2, 3, 5), (1, 5, 7, 9), (2, 1, 3, 2, 4), (1, 2, 3, 2, 1, 4)]


def ints(*values):
    return np.array(values, "i8")


def tag(shape):
    return "x".join(map(str, shape)) or "scalar"


def numbers(c, dtype, *shape):
    """Numbers of any type; a few of them equal."""
    if dtype == "?":
        return c.rng.integers(0, 2, shape).astype(dtype)
    if dtype[0] == "f":
        return (c.rng.standard_normal(shape) * 3).astype(dtype)
    return np.asarray(c.rng.integers(0 if dtype[0] == "u" else -50, 50, shape)).astype(dtype)


def by_type(c):
    for dtype in TYPES:
        x = numbers(c, dtype, 2, 3, 4)
        c.add(f"transpose_{dtype}", "Transpose", [x], perm=[2, 0, 1])
        c.add(f"concat_{dtype}", "Concat", [x, numbers(c, dtype, 2, 1, 4)], axis=1)
        c.add(f"slice_{dtype}", "Slice", [x], {1: ints(-1), 2: ints(-9), 3: ints(1), 4: ints(-1)})
        c.add(f"gather_{dtype}", "Gather", [x, ints(2, -1, 0)], axis=1)
        c.add(f"expand_{dtype}", "Expand", [numbers(c, dtype, 3, 1)], {1: ints(2, 1, 4)})
        c.add(f"tile_{dtype}", "Tile", [x], {1: ints(1, 2, 3)})
    for dtype in ["f4", "f8", "i4", "i8", "?"]:
        c.add(f"trilu_{dtype}", "Trilu", [numbers(c, dtype, 2, 4, 5)], {1: np.array(-1, "i8")})
    for dtype in ["f4", "f8", "i4", "i8"]:
        c.add(f"top_k_{dtype}", "TopK", [numbers(c, dtype, 3, 40)], {1: ints(7)}, n_out=2)
        c.add(f"top_k_least_{dtype}", "TopK", [numbers(c, dtype, 20, 3)], {1: ints(20)}, n_out=2,
              axis=0, largest=0)
    for dtype in ["f4", "f8", "i2", "i4", "i8"]:
        c.add(f"range_{dtype}", "Range", [],
              {0: np.array(7, dtype), 1: np.array(-4, dtype), 2: np.array(-3, dtype)})
        c.add(f"pad_{dtype}", "Pad", [numbers(c, "f4" if dtype == "i2" else dtype, 3, 4)],
              {1: ints(1, -1, 2, 3)})


def by_shape(c):
    for shape in SHAPES:
        x, rank = c.normal(*shape), len(shape)
        c.add(f"flat_{tag(shape)}", "Reshape", [x], {1: ints(-1)})
        c.add(f"unsqueeze_{tag(shape)}", "Unsqueeze", [x], {1: ints(0, rank + 1)})
        c.add(f"shape_{tag(shape)}", "Shape", [x], opset=15, start=-2)
        c.add(f"gather_first_{tag(shape)}", "Gather", [x.reshape(1, *shape)], {1: np.array(0, "i8")})
        if rank:
            c.add(f"reverse_{tag(shape)}", "Transpose", [x], perm=list(range(rank))[::-1])
            c.add(f"concat_last_{tag(shape)}", "Concat", [x, x[..., :1]], axis=-1)
            c.add(f"pad_edge_{tag(shape)}", "Pad", [x], {1: ints(*[1] * rank, *[2] * rank)},
                  mode="edge")
            c.add(f"slice_steps_{tag(shape)}", "Slice", [x], {
                1: ints(*[-1] * rank), 2: ints(*[-99] * rank), 3: ints(*range(rank)),
                4: ints(*[-2] * rank)})
    empty = c.normal(0, 3)
    c.add("empty_concat", "Concat", [empty, c.normal(2, 3)], axis=0)
    c.add("empty_transpose", "Transpose", [empty])
    c.add("empty_slice", "Slice", [c.normal(2, 3)], {1: ints(2), 2: ints(2), 3: ints(0)})
    c.add("empty_gather", "Gather", [c.normal(2, 3), ints()], axis=1)
    c.add("empty_split", "Split", [c.normal(4, 3)], {1: ints(0, 4)}, n_out=2, axis=0)
    c.add("empty_pad", "Pad", [empty], {1: ints(1, 0, 1, 0)})
    c.add("pad_reflect_all", "Pad", [c.normal(4, 5)], {1: ints(3, 4, 3, 4)}, mode="reflect")
    c.add("pad_wrap", "Pad", [c.normal(4, 5)], {1: ints(3, 4, 2, 1)}, opset=19, mode="wrap")
    c.add("pad_axes", "Pad", [c.normal(4, 5)], {1: ints(2, 1), 2: np.float32(1), 3: ints(-1)}, opset=18)


def indexing(c):
    x = c.normal(3, 4, 5)
    for axis in (0, 1, -1):
        size = x.shape[axis]
        index = c.rng.integers(-size, size, (2, 3, 2))
        c.add(f"gather_elements_{axis}", "GatherElements", [x, index], axis=axis)
        for reduction in ("none", "add", "mul", "max", "min"):
            # Positions along the axis are distinct where the last one wins, to have one answer.
            order = np.argsort(c.rng.random((2, 3, size)), axis=-1)[..., :2]
            index = np.moveaxis(order, -1, axis) if reduction == "none" else index
            updates = c.normal(*index.shape)
            fits = all(u <= n for i, (u, n) in enumerate(zip(index.shape, x.shape)) if i != axis % 3)
            if fits:
                c.add(f"scatter_elements_{reduction}_{axis}", "ScatterElements",
                      [x, index, updates], opset=18, axis=axis, reduction=reduction)
    for depth, batch in ((1, 0), (2, 0), (3, 0), (1, 1), (2, 1), (1, 2)):
        lead = x.shape[:batch]
        index = np.stack([c.rng.integers(-x.shape[batch + k], x.shape[batch + k], (*lead, 4))
                          for k in range(depth)], -1)
        c.add(f"gather_nd_{depth}_{batch}", "GatherND", [x, index], batch_dims=batch)
    for reduction, depth in itertools.product(("add", "mul", "max", "min"), (1, 2, 3)):
        index = np.stack([c.rng.integers(-x.shape[k], x.shape[k], (6,)) for k in range(depth)], -1)
        c.add(f"scatter_nd_{reduction}_{depth}", "ScatterND",
              [x, index, c.normal(6, *x.shape[depth:])], opset=18, reduction=reduction)
    for axis in (0, 1, -1):
        c.add(f"one_hot_{axis}", "OneHot", [c.rng.integers(-6, 6, (2, 3))],
              {1: ints(4), 2: np.array([-1, 1], "f4")}, axis=axis)
    for time in (0, 1):
        c.add(f"reverse_sequence_{time}", "ReverseSequence", [c.normal(4, 4, 3), ints(1, 4, 2, 3)],
              time_axis=time, batch_axis=1 - time)
    c.add("compress", "Compress", [x], {1: np.array([0, 1, 1], "?")}, axis=1)
    c.add("compress_flat", "Compress", [x], {1: np.array([0, 1, 1, 0, 1], "?")})
    for k in (-1, 0, 2):
        c.add(f"eye_like_{k}", "EyeLike", [c.normal(3, 4)], k=k, dtype=7)


def sampling(c):
    transformations = ["half_pixel", "pytorch_half_pixel", "asymmetric", "align_corners"]
    roundings = ["round_prefer_floor", "round_prefer_ceil", "floor", "ceil"]
    x = c.normal(1, 2, 5, 6)
    for transformation, rounding in itertools.product(transformations, roundings):
        for sizes in ((7, 3), (10, 12)):
            c.add(f"resize_nearest_{transformation}_{rounding}_{tag(sizes)}", "Resize", [x],
                  {1: None, 2: None, 3: ints(1, 2, *sizes)}, mode="nearest", nearest_mode=rounding,
                  coordinate_transformation_mode=transformation)
    # Positions that are whole numbers, or half way between two.
    for size, to, transformation, rounding in ((21, 6, "align_corners", "floor"), (14, 4, "asymmetric", "round_prefer_ceil"),
                                               (21, 6, "align_corners", "ceil")):
        c.add(f"resize_exact_{size}_{to}_{rounding}", "Resize", [c.normal(1, 1, 1, size)], {1: None, 2: None, 3: ints(1, 1, 1, to)},
              mode="nearest", nearest_mode=rounding, coordinate_transformation_mode=transformation)
    for mode, transformation in itertools.product(("linear", "cubic"), transformations):
        for sizes in ((7, 3), (10, 12)):
            c.add(f"resize_{mode}_{transformation}_{tag(sizes)}", "Resize", [x],
                  {1: None, 2: None, 3: ints(1, 2, *sizes)}, mode=mode,
                  coordinate_transformation_mode=transformation)
        c.add(f"resize_{mode}_{transformation}_antialias", "Resize", [x],
              {1: None, 2: None, 3: ints(1, 2, 2, 4)}, mode=mode, opset=18, antialias=1,
              coordinate_transformation_mode=transformation)
    c.add("resize_cubic_exclude", "Resize", [x], {1: None, 2: None, 3: ints(1, 2, 9, 4)},
          mode="cubic", exclude_outside=1, cubic_coeff_a=-0.5)
    c.add("resize_1d", "Resize", [c.normal(1, 2, 5)], {1: None, 2: np.array([1, 1, 2.4], "f4")},
          mode="linear")
    c.add("resize_3d", "Resize", [c.normal(1, 2, 3, 4, 5)], {1: None, 2: None,
          3: ints(1, 2, 5, 3, 8)}, mode="linear")
    c.add("resize_u1", "Resize", [numbers(c, "u1", 1, 1, 4, 4)],
          {1: None, 2: None, 3: ints(1, 1, 6, 8)}, mode="nearest")
    grid = c.rng.uniform(-1.4, 1.4, (1, 3, 4, 2)).astype("f4")
    for mode, padding, align in itertools.product(("linear", "nearest", "cubic"),
                                                  ("zeros", "border", "reflection"), (0, 1)):
        c.add(f"grid_sample_{mode}_{padding}_{align}", "GridSample", [x, grid], opset=20, mode=mode,
              padding_mode=padding, align_corners=align)
    x, rois = c.normal(2, 3, 9, 11), np.array([[0, 0, 6, 7], [-3.2, 1.5, 4.4, 30], [5, 5, 5, 5], [8, 6, 2, 3]], "f4")
    for mode, ratio, half in itertools.product(("avg", "max"), (0, 1, 3), ("half_pixel", "output_half_pixel")):
        c.add(f"roi_align_{mode}_{ratio}_{half}", "RoiAlign", [x, rois], {2: ints(0, 1, 1, 0)}, mode=mode, output_height=3,
              output_width=2, sampling_ratio=ratio, spatial_scale=0.75, coordinate_transformation_mode=half)
    c.add("roi_align_old", "RoiAlign", [x, rois], {2: ints(0, 1, 1, 0)}, opset=10, output_height=2, output_width=2)
    for i, (shape, w, out, attributes) in enumerate([
            ((1, 4, 7, 8), (6, 4, 3, 3), (5, 6), {}),
            ((2, 4, 7, 8), (6, 2, 3, 2), (4, 4), {"group": 2, "offset_group": 2, "strides": [2, 2], "pads": [1, 0, 1, 1]}),
            ((1, 6, 9, 5), (3, 6, 3, 3), (7, 3), {"offset_group": 3, "dilations": [2, 1], "pads": [1, 0, 1, 0]})]):
        taps, groups = w[2] * w[3], attributes.get("offset_group", 1)
        feeds = [c.normal(*shape), c.normal(shape[0], 2 * taps * groups, *out, scale=2)]
        c.add(f"deform_conv_{i}", "DeformConv", feeds, {1: c.normal(*w)}, opset=19, **attributes)
        mask = np.abs(c.normal(shape[0], taps * groups, *out))
        c.add(f"deform_conv_{i}_mask", "DeformConv", [*feeds, mask], {1: c.normal(*w), 3: c.normal(w[0])}, opset=19, **attributes)


def quantized(c):
    def q(dtype, *shape):
        return c.rng.integers(np.iinfo(dtype).min, np.iinfo(dtype).max, shape).astype(dtype)

    scales = (np.abs(c.normal(4)) * 0.1 + 0.02).astype("f4")
    for axis, shape in ((0, (4, 3)), (1, (2, 4, 3)), (-1, (2, 3, 4))):
        c.add(f"quantize_axis_{axis}", "QuantizeLinear", [c.normal(*shape, scale=4)],
              {1: scales, 2: q("u1", 4)}, axis=axis)
        c.add(f"dequantize_axis_{axis}", "DequantizeLinear", [q("i1", *shape)],
              {1: scales, 2: q("i1", 4)}, axis=axis)
    c.add("quantize_ties", "QuantizeLinear", [np.array([-2.5, -1.5, -0.5, 0.5, 1.5, 2.5, 999], "f4")],
          {1: np.float32(1), 2: np.uint8(3)})
    c.add("dequantize_i4", "DequantizeLinear", [q("i2", 5).astype("i4")], {1: np.float32(0.1)})
    for i, x in enumerate([c.normal(3, 5), np.abs(c.normal(7)), -np.abs(c.normal(7)), np.zeros(3, "f4")]):
        c.add(f"dynamic_quantize_{i}", "DynamicQuantizeLinear", [x], n_out=3)
    for i, (a, b) in enumerate([((3, 5), (5, 7)), ((2, 3, 5), (5, 7)), ((2, 1, 3, 5), (4, 5, 2))]):
        # Values of 7 bits, as onnxruntime saturates sums of two products on machines without VNNI.
        c.add(f"matmul_integer_{i}", "MatMulInteger", [q("u1", *a), q("i1", *b) // 2],
              {2: np.uint8(120), 3: np.int8(-4)})
        c.add(f"qlinear_matmul_{i}", "QLinearMatMul", [q("u1", *a)], {
            1: np.float32(0.03), 2: np.uint8(120), 3: q("i1", *b), 4: np.float32(0.02),
            5: np.int8(-4), 6: np.float32(0.3), 7: np.uint8(100)})
    for i, (x, w, extra) in enumerate([
            ((1, 3, 7, 8), (4, 3, 3, 3), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
            ((2, 4, 6, 6), (8, 1, 3, 3), {"group": 4, "dilations": [2, 1]}),
            ((1, 4, 9), (6, 2, 3), {"group": 2, "pads": [1, 1]}),
            ((1, 2, 4, 5, 4), (3, 2, 2, 2, 2), {})]):
        c.add(f"conv_integer_{i}", "ConvInteger", [q("u1", *x), q("u1", *w)],
              {2: np.uint8(130), 3: np.uint8(7)}, **extra)
        filters = (np.abs(c.normal(w[0])) * 0.02 + 0.01).astype("f4")
        c.add(f"qlinear_conv_{i}", "QLinearConv", [q("u1", *x)], {
            1: np.float32(0.03), 2: np.uint8(130), 3: q("i1", *w), 4: filters,
            5: np.zeros(w[0], "i1"), 6: np.float32(0.3), 7: np.uint8(100),
            8: c.rng.integers(-900, 900, w[0]).astype("i4")}, **extra)


FAMILIES = [by_type, by_shape, indexing, sampling, quantized]
