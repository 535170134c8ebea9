"""Writes the models and references that the tests need: make_data.py OUT_DIR

OUT_DIR/ops/CASE       one-operator models          (ONNX test layout: model.onnx and
OUT_DIR/models/NAME    whole networks                test_data_set_0/{input,output}_N.pb)
OUT_DIR/recurrent/CASE loops over time            (the same layout)
OUT_DIR/quantized/NAME networks in int8, with a tolerance of a few steps of the output's scale
OUT_DIR/light/NAME     the light models of the onnx package
OUT_DIR/suite/CASE     ONNX's own node, simple and pytorch cases
Nothing is written when the folder is already what this version would write.
"""

import hashlib
import json
import shutil
import sys
import warnings
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort
from onnx import numpy_helper

import models
import op_cases
import quantized
import recurrent
from suite import write_suite

HERE = Path(__file__).resolve().parent


def version():
    digest = hashlib.sha256()
    for path in sorted(HERE.glob("*.py")):
        digest.update(path.read_bytes())
    digest.update(f"{onnx.__version__} {ort.__version__} {np.__version__}".encode())
    return digest.hexdigest()


def reference(model, feeds, optimize=True):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    # Exact sums on machines without VNNI too, where onnxruntime saturates pairs of products of u8 and
    # constant s8 otherwise.
    options.add_session_config_entry("session.x64quantprecision", "1")
    if not optimize:
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model.SerializeToString(), options,
                                   providers=["CPUExecutionProvider"])
    return session.run(None, feeds)


def write_case(folder, model, feeds, optimize=True):
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    onnx.save(model, folder / "model.onnx")
    for i, (name, array) in enumerate(feeds.items()):
        (data / f"input_{i}.pb").write_bytes(
            numpy_helper.from_array(array, name).SerializeToString())
    for i, array in enumerate(reference(model, feeds, optimize)):
        (data / f"output_{i}.pb").write_bytes(
            numpy_helper.from_array(np.asarray(array), model.graph.output[i].name)
            .SerializeToString())


def random_feeds(model, name):
    rng = np.random.default_rng(len(name))
    weights = {w.name for w in model.graph.initializer}
    feeds = {}
    for value in model.graph.input:
        if value.name not in weights:
            shape = [d.dim_value for d in value.type.tensor_type.shape.dim]
            feeds[value.name] = rng.standard_normal(shape).astype("f4")
    return feeds


def main(out):
    stamp = out / "version.txt"
    if stamp.exists() and stamp.read_text() == version():
        print(f"data: {out} is current")
        return
    print(f"data: writing {out} (about a minute)", flush=True)
    shutil.rmtree(out, ignore_errors=True)
    count = 0
    for name, net, feeds in op_cases.all_cases():
        write_case(out / "ops" / name, net.build(), feeds)
        count += 1
    print(f"data: {count} one-operator cases", flush=True)
    for name, net, feeds in recurrent.all_cases():
        write_case(out / "recurrent" / name, net.build(), feeds)
    for name, make in models.MODELS.items():
        model = make(name)
        write_case(out / "models" / name, model, random_feeds(model, name))
    for name, make in quantized.MODELS.items():
        model = make(name)
        # Without optimization what the nodes say is computed, not what this machine is fast at.
        write_case(out / "quantized" / name, model, random_feeds(model, name), optimize=False)
        tolerance = quantized.tolerance(name, model)
        (out / "quantized" / name / "tolerance.json").write_text(json.dumps(tolerance))
    light = Path(onnx.__file__).parent / "backend/test/data/light"
    for source in sorted(light.glob("light_*.onnx")):
        model = onnx.load(source)
        name = source.stem.removeprefix("light_")
        write_case(out / "light" / name, model, random_feeds(model, name))
    print(f"data: {write_suite(out / 'suite')} cases of ONNX's suite", flush=True)
    stamp.write_text(version())


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
