"""`python -m phaseline` is the program `phaseline`."""

from __future__ import annotations

import signal
import sys

from . import _phaseline


def main() -> int:
    """Runs the program on the arguments of this process."""
    if not hasattr(_phaseline, "main"):
        print("error: phaseline-loader has no program: install the wheel phaseline", file=sys.stderr)
        return 1
    # Signals end the program, and what it has started, as they do without an interpreter.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _phaseline.main(["phaseline", *sys.argv[1:]], [sys.executable, "-m", "phaseline"])


if __name__ == "__main__":
    sys.exit(main())
