"""Targets with hooks in Python, and passes in Python."""

from __future__ import annotations

import json
import os
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from . import _phaseline as native

_HOOK = "phaseline.hook"


def hook_module() -> types.ModuleType:
    """The module `phaseline.hook`, which programs know as `phaseline_hook`: Question, Region, Array, decline, fail."""
    known = sys.modules.get(_HOOK)
    if known is None:
        known = types.ModuleType(_HOOK, "What hooks in Python use; see docs/reference/hooks.md.")
        exec(compile(native.HOOK_SOURCE, "phaseline_hook.py", "exec"), known.__dict__)
        sys.modules[_HOOK] = known
    return known


class Target:
    """A target of a manifest, with hooks in Python: give it to `compile` among the targets, or name it in a spec."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._native = native.Target(path)
        self.name: str = self._native.name

    def hook(
        self, point: str, *, together: bool = False, module: bool = False, dry_run: bool = False
    ) -> Callable[[Callable[[Any], object]], Callable[[Any], object]]:
        """Has a function answer a hook: graph-to-runtime, graph-to-tir, constant-updater or tir-to-runtime.

        It is given a `phaseline.hook.Question`, the same as programs of protocol 2, in this process. It answers by the
        question's methods, declines by `phaseline.hook.decline(reason)`, and ends the compile by an exception.
        """

        def add(function: Callable[[Any], object]) -> Callable[[Any], object]:
            hook = hook_module()

            def serve(line: str) -> str:
                question = hook.Question(json.loads(line))
                try:
                    function(question)
                    reply = question.reply
                except hook.Declined as reason:
                    reply = {"id": question.id, "declines": str(reason)}
                except hook.Failure as message:
                    reply = {"id": question.id, "error": str(message)}
                return json.dumps(reply)

            self._native.serve(point, serve, (together, module, dry_run))
            return function

        return add

    def __repr__(self) -> str:
        return f"<phaseline.Target {self.name!r}>"


#: Targets by name, which specs may name.
_TARGETS: dict[str, Target] = {}


def target(path: str | os.PathLike[str]) -> Target:
    """Reads a target from its folder or its `target.toml`. Specs may name it from now on."""
    made = Target(path)
    _TARGETS[made.name] = made
    return made


def spec(targets: str | Target | Iterable[str | Target]) -> str:
    """The spec of targets: text as it is, or a list with texts and targets."""
    if isinstance(targets, str):
        return targets
    parts = [targets] if isinstance(targets, Target) else list(targets)
    for part in parts:
        if isinstance(part, Target):
            _TARGETS.setdefault(part.name, part)
    return ", ".join(part.name if isinstance(part, Target) else part for part in parts)


def known() -> list[native.Target]:
    """The targets of this process."""
    return [made._native for made in _TARGETS.values()]


Pass = Callable[[str], str | None]


def register_pass(name: str, summary: str = "") -> Callable[[Pass], Pass]:
    """Registers a pass on `builtin.module`: a function of its text, which gives the new text, or None for no change.

    Pipelines name it like any other: `m.run("builtin.module(my-pass)")`, `compile(..., passes={"pre-partition": "my-pass"})`.
    """

    def add(function: Pass) -> Pass:
        native.register_pass(name, summary or (function.__doc__ or "A pass in Python").splitlines()[0], function)
        return function

    return add


