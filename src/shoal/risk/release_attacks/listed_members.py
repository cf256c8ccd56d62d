"""Listed members: values that only one person has, written out in released cells.

k-anonymity counts the people of a class, not what its cells say. A set of five full names meets
k = 5 and still names five people: anyone who looks for one of them learns that the person is in the
table. Ranges, masks, labels of hierarchies and `*` write no value out, except for the ends of a
range, which are not counted here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.release.release import Release
from shoal.risk.release_attacks.attacked_tables import Cells, Sources
from shoal.support.arrays import Codes, Counts
from shoal.support.wording import count_of

SMALL = 20  # values of a set that a reader can try one by one


@dataclass(frozen=True)
class ListedMembers:
    """People whose own value a released column writes out; nobody else has the value.

    Attributes:
        column: The quasi-identifier.
        people: Number of people in the original.
        alone: People with a value that nobody else in the original has.
        listed: Those of them whose value is in a released cell, alone or in a set.
        in_small_sets: Those of them whose value is in a cell of at most 20 values.
        chance: How many would be listed by chance, from the control group; None without one.
    """

    column: str
    people: int
    alone: int
    listed: int
    in_small_sets: int
    chance: float | None

    @property
    def discloses(self) -> bool:
        """Whether more people are listed than chance explains."""
        return self.listed > round(self.chance or 0.0)

    def sentence(self) -> str:
        """Return the finding in words."""
        return (
            f"{self.column} lists {count_of(self.listed, self.people)} by a value that nobody else "
            f"has, {self.in_small_sets:,} of them among at most {SMALL} values: anyone who knows "
            "it learns that the person is in the release"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "column": self.column,
            "people": self.people,
            "alone": self.alone,
            "listed": self.listed,
            "in_small_sets": self.in_small_sets,
            "chance": self.chance,
            "discloses": self.discloses,
        }


def list_members(sources: Sources) -> tuple[ListedMembers, ...]:
    """Return, for each released quasi-identifier, whose own values its cells write out.

    People of the control group whose value nobody in the original has are listed only by chance,
    as in a synthetic release.
    """
    return tuple(_of_column(name, cells, sources) for name, cells in sources.quasi.items())


def _of_column(name: str, cells: Cells, sources: Sources) -> ListedMembers:
    codes, who, originals = cells.column.codes, sources.who, sources.originals
    shortest = _shortest_lists(cells)
    known = np.ones(len(shortest), dtype=np.bool_)
    if cells.column.missing is not None:
        known[cells.column.missing] = False
    holders, others = (
        _count_holders(codes[part], who[part], len(known))
        for part in (slice(0, originals), slice(originals, None))
    )

    def people(part: slice, own: Any) -> int:
        return len(np.unique(who[part][own[codes[part]]]))

    inside, outside = slice(0, originals), slice(originals, None)
    own = known & (holders == 1)
    # people of the control group who are alone with a value that the original lacks: a cell that
    # writes it out does so by chance
    strange = known & (holders == 0) & (others == 1) & np.isfinite(shortest)
    total, controls = sources.people_counts
    return ListedMembers(
        name,
        total,
        people(inside, own),
        people(inside, own & np.isfinite(shortest)),
        people(inside, own & (shortest <= SMALL)),
        people(outside, strange) / controls * total if controls else None,
    )


def _shortest_lists(cells: Cells) -> Any:
    """(domain,) number of values in the shortest cell that writes a value out; infinite if none."""
    indptr, members = cells.listed
    lengths = np.diff(indptr)
    shortest = np.full(cells.column.domain, np.inf)
    np.minimum.at(shortest, members, np.repeat(lengths, lengths))
    return shortest


def _count_holders(codes: Codes, who: Codes, domain: int) -> Counts:
    """(domain,) number of different people with each value."""
    pairs = np.unique(who.astype(np.int64) * domain + codes)
    return np.bincount(pairs % domain, minlength=domain)


def listing_columns(release: Release) -> list[str]:
    """Return the quasi-identifiers whose cells write out a value that only one person has.

    Examples:
        >>> import pyarrow as pa
        >>> import shoal
        >>> names = pa.table({"name": ["Ann", "Bob", "Cid", "Dee"], "age": [31, 33, 31, 33]})
        >>> release = shoal.anonymize(names, k=2, quasi=["name", "age"], hierarchies={
        ...     "age": {"intervals": [10]}})
        >>> listing_columns(release)
        ['name']
    """
    table = release.original
    listing = []
    for name, recoding in release.recodings.items():
        column, holders = recoding.column, table.people_with(name)
        used = np.bincount(recoding.codes, minlength=len(recoding.labels)) > 0
        if recoding.levels is not None:
            used &= recoding.levels <= 0
        labels = {recoding.labels[entry]: entry for entry in np.flatnonzero(used).tolist()}
        own = holders == 1
        if column.missing is not None:
            own[column.missing] = False
        shown = [code for code in np.flatnonzero(own).tolist() if column.labels[code] in labels]
        sets = [e for label, e in labels.items() if label is not None and label[:1] == "{"]
        members = recoding.subsets.take(np.array(sets, dtype=np.int64)).flat()[1]
        if shown or own[members].any():
            listing.append(name)
    return listing
