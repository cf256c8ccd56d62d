"""The interface of privacy models: conditions on the classes of a release.

    Model                       `holds` for each class, `level` of the worst class
    ├── SizeModel               k people in each class
    │   └── CoverageModel       also decided by which records each person fits
    ├── ReleaseModel            all classes together: `judge_release`
    │   └── PopulationModel     and a population: `judge_fit`
    └── All                     several models joined with `&`

Searches need more than a verdict: whether merged classes still meet the model (`monotone`), and how
many records must leave a class before the rest meets it (`fewest_removed`, with its bounds below).
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from shoal.errors import InputError
from shoal.support.arrays import Bools, Counts, Floats
from shoal.support.options import check_whole
from shoal.support.wording import counted
from shoal.table.classes import Classes
from shoal.table.column import Role
from shoal.table.coverage import Coverage
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.release.verification import PopulationFit

ROUNDING = 1e-12  # rounding error of sums of shares
_NEWTON_STEPS = 5
_SLACK = 1e-9  # share of the records of a class, for rounding errors
_PLAIN = re.compile(r"[^\s,()\"'\\](?:[^,()\n\r]*[^\s,()])?")


class Model(ABC):
    """A guarantee that each class of a release meets separately; join several with `&`.

    Models count people. A person with several rows in a class counts once in its size, and once for
    each value that occurs in those rows.

    Attributes:
        monotone: Whether merging two classes that meet the model gives a class that meets it, if
            no person is in both.
        monotone_over_people: Whether this also holds if some people have rows in both.
        by_class: Whether the model depends on classes only; otherwise it depends on the coverage.
        over_rows: Whether the model covers combinations of rows of a person. It is then judged on
            all classes together, and no class meets it on its own.
        by_release: Whether it is a condition on all classes together; see `ReleaseModel`.
        needs_population: Whether it compares rows with people of a stated population.
    """

    name: ClassVar[str]
    monotone: ClassVar[bool]
    monotone_over_people: ClassVar[bool] = False
    by_class: ClassVar[bool] = True
    over_rows: ClassVar[bool] = False
    by_release: ClassVar[bool] = False
    needs_population: ClassVar[bool] = False

    @abstractmethod
    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether it meets the model."""

    @abstractmethod
    def level(self, classes: Classes) -> float:
        """Return the parameter that the classes reach; the worst class decides."""

    def fewest_removed(self, classes: Classes) -> Counts:
        """Return, for each class, a lower bound of the records to remove from it.

        Without them the rest of the class meets the model or is empty. The bound is 0 for a class
        that meets the model and 1 or more for any other. It assumes that each record is a different
        person.
        """
        broken = ~self.holds(classes)
        if not broken.any():
            return np.zeros(len(classes), dtype=np.int64)
        return np.where(broken, self._removed_if_broken(classes, broken), 0)

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return `fewest_removed` of the classes that break the model, any number for others."""
        return np.ones(len(classes), dtype=np.int64)

    @abstractmethod
    def describe(self) -> str:
        """Return one plain sentence that states the guarantee."""

    @property
    def parts(self) -> tuple[Model, ...]:
        """The joined models, or this one."""
        return (self,)

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that the model uses."""
        column = getattr(self, "column", None)
        return () if column is None else (column,)

    def for_search(self, table: Table) -> Model:
        """Return an equivalent model for which methods have a faster search, or this one."""
        return self

    def monotone_on(self, table: Table) -> bool:
        """Return whether merged classes keep meeting the model, in releases of this table."""
        return self.monotone and (table.unit is None or self.monotone_over_people)

    @property
    def least_size(self) -> int:
        """Minimum number of people in a class."""
        sizes = (int(getattr(part, "k", 1)) for part in self.parts if not part.by_release)
        return max(sizes, default=1)

    @property
    def equivalent_size(self) -> int:
        """The minimum class size that is the same condition if each person has one row, or 0.

        Classes of this size meet the model, and no release without suppressed records meets it
        with smaller ones. So the least loss over classes of this size is the least loss under the
        model, and methods may prove it optimal or bound it. Joined models may require more than the
        largest size of a part, which is still a bound.
        """
        return max((part.equivalent_size for part in self.parts if part is not self), default=0)

    @property
    def by_size(self) -> bool:
        """Whether the model depends on the sizes of classes only."""
        return all(part.name == "k-anonymity" or not part.by_class for part in self.parts)

    def check(self, table: Table) -> None:
        """Reject a table that the model does not apply to."""
        for name in self.columns:
            column = table[name]
            if column.role is not Role.SENSITIVE:
                raise InputError(
                    f"{self}: column {name!r} is {column.role}; the model needs a sensitive column"
                )

    def __and__(self, other: Model) -> Model:
        parts = tuple(dict.fromkeys((*self.parts, *other.parts)))
        return parts[0] if len(parts) == 1 else All(parts)

    @property
    def options(self) -> dict[str, Any]:
        """The parameters by name, without those that are None, or false by default."""
        values = {f.name: (getattr(self, f.name), f.default) for f in fields(self)}  # type: ignore[arg-type]
        return {
            name: value
            for name, (value, default) in values.items()
            if value is not None and not (value is False and default is False)
        }

    def __str__(self) -> str:
        options = ", ".join(f"{key}={_quote(value)}" for key, value in self.options.items())
        return f"{self.name}({options})"


