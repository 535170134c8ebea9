#!/usr/bin/env bash
# Compiles MobileNetV2 for the simulated accelerator and the host, shows what goes where, runs it
# and compares it with onnxruntime.
set -euo pipefail
cd "$(dirname "$0")/.."

phaseline=target/debug/phaseline
model=build/test-data/models/mobilenet_v2
spec='vanilla, llvm'
out=build/demo/mobilenet_v2

mkdir -p build/demo
echo "== Which operation runs where (phaseline partition, first 24 lines and the totals)"
$phaseline partition "$model/model.onnx" -t "$spec" > build/demo/partition.txt
head -24 build/demo/partition.txt
echo "..."
tail -4 build/demo/partition.txt

echo
echo "== Compile for '$spec' (phaseline compile)"
$phaseline compile "$model/model.onnx" -t "$spec" -o "$out"
echo "The package is in $out:"
ls "$out"
echo "The accelerator's C, with calls of the vendor's functions: $(ls "$out"/src/*_vanilla.c)"

echo
echo "== Run it on seeded inputs (phaseline run)"
$phaseline run "$out" --random-inputs 1

echo
echo "== Compare with onnxruntime's outputs, error at most 1e-3 (phaseline verify)"
$phaseline verify "$model/model.onnx" -t "$spec" --atol 1e-3 --rtol 0
