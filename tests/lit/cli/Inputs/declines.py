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


def run(*words):
    done = subprocess.run(["phaseline", *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{words}: {done.stderr}")
    return done.stdout


def main(template, folder, seeds):
    folder = Path(folder)
    name = f"my-{template}"
    run("new-target", name, folder, "--template", template)
    (folder / "veto.py").write_text(HOOK)
    manifest = folder / "target.toml"
    text = re.sub(r"^graph-to-runtime = .*\n", "", manifest.read_text(), flags=re.M)
    if "\n[hooks]\n" not in text:
        text += "\n[hooks]\n"
    log = folder / "log"
    taken = declined = 0
    for seed in range(seeds):
        hook = ('graph-to-runtime = { command = ["python3", "${dir}/veto.py", "%d", "${dir}/log"], '
                'protocol = 2, dry-run = true }\n' % seed)
        manifest.write_text(text.replace("\n[hooks]\n", "\n[hooks]\n" + hook))
        net, spec = folder / "net.mlir", f"{name}, llvm"
        log.write_text("")
        report = json.loads(run("partition", net, "-t", spec, "--target-path", folder, "--json"))
        said = [line.split("|") for line in log.read_text().splitlines()]
        assert all(dry == "True" for dry, *_ in said), said
        inline = {op for region in report["regions"] if region["inline"] for op in region["ops"]}
        on = [op for op in report["ops"] if op["target"] == name and op["index"] not in inline]
        refused = [op for op in report["ops"] for verdict in op["verdicts"] if verdict["verdict"] == "declined"]
        assert all(op["target"] != name for op in refused), refused
        assert all("at random" in v["reason"] for op in refused for v in op["verdicts"] if v["verdict"] == "declined")
        log.write_text("")
        run("compile", net, "-t", spec, "--target-path", folder, "--emit=lower")
        asked = [line.split("|") for line in log.read_text().splitlines()]
        vetoed = {ops for dry, no, _, ops in asked if no == "True"}
        really = [(int(count), ops) for dry, _, count, ops in asked if dry == "False"]
        assert not vetoed & {ops for _, ops in really}, (vetoed, really)
        # Transposes that a call's layouts need come on top of the network's own.
        assert len(really) == sum(not region["inline"] for region in report["regions"]), (really, report["regions"])
        assert sum(count for count, _ in really) >= len(on), (really, on)
        assert bool(vetoed) == any(no == "True" for _, no, *_ in said)
        run("debug", net, "-t", spec, "--target-path", folder, "--random-inputs", 1)
        taken, declined = taken + len(really), declined + len(vetoed)
    print(f"{template}: {taken} regions taken, {declined} declined")


main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
