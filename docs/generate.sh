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
{
  echo "# Attributes of the dialect phl"
  echo
  echo "What passes, hooks and tools tell each other about IR with. Each is verified: an unknown name, a"
  echo "value of another kind or a wrong place is an error."
  echo
  echo "| attribute | value | on | what it says |"
  echo "|---|---|---|---|"
  sed -nE 's/^PHL_ATTRIBUTE\(([a-z_]+), ([A-Za-z]+), ([A-Za-z]+), "(.*)"\)$/| `phl.\1` | \L\2\E | \L\3\E | \4 |/p' \
    dialects/phl/Attributes.def
} > "$out/attributes.md"
env -u PHASELINE_TARGET_PATH target/debug/phaseline targets > "$out/targets.txt"
if [[ "$out" != docs/generated ]] && ! diff -r docs/generated "$out"; then
  echo "docs/generated is not what the sources say: run 'make docs' and commit it" >&2
  exit 1
fi
