"""Random networks with open sizes, each at three sizes beside onnxruntime: fuzz.py PHASELINE COUNT SEED [TARGETS]...

A network has one to three symbols; its nodes are drawn from operations whose operands fit what there is. Each package is compiled
once for a range and run at the least, the greatest and a drawn size. Prints each difference, with the model's file, and fails if
there is one. What is refused is counted by its message.
"""

import collections
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper


class Draw:
    """A network as it grows: values by name with their dimensions, numbers or names of symbols."""

    def __init__(self, seed):
        self.rng = np.random.default_rng(seed)
        self.nodes, self.constants, self.values, self.count = [], {}, [], 0
        self.symbols = {}
        for name in ["n", "t", "s"][: self.rng.integers(1, 4)]:
            least = int(self.rng.integers(1, 4))
            self.symbols[name] = (least, least + int(self.rng.integers(1, 7)))
        names = list(self.symbols)
        self.inputs = []
        for index in range(self.rng.integers(1, 3)):
            dims = [self.pick(names), self.pick(names + [3]), 4]
            self.inputs.append((f"x{index}", dims))
            self.values.append((f"x{index}", dims))

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants[name] = np.asarray(array)
        return name

    def node(self, kind, operands, dims, **attributes):
        self.count += 1
        name = f"v{self.count}"
        self.nodes.append(helper.make_node(kind, operands, [name], **attributes))
        if dims is not None:
            self.values.append((name, dims))
        return name

    def shape_of(self, name, axis):
        """A list of one element: the size of a dimension."""
        shape = self.node("Shape", [name], None)
        return self.node("Gather", [shape, self.constant(np.array([axis], "i8"))], None, axis=0)

    def step(self):
        name, dims = self.pick(self.values)
        floats = lambda *shape: self.constant((self.rng.standard_normal(shape) * 0.5).astype("f4"))
        rank, last = len(dims), dims[-1]
        kind = self.rng.integers(14)
        if kind == 0:
            self.node(self.pick(["Relu", "Sigmoid", "Tanh", "Abs", "Neg"]), [name], dims)
        elif kind == 1:
            self.node(self.pick(["Add", "Mul", "Sub"]), [name, floats(*(1 if isinstance(d, str) else d for d in dims))], dims)
        elif kind == 2:
            same = [other for other, own in self.values if own == dims]
            self.node(self.pick(["Add", "Mul", "Max"]), [name, self.pick(same)], dims)
        elif kind == 3 and isinstance(last, int):
            width = int(self.rng.integers(2, 6))
            self.node("MatMul", [name, floats(last, width)], [*dims[:-1], width])
        elif kind == 4:
            self.node(self.pick(["Softmax", "LogSoftmax"]), [name], dims, axis=int(self.rng.integers(rank)))
        elif kind == 5 and rank > 2:
            axis = int(self.rng.integers(rank))
            keep = int(self.rng.integers(2))
            kept = [1 if at == axis else dim for at, dim in enumerate(dims) if keep or at != axis]
            self.node(self.pick(["ReduceMean", "ReduceMax", "ReduceMin", "ReduceL2"]), [name], kept, axes=[axis], keepdims=keep)
        elif kind == 6:
            order = [int(axis) for axis in self.rng.permutation(rank)]
            self.node("Transpose", [name], [dims[axis] for axis in order], perm=order)
        elif kind == 7 and rank == 3 and isinstance(last, int):
            flat = self.node("Reshape", [name, self.constant(np.array([-1, last], "i8"))], None)
            flat = self.node("MatMul", [flat, floats(last, 4)], None)
            parts = [self.shape_of(name, 0), self.shape_of(name, 1), self.constant(np.array([4], "i8"))]
            self.node("Reshape", [flat, self.node("Concat", parts, None, axis=0)], [*dims[:2], 4])
        elif kind == 8:
            axis = int(self.rng.integers(rank))
            if isinstance(dims[axis], str) and self.symbols[dims[axis]][0] < 2:
                return
            if isinstance(dims[axis], int) and dims[axis] < 2:
                return
            start, end = self.pick([(1, 2**40), (0, -1), (-1, 2**40)])
            cut = self.node("Slice", [name, *(self.constant(np.array([v], "i8")) for v in (start, end, axis))], None)
            # A dimension of another size is folded at once, so that values have sizes of inputs.
            self.node("ReduceSum", [cut, self.constant(np.array([axis], "i8"))],
                      [1 if at == axis else dim for at, dim in enumerate(dims)], keepdims=1)
        elif kind == 9 and rank == 3:
            same = [other for other, own in self.values if len(own) == 3 and own[0] == dims[0] and own[2] == dims[2]]
            joined = self.node("Concat", [name, self.pick(same)], None, axis=1)
            self.node("ReduceMax", [joined], [dims[0], 1, dims[2]], axes=[1], keepdims=1)
        elif kind == 10 and rank == 3 and isinstance(dims[1], int):
            pads = int(self.rng.integers(2))
            if isinstance(last, str) or last >= 2:
                kernel = 2 * pads + 1
                self.node("Conv", [name, floats(3, dims[1], kernel)], [dims[0], 3, last], pads=[pads, pads])
        elif kind == 11 and rank == 3 and isinstance(dims[1], int):
            self.node(self.pick(["MaxPool", "AveragePool"]), [name], dims, kernel_shape=[3], pads=[1, 1])
        elif kind == 12 and rank == 3:
            turned = self.node("Transpose", [name], None, perm=[0, 2, 1])
            scores = self.node("MatMul", [name, turned], [dims[0], dims[1], dims[1]])
            weights = self.node("Softmax", [scores], [dims[0], dims[1], dims[1]], axis=-1)
            self.node("MatMul", [weights, name], dims)
        elif kind == 13 and isinstance(dims[0], str):
            places = self.node("Range", [self.constant(np.array(0, "i8")), self.node("Squeeze", [self.shape_of(name, 0)], None),
                                         self.constant(np.array(1, "i8"))], None)
            places = self.node("Cast", [places], None, to=TensorProto.FLOAT)
            shape = self.constant(np.array([-1] + [1] * (rank - 1), "i8"))
            self.node("Add", [name, self.node("Reshape", [places, shape], None)], dims)

    def model(self, path):
        for _ in range(self.rng.integers(4, 14)):
            self.step()
        read = {operand for node in self.nodes for operand in node.input}
        outputs = [name for name, _ in self.values if name not in read and not name.startswith("x")][-3:]
        outputs = outputs or [self.node("Relu", [self.values[-1][0]], self.values[-1][1])]
        info = [helper.make_tensor_value_info(name, TensorProto.FLOAT, dims) for name, dims in self.inputs]
        graph = helper.make_graph(
            self.nodes, "random", info, [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            [numpy_helper.from_array(value, name) for name, value in self.constants.items()])
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)


