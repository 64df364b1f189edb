"""Write the rules for people as data for the page of ``genial serve``.

    python docs/rules_text.py

The command writes a file for each language to `genial_env/web/static/rules/`, from docs/how_to_play.md, docs/regles.md
and docs/regeln.md. A test compares the files with these pages. An element is a list: its tag, its attributes, and its
children, which are texts or elements.
"""

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import markdown

DOCS = Path(__file__).parent
TARGET = DOCS.parent / "genial_env" / "web" / "static" / "rules"

PAGES = {"en": "how_to_play.md", "fr": "regles.md", "de": "regeln.md"}
"""The page of each language."""

KEPT = {"a": ("href",), "img": ("alt", "src"), "h2": ("id",), "h3": ("id",)}
"""The attributes that are kept, by tag."""

VOID = ("img",)


def to_data(language: str) -> list[Any]:
    """Return the elements of a language's page, without its title and the links to the other languages."""
    text = (DOCS / PAGES[language]).read_text(encoding="utf-8")
    lines = [line for line in text.split("\n") if not line.startswith(("# ", "<div", "</div", "*["))]
    extensions = ["tables", "toc"]
    settings = {"toc": {"slugify": _slug}}
    reader = _Reader()
    reader.feed(markdown.markdown("\n".join(lines), extensions=extensions, extension_configs=settings))
    return reader.root


def _slug(title: str, separator: str) -> str:
    """Return the anchor of a title as the links of the pages name it."""
    kept = "".join(letter for letter in title.lower() if letter.isalnum() or letter in " -")
    return separator.join(kept.split())


class _Reader(HTMLParser):
    """Reads HTML as nested lists. Links to other pages become plain text."""

    def __init__(self) -> None:
        super().__init__()
        self.root: list[Any] = []
        self._open: list[list[Any]] = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin an element."""
        given = dict(attrs)
        kept = {name: given[name] for name in KEPT.get(tag, ()) if name in given}
        if "src" in kept:
            kept["src"] = Path(str(kept["src"])).name
        if tag == "a" and not str(kept["href"]).startswith("#"):
            tag, kept = "span", {}
        element: list[Any] = [tag, kept]
        self._open[-1].append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag: str) -> None:
        """End an element."""
        if tag not in VOID:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        """Add text; line breaks have no meaning."""
        if data.strip() or "\n" not in data:
            self._open[-1].append(re.sub("\n *", " ", data))


def write(language: str) -> str:
    """Return the content of a language's file."""
    return json.dumps(to_data(language), ensure_ascii=False, separators=(",", ":")) + "\n"


if __name__ == "__main__":
    TARGET.mkdir(exist_ok=True)
    for name in PAGES:
        (TARGET / f"{name}.json").write_text(write(name), encoding="utf-8", newline="\n")
