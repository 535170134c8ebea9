"""Networks that are ready to run."""

from __future__ import annotations

import io
import json
import os
import statistics
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Callable, NamedTuple

from . import _arrays, _phaseline as native
from ._arrays import Outputs
from ._errors import InvalidError
from ._pictures import Picture, framed


class Port(NamedTuple):
    """An input or output. Of sizes that a run gives, the shape has the greatest."""

    name: str
    dtype: str
    shape: tuple[int, ...]


class Bench(NamedTuple):
    """Times of single runs, in milliseconds."""

    median_ms: float
    min_ms: float
    p10_ms: float
    p90_ms: float
    runs: int
    threads: int

    def __str__(self) -> str:
        return (
            f"median {self.median_ms:.3f} ms (p10 {self.p10_ms:.3f}, p90 {self.p90_ms:.3f}) over {self.runs} runs on "
            f"{self.threads} thread(s)"
        )


class Partition:
    """Target of each operation, and reasons against the others: data, text, and a page in notebooks."""

    def __init__(self, parts: tuple[str, str, str, str, str]) -> None:
        text, self._table, self._explanation, self.html, self.placement = parts
        #: All that is known: regions, operations with verdicts and costs, edges.
        self.data: dict[str, Any] = json.loads(text)

    @property
    def operations(self) -> list[dict[str, Any]]:
        """An entry for each operation: its `target`, `pattern`, `region`, and `verdicts` of the devices."""
        operations: list[dict[str, Any]] = self.data["ops"]
        return operations

    def on(self, target: str) -> list[dict[str, Any]]:
        """The operations of a target."""
        return [operation for operation in self.operations if operation["target"] == target]

    def explain(self) -> str:
        """The reasons, operation by operation."""
        return self._explanation

    def __str__(self) -> str:
        return self._table

    def __repr__(self) -> str:
        counts: dict[str, int] = {}
        for operation in self.operations:
            counts[operation["target"]] = counts.get(operation["target"], 0) + 1
        parts = ", ".join(f"{count} on {target}" for target, count in counts.items())
        return f"<phaseline.Partition: {parts}>"

    def _repr_html_(self) -> str:
        return framed(self.html)


class Memory:
    """The memories of a network: arena, pools of the board, memories of devices."""

    def __init__(self, uses: list[dict[str, Any]], picture: str | None) -> None:
        #: An entry for each, with `values_bytes`, `constants_bytes`, `lower_bound` and `peak`.
        self.uses = uses
        self._picture = picture

    @property
    def arena_bytes(self) -> int:
        """The bytes that values take at once, in all memories."""
        return sum(use["values_bytes"] for use in self.uses)

    def plot(self, path: str | os.PathLike[str] | None = None) -> Picture:
        """The plan over time and address, as an SVG, which is written to `path` if that is given."""
        if self._picture is None:
            raise InvalidError(
                "the package has no picture of its plan of memory: compile it with plan_picture, "
                "`phaseline compile --plan-picture`"
            )
        picture = Picture(self._picture)
        if path is not None:
            picture.save(path)
        return picture

    def __str__(self) -> str:
        rows = [(use["name"], use["values_bytes"], use["constants_bytes"], use.get("peak", "")) for use in self.uses]
        return "\n".join(f"{name}: {values} bytes of values, {constants} of constants{', fullest at ' + peak if peak else ''}"
                         for name, values, constants, peak in rows)

    __repr__ = __str__


