"""Defects to plant in targets: what vendors get wrong, by hand; and what follows from the text.

A defect is (target, patterns it shows in, file, scope, old text, new text): the first `old` after
`scope` becomes `new`.
"""

import re
from typing import NamedTuple


class Mutant(NamedTuple):
    target: str
    pattern: str
    file: str
    scope: str
    old: str
    new: str
    nth: int = 0

    def __str__(self):
        what = f"{self.old!r} -> {self.new!r}" + (f" #{self.nth}" if self.nth else "")
        return f"{self.target}/{self.pattern}: {self.file}: {self.scope.strip()!r}: {what}"


def _of(target, rows):
    return [Mutant(target, *row) for row in rows]


TOY = _of("toy", [
    ("conv2d", "toy.c", "static float pixel", "h < 0 || w < 0 || ", "h < 0 || "),
    ("conv2d", "toy.c", "static float pixel", "w >= v->w", "w > v->w"),
    ("conv2d", "toy.c", "static float pixel", "h >= v->h", "h > v->h"),
    ("conv2d", "toy.c", "static float pixel", "n * v->h", "0 * v->h"),
    ("conv2d", "toy.c", "int toy_conv2d", "b ? b[o] : 0.0f", "0.0f"),
    ("conv2d", "toy.c", "int toy_conv2d", "b ? b[o] : 0.0f", "b ? b[0] : 0.0f"),
    ("conv2d", "toy.c", "int toy_conv2d", "q < v->kernel.w", "q < v->kernel.h"),
    ("conv2d", "toy.c", "int toy_conv2d", "c < v->c", "c < v->c / 4 * 4"),
    ("conv2d", "toy.c", "int toy_conv2d", "i * v->stride.h", "i * v->stride.w"),
    ("conv2d", "toy.c", "int toy_conv2d", "q - v->pad.w", "q - v->pad.h"),
    ("conv2d", "toy.c", "int toy_conv2d", "v->relu && r < 0.0f", "r < 0.0f"),
    ("conv2d", "toy.c", "int toy_conv2d", "v->relu && r < 0.0f", "0 && r < 0.0f"),
    ("conv2d", "toy.c", "int toy_conv2d", "scratch[o] = b", "scratch[o + 1] = 0, scratch[o] = b"),
    ("conv2d", "toy.c", "int toy_conv2d", "device->calls++;",
     "device->calls++; if (device->calls > 1) return 0;"),
    ("conv2d", "toy.c", "int toy_conv2d", "device->calls++;",
     "device->calls++; ((float *)x)[0] = 0.0f;"),
    ("conv2d", "toy.c", "int toy_conv2d", "return 0;\n}", "y[0] = 0.0f; return 0;\n}"),
    ("conv2d", "toy.c", "int toy_conv2d", "device->calls++;", "for (;;) device->calls++;"),
    ("conv2d", "toy.c", "int toy_conv2d", "device->calls++;",
     "device->calls++; if (v->n > 1) *(volatile int *)0 = 1;"),
    ("conv2d", "target.toml", 'name = "conv2d"', "scratch 4 * w.shape[0]",
     "scratch 4 * w.shape[0] - 4"),
    ("conv2d", "target.toml", 'name = "conv2d"', "scratch 4 * w.shape[0]",
     "scratch w.shape[0]"),
    ("conv2d", "target.toml", 'name = "conv2d"', '  "conv2d.group == 1",\n', ""),
    ("conv2d", "target.toml", 'name = "conv2d"', '  "all(conv2d.dilations == 1)",\n', ""),
    ("conv2d", "target.toml", 'name = "conv2d"', "pad.h = conv2d.pads[0]",
     "pad.h = conv2d.pads[2]"),
    ("conv2d", "target.toml", 'name = "conv2d"', "pad.w = conv2d.pads[1]",
     "pad.w = conv2d.pads[0]"),
    ("conv2d", "target.toml", 'name = "conv2d"', "stride.w = conv2d.strides[1]",
     "stride.w = conv2d.strides[0]"),
    ("conv2d", "target.toml", 'name = "conv2d"', "kernel.h = w.shape[2]", "kernel.h = w.shape[3]"),
    ("conv2d", "target.toml", 'name = "conv2d"', "out_w = c.shape[3]", "out_w = c.shape[2]"),
    ("conv2d", "target.toml", 'name = "conv2d"', "in w as ohwi", "in w as oihw"),
    ("conv2d", "target.toml", 'name = "conv2d"', "relu = present(relu)", "relu = true"),
    ("conv2d", "target.toml", 'name = "conv2d"', "n = x.shape[0]", "n = 1"),
    ("dense", "toy.c", "void toy_dense", "k < inner", "k < inner - 1"),
    ("dense", "toy.c", "void toy_dense", "float sum = b ? b[j]", "float sum = b ? b[i]"),
    ("dense", "toy.c", "void toy_dense", "relu && sum < 0.0f", "relu && sum < -0.01f"),
    ("dense", "target.toml", 'name = "dense"',
     '"b.rank == 1 and b.size == d.shape[1]"', '"b.rank == 1"'),
    ("dense", "target.toml", 'name = "dense"', '"not dense.trans_b", ', ""),
    ("dense", "target.toml", 'name = "dense"', ', "b.rank == 1 and b.size == d.shape[1]"', ""),
    ("dense_t", "target.toml", 'name = "dense_t"', "in w as [1, 0]", "in w"),
])

