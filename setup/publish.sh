#!/usr/bin/env bash
# Checks what would be published: the files of each crate, and with a registry at hand the whole.
set -euo pipefail
cd "$(dirname "$0")/.."
members=$(cargo metadata --format-version 1 --no-deps --locked |
  python3 -c 'import json, sys
for package in json.load(sys.stdin)["packages"]:
    if package["publish"] is None: print(package["name"])')
for member in $members; do
  cargo package --list --locked --allow-dirty -p "$member" > "build/publish-$member.txt"
  echo "$member: $(wc -l < "build/publish-$member.txt") files"
done
if cargo publish --workspace --dry-run --locked --allow-dirty --no-verify > build/publish.txt 2>&1; then
  grep -E 'Packaged|Uploading' build/publish.txt
else
  tail -5 build/publish.txt
  exit 1
fi