class Network:
    """A compiled network. Calls run it; threads may share it, and it runs without the GIL."""

    def __init__(
        self,
        executable: native.Executable,
        again: Callable[[bool], Any] | None = None,
        folder: tempfile.TemporaryDirectory[str] | None = None,
        path: Path | None = None,
    ) -> None:
        self._native = executable
        # Compiles the model again to be traced (True), or divides it (False).
        self._again = again
        # The package of an unpickled network.
        self._folder = folder
        self._path = path
        self._threads = 1
        self._partition: Partition | None = None
        self._traced: native.Executable | None = None
        self.inputs = tuple(Port(name, dtype, tuple(shape)) for name, dtype, shape in executable.inputs())
        self.outputs = tuple(Port(name, dtype, tuple(shape)) for name, dtype, shape in executable.outputs())

    @property
    def signature(self) -> dict[str, Any]:
        """All that is known of the interface, as a package's metadata has it."""
        signature: dict[str, Any] = json.loads(self._native.signature())
        return signature

    @property
    def name(self) -> str:
        """The name, which is the prefix of C symbols."""
        name: str = self.signature["name"]
        return name

    @property
    def sizes(self) -> dict[str, range]:
        """The sizes that a run gives, by name."""
        symbols = (self.signature.get("bounds") or {}).get("symbols", [])
        return {one["name"]: range(one["least"], one["most"] + 1, one.get("step", 1)) for one in symbols}

    @property
    def warnings(self) -> list[str]:
        """Warnings of the compile."""
        return self._native.warnings

    @property
    def threads(self) -> int:
        """The threads that kernels of the host run on. Results do not depend on it."""
        return self._threads

    @threads.setter
    def threads(self, count: int) -> None:
        self._native.set_threads(count)
        self._threads = count

    def __call__(self, *inputs: Any, **named: Any) -> Any:
        """Runs on inputs in order or by name; a name that is no identifier goes into a dictionary: `net({"input.1": x})`.

        An input is a numpy array, or anything with a buffer or `__dlpack__`. It is not copied if it is dense. One output is
        given as it is, several as `Outputs`: numpy arrays, or `Array`s where numpy is not installed.
        """
        values = [_arrays.shown(array) for array in self._native.run(self._ordered(inputs, named))]
        if len(values) == 1:
            return values[0]
        return Outputs(values, [port.name for port in self.outputs])

    def run(self, inputs: Mapping[str, Any] | Sequence[Any]) -> dict[str, native.Array]:
        """Runs on inputs by name or in order, and gives outputs by name, as `Array`s."""
        given = self._ordered((inputs,), {}) if isinstance(inputs, Mapping) else self._ordered(tuple(inputs), {})
        return dict(zip((port.name for port in self.outputs), self._native.run(given)))

    def _ordered(self, inputs: tuple[Any, ...], named: Mapping[str, Any]) -> list[Any]:
        if len(inputs) == 1 and isinstance(inputs[0], Mapping):
            named, inputs = {**inputs[0], **named}, ()
        names = [port.name for port in self.inputs]
        if len(inputs) > len(names):
            raise TypeError(f"the network takes {len(names)} inputs, and {len(inputs)} are given")
        by_name = dict(zip(names, inputs))
        for name, value in named.items():
            if name not in names:
                raise TypeError(f"the network has no input {name!r}; its inputs are {', '.join(names)}")
            if name in by_name:
                raise TypeError(f"input {name!r} is given twice")
            by_name[name] = value
        missing = [name for name in names if name not in by_name]
        if missing:
            raise TypeError(f"no value is given for input {', '.join(map(repr, missing))}")
        return [_arrays.given(by_name[port.name], port.dtype) for port in self.inputs]

    def save(self, folder: str | os.PathLike[str], *, force: bool = False) -> Path:
        """Writes a package: libraries, C header, metadata. `force` replaces one that was changed."""
        path = Path(folder)
        # The loader's native part has no packages to write.
        write = getattr(self._native, "save", None)
        if write is not None and write(path, force):
            return path
        if self._path is None:
            raise InvalidError("the network was not compiled here, and its package is not known: load it from its folder")
        import shutil

        if path.exists() and not force:
            raise InvalidError(f"{path} is there already: choose another folder, or add force=True", file=str(path))
        shutil.copytree(self._path, path, dirs_exist_ok=force)
        return path

    @property
    def partition(self) -> Partition:
        """Target of each operation, and reasons against the others."""
        if self._partition is None:
            self._partition = Partition(self._source("the partition")(False))
        return self._partition

    @property
    def memory(self) -> Memory:
        """The memories of the network, and the plan of them."""
        picture = self._native.picture
        if picture is None and self._path is not None and self._path.is_dir():
            file = self._path / f"{self.name}_plan.svg"
            picture = file.read_text(encoding="utf-8") if file.is_file() else None
        return Memory(json.loads(self._native.memories()), picture)

    def random_inputs(self, seed: int = 1) -> list[Any]:
        """Inputs from a seed, of the greatest sizes."""
        return [_arrays.shown(array) for array in self._native.random_inputs(seed)]

    def bench(self, *inputs: Any, seconds: float = 1.0, runs: int = 10, **named: Any) -> Bench:
        """Times of single runs, on random inputs if none are given."""
        given = self._ordered(inputs, named) if inputs or named else list(self._native.random_inputs(1))
        times = sorted(self._native.bench(given, seconds, runs))

        def at(share: float) -> float:
            return times[round((len(times) - 1) * share)] / 1e6

        return Bench(statistics.median(times) / 1e6, times[0] / 1e6, at(0.1), at(0.9), len(times), self._threads)

    def trace(self, path: str | os.PathLike[str] | None = None, *inputs: Any, **named: Any) -> dict[str, Any]:
        """Begin and end of each step of a run, in Chrome's trace format, which is written to `path` if that is given.

        A network that was compiled without `trace=True` is compiled again for it.
        """
        given = self._ordered(inputs, named) if inputs or named else list(self._native.random_inputs(1))
        executable = self._traced or self._native
        if not self.signature.get("operations") and self._traced is None:
            self._traced = executable = self._source("a trace")(True)
        text = executable.trace(given)
        if path is not None:
            Path(path).write_text(text, encoding="utf-8")
        trace: dict[str, Any] = json.loads(text)
        return trace

    def _source(self, what: str) -> Callable[[bool], Any]:
        if self._again is None:
            raise InvalidError(f"{what} needs the model, and a package has none: compile the model in this process")
        return self._again

    def __reduce__(self) -> tuple[Any, ...]:
        with tempfile.TemporaryDirectory(prefix="phaseline-") as folder:
            package = self.save(Path(folder) / "package")
            content = io.BytesIO()
            with zipfile.ZipFile(content, "w") as archive:
                for file in sorted(package.rglob("*")):
                    if file.is_file():
                        archive.write(file, file.relative_to(package))
        return _unpickled, (content.getvalue(), self._threads)

    def __repr__(self) -> str:
        def show(ports: Sequence[Port]) -> str:
            return ", ".join(f"{port.name}: {port.dtype}{list(port.shape)}" for port in ports)

        return f"<phaseline.Network {self.name}({show(self.inputs)}) -> {show(self.outputs)}>"


def _unpickled(content: bytes, threads: int) -> Network:
    folder = tempfile.TemporaryDirectory(prefix="phaseline-")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder.name)
    network = Network(native.load(folder.name), folder=folder, path=Path(folder.name))
    if threads > 1:
        network.threads = threads
    return network


def load(path: str | os.PathLike[str]) -> Network:
    """Loads a package: its folder, or the shared library in it. It runs code, so that it has to be as trusted as a program."""
    place = Path(path)
    return Network(native.load(place), path=place if place.is_dir() else place.parent)
