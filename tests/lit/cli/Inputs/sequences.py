"""Models with sequences and optional values; `make` writes them, `check` compares what came out."""

import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

node = helper.make_node
X = np.random.default_rng(0).standard_normal((2, 7, 3)).astype("f4")
TENSOR = helper.make_tensor_value_info
EXP = helper.make_graph([node("Exp", ["t"], ["u"])], "exp", [TENSOR("t", 1, None)], [TENSOR("u", 1, None)])

# Name: nodes, outputs, constants.
GOOD = {
    "split": ([node("SplitToSequence", ["x", "three"], ["q"], axis=1), node("SequenceAt", ["q", "zero"], ["a"]),
               node("SequenceAt", ["q", "last"], ["b"]), node("SequenceLength", ["q"], ["n"])], ["a", "b", "n"]),
    "sizes": ([node("SplitToSequence", ["x", "sizes"], ["q"], axis=-2), node("SequenceAt", ["q", "last"], ["a"])], ["a"]),
    "each": ([node("SplitToSequence", ["x"], ["q"], axis=1, keepdims=0),
              node("ConcatFromSequence", ["q"], ["a"], axis=0, new_axis=1),
              node("ConcatFromSequence", ["q"], ["b"], axis=-1)], ["a", "b"]),
    "change": ([node("SequenceEmpty", [], ["e"]), node("SequenceInsert", ["e", "x"], ["f"]),
                node("SequenceInsert", ["f", "y", "zero"], ["g"]), node("SequenceErase", ["g", "last"], ["k"]),
                node("ConcatFromSequence", ["g"], ["a"], axis=1), node("ConcatFromSequence", ["k"], ["b"], axis=1)],
               ["a", "b"]),
    "insert": ([node("SequenceConstruct", ["x", "y"], ["q"]), node("SequenceInsert", ["q", "z", "last"], ["r"]),
                node("SequenceInsert", ["q", "z", "first"], ["s"]), node("SequenceInsert", ["q", "z", "two"], ["t"]),
                node("SequenceErase", ["r", "first"], ["u"]), node("SequenceAt", ["t", "first"], ["d"]),
                *[node("ConcatFromSequence", [a], [b], axis=1) for a, b in ("ra", "sb", "tc", "ue")]],
               ["a", "b", "c", "d", "e"]),
    "pass_on": ([node("SequenceConstruct", ["x", "y"], ["q"]), node("Identity", ["q"], ["r"]),
                 node("ConcatFromSequence", ["r"], ["a"], axis=0, new_axis=1)], ["a"]),
    "map": ([node("SequenceConstruct", ["x", "y"], ["q"]), node("SequenceMap", ["q"], ["r"], body=EXP),
             node("ConcatFromSequence", ["r"], ["a"], axis=0)], ["a"]),
    "optional": ([node("Optional", ["x"], ["q"]), node("OptionalHasElement", ["q"], ["h"]),
                  node("OptionalGetElement", ["q"], ["a"])], ["a", "h"]),
    "chosen": ([node("SplitToSequence", ["x"], ["q"], axis=1), node("SequenceAt", ["q", "at"], ["a"])], ["a"]),
}
BAD = {
    "position": ([node("SplitToSequence", ["x"], ["q"], axis=1), node("SequenceAt", ["q", "seven"], ["a"], name="at")], ["a"]),
    "insert": ([node("SequenceConstruct", ["x", "y"], ["q"]), node("SequenceInsert", ["q", "x", "below"], ["r"], name="put"),
                node("SequenceAt", ["r", "zero"], ["a"])], ["a"]),
    "tensor": ([node("SplitToSequence", ["x"], ["q"], axis=1), node("Relu", ["q"], ["a"], name="relu")], ["a"]),
    "output": ([node("SplitToSequence", ["x"], ["q"], axis=1)], ["q"]),
    "sum": ([node("SplitToSequence", ["x", "sizes"], ["q"], name="cut"), node("SequenceAt", ["q", "zero"], ["a"])], ["a"]),
    "empty": ([node("SequenceEmpty", [], ["q"]), node("ConcatFromSequence", ["q"], ["a"], axis=0, name="join")], ["a"]),
}
CONSTANTS = {"three": np.int64(3), "zero": np.int64(0), "last": np.int64(-1), "seven": np.int64(7),
             "first": np.int64(-2), "two": np.int64(2), "below": np.int64(-3),
             "sizes": np.int64([1, 4, 2])}


def write(name, nodes, outputs):
    read = {value for made in nodes for value in made.input}
    feeds = {key: value for key, value in {"x": X, "y": 2 * X, "z": 3 * X, "at": np.int64(2)}.items() if key in read}
    inputs = [TENSOR(key, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape) for key, value in feeds.items()]
    constants = [numpy_helper.from_array(np.asarray(value), key) for key, value in CONSTANTS.items() if key in read]
    graph = helper.make_graph(nodes, name, inputs, [onnx.ValueInfoProto(name=key) for key in outputs], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    onnx.save(model, f"{name}.onnx")
    return feeds


if sys.argv[1] == "make":
    for name, parts in GOOD.items():
        np.savez(f"{name}.npz", **write(name, *parts))
elif sys.argv[1] == "bad":
    for name, parts in BAD.items():
        write(f"bad_{name}", *parts)
else:
    for name in GOOD:
        model = onnx.shape_inference.infer_shapes(onnx.load(f"{name}.onnx"))
        feeds = dict(np.load(f"{name}.npz"))
        expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, feeds)
        with np.load(Path(f"{name}.out.npz")) as results:
            found = [results[key] for key in results.files]
        assert len(found) == len(expected), name
        for a, b in zip(found, expected):
            assert a.shape == b.shape, (name, a.shape, b.shape)
            np.testing.assert_allclose(a, b, rtol=1e-5, err_msg=name)
