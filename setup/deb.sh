#!/usr/bin/env bash
# Builds a Debian package of the program: deb.sh PROFILE OUTPUT-FOLDER
# It has `phaseline` with man pages, completions and licences, the built-in targets to read and copy, and the headers of the
# runtime. Two builds of one commit give the same bytes.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=$1
out=$(mkdir -p "$2" && cd "$2" && pwd)
folder=$([[ "$profile" == dev ]] && echo debug || echo "$profile")
version=$(sed -n '/^\[workspace.package\]/,/^\[/s/^version = "\(.*\)"/\1/p' Cargo.toml)
architecture=$(dpkg --print-architecture)
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

cargo build --profile "$profile" --bin phaseline
root=build/deb/root
rm -rf build/deb
share=$root/usr/share
mkdir -p $root/DEBIAN $root/usr/bin $root/usr/include "$share"/{doc/phaseline,man,phaseline/targets} \
  "$share"/{bash-completion/completions,zsh/vendor-completions,fish/vendor_completions.d} build/deb/debian
strip -o $root/usr/bin/phaseline "target/$folder/phaseline"
$root/usr/bin/phaseline pages build/deb/pages
cp -r build/deb/pages/man1 "$share/man/"
gzip -n9 "$share"/man/man1/*.1
cp build/deb/pages/completions/phaseline.bash "$share/bash-completion/completions/phaseline"
cp build/deb/pages/completions/_phaseline "$share/zsh/vendor-completions/"
cp build/deb/pages/completions/phaseline.fish "$share/fish/vendor_completions.d/"
# Tracked files only: tests and build outputs stay out.
git ls-files targets | grep -v '/test/' | while read -r file; do
  install -D -m 644 "$file" "$share/phaseline/$file"
done
cp -r runtime-c/include/phaseline $root/usr/include/
python3 setup/licences.py > "$share/doc/phaseline/copyright"
gzip -n9 -c CHANGELOG.md > "$share/doc/phaseline/changelog.gz"
install -m 644 docs/reference/generated/target.schema.json "$share/phaseline/"

# The libraries that the program needs, by the packages that have them.
printf 'Source: phaseline\nPackage: phaseline\nArchitecture: any\n' > build/deb/debian/control
depends=$(cd build/deb && dpkg-shlibdeps -O "root/usr/bin/phaseline" 2> /dev/null | sed -n 's/^shlibs:Depends=//p')
cat > $root/DEBIAN/control << CONTROL
Package: phaseline
Version: $version
Architecture: $architecture
Maintainer: Phaseline <phaseline@localhost>
Section: science
Priority: optional
Installed-Size: $(du -sk --apparent-size $root/usr | cut -f1)
Depends: $depends
Recommends: gcc | c-compiler, libc6-dev
Description: compiler for neural networks on accelerators, kernel libraries and CPUs
 Compiles ONNX and TensorFlow Lite models to C libraries for combinations of targets. A target is a manifest with
 patterns, pipelines and hooks.
CONTROL
find $root -newermt "@$SOURCE_DATE_EPOCH" -exec touch -h -d "@$SOURCE_DATE_EPOCH" {} +
chmod -R go-w,u+rwX,go+rX $root
dpkg-deb --root-owner-group -Zxz -z6 --build $root "$out/phaseline_${version}_$architecture.deb"
