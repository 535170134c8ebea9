"""Writes small ONNX models, good and bad, into the current directory."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def value(name, shape):
    return helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)


def save(file, nodes, inputs, outputs, weights=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs, list(weights))
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    with open(file, "wb") as out:
        out.write(model.SerializeToString())


def external(location):
    tensor = onnx.TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[3],
                              data_location=TensorProto.EXTERNAL)
    entry = tensor.external_data.add()
    entry.key, entry.value = "location", location
    return tensor


node = helper.make_node
x, y = value("x", [2, 3]), value("y", [2, 3])
ones = numpy_helper.from_array(np.ones(3, np.float32), "w")

save("good.onnx", [node("Add", ["x", "w"], ["a"], name="add"), node("Relu", ["a"], ["y"])],
     [x], [y], [ones])
save("symbolic.onnx", [node("Relu", ["x"], ["y"], name="relu")],
     [value("x", ["N", 3])], [value("y", ["N", 3])])
save("two.onnx", [node("Sub", ["x", "z"], ["y"], name="sub")], [x, value("z", [2, 3])], [y])
save("unknown.onnx",
     [node("Foo", ["x"], ["a"], name="first"), node("Bar", ["a"], ["b"], name="second"),
      node("Relu", ["b"], ["c"]), node("Foo", ["c"], ["y"], name="third")], [x], [y])
save("cyclic.onnx",
     [node("Relu", ["b"], ["a"], name="r1"), node("Relu", ["a"], ["b"], name="r2"),
      node("Add", ["a", "x"], ["y"])], [x], [y])
save("undefined.onnx", [node("Relu", ["nowhere"], ["y"], name="r1")], [x], [y])
save("no-output.onnx", [node("Relu", ["x"], ["a"], name="r1")], [x], [y])
save("twice.onnx", [node("Relu", ["x"], ["y"], name="r1"), node("Relu", ["x"], ["y"], name="r2")],
     [x], [y])
save("axis.onnx", [node("Softmax", ["x"], ["y"], name="s", axis=7)], [x], [y])
save("strides.onnx", [node("Conv", ["x", "w"], ["y"], name="c", strides=[0, 1])],
     [value("x", [1, 1, 4, 4]), value("w", [1, 1, 3, 3])], [value("y", None)])
save("shapes.onnx", [node("Add", ["x", "v"], ["y"], name="add")], [x], [y],
     [numpy_helper.from_array(np.ones(4, np.float32), "v")])
add = [node("Add", ["x", "w"], ["y"], name="add")]
save("external-missing.onnx", add, [x], [y], [external("missing.bin")])
save("external-outside.onnx", add, [x], [y], [external("../../etc/passwd")])
save("external-short.onnx", add, [x], [y], [external("short.bin")])
save("external-pipe.onnx", add, [x], [y], [external("pipe")])
with open("short.bin", "wb") as out:
    out.write(b"12")
with open("good.onnx", "rb") as file:
    whole = file.read()
for size in (0, 1, len(whole) // 2, len(whole) - 1):
    with open(f"truncated-{size if size < 2 else 'half' if size < len(whole) - 1 else 'end'}.onnx",
              "wb") as out:
        out.write(whole[:size])
with open("text.onnx", "w") as out:
    out.write("This is not a model.\n" * 20)

# A few bytes that stand for very much.
def sizes(name, numbers):
    return numpy_helper.from_array(np.array(numbers, np.int64), name)


def nested(file, levels, calls, name):
    """Functions that each call the one before `calls` times."""
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("f", 1)]
    functions = []
    for level in range(levels):
        values = ["a"] + [f"v{i}" for i in range(calls - 1)] + ["b"]
        nodes = [node(f"F{level - 1}" if level else "Relu", [values[i]], [values[i + 1]],
                      name=name, domain="f" if level else "") for i in range(calls)]
        functions.append(helper.make_function("f", f"F{level}", ["a"], ["b"], nodes, opsets))
    graph = helper.make_graph([node(f"F{levels - 1}", ["x"], ["y"], name="top", domain="f")],
                              "g", [x], [y])
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8, functions=functions)
    with open(file, "wb") as out:
        out.write(model.SerializeToString())


unknown = value("y", None)
fill = node("ConstantOfShape", ["s"], ["c"], name="fill")
save("fill.onnx", [fill, node("Exp", ["c"], ["y"])], [], [unknown], [sizes("s", [10**9])])
save("large-fill.onnx", [fill, node("ReduceSum", ["c"], ["y"])], [], [unknown],
     [sizes("s", [10**12])])
save("large-count.onnx", [fill, node("ReduceSum", ["c"], ["y"])], [], [unknown],
     [sizes("s", [2**62])])
save("large-rank.onnx", [node("Relu", ["x"], ["y"])], [value("x", [1] * 20000)], [unknown])
save("large-input.onnx", [node("Relu", ["x"], ["y"])], [value("x", [2**31, 2**20])], [unknown])
sparse = helper.make_model(helper.make_graph(
    [node("ReduceSum", ["w"], ["y"])], "g", [], [unknown],
    sparse_initializer=[helper.make_sparse_tensor(
        numpy_helper.from_array(np.array([1, 2], np.int8), "w"),
        numpy_helper.from_array(np.array([5, 999]), "places"), [10**9])]))
onnx.save(sparse, "large-sparse.onnx")
for mode in ("constant", "edge", "reflect"):
    save(f"large-pad-{mode}.onnx", [node("Pad", ["x", "s"], ["y"], name="pad", mode=mode)],
         [value("x", [3])], [unknown], [sizes("s", [0, 2**63 - 1])])
wide = np.ones([1, 1, 1, 3], np.float32)
save("long-rows.onnx", [fill, node("Conv", ["c", "w"], ["y"])], [], [unknown],
     [sizes("s", [1, 1, 1, 10**8]), numpy_helper.from_array(wide, "w")])
nested("large-functions.onnx", 30, 2, "n")
nested("large-names.onnx", 14, 2, "n" * 10000)
nested("deep-functions.onnx", 70, 1, "n")
