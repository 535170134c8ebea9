"""The table of docs/performance.md on memory: arena and bound of each network for several targets.

    memory_table.py COMPILER FOLDER [--models REGEX] [--targets SPEC]...

FOLDER has the models, NAME.onnx. The bound is that of the whole program, which no plan can be below.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TARGETS = ["llvm", "c", "vanilla, llvm", "npu, cmsis-nn, c", "cmsis-nn, c"]


def cell(compiler, model, target):
    """Arena and bound in bytes."""
    with tempfile.TemporaryDirectory() as folder:
        command = [compiler, "compile", str(model), "-t", target, "-o", f"{folder}/out"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{model}, {target}: {done.stderr}")
        signature = json.loads(Path(folder, "out", "metadata.json").read_text())["signature"]
    return signature["arena_bytes"], signature["arena_lower_bound"]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("compiler")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--models", default="")
    parser.add_argument("--targets", action="append")
    arguments = parser.parse_args()
    targets = arguments.targets or TARGETS
    print("| network |", " | ".join(f"`{target}`" for target in targets), "|")
    print("|---|" + "---:|" * len(targets))
    worst = 0.0
    for model in sorted(arguments.folder.glob("*.onnx")):
        if not re.search(arguments.models, model.stem):
            continue
        row = []
        for target in targets:
            arena, bound = cell(arguments.compiler, model, target)
            ratio = arena / max(bound, 1)
            worst = max(worst, ratio)
            row.append(f"{arena:,} ({ratio:.3f})")
        print(f"| {model.stem} |", " | ".join(row), "|", flush=True)
    print(f"\nworst: {worst:.3f}")


if __name__ == "__main__":
    main()
