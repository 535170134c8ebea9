"""Options of a compile as arguments of the program, which reads and checks them."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import _arrays

#: Options of the program that are functions here.
_ELSEWHERE = {
    "output": "net.save(folder)",
    "force": "net.save(folder, force=True)",
    "emit": "phaseline.emit(model, phase)",
    "print_pipeline": "`phaseline compile --print-pipeline`",
    "report": "net.signature and net.memory",
    "plan_picture": "net.memory.plot()",
    "target": "targets=",
    "shape": "shapes=",
    "value": "values=",
    "pass": "passes=",
    "log": "the environment variable PHASELINE_LOG",
}


class Files:
    """A folder for models and values that are given as bytes."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="phaseline-")
        self.count = 0

    def write(self, name: str, content: bytes) -> str:
        self.count += 1
        path = Path(self._folder.name) / str(self.count) / name
        path.parent.mkdir()
        path.write_bytes(content)
        return str(path)

    def close(self) -> None:
        self._folder.cleanup()


def model(given: Any, files: Files) -> str:
    """The path of a model: a path, bytes, an object of the package `onnx`, or IR."""
    if isinstance(given, (str, os.PathLike)):
        return os.fspath(given)
    if isinstance(given, (bytes, bytearray, memoryview)):
        content = bytes(given)
    elif hasattr(given, "SerializeToString"):
        content = given.SerializeToString()
    elif hasattr(given, "text") and hasattr(given, "run"):
        return files.write("model.mlir", given.text.encode())
    else:
        raise TypeError(
            f"a model is a path, bytes, an onnx.ModelProto or a phaseline.Module, and this is a {type(given).__name__}"
        )
    return files.write(f"model.{_ending(content)}", content)


def _ending(content: bytes) -> str:
    if content[4:8] == b"TFL3":
        return "tflite"
    if content[:4] == b"ML\xefR":
        return "mlirbc"
    start = content[:4096].lstrip()
    is_text = start.startswith((b"module", b"func.func", b"//", b"#", b"!", b'"builtin')) and b"\0" not in start
    return "mlir" if is_text else "onnx"


def size(value: Any) -> str:
    """A size or a range of sizes: 4, (1, 32), range(32, 1025, 32), or the shape of an input: [1, 3, None, None]."""
    if isinstance(value, str):
        return value
    if isinstance(value, range):
        if len(value) == 0:
            raise ValueError(f"{value} has no sizes")
        step = f" step {value.step}" if len(value) > 1 and value.step != 1 else ""
        return f"{value[0]}..{value[-1]}{step}"
    if isinstance(value, tuple) and len(value) == 2 and all(isinstance(part, int) for part in value):
        return f"{value[0]}..{value[1]}"
    if isinstance(value, (list, tuple)):
        return "x".join("?" if dim is None else str(dim) for dim in value)
    return str(value)


def _value(name: str, value: Any, files: Files) -> str:
    if isinstance(value, (str, bool, int, float)):
        return f"{name}={str(value).lower() if isinstance(value, bool) else value}"
    if isinstance(value, (list, tuple)):
        return f"{name}={list(value)}".replace("(", "[").replace(")", "]").replace(" ", "")
    np = _arrays.numpy()
    if np is None:
        raise TypeError(f"the value of input {name!r} is a {type(value).__name__}: give numbers or lists, or install numpy")
    import io

    content = io.BytesIO()
    np.save(content, np.from_dlpack(value) if not isinstance(value, np.ndarray) else value)
    return f"{name}=@{files.write('value.npy', content.getvalue())}"


def _option(name: str, value: Any) -> list[str]:
    if name in _ELSEWHERE:
        raise TypeError(f"{name} is {_ELSEWHERE[name]} in Python")
    flag = "--" + name.replace("_", "-")
    if value is None or value is False:
        return []
    if value is True:
        return [flag]
    if isinstance(value, Mapping):
        return [f"{flag}={key}={size(one)}" for key, one in value.items()]
    if isinstance(value, (list, tuple)):
        return [f"{flag}={os.fspath(one) if isinstance(one, os.PathLike) else one}" for one in value]
    return [f"{flag}={os.fspath(value) if isinstance(value, os.PathLike) else value}"]


def arguments(
    given: Any,
    spec: str,
    shapes: Mapping[str, Any] | None,
    values: Mapping[str, Any] | None,
    passes: Mapping[str, str] | None,
    options: Mapping[str, Any],
    files: Files,
) -> list[str]:
    """The arguments of `phaseline compile`, without its name."""
    made = [f"--target={spec}"]
    made += [f"--shape={name}={size(value)}" for name, value in (shapes or {}).items()]
    made += ["--value=" + _value(name, value, files) for name, value in (values or {}).items()]
    made += [f"--pass={phase}={text}" for phase, text in (passes or {}).items()]
    for name, value in options.items():
        made += _option(name, value)
    return made + ["--", model(given, files)]
