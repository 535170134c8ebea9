"""Arena and bound of each network for several targets, as docs/guides/memory.md has them.

    memory_table.py COMPILER FOLDER [--models REGEX] [--targets SPEC]... [--at-most RATIO] [--results FILE.csv]

FOLDER has the models, NAME.onnx or NAME/model.onnx. The bound is that of the whole program, which no plan
can be below. With --at-most it fails if an arena is more than so much of its bound. --results appends
to the file that docs/generate.sh makes the page's table of.
"""

import argparse
import csv
import datetime
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
    parser.add_argument("--at-most", type=float)
    parser.add_argument("--results", type=Path)
    arguments = parser.parse_args()
    targets = arguments.targets or TARGETS
    print("| network |", " | ".join(f"`{target}`" for target in targets), "|")
    print("|---|" + "---:|" * len(targets))
    worst, results = 0.0, []
    models = {model.stem: model for model in arguments.folder.glob("*.onnx")}
    models.update((model.parent.name, model) for model in arguments.folder.glob("*/model.onnx"))
    for name, model in sorted(models.items()):
        if not re.search(arguments.models, name):
            continue
        row = []
        for target in targets:
            arena, bound = cell(arguments.compiler, model, target)
            ratio = arena / max(bound, 1)
            worst = max(worst, ratio)
            row.append(f"{arena:,} ({ratio:.3f})")
            results.append([datetime.date.today().isoformat(), name, target, arena, f"{ratio:.3f}"])
        print(f"| {name} |", " | ".join(row), "|", flush=True)
    print(f"\nworst: {worst:.3f}")
    if arguments.results:
        with open(arguments.results, "a", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n").writerows(results)
    if arguments.at_most and worst > arguments.at_most:
        sys.exit(f"an arena is {worst:.3f} of its bound; at most {arguments.at_most} is allowed")


if __name__ == "__main__":
    main()
