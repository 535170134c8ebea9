#!/usr/bin/env bash
# Writes docs/generated from the dialects' declarations and from the programs' own help, and the tutorials' pictures. With
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
{
  echo "# Passes"
  echo
  echo "The passes of this repository, as \`src/passes\` declares them. \`phaseline-opt --PASS\` runs one,"
  echo "\`phaseline compile --print-pipeline\` shows in which order a compile runs which; all of MLIR's own"
  echo "passes can stand beside them."
  target/debug/phaseline-opt --help 2> /dev/null | awk '
    function cell(text) { gsub(/[|]/, "\\\\|", text); return text }
    NR == FNR { if ($0 ~ /^    [a-z_]+$/) { gsub(/_/, "-", $1); own[$1] = 1 } next }
    {
      at = match($0, / +- +/)
      name = substr($0, 1, at - 1); says = substr($0, at + RLENGTH)
      if (name ~ /^      --/) {
        name = substr(name, 9); listed = name in own; options = 0
        if (listed) printf "\n## %s\n\n%s.\n", name, says
      } else if (listed && name ~ /^        --/) {
        if (!options++) printf "\n| option | meaning |\n|---|---|\n"
        printf "| `%s` | %s |\n", substr(name, 11), cell(says)
      } else listed = 0
    }' <(sed -n '/^passes! {/,/^}/p' src/passes/mod.rs) -
} > "$out/passes.md"
python3 docs/manifest_schema.py > "$out/target.schema.json"
env -u PHASELINE_TARGET_PATH target/debug/phaseline targets > "$out/targets.txt"
if [[ "$out" != docs/generated ]] && ! diff -r docs/generated "$out"; then
  echo "docs/generated is not what the sources say: run 'make docs' and commit it" >&2
  exit 1
fi
docs/tutorial/pictures.sh "$@"
