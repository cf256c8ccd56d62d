"""The interface of algorithms: a frozen dataclass of options with one method, `search`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from typing import Any, ClassVar, Literal, Protocol, get_args, get_origin, get_type_hints

from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import unknown
from shoal.privacy.model import Model


class Algorithm(Protocol):
    """Finds a release of a table that meets a model; its fields are its options."""

    name: ClassVar[str]

    def search(self, table: Table, model: Model) -> Release:
        """Return a release, or raise Infeasible."""


@dataclass(frozen=True)
class Option:
    """One option of an algorithm, for command lines, forms and reports."""

    name: str
    type: str
    default: Any
    choices: tuple[Any, ...] = ()


def options_of(algorithm: type[Any]) -> tuple[Option, ...]:
    """Return the options of an algorithm class, which are its fields."""
    hints = get_type_hints(algorithm)
    return tuple(
        Option(
            f.name,
            getattr(hints[f.name], "__name__", str(hints[f.name])),
            None if f.default is MISSING else f.default,
            get_args(hints[f.name]) if get_origin(hints[f.name]) is Literal else (),
        )
        for f in fields(algorithm)
    )


def make(algorithm: type[Any], options: Mapping[str, Any]) -> Any:
    """Create an algorithm with these options; reject unknown options and values."""
    known = {option.name: option for option in options_of(algorithm)}
    for name in options:
        if name not in known:
            raise unknown(f"{algorithm.name} has no option", name, known)
    return algorithm(**options)