TEMPLATE = _of("template", [
    ("conv2d", "mine.c", "conv2d(const float *x", "b ? b[o] : 0.0f;\n", "0.0f;\n"),
    ("conv2d", "mine.c", "row >= h", "column >= width", "column > width"),
    ("conv2d", "mine.c", "int32_t row = i", "p - pad_h", "p"),
    ("conv2d", "mine.c", "int32_t column = j", "j * stride_w", "j * stride_h"),
    ("conv2d", "mine.c", "const float *from", "k < c", "k < (c & ~3)"),
    ("conv2d", "mine.c", "const float *from", "k < c", "k <= c"),
    ("conv2d", "target.toml", 'name = "conv2d"', '  "all(conv2d.dilations == 1)",\n', ""),
    ("conv2d", "target.toml", 'name = "conv2d"', '  "conv2d.group == 1",\n', ""),
    ("conv2d", "target.toml", 'name = "conv2d"', "i32 x.shape[2], i32 x.shape[3]",
     "i32 x.shape[3], i32 x.shape[2]"),
    ("conv2d", "target.toml", 'name = "conv2d"', "i32 conv2d.pads[0], i32 conv2d.pads[1]",
     "i32 conv2d.pads[2], i32 conv2d.pads[3]"),
    ("conv2d", "target.toml", 'name = "conv2d"', "in? b", "in b"),
    ("dense", "target.toml", 'name = "dense"', "in w as [1, 0]", "in w"),
    ("dense", "target.toml", 'name = "dense"', ', "b.rank == 1 and b.size == d.shape[1]"', ""),
    ("dense_transposed", "mine.c", "dense(const float *x", "columns; j++", "columns - 1; j++"),
])

FAR = _of("far", [
    ("relu", "far.c", "int far_wait", "i < device->count", "i + 1 < device->count"),
    ("relu", "far.c", "static int copy", "memmove(to, from, bytes)",
     "memmove(to, from, bytes / 8 * 4)"),
    ("relu", "far.c", "int far_copy_in", "counts.in += bytes;", "counts.in += bytes, bytes -= 4;"),
    ("relu", "far.c", "static int pointwise", "a[i] < 0 ? 0 : a[i]", "a[i]"),
    ("relu", "far.c", "static int start", "device->queue[device->count++]",
     "device->queue[device->count ? device->count - 1 : device->count++]"),
    ("add", "far.c", "static void *at", "device->memory + place", "device->memory + place / 128"),
    ("add", "far.c", "static int pointwise", "4 * count);\n  memset", "2 * count);\n  memset"),
    ("add", "far.c", "static int pointwise", "a[i] + b[i]", "a[i] + a[i]"),
    ("dense", "far.c", "static int dense", "w[k * columns + column]", "w[column * inner + k]"),
    ("max_pool", "far.c", "static int pool", "value > most || isnan(value)", "value < most"),
    ("add", "target.toml", 'name = "add"', "scratch 4 * a.size", "scratch 2 * a.size"),
    ("add", "target.toml", 'name = "add"', "[2, 3]", "[3, 2]"),
    ("dense", "target.toml", 'name = "dense"', "size w.shape[1])", "size w.shape[0])"),
    ("max_pool", "target.toml", 'name = "max_pool"', "x.shape[3] % 2 == 0", "x.shape[3] >= 2"),
])

