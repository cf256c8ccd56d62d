"""An extension of griffe for the docstrings of Shoal: examples are code, lists of names tables."""

from __future__ import annotations

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"^([ ]*)>>> .*(?:\n\1(?!\s*$).+)*", re.MULTILINE)
_NAMES = re.compile(r"`?([a-z]\w*(?:, [a-z]\w*)*)`?: (.*)")


class Docstrings(griffe.Extension):
    """Fences examples, and puts `name: text` lines into a section of their own."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        """Rewrite one docstring."""
        if obj.docstring is None:
            return
        text = _EXAMPLE.sub(_fenced, obj.docstring.value)
        known = {p.name for p in obj.parameters} if isinstance(obj, griffe.Function) else None
        title = "Attributes:" if known is None else "Parameters:"
        parts = [_section(part, title, known) for part in text.split("\n\n")]
        obj.docstring.value = "\n\n".join(parts)


def _fenced(block: re.Match[str]) -> str:
    return f"{block[1]}```pycon\n{block[0]}\n{block[1]}```"


def _section(paragraph: str, title: str, known: set[str] | None) -> str:
    """Return a paragraph as a section, if each of its lines describes names or continues one."""
    entries: list[tuple[list[str], list[str]]] = []  # names, lines of their description
    for line in paragraph.split("\n"):
        found = _NAMES.fullmatch(line)
        if found and (known is None or known.issuperset(found[1].split(", "))):
            entries.append((found[1].split(", "), [found[2]]))
        elif entries and line.startswith("    "):
            entries[-1][1].append(f"    {line}")
        else:
            return paragraph
    described = ((name, "\n".join(lines)) for names, lines in entries for name in names)
    return "\n".join([title, *(f"    {name}: {text}" for name, text in described)])
