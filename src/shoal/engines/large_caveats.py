"""Caveats of a release whose rows stay on disk: what its guarantee does not cover."""

from __future__ import annotations

from collections.abc import Sequence

from shoal.core.column import Role
from shoal.core.counted_classes import Marginals
from shoal.engines.counting import Counting, counted_classes
from shoal.engines.engine import Released
from shoal.engines.large_release import LargeRelease
from shoal.risk.caveats import Caveats
from shoal.risk.homogeneity import Homogeneity, homogeneity
from shoal.risk.singling_out import SinglingOut, Uniques


def caveats_of(release: LargeRelease) -> Caveats:
    """Count what the guarantee of a release does not cover.

    People with several rows are not counted by the values of their classes.
    """
    return Caveats(release.singling_out, _same_values(release))


def singling_out_of(release: LargeRelease) -> SinglingOut:
    """Count the people who are singled out by columns that are published unchanged."""
    rows = release.published_rows(text=False)[1]
    unchanged = [n for n in release.source.published if n not in release.quasi]
    insensitive = [n for n in unchanged if n in release.source.names(Role.INSENSITIVE)]
    return count_singled_out(rows, unchanged, insensitive, release.counted.released_people)


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
