"""Writes the page of manifest keys from the schema and the manifests of the repository: manifest_keys.py

Types, requirements and meanings are those of the parser's types; a default stands behind the meaning there. An example of
a key is the shortest value that a manifest of the repository gives it.
"""

import sys
import tomllib
from pathlib import Path

from manifest_schema import ROOT as TOP, schema

REPOSITORY = Path(__file__).resolve().parents[2]
# Built-in targets first: their values are the ones to imitate.
MANIFESTS = ("targets/*/target.toml", "targets/common/*.toml", "tests/targets/*/target.toml",
             "docs/generate/rare/target.toml", "tests/lit/**/target.toml", "src/cli/new_target/*/target.toml")
WIDEST = 60
# Definitions that are no table of their own.
FILE = "RawFile"
TITLES = {"RawWindow": "Windows in `[pattern.tile.tensors]`", "RawPlaced": "Tensors in `[pattern.tile.tensors]`",
          "RawCommand": "Programs in `[hooks]`"}
HEAD = """# Manifest keys

All keys of `target.toml`, table by table. Types, defaults and meanings are those of the parser (`src/targets/manifest/raw.rs`,
`src/targets/codegen.rs`); examples are lines of manifests of this repository. [The manifest](target/manifest.md) introduces
the tables, [target.schema.json](generated/target.schema.json) is the same as a JSON schema for editors.

*Expression* stands for a text over options, captures or sizes in the [language of patterns](patterns.md). A key without a default may be
left out: nothing stands for it. An unknown key is an error.
"""


def name_of(reference):
    return reference["$ref"].rsplit("/", 1)[1]


class Page:
    def __init__(self):
        self.definitions = schema()["$defs"]
        self.places = {}
        self.find(TOP, "", False)

    def alternatives(self, what):
        return what.get("anyOf", [what])

    def tables(self, what):
        """Names of the definitions of tables that a schema allows, and True for lists of them."""
        if "$ref" in what:
            name = name_of(what)
            definition = self.definitions[name]
            if "properties" in definition:
                yield name, False
            else:
                yield from self.tables(definition)
        elif "anyOf" in what:
            for one in what["anyOf"]:
                yield from self.tables(one)
        elif what.get("type") == "array":
            yield from ((name, True) for name, _ in self.tables(what["items"]))
        elif "additionalProperties" in what and isinstance(what["additionalProperties"], dict):
            yield from self.tables(what["additionalProperties"])
        elif "properties" in what:
            for one in list(what["properties"].values())[:1]:
                yield from self.tables(one)

    def find(self, name, path, is_list):
        """Notes the path of each table that a manifest may have, nearest ones first."""
        if name in self.places or name == FILE:
            return
        self.places[name] = (path, is_list)
        for key, what in self.definitions[name]["properties"].items():
            for inner, many in self.tables(what):
                self.find(inner, f"{path}.{key}".strip("."), many)

    def type(self, what):
        if "$ref" in what:
            definition = self.definitions[name_of(what)]
            if name_of(what) == FILE:
                return "`{ file = NAME }`"
            return "table" if "properties" in definition else self.type(definition)
        if "anyOf" in what:
            if {one.get("type") for one in what["anyOf"]} == {"string", "number", "boolean"}:
                return "expression"
            return " or ".join(dict.fromkeys(self.type(one) for one in what["anyOf"]))
        if "enum" in what:
            return ", ".join(f"`{word}`" for word in what["enum"])
        if what.get("type") == "array":
            inner = self.type(what["items"])
            return "tables" if inner == "table" else f"list of {inner}"
        if "properties" in what:
            return "table of " + ", ".join(f"`{key}`" for key in what["properties"])
        if what.get("type") == "object":
            return "table by name"
        return {"string": "text", "boolean": "boolean", "integer": "integer"}.get(what.get("type"), "any")


def usual(what, is_required, default):
    if is_required:
        return "required"
    if default:
        return default
    return {"array": "empty", "boolean": "false"}.get(what.get("type"), "")


def toml(value):
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {toml(one)}" for key, one in value.items()) + " }"
    return str(value)


def cell(text):
    return text.replace("|", "\\|").replace("\n", " ")


def gather(page, manifests):
    """All tables of manifests by their definition."""
    tables = {}

    def walk(name, table):
        tables.setdefault(name, []).append(table)
        for key, what in page.definitions[name]["properties"].items():
            if key not in table:
                continue
            for inner, _ in page.tables(what):
                keys = set(page.definitions[inner]["properties"])
                for one in candidates(table[key]):
                    if set(one) <= keys:
                        walk(inner, one)

    def candidates(value):
        if isinstance(value, list):
            for one in value:
                yield from candidates(one)
        elif isinstance(value, dict):
            yield value
            for one in value.values():
                yield from candidates(one)

    for manifest in manifests:
        walk(TOP, manifest)
    return tables


def example(page, what, key, tables):
    given = [table[key] for table in tables if key in table]
    if any(True for _ in page.tables(what)) and page.type(what) in ("table", "tables"):
        return ""
    texts = [f"{key} = {toml(value)}" for value in given]
    texts = [text for text in texts if "@" not in text and text[-2:] not in ("[]", '""')]
    # The first that fits, as built-in targets come first.
    texts = [text for text in texts if len(text) <= WIDEST] or sorted(texts, key=len)
    return None if not texts else f"`{texts[0]}`" if len(texts[0]) <= WIDEST else f"`{texts[0][:WIDEST]}` ..."


def main():
    page = Page()
    files = list(dict.fromkeys(path for pattern in MANIFESTS for path in sorted(REPOSITORY.glob(pattern))))
    manifests = []
    for path in files:
        try:
            manifests.append(tomllib.loads(path.read_text(encoding="utf-8")))
        except tomllib.TOMLDecodeError:
            continue
    tables = gather(page, manifests)
    print(HEAD)
    unseen = []
    for name, (path, is_list) in page.places.items():
        definition = page.definitions[name]
        shown = f"`[[{path}]]`" if is_list else f"`[{path}]`" if path else "Top of the file"
        shown = TITLES.get(name, shown)
        print(f"## {shown}\n\n| key | type | default | meaning | example |\n|---|---|---|---|---|")
        for key, what in definition["properties"].items():
            meaning, _, default = what.get("description", "").partition(" Default: ")
            if not meaning:
                sys.exit(f"manifest_keys.py: `{key}` of {shown} has no doc comment in the parser's types")
            inner = [page.places[table] for table, _ in page.tables(what) if table in page.places]
            kind = page.type(what)
            given = example(page, what, key, tables.get(name, []))
            if given is None:
                unseen.append(f"{shown} {key}")
                given = ""
            if kind in ("table", "tables") and inner:
                place, many = inner[0]
                given = f"`[[{place}]]`" if many else f"`[{place}]`"
            state = usual(what, key in definition.get("required", ()), default.removesuffix("."))
            print(f"| `{key}` | {cell(kind)} | {cell(state)} | {cell(meaning)} | {cell(given)} |")
        print()
    if unseen:
        sys.exit(f"manifest_keys.py: no manifest has {', '.join(unseen)}: add them to docs/generate/rare/target.toml")


main()
