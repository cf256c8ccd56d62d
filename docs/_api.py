"""The list of public names: signatures and first lines, taken from the code."""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from importlib import import_module
from typing import Any

import shoal
from shoal.privacy import Model

NOTE = "<!-- Written by docs/_generate.py; edit that, or the docstrings. -->"
INSIDE = ("core", "privacy", "reading", "report")  # modules that define the names of shoal itself
API = """\
# Python names

{note}

All public names of `import shoal`, with their signatures and the first line of their docstrings.
`help(shoal.anonymize)` shows a full docstring. The modules core, privacy, reading and report are
imported by name; only their names that are not listed elsewhere on this page appear here.

Every privacy model has the same methods: `holds(classes)` returns a result for each class,
`level(classes)` returns the parameter that the classes reach, `describe()` states the guarantee in
words, `check(table)` refuses a table to which the model does not apply, and `&` combines models.
"""


def api() -> str:
    """Return the list of public names."""
    groups: dict[str, list[str]] = {
        "Functions": [],
        "Classes": [],
        "Modules": [],
        "Tables of names": [],
        "Errors and warnings": [],
    }
    inside = {name: import_module(f"shoal.{name}") for name in INSIDE}
    for name in sorted({*shoal.__all__, *INSIDE}, key=str.casefold):
        thing = inside[name] if name in INSIDE else getattr(shoal, name)
        if isinstance(thing, types.ModuleType):
            groups["Modules"].append(_module(name, thing))
        elif isinstance(thing, type) and issubclass(thing, BaseException):
            groups["Errors and warnings"].append(_error(name, thing))
        elif isinstance(thing, type) and issubclass(thing, Enum):
            groups["Classes"].append(_enum(name, thing))
        elif isinstance(thing, type):
            groups["Classes"].append(_class(name, thing))
        elif callable(thing):
            groups["Functions"].append(_function(f"shoal.{name}", thing))
        else:
            groups["Tables of names"].append(_names(name, thing))
    parts = [API.format(note=NOTE)]
    heads = {"Errors and warnings": ["| name | is a | means | exit status |\n|---|---|---|---|"]}
    for heading, entries in groups.items():
        parts += [f"## {heading}\n", *heads.get(heading, []), *entries]
    return "\n".join(parts).rstrip("\n") + "\n"


def _function(name: str, thing: Any) -> str:
    return f"### {name}\n\n{_code(name, thing)}\n\n{_first(thing)}\n"


def _class(name: str, thing: type) -> str:
    members = {} if issubclass(thing, Model) else vars(thing)
    rows = [row for member in members for row in _member(thing, member)]
    text = f"### shoal.{name}\n\n{_code(f'shoal.{name}', thing)}\n\n{_first(thing)}\n"
    return text + ("\n| name | description |\n|---|---|\n" + "\n".join(rows) + "\n" if rows else "")


def _member(thing: type, name: str) -> Iterator[str]:
    found = inspect.getattr_static(thing, name)
    if name.startswith("_"):
        return
    if isinstance(found, (property, cached_property)):
        yield f"| `{name}` | {cell(_first(found))} |"
    elif isinstance(found, (classmethod, staticmethod)) or inspect.isfunction(found):
        plain = getattr(found, "__func__", found)
        yield f"| `{name}{_signature(plain, method=True, narrow=True)}` | {cell(_first(plain))} |"


def _enum(name: str, thing: Any) -> str:
    values = ", ".join(f"`{member.name}` = `{member.value!r}`" for member in thing)
    return f"### shoal.{name}\n\n{_first(thing)} {values}.\n"


def _error(name: str, thing: Any) -> str:
    status = getattr(thing, "exit_status", None)
    return f"| `{name}` | `{thing.__base__.__name__}` | {_first(thing)} | {status or ''} |"


