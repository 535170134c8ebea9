"""Prints the licences of all that is linked into the programs and wheels: licences.py

The packages are those of `cargo metadata` for a build, without what only tests and build scripts use, with LLVM and MLIR,
which are linked as they are installed. A licence's text is printed once, with the packages that have it.
"""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Names of files with licences.
NAMES = ("LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE")
LLVM = ("/usr/share/doc/llvm-22/copyright", "/usr/share/doc/libllvm22/copyright", "/usr/share/doc/llvm-22-dev/copyright")


def metadata():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--filter-platform", "x86_64-unknown-linux-gnu"]
    return json.loads(subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout)


def linked(data, roots):
    """The packages that are linked into some members: normal dependencies only, macros left out."""
    packages = {package["id"]: package for package in data["packages"]}
    nodes = {node["id"]: node for node in data["resolve"]["nodes"]}
    macro = lambda package: any("proc-macro" in target["kind"] for target in package["targets"])
    found, work = {}, [package["id"] for package in data["packages"] if package["name"] in roots and not package["source"]]
    while work:
        name = work.pop()
        if name in found or macro(packages[name]):
            continue
        found[name] = packages[name]
        for dependency in nodes[name]["deps"]:
            if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                work.append(dependency["pkg"])
    return sorted(found.values(), key=lambda package: (package["name"], package["version"]))


def texts(package):
    folder = Path(package["manifest_path"]).parent
    for file in sorted(folder.iterdir()):
        if file.is_file() and file.name.upper().startswith(NAMES):
            yield " ".join(file.read_text(encoding="utf-8", errors="replace").split()), file.read_text(
                encoding="utf-8", errors="replace").strip()


def main():
    packages = [package for package in linked(metadata(), ("phaseline", "phaseline-python")) if package["source"]]
    without = [package["name"] for package in packages if not package.get("license") and not package.get("license_file")]
    if without:
        sys.exit(f"licences.py: no licence is known of {', '.join(without)}")
    print("Phaseline is under the MIT licence or the Apache licence 2.0, at your choice.\n")
    print("It is linked with these packages of Rust:\n")
    for package in packages:
        print(f"  {package['name']} {package['version']}: {package.get('license') or package['license_file']}")
    print("\nand with LLVM and MLIR 22: Apache-2.0 WITH LLVM-exception.\n")
    known = {}
    for package in packages:
        for key, text in texts(package):
            known.setdefault(key, (text, []))[1].append(package["name"])
    for text, names in known.values():
        print("-" * 80)
        print(", ".join(names) + ":\n")
        print(text + "\n")
    for path in map(Path, LLVM):
        if path.is_file():
            print("-" * 80)
            print("LLVM and MLIR:\n")
            print(path.read_text(encoding="utf-8", errors="replace").strip() + "\n")
            break
    for file in ("LICENSE-MIT", "LICENSE-APACHE"):
        print("-" * 80)
        print("Phaseline:\n")
        print((ROOT / file).read_text(encoding="utf-8").strip() + "\n")


main()
