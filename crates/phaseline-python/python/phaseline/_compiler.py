"""Compiles of models, and modules of IR."""

from __future__ import annotations

import os
import weakref
from collections.abc import Iterable, Mapping
from typing import Any

from . import _arguments, _phaseline as native, _targets
from ._network import Network, Partition
from ._progress import Progress, Shown
from ._targets import Target

Targets = str | Target | Iterable[str | Target]


def compile(
    model: Any,
    targets: Targets = "llvm",
    shapes: Mapping[str, Any] | None = None,
    *,
    values: Mapping[str, Any] | None = None,
    passes: Mapping[str, str] | None = None,
    threads: int = 1,
    progress: Progress = None,
    **options: Any,
) -> Network:
    """Compiles a model, and loads it into this process.

    `model` is a path, the bytes of a model, an `onnx.ModelProto` or a `Module`. `shapes` gives open sizes by name: a number,
    a range as `(1, 32)` or `range(32, 1025, 32)`, or the shape of an input as a list. `values` makes inputs constants.
    `passes` adds passes at the end of phases. Other options are those of `phaseline compile`, with `_` for `-`:
    `placement_search=True`, `arena_limit="256k"`, `pools="board.toml"`, `bind={"x": "npu"}`.
    """
    spec = _targets.spec(targets)
    files = _arguments.Files()
    arguments = _arguments.arguments(model, spec, shapes, values, passes, options, files)
    with Shown(progress) as call:
        executable = native.compile(arguments, _targets.known(), call)

    def again(trace: bool) -> Any:
        if trace:
            return native.compile(["--trace", *arguments], _targets.known(), None)
        return native.partition(arguments, _targets.known())

    network = Network(executable, again)
    # Models that were given as bytes stay as long as the network, which may be compiled again.
    weakref.finalize(network, files.close)
    if threads > 1:
        network.threads = threads
    return network


def partition(
    model: Any,
    targets: Targets = "llvm",
    shapes: Mapping[str, Any] | None = None,
    *,
    values: Mapping[str, Any] | None = None,
    passes: Mapping[str, str] | None = None,
    **options: Any,
) -> Partition:
    """Divides a model between targets, without compiling it. The options are those of `compile`."""
    files = _arguments.Files()
    try:
        arguments = _arguments.arguments(model, _targets.spec(targets), shapes, values, passes, options, files)
        return Partition(native.partition(arguments, _targets.known()))
    finally:
        files.close()


def emit(
    model: Any,
    phase: str,
    targets: Targets = "llvm",
    shapes: Mapping[str, Any] | None = None,
    *,
    values: Mapping[str, Any] | None = None,
    passes: Mapping[str, str] | None = None,
    **options: Any,
) -> str:
    """The IR of a model after a phase, as text. The options are those of `compile`."""
    files = _arguments.Files()
    try:
        arguments = _arguments.arguments(model, _targets.spec(targets), shapes, values, passes, options, files)
        return native.emit(arguments, _targets.known(), phase)
    finally:
        files.close()


class Module:
    """A module of IR, with a session of its own: pipelines change it, `str` prints it."""

    def __init__(self, text: str | bytes, name: str = "module.mlir") -> None:
        content = text.encode() if isinstance(text, str) else bytes(text)
        self._native = native.Module(content, name, _targets.known())

    def run(self, pipeline: str) -> list[str]:
        """Runs a pipeline, such as `builtin.module(canonicalize, cse)`. Gives warnings and remarks of its passes.

        A pass that fails is an exception, and the module is as the pass before left it.
        """
        return self._native.run(pipeline)

    @property
    def text(self) -> str:
        """The IR, with all weights and locations."""
        return self._native.text()

    def __str__(self) -> str:
        return str(self._native)

    def __reduce__(self) -> tuple[Any, ...]:
        return Module, (self.text,)


def parse(text: str | bytes | os.PathLike[str], name: str | None = None) -> Module:
    """Parses IR: text or bytes, or the file of a path."""
    if isinstance(text, os.PathLike):
        with open(text, "rb") as file:
            return Module(file.read(), name or os.fspath(text))
    return Module(text, name or "module.mlir")