SLAB = _of("slab", [
    ("product", "slab.c", "int slab_load", "row < rows", "row < rows - (rows > 3)"),
    ("product", "slab.c", "int slab_load", "row * host_pitch", "row * tile_pitch"),
    ("product", "slab.c", "int slab_store", "row * host_pitch", "row * bytes"),
    ("product", "slab.c", "int slab_store", "host + row", "host + (row ? row : 0) + 0 * row"),
    ("product", "slab.c", "const float *block", "j / p->lanes * p->inner", "0 * p->inner"),
    ("product", "slab.c", "const float *block", "p->first ? 0.0f : *out", "0.0f"),
    ("product", "slab.c", "const float *block", "p->first ? 0.0f : *out", "*out"),
    ("product", "slab.c", "const float *block", "p->bias ? bias[j] : 0.0f", "0.0f"),
    ("product", "slab.c", "const float *block", "p->relu && sum < 0.0f", "0 && sum < 0.0f"),
    ("product", "slab.c", "const float *block", "p->relu && sum < 0.0f", "sum < 0.0f"),
    ("product", "slab.c", "const float *block", "k < p->inner", "k < (p->inner & ~1u)"),
    ("product", "slab.c", "float *out =", "j < p->columns", "j < p->columns / p->lanes * p->lanes"),
    ("product", "slab.c", "float *out =", "i < p->rows", "i < (p->rows > 7 ? 7 : p->rows)"),
    ("product", "slab.c", "float *out =", "j < p->columns; j++, out++",
     "j <= p->columns; j++, out += j <= p->columns ? 1 : 0"),
    ("product", "target.toml", 'name = "product"', "present(b) and last(k)", "present(b)"),
    ("product", "target.toml", 'name = "product"', "present(relu) and last(k)", "present(relu)"),
    ("product", "target.toml", 'name = "product"', "first = first(k)", "first = true"),
    ("product", "target.toml", 'name = "product"', "first = first(k)", "first = last(k)"),
    ("product", "target.toml", 'name = "product"', "as [1/option.lanes, 0, 1%option.lanes]",
     "as [1/4, 0, 1%4]"),
    ("product", "target.toml", 'name = "product"', 'multiple = "option.lanes"', "multiple = 1"),
    ("product", "target.toml", 'name = "product"', '"not dense.trans_b", ', ""),
    ("product", "target.toml", 'name = "product"', "rows = tile.m", "rows = x.shape[0]"),
    ("product", "target.toml", 'name = "product"', "columns = tile.n", "columns = w.shape[1]"),
    ("product", "target.toml", 'name = "product"', ", max = 16 }", " }"),
    ("product", "target.toml", "rows = ", "u32 tile_stride[0]", "u32 count[1] * element"),
    ("product", "target.toml", 'name = "slab"\nbytes', "alignment = 16", "alignment = 4"),
])

