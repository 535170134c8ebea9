"""Prints the lines of each crate and module, of the product and of its tests: lines.py

Unit tests are files `tests.rs` or `*_tests.rs`, folders `tests`, and what follows `#[cfg(test)] mod` in a file.
Blank lines count, since what is counted is what somebody scrolls through.
"""

import re
import subprocess
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INLINE = re.compile(r"^#\[cfg\(test\)\]\n(#\[.*\n)*mod \w+ \{", re.MULTILINE)
# Parts that are no Rust of the product: name, paths, and whether they are tests.
OTHERS = (
    ("dialects (C++, ODS)", r"dialects/.*\.(td|cpp|h|def)$", False),
    ("runtime-c", r"runtime-c/(src|include)/.*\.[ch]$", False),
    ("runtime-c", r"runtime-c/test/.*\.(c|sh)$", True),
    ("targets", r"targets/[^/]*/[^/]*\.(c|h|cpp|toml|pipeline|py)$", False),
    ("targets", r"targets/[^/]*/test/", True),
    ("tests (Rust)", r"tests/.*\.rs$", True),
    ("tests/messages", r"tests/messages/", True),
    ("tests/lit", r"tests/lit/", True),
    ("tests/targets", r"tests/targets/", True),
    ("tests/python", r"tests/.*\.py$", True),
)


def tracked():
    names = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    return [name for name in names.decode().split("\0") if name and (ROOT / name).is_file()]


def home(name):
    """The crate and the module of a Rust file of the product; None for others."""
    match = re.match(r"(?:crates/([^/]+)/)?src/(.+)\.rs$", name)
    if not match:
        return None
    crate, path = match[1] or "phaseline", match[2].split("/")
    module = "(root)" if path[0] in ("lib", "bin") else path[0]
    return crate, module


def split(name, text):
    """The lines of the product and of unit tests in a Rust file."""
    total = text.count("\n")
    parts = Path(name).parts
    if "tests" in parts or name.endswith(("/tests.rs", "_tests.rs")):
        return 0, total
    inline = INLINE.search(text)
    product = text.count("\n", 0, inline.start()) if inline else total
    return product, total - product


def main():
    product, tests = Counter(), Counter()
    for name in tracked():
        try:
            text = (ROOT / name).read_text()
        except UnicodeDecodeError:
            continue
        if place := home(name):
            of_product, of_tests = split(name, text)
            product[place] += of_product
            tests[place] += of_tests
        elif other := next((other for other in OTHERS if re.match(other[1], name)), None):
            counter = tests if other[2] else product
            counter[("other", other[0])] += text.count("\n")
    sums = {crate: (sum(n for (c, _), n in product.items() if c == crate),
                    sum(n for (c, _), n in tests.items() if c == crate))
            for crate in {crate for crate, _ in product | tests}}
    print(f"{'lines':<34}{'product':>9}{'tests':>9}")
    for crate in sorted(sums, key=lambda crate: (crate == "other", crate)):
        print(f"{crate:<34}{sums[crate][0]:>9,}{sums[crate][1]:>9,}")
        modules = {module for c, module in product | tests if c == crate}
        for module in sorted(modules, key=lambda module: -product[crate, module]):
            print(f"  {module:<32}{product[crate, module]:>9,}{tests[crate, module]:>9,}")
    print(f"{'all':<34}{sum(product.values()):>9,}{sum(tests.values()):>9,}")


main()
