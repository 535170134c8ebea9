"""Preprocessor of mdBook: a link to a file outside of docs, which is no page of the book, becomes its text and path."""

import json
import posixpath
import re
import sys

LINK = re.compile(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])*)\]\((?![a-z]+:)([^)\s#]+)(?:#[^)\s]*)?\)")


def chapters(items):
    for item in items:
        if isinstance(item, dict) and "Chapter" in item:
            yield item["Chapter"]
            yield from chapters(item["Chapter"]["sub_items"])


def inside(text, path):
    folder = posixpath.dirname(path)

    def replace(link):
        target = posixpath.normpath(posixpath.join(folder, link[2]))
        return f"{link[1]} (`{target.removeprefix('../')}`)" if target.startswith("../") else link[0]

    # Blocks of code stay as they are.
    parts = re.split(r"(^```.*?^```)", text, flags=re.M | re.S)
    return "".join(part if part.startswith("```") else LINK.sub(replace, part) for part in parts)


def main():
    if sys.argv[1:2] == ["supports"]:
        return
    _, book = json.load(sys.stdin)
    for chapter in chapters(book.get("items", book.get("sections", []))):
        if chapter.get("source_path"):
            chapter["content"] = inside(chapter["content"], chapter["source_path"])
    json.dump(book, sys.stdout)


main()
