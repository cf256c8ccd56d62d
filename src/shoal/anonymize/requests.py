"""Conversion of arguments to a table and a model: frames with column lists, models as text."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from shoal.anonymize.auto import Shape
from shoal.core.publishing.native import origin_of
from shoal.core.release import Release
from shoal.core.roles import as_names, roles_of, warn_unassigned
from shoal.core.table import Table
from shoal.errors import InputError
from shoal.privacy.expressions import parse
from shoal.privacy.k_anonymity import KAnonymity
from shoal.privacy.model import Model

if TYPE_CHECKING:
    from shoal.identifiers.replacement import Context


@runtime_checkable
class OnDisk(Protocol):
    """A table that is not in memory; an engine anonymizes it with the search of a method."""

    def anonymized(
        self, model: Model, algorithm: Any, search: Callable[..., Release], secrets: Context
    ) -> Release:
        """Return the release; `search` runs the method on a table in memory and checks it.

        secrets: the key and the domain of replaced identifiers.
        """

    def shape_for(self, model: Model) -> Shape:
        """Return what the choice of a method for a model depends on."""


@dataclass(frozen=True, kw_only=True)
class Described:
    """The roles of a frame's columns, with the options of the same names of `anonymize`."""

    quasi: str | Sequence[str] = ()
    sensitive: str | Sequence[str] = ()
    insensitive: str | Sequence[str] = ()
    identifier: str | Sequence[str] = ()
    weight: str | Sequence[str] = ()
    person: str | Sequence[str] = ()
    household: str | Sequence[str] = ()
    rows_are_people: bool = False
    hierarchies: Mapping[str, Any] | None = None

    def __bool__(self) -> bool:
        return self != Described()

    def table(self, data: Any, stacklevel: int = 2) -> Table:
        """Return a frame as a table; a table is returned unchanged."""
        if isinstance(data, Table):
            if self:
                raise InputError(
                    "a shoal.Table already has roles; pass quasi, sensitive and the other roles "
                    "only with a frame"
                )
            return data
        self._check_quasi(data)
        table = Table.from_arrow(
            data,
            roles_of(self.quasi, self.sensitive, self.insensitive, self.identifier, self.weight),
            self.hierarchies,
            person=self.person,
            household=self.household,
            rows_are_people=self.rows_are_people,
        )
        warn_unassigned(table.unassigned, stacklevel + 1)
        return origin_of(data, table)

    def opened(self, frame: Any) -> Any:
        """Return a frame of Spark as a table whose rows stay there."""
        from shoal.engines import open as open_table

        self._check_quasi(frame)
        return open_table(
            frame,
            roles=roles_of(self.quasi, self.sensitive, self.insensitive, self.identifier),
            hierarchies=self.hierarchies,
            person=self.person,
            household=self.household,
            rows_are_people=self.rows_are_people,
        )

    def _check_quasi(self, data: Any) -> None:
        if not as_names(self.quasi):
            raise InputError(
                f"quasi is required: list the columns of the {_kind(data)} that others may know as "
                "quasi=[…]; shoal.inspect suggests some, and shoal.read reads a schema"
            )


def as_model(model: Model | str | None, k: int | None) -> Model:
    """Return a model given as a model, as text, as k, or as k and one of these.

    >>> print(as_model("l-diversity(2, disease)", 5))
    k-anonymity(k=5) & l-diversity(l=2, column=disease)
    """
    if isinstance(model, str):
        model = parse(model)
    if not isinstance(model, Model | None):
        raise InputError(
            "the model must be a privacy model such as KAnonymity(5) or 'k-anonymity(5)', "
            f"not {type(model).__name__}"
        )
    if k is None:
        if model is None:
            raise InputError("give a guarantee: k=5, or a model such as 'l-diversity(2, disease)'")
        return model
    size = KAnonymity(k)
    return size if model is None else size & model


def _kind(thing: Any) -> str:
    return f"{type(thing).__module__.partition('.')[0]} {type(thing).__name__}"
