#!/usr/bin/env bash
# Builds and runs examples/embed as a crate of somebody else: in an empty folder outside of the
# repository, with an empty environment, and with no settings but the blocks of docs/guides/embedding.md.
# outside.sh TARGET_DIR; dependencies that TARGET_DIR has are not compiled again.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
target=$(mkdir -p "$1" && cd "$1" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# The block of the guide whose first line is the comment `# FILE`.
block() {
  awk -v first="# $1" '
    /^```/ { inside = 0; fence = NR }
    NR == fence + 1 && $0 == first { inside = found = 1; next }
    inside { print }
    END { exit !found }' "$root/docs/guides/embedding.md" ||
    { echo "outside.sh: docs/guides/embedding.md has no block '# $1'" >&2; return 1; }
}

# The places of cargo, its downloads and the cache of ccache are no setting of ours.
clean=(env -i PATH="$PATH" HOME="$HOME" ${CCACHE_DIR+CCACHE_DIR="$CCACHE_DIR"}
  ${CCACHE_SLOPPINESS+CCACHE_SLOPPINESS="$CCACHE_SLOPPINESS"} ${CARGO_HOME+CARGO_HOME="$CARGO_HOME"}
  ${RUSTUP_HOME+RUSTUP_HOME="$RUSTUP_HOME"})

cd "$folder"
"${clean[@]}" cargo init --quiet --vcs none --name phaseline-embed-example .
rm src/main.rs
cp -r "$root"/examples/embed/src "$root"/examples/embed/net.mlir "$root"/examples/embed/Cargo.lock .
block Cargo.toml | sed "s|/path/to/phaseline|$root|" >> Cargo.toml
mkdir .cargo
block .cargo/config.toml > .cargo/config.toml
# Dependencies of the features are not built without them.
if "${clean[@]}" cargo tree --edges normal --prefix none | grep -E '^(clap|indicatif|prost|tracing-subscriber) '; then
  echo "outside.sh: without features there are dependencies that only they need" >&2
  exit 1
fi
# Our own code is compiled without optimisation, in a third of the time.
"${clean[@]}" cargo run --quiet --target-dir "$target" --config profile.dev.package.phaseline.opt-level=0
