"""Runs what README.md, docs/*.md and targets/*/README.md tell readers to type: run.py [FILE.md]...
With --pictures FOLDER it runs the blocks `sh` of the tutorials only, and writes the SVG files that these make into
FOLDER/TUTORIAL.

sh       a script, run by bash in a folder of its own that has net.onnx and net.mlir; `make` and
         `cargo` run in the repository
console  the same for the lines that start with `$ `; in docs/tutorial the other lines are what these print, in
         their order, with a line `...` in place of lines that are left out
mlir     a FileCheck test: each RUN line is run on it
rust     every line has to stand in examples/embed/src, which `make embed` runs, or in src/ir/tests.rs
A line `<!-- not run: COMMAND (REASON) -->` before a block leaves out its line COMMAND. A block of any language behind a
line `<!-- from: FILE -->` is a part of that file, as it is. The chapters of a folder of docs/tutorial are one walk: they
run one after the other in one folder, and a chapter alone runs behind those before it.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LLVM = os.environ.get("LLVM_BIN_DIR", "/usr/lib/llvm-22/bin")
TUTORIAL = ROOT / "docs/tutorial"
FROM = re.compile(r"<!-- from: (\S+) -->")
SKIP = re.compile(r"<!-- not run: (.+?) \((.+)\) -->")
# Documents whose tables say where to see that something is true.
TABLES = ("coming-from-tvm.md", "pitfalls.md")
PRELUDE = f"""set -euo pipefail
make() {{ command make --no-print-directory -C '{ROOT}' "$@"; }}
cargo() {{ (cd '{ROOT}' && command cargo "$@"); }}
"""


def blocks(text):
    """Yields the line number, language, lines, left-out commands and file of each fenced block."""
    language, start, lines, skipped, source = None, 0, [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"```(\w*)", line)
        if language is None and fence:
            language, start, lines = fence[1], number, []
        elif language is not None and line.startswith("```"):
            yield start, language, lines, skipped, source
            language, skipped, source = None, [], None
        elif language is not None:
            lines.append(line)
        elif mark := SKIP.match(line):
            skipped.append(mark[1])
        elif mark := FROM.match(line):
            source = mark[1]
        elif line.strip():
            skipped, source = [], None


def commands(language, lines, skipped):
    """The script of a block, without the lines that are left out."""
    if language == "console":
        lines = [line[2:] for line in lines if line.startswith("$ ")]
    for command in skipped:
        kept = [line for line in lines if re.sub(r"\s+#.*", "", line).strip() != command]
        if len(kept) == len(lines):
            raise ValueError(f"'{command}' is marked as not run, but is not a line of the block")
        lines = kept
    return "\n".join(lines)


def environment():
    # Without what the outer make says to its children: this one is another.
    env = {name: value for name, value in os.environ.items() if not name.startswith("MAKE")}
    tools = [str(ROOT / "target" / "debug"), LLVM, env["PATH"]]
    return env | {"PATH": os.pathsep.join(tools)}


def bash(script, folder, expected=None):
    """Runs a script; the problem is an exit code, or lines that are expected and not printed."""
    result = subprocess.run(["bash", "-c", PRELUDE + script], cwd=folder, env=environment(),
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=1200)
    if result.returncode != 0:
        return f"exit code {result.returncode}\n{result.stdout}"
    return missing_line(expected or [], result.stdout)


def missing_line(expected, printed):
    """The first line that is not printed where it should be."""
    rest, free = [line.rstrip() for line in printed.splitlines()], True
    for line in (line.rstrip() for line in expected):
        if line == "...":
            free = True
        elif line in rest and (free or rest[0] == line):
            rest, free = rest[rest.index(line) + 1:], False
        else:
            return f"prints no line {line!r} there, but\n{printed}"
    return None


def check_mlir(lines, folder):
    file = folder / "block.mlir"
    file.write_text("\n".join(lines) + "\n")
    runs = [line.split("RUN:", 1)[1].strip() for line in lines if "RUN:" in line]
    return bash("\n".join(run.replace("%s", str(file)) for run in runs), folder)


def check_rust(lines):
    sources = [*(ROOT / "examples/embed/src").glob("*.rs"), ROOT / "src/ir/tests.rs"]
    known = {line.strip() for source in sources for line in source.read_text().splitlines()}
    strange = [line for line in lines if line.strip() and line.strip() not in known]
    return f"neither in examples/embed/src nor in src/ir/tests.rs: {strange}" if strange else None


def check_part(lines, source):
    path = ROOT / source
    known = path.read_text() if path.is_file() else ""
    return None if "\n".join(lines) + "\n" in known else f"is no part of {source}"


def check(language, lines, skipped, folder, compares):
    if language in ("sh", "console"):
        printed = [line for line in lines if not line.startswith("$ ")] if language == "console" else []
        return bash(commands(language, lines, skipped), folder, printed if compares else None)
    if language == "mlir":
        return check_mlir(lines, folder)
    return check_rust(lines) if language == "rust" else None


def functions():
    """Names of the Rust functions and C functions that documents may name as tests or examples."""
    names = set()
    for folder in ("src", "crates", "tests", "examples", "targets", "runtime-c"):
        for source in (ROOT / folder).rglob("*"):
            if source.suffix == ".rs":
                names.update(re.findall(r"\bfn (\w+)", source.read_text()))
            elif source.suffix in (".c", ".h"):
                names.update(re.findall(r"\b(\w+)\(", source.read_text()))
    return names


@cache
def command_problem(command, folder):
    """Rows that name the same command are shown by one run."""
    return bash(command.replace("MODEL", "net.onnx"), folder)


def mention_problem(text, known, folder):
    """Fault of a text in backquotes in the last column of a table, if it names a file, a
    test or a command."""
    if text.startswith("phaseline "):
        return command_problem(text, folder)
    if re.match(r"(tests|src|crates|pipelines|targets|runtime-c|docs|examples)/", text):
        return None if any(ROOT.glob(text.rstrip("/"))) else "there is no such file"
    if text.endswith(".test"):
        return None if any((ROOT / "tests/lit").rglob(text)) else "there is no such test"
    if re.fullmatch(r"[a-z0-9]+(_[a-z0-9]+){2,}", text) and text not in known:
        return "there is no such function"
    return None


def check_tables(path, folder, known):
    """Checks what the last columns of tables refer to."""
    failures = 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        cells = line.strip().strip("|").split(" | ") if line.startswith("| ") else []
        for text in re.findall(r"`([^`]+)`", cells[-1]) if len(cells) > 2 else []:
            problem = mention_problem(text, known, folder)
            if problem is not None:
                print(f"FAIL {path.relative_to(ROOT)}:{number} `{text}`: {problem}", flush=True)
                failures += 1
    return failures


def check_blocks(path, folder):
    failures, compares = 0, TUTORIAL in path.parents
    for start, language, lines, skipped, source in blocks(path.read_text()):
        if not source and language not in ("sh", "console", "mlir", "rust"):
            continue
        try:
            if source:
                problem = check_part(lines, source)
            else:
                problem = check(language, lines, skipped, folder, compares)
        except (ValueError, subprocess.TimeoutExpired) as error:
            problem = str(error)
        where = f"{path.relative_to(ROOT)}:{start} ({language})"
        print(f"ok   {where}" if problem is None else f"FAIL {where}: {problem}", flush=True)
        failures += problem is not None
    return failures


def check_walk(paths):
    """Checks documents that are read one after the other."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        shutil.copy(ROOT / "build/test-data/models/lenet/model.onnx", folder / "net.onnx")
        shutil.copy(ROOT / "examples/embed/net.mlir", folder / "net.mlir")
        failures = sum(check_blocks(path, folder) for path in paths)
        for path in paths:
            if path.name in TABLES:
                failures += check_tables(path, folder, functions())
    return failures


