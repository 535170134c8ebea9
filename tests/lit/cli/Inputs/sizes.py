"""Networks with open sizes, onnxruntime's answers at some of them, and a comparison."""

import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

RNG = np.random.default_rng(7)
# Each network at these values of its symbols.
SIZES = {
    "encoder": [dict(batch=1, tokens=1), dict(batch=3, tokens=9), dict(batch=2, tokens=5)],
    "image": [dict(batch=1, h=9, w=16), dict(batch=2, h=16, w=10), dict(batch=2, h=11, w=13)],
    "append": [dict(past=1), dict(past=4), dict(past=7)],
}


def network(name, inputs, nodes, outputs, constants):
    info = lambda port, ty=TensorProto.FLOAT: helper.make_tensor_value_info(port[0], ty, port[1])
    tensors = [numpy_helper.from_array(value, key) for key, value in constants.items()]
    graph = helper.make_graph(nodes, name, [info(port) for port in inputs],
                              [helper.make_tensor_value_info(port, TensorProto.FLOAT, None) for port in outputs], tensors)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, f"{name}.onnx")


def floats(*shape):
    return (RNG.standard_normal(shape) * 0.5).astype("f4")


def encoder():
    """Attention with two heads, whose shapes are computed as exporters do it, and the mean over tokens."""
    node = helper.make_node
    heads = lambda x, y: [
        node("Shape", [x], [f"{y}s"]), node("Gather", [f"{y}s", "i0"], [f"{y}b"]), node("Gather", [f"{y}s", "i1"], [f"{y}t"]),
        node("Concat", [f"{y}b", f"{y}t", "tail"], [f"{y}r"], axis=0), node("Reshape", [x, f"{y}r"], [f"{y}h"]),
        node("Transpose", [f"{y}h"], [y], perm=[0, 2, 1, 3])]
    nodes = [node("MatMul", ["x", "wq"], ["q"]), node("MatMul", ["x", "wk"], ["k"]), node("MatMul", ["x", "wv"], ["v"])]
    nodes += heads("q", "qh") + heads("k", "kh") + heads("v", "vh")
    nodes += [node("Transpose", ["kh"], ["kt"], perm=[0, 1, 3, 2]), node("MatMul", ["qh", "kt"], ["scores"]),
              node("Softmax", ["scores"], ["p"], axis=-1), node("MatMul", ["p", "vh"], ["o"]),
              node("Transpose", ["o"], ["ot"], perm=[0, 2, 1, 3]), node("Reshape", ["ot", "merge"], ["m"]),
              node("Add", ["m", "x"], ["y"]), node("ReduceMean", ["y"], ["mean"], axes=[1], keepdims=0),
              node("Reshape", ["y", "rows"], ["flat"]), node("MatMul", ["flat", "wv"], ["z"])]
    ints = lambda *values: np.array(values, "i8")
    constants = dict(wq=floats(8, 8), wk=floats(8, 8), wv=floats(8, 8), i0=ints(0), i1=ints(1), tail=ints(2, 4),
                     merge=ints(0, 0, 8), rows=ints(-1, 8))
    network("encoder", [("x", ["batch", "tokens", 8])], nodes, ["y", "mean", "z"], constants)


def image():
    """Convolutions and pools with padding, an image that is enlarged, and the mean of all points."""
    node = helper.make_node
    nodes = [node("Conv", ["x", "w"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]), node("Relu", ["c"], ["r"]),
             node("MaxPool", ["r"], ["m"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[1, 1]),
             node("AveragePool", ["m"], ["a"], kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2]),
             node("Resize", ["a", "", "scales"], ["u"], mode="linear", coordinate_transformation_mode="half_pixel"),
             node("ConvTranspose", ["a", "wt"], ["t"], strides=[2, 2]),
             node("GlobalAveragePool", ["u"], ["g"]), node("Pad", ["t", "pads"], ["y"])]
    constants = dict(w=floats(4, 3, 3, 3), wt=floats(4, 2, 2, 2), scales=np.array([1, 1, 2, 2], "f4"),
                     pads=np.array([0, 0, 1, 0, 0, 0, 2, 1], "i8"))
    network("image", [("x", ["batch", 3, "h", "w"])], nodes, ["g", "y", "u"], constants)


def append():
    """A cache to which a step is appended, its last two steps, and a sum of all."""
    node = helper.make_node
    nodes = [node("Concat", ["cache", "step"], ["new"], axis=1), node("ReduceSum", ["new", "axis"], ["sum"], keepdims=0),
             node("Slice", ["new", "from", "far", "axis"], ["last"]), node("Concat", ["new", "cache"], ["both"], axis=1)]
    ints = lambda *values: np.array(values, "i8")
    constants = {"axis": ints(1), "from": ints(-2), "far": ints(2**40)}
    network("append", [("cache", [1, "past", 4]), ("step", [1, 1, 4])], nodes, ["new", "sum", "last", "both"], constants)


def make():
    encoder(), image(), append()
    for name, sizes in SIZES.items():
        run = onnxruntime.InferenceSession(f"{name}.onnx")
        for number, values in enumerate(sizes):
            feeds = {}
            for port in run.get_inputs():
                feeds[port.name] = floats(*(values.get(dim, dim) for dim in port.shape))
            np.savez(f"{name}.{number}.npz", **feeds)
            np.savez(f"{name}.{number}.want.npz", **dict(zip([o.name for o in run.get_outputs()], run.run(None, feeds))))


def check(name):
    for number in range(len(SIZES[name])):
        want, got = np.load(f"{name}.{number}.want.npz"), np.load(f"{name}.{number}.out.npz")
        for key in want:
            assert got[key].shape == want[key].shape, (name, number, key, got[key].shape, want[key].shape)
            worst = np.abs(got[key] - want[key]).max()
            assert worst <= 1e-4 * max(1, np.abs(want[key]).max()), (name, number, key, worst)


if __name__ == "__main__":
    make() if sys.argv[1] == "make" else check(sys.argv[2])
