"""For hooks of targets that are programs in Python: what they are asked, and how they answer.

    import phaseline_hook

    request = phaseline_hook.ask()
    if request.callee == "my_matmul":
        weights = request.constant()
        phaseline_hook.replace(phaseline_hook.Array("<i4", (2,), [weights.shape[0], 7]))

A program whose manifest says `protocol = 2` answers all requests of a compile, and reads regions as objects:

    import phaseline_hook

    def encode(request):
        code = []
        for match in request.region.matches:
            code.append((match.pattern, match["x"].id, match.outputs[0].id))
        request.blob(pack(code))

    phaseline_hook.serve(encode)

Phaseline puts this module on the path of the programs that manifests name under [hooks]. It needs
Python 3.8 and nothing else. docs/reference/hooks.schema.json describes the request as other languages read it,
docs/reference/hooks.md the one of protocol 2.
"""

import ast
import json
import math
import os
import struct
import sys
from pathlib import Path

PROTOCOL = 1

# The letters of the module struct for the element types of .npy files. numpy has no bfloat16: V2 are
# its bits.
_LETTERS = {"b1": "?", "i1": "b", "i2": "h", "i4": "i", "i8": "q", "u1": "B", "u2": "H", "u4": "I",
            "u8": "Q", "f2": "e", "f4": "f", "f8": "d", "V2": "H"}
_MAGIC = b"\x93NUMPY"


class Failure(SystemExit):
    """Ends the compile with a message."""


class Declined(Exception):
    """Raised for what a hook does not take: the default lowering runs, or the host has it."""


def fail(message):
    """Ends the compile with a message, which Phaseline shows with target, hook and function."""
    raise Failure(f"{Path(sys.argv[0]).name}: {message}")


def decline(reason):
    """Declines what the hook is asked about, with a reason for people. In protocol 2."""
    raise Declined(reason)


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
    """Request to the hook. Absent parts are None."""

    def __init__(self, data):
        if data.get("protocol") != PROTOCOL:
            other = data.get("protocol")
            more = "; take `protocol` out of the manifest, or answer with phaseline_hook.serve" if other == 2 else ""
            fail(f"this program speaks protocol {PROTOCOL}, Phaseline {other}{more}")
        self.hook = data["hook"]
        self.target, self.kind = data["target"], data["kind"]
        self.options = data["options"]
        self.function, self.functions = data.get("function"), data.get("functions")
        self.callee = data.get("callee")
        self.input, self.inputs = data.get("input"), data.get("inputs")
        # For each pool of the board: a dictionary with pool, bytes, left, alignment and holds.
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
    text = sys.stdin.readline()
    try:
        # All in one line: a program that ended here would be asked no more.
        data = json.loads(text)
    except ValueError:
        data = json.loads(text + sys.stdin.read())
    return Request(data)


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


def _said(key, values):
    """Adds to a list of answer.json."""
    path = Path("answer.json")
    said = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    said.setdefault(key, []).extend(values)
    path.write_text(json.dumps(said), encoding="utf-8")


def leave(*functions):
    """In tir-to-runtime: functions of the target that get the default. Calls add up."""
    _said("leaves", functions)


def leave_out(*numbers):
    """Has the call pass null pointers for these inputs, which are part of others now. Calls add up."""
    _said("leave-out", numbers)


class Constant:
    """The elements of a constant, in files: read them when they are needed."""

    def __init__(self, data):
        self.dtype, self.shape = data["type"]["dtype"], tuple(data["type"]["shape"])
        self.bytes = data["bytes"]
        # The value that all elements have, if they have one.
        self.splat = data.get("splat")
        # Paths; None for a splat of more than 64 MiB.
        self.npy, self.file = data.get("npy"), data.get("raw")

    def raw(self):
        """The elements as bytes, row-major; types of less than a byte have a byte each."""
        return Path(self.file).read_bytes()

    def array(self):
        """The elements as an Array."""
        return Array.read(self.npy)

    def view(self):
        """The elements as a memoryview of numbers, without a copy of each; float16 and small types as bits."""
        letter = {"f32": "f", "f64": "d", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "i4": "b", "i2": "b",
                  "u16": "H", "u32": "I", "u64": "Q", "f16": "H", "bf16": "H"}.get(self.dtype, "B")
        return memoryview(self.raw()).cast(letter)


