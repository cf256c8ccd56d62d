"""The interface of algorithms: a frozen dataclass of options with one method, `search`."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, get_args, get_origin, get_type_hints

from shoal.errors import unknown
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.table.table import Table


class Algorithm(Protocol):
    """Finds a release of a table that meets a model; its fields are its options."""

    name: ClassVar[str]
    # by_level: ClassVar[bool] = True if it publishes each column at one level of its hierarchy

    def search(self, table: Table, model: Model) -> Release:
        """Return a release, or raise Infeasible."""


@dataclass(frozen=True)
class Option:
    """One option of an algorithm, for command lines, forms and reports.

    meaning: what it does, from the docstring of the algorithm.
    """

    name: str
    type: str
    default: Any
    choices: tuple[Any, ...] = ()
    meaning: str = ""


def options_of(algorithm: type[Any]) -> tuple[Option, ...]:
    """Return the options of an algorithm class, which are its fields."""
    hints, meanings = get_type_hints(algorithm), _meanings(algorithm)
    return tuple(
        Option(
            f.name,
            getattr(hints[f.name], "__name__", str(hints[f.name])),
            None if f.default is MISSING else f.default,
            get_args(hints[f.name]) if get_origin(hints[f.name]) is Literal else (),
            meanings.get(f.name, ""),
        )
        for f in fields(algorithm)
    )


def about(thing: type[Any]) -> str:
    """Return what a method or a model is: the first line of its docstring."""
    return inspect.cleandoc(thing.__doc__ or "").splitlines()[0]


def _meanings(thing: type[Any]) -> dict[str, str]:
    """Return the meaning of each option from a docstring: `name: meaning`, more lines indented.

    Options are listed in a `Parameters:` block or without one.
    """
    text = inspect.cleandoc(thing.__doc__ or "")
    block = re.search(r"^Parameters:\n((?: {4}.+\n?)+)", text, re.MULTILINE)
    if block:
        text = textwrap.dedent(block[1])
    found = re.findall(r"^(\w+): (.+(?:\n +.+)*)", text, re.MULTILINE)
    return {name: re.sub(r"\s+", " ", meaning) for name, meaning in found}


def make(algorithm: type[Any], options: Mapping[str, Any]) -> Any:
    """Create an algorithm with these options; reject unknown options and values."""
    known = {option.name: option for option in options_of(algorithm)}
    for name in options:
        if name not in known:
            raise unknown(f"{algorithm.name} has no option", name, known)
    return algorithm(**options)