def _quote(value: object) -> str:
    """Return the value of an option as text, quoted if `parse` needs it."""
    text = str(value)
    return text if _PLAIN.fullmatch(text) else '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


@dataclass(frozen=True)
class SizeModel(Model):
    """A guarantee that a class of k people meets; of k households too if the table has them.

    Monotone: merging classes only increases their size.
    """

    monotone: ClassVar[bool] = True
    monotone_over_people: ClassVar[bool] = True
    k: int

    def __post_init__(self) -> None:
        check_whole("k", self.k, 2)

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether it has k people."""
        return classes.sizes >= self.k

    def level(self, classes: Classes) -> float:
        """Return the size of the smallest class."""
        return float(classes.sizes.min()) if len(classes) else float("inf")

    def _removed_if_broken(self, classes: Classes, broken: Bools) -> Counts:
        """Return all records: no part of a small class is large enough."""
        return classes.rows

    def check(self, table: Table) -> None:
        """Reject a table with fewer than k people or households."""
        check_enough(table, self.k)


def check_enough(table: Table, k: int) -> None:
    """Reject a table with fewer than k people or households."""
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
    """A guarantee about the coverage: which released records each person fits.

    A class of k people meets it, since the people of a class fit each other's records, so searches
    by class require nothing else. Rows of smaller classes can still meet the model by their
    coverage.
    """

    by_class: ClassVar[bool] = False

    @abstractmethod
    def holds_for(self, coverage: Coverage) -> Bools:
        """Return, for each released row, whether its person and its cells meet the model."""

    @abstractmethod
    def level_for(self, coverage: Coverage) -> float:
        """Return the k that the coverage reaches."""


class ReleaseModel(Model):
    """A guarantee about the release as a whole, which no class decides alone.

    Methods do not search for it: they search for k-anonymity, with the least k whose release meets
    the guarantee.
    """

    monotone: ClassVar[bool] = True
    by_release: ClassVar[bool] = True

    @property
    @abstractmethod
    def sufficient(self) -> int:
        """The class size that searches try first; they go beyond it only if it is not enough."""

    @abstractmethod
    def judge_release(
        self, classes: Classes, fit: PopulationFit | None = None
    ) -> tuple[Bools, float]:
        """Return which rows break the model, and the parameter that the release reaches.

        Parameters:
            fit: The people of the population who fit the rows, for models that need them.
        """

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether none of its rows breaks the model."""
        failing = self.judge_release(classes)[0] & (classes.ids >= 0)
        meets = np.ones(len(classes), dtype=np.bool_)
        meets[classes.ids[failing]] = False
        return meets

    def level(self, classes: Classes) -> float:
        """Return the parameter that the release reaches."""
        return self.judge_release(classes)[1]


class PopulationModel(ReleaseModel):
    """A guarantee about the people of the population who fit the released records."""

    needs_population: ClassVar[bool] = True

    @abstractmethod
    def judge_fit(self, classes: Classes, fit: PopulationFit) -> tuple[Bools, float]:
        """Return which rows break the model, and the parameter that the release reaches."""

    def judge_release(
        self, classes: Classes, fit: PopulationFit | None = None
    ) -> tuple[Bools, float]:
        """Return which rows break the model, and the parameter that the release reaches."""
        if fit is None:
            raise InputError(
                f"{self} compares the release with a population; name a table of everyone as the "
                "population"
            )
        return self.judge_fit(classes, fit)

    def check(self, table: Table) -> None:
        """Reject a table without a population, or one that lacks a quasi-identifier."""
        check_enough(table, 2)
        if table.population is None:
            raise InputError(f"{self} needs a population; name a table of everyone")
        lacking = [name for name in table.quasi if name not in table.population]
        if lacking:
            raise InputError(
                f"{self}: the population has no column {lacking[0]!r}; it needs all "
                "quasi-identifiers"
            )
        if table.household is not None and table.population.household is None:
            raise InputError(
                f"{self}: the table counts households, and the population does not name them; add "
                f"the columns {', '.join(table.household.columns)} to it"
            )