def walks(documents):
    """Each document alone, the chapters of a tutorial up to the last one that is asked for together."""
    last = {path.parent: path for path in sorted(documents) if TUTORIAL in path.parents}
    chapters = [[path for path in sorted(folder.glob("*.md")) if path <= end] for folder, end in last.items()]
    return [[path] for path in documents if TUTORIAL not in path.parents] + chapters


def draw(chapters, out):
    """Runs the blocks `sh` of a tutorial, and writes its pictures into a folder of its name."""
    out = out / chapters[0].parent.name
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as name:
        for path in chapters:
            for start, language, lines, skipped, source in blocks(path.read_text()):
                problem = bash(commands(language, lines, skipped), name) if language == "sh" and not source else None
                if problem:
                    sys.exit(f"{path.relative_to(ROOT)}:{start}: {problem}")
        for picture in Path(name).glob("*.svg"):
            shutil.copy(picture, out)


def main():
    if sys.argv[1:2] == ["--pictures"]:
        tutorials = walks(sorted(TUTORIAL.glob("*/*.md")))
        return [draw(chapters, Path(sys.argv[2]).resolve()) for chapters in tutorials]
    given = [Path(name).resolve() for name in sys.argv[1:]]
    documents = given or [ROOT / "README.md", *sorted(ROOT.glob("docs/**/*.md")), *sorted(ROOT.glob("targets/*/README.md"))]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failures = sum(pool.map(check_walk, walks(documents)))
    if failures:
        sys.exit(f"{failures} blocks of the documentation do not work")
    return None


main()
