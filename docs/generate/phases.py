"""Writes the page of phases from their table and from the framework's own pipelines: phases.py"""

import re
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]
ROW = re.compile(r'^    \w+ "([a-z-]+)" extensible: (true|false), on: (\w+),\n        "([^"]+)";', re.M)
HEAD = """# Phases

Phases of a compile, in order. `--emit=PHASE` stops after one, `--from=PHASE` goes on from its IR, `--dump-phases=DIR` writes the IR
after each. A target registers a pipeline under `[phases]` of its manifest, a pass or a file
([Phases of a target](target/phases.md)); `@targets` stands for these pipelines below. `phaseline compile MODEL -t SPEC
--print-pipeline` prints the text of one compile, with `@targets` filled in.

| phase | IR after it | pipelines of targets run on |
|---|---|---|"""
ANCHORS = {"Module": "the whole module", "Functions": "each function of the target", "TargetModule": "the target's own module"}


def main():
    rows = ROW.findall((REPOSITORY / "src/phase/table.rs").read_text(encoding="utf-8"))
    text = (REPOSITORY / "pipelines/common/phases.pipeline").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^// phase: ([a-z-]+)\n(.*?)(?=^// phase: |\Z)", text, re.M | re.S))
    names = [name for name, *_ in rows]
    if len(rows) < 8 or set(sections) - set(names):
        sys.exit("phases.py: src/phase/table.rs or pipelines/common/phases.pipeline has another form")
    print(HEAD)
    for name, extensible, anchor, says in rows:
        print(f"| [`{name}`](#{name}) | {says} | {ANCHORS[anchor] if extensible == 'true' else 'none'} |")
    for name, _, _, says in rows:
        print(f"\n## {name}\n\n{says}.", end=" ")
        if name in sections:
            print(f"The framework's own pipeline:\n\n```text\n{sections[name].strip()}\n```")
        else:
            print("The frontend makes it; no pass runs.")


main()
