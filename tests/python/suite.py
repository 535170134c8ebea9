"""Writes the backend test suite of the onnx package to disk."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test.case.node as node_cases
from onnx import numpy_helper


def _proto(value, type_proto, name):
    if isinstance(value, (onnx.TensorProto, onnx.SequenceProto, onnx.OptionalProto)):
        return value
    kind = type_proto.WhichOneof("value")
    if kind == "sequence_type":
        return numpy_helper.from_list(value, name)
    if kind == "optional_type":
        return numpy_helper.from_optional(value, name)
    if kind == "map_type":
        return numpy_helper.from_dict(value, name)
    return numpy_helper.from_array(np.asarray(value), name)


def _write(folder, case):
    for number, (inputs, outputs) in enumerate(case.data_sets):
        data = folder / f"test_data_set_{number}"
        data.mkdir(parents=True)
        for stem, values, infos in (("input", inputs, case.model.graph.input),
                                    ("output", outputs, case.model.graph.output)):
            for i, (value, info) in enumerate(zip(values, infos)):
                if value is not None:
                    proto = _proto(value, info.type, info.name)
                    (data / f"{stem}_{i}.pb").write_bytes(proto.SerializeToString())
    (folder / "model.onnx").write_bytes(case.model.SerializeToString())
    tolerance = {"rtol": max(case.rtol, 1e-3), "atol": max(case.atol, 1e-5)}
    (folder / "tolerance.json").write_text(json.dumps(tolerance))


def write_suite(out):
    """Returns the number of cases written below `out`."""
    count = 0
    for case in node_cases.collect_testcases(None):
        try:
            _write(out / f"node-{case.name}", case)
            count += 1
        except (TypeError, ValueError, AttributeError, KeyError):
            # Values that the serializer of this onnx release cannot express (none of ours).
            shutil.rmtree(out / f"node-{case.name}", ignore_errors=True)
    data = Path(onnx.__file__).parent / "backend/test/data"
    for kind in ("simple", "pytorch-converted", "pytorch-operator"):
        for source in sorted((data / kind).iterdir()):
            if (source / "model.onnx").exists():
                shutil.copytree(source, out / f"{kind}-{source.name}")
                count += 1
    return count
