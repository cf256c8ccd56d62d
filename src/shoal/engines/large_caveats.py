"""Caveats of a release whose rows stay on disk: what its guarantee does not cover."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from shoal.core.column import Role
from shoal.core.counted_classes import Marginals
from shoal.engines.counting import Counting, counted_classes
from shoal.engines.engine import Released
from shoal.engines.large_release import LargeRelease
from shoal.risk.caveats import Caveats
from shoal.risk.homogeneity import Homogeneity, homogeneity
from shoal.risk.linked_rows import LinkedRows
from shoal.risk.singling_out import SinglingOut, Uniques


def caveats_of(release: LargeRelease) -> Caveats:
    """Count what the guarantee of a release does not cover.

    People with several rows are not counted by the values of their classes.
    """
    found = Caveats(release.singling_out, _same_values(release))
    return replace(found, linked=release.linked_rows)


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
    sets = np.unique(release.linked[release.kept_tuples])
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
    found, rows = release.published_rows(text=False)
    encoded = release.source.encoded[name]
    cells = {quasi: each.values for quasi, each in found.items()}
    counting = Counting(rows.count_classes, rows.count_with_value, cells, rows.total)
    origin = Marginals(
        (encoded.column,), total=release.source.records, by_value={name: encoded.counts}
    )
    return homogeneity(counted_classes(counting, {name: encoded.column}, origin), name)
