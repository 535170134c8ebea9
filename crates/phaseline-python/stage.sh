#!/usr/bin/env bash
# Puts the package `phaseline` into a folder, as a wheel has it: stage.sh TARGET-FOLDER OUTPUT
set -euo pipefail
library=$1/lib_phaseline.so
output=$2/phaseline
here=$(dirname "$0")
mkdir -p "$output"
cp -r "$here"/python/phaseline/. "$output/"
# The symbols of 60,000 functions take a quarter of the file.
if [[ "$library" -nt "$output/_phaseline.abi3.so" ]]; then
  strip -o "$output/_phaseline.abi3.so" "$library"
fi
