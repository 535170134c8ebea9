"""Checks JSON against a JSON schema: schema.py SCHEMA[#/PLACE] FILE...

Knows the words of JSON Schema 2020-12 that the schemas of this repository use; another word is an error,
so that nothing in a schema stays without effect.
"""

import json
import sys
from pathlib import Path

TYPES = {"object": dict, "array": list, "string": str, "integer": int, "number": (int, float), "boolean": bool,
         "null": type(None)}
TEXTS = {"$schema", "$defs", "title", "description"}


def fits(schema, value):
    return not list(faults(schema, value, ""))


def faults(schema, value, place):
    """Yields what is wrong with a value."""
    if isinstance(schema, bool):
        if not schema:
            yield f"{place or '/'}: is not to be there"
        return
    for word, wanted in schema.items():
        if word in TEXTS:
            continue
        if word not in WORDS:
            raise ValueError(f"schema.py does not know '{word}'")
        yield from WORDS[word](wanted, value, place, schema)


def of_type(wanted, value, place, _):
    is_number = wanted in ("integer", "number") and isinstance(value, bool)
    if not isinstance(value, TYPES[wanted]) or is_number:
        yield f"{place or '/'}: {value!r} is no {wanted}"


def of_list(allowed, value, place, _):
    if value not in allowed:
        yield f"{place or '/'}: {value!r} is none of {allowed}"


def properties(wanted, value, place, _):
    for name, schema in wanted.items():
        if isinstance(value, dict) and name in value:
            yield from faults(schema, value[name], f"{place}/{name}")


def additional(wanted, value, place, schema):
    if not isinstance(value, dict):
        return
    for name in sorted(set(value) - set(schema.get("properties", {}))):
        yield from faults(wanted, value[name], f"{place}/{name}")


def items(wanted, value, place, _):
    if not isinstance(value, list):
        return
    for number, item in enumerate(value):
        yield from faults(wanted, item, f"{place}/{number}")


def any_of(schemas, value, place, _):
    if not any(fits(schema, value) for schema in schemas):
        yield f"{place or '/'}: none of {len(schemas)} forms fits"


def one_of(schemas, value, place, _):
    count = sum(fits(schema, value) for schema in schemas)
    if count != 1:
        yield f"{place or '/'}: {count} of {len(schemas)} forms fit, 1 is to"


WORDS = {
    "type": of_type,
    "enum": of_list,
    "const": lambda wanted, value, place, schema: of_list([wanted], value, place, schema),
    "required": lambda names, value, place, _: (
        f"{place or '/'}: has no '{name}'" for name in names if isinstance(value, dict) and name not in value),
    "properties": properties,
    "additionalProperties": additional,
    "items": items,
    "minItems": lambda least, value, place, _: (
        f"{place}: has fewer than {least} items" for _ in range(isinstance(value, list) and len(value) < least)),
    "minimum": lambda least, value, place, _: (
        f"{place}: {value} is below {least}" for _ in range(isinstance(value, (int, float)) and value < least)),
    "oneOf": one_of,
    "anyOf": any_of,
    "$ref": lambda name, value, place, _: faults(part(WHOLE, name.partition("#/")[2]), value, place),
}

# The schema that places in `$ref` are of.
WHOLE = {}


def part(schema, place):
    """Part of a schema at a place, such as $defs/answer."""
    for name in filter(None, place.split("/")):
        schema = schema[name]
    return schema


def main(schema, *files):
    name, _, place = schema.partition("#/")
    WHOLE.update(json.loads(Path(name).read_text()))
    wanted = part(WHOLE, place)
    wrong = [f"{file}{fault}" for file in files
             for fault in faults(wanted, json.loads(Path(file).read_text()), "")]
    print("\n".join(wrong) or f"{len(files)} fit")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main(*sys.argv[1:])
