"""Runs commands into a pipe that nobody reads: they end without a word."""

import os
import subprocess

for command in [
    "phaseline --help",
    "phaseline compile --help",
    "phaseline --version",
    "phaseline targets",
    "phaseline targets --json",
    "phaseline partition net.mlir --json",
    "phaseline compile net.mlir --emit=lower",
    "phaseline run net.mlir --random-inputs 1",
    "phaseline-opt --help",
    "phaseline-opt --version",
    "phaseline-opt net.mlir",
]:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(command.split(), stdout=writer, stderr=subprocess.PIPE, check=False)
    os.close(writer)
    # LLVM's tools end by the signal, as they do anywhere.
    assert done.returncode in ((0,) if "phaseline " in command else (0, -13)), (command, done)
    assert done.stderr == b"", (command, done)
