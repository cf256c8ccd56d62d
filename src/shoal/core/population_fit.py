"""The people of a stated population who fit released rows, by the published cells."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, Floats

if TYPE_CHECKING:
    from shoal.core.fitting import Fitting
    from shoal.core.people import Unit
    from shoal.core.table import Table


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
    households: the same with households in the place of people, None if they are not counted.
    """

    fitting: Fitting
    places: Counts
    person: Unit | None = None
    counts: Counts | None = None
    households: PopulationFit | None = None

    @classmethod
    def between(
        cls, fitting: Fitting, places: Counts, population: Table, released: Table
    ) -> PopulationFit:
        """Return the fit of released rows, which count people, and households if they have them.

        Parameters:
            fitting: The graph between the population and the released rows.
            places: (rows,) the position of each row of interest among the released rows.
            released: The original of each released row, which says whom it is about.
        """
        homes = None
        if released.household is not None:
            assert population.household is not None
            by_home = replace(fitting, person=population.household)
            homes = cls(by_home, places, released.household, released.counts)
        return cls(fitting, places, released.person, released.counts, homes)

    @classmethod
    def of(cls, release: Any, rows: Counts) -> PopulationFit:
        """Return the fit of a release, for some of its rows by their positions in the original.

        Raises:
            InputError: The original states no population.
        """
        from shoal.core.fitting import fit_people, published_cells, shared_columns

        original = release.original
        population = original.population
        if population is None:
            raise InputError("the table states no population; name a table of everyone")
        names = shared_columns(release, population, None)
        published, kept = published_cells(release, population, names)
        released = replace(original, columns=original.columns[:1]).take(kept)
        places = np.full(len(original), -1, dtype=np.int64)
        places[kept] = np.arange(len(kept))
        fitting = fit_people(published, population, released.counts)
        return cls.between(fitting, places[rows], population, released)

    @property
    def units(self) -> tuple[PopulationFit, ...]:
        """The fit of people and, if they are counted, that of households."""
        return (self,) if self.households is None else (self, self.households)

    @cached_property
    def people(self) -> Counts:
        """(rows,) the people of the population who fit the row's cells, or households if fewer."""
        people = self.fitting.people_of[self.places]
        return people if self.households is None else np.minimum(people, self.households.people)

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
        from shoal.core.members import Members

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
    from shoal.core.people import distinct_rows

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
