"""Pictures and pages, shown by notebooks and saved to files."""

from __future__ import annotations

import html
import os
from pathlib import Path


class Picture:
    """An SVG. Notebooks show it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it to a file."""
        Path(path).write_text(self.svg, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"<phaseline.Picture of {len(self.svg)} bytes; save(path) writes it>"


def framed(page: str, height: int = 600) -> str:
    """A page inside of another one, with its styles and scripts for itself."""
    return (
        f'<iframe srcdoc="{html.escape(page, quote=True)}" style="width: 100%; height: {height}px; border: 0" '
        'sandbox="allow-scripts"></iframe>'
    )
