"""The list of public names, by kind; mkdocstrings shows the docstring of each in the site."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from enum import Enum
from importlib import import_module
from typing import Any

import shoal

NOTE = "<!-- Written by docs/_generate.py; edit that, or the docstrings. -->"
INSIDE = ("core", "privacy", "reading", "report")  # modules that define the names of shoal itself
API = f"""\
# Python names

{NOTE}

All public names of `import shoal`. The site (`make docs`) shows the docstring of each, and so does
`help(shoal.anonymize)` in Python. The modules core, privacy, reading and report are imported by
name; only their names that are not listed elsewhere on this page appear here.
"""
MODELS = """\
Every privacy model has the same methods: `holds(classes)` returns a result for each class,
`level(classes)` returns the parameter that the classes reach, `describe()` states the guarantee in
words, `check(table)` refuses a table to which the model does not apply, and `&` combines models.

"""


def api() -> str:
    """Return the list of public names."""
    groups: dict[str, list[str]] = {
        "Functions": [],
        "Classes": [],
        "Privacy models": [MODELS],
        "Methods": [],
        "Tables of names": [],
        "Errors and warnings": [],
    }
    listed = {"Privacy models": [*shoal.MODELS.values()], "Methods": [*shoal.METHODS.values()]}
    modules: list[str] = []
    for name in sorted({*shoal.__all__, *INSIDE}, key=str.casefold):
        thing = import_module(f"shoal.{name}") if name in INSIDE else getattr(shoal, name)
        if isinstance(thing, types.ModuleType):
            modules.append(_module(name, thing))
            continue
        kind = next((group for group, things in listed.items() if thing in things), None)
        groups[kind or _kind(thing)].append(_entry(f"shoal.{name}", thing))
    parts = [f"## {heading}\n\n{''.join(entries)}" for heading, entries in groups.items()]
    return "\n".join([API, *parts, *modules]).replace("\n\n\n", "\n\n").rstrip("\n") + "\n"


def _kind(thing: Any) -> str:
    if isinstance(thing, type):
        return "Errors and warnings" if issubclass(thing, BaseException) else "Classes"
    return "Functions" if callable(thing) else "Tables of names"


def _names_of(name: str, module: types.ModuleType) -> list[str]:
    """Return the public names of a module that the page does not list elsewhere."""
    names = getattr(module, "__all__", None) or [
        key
        for key, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and key[0] != "_"
    ]
    return [key for key in names if name not in INSIDE or key not in shoal.__all__]


def _module(name: str, module: types.ModuleType) -> str:
    names = _names_of(name, module)
    entries = [_entry(f"shoal.{name}.{key}", getattr(module, key)) for key in names]
    return f"## shoal.{name}\n\n{_first(module)}\n\n{''.join(entries)}"


def _entry(name: str, thing: Any) -> str:
    """Return the lines for one name: its docstring, or the names or the value that it holds."""
    if isinstance(thing, dict):
        return f"### {name}\n\n{', '.join(f'`{key}`' for key in thing)}\n\n"
    if not callable(thing):
        return f"### {name}\n\n`{cell(repr(thing))}`\n\n"
    place = f"{thing.__module__}.{thing.__qualname__}"
    lines = [f"::: {place}", "    options:", *(f"      {line}" for line in _options(name, thing))]
    return "\n".join(lines) + "\n\n"


def _options(name: str, thing: Any) -> Iterator[str]:
    yield f"heading: {name}"
    yield f"toc_label: {name}"
    if thing in shoal.MODELS.values():
        yield "members: false"
    elif isinstance(thing, type) and issubclass(thing, Enum):
        yield "show_if_no_docstring: true"
    elif isinstance(thing, type) and issubclass(thing, BaseException):
        yield "show_bases: true"


def _first(thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
    return re.sub(r"\s+", " ", text.split("\n\n", maxsplit=1)[0]).strip()


def cell(text: str | None) -> str:
    """Return a text escaped for a cell of a Markdown table."""
    return re.sub(r"\s+", " ", text or "").replace("|", "\\|").replace("*", "\\*")
