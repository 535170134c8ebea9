"""Writes the page of the operators that frontends read, from their tables: operators.py"""

import re
import sys
from pathlib import Path

IMPORT = Path(__file__).resolve().parents[2] / "src" / "import"
ENTRY = re.compile(r'OpEntry::(same|with)\(\s*"(\w+)",\s*(\d+),\s*([^,]+),\s*(\d*)')
ROW = re.compile(r'^    op\((\d+), "(\w+)", ([^,]+), \w+', re.M)
CONTROL = re.compile(r'"(If|Loop|Scan)"')
HEAD = """# Operators of models

Operators that the frontends of ONNX and TensorFlow Lite read. A model with another operator is refused with the name of each of
them, unless a target [declares it](target/operators.md) or the model has a function of its own for it.
"""


def text(*parts):
    return IMPORT.joinpath(*parts).read_text(encoding="utf-8")


def inputs(words):
    """The number of inputs: `1..=3`, `2`, `1..=MANY`."""
    least, _, most = words.partition("..=")
    most = most or least
    return least if least == most else f"{least} and more" if most == "MANY" else f"{least} to {most}"


def entries(folder):
    found = {}
    declared = 0
    for path in sorted(folder.glob("*.rs")):
        source = path.read_text(encoding="utf-8").split("#[cfg(test)]")[0]
        declared += len(re.findall(r"OpEntry::(?:same|with)\(", source))
        for form, name, since, first, second in ENTRY.findall(source):
            operation = f"`graph.{first.strip(chr(34))}`" if form == "same" else "function"
            found[name] = (since, inputs(second if form == "same" else first), operation)
    if declared != len(found):
        sys.exit(f"operators.py: {declared} rows in {folder}, of which {len(found)} were read: the tables have another form")
    return dict(sorted(found.items()))


def table(rows, with_since):
    print("| operator | " + ("since set | " if with_since else "") + "inputs | operation |")
    print("|---|" + "---|" * (3 if with_since else 2))
    for name, (since, count, operation) in rows.items():
        print(f"| `{name}` | " + (f"{since} | " if with_since else "") + f"{count} | {operation} |")


def main():
    standard, microsoft = entries(IMPORT / "onnx/ops"), entries(IMPORT / "onnx/ops/microsoft")
    sequences = re.search(r"const OPERATORS: &\[&str\] = &\[(.*?)\];", text("onnx", "sequences.rs"), re.S)
    control = sorted(set(CONTROL.findall(text("onnx", "topology.rs"))))
    lite = {}
    for path in sorted((IMPORT / "tflite/ops").glob("*.rs")):
        for code, name, count in ROW.findall(path.read_text(encoding="utf-8")):
            lite[int(code)] = (name, inputs(count))
    if not sequences or len(control) != 3 or len(lite) < 30:
        sys.exit("operators.py: a table of src/import has another form")
    print(HEAD)
    print("## ONNX\n\nDomain `ai.onnx`, operator sets 7 and up. *Since set* is the first operator set that has the operator; versions of an "
          "operator get the\nmeaning of the newest one. *function* stands for a function of the importer, which makes one operation or several.\n")
    table(standard, True)
    print("\nControl flow: " + ", ".join(f"`{name}`" for name in control) + ". Of `If` with a known condition one branch is imported, else both are computed and one result "
          "is selected; `Loop` and `Scan` become [`graph.scan`](generated/graph.md).\n")
    print("Sequences and optional values, whose number of tensors is known at import: " +
          ", ".join(f"`{name}`" for name in re.findall(r'"(\w+)"', sequences[1])) + ".\n")
    print("## com.microsoft\n\nContributed operators of onnxruntime: of quantized networks, of optimized transformers and of exported language models.\n")
    table(microsoft, False)
    print("\n## Functions of a model\n\nA node of any domain whose function is in the model is replaced by the body of the function.\n")
    print("## TensorFlow Lite\n\n| code | operator | inputs |\n|---:|---|---|")
    for code, (name, count) in sorted(lite.items()):
        print(f"| {code} | `{name}` | {count} |")


main()
