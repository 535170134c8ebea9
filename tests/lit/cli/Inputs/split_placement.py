"""Gives every other N operations of a placement file to the host."""

import json
import sys

source, destination, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
with open(source) as file:
    placement = json.load(file)
for op in placement["ops"]:
    if op["index"] // count % 2:
        op["target"] = "host"
        op.pop("pattern", None)
with open(destination, "w") as file:
    json.dump(placement, file)
