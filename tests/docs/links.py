"""Checks links of all Markdown of the repository, mentions of pages in sources, and that docs/SUMMARY.md has every page: links.py

A link has to lead to a file and, with `#`, to a heading of it. A mention of a file below docs (.md, .json, .svg, .toml, .sh, .py) in any text file
has to be a file. With `--html FOLDER` the links of a made book are checked instead.
"""

import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
LINK = re.compile(r"\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^)\s]+)\)")
MENTION = re.compile(r"(?<![\w./-])docs/[\w/-]+(?:\.[\w-]+)?\.(?:md|json|svg|toml|sh|py)\b")
# Prose of generated pages is that of the sources.
FENCE = re.compile(r"^( *)(```|~~~).*?^\1\2", re.M | re.S)


def tracked():
    """Files of the repository, those that are to be added too."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / name for name in dict.fromkeys(names) if (ROOT / name).is_file()]


def without_code(text):
    """Blocks and spans of code as blanks, so that lines keep their numbers."""
    text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
    return re.sub(r"`[^`\n]*`", "", text)


@cache
def headings(path):
    """Anchors of a page, numbered where a heading comes twice."""
    found, seen = set(), {}
    text = FENCE.sub("", path.read_text(encoding="utf-8"))
    for title in re.findall(r"^#+\s+(.*)$", text, re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        anchor = re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-")
        number = seen.get(anchor, 0)
        seen[anchor] = number + 1
        found.add(f"{anchor}-{number}" if number else anchor)
    return found


def fault(page, link):
    if re.match(r"[a-z]+:", link):
        return None
    name, _, anchor = link.partition("#")
    target = (page.parent / unquote(name)).resolve() if name else page
    if not target.exists():
        return "there is no such file"
    if anchor and target.suffix == ".md" and anchor not in headings(target):
        return "the page has no such heading"
    return None


def dead_links(files):
    for page in files:
        if page.suffix != ".md":
            continue
        lines = without_code(page.read_text(encoding="utf-8")).splitlines()
        for number, line in enumerate(lines, 1):
            for link in LINK.findall(line):
                problem = fault(page, link)
                if problem:
                    yield f"{page.relative_to(ROOT)}:{number} ({link}): {problem}"


def dead_mentions(files):
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        for number, line in enumerate(text.splitlines(), 1):
            for name in MENTION.findall(line):
                if not (ROOT / name).is_file():
                    yield f"{file.relative_to(ROOT)}:{number} ({name}): there is no such file"


def unlisted():
    """Pages that the summary lacks, has twice, or has without a file."""
    listed = [link for link in LINK.findall((DOCS / "SUMMARY.md").read_text(encoding="utf-8"))]
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - {"SUMMARY.md"}
    yield from (f"docs/SUMMARY.md: {name} is not in it" for name in sorted(pages - set(listed)))
    yield from (f"docs/SUMMARY.md: {name} is in it twice" for name in sorted({n for n in listed if listed.count(n) > 1}))
    yield from (f"docs/SUMMARY.md: there is no {name}" for name in sorted(set(listed) - pages))


class Made(HTMLParser):
    """The links and the anchors of a page that mdBook made."""

    def __init__(self, path):
        super().__init__()
        self.links, self.anchors = [], set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.anchors.update(given[key] for key in ("id", "name") if given.get(key))
        self.links += [given[key] for key in ("href", "src") if given.get(key) and tag != "base"]


def dead_html(folder):
    # The page for unknown addresses and the one to print have links from other places.
    pages = {path: Made(path) for path in folder.rglob("*.html") if path.name not in ("404.html", "print.html", "toc.html")}
    if not pages:
        yield f"{folder} has no pages"
    for path, page in pages.items():
        for link in page.links:
            name, _, anchor = unquote(link).partition("#")
            if re.match(r"[a-z]+:|//", name):
                continue
            target = (path.parent / name).resolve() if name else path
            target = target / "index.html" if target.is_dir() else target
            if not target.exists():
                yield f"{path.relative_to(folder)} ({link}): there is no such file"
            elif anchor and target in pages and anchor not in pages[target].anchors:
                yield f"{path.relative_to(folder)} ({link}): the page has no such heading"


def main():
    if sys.argv[1:2] == ["--html"]:
        faults = list(dead_html(Path(sys.argv[2]).resolve()))
    else:
        files = tracked()
        faults = [*dead_links(files), *dead_mentions(files), *unlisted()]
    print("\n".join(faults))
    if faults:
        sys.exit(f"{len(faults)} faults in links and mentions of pages")


main()
