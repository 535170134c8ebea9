"""Checks the metadata of a package, or changes it: change_package.py FOLDER [CHANGE]."""

import json
import pathlib
import sys

folder = pathlib.Path(sys.argv[1])
place = folder / "metadata.json"
metadata = json.loads(place.read_text())
if len(sys.argv) == 2:
    listed = {file["path"] for file in metadata["files"]}
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert there == listed | {"metadata.json"}, there ^ listed
    for file in metadata["files"]:
        data = (folder / file["path"]).read_bytes()
        assert file["bytes"] == len(data), file
        assert len(bytes.fromhex(file["xxh128"])) == 16, file
    sys.exit()
library = next(file for file in metadata["files"] if file["path"] == "libnet.so")
match sys.argv[2]:
    case "inputs":
        metadata["signature"]["inputs"][0]["shape"][2] = 64
    case "machine":
        metadata["cpu"] = "generic"
    case "outside":
        library["path"] = "../evil.so"
        metadata["files"] = [library]
    case "list":
        metadata["files"].remove(library)
    case "name":
        metadata["signature"]["name"] = "../evil"
place.write_text(json.dumps(metadata))
