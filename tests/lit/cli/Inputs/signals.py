"""Stops compiles while a program that they run sleeps; run in a folder with net.mlir and package."""

import os
import pathlib
import re
import signal
import subprocess
import time

HERE = pathlib.Path.cwd()
LIMIT = 60
# A compile may start several at once, so ids are appended, and one that is stopped early may not have written.
SLOW = f"#!/bin/sh\nsleep 300 &\necho $! >> {HERE}/child\necho $$ >> {HERE}/slow\nwait\n"


def wait_for(what, condition):
    limit = time.monotonic() + LIMIT
    while not condition():
        assert time.monotonic() < limit, f"waited too long for {what}"
        time.sleep(0.01)


def is_gone(pid):
    """True if the process does not run."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    # Orphans stay as zombies if nobody collects them.
    stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    return stat.rsplit(")", 1)[1].split()[0] == "Z"


def start(arguments, ignored=()):
    for name in ["slow", "child"]:
        (HERE / name).unlink(missing_ok=True)
    (HERE / "tmp").mkdir(exist_ok=True)
    environment = {**os.environ, "CC": f"{HERE}/cc", "TMPDIR": f"{HERE}/tmp"}

    def ignore():
        # Whoever runs this may ignore some.
        for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
            signal.signal(number, signal.SIG_IGN if number in ignored else signal.SIG_DFL)

    process = subprocess.Popen(
        ["phaseline", "compile", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=ignore,
    )
    wait_for("the program", lambda: process.poll() is not None or re.search("\n", read("slow")))
    assert process.poll() is None, process.communicate()
    return process


def read(name):
    path = HERE / name
    return path.read_text(encoding="utf-8") if path.exists() else ""


def ids(name):
    return [int(pid) for pid in read(name).split()]


def check_end(process, number):
    out, err = process.communicate(timeout=LIMIT)
    assert (process.returncode, out, err) == (-number, b"", b""), (process.returncode, out, err)
    for name in ["slow", "child"]:
        for pid in ids(name):
            wait_for(f"the end of {name}", lambda pid=pid: is_gone(pid))
    left = [path.name for path in [*HERE.iterdir(), *(HERE / "tmp").iterdir()]]
    assert not [name for name in left if name.startswith((".phaseline-", ".tmp"))], left
    assert not list((HERE / "tmp").iterdir()), left


(HERE / "cc").write_text(SLOW, encoding="utf-8")
(HERE / "cc").chmod(0o755)
linked = ["net.mlir", "-t", "llvm", "-o", "package"]
compiled = ["net.mlir", "-t", "vanilla, llvm", "-o", "new"]
hooked = ["chain.mlir", "-t", "stitch, llvm", "--target-path", "t/stitch", "-o", "new"]
manifest = HERE / "t/stitch/target.toml"
text = manifest.read_text(encoding="utf-8")
text = re.sub("(?m)^graph-to-runtime.*$", f'graph-to-runtime = {{ command = ["{HERE}/cc"] }}', text)
manifest.write_text(text, encoding="utf-8")
for number in [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]:
    for arguments in [linked, compiled, hooked]:
        process = start(arguments)
        process.send_signal(number)
        check_end(process, number)
assert not (HERE / "new").exists()

# nohup is respected.
process = start(linked, ignored=[signal.SIGHUP])
process.send_signal(signal.SIGHUP)
time.sleep(0.3)
assert process.poll() is None and not any(map(is_gone, ids("slow")))
process.send_signal(signal.SIGTERM)
check_end(process, signal.SIGTERM)
