"""Measures the models of classes.py and networks.py beside onnxruntime, and OpenVINO where it is installed, in one run.

    run.py PHASELINE [--set classes|networks|further|others|wider|operators|integers|wider-integers] [--only WORD] [--threads 1,2] [--least SECONDS] [--results FILE.csv]
    run.py PHASELINE --files FILE.onnx ...

All run the same inputs, one after the other, three times over; what is reported is the median of the three medians.
Ratios are to the faster peer.
Results are compared, too: a case whose largest difference is more than 2 % of the largest element (10 % where values
are rounded to 8 bits, 30 % of the files of others) is an error. --results
appends a row for each case and number of threads, with date, machine and versions; docs/generate.sh makes the tables of
docs/performance.md of the last ones.
"""

import argparse
import csv
import datetime
import importlib.metadata
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path
from statistics import geometric_mean, median

import numpy as np
import onnx
import onnxruntime

import classes
import further
import networks
import operators
import others
import wider
from timing import median_time

COLUMNS = ["date", "revision", "machine", "onnxruntime", "openvino", "case", "threads", "phaseline_ms", "onnxruntime_ms", "openvino_ms",
           "compile_s"]
SETS = {"classes": classes.CASES, "networks": networks.NETWORKS,
        "further": further.FURTHER, "others": others.OTHERS, "wider": wider.WIDER,
        "operators": operators.OPERATORS, "integers": networks.INTEGERS, "wider-integers": wider.INTEGERS}


def session_of(path, threads, level=onnxruntime.GraphOptimizationLevel.ORT_ENABLE_ALL):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.graph_optimization_level, options.log_severity_level = threads, level, 3
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def by_onnxruntime(path, inputs, threads, least):
    session = session_of(path, threads)
    return median_time(lambda: session.run(None, inputs), least)


def by_openvino(path, _inputs, threads, least):
    """Not a number for what OpenVINO refuses, or what ends it: it has a process of its own. A program, as in a worker of
    `concurrent.futures` OpenVINO's second thread does next to nothing."""
    command = [sys.executable, Path(__file__).with_name("openvino_time.py"), path, path.with_name("in.npz"), str(threads),
               str(least)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode == 0:
        return float(done.stdout)
    print(f"{path.stem}: OpenVINO ended with {done.returncode}: {done.stderr.strip()[-300:]}", file=sys.stderr)
    return float("nan")


PEERS = {"onnxruntime": by_onnxruntime}
if importlib.util.find_spec("openvino"):
    PEERS["OpenVINO"] = by_openvino


def ours(program, path, folder, threads, least):
    """Phaseline's report, and its result."""
    command = [program, "bench", path, "--inputs", folder / "in.npz", "--outputs", folder / "out.npz", "--threads",
               str(threads), "--min-time", str(least), "--json"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{path.stem}: {done.stderr.strip()}")
    with np.load(folder / "out.npz") as results:
        return json.loads(done.stdout.splitlines()[-1]), results[results.files[0]]


def sample(value):
    """Random elements of an input: words below 1,000 where it holds integers."""
    kind = value.type.tensor_type
    shape = [dim.dim_value for dim in kind.shape.dim]
    dtype, random = onnx.helper.tensor_dtype_to_np_dtype(kind.elem_type), np.random.default_rng(0)
    if dtype.kind == "b":
        return random.random(shape) < 0.5
    return (random.standard_normal(shape) if dtype.kind == "f" else random.integers(0, 1000, shape)).astype(dtype)


def measure(program, name, build, threads, least, tolerance):
    """A row: our time, those of the peers, seconds of the compile."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        path = folder / f"{name}.onnx"
        model = build()
        onnx.save(model, path)
        inputs = {value.name: sample(value) for value in model.graph.input}
        np.savez(folder / "in.npz", **inputs)
        rows = []
        for _ in range(3):
            theirs = [peer(path, inputs, threads, least) for peer in PEERS.values()]
            report, got = ours(program, path, folder, threads, least)
            rows.append((report["median_ms"], *theirs, report["compile_ms"] / 1e3))
        # Unoptimised: without VNNI onnxruntime's integer kernels saturate sums of two products.
        plain = session_of(path, threads, onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL)
        expected, got = plain.run(None, inputs)[0].astype(np.float64), got.astype(np.float64)
    if got.shape != expected.shape or np.abs(got - expected).max() > tolerance * np.abs(expected).max():
        sys.exit(f"{name}: the results differ by up to {np.abs(got - expected).max() / np.abs(expected).max():.1%}")
    return [median(column) for column in zip(*rows)]


def machine():
    """The processor by the system's name of it, with the number of processors that this process has."""
    lines = Path("/proc/cpuinfo").read_text().splitlines() if Path("/proc/cpuinfo").exists() else []
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else 'unknown'}, {len(os.sched_getaffinity(0))} cores"


def version(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def append(path, name, results):
    revision = subprocess.run(["git", "rev-parse", "--short=8", "HEAD"], capture_output=True, text=True).stdout.strip()
    start = [datetime.date.today().isoformat(), revision, name, version("onnxruntime"), version("openvino")]
    is_new = not path.exists()
    with open(path, "a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if is_new:
            writer.writerow(COLUMNS)
        for case, threads, *times, seconds in results:
            # A case that a peer refuses has no number.
            cells = ["" if time == "" or np.isnan(time) else f"{time:.3f}" for time in times]
            writer.writerow([*start, case, threads, *cells, f"{seconds:.1f}"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--set", default="classes", choices=SETS)
    parser.add_argument("--only", default="", help="only cases whose name has this in it")
    parser.add_argument("--files", nargs="+", type=Path, help="ONNX files instead of a set, such as of export.py")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--least", type=float, default=0.3, help="seconds of each measurement")
    parser.add_argument("--results", type=Path, help="a CSV file to append to")
    parser.add_argument("--machine", default=machine(), help="its name in the results")
    arguments = parser.parse_args()
    counts = [int(count) for count in arguments.threads.split(",")]
    heads = [f"{n} thread{'s' * (n > 1)}, ms | {' | '.join(PEERS)} | ratio" for n in counts]
    columns = 2 + len(PEERS)
    lines = [f"| class | {' | '.join(heads)} | compile, s |", "|---" * (2 + columns * len(counts)) + "|"]
    print("\n".join(lines), flush=True)
    tolerance = 0.1 if arguments.set.endswith("integers") else 0.02
    cases = SETS[arguments.set]
    if arguments.files:
        cases = {path.stem: partial(onnx.load, path) for path in arguments.files}
        # Networks that are quantized without an eye on their answers.
        tolerance = 0.3
    ratios, results = {count: [] for count in counts}, []
    for name, build in cases.items():
        if arguments.only not in name:
            continue
        cells = []
        for count in counts:
            mine, *theirs, seconds = measure(arguments.program, name, build, count, arguments.least, tolerance)
            ratio = mine / np.nanmin(theirs)
            ratios[count].append(ratio)
            results.append([name, count, mine, *theirs, *[""] * (2 - len(theirs)), seconds])
            cells.append(" | ".join(f"{value:.3f}" for value in [mine, *theirs]) + f" | {ratio:.2f}")
        lines.append(f"| {name} | {' | '.join(cells)} | {seconds:.1f} |")
        print(lines[-1], flush=True)
    blank = " |" * (columns - 1)
    means = " ".join(f"|{blank} {geometric_mean(ratios[count]):.2f}" for count in counts)
    lines.append(f"| geometric mean {means} | |")
    print(lines[-1])
    if arguments.results:
        append(arguments.results, arguments.machine, results)


if __name__ == "__main__":
    main()