VANILLA = _of("vanilla", [
    ("conv2d", "vanilla.c", "static void copy(", "j * s->host_stride[1]", "j * s->host_stride[0]"),
    ("conv2d", "vanilla.c", "static void copy(", "k < s->count[2]", "k < (s->count[2] > 4 ? 4 : s->count[2])"),
    ("add", "vanilla.c", "static int elementwise", "i < count", "i < count / 8 * 8"),
    ("add", "vanilla.c", "static int elementwise", "lhs[i] + rhs[i]", "lhs[i] - rhs[i]"),
    ("relu", "vanilla.c", "int vanilla_activate(", "elementwise(device, count, activation",
     "elementwise(device, count, activation == 1 ? 2 : 0"),
    ("relu", "vanilla_kernels.h", "float vanilla_activate_one", "x < 0.0f)\n    return 0.0f",
     "x < 0.0f)\n    return x"),
    ("conv2d", "vanilla_kernels.h", "float vanilla_activate_one", "x > 6.0f", "x > 6.5f"),
    ("conv2d", "target.toml", "pieces =", "present(b) and first(ic)", "present(b)"),
    ("conv2d", "target.toml", "pieces =", "select(last(ic), ", "select(true, "),
    ("conv2d", "target.toml", "pieces =", "accumulate = not first(ic)", "accumulate = false"),
    ("conv2d", "target.toml", "window =", "pad_top = tile.x.pad[2]", "pad_top = conv2d.pads[0]"),
    ("conv2d", "target.toml", "window =", "pad_left = tile.x.pad[3]", "pad_left = tile.x.pad[2]"),
    ("conv2d", "target.toml", "window =", "dilation_h = conv2d.dilations[0]", "dilation_h = 1"),
    ("conv2d", "target.toml", "window =", "stride_w = conv2d.strides[1]",
     "stride_w = conv2d.strides[0]"),
    ("conv2d", "target.toml", 'name = "conv2d"', '  "conv2d.group == 1",\n', ""),
    ("depthwise", "target.toml", 'name = "depthwise"', " and conv2d.group == w.shape[0]", ""),
    ("depthwise", "target.toml", 'name = "depthwise"', "in? b as flat", "in? x as flat"),
    ("depthwise", "target.toml", 'name = "depthwise"', "[0/8, 1, 2, 3, 0%8]", "[0/4, 1, 2, 3, 0%4]"),
    ("dense", "target.toml", 'name = "dense"', "select", "select"),
    ("dense", "target.toml", 'name = "dense"', "rows = tile.rows", "rows = 1"),
    ("dense_t", "target.toml", 'name = "dense_t"', "in w as [0/8, 1, 0%8]", "in w as [1/8, 0, 1%8]"),
    ("add", "target.toml", 'name = "add"', '"a.shape == b.shape", ', ""),
    ("relu", "target.toml", 'name = "relu"', "u32 tile.i, u32 1,", "u32 tile.i, u32 0,"),
    ("relu", "target.toml", 'name = "relu"', 'match = "relu(x)"', 'match = "abs(x)"'),
])

NPU = _of("npu", [
    ("conv2d", "npu.c", "static int8_t requantize", "rintf(value)", "truncf(value)"),
    ("dense", "npu.c", "static int8_t requantize", "rintf(value)", "floorf(value)"),
    ("conv2d", "npu.c", "static int32_t clamp", "value < low ? low : ", ""),
    ("conv2d", "npu.c", "static void convolve", "(pixel[k] - v[15])", "pixel[k]"),
    ("conv2d", "npu.c", "static void convolve", "p * v[13]", "p"),
    ("conv2d", "npu.c", "static void convolve", "v[12] + q", "v[11] + q"),
    ("conv2d", "npu.c", "static void convolve", "scale[o]", "scale[0]"),
    ("conv2d", "npu.c", "static void convolve", "row >= h ||", "row > h ||"),
    ("depthwise", "npu.c", "static void convolve", "o / multiple", "o"),
    ("depthwise", "npu.c", "static void convolve", "pixel[o / multiple] - v[15]",
     "pixel[o / multiple]"),
    ("dense", "npu.c", "static void multiply", "b ? b[j] : 0", "0"),
    ("dense", "npu.c", "static void multiply", "scale[j]", "scale[0]"),
    ("max_pool", "npu.c", "static void pool", "most = INT8_MIN", "most = 0"),
    ("max_pool", "npu.c", "static void pool", "i * v[8]", "i * v[9]"),
    ("average_pool", "npu.c", "static void pool", "sum - count * v[12]", "sum - v[12]"),
    ("average_pool", "npu.c", "static void pool", "(float)count : 0", "(float)(v[4] * v[5]) : 0"),
    ("add", "npu.c", "static void add", "i < a[3].number", "i < a[3].number / 4 * 4"),
    ("add", "npu.c", "static void add", "z[i] - a[6].number", "z[i] - a[4].number"),
    ("add", "npu.c", "static void add", "(int32_t)a[10].number", "INT8_MIN"),
    ("conv2d", "npu.c", "static int load", "arguments[i]", "arguments[i]"),
    ("conv2d", "target.toml", 'name = "conv2d"', '"${weights}", ', '"w.dtype == i8", '),
    ("conv2d", "target.toml", 'name = "conv2d"', '"${bias}", ',
     '"b.dtype == i32 and b.size == ${channels}", '),
    ("conv2d", "target.toml", "convolution = ", "i32 zx.value, i32 zy.value",
     "i32 zy.value, i32 zx.value"),
    ("conv2d", "target.toml", 'name = "conv2d"', '"v.group == 1", ', ""),
    ("conv2d", "target.toml", "range = ", "i32 ${most}", "i32 127"),
    ("conv2d", "target.toml", 'name = "conv2d"', " and wd.axis == 0", ""),
    ("max_pool", "target.toml", 'name = "max_pool"',
     '"${same_scale}", ', ""),
    ("max_pool", "target.toml", "pooled = ", "all(v.dilations == 1) and ", ""),
    ("average_pool", "target.toml", 'name = "average_pool"',
     ', "all(v.pads == 0) or not v.count_include_pad"', ""),
    ("average_pool", "target.toml", 'name = "average_pool"', "f32 sx.value / sy.value",
     "f32 sy.value / sx.value"),
    ("dense", "target.toml", 'name = "dense"',
     '"gemm.alpha == 1 and gemm.beta == 1 and not gemm.trans_a", ', ""),
    ("add_image", "target.toml", 'name = "add_image"', '"a.shape == b.shape", ', ""),
])

