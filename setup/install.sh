#!/usr/bin/env bash
# Installs what the build and the tests need on Debian 12. Running it again changes nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

# The packages of a list that are not installed.
missing() {
  local package
  while read -r package; do
    [[ -z "$package" || "$package" == \#* ]] && continue
    dpkg-query -W -f='${Status}' "$package" 2> /dev/null | grep -q 'ok installed' ||
      echo "$package"
  done < "$1"
}

# Installs packages.
install() {
  local sudo=()
  if ((EUID != 0)); then
    command -v sudo > /dev/null || {
      echo "setup: not root and no sudo; run as root: apt-get install $*" >&2
      return 1
    }
    sudo=(sudo)
  fi
  echo "setup: installing $# Debian packages: $*"
  "${sudo[@]}" apt-get update -qq &&
    "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "$@" > /dev/null
}

mapfile -t needed < <(missing setup/packages.txt)
if ((${#needed[@]})); then
  install "${needed[@]}"
else
  echo "setup: Debian packages are present"
fi

# Packages of a list that tests do without: asked for once, unless build/STAMP says that they cannot be had.
optional() {
  local packages list=$1 stamp=build/$2 without=$3
  mapfile -t packages < <(missing "$list")
  if ((${#packages[@]})) && [[ ! -e "$stamp" ]]; then
    install "${packages[@]}" || {
      echo "setup: without $without"
      mkdir -p build && touch "$stamp"
    }
  fi
}
optional setup/packages-cross.txt no-cross-tools 'compilers for other machines; their tests are left out'
optional setup/packages-speed.txt no-ccache 'ccache; tests take longer'

command -v cargo > /dev/null || {
  echo "setup: cargo is not on PATH; install Rust from https://rustup.rs" >&2
  exit 1
}

# For the test of crates on a microcontroller, which is left out without it.
thumb=thumbv7em-none-eabi
if command -v rustup > /dev/null && [[ ! -e build/no-thumb ]] &&
  ! rustup target list --installed | grep -qx "$thumb"; then
  rustup --quiet target add "$thumb" || {
    echo "setup: without Rust for $thumb; its test is left out"
    mkdir -p build && touch build/no-thumb
  }
fi

stamp=.venv/installed.txt
if ! cmp -s setup/python.txt "$stamp"; then
  echo "setup: making the Python environment .venv (test-only)"
  python3 -m venv .venv
  .venv/bin/pip install --quiet --disable-pip-version-check -r setup/python.txt
  cp setup/python.txt "$stamp"
else
  echo "setup: the Python environment is present"
fi