@dataclass(frozen=True)
class All(Model):
    """Several models at once."""

    name: ClassVar[str] = "all"
    models: tuple[Model, ...]

    def __post_init__(self) -> None:
        # what is a class variable of a single model depends on the parts here
        object.__setattr__(self, "monotone", all(model.monotone for model in self.models))
        over = all(model.monotone_over_people for model in self.models)
        object.__setattr__(self, "monotone_over_people", over)
        object.__setattr__(self, "by_class", all(model.by_class for model in self.models))
        object.__setattr__(self, "over_rows", any(model.over_rows for model in self.models))
        object.__setattr__(self, "by_release", any(model.by_release for model in self.models))

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether it meets every model."""
        meets = np.ones(len(classes), dtype=np.bool_)
        for model in self.models:
            meets &= model.holds(classes)
        return meets

    def level(self, classes: Classes) -> float:
        """Return the share of classes that meet every model."""
        return float(self.holds(classes).mean()) if len(classes) else 1.0

    def fewest_removed(self, classes: Classes) -> Counts:
        """Return the largest number that one of the broken models requires."""
        most = np.zeros(len(classes), dtype=np.int64)
        for model in self.models:
            most = np.maximum(most, model.fewest_removed(classes))
        return most

    def describe(self) -> str:
        """Return what each model guarantees."""
        return " ".join(model.describe() for model in self.models)

    @property
    def parts(self) -> tuple[Model, ...]:
        """The joined models."""
        return self.models

    @property
    def columns(self) -> tuple[str, ...]:
        """The sensitive columns that any of the models uses."""
        return tuple(dict.fromkeys(name for model in self.models for name in model.columns))

    def check(self, table: Table) -> None:
        """Reject a table that any of the models does not apply to."""
        for model in self.models:
            model.check(table)

    def __str__(self) -> str:
        return " & ".join(str(model) for model in self.models)


def removed_by_caps(classes: Classes, name: str, caps: Floats, share: float = 1.0) -> Counts:
    """(classes,) lower bound of the records to remove until no value exceeds its cap by too much.

    At least 1 for each class; see `largest_parts`.

    Parameters:
        caps: (domain,) largest share of a part that counts for each value.
        share: Share of a part that must count.
    """
    histogram = classes.histogram(name)
    records = classes.rows.astype(np.float64)
    largest = largest_parts(
        histogram.counts, caps[histogram.codes], histogram.indptr[:-1], records, share
    )
    return at_least(records - largest, classes.rows)


def largest_parts(
    counts: Counts | Floats,
    caps: Floats,
    starts: NDArray[np.integer],
    records: Floats,
    share: float,
) -> Floats:
    """(classes,) upper bound of the records N of a part with Σ min(count, cap · N) ≥ share · N.

    Let g(N) = Σ min(count, cap · N) − share · N. It is concave and g(0) = 0, so if g(N) < 0 for all
    records of the class, it falls there, and every tangent is above it. So Newton's steps from
    there come down to the largest N with g(N) ≥ 0, and are never below it.

    Parameters:
        counts, caps: Of each value of each class.
        starts: (classes,) the first value of each class.
        records: (classes,) records of each class.
        share: Share of a part that must count.
    """
    widths = np.diff(np.append(starts, len(counts)))
    largest = records
    for _ in range(_NEWTON_STEPS):  # each step is an upper bound, so we may stop after any
        allowed = caps * np.repeat(largest, widths)
        excess = np.add.reduceat(np.minimum(counts, allowed), starts) - share * largest  # g
        slope = np.add.reduceat(np.where(allowed < counts, caps, 0.0), starts) - share  # g'
        down = (excess < 0) & (slope < 0)
        step = np.divide(excess, slope, where=down, out=np.zeros(len(records)))
        largest = np.where(down, largest - step, largest)
    return np.clip(largest, 0.0, records)


def at_least(removed: Floats, rows: Counts) -> Counts:
    """(classes,) the least whole number, from 1 to all records of a class, that a bound implies."""
    least = np.ceil(removed - _SLACK * np.maximum(rows, 1)).astype(np.int64)
    return np.clip(least, 1, np.maximum(rows, 1))
