"""The hook constant-updater: pack.py FUNCTION.

Reads a constant that a function is given from input.npy, and for FUNCTION writes output.npy, the same
matrix as the device reads it: for each row the number of values that are not zero, then column and
value of each, all as int32 (a value by its bits). For others writes nothing: they stay as they are.
"""

import ast
import json
import struct
import sys
from pathlib import Path


def read(data):
    """Shape and values of a float32 .npy file."""
    size = struct.unpack_from("<H", data, 8)[0]
    shape = ast.literal_eval(data[10:10 + size].decode())["shape"]
    return shape, struct.unpack_from(f"<{(len(data) - 10 - size) // 4}f", data, 10 + size)


def write(words):
    """A .npy file of int32 in one dimension."""
    header = f"{{'descr': '<i4', 'fortran_order': False, 'shape': ({len(words)},), }}"
    header = header.ljust(-(10 + len(header) + 1) % 64 + len(header)) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(words)}i", *words)


def main(function):
    if json.loads(Path("request.json").read_text())["callee"] != function:
        return
    (rows, columns), values = read(Path("input.npy").read_bytes())
    words = []
    for row in range(rows):
        kept = [(i, value) for i, value in enumerate(values[row * columns:][:columns]) if value]
        words.append(len(kept))
        for column, value in kept:
            words += [column, struct.unpack("<i", struct.pack("<f", value))[0]]
    Path("output.npy").write_bytes(write(words))


main(*sys.argv[1:])
