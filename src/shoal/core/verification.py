"""Verification: classes and coverage, derived again from the published values only.

Only the owner knows which rows belong to one person, so people are counted with the original.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.classes import Classes
from shoal.core.column import Column, Kind, Role
from shoal.core.counted_classes import CountedClasses
from shoal.core.coverage import Coverage
from shoal.core.linked_rows import link_rows
from shoal.core.population_fit import PopulationFit
from shoal.core.table import Table
from shoal.core.values import encoding
from shoal.errors import InputError, NotAnonymous
from shoal.support.arrays import Bools, Codes, Counts
from shoal.support.wording import counted


class Guarantee(Protocol):
    """A guarantee of a release: a condition on its classes or on its coverage."""

    @property
    def parts(self) -> Sequence[Any]:
        """The models that it joins."""

    def holds(self, classes: Classes) -> Bools:
        """Return, for each class, whether it meets the guarantee."""

    def describe(self) -> str:
        """Return the guarantee in plain words."""


@dataclass(frozen=True)
class Verification:
    """The outcome of a check.

    levels: for each model the parameter that the release reaches.
    records, people: total over all classes; the same if each row is one person.
    smallest: people in the smallest class, or households if the table has them and they are fewer.
    households: total number of households, None if the table has none.
    failing: classes that break the model, or contain a record that does; `failing_records`: records
        that break it, which are all records of a class that breaks it.
    truthful: every original value is a member of its published subset, and the published text
        matches the subset.
    """

    model: str
    classes: int
    smallest: int
    failing: int
    failing_records: int
    levels: dict[str, float]
    records: int = 0
    people: int = 0
    households: int | None = None
    truthful: bool = True

    @property
    def holds(self) -> bool:
        """Whether the release may be published."""
        return self.failing == 0 and self.truthful

    def __bool__(self) -> bool:
        return self.holds

    def in_words(self) -> tuple[str, str]:
        """Return a title and a line about a table of the first published rows."""
        people = counted(self.people, "person", "people")
        return (
            f"{self.model}: {'holds' if self else 'does not hold'}",
            f"{people} in {counted(self.classes, 'class')}, the smallest of {self.smallest:,}; the "
            f"first rows of {counted(self.records, 'published row')} are shown.",
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain data."""
        return {"holds": self.holds, **asdict(self)}


def refuse_broken(checked: Verification, model: Guarantee) -> None:
    """Reject a release whose check failed, before it is written.

    Raises:
        NotAnonymous: The guarantee does not hold, or a published cell is not true.
    """
    if checked.failing:
        raise NotAnonymous(
            f"{model} does not hold: {checked.failing:,} of "
            f"{counted(checked.classes, 'class')} break it; nothing was written"
        )
    if not checked.truthful:
        raise NotAnonymous(
            "some published cells do not cover their original value, or their text does not "
            "match the values that they cover; nothing was written"
        )


def recount(
    published: Any,
    original: Table,
    guarantee: Guarantee,
    rows: Counts,
    coverage: Callable[[], Coverage] | None = None,
    links: Sequence[str] = (),
    counts: Counts | None = None,
    fit: Callable[[], PopulationFit] | None = None,
    origin: Table | None = None,
) -> Verification:
    """Check published rows against the guarantee, with the distributions of the original.

    Parameters:
        rows: (published rows,) the original row of each, which identifies its person.
        links: Published columns whose values link the rows of one person.
        counts: (published rows,) how many times each row is published; None for once.
        fit: Returns who of the population fits the published rows.
        origin: The original with the people that its published identifiers show, whose
            distributions are those of the check; by default the original.
    """
    table = published_table(published, original)
    table = replace(
        table,
        counts=counts,
        person=None if original.person is None else original.person.take(rows),
        household=None if original.household is None else original.household.take(rows),
        weights=None if original.weights is None else original.weights.take(rows),
    )
    identifiers = [published.column(name) for name in links]
    linked = link_rows(table, identifiers, as_profiles=not covers_rows(guarantee))
    by_row = any(not part.by_class or part.needs_population for part in guarantee.parts)
    if linked is not table and by_row:
        raise InputError(
            f"{guarantee} compares single rows with people, but {', '.join(links)} links the rows "
            "of one person; use k-anonymity, or leave the column out"
        )
    origin = original if origin is None else origin
    return judge(Classes.by_quasi(linked, origin=origin), guarantee, coverage, fit)


