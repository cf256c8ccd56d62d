"""kᵐ-anonymity: what an attacker with m linked rows of a person finds.

Terrovitis, Mamoulis & Kalnis, "Privacy-preserving anonymization of set-valued data", VLDB 2008,
here for multisets. The check is exact: all multisets of at most m rows of a person are counted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from shoal.core.grouping import group
from shoal.core.linked_events import count_combinations
from shoal.core.publishing.frames import from_frame
from shoal.core.roles import as_names
from shoal.core.values import encoding
from shoal.errors import InputError, UnknownColumn
from shoal.support.arrays import Codes
from shoal.support.options import check_whole


@dataclass(frozen=True)
class LinkedEvents:
    """How well people hide if an attacker knows some of their linked rows.

    Parameters:
        events: The number of rows that the attacker knows, m.
        k: The number of people that every combination of them should fit.
        people: People in the file.
        fewest: The fewest people that fit a combination of at most m rows of a person; they have
            each of these rows at least as often.
        below: People with a combination that fits fewer than k people.
        alone: People with a combination that fits nobody else.
    """

    events: int
    k: int
    people: int
    fewest: int
    below: int
    alone: int

    @property
    def holds(self) -> bool:
        """Whether every combination fits at least k people."""
        return self.below == 0

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain data."""
        return {
            "events": self.events,
            "k": self.k,
            "holds": self.holds,
            "people": self.people,
            "fewest": self.fewest,
            "below": self.below,
            "below_share": self.below / max(self.people, 1),
            "alone": self.alone,
            "alone_share": self.alone / max(self.people, 1),
        }


def linked_events(
    data: Any,
    person: str | Sequence[str],
    known: str | Sequence[str] = (),
    *,
    events: int = 2,
    k: int = 5,
) -> LinkedEvents:
    """Count the people whom an attacker with some of their rows finds.

    Rows are linked by a column that identifies people, such as a pseudonym. An event is the
    combination of values that a row has in the known columns. Known rows may be equal: two known
    rows of one event fit the people who have at least two rows of it.

    Parameters:
        data: A data frame.
        person: The columns that link the rows of a person.
        known: The columns that an attacker knows of a row; by default all others.
        events: The number of rows that the attacker knows.
        k: The number of people that every combination of rows should fit.

    Returns:
        The counts.

    Raises:
        InputError: There are too many combinations to count.

    >>> import pyarrow as pa
    >>> visits = pa.table({"who": list("aabbcc"), "ward": [1, 2, 1, 2, 1, 3]})
    >>> linked_events(visits, "who", events=1, k=2).alone
    1
    >>> linked_events(visits, "who", events=2, k=2).fewest
    1
    >>> often = pa.table({"who": list("aabc"), "ward": [1, 1, 1, 1]})
    >>> linked_events(often, "who", events=2, k=2).alone
    1
    """
    check_whole("events", events, 1)
    check_whole("k", k, 1)
    rows = from_frame(data)
    people, items = _encoded(rows, as_names(person), as_names(known))
    return count_events(people, items, events=events, k=k)


def count_events(people: Codes, items: Codes, *, events: int, k: int) -> LinkedEvents:
    """Count people by the multisets of at most `events` items that they have.

    Parameters:
        people: (rows,) the number of each row's person, without gaps.
        items: (rows,) the number of each row's event, without gaps.
    """
    found = count_combinations(people, items, events=events, k=k)
    below, alone = int(found.below.sum()), int(found.alone.sum())
    return LinkedEvents(events, k, len(found.below), found.fewest, below, alone)


def _encoded(rows: Any, person: Sequence[str], known: Sequence[str]) -> tuple[Codes, Codes]:
    """Return the person and the event of each row as numbers without gaps."""
    names = list(rows.column_names)
    chosen = known or [name for name in names if name not in person]
    for name in (*person, *chosen):
        if name not in names:
            raise UnknownColumn(f"no column {name!r}; there are {', '.join(names)}")
    if not person or not chosen:
        raise InputError("name the column that links the rows of a person, and a known column")
    return _numbers(rows, person), _numbers(rows, chosen)


def _numbers(rows: Any, names: Sequence[str]) -> Codes:
    encoded = [encoding.encode(rows.column(name), name) for name in names]
    return group([codes for codes, _ in encoded], [len(values) for _, values in encoded]).ids
