#!/usr/bin/env bash
# Writes the pictures of the tutorials, which their blocks `sh` make, to docs/tutorial/TUTORIAL/pictures. With --check it
# only compares: what is committed has to be what would be written.
set -euo pipefail
cd "$(dirname "$0")/../.."
made=$(mktemp -d)
trap 'rm -rf "$made"' EXIT
python3 tests/docs/run.py --pictures "$made"
for folder in "$made"/*; do
  committed=docs/tutorial/$(basename "$folder")/pictures
  if [[ -z $(ls "$folder") ]]; then
    continue
  elif [[ "${1:-}" != --check ]]; then
    mkdir -p "$committed"
    rm -f "$committed"/*.svg
    cp "$folder"/*.svg "$committed"
  elif ! diff -r "$committed" "$folder"; then
    echo "$committed is not what the tutorial draws: run 'make docs' and commit it" >&2
    exit 1
  fi
done