def covers_rows(guarantee: Guarantee) -> bool:
    """Return whether a guarantee covers combinations of rows of a person, in all its parts."""
    return all(part.over_rows for part in guarantee.parts)


def bound_people(by_row: Verification, guarantee: Guarantee, rows_per_person: int) -> Verification:
    """Return what the released rows alone imply about people, for a check that holds.

    by_row: the same check with every row counted as a person. A class has at least its rows divided
        by `rows_per_person` people, and at least the k that was checked.
    """
    if rows_per_person == 1 or not by_row.classes:
        return by_row
    asked = max(int(part.k) for part in guarantee.parts)
    least = max(asked, -(-by_row.smallest // rows_per_person))
    levels = {str(part): float(least) for part in guarantee.parts}
    people = max(asked, -(-by_row.records // rows_per_person))
    return replace(by_row, smallest=least, people=people, levels=levels)


def judge(
    classes: Classes,
    guarantee: Guarantee,
    coverage: Callable[[], Coverage] | None = None,
    fit: Callable[[], PopulationFit] | None = None,
) -> Verification:
    """Check the guarantee on every class, and on the coverage if classes do not decide it.

    Parameters:
        coverage: Returns the coverage, with the rows of the classes.
        fit: Returns who of the population fits the rows of the classes.
    """
    broken = np.zeros(len(classes.ids), dtype=np.bool_)
    levels = {}
    for part in guarantee.parts:
        if part.by_release:
            measured = fit() if fit is not None and part.needs_population else None
            failing, levels[str(part)] = part.judge_release(classes, measured)
            broken |= failing
            continue
        kept, level = part.holds(classes), part.level(classes)
        failing = ~kept[classes.ids]
        if not part.by_class and not kept.all():
            if coverage is None:
                raise InputError(
                    f"{part} depends on which people fit which records, which classes do not show; "
                    "check the release itself, or use k-anonymity"
                )
            failing, level = _judge_coverage(part, classes, coverage())
        broken |= failing
        levels[str(part)] = level
    counts = classes.table.counts
    return Verification(
        model=str(guarantee),
        classes=len(classes),
        smallest=int(classes.sizes.min()) if len(classes) else 0,
        failing=len(np.unique(classes.ids[broken])),
        failing_records=int(broken.sum() if counts is None else counts[broken].sum()),
        levels=levels,
        records=int(classes.rows.sum()),
        people=classes.released_people,
        households=_households(classes),
    )


def _judge_coverage(part: Any, classes: Classes, coverage: Coverage) -> tuple[Bools, float]:
    """Return which rows break a coverage model, and the k that all rows reach.

    If people have several rows, the rows of a class of k people meet it, as they are all equal.
    """
    if classes.table.unit is None:
        return ~part.holds_for(coverage), part.level_for(coverage)
    sizes = classes.sizes[classes.ids]

    def failing(k: int) -> Bools:
        broken: Bools = (sizes < k) & ~replace(part, k=k).holds_for(coverage)
        return broken

    low, high = 1, int(np.maximum(sizes, coverage.released()).min())
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (low, middle - 1) if failing(middle).any() else (middle, high)
    return failing(part.k), float(low)


def _households(classes: Classes) -> int | None:
    if isinstance(classes, CountedClasses):
        return classes.tallies.released_households
    household = classes.table.household
    return None if household is None else len(np.unique(household.ids[classes.ids >= 0]))


def published_table(published: Any, original: Table) -> Table:
    """Encode published rows: quasi-identifiers as new values, sensitive columns in old codes."""
    columns = []
    for column in original.columns:
        if column.role is Role.QUASI:
            codes, values = encoding.encode(published.column(column.name), column.name)
            columns.append(Column(column.name, Role.QUASI, Kind.NOMINAL, codes, values))
        elif column.role is Role.SENSITIVE:
            codes = old_codes(published.column(column.name), column)
            columns.append(replace(column, codes=codes))
    return Table(tuple(columns))


def old_codes(cells: Any, column: Column) -> Codes:
    """Return the codes of published cells in a column of the original."""
    plain = encoding.with_missing(cells, column.name)
    try:
        known = encoding.combined(plain.cast(column.values.type), column.name)
        found = pc.index_in(known, value_set=column.values)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(f"column {column.name!r}: its type differs from the original's") from None
    if found.null_count:
        raise InputError(
            f"column {column.name!r}: {counted(found.null_count, 'cell')} with a value that the "
            "original does not have"
        )
    codes: Codes = found.to_numpy().astype(np.int32)
    return codes
