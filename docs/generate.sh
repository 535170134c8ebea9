#!/usr/bin/env bash
# Writes docs/generated from the dialects' declarations and from the programs' own help.
set -euo pipefail
cd "$(dirname "$0")/.."
tblgen=/usr/lib/llvm-22/bin/mlir-tblgen
mkdir -p docs/generated
for dialect in graph tir; do
  $tblgen -gen-dialect-doc --dialect=$dialect -Idialects -I/usr/lib/llvm-22/include \
    "dialects/$dialect/${dialect^}Ops.td" > "docs/generated/$dialect.md"
done
target/debug/phaseline targets > docs/generated/targets.txt
