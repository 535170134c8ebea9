"""Errors of Phaseline as exceptions with fields."""

from __future__ import annotations

import re
from typing import Any, Self

# `file:line: message`, and with a column.
_PLACE = re.compile(r"^(?P<file>[^\s:][^:\n]*):(?P<line>\d+)(?::(?P<column>\d+))?:\s*(?P<rest>.*)$", re.DOTALL)
# The file that the system refuses, with its reason at the end.
_REFUSED = re.compile(r"^cannot [a-z ]+? (?P<file>[^\s:][^:\n]*): .*\(os error \d+\)$")
# The verbs that a remedy begins with.
_VERBS = (
    "add allow ask build change check choose compile convert copy declare decline delete divide fix free give go "
    "install keep leave load look make mark move name pass put read remove rename repeat replace report run say set "
    "shorten split start state take try use wait write"
).split()
_REMEDY = re.compile(rf"(?:; |: |, or )(?P<remedy>(?:to \w+ \w+, )?(?:if [^:;]*, )?(?:{'|'.join(_VERBS)})\b.*)$", re.DOTALL)


class Error(Exception):
    """A failure with its cause, place and remedy."""

    #: io, diagnostics, invalid, unsupported, tool or internal.
    kind: str
    #: The whole text.
    message: str
    #: The file that is at fault, or the program that failed; None if it is none.
    file: str | None
    #: Its line; None if it is not known.
    line: int | None
    #: Its column; None if it is not known.
    column: int | None
    #: The end of the message that says what to do; None if it has none.
    remedy: str | None

    def __init__(self, message: str, kind: str = "invalid", file: str | None = None) -> None:
        super().__init__(message)
        self.kind, self.message, self.file = kind, message, file
        self.line = self.column = None
        first = message.splitlines()[0] if message else ""
        if place := _PLACE.match(first):
            self.file = place["file"]
            self.line = int(place["line"])
            self.column = int(place["column"]) if place["column"] else None
        remedy = _REMEDY.search(message)
        self.remedy = remedy["remedy"].strip() if remedy else None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.message, self.kind, self.file)

    @classmethod
    def of(cls, message: str, kind: str, file: str | None) -> Self:
        return cls(message, kind, file)


class FileError(Error, OSError):
    """A file cannot be read or written."""


class InvalidError(Error, ValueError):
    """A model, option, manifest or input is not acceptable."""


class IRError(Error):
    """IR is not valid, or a pass fails: the message has all diagnostics, one a line."""


class UnsupportedError(Error, NotImplementedError):
    """Phaseline does not do this."""


class ToolError(Error, RuntimeError):
    """A program that was called, such as the C compiler, failed; `file` is its name."""


class InternalError(Error, RuntimeError):
    """A fault of Phaseline."""


_KINDS: dict[str, type[Error]] = {
    "io": FileError,
    "invalid": InvalidError,
    "diagnostics": IRError,
    "unsupported": UnsupportedError,
    "tool": ToolError,
}


def made(kind: str, message: str, file: str | None) -> Error:
    """The exception of an error of the native part."""
    if refused := _REFUSED.match(message):
        kind, file = "io", refused["file"]
    return _KINDS.get(kind, InternalError).of(message, kind, file)
