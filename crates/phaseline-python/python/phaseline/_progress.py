"""Progress of a compile: a line in a terminal, a text in a notebook."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any, Callable

Progress = bool | Callable[[str], object] | None


class Shown:
    """Shows steps where somebody sees them, until it ends."""

    def __init__(self, wanted: Progress) -> None:
        self.begin = time.monotonic()
        self.display: Any = None
        self.width = 0
        self.call: Callable[[str], object] | None = None
        if callable(wanted):
            self.call = wanted
        elif wanted is not False and (display := _notebook()):
            self.display = display("", display_id=True)
            self.call = self._notebook
        elif wanted or (wanted is None and sys.stderr is not None and sys.stderr.isatty()):
            self.call = self._terminal

    def _text(self, step: str) -> str:
        return f"{time.monotonic() - self.begin:5.1f} s  {step}"

    def _terminal(self, step: str) -> None:
        text = self._text(step)
        sys.stderr.write("\r" + text.ljust(self.width))
        sys.stderr.flush()
        self.width = len(text)

    def _notebook(self, step: str) -> None:
        self.display.update(_Text(self._text(step)))

    def __enter__(self) -> Callable[[str], object] | None:
        return self.call

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self.width:
            sys.stderr.write("\r" + " " * self.width + "\r")
            sys.stderr.flush()
        if self.display is not None and self.call is not None:
            self.display.update(_Text(""))


class _Text:
    """A text that a notebook shows as it is."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


def _notebook() -> Any:
    """The function of IPython that displays, in a notebook."""
    shell = sys.modules.get("IPython")
    if shell is None:
        return None
    current = shell.get_ipython()
    if current is None or not hasattr(current, "kernel"):
        return None
    from importlib import import_module

    return import_module("IPython.display").display
