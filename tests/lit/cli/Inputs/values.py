"""Writes a model with an input that decides on a shape, and its inputs, into the current directory."""

import os
import subprocess
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

x, k = np.arange(16, dtype=np.float32).reshape(2, 8), np.array([3])
port = helper.make_tensor_value_info
graph = helper.make_graph(
    [helper.make_node("TopK", ["x", "k"], ["y", "i"], name="top", axis=1)], "g",
    [port("x", TensorProto.FLOAT, [2, 8]), port("k", TensorProto.INT64, [1])],
    [port("y", TensorProto.FLOAT, [2, "k"]), port("i", TensorProto.INT64, [2, "k"])])
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
onnx.save(model, "top.onnx")
np.savez("all.npz", x=x, k=k)
np.savez("x.npz", x=x)
np.save("x.npy", x[0, :1])
np.save("k.npy", k)
np.savez("two.npz", x=x[:, :3], z=x[:, :3])
os.mkdir("data")
for number, array in enumerate([x, k]):
    onnx.save_tensor(numpy_helper.from_array(array), f"data/input_{number}.pb")
subprocess.run([sys.executable, os.path.join(os.path.dirname(__file__), "tflite.py"), "make"], check=True)
with np.load("integers.npz") as arrays:
    name = arrays.files[0]
    np.save("input.npy", arrays[name])
with open("tflite.txt", "w", encoding="utf-8") as file:
    file.write(f"{name}=@input.npy")
