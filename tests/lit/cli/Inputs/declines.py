"""declines.py TEMPLATE FOLDER SEEDS: hooks that decline at random, and what `partition` says.

Gives the target of a template a hook that declines some regions before they have their places, and looks at each seed
that the hook is asked about exactly what `partition` says is on the device, operation by operation, and never about what
it declined. The networks are the template's own and random ones.
"""

import json
import random
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

# Operations that the layouts of a call add to those of its match.
MOVES = {"transpose", "pack", "unpack", "reshape"}

HOOK = '''
import sys, zlib
import phaseline_hook

def veto(request):
    ops = [(op.name, [v.shape for v in op.inputs()]) for op in request.region.operations]
    with open(sys.argv[2], "a") as log:
        declined = request.dry_run and zlib.crc32((sys.argv[1] + repr(ops)).encode()) % 2
        names = [op.name for op in request.region.operations if op.match is not None]
        print(request.dry_run, bool(declined), " ".join(names), repr(ops), sep="|", file=log)
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


def network(seed):
    """A random network of operations that many devices have."""
    draws = random.Random(seed)
    ty, lines, values = "tensor<8x8xf32>", [], ["x", "y"]
    for place in range(draws.randint(4, 14)):
        name, (a, b) = draws.choice(["relu", "tanh", "add", "mul", "sub", "matmul", "dense"]), draws.choices(values[-4:], k=2)
        operands = {"relu": f"%{a} : {ty}", "tanh": f"%{a} : {ty}"}.get(name, f"%{a}, %{b} : {ty}")
        if name == "matmul":
            operands = f"%{a}, %{b} : ({ty}, {ty}) -> {ty}"
        elif name == "dense":
            name, operands = "matmul", f"%{a}, %w : ({ty}, {ty}) -> {ty}"
        lines.append(f"  %{place} = graph.{name} {operands}")
        values.append(str(place))
    head = f"func.func @main(%x: {ty}, %y: {ty}) -> {ty} {{\n  %w = graph.constant dense<0.0625> : {ty}\n"
    return head + "\n".join(lines) + f"\n  return %{values[-1]} : {ty}\n}}\n"


def regions(report, name):
    """The names of the operations of each region, as `partition` says."""
    of = Counter()
    for region in report["regions"]:
        if not region["inline"]:
            of[tuple(sorted(report["ops"][op]["op"] for op in region["ops"]))] += 1
            assert all(report["ops"][op]["target"] == name for op in region["ops"]), region
    return of


def main(template, folder, seeds):
    base, folder = Path(folder, "base"), Path(folder, "vetoed")
    folder.mkdir(parents=True)
    run("new-target", f"my-{template}", base, "--template", template)
    (folder / "veto.py").write_text(HOOK)
    name = "vetoed"
    # A template's own hook that lowers regions is replaced by the usual lowering, which has no functions to call.
    runs = "graph-to-runtime = \"" not in (base / "target.toml").read_text().replace('"""', '"')
    log = folder / "log"
    taken = declined = 0
    for seed in range(seeds):
        (folder / "target.toml").write_text(MANIFEST % (template, seed))
        net, spec, paths = base / "net.mlir", f"{name}, llvm", folder.parent
        if seed % 2:
            net = folder / "random.mlir"
            net.write_text(network(seed))
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
        really = [(names.split(), ops) for dry, _, names, ops in asked if dry == "False"]
        assert not vetoed & {ops for _, ops in really}, (vetoed, really)
        # Transposes that a call's layouts need come on top of the network's own.
        plain = lambda names: tuple(sorted(op for op in names if op not in MOVES))
        wanted = Counter(plain(names) for names in regions(report, name).elements())
        assert wanted == Counter(plain(names) for names, _ in really), (wanted, really)
        assert sum(len(names) for names, _ in really) >= len(on), (really, on)
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
