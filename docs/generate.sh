#!/usr/bin/env bash
# Writes the generated pages of docs: from the dialects' declarations, tables in the sources, the programs' own help,
# measurements in benches/results, and the tutorials' pictures. With --check it only compares: what is committed has to be
# what would be written.
set -euo pipefail
cd "$(dirname "$0")/.."
tblgen=/usr/lib/llvm-22/bin/mlir-tblgen
make=docs/generate
root=.
if [[ "${1:-}" == --check ]]; then
  root=$(mktemp -d)
  trap 'rm -rf "$root"' EXIT
fi
reference=$root/docs/reference out=$root/docs/reference/generated
mkdir -p "$out" "$root/docs/explanation"
for dialect in graph tir; do
  $tblgen -gen-dialect-doc --dialect=$dialect -Idialects -I/usr/lib/llvm-22/include \
    "dialects/$dialect/${dialect^}Ops.td" > "$out/$dialect.md"
done
{
  echo "# Attributes of the dialect phl"
  echo
  echo "Facts about IR that passes, hooks and tools leave for each other. Each is verified: an unknown name, a"
  echo "value of another kind or a wrong place is an error."
  echo
  echo "| attribute | value | on | meaning |"
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
unset PHASELINE_TARGET_PATH
python3 $make/manifest_schema.py > "$out/target.schema.json"
target/debug/phaseline targets > "$out/targets.txt"
# The manifest of rare keys is an example, so the parser takes it.
target/debug/phaseline targets rare --target-path $make/rare > /dev/null
python3 $make/manifest_keys.py > "$reference/manifest-keys.md"
python3 $make/phases.py > "$reference/phases.md"
python3 $make/operators.py > "$reference/operators.md"
python3 $make/cli.py target/debug/phaseline > "$reference/cli.md"
python3 $make/layers.py > "$root/docs/explanation/layers.svg"
# The picture of README.md.
target/debug/phaseline partition $make/net.mlir -t 'vanilla, llvm' --svg "$root/docs/partition.svg" > /dev/null
python3 $make/tables.py . "$root"
if [[ "$root" != . ]]; then
  faults=$(diff -r docs/reference/generated "$out" || true)
  while read -r file; do
    [[ "$file" == docs/reference/generated/* ]] || faults+=$(diff "$file" "$root/$file" || true)
  done < <(cd "$root" && find . -type f -printf '%P\n')
  if [[ -n "$faults" ]]; then
    echo "$faults"
    echo "docs is not what the sources and benches/results say: run 'make docs' and commit it" >&2
    exit 1
  fi
fi
docs/tutorial/pictures.sh "$@"
