"""Checks what `bench --by-layer --json` printed: each step has a time, and they add up to a run."""

import json
import sys

report = json.load(sys.stdin)
layers = report["layers"]
assert layers and report["peak_gflops"] > 0.1, report
assert any(layer["means"] == sys.argv[1] for layer in layers), layers
assert all(layer["median_ms"] >= 0 for layer in layers), layers
assert abs(sum(layer["share"] for layer in layers) - 1) < 1e-6, layers
