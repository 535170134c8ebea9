"""Compares docs/reference/package.md with packages that are compiled: package.py PHASELINE

Each key of a metadata.json, and each file of a package, has to be in a table of the page, and each key of the page in one of the
packages, which are chosen to have all: sizes of a run, devices, pools, states, traces, weights in a file, other layouts.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import onnx
from onnx import TensorProto, helper

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "package.md"
BOARD = """
[[pool]]
name = "SRAM"
bytes = 65_536
holds = ["activations", "inputs"]
[[pool]]
name = "FLASH"
bytes = 33_554_432
holds = ["constants"]
"""
STEP = """
func.func @main(%x: tensor<4x8xf32> {phl.name = "x"}, %old: tensor<4x8xf32> {phl.name = "old"})
    -> (tensor<4x8xf32> {phl.name = "y"}, tensor<4x8xf32> {phl.name = "new"}) {
  %n = graph.add %old, %x : tensor<4x8xf32>
  %y = graph.relu %n : tensor<4x8xf32>
  return %y, %n : tensor<4x8xf32>, tensor<4x8xf32>
}
"""
PRODUCT = """
func.func @main(%x: tensor<4x8xf32> {phl.name = "x"}) -> (tensor<4x8xf32> {phl.name = "y"}) {
  %w = graph.constant dense<0.5> : tensor<8x8xf32>
  %0 = graph.matmul %x, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  %1 = graph.relu %0 : tensor<4x8xf32>
  %2 = graph.matmul %1, %w : (tensor<4x8xf32>, tensor<8x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
"""


def value(name, kind, shape):
    return helper.make_tensor_value_info(name, kind, shape)


def save(path, inputs, outputs, *nodes):
    graph = helper.make_graph(list(nodes), "main", inputs, outputs)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9), path)


def models(folder):
    (folder / "board.toml").write_text(BOARD)
    (folder / "step.mlir").write_text(STEP)
    (folder / "product.mlir").write_text(PRODUCT)
    save(folder / "best.onnx", [value("x", TensorProto.FLOAT, ["batch", 16]), value("k", TensorProto.INT64, [1])],
         [value("y", TensorProto.FLOAT, None), value("i", TensorProto.INT64, None)],
         helper.make_node("TopK", ["x", "k"], ["y", "i"]))
    save(folder / "found.onnx", [value("x", TensorProto.FLOAT, [4, 6])], [value("y", TensorProto.INT64, None)],
         helper.make_node("NonZero", ["x"], ["y"]))
    save(folder / "shaped.onnx", [value("x", TensorProto.FLOAT, [4, 6]), value("s", TensorProto.INT64, [2])],
         [value("y", TensorProto.FLOAT, None)], helper.make_node("Reshape", ["x", "s"], ["y"]))


# Arguments of `phaseline compile` behind a model.
PACKAGES = (
    ("product.mlir", "-t", "vanilla, llvm", "--trace", "--plan-picture"),
    ("product.mlir", "-t", "llvm", "--weights", "beside"),
    ("product.mlir", "-t", "c", "--layout", "crate"),
    ("product.mlir", "-t", "llvm", "--pools", "board.toml"),
    ("product.mlir", "-t", "vecdsp -queues=2, llvm", "--trace"),
    ("product.mlir", "-t", "capsule, llvm", "--target-path", str(ROOT / "tests/targets/capsule")),
    ("step.mlir", "-t", "vecdsp, llvm", "--bind", "old=vecdsp", "--bind", "new=vecdsp", "--state", "old=new"),
    ("best.onnx", "--shape", "batch=1..8", "--value", "k=[1..6]", "--variant", "batch=1"),
    ("found.onnx",),
    ("shaped.onnx", "--value", "s=[6,4]"),
)


# Their elements are products of sizes over symbols, in a form of lists.
EXPRESSIONS = ("inputs", "outputs", "elements", "variants")


def keys(value, path=""):
    """Paths of all keys; elements of lists are those of one `[]`."""
    if path.removeprefix("signature.bounds.") in EXPRESSIONS:
        return
    if isinstance(value, dict):
        for key, inner in value.items():
            yield f"{path}.{key}".lstrip(".")
            yield from keys(inner, f"{path}.{key}".lstrip("."))
    elif isinstance(value, list):
        for inner in value:
            yield from keys(inner, path + "[]")


def documented():
    """Keys and forms of files that the page has in the first columns of its tables."""
    keys, files = set(), set()
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        for line in section.splitlines():
            names = re.findall(r"`([^`]+)`", line.split(" | ")[0]) if line.startswith("| `") else []
            (files if section.startswith("Files") else keys).update(names)
    return keys, files


def fits(path, forms):
    """True for a file that one of the forms of the page stands for; a form that ends with / stands for all below."""
    for form in forms:
        pattern = re.escape(form).replace(r"\*", "[^/]*")
        pattern = re.sub(r"NAME|TARGET|MODEL|CPU", "[A-Za-z0-9_.-]+", pattern)
        if re.match(pattern + ("" if form.endswith("/") else "$"), path):
            return True
    return False


def main(program):
    program = str(Path(program).resolve())
    known, forms = documented()
    found, faults = set(), []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models(folder)
        for number, (model, *arguments) in enumerate(PACKAGES):
            out = folder / f"out{number}"
            command = [program, "compile", model, *arguments, "-o", str(out)]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{' '.join(command)}: {done.stderr}")
            metadata = json.loads((out / "metadata.json").read_text())
            found.update(keys(metadata))
            paths = [str(path.relative_to(out)) for path in sorted(out.rglob("*")) if path.is_file()]
            faults += [f"the file {path} of {model} {' '.join(arguments)} is not in {PAGE.name}" for path in paths if not fits(path, forms)]
    faults += [f"the key {key} of metadata.json is not in {PAGE.name}" for key in sorted(found - known)]
    faults += [f"{PAGE.name} has the key {key}, and no package that was compiled" for key in sorted(known - found)]
    print("\n".join(faults))
    if faults:
        sys.exit(f"{len(faults)} keys and files differ between {PAGE.name} and packages")


main(*sys.argv[1:])
