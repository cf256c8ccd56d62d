"""Caveats of a release whose rows stay on disk: what its guarantee does not cover."""

from __future__ import annotations

from shoal.core.column import Role
from shoal.core.counted_classes import Marginals
from shoal.engines.counting import Counting, counted_classes
from shoal.engines.large_release import LargeRelease
from shoal.risk.caveats import Caveats
from shoal.risk.homogeneity import Homogeneity, homogeneity
from shoal.risk.singling_out import SinglingOut, Uniques


def caveats_of(release: LargeRelease) -> Caveats:
    """Count what the guarantee of a release does not cover.

    People are counted as singled out by each column alone, not by several columns together. People
    with several rows are not counted by the values of their classes.
    """
    return Caveats(_singling_out(release), _same_values(release))


def _singling_out(release: LargeRelease) -> SinglingOut:
    _, rows = release.published_rows(text=False)
    people = release.counted.released_people
    unchanged = [n for n in release.source.published if n not in release.quasi]
    columns = tuple(Uniques((n,), rows.count_alone(n), None, people) for n in unchanged)
    return SinglingOut(people, columns, None, None)


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
