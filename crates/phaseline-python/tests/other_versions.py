"""Runs a network with every other CPython that is installed: other_versions.py FOLDER-OF-THE-PACKAGE

The native part has the stable ABI, so that one library is for all of them. numpy is not needed.
"""

import os
import shutil
import subprocess
import sys

TEXT = """
import array, phaseline as pl
net = pl.compile(b"func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\\n  %0 = graph.relu %x : tensor<4xf32>\\n  return %0 : tensor<4xf32>\\n}")
y = net.run([array.array("f", [-1, 2, -3, 4])])["output_0"]
assert memoryview(y).tolist() == [0, 2, 0, 4], memoryview(y).tolist()
"""


def main(folder):
    found = 0
    for minor in range(12, 20):
        interpreter = shutil.which(f"python3.{minor}")
        # A name may stand for a version that is not there.
        if interpreter is None or subprocess.run([interpreter, "-c", ""], capture_output=True).returncode:
            continue
        found += 1
        env = os.environ | {"PYTHONPATH": os.path.abspath(folder)}
        subprocess.run([interpreter, "-S", "-c", TEXT], check=True, env=env)
        print(f"python3.{minor}: runs")
    if not found:
        print("no CPython beyond 3.11 is installed: left out")


if __name__ == "__main__":
    main(sys.argv[1])
