"""Caveats: what a reader must know in addition to a guarantee that holds.

A release may meet its model and still single out or expose most people. The command line, the
report and the JSON summaries report these caveats wherever they report the guarantee, also if the
rows of the release stay on disk.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.release.large_release import LargeRelease
from shoal.release.release import Release
from shoal.risk.sensitive import Homogeneity, Source, homogeneity, is_freeform
from shoal.risk.singling_out import (
    LinkedRows,
    SinglingOut,
    Uniques,
    count_linked,
    is_notable,
    singling_out,
)
from shoal.rows.queries import Released
from shoal.rows.store import Counting, counted_classes
from shoal.support.wording import count_of, counted, listed_names
from shoal.table.classes import Marginals
from shoal.table.column import Role

Say = Callable[[int, int], str]


@dataclass(frozen=True)
class Caveats:
    """Counts of people whom the guarantee of a release does not protect.

    Parameters:
        singling_out: People singled out by columns that are published unchanged.
        same_value: For each sensitive column, the people whose class has one value; empty if they
            cannot be counted.
        by_class: Whether groups of people are classes.
        linked: People singled out by rows that a published identifier links, None without any.
    """

    singling_out: SinglingOut
    same_value: tuple[Homogeneity, ...]
    by_class: bool = True
    linked: LinkedRows | None = None

    def sentences(self, say: Say = count_of, groups: str = "class") -> list[str]:
        """Return the caveats that affect many people, in words.

        say: formats a count of people and its total; groups: the word for a group of people.
        """
        same_value = [
            self.describe(result, say, groups)
            for result in self.same_value
            if result.usual < 1 and is_notable(result.certain, result.people)
        ]
        return [*self.singling_out.sentences(say), *same_value, *self._linked(say)]

    def _linked(self, say: Say) -> list[str]:
        """Return whom linked rows single out beyond the guarantee, in words."""
        rows = self.linked
        if rows is None:
            return []
        sentences = []
        if rows.by_count:
            sentences.append(
                f"{listed_names(rows.columns)} links the rows of a person: their number and the "
                f"quasi-identifiers single out {say(rows.by_count, rows.people)}"
            )
        if rows.by_values > rows.by_count:
            sentences.append(
                f"{listed_names(rows.columns)} links the rows of a person: all values in them "
                f"together single out {say(rows.by_values, rows.people)}"
            )
        return sentences

    def describe(self, result: Homogeneity, say: Say = count_of, groups: str = "class") -> str:
        """Return in words how many classes and people have one value of a sensitive column."""
        every = counted(result.groups, groups if self.by_class else "group")
        return (
            f"in {result.certain_groups:,} of {every}, with {say(result.certain, result.people)}, "
            f"everyone has the same {result.column}"
        )


def caveats(source: Source) -> Caveats:
    """Count what the guarantee of a release, or of classes alone, does not cover.

    Examples:
        >>> import pyarrow as pa
        >>> from shoal.table.classes import Classes
        >>> from shoal.table.table import Table
        >>> data = pa.table({"zip": list("1122") * 5, "disease": ["flu"] * 12 + ["cold"] * 8})
        >>> table = Table.from_arrow(data, {"zip": "quasi", "disease": "sensitive"})
        >>> found = caveats(Classes.by_quasi(table))
        >>> found.sentences()
        []
    """
    release = source if isinstance(source, Release) else None
    classes = source.classes if isinstance(source, Release) else source
    try:
        same = tuple(homogeneity(source, name) for name in classes.table.sensitive)
    except InputError:  # the coverage is too large to count
        same = ()
    by_class = release is None or not is_freeform(release)
    linked = None if release is None else count_linked(release)
    return Caveats(singling_out(classes), same, by_class, linked)


def to_dict(result: Homogeneity) -> dict[str, Any]:
    """Return how many classes and people have one value, as plain data."""
    return {
        "classes": result.groups,
        "same_value_classes": result.certain_groups,
        "people": result.people,
        "same_value_people": result.certain,
        "same_value_share": result.certain_share,
        "largest_share": result.largest,
    }


def caveats_of(release: LargeRelease) -> Caveats:
    """Count what the guarantee of a release does not cover.

    People with several rows are not counted by the values of their classes.
    """
    return Caveats(release.singling_out, _same_values(release), linked=release.linked_rows)


def singling_out_of(release: LargeRelease) -> SinglingOut:
    """Count the people who are singled out by columns that are published unchanged."""
    rows = release.published_rows(text=False)[1]
    changed = (*release.quasi, *release.source.replaced)
    unchanged = [n for n in release.source.published if n not in changed]
    insensitive = [n for n in unchanged if n in release.source.names(Role.INSENSITIVE)]
    return count_singled_out(rows, unchanged, insensitive, release.counted.released_people)


def linked_rows_of(release: LargeRelease) -> LinkedRows | None:
    """Count the people whom linked rows single out; None if no rows are linked."""
    source = release.source
    if release.linked is None:
        return None
    rows: Released = release.published_rows(text=False)[1]
    sets = np.unique(release.linked[release.kept_rows])
    unchanged = [n for n in source.published if n not in (*release.quasi, *source.replaced)]
    by_count = rows.count_alone([], with_quasi=True, linked=True)
    by_values = rows.count_alone(unchanged, with_quasi=True, linked=True)
    if not unchanged:  # the number of rows is no value
        by_values = 0
    links = tuple(name for name, each in source.replaced.items() if each.links)
    return LinkedRows(links, len(sets), by_count, by_values)


def count_singled_out(
    rows: Released, unchanged: Sequence[str], insensitive: Sequence[str], people: int
) -> SinglingOut:
    """Count the people who are singled out by each column and by several together."""

    def count(names: Sequence[str]) -> Uniques:
        both = rows.count_alone(names, with_quasi=True)
        return Uniques(tuple(names), rows.count_alone(names), both, people)

    columns = tuple(count([name]) for name in unchanged)
    together = count(unchanged) if len(unchanged) > 1 else None
    covered = None
    if insensitive:
        covered = next((c for c in columns if c.columns == tuple(insensitive)), None)
        covered = covered or count(insensitive)
    return SinglingOut(people, columns, together, covered)


def _same_values(release: LargeRelease) -> tuple[Homogeneity, ...]:
    """Return the classes of one value of each sensitive column."""
    if release.published_rows(text=False)[1].total.people is not None:
        return ()
    return tuple(_homogeneity(release, name) for name in release.source.names(Role.SENSITIVE))


def _homogeneity(release: LargeRelease, name: str) -> Homogeneity:
    columns, rows = release.published_rows(text=False)
    encoded = release.source.encoded[name]
    cells = {quasi: each.values for quasi, each in columns.items()}
    counting = Counting(rows.count_classes, rows.count_with_value, cells, rows.total)
    origin = Marginals(
        (encoded.column,), total=release.source.records, by_value={name: encoded.counts}
    )
    return homogeneity(counted_classes(counting, {name: encoded.column}, origin), name)
