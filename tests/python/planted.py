"""Runs `phaseline check-target --mutate` over targets and the templates of `new-target`, and prints a table.

Run as: planted.py PHASELINE [--count N] [--samples N] [--seed N] [--only NAME,...] [--logs DIR]
                   [--limit SECONDS] [--least PERCENT]

Defects are planted in the C of each target, one at a time. The target's report (JSON) is in DIR, where
survivors have the lines before and after.
"""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
TARGETS = {
    "slab": ROOT / "tests/targets/slab",
    "vanilla": "vanilla",
    "gemm16": "gemm16",
    "vecdsp": "vecdsp",
}


# Options of a template's own test.
OPTIONS = {"template kernels": ["--pattern", "dense"]}


def templates():
    """The names of the templates."""
    folders = (ROOT / "src/cli/new_target").iterdir()
    return sorted(folder.name for folder in folders if (folder / "about.txt").exists())


def check(phaseline, target, options, more):
    """The report of a target, or what went wrong."""
    command = [phaseline, "check-target", target, f"--mutate={options.count}", "--json",
               "--samples", str(options.samples), "--seed", str(options.seed), *more]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=options.limit)
    except subprocess.TimeoutExpired:
        return None, f"not done after {options.limit} s"
    try:
        return json.loads(done.stdout)[0], ""
    except (json.JSONDecodeError, IndexError):
        lines = done.stderr.strip().splitlines()
        return None, lines[-1] if lines else f"exit code {done.returncode}"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phaseline")
    parser.add_argument("--count", type=int, default=60, help="defects in each target")
    parser.add_argument("--samples", type=int, default=6, help="graphs of each pattern")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="names of targets and templates, with commas")
    parser.add_argument("--logs", type=pathlib.Path, help="folder for the reports")
    parser.add_argument("--limit", type=float, default=7200, help="seconds for a target")
    parser.add_argument("--least", type=float, default=0.0, help="fail below this percentage")
    options = parser.parse_args()
    phaseline = str(pathlib.Path(options.phaseline).resolve())
    names = [f"template {name}" for name in templates()] + list(TARGETS)
    only = [name for name in options.only.split(",") if name]
    chosen = [name for name in names if not only or name.split()[-1] in only]
    if not chosen:
        sys.exit(f"none of {', '.join(names)} is called {options.only}")
    planted = found = failed = 0
    print(f"{'target':22} {'planted':>7} {'found':>6} {'survive':>8} {'seconds':>8}", flush=True)
    with tempfile.TemporaryDirectory() as work:
        for name in chosen:
            target = TARGETS.get(name)
            if target is None:
                kind = name.split()[-1]
                target = pathlib.Path(work) / f"t-{kind}"
                subprocess.run([phaseline, "new-target", target.name, target, "--template", kind],
                               check=True, capture_output=True)
            start = time.monotonic()
            report, wrong = check(phaseline, target, options, OPTIONS.get(name, []))
            seconds = time.monotonic() - start
            if report is None:
                failed += 1
                print(f"{name:22} {wrong}", flush=True)
                continue
            defects = report["defects"]
            lost = [defect for defect in defects if defect["fate"] != "found"]
            planted += len(defects)
            found += len(defects) - len(lost)
            print(f"{name:22} {len(defects):7} {len(defects) - len(lost):6} {len(lost):8} {seconds:8.0f}")
            for defect in lost:
                print(f"    {defect['fate']:9} {defect['file']}:{defect['line']} {defect['slip']}: "
                      f"{defect['new'].strip().splitlines()[0]}")
            sys.stdout.flush()
            if options.logs:
                options.logs.mkdir(parents=True, exist_ok=True)
                path = options.logs / f"{name.replace(' ', '-')}.json"
                path.write_text(json.dumps(report, indent=1))
    rate = 100.0 * found / max(planted, 1)
    print(f"{found} of {planted} defects found ({rate:.1f}%)")
    sys.exit(rate < options.least or failed > 0)


if __name__ == "__main__":
    main()