KIT = _of("kit", [
    ("leaky_relu", "target.toml", 'name = "leaky_relu"', "f32 leaky_relu.alpha", "f32 0.01"),
    ("leaky_relu", "kit.c", "void kit_leaky", "i < size", "i < size - size % 4"),
    ("leaky_relu", "kit.c", "void kit_leaky", "i < size", "i < size + 1"),
    ("relu", "kit.c", "void kit_leaky", "? 0.0f :", "? x[i] :"),
    ("relu", "target.toml", 'name = "relu"', "f32 0)", "f32 0.1)"),
    ("sub", "target.toml", 'name = "sub"', "in a, in b", "in b, in a"),
    ("sub", "target.toml", 'name = "sub"', ', "a.shape == b.shape"', ""),
    ("add_row", "kit.c", "void kit_add_row", "b[j]", "b[i]"),
    ("add_row", "target.toml", 'name = "add_row"', ', "b.size == a.shape[-1]"', ""),
    ("add_int", "kit.c", "void kit_add_int", "(int32_t)((uint32_t)a[i] + (uint32_t)b[i])",
     "(int32_t)((float)a[i] + (float)b[i])"),
    ("add_int", "target.toml", 'name = "add_int"', '"a.dtype == i32", ', ""),
    ("max_byte", "kit.c", "void kit_max_byte", "a[i] > b[i]", "(int8_t)a[i] > (int8_t)b[i]"),
    ("max_byte", "target.toml", 'name = "max_byte"', '"a.dtype == u8", ', ""),
    ("clip", "kit.c", "void kit_clip", "v > hi ? hi : v", "v > 6.0f ? 6.0f : v"),
    ("clip", "target.toml", 'name = "clip"', "select(present(lo), lo.value, -1e39)", "lo.value"),
    ("clip", "target.toml", 'name = "clip"', "select(present(hi), hi.value, 1e39)",
     "select(present(hi), hi.value, 6)"),
    ("softmax", "target.toml", 'name = "softmax"',
     ', "softmax.axis == -1 or softmax.axis == x.rank - 1"', ""),
    ("softmax", "kit.c", "void kit_softmax", "most = x[0]", "most = 0.0f"),
    ("softmax", "kit.c", "void kit_softmax", "most = x[j] > most ? x[j] : most", "most = 0.0f * most"),
    ("softmax", "kit.c", "void kit_softmax", "j = 0; j < columns; j++)\n      y[j] /=",
     "j = 0; j < columns - 1; j++)\n      y[j] /="),
    ("reduce_sum", "kit.c", "void kit_sum", "j < size", "j < (size > 8 ? 8 : size)"),
    ("reduce_sum", "kit.c", "void kit_sum", "(float)wide_sum", "(float)wide_sum * 2"),
    ("reduce_sum", "target.toml", 'name = "reduce_sum"', '"reduce_sum.axes == [1]"',
     '"reduce_sum.axes.size == 1"'),
    ("reduce_sum", "target.toml", 'name = "reduce_sum"', ', "reduce_sum.axes == [1]"', ""),
    ("argmax", "target.toml", 'name = "argmax"', ', "not argmax.select_last_index"', ""),
    ("argmax", "kit.c", "void kit_argmax", "x[i * columns + j] >", "x[i * columns + j] >="),
    ("argmax", "target.toml", 'name = "argmax"', ', "argmax.axis in [1, -1]"', ""),
    ("transpose", "target.toml", 'name = "transpose"', ', "transpose.perm == [0, 2, 1]"', ""),
    ("transpose", "kit.c", "void kit_transpose", "n * rows + j", "j"),
    ("concat", "target.toml", 'name = "concat"', ', "concat.axis in [1, -1]"', ""),
    ("concat", "target.toml", 'name = "concat"', "in a, in b", "in b, in a"),
    ("concat", "target.toml", 'name = "concat"', "i32 b.shape[1]", "i32 a.shape[1]"),
    ("cumsum", "target.toml", 'name = "cumsum"', ', "not cumsum.reverse"', ""),
    ("cumsum", "target.toml", 'name = "cumsum"', "bool cumsum.exclusive", "bool false"),
    ("cumsum", "kit.c", "void kit_cumsum", "float sum = 0.0f", "static float sum"),
    ("max_pool", "kit.c", "void kit_max_pool", "most = -INFINITY", "most = 0.0f"),
    ("max_pool", "target.toml", "max_window", "dilation_h = max_pool2d.dilations[0]", "dilation_h = 1"),
    ("max_pool", "target.toml", "max_window", "stride_w = max_pool2d.strides[1]",
     "stride_w = max_pool2d.strides[0]"),
    ("max_pool", "target.toml", "max_window", "pad_top = max_pool2d.pads[0]",
     "pad_top = max_pool2d.pads[1]"),
    ("average_pool", "target.toml", 'name = "average_pool"',
     ', "not average_pool2d.count_include_pad"', ""),
    ("average_pool", "kit.c", "void kit_average_pool", "            count++;\n          }",
     "          }\n        count = v->kernel_h * v->kernel_w;"),
    ("average_pool", "target.toml", "average_window", "pad_left = average_pool2d.pads[1]",
     "pad_left = average_pool2d.pads[3]"),
    ("layer_norm", "target.toml", 'name = "layer_norm"', "f32 layer_norm.epsilon", "f32 1e-5"),
    ("layer_norm", "kit.c", "void kit_layer_norm", "spread + epsilon", "spread"),
    ("layer_norm", "kit.c", "void kit_layer_norm", "bias ? bias[j]", "bias ? bias[0]"),
    ("quantize", "kit.c", "void kit_quantize", "rintf(scaled)", "truncf(scaled)"),
    ("quantize", "kit.c", "void kit_quantize", "roundf(scaled)", "ceilf(scaled)"),
    ("quantize", "kit.c", "void kit_quantize", "value > 255.0f ? 255 : ", ""),
    ("quantize", "target.toml", 'name = "quantize"', "select(present(z), z.value, 0)", "0"),
    ("quantize", "target.toml", 'name = "quantize"', ', "quantize_linear.out.dtype == u8"', ""),
])

