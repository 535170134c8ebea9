#!/usr/bin/env bash
# Writes docs/generated from the dialects' declarations and from the programs' own help. With
# --check it only compares: what is committed has to be what would be written.
set -euo pipefail
cd "$(dirname "$0")/.."
tblgen=/usr/lib/llvm-22/bin/mlir-tblgen
out=docs/generated
if [[ "${1:-}" == --check ]]; then
  out=$(mktemp -d)
  trap 'rm -rf "$out"' EXIT
fi
mkdir -p "$out"
for dialect in graph tir; do
  $tblgen -gen-dialect-doc --dialect=$dialect -Idialects -I/usr/lib/llvm-22/include \
    "dialects/$dialect/${dialect^}Ops.td" > "$out/$dialect.md"
done
env -u PHASELINE_TARGET_PATH target/debug/phaseline targets > "$out/targets.txt"
if [[ "$out" != docs/generated ]] && ! diff -r docs/generated "$out"; then
  echo "docs/generated is not what the sources say: run 'make docs' and commit it" >&2
  exit 1
fi
