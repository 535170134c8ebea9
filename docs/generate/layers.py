"""Draws the layers of the crates as SVG: layers.py

Rows are those of the table in tests/architecture.rs, their meanings those of the block `layers` in
docs/explanation/architecture.md, which that test compares with the table.
"""

import re
import sys
from html import escape
from pathlib import Path
from textwrap import wrap

REPOSITORY = Path(__file__).resolve().parents[2]
MEMBER = re.compile(r'    Member \{\n        name: "([^"]+)",.*?uses: &\[(.*?)\],\n        layers: &\[(.*?)\],\n    \},', re.S)
WIDTH, LABEL, MEANING, ROW, GAP, PAD = 1080, 170, 520, 24, 5, 8
CHARACTER = 7.3  # of 12 px monospace
COLOURS = {"phaseline-base": "#e8eef7", "phaseline-build": "#eeeeee", "phaseline-runtime": "#e6f4ea", "phaseline-select": "#fdf3d8",
           "phaseline-toolkit": "#f3e8fd", "phaseline": "#fde7e4", "phaseline-python": "#e4f6f8"}


def members():
    text = (REPOSITORY / "tests/architecture.rs").read_text(encoding="utf-8").split("const MEMBERS: &[Member] = &[\n")[1].split("\n];")[0]
    found = []
    for name, uses, layers in MEMBER.findall(text):
        rows = [re.findall(r'"(\w+)"', row) for row in re.findall(r"&\[([^\]]*)\]", layers)]
        found.append((name, re.findall(r'"([^"]+)"', uses), rows))
    if len(found) != text.count("    Member {"):
        sys.exit("layers.py: MEMBERS of tests/architecture.rs has another form")
    return found


def meanings():
    """The right column of the block, by the modules of a row in order."""
    page = (REPOSITORY / "docs/explanation/architecture.md").read_text(encoding="utf-8")
    lines = page.split("```layers\n")[1].split("```")[0].splitlines()
    return [line.split("|")[2].strip() for line in lines]


def main():
    parts, y, says = [], PAD, iter(meanings())
    for name, uses, rows in reversed(members()):
        height = len(rows) * (ROW + GAP) + GAP + (18 if len(rows) == 1 else 0)
        below = ", ".join(word.removeprefix("phaseline-") for word in uses)
        parts.append(f'<rect x="{PAD}" y="{y}" width="{WIDTH - 2 * PAD}" height="{height}" rx="4" fill="{COLOURS.get(name, "#eeeeee")}" stroke="#888"/>')
        parts.append(f'<text x="{PAD * 2}" y="{y + 18}" font-weight="bold">{escape(name)}</text>')
        for line, words in enumerate(wrap(f"on {below}", 22) if below else []):
            parts.append(f'<text x="{PAD * 2}" y="{y + 34 + 13 * line}" font-size="10">{escape(words)}</text>')
        for index, row in enumerate(reversed(rows)):
            top, x = y + GAP + index * (ROW + GAP), LABEL
            for module in row:
                width = round(len(module) * CHARACTER) + 14
                parts.append(f'<rect x="{x}" y="{top}" width="{width}" height="{ROW}" rx="3" fill="#fff" stroke="#555"/>')
                parts.append(f'<text x="{x + 7}" y="{top + 16}">{escape(module)}</text>')
                x += width + GAP
            parts.append(f'<text x="{MEANING}" y="{top + 15}" font-size="10" font-family="sans-serif">{escape(next(says))}</text>')
        y += height + GAP
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y + PAD - GAP}" viewBox="0 0 {WIDTH} {y + PAD - GAP}" '
          'font-family="monospace" font-size="12" fill="#111">')
    print(f"<title>Layers of the crates: a module uses modules of lower rows only</title>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>")
    print("\n".join(parts) + "\n</svg>")


main()
