"""The people of a stated population who fit released rows, by the published cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from shoal.errors import InputError
from shoal.support.arrays import Bools, Codes, Counts, Floats

if TYPE_CHECKING:
    from shoal.core.fitting import Fitting
    from shoal.core.people import Unit


class Presence(NamedTuple):
    """How likely people of the population are in a release; one entry for each kind of people.

    highest: at most the sum of released people / fitting people over the classes that they fit.
    lowest: at least the largest of these shares, 0 if they fit no record.
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
    """

    fitting: Fitting
    places: Counts
    person: Unit | None = None
    counts: Counts | None = None

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
        counts = None if original.counts is None else original.counts[kept]
        places = np.full(len(original), -1, dtype=np.int64)
        places[kept] = np.arange(len(kept))
        return cls(
            fit_people(published, population, counts),
            places[rows],
            None if original.person is None else original.person.take(kept),
            counts,
        )

    @cached_property
    def people(self) -> Counts:
        """(rows,) the number of people of the population who fit the row's cells."""
        return self.fitting.people_of[self.places]

    def presence(self) -> Presence:
        """Return how likely each kind of people of the population is in the release."""
        fitting = self.fitting
        indptr, boxes = fitting.fits.edges
        kinds = len(indptr) - 1
        heads = np.repeat(np.arange(kinds), np.diff(indptr))
        shares = self._released / np.maximum(self._fitting_people, 1)
        highest = np.bincount(heads, shares[boxes], minlength=kinds).astype(np.float64)
        lowest = np.zeros(kinds)
        np.maximum.at(lowest, heads, shares[boxes])
        if fitting.person is not None:
            highest, lowest = _over_people(highest, lowest, fitting.people, fitting.person)
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


def _over_people(
    highest: Floats, lowest: Floats, kinds: Codes, person: Unit
) -> tuple[Floats, Floats]:
    """Return the bounds of kinds of rows if a person of the population may have several kinds.

    A kind gets the worst bounds of the people who have it: a person's highest is the sum over their
    kinds, their lowest the largest of these.
    """
    from shoal.core.people import distinct_rows

    pairs = distinct_rows(kinds, len(highest), person.ids, person.count)
    of_pair, whose = kinds[pairs], person.ids[pairs]
    sums = np.bincount(whose, highest[of_pair], minlength=person.count)
    best = np.zeros(person.count)
    np.maximum.at(best, whose, lowest[of_pair])
    worst, least = highest.copy(), np.full(len(lowest), np.inf)
    np.maximum.at(worst, of_pair, sums[whose])
    np.minimum.at(least, of_pair, best[whose])
    return worst, least
