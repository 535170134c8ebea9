"""Checks wheels: their sizes, and that they run in an environment of their own: wheels.py FOLDER"""

import subprocess
import sys
import tempfile
from pathlib import Path

MOST = {"phaseline-": 90_000_000, "phaseline_loader-": 3_000_000}
COMPILES = """
import numpy as np, phaseline as pl
net = pl.compile(b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\\n  %0 = graph.relu %x : tensor<4xf32>\\n  return %0 : tensor<4xf32>\\n}")
assert net(np.array([-1, 2, -3, 4], np.float32)).tolist() == [0, 2, 0, 4]
print(net.partition); net.memory.plot("plan.svg"); net.save("package")
"""
LOADS = """
import numpy as np, phaseline as pl
net = pl.load("package")
assert net(np.array([-1, 2, -3, 4], np.float32)).tolist() == [0, 2, 0, 4]
try:
    pl.compile
except AttributeError as error:
    assert "install the wheel phaseline" in str(error)
else:
    raise SystemExit("the loader compiles")
"""


def main(folder):
    with tempfile.TemporaryDirectory() as work:
        for prefix, text in (("phaseline-", COMPILES), ("phaseline_loader-", LOADS)):
            (wheel,) = Path(folder).resolve().glob(f"{prefix}*.whl")
            size = wheel.stat().st_size
            print(f"{wheel.name}: {size / 1e6:.1f} MB")
            if size > MOST[prefix]:
                raise SystemExit(f"{wheel.name} has {size} bytes, more than {MOST[prefix]}")
            venv = Path(work) / prefix
            subprocess.run([sys.executable, "-m", "venv", venv], check=True)
            pip = [venv / "bin" / "python", "-m", "pip", "install", "-q", "--disable-pip-version-check", wheel, "numpy"]
            subprocess.run(pip, check=True)
            subprocess.run([venv / "bin" / "python", "-c", text], check=True, cwd=work)


if __name__ == "__main__":
    main(sys.argv[1])
