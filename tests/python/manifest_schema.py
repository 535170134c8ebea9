"""Checks docs/reference/generated/target.schema.json: manifest_schema.py ROOT

All manifests of the repository, and those of templates, fit. Manifests that are structurally wrong do not, each for its own
reason, and the parser refuses them, too: manifest_schema.py ROOT --wrong FOLDER writes them for it.
"""

import json
import subprocess
import sys
import tomllib
from pathlib import Path

import schema

GOOD = """
version = 1
[target]
name = "good"
role = "device"
doc = "A device"
[[option]]
name = "lanes"
type = "int"
default = 4
doc = "Lanes"
[capabilities]
dtypes = ["f32"]
[cost]
per-call = 10
[[pool]]
name = "sram"
bytes = "64k"
[[pattern]]
name = "relu"
match = "relu(x)"
call = "void good_relu(in x, out y, size x.size)"
where = ["x.dtype == f32"]
[codegen]
kind = "c"
headers = ["good.h"]
"""
# Replaced text of GOOD, its replacement, and the place of the fault.
WRONG = [
    ("version = 1", 'version = "one"', "/version"),
    ('name = "good"\n', "", "/target"),
    ('doc = "A device"\n', "", "/target"),
    ('name = "good"', "name = 5", "/target/name"),
    ('role = "device"', 'role = "helper"', "/target/role"),
    ('role = "device"', 'rolle = "device"', "/target/rolle"),
    ('role = "device"', "role = true", "/target/role"),
    ('[target]\nname = "good"\nrole = "device"\ndoc = "A device"\n', "", "/"),
    ('[[option]]\nname = "lanes"', "[[option]]", "/option/0"),
    ('type = "int"', 'type = "integer"', "/option/0/type"),
    ('type = "int"', "type = 1", "/option/0/type"),
    ("default = 4", "defualt = 4", "/option/0/defualt"),
    ("[[option]]", "[option]", "/option"),
    ('dtypes = ["f32"]', 'dtypes = "f32"', "/capabilities/dtypes"),
    ('dtypes = ["f32"]', "dtypes = [32]", "/capabilities/dtypes/0"),
    ('dtypes = ["f32"]', 'multi-output = "yes"', "/capabilities/multi-output"),
    ('dtypes = ["f32"]', "multi_output = true", "/capabilities/multi_output"),
    ("per-call = 10", "per-call = [10]", "/cost/per-call"),
    ("per-call = 10", "per-operation = 10", "/cost/per-operation"),
    ('[[pool]]\nname = "sram"', "[[pool]]", "/pool/0"),
    ('bytes = "64k"', "alignment = 6.5", "/pool/0/alignment"),
    ('bytes = "64k"', "dma = 3", "/pool/0/dma"),
    ('name = "relu"\n', "", "/pattern/0"),
    ('match = "relu(x)"', "match = 1", "/pattern/0/match"),
    ('where = ["x.dtype == f32"]', 'where = "x.dtype == f32"', "/pattern/0/where"),
    ('where = ["x.dtype == f32"]', "ulps = -1", "/pattern/0/ulps"),
    ('where = ["x.dtype == f32"]', "tile = { loops = [] }", "/pattern/0/tile"),
    ('where = ["x.dtype == f32"]', 'when = "x"', "/pattern/0/when"),
    ('kind = "c"', 'kind = "cpp"', "/codegen/kind"),
    ('headers = ["good.h"]', 'headers = "good.h"', "/codegen/headers"),
    ('headers = ["good.h"]', 'blob = { load = "f" }', "/codegen/blob"),
    ('headers = ["good.h"]', 'emit = [{ op = "math.exp" }]', "/codegen/emit/0"),
    ("[codegen]", '[hooks]\ngraph-to-c = "canonicalize"\n[codegen]', "/hooks/graph-to-c"),
    ("[codegen]", "[hooks]\ngraph-to-tir = 7\n[codegen]", "/hooks/graph-to-tir"),
    ("[codegen]", '[phases]\nimport = "canonicalize"\n[codegen]', "/phases/import"),
    ("[codegen]", "[kodegen]", "/kodegen"),
]


def wrong():
    for old, new, place in WRONG:
        assert old in GOOD, old
        yield GOOD.replace(old, new, 1), place


def write(folder):
    for number, (text, _) in enumerate([(GOOD, ""), *wrong()]):
        path = Path(folder) / f"target{number}" / "target.toml"
        path.parent.mkdir(parents=True)
        path.write_text(text)
        (path.parent / "good.h").write_text("void good_relu(const float *x, float *y, long n);\n")


def main(root, *wanted):
    if wanted:
        return write(wanted[1])
    whole = json.loads(Path(root, "docs/reference/generated/target.schema.json").read_text())
    schema.WHOLE.update(whole)
    names = subprocess.run(["git", "ls-files", "*target.toml", "*.toml.in"], cwd=root, capture_output=True, text=True, check=True)
    files = [Path(root, name) for name in names.stdout.split() if name.endswith("target.toml")]
    faults = []
    for file in files:
        text = file.read_text()
        if "{{" in text or "@NAME@" in text:
            continue
        manifest = tomllib.loads(text)
        # A phase of the vendor's own compiler, which the schema of `phaseline` does not have.
        if Path(root, "examples/heronc") in file.parents:
            assert manifest["phases"].pop("heron")
        faults += [f"{file}{fault}" for fault in schema.faults(whole, manifest, "")]
    assert len(files) > 20, files
    # Templates include what the program has in it.
    named = [(file.parent, name) for file in files for name in tomllib.loads(file.read_text()).get("include", [])]
    places = ((folder / name, Path(root, "targets", name)) for folder, name in named)
    included = {place.resolve() for pair in places for place in pair if place.is_file()}
    assert included
    for file in included:
        part = schema.part(whole, "$defs/RawManifest")
        faults += [f"{file}{fault}" for fault in schema.faults(part, tomllib.loads(file.read_text()), "")]
    assert not list(schema.faults(whole, tomllib.loads(GOOD), "")), list(schema.faults(whole, tomllib.loads(GOOD), ""))
    for text, place in wrong():
        found = list(schema.faults(whole, tomllib.loads(text), ""))
        if not any(fault.startswith(place + ":") for fault in found):
            faults.append(f"not refused at {place}: {found}\n{text}")
    print("\n".join(faults) or f"{len(files)} manifests and {len(included)} parts fit, {len(WRONG)} wrong ones do not")
    sys.exit(bool(faults))


if __name__ == "__main__":
    main(*sys.argv[1:])