DNNL = _of("dnnl", [
    ("sub", "phl_dnnl_pointwise.c", "static const dnnl_alg_kind_t algorithms",
     "[PHL_DNNL_SUB] = dnnl_binary_sub", "[PHL_DNNL_SUB] = dnnl_binary_add"),
    ("add", "phl_dnnl_pointwise.c", "if (!failed && pair->relu)", "pair->relu", "0"),
    ("max_pool2d", "phl_dnnl_image.c", "static int build_pool", "pool->dilation_h - 1", "0"),
    ("average_pool2d", "phl_dnnl_image.c", "static int build_pool", "pool->include_pad", "true"),
    ("softmax", "phl_dnnl_image.c", "static int build_softmax",
     "given < 0 ? given + soft->rank : given", "soft->rank - 1"),
    ("softmax", "phl_dnnl_image.c", "static int build_softmax", "soft->log ? dnnl_softmax_log : ",
     ""),
    ("concat", "phl_dnnl_image.c", "void phl_dnnl_concat", "i < 4", "i < 3"),
    ("batch_norm", "phl_dnnl_image.c", "static int build_norm", "norm->epsilon", "1e-5f"),
])

OPENBLAS = _of("openblas", [
    ("batch_matmul", "phl_openblas.c", "void phl_openblas_batch", "i < count", "i < 1"),
    ("batch_matmul", "phl_openblas.c", "void phl_openblas_batch", "b + i * bs", "b"),
    ("gemm", "phl_openblas.c", "void phl_openblas_gemm", "c ? beta : 0", "c ? 1 : 0"),
    ("gemm", "phl_openblas.c", "void phl_openblas_gemm", "m, n, k, alpha", "m, n, k, 1"),
    ("gemm", "phl_openblas.c", "void phl_openblas_gemm", "c_rows == 1 ? 0 : row", "row"),
    ("gemm", "phl_openblas.c", "void phl_openblas_gemm", "c_columns == 1 ? 0 : column", "column"),
    ("gemm", "phl_openblas.c", "void phl_openblas_gemm", "trans_a ? CblasTrans : CblasNoTrans", "CblasNoTrans"),
    ("gemm_row", "target.toml", 'name = "gemm_row"', "i32 1, i32 c.shape[0]", "i32 c.shape[0], i32 1"),
    ("conv1x1", "target.toml", 'name = "conv1x1"', "x.shape[0] == 1 and ", ""),
    ("conv1x1", "target.toml", 'name = "conv1x1"', "conv2d.group == 1 and ", ""),
    ("conv1x1", "target.toml", 'name = "conv1x1"', "all(conv2d.strides == 1) and ", ""),
    ("matmul", "target.toml", 'name = "matmul"', ' and b.rank == 2"', '"'),
])