class Value:
    """A tensor (or buffer) of a region. `origin` is "input", "constant", "operation" or "block"."""

    def __init__(self, data):
        self.id, self.origin, self.data = data["id"], data["from"], data
        self.dtype = data["type"].get("dtype")
        shape = data["type"].get("shape")
        # A dimension that is not known is None.
        self.shape = None if shape is None else tuple(shape)
        self.name = data.get("name")
        # A dictionary with scale and zero-point as lists, maybe axis and block-size.
        self.quantization = data.get("quantization")
        files = data.get("constant")
        self.constant = Constant(files) if files and "type" in files else None
        # The operation that makes it, and those that read it.
        self.operation, self.users = None, []

    @property
    def size(self):
        """The number of elements; None if it is not known."""
        return None if self.shape is None or None in self.shape else math.prod(self.shape)

    def __repr__(self):
        return f"<value {self.id}: {self.dtype}{list(self.shape or [])} from {self.origin}>"


class Operation:
    """An operation: operands by name (`op["x"]`; None if absent, a list where there may be several)."""

    def __init__(self, data, values):
        self.id, self.name, self.data = data["id"], data["name"], data
        self.attributes, self.node = data["attributes"], data.get("node", "")
        value = lambda number: None if number is None else values[number]
        self.operands = {
            name: [value(one) for one in given] if isinstance(given, list) else value(given)
            for name, given in data["operands"].items()
        }
        self.results = [values[number] for number in data["results"]]
        # The call of tir.call_extern, as a dictionary.
        self.call = data.get("call")
        self.match = None
        # Its regions, such as the body of a loop: lists of operations.
        self.bodies = [[Operation(op, values) for op in body["operations"]] for body in data.get("regions", [])]
        for result in self.results:
            result.operation = self
        for operand in self.inputs():
            operand.users.append(self)

    def inputs(self):
        """All operands that are there, in order."""
        for given in self.operands.values():
            for one in given if isinstance(given, list) else [given]:
                if one is not None:
                    yield one

    def __getitem__(self, name):
        if name not in self.operands:
            fail(f"{self.name} has no operand {name!r}; it has {', '.join(self.operands)}")
        return self.operands[name]

    def __repr__(self):
        return f"<operation {self.id}: {self.name} {self.node!r}>"


class Match:
    """A match of a pattern of the manifest: `match["x"]` is the value of capture x, `match.op("conv2d")` the
    operation that the pattern calls so."""

    def __init__(self, data, region):
        self.id, self.pattern, self.data = data["id"], data["pattern"], data
        self.operations = [region.operation(number) for number in data["operations"]]
        self.inputs = [region.value(number) for number in data["inputs"]]
        self.outputs = [region.value(number) for number in data["outputs"]]
        self.captures = data["captures"]
        # Dictionaries, if the pattern has a call, and tiles: what it becomes without a hook.
        self.call, self.tile = data.get("call"), data.get("tile")
        self._region = region
        for operation in self.operations:
            operation.match = self

    def __contains__(self, name):
        return name in self.captures

    def __getitem__(self, name):
        value = self.captures.get(name, {}).get("value")
        if value is None:
            fail(f"pattern {self.pattern} has no value {name!r} here; it has {', '.join(self.captures)}")
        return self._region.value(value)

    def get(self, name):
        """The value of a capture; None if the match has none of that name."""
        return self._region.value(self.captures.get(name, {}).get("value"))

    def op(self, name):
        """The operation of a name of the pattern; None if the match has none of that name."""
        return self._region.operation(self.captures.get(name, {}).get("operation"))

    def __repr__(self):
        return f"<match {self.id}: {self.pattern}>"


class Region:
    """Content of a function of the target: values, operations in order, and their matches."""

    def __init__(self, data):
        self.data = data
        self.values = [Value(value) for value in data["values"]]
        self.operations = [Operation(op, self.values) for op in data["operations"]]
        self._by_number = {op.id: op for op in self.everything()}
        self.inputs = [self.value(number) for number in data["inputs"]]
        self.outputs = [self.value(number) for number in data["outputs"]]
        self.matches = [Match(match, self) for match in data["matches"]]

    def value(self, number):
        return None if number is None else self.values[number]

    def operation(self, number):
        return None if number is None else self._by_number[number]

    def everything(self):
        """All operations, those in bodies of others included, each before what is in it."""
        waiting = list(reversed(self.operations))
        while waiting:
            op = waiting.pop()
            yield op
            for body in reversed(op.bodies):
                waiting.extend(reversed(body))

    def steps(self):
        """The matches, and the operations of none, in an order in which they can run."""
        last = {match.operations[-1].id: match for match in self.matches if match.operations}
        for op in self.operations:
            if op.match is None:
                yield op
            elif op.id in last:
                yield last[op.id]

    def walk(self, handlers):
        """Calls the handler of each step: for a match by the name of its pattern, for an operation of none by its
        name. Declines if there is a step that has none."""
        for step in self.steps():
            name = step.pattern if isinstance(step, Match) else step.name
            if name not in handlers:
                decline(f"there is nothing for {name}")
            handlers[name](step)


