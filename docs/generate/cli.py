"""Writes the page of the command line from the help texts of a program: cli.py PROGRAM"""

import os
import re
import subprocess
import sys

HEAD = """# Command line

Commands of `phaseline` with their arguments and options, as `phaseline COMMAND --help` prints them. `phaseline-opt` is mlir-opt
with the dialects and passes of this repository; [passes](generated/passes.md) lists the passes. Exit codes: 0 for success, 1 for an error
or a comparison that fails.
"""
# In front of the help of commands: options of all of them.
GLOBAL = ("--log", "--help")


def help_of(program, *command):
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PHASELINE")}
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True, check=True, env=variables | {"COLUMNS": "1000"})
    return done.stdout


def cell(text):
    return text.replace("|", "\\|").replace("<", "&lt;").replace(">", "&gt;")


def code(text):
    return "`" + text.replace("|", "\\|") + "`"


def sections(text):
    """Title and lines of each section of a help text; the first has no title."""
    title, lines = "", []
    for line in text.splitlines():
        if re.match(r"\S.*:$", line):
            yield title, lines
            title, lines = line[:-1], []
        else:
            lines.append(line)
    yield title, lines


def entries(lines):
    """Name and meaning of each argument or option, whose meaning may be on the lines below."""
    found = []
    for line in lines:
        head = re.match(r" {2,6}(\S.*?)(?: {2,}(\S.*))?$", line)
        if line.startswith(" " * 8) and found:
            found[-1][1] = f"{found[-1][1]} {line.strip()}".strip()
        elif head:
            found.append([head[1], head[2] or ""])
    return found


def command(program, *words):
    for title, lines in sections(help_of(program, *words)):
        if not title:
            text = "\n".join(lines).strip()
            says, _, usage = text.partition("\n\nUsage: ")
            print(f"{says}.\n\n```text\n{usage.strip()}\n```\n")
        elif title in ("Arguments", "Options"):
            rows = [(name, says) for name, says in entries(lines) if not words or not any(word in name for word in GLOBAL)]
            if rows:
                print(f"| {title[:-1].lower()} | meaning |\n|---|---|")
                print("\n".join(f"| {code(name)} | {cell(says)} |" for name, says in rows) + "\n")
        elif title != "Commands":
            print(f"{title}:\n\n```text\n" + "\n".join(lines).strip("\n") + "\n```\n")


def main(program):
    commands = dict(sections(help_of(program)))["Commands"]
    names = [name for name, _ in entries(commands) if name != "help"]
    print(HEAD)
    print("## phaseline\n")
    command(program)
    for name in names:
        print(f"## phaseline {name}\n")
        command(program, name)


main(sys.argv[1])
