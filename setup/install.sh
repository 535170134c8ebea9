#!/usr/bin/env bash
# Installs what the build and the tests need on Debian 12. Running it again changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

missing=()
while read -r package; do
  [[ -z "$package" || "$package" == \#* ]] && continue
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing+=("$package")
done < setup/packages.txt

if ((${#missing[@]})); then
  echo "setup: installing ${#missing[@]} Debian packages: ${missing[*]}"
  sudo=()
  if ((EUID != 0)); then
    command -v sudo > /dev/null || {
      echo "setup: not root and no sudo; run as root: apt-get install ${missing[*]}" >&2
      exit 1
    }
    sudo=(sudo)
  fi
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
else
  echo "setup: Debian packages are present"
fi

command -v cargo > /dev/null || {
  echo "setup: cargo is not on PATH; install Rust from https://rustup.rs" >&2
  exit 1
}

stamp=.venv/installed.txt
if ! cmp -s setup/python.txt "$stamp"; then
  echo "setup: making the Python environment .venv (test-only)"
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r setup/python.txt
  cp setup/python.txt "$stamp"
else
  echo "setup: the Python environment is present"
fi
