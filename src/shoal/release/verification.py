"""Verification: classes and coverage, derived again from the published values only.

Only the owner knows which rows belong to one person, so people are counted with the original. For
models of a stated population, its people are fitted to the published cells.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError, NotAnonymous
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.support.wording import counted
from shoal.table import encoding
from shoal.table.classes import Classes, CountedClasses
from shoal.table.column import Column, Kind, Role
from shoal.table.coverage import Coverage
from shoal.table.linked import link_rows
from shoal.table.table import Table

if TYPE_CHECKING:
    from shoal.release.fitting import Fitting
    from shoal.table.people import Unit


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


class Presence(NamedTuple):
    """How likely people of the population are in a release; one entry for each kind of people.

    highest: the sum of released people / fitting people over the classes that they fit; for people
        with several kinds of rows, over the classes that one of these fits.
    lowest: the largest of these shares, 0 if they fit no record.
    present: whether they fit a record.
    """

    highest: Floats
    lowest: Floats
    present: Bools


@dataclass(frozen=True, eq=False)
class PopulationFit:
    """Released rows, and the people of the population who fit their cells.

    fitting: the graph between the population and the released rows.
    places: (rows,) the position of each row among the released rows of the graph.
    person: the person of each released row of the graph, None if each is a different person.
    counts: (released rows of the graph,) records behind each, None for one.
    others: the same with households in the place of people, and with other readings of the cells;
        a guarantee must hold for each.
    """

    fitting: Fitting
    places: Counts
    person: Unit | None = None
    counts: Counts | None = None
    others: tuple[PopulationFit, ...] = ()

    @classmethod
    def between(
        cls, fittings: Sequence[Fitting], places: Counts, population: Table, released: Table
    ) -> PopulationFit:
        """Return the fit of released rows, which count people, and households if they have them.

        Parameters:
            fittings: The graph between the population and the released rows, one for each reading
                of the cells.
            places: (rows,) the position of each row of interest among the released rows.
            released: The original of each released row, which says whom it is about.
        """
        fits = [cls(each, places, released.person, released.counts) for each in fittings]
        if released.household is not None:
            assert population.household is not None
            homes = [replace(each, person=population.household) for each in fittings]
            fits += [cls(each, places, released.household, released.counts) for each in homes]
        return replace(fits[0], others=tuple(fits[1:]))

    @classmethod
    def of(cls, release: Any, rows: Counts) -> PopulationFit:
        """Return the fit of a release, for some of its rows by their positions in the original.

        Raises:
            InputError: The original states no population.
        """
        from shoal.release.fitting import (
            fit_people,
            other_readings,
            published_cells,
            shared_columns,
        )

        original = release.original
        population = original.population
        if population is None:
            raise InputError("the table states no population; name a table of everyone")
        names = shared_columns(release, population, None)
        published, kept = published_cells(release, population, names)
        readings = [published, *other_readings(release, population, published)]
        released = replace(original, columns=original.columns[:1]).take(kept)
        places = np.full(len(original), -1, dtype=np.int64)
        places[kept] = np.arange(len(kept))
        fittings = [fit_people(each, population, released.counts) for each in readings]
        return cls.between(fittings, places[rows], population, released)

    @property
    def each(self) -> tuple[PopulationFit, ...]:
        """The fits for which a guarantee must hold."""
        return (self, *self.others)

    @cached_property
    def people(self) -> Counts:
        """(rows,) the people of the population who fit the row's cells, or others if fewer."""
        fewest: Counts = np.minimum.reduce([fit.fitting.people_of[fit.places] for fit in self.each])
        return fewest

    def presence(self) -> Presence:
        """Return how likely each kind of people of the population is in the release."""
        fitting = self.fitting
        indptr, boxes = fitting.fits.edges
        shares = self._released / np.maximum(self._fitting_people, 1)
        if fitting.person is None:
            highest, lowest = _over_boxes(indptr, boxes, shares)
        else:
            highest, lowest = _over_people(indptr, boxes, shares, fitting.people, fitting.person)
        return Presence(highest, lowest, np.diff(indptr) > 0)

    def rows_of(self, kinds: Bools) -> Bools:
        """(rows,) whether people of one of these kinds fit the row."""
        indptr, boxes = self.fitting.fits.edges
        chosen = np.zeros(len(self.fitting.fits.copies), dtype=np.bool_)
        chosen[boxes[np.repeat(kinds, np.diff(indptr))]] = True
        return chosen[self.fitting.records][self.places]

    @property
    def _released(self) -> Counts:
        """(boxes,) the released people with the cells of each box."""
        if self.person is None:
            return self.fitting.fits.copies
        from shoal.table.members import Members

        members = Members.of(self.fitting.records, self.person, self.counts)
        return np.bincount(members.place, minlength=len(self.fitting.fits.copies))

    @property
    def _fitting_people(self) -> Counts:
        """(boxes,) the people of the population who fit each box."""
        found = np.zeros(len(self.fitting.fits.copies), dtype=np.int64)
        found[self.fitting.records] = self.fitting.people_of
        return found


def _over_boxes(indptr: Counts, boxes: Codes, shares: Floats) -> tuple[Floats, Floats]:
    """Return the sum and the largest of the shares of the boxes that each head fits."""
    heads = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    sums = np.bincount(heads, shares[boxes], minlength=len(indptr) - 1).astype(np.float64)
    largest = np.zeros(len(indptr) - 1)
    np.maximum.at(largest, heads, shares[boxes])
    return sums, largest


def _over_people(
    indptr: Counts, boxes: Codes, shares: Floats, kinds: Codes, person: Unit
) -> tuple[Floats, Floats]:
    """Return the bounds of kinds of rows if a person of the population may have several kinds.

    A person fits the boxes that one of their rows fits, each of which counts once. A kind gets the
    worst bounds of the people who have it.
    """
    from shoal.table.people import distinct_rows

    pairs = distinct_rows(kinds, len(indptr) - 1, person.ids, person.count)
    of_pair, whose = kinds[pairs], person.ids[pairs]
    widths = np.diff(indptr)[of_pair]
    starts = np.cumsum(widths) - widths
    edges = np.arange(widths.sum()) + np.repeat(indptr[of_pair] - starts, widths)
    owners, reached = np.repeat(whose, widths), boxes[edges]
    once = distinct_rows(owners, person.count, reached, len(shares))
    once = once[np.argsort(owners[once], kind="stable")]
    ends = np.searchsorted(owners[once], np.arange(person.count + 1))
    sums, best = _over_boxes(ends, reached[once], shares)
    worst, least = np.zeros(len(indptr) - 1), np.full(len(indptr) - 1, np.inf)
    np.maximum.at(worst, of_pair, sums[whose])
    np.minimum.at(least, of_pair, best[whose])
    return worst, least
