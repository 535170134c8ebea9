"""Models for the tests, made with the package `onnx`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


def convolution(batch: int | str = 1) -> onnx.ModelProto:
    """A small convolutional network: convolution, ReLU, pooling, matrix multiplication."""
    random = np.random.default_rng(1)
    weights = [
        numpy_helper.from_array(random.standard_normal((8, 3, 3, 3)).astype(np.float32), "w"),
        numpy_helper.from_array(random.standard_normal(8).astype(np.float32), "b"),
        numpy_helper.from_array(random.standard_normal((8, 10)).astype(np.float32), "m"),
    ]
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv", kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["r"], name="relu"),
        helper.make_node("GlobalAveragePool", ["r"], ["p"], name="pool"),
        helper.make_node("Flatten", ["p"], ["f"], name="flatten"),
        helper.make_node("MatMul", ["f", "m"], ["y"], name="matmul"),
    ]
    graph = helper.make_graph(
        nodes,
        "convolution",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, 16, 16])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 10])],
        weights,
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def two_outputs() -> onnx.ModelProto:
    """Sum and difference of two matrices."""
    nodes = [
        helper.make_node("Add", ["a", "b"], ["sum"], name="add"),
        helper.make_node("Sub", ["a", "b"], ["difference"], name="sub"),
    ]
    value = lambda name: helper.make_tensor_value_info(name, TensorProto.FLOAT, [4, 6])
    graph = helper.make_graph(nodes, "two", [value("a"), value("b")], [value("sum"), value("difference")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def of_type(code: int) -> onnx.ModelProto:
    """x + x of an element type."""
    value = lambda name: helper.make_tensor_value_info(name, code, [2, 5])
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "typed", [value("x")], [value("y")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """The convolutional network with a batch of one, as a file."""
    path = tmp_path / "net.onnx"
    path.write_bytes(convolution().SerializeToString())
    return path


@pytest.fixture
def reference() -> Callable[..., list[Any]]:
    """The answers of onnxruntime."""
    import onnxruntime

    def run(model: onnx.ModelProto, **inputs: Any) -> list[Any]:
        session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
        outputs: list[Any] = session.run(None, inputs)
        return outputs

    return run