def _module(name: str, module: types.ModuleType) -> str:
    names = getattr(module, "__all__", None) or [
        key
        for key, value in vars(module).items()
        if inspect.isfunction(value) and value.__module__ == module.__name__ and key[0] != "_"
    ]
    things = {key: getattr(module, key) for key in names if name not in INSIDE or _apart(key)}
    kinds = {
        "function": {key: x for key, x in things.items() if inspect.isfunction(x)},
        "class": {key: x for key, x in things.items() if isinstance(x, type)},
        "table of names": {key: x for key, x in things.items() if isinstance(x, dict)},
    }
    own = tuple(kinds["class"].values())
    kinds["value"] = {key: x for key, x in things.items() if isinstance(x, own)}
    left = set(things).difference(*kinds.values())
    assert not left, f"shoal.{name}: no description of {sorted(left)}"
    parts = [f"### shoal.{name}\n\n{_first(module)}\n"]
    for kind, found in kinds.items():
        if found:
            rows = (_thing(key, thing) for key, thing in found.items())
            parts.append(f"| {kind} | description |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def _apart(name: str) -> bool:
    """Return whether a name of an inner module is listed nowhere else."""
    return name not in shoal.__all__


def _thing(name: str, thing: Any) -> str:
    if isinstance(thing, dict):
        return f"| `{name}` | {', '.join(f'`{key}`' for key in thing)} |"
    if not callable(thing):
        return f"| `{name}` | `{cell(repr(thing))}` |"
    return f"| `{name}{_signature(thing, narrow=True)}` | {cell(_first(thing))} |"


def _names(name: str, thing: dict[str, Any]) -> str:
    rows = [f"- `{key}`: `{value.__name__}`" for key, value in thing.items()]
    return f"### shoal.{name}\n\n" + "\n".join(rows) + "\n"


def _code(name: str, thing: Any) -> str:
    text = f"{name}{_signature(thing)}"
    if len(text) > 88:
        inside = [f"    {p},\n" for p in _parameters(thing)]
        text = f"{name}(\n{''.join(inside)}){_returns(thing)}"
    return f"```text\n{text}\n```"


def _signature(thing: Any, *, method: bool = False, narrow: bool = False) -> str:
    """Return the signature; `narrow` for a cell: names and defaults only."""
    parameters = _parameters(thing, bare=narrow)
    inside = ", ".join(parameters[1:] if method else parameters)
    return f"({inside})" if narrow else f"({inside}){_returns(thing)}"


def _parameters(thing: Any, *, bare: bool = False) -> list[str]:
    texts, keyword = [], False
    for p in inspect.signature(thing).parameters.values():
        if p.kind is p.KEYWORD_ONLY and not keyword:
            texts.append("*")
        keyword = keyword or p.kind in (p.KEYWORD_ONLY, p.VAR_POSITIONAL)
        annotation = p.empty if bare else _Bare(p.annotation)
        text = str(p.replace(annotation=annotation, default=_default(p)))
        texts.append(text.replace(" = ", "=") if bare else text)
    return texts


def _default(parameter: inspect.Parameter) -> Any:
    """Return the default as it is written in code."""
    found = parameter.default
    if repr(found) in ("<factory>", "slice(None, None, None)"):
        return ...
    return found.value if isinstance(found, Enum) else found


def _returns(thing: Any) -> str:
    found = inspect.signature(thing).return_annotation
    wanted = not isinstance(thing, type) and found is not inspect.Signature.empty
    return f" -> {_Bare(found)}" if wanted else ""


class _Bare:
    """An annotation that prints as it is written in code."""

    def __new__(cls, annotation: Any) -> Any:
        return annotation if annotation is inspect.Parameter.empty else super().__new__(cls)

    def __init__(self, annotation: Any) -> None:
        self.text = annotation if isinstance(annotation, str) else _plain(annotation)

    def __repr__(self) -> str:
        return self.text


def _plain(annotation: Any) -> str:
    return annotation.__name__ if isinstance(annotation, type) else str(annotation)


def _first(thing: Any) -> str:
    text = inspect.getdoc(thing) or ""
    return re.sub(r"\s+", " ", text.split("\n\n", maxsplit=1)[0]).strip()


def cell(text: str | None) -> str:
    """Return a text escaped for a cell of a Markdown table."""
    return re.sub(r"\s+", " ", text or "").replace("|", "\\|").replace("*", "\\*")
