#!/bin/sh
# Tests of the target: its patterns against the host, how a small network is divided, and the values
# in it. Takes options of `phaseline check-target`, such as `--samples 4`.
set -eu
cd "$(dirname "$0")"
spec='@NAME@, llvm'
# The patterns of `opencl` are tested there.
phaseline check-target . --pattern dense "$@"

# The division is the one that the first line of net.mlir tells.
wanted=$(sed -n 's|^// Division: ||p' net.mlir)
phaseline partition net.mlir -t "$spec" --target-path . | grep -F -x -e "$wanted" || {
  echo "net.mlir is not divided as its first line says; see phaseline partition net.mlir -t '$spec' --target-path ." >&2
  exit 1
}
phaseline debug net.mlir -t "$spec" --target-path . --random-inputs 1
