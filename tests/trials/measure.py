#!/usr/bin/env python3
"""Which share of the defects of defects.json does `phaseline check-target` find?

    measure.py PHASELINE --set A [--device NAME] [--arguments '...'] [--limit 300] [--state FILE] [--ids a,b]

First the undamaged devices (with four times the limit), which have to pass; then each defect: a copy of its device with the edit, one run of
check-target. Exit code not 0 is found, also a crash of the program itself; 0 and a run beyond the limit are missed.
A run that was interrupted goes on where it was (state.json; keyed by the binary's time and size, and the arguments).
"""
import argparse
import collections
import hashlib
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent


def check(phaseline, folder, arguments, limit):
    """Exit code (None beyond the limit), what it said, CPU and wall seconds."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.time()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen([phaseline, "check-target", str(folder), *arguments], stdout=said, stderr=subprocess.STDOUT,
                                   start_new_session=True)
        try:
            code = process.wait(limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            code = None
        said.seek(0)
        text = said.read()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return code, text, cpu, time.time() - start


def finding(text):
    """The pattern and first line of the first finding."""
    pattern = ""
    for line in text.splitlines():
        if line.startswith("  error:") or line.startswith("error:"):
            return f"{pattern}: {line.strip()}"[:260]
        if line and not line[0].isspace() and ":" in line:
            pattern = line.split(":")[0]
    return text.strip().splitlines()[-1][:260] if text.strip() else "nothing was said"


def copy(device, folder):
    target = Path(folder) / device
    shutil.copytree(HERE / device, target)
    return target


def table(title, rows):
    print(f"\n{title:<24} {'found':>6} {'of':>4}  share")
    for name, entries in sorted(rows.items()):
        found = sum(entry["found"] for entry in entries)
        print(f"{name:<24} {found:>6} {len(entries):>4}  {100 * found / len(entries):5.1f} %")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("phaseline")
    parser.add_argument("--set", choices=["A", "B", "all"], required=True)
    parser.add_argument("--device")
    parser.add_argument("--ids", help="these defects only, separated by commas")
    parser.add_argument("--arguments", default="", help="more arguments of check-target")
    parser.add_argument("--limit", type=float, default=300, help="seconds of a run")
    parser.add_argument("--state", default=str(HERE / "state.json"))
    options = parser.parse_args()
    phaseline, arguments = str(Path(options.phaseline).resolve()), shlex.split(options.arguments)
    defects = [d for d in json.loads((HERE / "defects.json").read_text())
               if options.set in (d["set"], "all") and options.device in (None, d["device"])
               and (not options.ids or d["id"] in options.ids.split(","))]
    binary = os.stat(phaseline)
    run = f"{binary.st_size}-{binary.st_mtime_ns}|{options.arguments}|{options.limit:g}"
    path = Path(options.state)
    state = json.loads(path.read_text()) if path.exists() else {}
    results = state.setdefault(run, {})

    def remember(key, mark, entry):
        results[key] = {"mark": mark, **entry}
        path.with_suffix(".new").write_text(json.dumps(state, indent=1) + "\n")
        path.with_suffix(".new").replace(path)

    def mark(device, defect=None):
        """Changes when the device or the defect does."""
        digest = hashlib.sha256()
        for file in sorted((HERE / device).rglob("*")):
            if file.is_file():
                digest.update(file.name.encode() + file.read_bytes())
        digest.update(json.dumps([defect[k] for k in ("file", "from", "to")] if defect else None).encode())
        return digest.hexdigest()[:16]

    sound = True
    for device in sorted({d["device"] for d in defects}):
        if results.get(device, {}).get("mark") != mark(device):
            with tempfile.TemporaryDirectory() as folder:
                code, text, cpu, wall = check(phaseline, copy(device, folder), arguments, 4 * options.limit)
            remember(device, mark(device), {"code": code, "line": finding(text) if code else "", "cpu": cpu, "wall": wall})
        entry = results[device]
        print(f"{device}: undamaged {'passes' if entry['code'] == 0 else 'FAILS: ' + str(entry['line'] or 'time limit')}, {entry['cpu']:.0f} s CPU",
              flush=True)
        sound &= entry["code"] == 0
    if not sound:
        sys.exit("an undamaged device does not pass, so nothing is measured")
    entries = []
    for defect in defects:
        key = defect["id"]
        if results.get(key, {}).get("mark") != mark(defect["device"], defect):
            with tempfile.TemporaryDirectory() as folder:
                target = copy(defect["device"], folder)
                file = target / defect["file"]
                text = file.read_text()
                if text.count(defect["from"]) != 1:
                    sys.exit(f"{key}: what it replaces occurs {text.count(defect['from'])} times in {defect['file']}")
                file.write_text(text.replace(defect["from"], defect["to"]))
                code, said, cpu, wall = check(phaseline, target, arguments, options.limit)
            line = "time limit" if code is None else finding(said) if code else ""
            remember(key, mark(defect["device"], defect),
                     {"code": code, "found": code not in (0, None), "line": line, "cpu": cpu, "wall": wall})
        entry = results[key]
        entries.append({**defect, **entry})
        print(f"{key} [{defect['class']}] {'found ' if entry['found'] else 'MISSED'} {entry['wall']:5.0f} s  "
              f"{entry['line'] if entry['found'] else (entry['line'] + ' ' + defect['why']).strip()}", flush=True)
    for title, key in (("device", "device"), ("class", "class")):
        rows = collections.defaultdict(list)
        for entry in entries:
            rows[entry[key]].append(entry)
        table(title, rows)
    table("set " + options.set, {"all": entries})
    print(f"\n{sum(entry['cpu'] for entry in entries):.0f} s of CPU for {len(entries)} defects, "
          f"{sum(results[d]['cpu'] for d in {e['device'] for e in entries}):.0f} s for the undamaged devices")


if __name__ == "__main__":
    main()
