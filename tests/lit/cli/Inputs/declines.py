"""declines.py TEMPLATE FOLDER SEEDS: hooks that decline at random, and what `partition` says.

Gives the target of a template a hook that declines some regions before they have their places, and looks at each seed
that the hook is asked about exactly what `partition` says is on the device, and never about what it declined.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

HOOK = '''
import sys, zlib
import phaseline_hook

def veto(request):
    ops = [(op.name, [v.shape for v in op.inputs()]) for op in request.region.operations]
    with open(sys.argv[2], "a") as log:
        declined = request.dry_run and zlib.crc32((sys.argv[1] + repr(ops)).encode()) % 2
        nodes = [op.node for op in request.region.operations if op.match is not None]
        print(request.dry_run, bool(declined), len(nodes), repr(ops), sep="|", file=log)
    if declined:
        phaseline_hook.decline("at random")

phaseline_hook.serve(veto)
'''

MANIFEST = '''
version = 1
[target]
name = "vetoed"
extends = "my-%s"
doc = "Declines at random"
[hooks]
graph-to-runtime = { command = ["python3", "${dir}/veto.py", "%d", "${dir}/log"], protocol = 2, dry-run = true }
'''


def run(*words):
    done = subprocess.run(["phaseline", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout


def main(template, folder, seeds):
    base, folder = Path(folder, "base"), Path(folder, "vetoed")
    folder.mkdir(parents=True)
    run("new-target", f"my-{template}", base, "--template", template)
    (folder / "veto.py").write_text(HOOK)
    name = "vetoed"
    # What lowers regions in a template's own hook is replaced by the usual lowering, which has no functions to call.
    runs = "graph-to-runtime = \"" not in (base / "target.toml").read_text().replace('"""', '"')
    log = folder / "log"
    taken = declined = 0
    for seed in range(seeds):
        (folder / "target.toml").write_text(MANIFEST % (template, seed))
        net, spec, paths = base / "net.mlir", f"{name}, llvm", folder.parent
        log.write_text("")
        report = json.loads(run("partition", net, "-t", spec, "--target-path", paths, "--json"))
        said = [line.split("|") for line in log.read_text().splitlines()]
        assert all(dry == "True" for dry, *_ in said), said
        inline = {op for region in report["regions"] if region["inline"] for op in region["ops"]}
        on = [op for op in report["ops"] if op["target"] == name and op["index"] not in inline]
        refused = [op for op in report["ops"] for verdict in op["verdicts"] if verdict["verdict"] == "declined"]
        assert all(op["target"] != name for op in refused), refused
        assert all("at random" in v["reason"] for op in refused for v in op["verdicts"] if v["verdict"] == "declined")
        log.write_text("")
        run("compile", net, "-t", spec, "--target-path", paths, "--emit=lower")
        asked = [line.split("|") for line in log.read_text().splitlines()]
        vetoed = {ops for dry, no, _, ops in asked if no == "True"}
        really = [(int(count), ops) for dry, _, count, ops in asked if dry == "False"]
        assert not vetoed & {ops for _, ops in really}, (vetoed, really)
        # Transposes that a call's layouts need come on top of the network's own.
        assert len(really) == sum(not region["inline"] for region in report["regions"]), (really, report["regions"])
        assert sum(count for count, _ in really) >= len(on), (really, on)
        assert bool(vetoed) == any(no == "True" for _, no, *_ in said)
        if runs:
            # A match by itself is another region, which may be declined; the whole network is as on the host.
            words = ["phaseline", "debug", net, "-t", spec, "--target-path", paths, "--random-inputs", "1"]
            text = subprocess.run(words, capture_output=True, text=True).stdout
            whole = re.findall(r"^whole network: max abs error ([-+.e0-9]+)", text, re.M)
            assert len(whole) == 1 and float(whole[0]) < 1e-3, text
            assert all("declines its region: at random" in line for line in text.splitlines() if "does not" in line), text
        taken, declined = taken + len(really), declined + len(vetoed)
    print(f"{template}: {taken} regions taken, {declined} declined")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