def parts_of(symbols, drawn, rng):
    """Arguments that divide the ranges into parts with code of their own, or none."""
    kind = rng.integers(6)
    if kind == 0:
        return [f"--buckets={rng.integers(2, 7)}"]
    if kind == 1:
        return [f"--waste={rng.integers(20, 60)}%", *([f"--variant={next(iter(symbols))}={drawn[next(iter(symbols))]}"])]
    if kind == 2:
        return ["--variant=" + " ".join(f"{name}={drawn[name]}" for name in symbols)]
    if kind == 3:
        some = [name for name in symbols if rng.integers(2)] or list(symbols)
        return ["--variant=" + " ".join(f"{name}={low}..{drawn[name]},{high}" for name, (low, high) in symbols.items() if name in some)]
    return []


def differences(program, folder, draw, targets):
    """Differences from onnxruntime, and refusals, for each composition of targets."""
    path = folder / "net.onnx"
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    run = onnxruntime.InferenceSession(str(path), options)
    drawn = {name: int(draw.rng.integers(low, high + 1)) for name, (low, high) in draw.symbols.items()}
    sizes = [{name: low for name, (low, _) in draw.symbols.items()}, {name: high for name, (_, high) in draw.symbols.items()}, drawn]
    sets = []
    for values in sizes:
        feeds = {name: (draw.rng.standard_normal([values.get(dim, dim) for dim in dims]) * 0.5).astype("f4")
                 for name, dims in draw.inputs}
        sets.append((feeds, run.run(None, feeds)))
    names = [port.name for port in run.get_outputs()]
    used = {dim for _, dims in draw.inputs for dim in dims if isinstance(dim, str)}
    ranges = [f"--shape={name}={low}..{high}" for name, (low, high) in draw.symbols.items() if name in used]
    ranges += parts_of({name: draw.symbols[name] for name in sorted(used)}, drawn, draw.rng)
    for target in targets:
        out = folder / "out"
        command = [program, "compile", str(path), "-t", target, "-o", str(out), "--name", "net", *ranges]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            yield "refused" if done.returncode == 1 else "crashed", f"{target}: {done.stderr.strip()[-400:]}"
            continue
        for feeds, wanted in sets:
            np.savez(folder / "in.npz", **feeds)
            command = [program, "run", str(out), "--inputs", str(folder / "in.npz"), "--outputs", str(folder / "out.npz")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            shapes = {name: value.shape for name, value in feeds.items()}
            if done.returncode != 0:
                yield "failed", f"{target} {shapes}: {done.stderr.strip()[-400:]}"
                continue
            got = np.load(folder / "out.npz")
            for name, want in zip(names, wanted):
                value = got[name]
                if value.shape != want.shape:
                    yield "wrong", f"{target} {shapes}: {name} has shape {value.shape}, expected {want.shape}"
                elif want.size and not np.allclose(value, want, rtol=2e-3, atol=2e-4 * max(1, np.abs(want).max()), equal_nan=True):
                    yield "wrong", f"{target} {shapes}: {name} differs by {np.abs(value - want).max():.1e}"


def main(program, count, seed, *targets):
    counts, bad = collections.Counter(), 0
    root = Path("sizes-fuzz")
    for number in range(int(seed), int(seed) + int(count)):
        folder = root / str(number)
        folder.mkdir(parents=True, exist_ok=True)
        draw = Draw(number)
        draw.model(folder / "net.onnx")
        for kind, text in differences(program, folder, draw, targets or ["llvm"]):
            counts[kind] += 1
            if kind == "refused":
                counts[re.sub(r".*?: error: [^']*", "  ", text)[:90]] += 1
            else:
                bad += 1
                print(f"{kind} {folder}: {text}", flush=True)
        counts["networks"] += 1
    for text, number in counts.most_common():
        print(number, text)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
