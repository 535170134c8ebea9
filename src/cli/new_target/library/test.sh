#!/bin/sh
# Tests of the target: its patterns against the host, how a small network is divided, and the values
# in it; with the C that stands in, and with a shared library. Takes options of
# `phaseline check-target`, such as `--samples 4`, and LIBRARY in the environment: the library's folder.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Without an installed library, the C that stands in is built as one.
library=${LIBRARY:-$work/library}
if [ ! -e "$library" ]; then
  mkdir -p "$library/include" "$library/lib"
  cp @C@_library.h "$library/include"
  echo 'Your own.' > "$library/LICENSE"
  ${CC:-cc} -O2 -shared -fPIC -Wl,-soname,lib@NAME@.so -o "$library/lib/lib@NAME@.so" @C@.c
fi

# The division is the one that the first line of net.mlir tells.
wanted=$(sed -n 's|^// Division: ||p' net.mlir)
for options in '' "-library-path=$library"; do
  spec="@NAME@ $options, llvm"
  phaseline check-target . --options "$options" "$@"
  phaseline partition net.mlir -t "$spec" --target-path . | grep -F -x -e "$wanted" || {
    echo "net.mlir is not divided as its first line says; see phaseline partition net.mlir -t '$spec' --target-path ." >&2
    exit 1
  }
  phaseline debug net.mlir -t "$spec" --target-path . --random-inputs 1
done

# A package that carries the library runs without the library's folder.
phaseline compile net.mlir -t "@NAME@ -library-path=$library -carry, llvm" --target-path . -o "$work/package"
test -e "$work/package/lib/lib@NAME@.so"
[ -n "${LIBRARY:-}" ] || mv "$library" "$work/elsewhere"
phaseline run "$work/package" --random-inputs 1
