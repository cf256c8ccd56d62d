"""What a privacy model is: a question put to every class of a release."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np

from shoal.core.arrays import Bools
from shoal.core.classes import Classes
from shoal.core.column import Role
from shoal.core.coverage import Coverage
from shoal.core.options import check_flag as check_flag  # noqa: PLC0414  for models
from shoal.core.options import check_range as check_range  # noqa: PLC0414
from shoal.core.options import check_whole as check_whole  # noqa: PLC0414
from shoal.core.table import Table
from shoal.core.wording import counted
from shoal.errors import InputError

ROUNDING = 1e-12  # what sums of shares may be off by


class Model(ABC):
    """A guarantee that each class of a release keeps on its own; join several with `&`.

    Models count people. A person with several rows in a class counts once in its size, and once for
    each value that her rows there show.

    monotone: whether a class made of two that hold must hold itself, if nobody is in both. Searches
        rely on it.
    monotone_over_people: whether that is so even if some people have rows in both.
    by_class: whether classes are all that it looks at; a release is judged by its coverage if not.
    """

    name: ClassVar[str]
    monotone: ClassVar[bool]
    monotone_over_people: ClassVar[bool] = False
    by_class: ClassVar[bool] = True

    @abstractmethod
    def holds(self, classes: Classes) -> Bools:
        """Tell, class by class, whether the model is kept."""

    @abstractmethod
    def level(self, classes: Classes) -> float:
        """Return the parameter that the classes in fact reach, the worst class deciding."""

    @abstractmethod
    def describe(self) -> str:
        """Say in one plain sentence what a reader of the release cannot do."""

    @property
    def parts(self) -> tuple[Model, ...]:
        """The models that this one joins."""
        return (self,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that it looks at."""
        column = getattr(self, "column", None)
        return () if column is None else (column,)

    def monotone_on(self, table: Table) -> bool:
        """Whether a class made of two that hold must hold itself, in releases of this table."""
        return self.monotone and (table.unit is None or self.monotone_over_people)

    @property
    def least_size(self) -> int:
        """The people that every class must hold at least."""
        return max(int(getattr(part, "k", 1)) for part in self.parts)

    @property
    def by_size(self) -> bool:
        """Whether the size of classes is all that is asked of them."""
        return all(part.name == "k-anonymity" or not part.by_class for part in self.parts)

    def check(self, table: Table) -> None:
        """Refuse a table that the model cannot be asked of."""
        for name in self.columns:
            column = table[name]
            if column.role is not Role.SENSITIVE:
                raise InputError(
                    f"{self}: column {name!r} is {column.role}; the model needs it sensitive"
                )

    def __and__(self, other: Model) -> Model:
        parts = tuple(dict.fromkeys((*self.parts, *other.parts)))
        return parts[0] if len(parts) == 1 else All(parts)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters by name, without those that are not set: None, or false by default."""
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}  # type: ignore[arg-type]
        return {
            name: value
            for name, (value, default) in values.items()
            if value is not None and not (value is False and default is False)
        }

    def __str__(self) -> str:
        told = ", ".join(f"{key}={_told(value)}" for key, value in self.options.items())
        return f"{self.name}({told})"


@dataclass(frozen=True)
class SizeModel(Model):
    """A guarantee that a class keeps which holds k people, and k households where they are named.

    Monotone: merged classes only grow.
    """

    monotone: ClassVar[bool] = True
    monotone_over_people: ClassVar[bool] = True
    k: int

    def __post_init__(self) -> None:
        check_whole("k", self.k, 2)

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether it holds k people."""
        return classes.sizes >= self.k

    def level(self, classes: Classes) -> float:
        """Return the size of the smallest class."""
        return float(classes.sizes.min()) if len(classes) else float("inf")

    def check(self, table: Table) -> None:
        """Refuse a table of fewer than k people or households."""
        check_enough(table, self.k)


def check_enough(table: Table, k: int) -> None:
    """Refuse a table of fewer than k people or households."""
    numbers = [(table.people, "person", "people")]
    if table.household is not None:
        numbers.append((table.household.count, "household", "households"))
    for number, one, many in numbers:
        if number < k:
            raise InputError(
                f"k is {k} but the table has {counted(number, one, many)}; choose a smaller k"
            )


@dataclass(frozen=True)
class CoverageModel(SizeModel):
    """A guarantee about who may be whom: which released records each person fits.

    A class of k people keeps it, since people who are published alike fit each other's records;
    searches by class ask for no more. Rows of smaller classes are judged by the coverage, which may
    keep the model all the same.
    """

    by_class: ClassVar[bool] = False

    @abstractmethod
    def holds_for(self, coverage: Coverage) -> Bools:
        """Tell, released row by row, whether the model is kept for its person and its cells."""

    @abstractmethod
    def level_for(self, coverage: Coverage) -> float:
        """Return the k that the coverage in fact reaches."""


_PLAIN = re.compile(r"[^\s,()\"'\\](?:[^,()\n\r]*[^\s,()])?")


def _told(value: object) -> str:
    """Return an option's value, quoted where it would not be read back."""
    text = str(value)
    return text if _PLAIN.fullmatch(text) else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


@dataclass(frozen=True)
class All(Model):
    """Several models at once."""

    name: ClassVar[str] = "all"
    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "monotone", all(model.monotone for model in self.models))
        over = all(model.monotone_over_people for model in self.models)
        object.__setattr__(self, "monotone_over_people", over)
        object.__setattr__(self, "by_class", all(model.by_class for model in self.models))

    def holds(self, classes: Classes) -> Bools:
        """Tell, class by class, whether every model is kept."""
        kept = np.ones(len(classes), dtype=np.bool_)
        for model in self.models:
            kept &= model.holds(classes)
        return kept

    def level(self, classes: Classes) -> float:
        """Return the share of classes that keep every model."""
        return float(self.holds(classes).mean()) if len(classes) else 1.0

    def describe(self) -> str:
        """Say what each model says."""
        return " ".join(model.describe() for model in self.models)

    @property
    def parts(self) -> tuple[Model, ...]:
        """The models joined here."""
        return self.models

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that any of them looks at."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.columns))

    def check(self, table: Table) -> None:
        """Refuse a table that any of the models cannot be asked of."""
        for model in self.models:
            model.check(table)

    def __str__(self) -> str:
        return " & ".join(str(model) for model in self.models)
