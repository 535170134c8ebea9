"""Writes the tables of measurements into pages, from benches/results/*.csv: tables.py FROM INTO

A page has the table NAME between `<!-- begin: NAME -->` and `<!-- end: NAME -->`. Pages of FROM are written to the same
place below INTO. Of several measurements of one case on one machine the last row of the file counts.
"""

import csv
import re
import sys
from pathlib import Path
from statistics import geometric_mean

REPOSITORY = Path(__file__).resolve().parents[2]
RESULTS = REPOSITORY / "benches" / "results"
PAGES = ("README.md", "docs/performance.md", "docs/guides/memory.md")
SETS = {
    "classes": "layers, one class each", "networks": "networks of many families, shortened",
    "further": "networks with other forms of layers", "others": "more of them", "wider": "networks of exporters of 2025",
    "integers": "the set `networks`, quantized", "wider-integers": "the set `wider`, quantized",
}


def rows(name):
    with open(RESULTS / f"{name}.csv", newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def last(name, *keys):
    return list({tuple(row[key] for key in keys): row for row in rows(name)}.values())


def ratio(row):
    peers = [float(row[peer]) for peer in ("onnxruntime_ms", "openvino_ms") if row.get(peer)]
    return float(row["phaseline_ms"]) / min(peers)


def table(head, align, lines):
    return "\n".join([f"| {' | '.join(head)} |", f"|{'|'.join(align)}|", *(f"| {' | '.join(line)} |" for line in lines)])


def sets():
    lines = []
    for name, says in SETS.items():
        found = last(name, "machine", "case", "threads")
        for machine in dict.fromkeys(row["machine"] for row in found):
            own = [row for row in found if row["machine"] == machine]
            means, worst = [], ""
            for threads in ("1", "2"):
                ratios = {row["case"]: ratio(row) for row in own if row["threads"] == threads}
                means.append(f"{geometric_mean(ratios.values()):.2f}" if ratios else "")
                if threads == "1":
                    case = max(ratios, key=ratios.get)
                    worst = f"`{case}` {ratios[case]:.2f}"
            peers = "both" if any(row["openvino_ms"] for row in own) else "onnxruntime"
            count = len({row["case"] for row in own})
            lines.append([f"`{name}`: {says}", str(count), *means, worst, peers, machine, max(row["date"] for row in own)])
    return table(["set", "cases", "1 thread", "2 threads", "highest, 1 thread", "peers", "machine", "date"],
                 ["---", "---:", "---:", "---:", "---", "---", "---", "---"], lines)


def named():
    found = last("named", "machine", "case", "threads")
    lines = []
    for machine, case in dict.fromkeys((row["machine"], row["case"]) for row in found):
        cells = []
        for threads in ("1", "2"):
            row = next((row for row in found if (row["machine"], row["case"], row["threads"]) == (machine, case, threads)), None)
            cells += [row["phaseline_ms"], row["onnxruntime_ms"], f"{ratio(row):.2f}"] if row else ["", "", ""]
        lines.append([case, *cells])
    return table(["network", "1 thread, ms", "onnxruntime", "ratio", "2 threads, ms", "onnxruntime", "ratio"], ["---", *["---:"] * 6], lines)


def exported():
    found = last("exported", "machine", "set", "threads")
    lines = []
    for machine, group in dict.fromkeys((row["machine"], row["set"]) for row in found):
        own = {row["threads"]: row for row in found if (row["machine"], row["set"]) == (machine, group)}
        first = next(iter(own.values()))
        ratios = [own[threads]["ratio"] if threads in own else "" for threads in ("1", "2")]
        peers = "both" if first["openvino"] else "onnxruntime"
        lines.append([group, first["networks"], *ratios, peers, machine, first["date"]])
    return table(["networks", "number", "1 thread", "2 threads", "peers", "machine", "date"],
                 ["---", "---:", "---:", "---:", "---", "---", "---"], lines)


def compiles():
    lines = [[row["case"], row["weights_mib"], row["peak_mib"], row["processor_s"], row["date"]] for row in last("compile", "machine", "case")]
    return table(["network", "weights, MiB", "peak memory, MiB", "processor time, s", "date"], ["---", "---:", "---:", "---:", "---"], lines)


def memory():
    found = last("memory", "network", "targets")
    specs = list(dict.fromkeys(row["targets"] for row in found))
    lines = []
    for network in dict.fromkeys(row["network"] for row in found):
        own = {row["targets"]: f"{int(row['arena_bytes']):,} ({row['over_bound']})" for row in found if row["network"] == network}
        lines.append([network, *(own.get(spec, "") for spec in specs)])
    return table(["network", *(f"`{spec}`" for spec in specs)], ["---", *["---:"] * len(specs)], lines)


TABLES = {"sets": sets, "named": named, "exported": exported, "compiles": compiles, "memory": memory}


def main(source, into):
    for name in PAGES:
        text = (Path(source) / name).read_text(encoding="utf-8")
        for mark in re.findall(r"<!-- begin: (\w+) -->", text):
            begin, end = f"<!-- begin: {mark} -->", f"<!-- end: {mark} -->"
            before, rest = text.split(begin)
            text = f"{before}{begin}\n{TABLES[mark]()}\n{end}{rest.split(end)[1]}"
        path = Path(into) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


main(*sys.argv[1:])
