#!/usr/bin/env bash
# Builds HEAD in two folders whose names differ in length, and compares the bytes: reproducible.sh WHAT PROFILE
# WHAT is `loader` (the wheel that loads packages), `wheel` (the whole) or `deb`.
set -euo pipefail
cd "$(dirname "$0")/.."
what=$1 profile=$2 root=$PWD
work=$root/build/reproducible
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
unset CARGO_TARGET_DIR CARGO_ENCODED_RUSTFLAGS
# The linker, as .cargo/config.toml has it: flags of the environment take the place of those.
linker='-C link-arg=-fuse-ld=lld -C link-arg=-B/usr/lib/llvm-22/bin'

build() {
  local folder=$work/$1 out=$work/$1.out
  rm -rf "$folder" "$out"
  git clone --quiet --shared "$root" "$folder"
  export RUSTFLAGS="$linker --remap-path-prefix=$folder=/phaseline \
--remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}=/cargo"
  case $what in
    loader | wheel)
      local features=()
      [[ $what == loader ]] && features=(--no-default-features)
      (cd "$folder/crates/phaseline-python" && "$root/.venv/bin/maturin" build --quiet --profile "$profile" \
        "${features[@]}" --strip --compatibility linux --out "$out")
      ;;
    deb) "$folder/setup/deb.sh" "$profile" "$out" ;;
    *)
      echo "reproducible.sh: '$what' is not loader, wheel or deb" >&2
      return 1
      ;;
  esac
}

build a
build another-folder
diff -r "$work/a.out" "$work/another-folder.out"
ls -l "$work/a.out"
echo "reproducible.sh: two builds of $what have the same bytes"
