"""Writes a quantized network, and a device that rounds it down, into the current directory."""

import os

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

node = helper.make_node
constants = {"s": np.float32(0.5), "z": np.int8(0), "shape": np.array([64])}
graph = helper.make_graph(
    [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("DequantizeLinear", ["q", "s", "z"], ["d"]),
     node("Relu", ["d"], ["r"]), node("Reshape", ["r", "shape"], ["y"])], "g",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, [8, 8])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64])],
    [numpy_helper.from_array(np.asarray(array), name) for name, array in constants.items()])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
os.mkdir("suite")
os.mkdir("floor")
onnx.save(model, "round.onnx")
onnx.save(model, "suite/round.onnx")
with open("floor/target.toml", "w", encoding="utf-8") as file:
    file.write('''version = 1
[target]
name = "floor"
role = "device"
doc = "Quantizes by rounding down"
[[pattern]]
name = "step"
match = "y: dequantize_linear(quantize_linear(x, s: const, z: const), t: const, u: const)"
where = ["x.dtype == f32", "s.value == t.value", "z.value == 0", "u.value == 0"]
dtypes = ["f32", "i8"]
call = "void floor_step(in x, out y, i32 x.size, f32 s.value)"
[codegen]
sources = ["floor.c"]
''')
with open("floor/floor.c", "w", encoding="utf-8") as file:
    file.write('''#include <math.h>
#include <stdint.h>
void floor_step(const float *x, float *y, int32_t count, float scale);
void floor_step(const float *x, float *y, int32_t count, float scale) {
  for (int32_t i = 0; i < count; ++i)
    y[i] = scale * fminf(fmaxf(floorf(x[i] / scale), -128), 127);
}
''')