BY_HAND = [mutant for mutant in TOY + TEMPLATE + FAR + SLAB + VANILLA + NPU + KIT + OPENBLAS + DNNL
           if mutant.old != mutant.new]

# A slip of the finger in C, wherever the text has the place for it.
OPERATORS = [
    (r"(\w) < (\w)", r"\1 <= \2"),
    (r" \+= ", " = "),
    (r" \+ (\w)", r" - \1"),
    (r" \* (v->|p->|stride)(\w)", r" + \1\2"),
    (r" >= ", " > "),
    (r"= 0; ", "= 1; "),
    (r"\? (\w+\[\w\]) : 0", "? 0 : 0"),
    (r" \|\| ", " && "),
    (r"\+\+count|count\+\+", "count += 2"),
]


def in_text(target, pattern, file, text, scope):
    """Every slip in the function that starts at `scope`."""
    start = text.index(scope)
    end = text.find("\n}\n", start)
    found = []
    for expression, new in OPERATORS:
        for match in re.finditer(expression, text[start:end]):
            place = text[start:end].count(match.group(0), 0, match.start())
            found.append(Mutant(target, pattern, file, scope, match.group(0),
                                match.expand(new), place))
    return found


def without_conditions(target, text, patterns):
    """Each condition of each pattern left out, where that is not said to be harmless."""
    found = []
    for pattern in patterns:
        start = text.index(f'name = "{pattern}"')
        where = re.compile(r"where = \[(.*?)\]\n", re.S).search(text, start)
        for clause in re.finditer(r'"[^"\n]+",?\n? *', where.group(1)):
            found.append(Mutant(target, pattern, "target.toml", f'name = "{pattern}"',
                                clause.group(0), ""))
    return found

# Defects that are none: the result is the same, whatever is run.
HARMLESS: set[str] = set()
