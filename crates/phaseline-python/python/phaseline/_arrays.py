"""Arrays in and out, with numpy where it is installed."""

from __future__ import annotations

from typing import Any, Sequence

from . import _phaseline as native


def numpy() -> Any:
    """The module numpy; None where it is not installed."""
    try:
        import numpy
    except ImportError:
        return None
    return numpy


def given(value: Any, dtype: str) -> Any:
    """Argument for the native part: an object with a buffer or `__dlpack__`. Numbers and lists become arrays of `dtype`."""
    if isinstance(value, native.Array):
        return value
    np = numpy()
    if np is not None:
        if isinstance(value, (bool, int, float, list, tuple, np.generic)):
            return np.asarray(value, dtype=None if dtype == "bfloat16" else dtype)
        # A buffer has no letter for bfloat16: its bits go instead.
        if isinstance(value, np.ndarray) and value.dtype.name == "bfloat16" and dtype == "bfloat16":
            return value.view(np.uint16)
    return value


def shown(array: native.Array) -> Any:
    """A numpy array over the same memory; the array itself without numpy."""
    np = numpy()
    if np is None:
        return array
    values = np.asarray(array)
    if array.dtype == "bfloat16":
        try:
            import ml_dtypes
        except ImportError:
            return array
        return values.view(ml_dtypes.bfloat16)
    return values


class Outputs(tuple[Any, ...]):
    """Outputs of a run, in order and by name."""

    names: tuple[str, ...]

    def __new__(cls, values: Sequence[Any], names: Sequence[str]) -> Outputs:
        made = super().__new__(cls, values)
        made.names = tuple(names)
        return made

    def __getnewargs__(self) -> tuple[Any, ...]:
        return tuple(self), self.names

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            if key not in self.names:
                raise KeyError(f"there is no output {key!r}; the outputs are {', '.join(self.names)}")
            key = self.names.index(key)
        return super().__getitem__(key)

    def as_dict(self) -> dict[str, Any]:
        """The outputs by name."""
        return dict(zip(self.names, self))
