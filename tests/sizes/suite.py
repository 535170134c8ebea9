"""ONNX's suite with every dimension of data inputs a symbol: suite.py PHASELINE SUITE [STEP [OFFSET [PATTERN]]]

Equal sizes of one case share a symbol; those of weights stay numbers, and inputs that give shapes, axes or pads keep their values.
A case counts if it passes with sizes that are known. Prints what is refused, with the reason, and the share that passes. Exits
with 1 if a number or a shape is wrong.
"""

import collections
import json
import pathlib
import subprocess
import sys

import numpy as np
import onnx
from onnx import numpy_helper

# Places of inputs that decide on shapes, by operator.
VALUES = {
    "AffineGrid": [1], "BlackmanWindow": [0], "CenterCropPad": [1], "Col2Im": [1, 2], "Compress": [1], "ConstantOfShape": [0], "CumProd": [1],
    "CumSum": [1], "DFT": [1, 2], "Dropout": [1, 2], "Expand": [1], "HammingWindow": [0], "HannWindow": [0], "If": [0], "Loop": [0, 1],
    "MaxUnpool": [2], "MelWeightMatrix": [0, 1, 2, 3, 4], "OneHot": [1], "Pad": [1, 3], "Range": [0, 1, 2], "ReduceL1": [1], "ReduceL2": [1],
    "ReduceLogSum": [1], "ReduceLogSumExp": [1], "ReduceMax": [1], "ReduceMean": [1], "ReduceMin": [1], "ReduceProd": [1], "ReduceSum": [1],
    "ReduceSumSquare": [1], "Reshape": [1], "Resize": [1, 2, 3], "STFT": [1, 3], "Slice": [1, 2, 3, 4], "Split": [1], "Squeeze": [1],
    "Tile": [1, 2], "TopK": [1], "Trilu": [1], "Unsqueeze": [1], "Upsample": [1],
}
WEIGHTS = {
    "Conv": [1, 2], "ConvTranspose": [1, 2], "ConvInteger": [1, 2, 3], "QLinearConv": [1, 2, 3, 4, 5, 6, 7, 8], "CausalConvWithState": [1, 2],
    "BatchNormalization": [1, 2, 3, 4], "InstanceNormalization": [1, 2], "LayerNormalization": [1, 2], "GroupNormalization": [1, 2],
    "RMSNormalization": [1], "LSTM": [1, 2, 3, 7], "GRU": [1, 2, 3], "RNN": [1, 2, 3], "QuantizeLinear": [1, 2], "DequantizeLinear": [1, 2],
    "PRelu": [1], "QLinearMatMul": [1, 2, 4, 5, 6, 7], "DeformConv": [1, 3], "MatMulInteger": [2, 3],
}


def read(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def places(nodes, table):
    return {node.input[place] for node in nodes for place in table.get(node.op_type, []) if place < len(node.input)}


def check(program, folder, work):
    """The outcome of a case, and its reason."""
    model = onnx.load(folder / "model.onnx")
    data = folder / "test_data_set_0"
    constants = {value.name for value in model.graph.initializer}
    inputs = [port for port in model.graph.input if port.name not in constants]
    if any(not port.type.HasField("tensor_type") for port in inputs):
        return "other", "an input is no tensor"
    given = places(model.graph.node, VALUES)
    if folder.name.endswith("_expanded"):
        given |= {port.name for port in inputs if port.name in ("size", "shape")}
    weights = places(model.graph.node, WEIGHTS)
    feeds, values, symbols = {}, [], {}
    for number, port in enumerate(inputs):
        path = data / f"input_{number}.pb"
        if port.name in given:
            values += ["--value", f"{port.name}=@{path}"]
            continue
        feeds[port.name] = value = read(path)
        dims = port.type.tensor_type.shape.dim
        if len(dims) != value.ndim:
            return "other", "an input has no shape"
        if port.name not in weights:
            for size, dim in zip(value.shape, dims):
                if size > 1:
                    dim.dim_param = f"d{size}"
                    symbols[size] = f"d{size}={size}..{size + 3}"
    if not symbols:
        return "other", "no dimension to leave open"
    for port in model.graph.output:
        if port.type.HasField("tensor_type"):
            port.type.tensor_type.ClearField("shape")
    del model.graph.value_info[:]
    onnx.save(model, work / "model.onnx")
    np.savez(work / "in.npz", **feeds)
    command = [program, "run", work / "model.onnx", "--inputs", work / "in.npz", "--outputs", work / "out.npz", *values]
    ranges = [word for text in symbols.values() for word in ("--shape", text)]
    done = subprocess.run(command + ranges, capture_output=True, text=True)
    if done.returncode:
        known = subprocess.run(command, capture_output=True, text=True)
        return ("other", "does not pass with known sizes") if known.returncode else ("refused", done.stderr.strip().split("\n")[0])
    got = np.load(work / "out.npz")
    for number, port in enumerate(model.graph.output):
        want, value = read(data / f"output_{number}.pb"), got[port.name]
        if value.shape != want.shape:
            return "wrong", f"{port.name} is {value.shape}, expected {want.shape}"
        if want.size and not np.allclose(value.astype("f8"), want.astype("f8"), rtol=2e-3, atol=1e-4, equal_nan=True):
            return "wrong", f"{port.name} has other numbers"
    return "right", None


def main(program, suite, step="1", offset="0", pattern=""):
    work = pathlib.Path("suite-sizes")
    work.mkdir(exist_ok=True)
    cases = [folder for folder in sorted(pathlib.Path(suite).iterdir()) if pattern in folder.name]
    count = collections.Counter()
    for folder in cases[int(offset):: int(step)]:
        try:
            outcome, reason = check(program, folder, work)
        except (KeyError, TypeError, ValueError) as error:
            outcome, reason = "other", f"{type(error).__name__}: {error}"
        count[outcome] += 1
        if outcome in ("refused", "wrong"):
            print(f"{outcome} {folder.name}: {reason}", flush=True)
    print(json.dumps(count))
    share = count["right"] / max(1, count["right"] + count["refused"] + count["wrong"])
    print(f"{share:.1%} of the cases that pass with known sizes are right")
    sys.exit(count["wrong"] > 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