class Question:
    """A request of protocol 2, and the answer to it. Absent parts are None."""

    def __init__(self, data):
        self.data = data
        self.id, self.hook, self.folder = data["id"], data["hook"], Path(data["folder"])
        self.target, self.kind, self.options = data["target"], data["kind"], data["options"]
        self.function, self.callee = data.get("function"), data.get("callee")
        self.region = Region(data["region"]) if "region" in data else None
        # In tir-to-runtime: the regions of all functions, by name.
        functions = data.get("functions")
        self.functions = None if functions is None else {f["name"]: Region(f["region"]) for f in functions}
        # In constant-updater: the constants of the call, by input.
        constants = data.get("constants")
        self.constants = None if constants is None else {c["input"]: Constant(c) for c in constants}
        # The device's own memories, as dictionaries with name, bytes, left and alignment.
        self.pools, self.memory = data["pools"], data.get("memory")
        # With --pools: those of the board.
        self.board = data.get("board", [])
        # Asked before the region has its place (`dry-run = true`): what is written is of no account, only whether it
        # is declined, and what it costs.
        self.dry_run = data.get("dry-run", False)
        self.reply = {"id": self.id}

    def cost(self, nanoseconds):
        """In a dry run: what the work of the region costs, in place of the sum of its patterns' costs."""
        if self.dry_run:
            self.reply["cost"] = nanoseconds

    def module(self):
        """The whole module, as MLIR text: for hooks with `module = true` in the manifest."""
        if "module" not in self.data:
            fail("asks for the whole module: write `module = true` beside its command in the manifest")
        return Path(self.data["module"]).read_text(encoding="utf-8")

    def artifact(self, name, content):
        """Adds a file to the package: text or bytes. A name may have folders in front."""
        path = self.folder / "artifacts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)

    def blob(self, content, function=None):
        """Answers that a function is these bytes, which the device executes: that of the region, or in
        tir-to-runtime one of `functions`. The manifest has [codegen.blob]."""
        self.artifact(f"{function or self.function}.blob", content)

    def call(self, function, device=False, status=False):
        """Answers that the region is a call of a C function, which is given a pointer for each input, then one for
        each output: `device` says that the device comes first, `status` that it returns one. Its declaration is
        in a header: an artifact, or one of the manifest."""
        self.reply["call"] = {"function": function, "device": device, "status": status}

    def answer(self, ir):
        """Answers with functions, as MLIR text; the one that was asked about has its name."""
        (self.folder / "output.mlir").write_text(ir, encoding="utf-8")

    def replace(self, number, array):
        """Answers with another constant for this input of the call."""
        array.write(self.folder / f"output-{number}.npy")

    def leave_out(self, *numbers):
        """Has the call pass null pointers for these inputs, which are part of others now (`together = true`).
        Calls add up."""
        self.reply.setdefault("leave-out", []).extend(numbers)

    def leave(self, *functions):
        """In tir-to-runtime: these functions of the target get the default. Calls add up."""
        self.reply.setdefault("leaves", []).extend(functions)


def serve(answer):
    """Calls `answer` with each Question of a compile, until there are no more. Standard output is that of answers:
    what the program prints goes to standard error from here on."""
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    for line in sys.stdin:
        try:
            data = json.loads(line)
        except ValueError:
            data = json.loads(line + sys.stdin.read())
        if data.get("protocol") != 2:
            sys.exit(f"{Path(sys.argv[0]).name}: this program speaks protocol 2, Phaseline {data.get('protocol')}; "
                     "write `protocol = 2` beside its command in the manifest")
        reply = {"id": data.get("id")}
        try:
            question = Question(data)
            answer(question)
            reply = question.reply
        except Declined as reason:
            reply["declines"] = str(reason)
        except Failure as message:
            reply["error"] = str(message)
        replies.write(json.dumps(reply) + "\n")
        replies.flush()
