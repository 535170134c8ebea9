"""Writes the JSON schema of target.toml from the types that the parser reads it into: manifest_schema.py

Keys, their types, which of them are required, and the names of enumerations are those of `src/targets`. What only
conditions know (expressions, files, contradictions) is the parser's to check.
"""

import json
import re
from pathlib import Path

TARGETS = Path(__file__).resolve().parents[2] / "src" / "targets"
FILES = ("manifest/raw.rs", "codegen.rs", "device.rs", "kind.rs")
ROOT = "RawManifest"
HEAD = re.compile(r"pub (struct|enum) (\w+) \{$")
FIELD = re.compile(r"((?:^    (?:///.*|#\[.*\])\n)*)^    pub (\w+): (.+),$", re.M)
VARIANT = re.compile(r"((?:^    (?:///.*|#\[.*\])\n)*)^    (\w+)(?:\((.+)\))?,$", re.M)
SCALAR = {"anyOf": [{"type": word} for word in ("string", "number", "boolean")]}
PLAIN = {
    "String": {"type": "string"},
    "bool": {"type": "boolean"},
    "i64": {"type": "integer"},
    "u32": {"type": "integer", "minimum": 0},
    "toml::Value": SCALAR,
}
# Values of any form: a spec is a text, a list or a table, a default may be a list, a table holds texts by name.
ANY = {("RawAlias", "spec"), ("RawOption", "default"), ("RawPlaced", "load"), ("RawPlaced", "store")}


def source(path):
    return (TARGETS / path).read_text(encoding="utf-8")


def kebab(name):
    return re.sub(r"(?<=[a-z0-9])([A-Z])", r"-\1", name).lower()


def doc(attributes):
    lines = re.findall(r"^ *///(?: (.*))?$", attributes, re.M)
    text = " ".join(" ".join(lines).split())
    return {"description": text} if text else {}


def names_of(pattern, text):
    found = re.findall(pattern, text, re.M)
    if not found:
        raise SystemExit(f"manifest_schema.py: nothing matches {pattern!r}: the sources have another form")
    return found


def enumerations():
    """Names that are no variants of types in FILES."""
    types = re.search(r"const TYPES: \[&str; \d+\] = \[(.*?)\];", source("manifest/option.rs"))
    hooks = (TARGETS / "../phase/hook_point.rs").read_text(encoding="utf-8")
    phases = (TARGETS / "../phase/table.rs").read_text(encoding="utf-8")
    return {
        ("RawOption", "ty"): names_of(r'"(\w+)"', types[1]),
        ("RawManifest", "hooks"): names_of(r'Self::\w+ => "([a-z-]+)"', hooks),
        ("RawManifest", "phases"): names_of(r'^    \w+ "([a-z-]+)" extensible: true', phases),
        "CodegenKind": names_of(r'^            [A-Z]\w* "([a-z-]+)" in', source("codegen/kinds.rs")),
    }


def items(text):
    """Yields attributes, kind, name and body of each public type."""
    before, lines = [], iter(text.splitlines())
    for line in lines:
        head = HEAD.match(line)
        if head:
            body = []
            for inner in lines:
                if inner == "}":
                    break
                body.append(inner)
            yield "\n".join(before), head[1], head[2], "\n".join(body) + "\n"
        # What stands before an item ends with an empty line.
        before = [] if head or not line else [*before, line]


class Writer:
    def __init__(self):
        self.items = {}
        for path in FILES:
            for attributes, kind, name, body in items(source(path)):
                self.items.setdefault(name, (attributes, kind, body))
        self.named = enumerations()
        self.definitions = {}

    def type(self, text, place):
        """The schema of a Rust type."""
        text = text.strip()
        for wrapper in ("Option", "Spanned"):
            if text.startswith(wrapper + "<"):
                return self.type(text[len(wrapper) + 1:-1], place)
        if place in ANY:
            return {}
        if text.startswith("Vec<"):
            return {"type": "array", "items": self.type(text[4:-1], place)}
        if text.startswith("BTreeMap<"):
            value = self.type(text[9:-1].split(",", 1)[1], None)
            if place in self.named:
                keys = {name: value for name in self.named[place]}
                return {"type": "object", "properties": keys, "additionalProperties": False}
            return {"type": "object", "additionalProperties": value}
        if place in self.named and text == "String":
            return {"enum": self.named[place]}
        if text in PLAIN:
            return PLAIN[text]
        return self.reference(text.split("::")[-1])

    def reference(self, name):
        if name not in self.definitions:
            self.definitions[name] = {}
            self.definitions[name] = self.definition(name)
        return {"$ref": f"#/$defs/{name}"}

    def definition(self, name):
        if name in self.named:
            return {"enum": self.named[name]}
        if name not in self.items:
            raise SystemExit(f"manifest_schema.py: {name} is in none of {', '.join(FILES)}")
        attributes, kind, body = self.items[name]
        if kind == "enum":
            return doc(attributes) | self.enumeration(attributes, body)
        properties, required = {}, []
        is_kebab = 'rename_all = "kebab-case"' in attributes
        for about, field, text in FIELD.findall(body):
            renamed = re.search(r'rename = "([^"]+)"', about)
            key = renamed[1] if renamed else field.replace("_", "-") if is_kebab else field
            properties[key] = doc(about) | self.type(text, (name, field))
            if not text.startswith("Option<") and "default" not in about:
                required.append(key)
        made = doc(attributes) | {"type": "object", "properties": properties}
        if required:
            made["required"] = required
        # An unknown key is an error, and so is one in a table that says nothing of it.
        return made | {"additionalProperties": False}

    def enumeration(self, attributes, body):
        variants = [(name, inner) for _, name, inner in VARIANT.findall(body)]
        if "untagged" in attributes:
            return {"anyOf": [self.type(inner, None) for _, inner in variants]}
        return {"enum": [kebab(name) for name, _ in variants]}


def schema():
    writer = Writer()
    writer.reference(ROOT)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "target.toml",
        "description": "The manifest of a target of Phaseline. A file that another manifest includes is of $defs/RawManifest.",
        "$ref": f"#/$defs/{ROOT}",
        "required": ["target"],
        "$defs": dict(sorted(writer.definitions.items())),
    }


if __name__ == "__main__":
    print(json.dumps(schema(), indent=1))
