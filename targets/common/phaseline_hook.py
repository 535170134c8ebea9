"""For hooks of targets that are programs in Python: what they are asked, and how they answer.

    import phaseline_hook

    request = phaseline_hook.ask()
    if request.callee == "my_matmul":
        weights = request.constant()
        phaseline_hook.replace(phaseline_hook.Array("<i4", (2,), [weights.shape[0], 7]))

Phaseline puts this module on the path of the programs that manifests name under [hooks]. It needs
Python 3.8 and nothing else. docs/hooks.schema.json describes the request as other languages read it.
"""

import ast
import json
import math
import struct
import sys
from pathlib import Path

PROTOCOL = 1

# The letters of the module struct for the element types of .npy files. numpy has no bfloat16: V2 are
# its bits.
_LETTERS = {"b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I",
            "u8": "Q", "f2": "e", "f4": "f", "f8": "d", "V2": "H"}
_MAGIC = b"\x93NUMPY"


def fail(message):
    """Ends the compile with a message, which Phaseline shows with target, hook and function."""
    sys.exit(f"{Path(sys.argv[0]).name}: {message}")


class Array:
    """A constant: `dtype` as in numpy ("<f4"), `shape`, and `values` in one row-major list."""

    def __init__(self, dtype, shape, values):
        self.dtype, self.shape, self.values = dtype, tuple(shape), list(values)
        if dtype[1:] not in _LETTERS or dtype[:1] not in ("<", "|"):
            fail(f"element type {dtype!r} is none of {', '.join('<' + name for name in _LETTERS)}")
        if len(self.values) != math.prod(self.shape):
            fail(f"{len(self.values)} values are not those of a constant of shape {self.shape}")

    def _format(self):
        return f"<{len(self.values)}{_LETTERS[self.dtype[1:]]}"

    def bytes(self):
        """The elements as they are in memory."""
        try:
            return struct.pack(self._format(), *self.values)
        except (struct.error, OverflowError) as error:
            fail(f"a value has no form as {self.dtype!r}: {error}")

    def as_type(self, dtype):
        """The same bits as another type of the same size, such as those of floats as integers."""
        count = len(self.values)
        other = struct.unpack(f"<{count}{_LETTERS[dtype[1:]]}", self.bytes())
        return Array(dtype, self.shape, other)

    @staticmethod
    def read(path):
        """Reads a .npy file, as Phaseline writes it."""
        data = Path(path).read_bytes()
        size = struct.unpack_from("<H", data, len(_MAGIC) + 2)[0]
        start = len(_MAGIC) + 4 + size
        header = ast.literal_eval(data[len(_MAGIC) + 4:start].decode("latin-1"))
        shape = header["shape"]
        form = f"<{math.prod(shape)}{_LETTERS[header['descr'][1:]]}"
        return Array(header["descr"], shape, struct.unpack_from(form, data, start))

    def write(self, path):
        """Writes a .npy file."""
        header = {"descr": self.dtype, "fortran_order": False, "shape": self.shape}
        text = repr(header)
        text += " " * (-(len(_MAGIC) + 4 + len(text) + 1) % 64) + "\n"
        start = _MAGIC + b"\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin-1")
        Path(path).write_bytes(start + self.bytes())


class Request:
    """What the hook is asked. Absent parts are None."""

    def __init__(self, data):
        if data.get("protocol") != PROTOCOL:
            fail(f"this program speaks protocol {PROTOCOL}, Phaseline {data.get('protocol')}")
        self.hook = data["hook"]
        self.target, self.kind = data["target"], data["kind"]
        self.options = data["options"]
        self.function, self.functions = data.get("function"), data.get("functions")
        self.callee = data.get("callee")
        self.input, self.inputs = data.get("input"), data.get("inputs")
        # Of each pool of the board: a dictionary with pool, bytes, left, alignment and holds.
        self.memory = data.get("memory", [])
        self._module = data.get("module")

    def ir(self):
        """The function or module, as MLIR text."""
        return Path("input.mlir").read_text(encoding="utf-8")

    def module(self):
        """The whole module, as MLIR text: for hooks with `module = true` in the manifest."""
        if self._module is None:
            fail("asks for the whole module: write `module = true` beside its command in the manifest")
        return Path(self._module).read_text(encoding="utf-8")

    def constant(self, number=None):
        """The constant; with `together = true` the one that is this input of the call."""
        return Array.read("input.npy" if number is None else f"input-{number}.npy")


def ask():
    """Reads what the hook is asked from standard input."""
    return Request(json.load(sys.stdin))


def answer(ir):
    """Answers with functions, as MLIR text; the one that was asked about has its name."""
    Path("output.mlir").write_text(ir, encoding="utf-8")


def artifact(name, content):
    """Adds a file to the package: text or bytes. A name may have folders in front: "net.bundle/map.txt"."""
    path = Path("artifacts") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)


def blob(function, content):
    """Answers that a function is these bytes, which the device is given when it is opened, and executes:
    `request.function` in graph-to-runtime, one of `request.functions` in tir-to-runtime. The manifest
    has [codegen.blob]."""
    artifact(f"{function}.blob", content)


def replace(array, number=None):
    """Answers with a constant; with `together = true` for the one that is this input of the call."""
    array.write("output.npy" if number is None else f"output-{number}.npy")


def leave_out(*numbers):
    """Has the call pass null pointers for these inputs, which are part of others now."""
    Path("answer.json").write_text(json.dumps({"leave-out": list(numbers)}), encoding="utf-8")
