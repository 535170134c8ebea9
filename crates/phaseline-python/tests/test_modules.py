"""Modules of IR, passes and hooks in Python."""

import pickle
from pathlib import Path

import conftest
import numpy as np
import phaseline as pl
import pytest

TWICE = """
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = graph.relu %x : tensor<4xf32>
  %1 = graph.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
"""
ABS = TWICE.replace("graph.relu", "graph.abs")


def test_pipelines_change_modules():
    module = pl.parse(TWICE)
    assert str(module).count("graph.relu") == 2
    module.run("builtin.module(canonicalize)")
    assert str(module).count("graph.relu") == 1
    module.run("builtin.module(graph-partition{targets={vanilla, llvm}})")
    assert "vanilla" in str(module) or "llvm" in str(module)
    assert str(pickle.loads(pickle.dumps(module))) == str(module)
    net = pl.compile(pl.parse(TWICE))
    np.testing.assert_array_equal(net(np.array([-1, 2, -3, 4], np.float32)), [0, 2, 0, 4])


def test_errors_of_ir_have_a_place():
    with pytest.raises(pl.IRError) as raised:
        pl.parse("func.func @main() {\n  graph.nothing\n}", "mine.mlir")
    assert (raised.value.file, raised.value.line) == ("mine.mlir", 2), raised.value
    module = pl.parse(TWICE)
    with pytest.raises(pl.InvalidError, match="no-such-pass"):
        module.run("builtin.module(no-such-pass)")
    assert "graph.relu" in str(module)


def test_passes_in_python():
    seen = []

    @pl.register_pass("relu-to-abs", "Replace ReLU by absolute values")
    def relu_to_abs(text):
        seen.append(text)
        return text.replace("graph.relu", "graph.abs")

    module = pl.parse(TWICE)
    module.run("builtin.module(relu-to-abs, canonicalize)")
    assert seen and "graph.relu" not in str(module) and "graph.abs" in str(module)
    net = pl.compile(pl.parse(TWICE), passes={"pre-partition": "relu-to-abs"})
    np.testing.assert_array_equal(net(np.array([-1, 2, -3, 4], np.float32)), [1, 2, 3, 4])

    @pl.register_pass("only-looks")
    def only_looks(text):
        return None

    before = str(module)
    module.run("builtin.module(only-looks)")
    assert str(module) == before

    @pl.register_pass("breaks")
    def breaks(text):
        return "func.func @main(" if "abs" in text else 1 // 0

    with pytest.raises(pl.IRError, match=r"\[breaks\]"):
        module.run("builtin.module(breaks)")
    with pytest.raises(pl.IRError, match="ZeroDivisionError") as raised:
        pl.parse(TWICE).run("builtin.module(breaks)")
    assert isinstance(raised.value.__cause__, ZeroDivisionError)
    with pytest.raises(ValueError, match="no name for a pass"):
        pl.register_pass("a pass")(only_looks)


MANIFEST = """
[target]
name = "%s"
role = "device"
doc = "Takes absolute values"

[codegen]
kind = "c"

[[pattern]]
name = "abs"
match = "abs(x)"
where = ["x.is_static and x.dtype == f32"]
lower = "mirror.abs"
"""
HEADER = "#include <stdint.h>\nvoid mirror_abs(const float *x, float *y);\n"
SOURCE = '#include "mirror.h"\nvoid mirror_abs(const float *x, float *y) { for (int i = 0; i < 4; ++i) y[i] = x[i] < 0 ? -x[i] : x[i]; }\n'


def written(folder: Path, name: str) -> Path:
    folder.mkdir()
    path = folder / "target.toml"
    path.write_text(MANIFEST % name)
    return path


def test_hooks_in_python(tmp_path):
    mine = pl.target(written(tmp_path / "mine", "mine"))
    asked = []

    @mine.hook("graph-to-runtime")
    def lower(question):
        asked.append([op.name for op in question.region.operations])
        question.artifact("mirror.h", HEADER)
        question.artifact("mirror.c", SOURCE)
        question.call("mirror_abs")

    net = pl.compile(pl.parse(ABS.replace("graph.abs %0", "graph.neg %0")), targets=[mine, "llvm"])
    assert asked == [["abs"]], asked
    np.testing.assert_array_equal(net(np.array([-1, 2, -3, 4], np.float32)), [-1, -2, -3, -4])
    # The name is known in specs, too.
    assert pl.partition(pl.parse(ABS), "mine, llvm").on("mine")


def test_hooks_that_fail_decline_or_are_no_hooks(tmp_path):
    other = pl.target(written(tmp_path / "other", "other"))

    @other.hook("graph-to-runtime")
    def lower(question):
        raise LookupError("no such table")

    with pytest.raises(pl.Error, match="LookupError: no such table") as raised:
        pl.compile(pl.parse(ABS), targets=[other, "llvm"])
    assert isinstance(raised.value.__cause__, LookupError)

    @other.hook("graph-to-runtime")
    def fails(question):
        pl.hook.fail("the region is too large")

    with pytest.raises(pl.Error, match="the region is too large"):
        pl.compile(pl.parse(ABS), targets=[other, "llvm"])
    with pytest.raises(pl.InvalidError, match="graph-to-nowhere"):
        other.hook("graph-to-nowhere")(lower)
    with pytest.raises(pl.InvalidError, match="constant-updater"):
        other.hook("graph-to-runtime", together=True)(lower)


def test_ir_after_a_phase():
    text = pl.emit(conftest.convolution(), "partition", "vanilla, llvm")
    assert "graph.conv " in text and 'phl.target = "vanilla"' in text
