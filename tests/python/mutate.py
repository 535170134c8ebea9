"""Plants defects in targets and counts those that `phaseline check-target` finds.

Run as: mutate.py PHASELINE [--sample N] [--only TEXT] [--jobs N] [--least PERCENT]
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import mutants

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Seconds after which a check is taken to hang.
LIMIT = 600
SOURCES = {
    "toy": [ROOT / "tests/targets/toy"],
    "slab": [ROOT / "tests/targets/slab"],
    "far": [ROOT / "tests/targets/far"],
    "kit": [ROOT / "tests/targets/kit"],
    "vanilla": [ROOT / "targets/vanilla"],
    "npu": [ROOT / "targets/npu"],
    "dnnl": [ROOT / "targets/dnnl"],
    "openblas": [ROOT / "targets/openblas"],
}
# Text of the C that every slip is tried in.
FUNCTIONS = [
    ("toy", "conv2d", "toy.c", "int toy_conv2d("),
    ("toy", "dense", "toy.c", "void toy_dense("),
    ("slab", "product", "slab.c", "int slab_multiply("),
    ("kit", "max_pool", "kit.c", "void kit_max_pool("),
    ("kit", "transpose", "kit.c", "void kit_transpose("),
    ("kit", "split", "kit.c", "void kit_split("),
    ("kit", "top_k", "kit.c", "void kit_top_k("),
]
CONDITIONS = [("toy", ["conv2d", "dense"]), ("kit", ["softmax", "concat", "layer_norm"]),
              ("openblas", ["batch_matmul"])]


def copy_target(name, folder, phaseline):
    """A copy of a target, under a name of its own."""
    if name == "template":
        subprocess.run([phaseline, "new-target", "mine", folder], check=True, capture_output=True)
        return
    folder.mkdir()
    for source in SOURCES[name]:
        for file in source.iterdir():
            if file.is_file():
                shutil.copy(file, folder / file.name)
    manifest = folder / "target.toml"
    text = manifest.read_text()
    manifest.write_text(text.replace(f'name = "{name}"\nrole', 'name = "mine"\nrole'))


def apply(mutant, folder):
    path = folder / mutant.file
    text = path.read_text()
    start = text.find(mutant.scope)
    place = start - 1
    for _ in range(mutant.nth + 1):
        place = text.find(mutant.old, place + 1)
        if start < 0 or place < 0:
            raise LookupError(f"{mutant}: there is no such text")
    path.write_text(text[:place] + mutant.new + text[place + len(mutant.old):])


def check_texts(all_mutants, phaseline):
    """Ends with a message if defects' texts are in no target any more."""
    stale = []
    with tempfile.TemporaryDirectory() as work:
        for mutant in all_mutants:
            folder = pathlib.Path(work) / mutant.target
            if not folder.exists():
                copy_target(mutant.target, folder, phaseline)
            path = folder / mutant.file
            text = path.read_text()
            try:
                apply(mutant, folder)
            except LookupError as error:
                stale.append(str(error))
            path.write_text(text)
    if stale:
        sys.exit("\n".join(stale))


def check(phaseline, folder, pattern, arguments):
    """True if the check passes, its findings, and true if it ran at all."""
    command = [phaseline, "check-target", folder, "--json", *arguments]
    if pattern != "*":
        command += ["--pattern", pattern]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return True, "no end", False
    try:
        reports = json.loads(done.stdout)
    except json.JSONDecodeError:
        # A signal is the check's own end; a message is about a target that does not load.
        return done.returncode < 0, (done.stderr.strip() or f"signal {-done.returncode}"), False
    notes = [note for report in reports for note in report["notes"]]
    notes += [note for report in reports for one in report["patterns"] for note in one["notes"]]
    errors = [note["text"] for note in notes if note["level"] == "error"]
    what = (errors or [""])[0]
    # C that the compiler refuses is no defect that anybody has to look for.
    return done.returncode == 0, what.splitlines()[:1], not what.startswith("cc failed")


def every(phaseline):
    """All defects, those by hand first."""
    found = list(mutants.BY_HAND)
    with tempfile.TemporaryDirectory() as work:
        for target, pattern, file, scope in FUNCTIONS:
            folder = pathlib.Path(work) / target
            if not folder.exists():
                copy_target(target, folder, phaseline)
            found += mutants.in_text(target, pattern, file, (folder / file).read_text(), scope)
        for target, patterns in CONDITIONS:
            folder = pathlib.Path(work) / target
            if not folder.exists():
                copy_target(target, folder, phaseline)
            text = (folder / "target.toml").read_text()
            found += mutants.without_conditions(target, text, patterns)
    unique = list(dict.fromkeys(found))
    return [mutant for mutant in unique if str(mutant) not in mutants.HARMLESS]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("phaseline")
    parser.add_argument("--sample", type=int, help="only so many, chosen by their texts")
    parser.add_argument("--only", default="", help="only those whose text has this")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--least", type=float, default=0.0, help="fail below this percentage")
    parser.add_argument("--arguments", default="", help="more for check-target")
    parser.add_argument("--list", action="store_true", help="print the defects and stop")
    options = parser.parse_args()
    phaseline = str(pathlib.Path(options.phaseline).resolve())
    all_mutants = every(phaseline)
    check_texts(all_mutants, phaseline)
    chosen = [mutant for mutant in all_mutants if options.only in str(mutant)]
    if options.sample:
        chosen.sort(key=lambda mutant: hashlib.sha256(str(mutant).encode()).digest())
        chosen = chosen[:options.sample]
    if options.list:
        print("\n".join(map(str, chosen)))
        return
    arguments = options.arguments.split()
    with tempfile.TemporaryDirectory() as work, \
            concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        def untouched(key):
            folder = pathlib.Path(work) / f"pure-{key[0]}-{key[1].replace('*', 'all')}"
            copy_target(key[0], folder, phaseline)
            return check(phaseline, folder, key[1], arguments)

        def planted(job):
            number, mutant = job
            folder = pathlib.Path(work) / str(number)
            copy_target(mutant.target, folder, phaseline)
            apply(mutant, folder)
            return check(phaseline, folder, mutant.pattern, arguments)

        keys = sorted({(mutant.target, mutant.pattern) for mutant in chosen})
        pure = dict(zip(keys, pool.map(untouched, keys)))
        for key, (passes, what, _) in pure.items():
            if not passes:
                print(f"FALSE ALARM {key[0]}/{key[1]}: {what}", flush=True)
        counts = {}
        missed = []
        for mutant, (passes, what, ran) in zip(chosen, pool.map(planted, enumerate(chosen))):
            alarm = not pure[mutant.target, mutant.pattern][0]
            if not passes and not ran:
                fate = "refused"
            elif passes or alarm:
                fate = "missed"
                missed.append(mutant)
            else:
                fate = "found"
            counts.setdefault(mutant.target, {}).setdefault(fate, 0)
            counts[mutant.target][fate] += 1
            print(f"{fate:8} {mutant}: {what}", flush=True)
    alarms = sum(not passes for passes, _, _ in pure.values())
    found = sum(fates.get("found", 0) for fates in counts.values())
    tried = found + len(missed)
    for target, fates in sorted(counts.items()):
        print(f"{target:10} {fates}")
    rate = 100.0 * found / max(tried, 1)
    print(f"{found} of {tried} defects found ({rate:.0f}%), {alarms} false alarms on "
          f"{len(pure)} patterns without one")
    sys.exit(rate < options.least or alarms > 0)


if __name__ == "__main__":
    main()
