"""Phaseline: compiles neural networks for combinations of accelerators, kernel libraries and CPUs.

    import phaseline as pl

    net = pl.compile("net.onnx", targets="vanilla, llvm", shapes={"batch": (1, 32)})
    y = net(x)
    print(net.partition)
    net.save("out")
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _phaseline
from ._arrays import Outputs
from ._errors import Error, FileError, InternalError, InvalidError, IRError, ToolError, UnsupportedError
from ._network import Bench, Memory, Network, Partition, Port, load
from ._phaseline import Array, __version__
from ._pictures import Picture

__all__ = [
    "Array", "Bench", "Error", "FileError", "IRError", "InternalError", "InvalidError", "Memory", "Network", "Outputs",
    "Partition", "Picture", "Port", "ToolError", "UnsupportedError", "__version__", "load",
]

if TYPE_CHECKING or hasattr(_phaseline, "compile"):
    from ._compiler import Module, compile, emit, parse, partition
    from ._targets import Target, register_pass, target

    __all__ += ["Module", "Target", "compile", "emit", "parse", "partition", "register_pass", "target"]


def __getattr__(name: str) -> Any:
    if name == "hook" and hasattr(_phaseline, "HOOK_SOURCE"):
        from ._targets import hook_module

        return hook_module()
    if name in ("compile", "partition", "emit", "parse", "target", "register_pass", "Module", "Target"):
        raise AttributeError(f"phaseline.{name} needs the compiler, and this is phaseline-loader: install the wheel phaseline")
    raise AttributeError(f"module 'phaseline' has no attribute {name!r}")
