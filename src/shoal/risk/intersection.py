"""Intersection: several releases of the same people say more together than each alone.

Each weighs columns in its own way and is fine where the others are coarse, so that a reader of all
of them gets a finer table, with fewer people behind each row.

    overlay             the release whose cells are the values that the cells of all releases allow
    intersect           crowds and losses of each release and of the overlay, and sensitive values
                        that become certain
    intersect_classes   the same without the original, from classes alone

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, section
3.6; Ganta, Kasiviswanathan & Smith, "Composition attacks and auxiliary information in data
privacy", KDD 2008.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np

from shoal.errors import InputError
from shoal.metrics.cell_width import ncp_by_attribute
from shoal.release.provenance import Run
from shoal.release.release import Release
from shoal.risk.reidentification import Reidentification, by_person, row_weights
from shoal.risk.sensitive import homogeneity
from shoal.support.arrays import Bools, Codes, Counts, Floats
from shoal.table.classes import SUPPRESSED, Classes
from shoal.table.column import Column
from shoal.table.coverage import as_published
from shoal.table.members import Members
from shoal.table.people import group
from shoal.table.recoding import Recoding
from shoal.table.subsets import Subsets, range_labels, set_labels


@dataclass(frozen=True)
class Crowds:
    """Among how many people each person is hidden, from `intersect`.

    If a person has several rows, the row with the fewest people counts.

    Attributes:
        fewest: The smallest number of people.
        mean: The mean over people.
        below: Number of people who are hidden among fewer than k.
        alone: Number of people who are hidden among no one else.
    """

    fewest: int
    mean: float
    below: int
    alone: int

    @classmethod
    def of(cls, sizes: Counts, people: Counts, k: int) -> Crowds:
        """Return the figures; row i stands for people[i], each among sizes[i]."""
        total = max(int(people.sum()), 1)
        return cls(
            fewest=int(sizes.min()) if len(sizes) else 0,
            mean=float((sizes * people).sum() / total),
            below=int(people[sizes < k].sum()),
            alone=int(people[sizes <= 1].sum()),
        )


@dataclass(frozen=True)
class View:
    """What one release shows, or several together, from `intersect`.

    Attributes:
        people: People in at least one of the releases.
        classes: Number of kinds of rows.
        alike: People with rows that are equal in every release.
        rows: People with a row that each person fits by their quasi-identifiers; None without the
            original table.
        originals: People who fit the cells of each row; None without the original table.
        losses: For each quasi-identifier the certainty penalty of its cells, from 0 to 1; None
            without the original table.
    """

    people: int
    classes: int
    alike: Crowds
    rows: Crowds | None = None
    originals: Crowds | None = None
    losses: Mapping[str, float] | None = None

    @property
    def loss(self) -> float | None:
        """Mean certainty penalty of a cell, with equal weight for all columns."""
        if self.losses is None:
            return None
        return sum(self.losses.values()) / max(len(self.losses), 1)


@dataclass(frozen=True)
class Composition:
    """People whose value of a sensitive column becomes certain, from `intersect`.

    Attributes:
        column: The sensitive column.
        alone: For each release, people whose class in it has one value.
        linked: People whose rows, equal in all releases, have one value: for attackers who know
            which rows belong together, by a key, by their order or by columns published unchanged.
        unlinked: People whose classes have one value in common: for attackers who know only
            quasi-identifiers.
    """

    column: str
    alone: tuple[int, ...]
    linked: int
    unlinked: int


@dataclass(frozen=True)
class Intersection:
    """Result of `intersect`: several releases of the same people, separately and together.

    Attributes:
        k: People with fewer than k others like them are counted as `below`.
        releases: What each release shows.
        together: What they show together.
        sensitive: For each sensitive column, the people whose value becomes certain.
        combined: The table that all of them reveal together; None without the original.
    """

    k: int
    releases: tuple[View, ...]
    together: View
    sensitive: tuple[Composition, ...] = ()
    combined: Release | None = field(default=None, repr=False, compare=False)

    @property
    def finer(self) -> float | None:
        """Share of the least loss of a single release that the others take away."""
        losses = [view.loss for view in self.releases]
        least = min((loss for loss in losses if loss is not None), default=0.0)
        if self.together.loss is None:
            return None
        return max(1 - self.together.loss / least, 0.0) if least else 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return {
            "k": self.k,
            "finer": self.finer,
            "releases": [{**asdict(view), "loss": view.loss} for view in self.releases],
            "together": {**asdict(self.together), "loss": self.together.loss},
            "sensitive": [asdict(each) for each in self.sensitive],
        }


def intersect(*releases: Release, k: int | None = None) -> Intersection:
    """Measure how much finer several releases of the same table are together, and whom they expose.

    Rows are matched by position, because each release keeps the rows of its original. The cells of
    a person who is suppressed in one release come from the others. Cells are intersected row by
    row, as by a reader who knows which rows belong together; the sensitive columns are also
    evaluated without that knowledge.

    Parameters:
        releases: The releases.
        k: Groups below k count as small; by default the smallest k that a release claims, or the
            size of its smallest class if it claims none.

    Returns:
        The figures of each release and of all together.

    Raises:
        InputError: There are fewer than two releases, or they are not of the same table.

    >>> import pyarrow as pa
    >>> import shoal
    >>> table = shoal.read(pa.table({"age": [31, 33, 47, 48]}), roles={"age": "quasi"})
    >>> one = shoal.read_released(pa.table({"age": ["30-39"] * 2 + ["40-49"] * 2}), table)
    >>> other = shoal.read_released(pa.table({"age": ["30-32"] + ["33-49"] * 3}), table)
    >>> intersect(one, other).together.alike
    Crowds(fewest=1, mean=1.5, below=2, alone=2)
    """
    combined = overlay(releases)
    every = [release.classes for release in releases]
    few = min(_claimed_size(release) for release in releases) if k is None else k
    joined = joint(every)
    return Intersection(
        few,
        tuple(_view(release, release.classes, few) for release in releases),
        _view(combined, joined, few),
        _composed(every, joined),
        combined,
    )


def intersect_classes(every: Sequence[Classes], k: int | None = None) -> Intersection:
    """Measure what the classes of several releases reveal together, without their original.

    Row i of each release is about the same person. Cells are only compared for equality: the result
    counts the rows that are alike in all releases.

    Parameters:
        every: The classes of each release.
        k: Groups below k count as small; by default the size of the smallest class.

    Returns:
        The figures of each release and of all together.

    Raises:
        InputError: There are fewer than two releases, or they differ in their number of rows.

    >>> import pyarrow as pa
    >>> from shoal.risk import aligned
    >>> one = pa.table({"age": ["30-39", "30-39", "40-49", "40-49"]})
    >>> other = pa.table({"age": ["30-32", "33-49", "33-49", "33-49"]})
    >>> intersect_classes(aligned([one, other], {"age": "quasi"})).together.alike
    Crowds(fewest=1, mean=1.5, below=2, alone=2)
    """
    if len(every) < 2:
        raise InputError("give at least two releases to intersect")
    if len({len(classes.ids) for classes in every}) > 1:
        raise InputError("the releases differ in their number of rows; align them by a key")
    few = min(_smallest(classes) for classes in every) if k is None else k
    joined = joint(every)
    return Intersection(
        few,
        tuple(_view_of_classes(classes, few) for classes in every),
        _view_of_classes(joined, few),
        _composed(every, joined),
    )


def joint(every: Sequence[Classes]) -> Classes:
    """Return the classes of rows that look alike in every release.

    To be left out is a look, too; a row that all leave out has no class.
    """
    table = every[0].table
    ids = np.full(len(table), SUPPRESSED, dtype=np.int32)
    kept = np.flatnonzero(np.any([classes.ids >= 0 for classes in every], axis=0))
    if len(kept):
        looks = [classes.ids[kept] + np.int32(1) for classes in every]
        ids[kept] = group(looks, [len(classes) + 1 for classes in every]).ids
    return Classes.of(table, ids, every[0].origin)


def _claimed_size(release: Release) -> int:
    """Return the k that a release claims, or the size of its smallest class if it claims none."""
    claimed = max((int(getattr(part, "k", 1)) for part in release.model.parts), default=1)
    return claimed if claimed > 1 else _smallest(release.classes)


def _smallest(classes: Classes) -> int:
    return max(int(classes.sizes.min()) if len(classes) else 0, 2)


def _view_of_classes(classes: Classes, k: int) -> View:
    risk = Reidentification.of_classes(classes)
    return View(risk.people, len(classes), Crowds.of(risk.sizes, risk.weights, k))


def _view(release: Release, classes: Classes, k: int) -> View:
    rows = np.flatnonzero(release.classes.ids >= 0)
    released, coverage = release.original.take(rows), release.coverage.take(rows)
    alike = _view_of_classes(classes, k)

    def hidden(sizes: Counts) -> Crowds:
        return Crowds.of(*by_person(sizes, row_weights(released), released.person, np.minimum), k)

    return replace(
        alike,
        rows=hidden(coverage.released()),
        originals=hidden(coverage.originals()),
        losses=ncp_by_attribute(release),
    )


def _composed(every: Sequence[Classes], joined: Classes) -> tuple[Composition, ...]:
    names = [
        name
        for name in joined.table.sensitive
        if all(name in classes.table.sensitive for classes in every)
    ]
    return tuple(
        Composition(
            name,
            tuple(homogeneity(classes, name).certain for classes in every),
            homogeneity(joined, name).certain,
            _unlinked(every, joined, name),
        )
        for name in names
    )


def _unlinked(every: Sequence[Classes], joined: Classes, name: str) -> int:
    """Return how many people are left with one value that all their classes show."""
    domain = joined.table[name].domain
    _, sample = np.unique(joined.ids, return_index=True)
    sample = sample[joined.ids[sample] >= 0]  # one row of each joint class
    # a value is possible for a joint class if every release that the class is in shows it there
    releases_in = np.zeros(len(sample), dtype=np.int64)  # releases that the class is in
    keys = []
    for classes in every:
        owners, values = _shown(classes, classes.ids[sample], name)
        releases_in += classes.ids[sample] >= 0
        keys.append(owners * domain + values)
    shown, times = np.unique(np.concatenate(keys), return_counts=True)
    common = times == releases_in[shown // domain]
    left = np.bincount(shown[common] // domain, minlength=len(sample))
    person = joined.table.person
    if person is not None:
        return Members.of(joined.ids, person).count_people(left == 1)
    return int(joined.rows[left == 1].sum())


def _shown(classes: Classes, ids: Codes, name: str) -> tuple[Counts, Counts]:
    """Return the values that some classes show, each beside its place in `ids`; −1 shows none."""
    values = classes.histogram(name)
    places = np.flatnonzero(ids >= 0)
    begins, widths = values.indptr[ids[places]], np.diff(values.indptr)[ids[places]]
    # the slices begins … begins + widths of the histogram, one after the other
    ends = np.cumsum(widths)
    entries = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - widths, widths)
    codes = values.codes[entries + np.repeat(begins, widths)]
    return np.repeat(places, widths), codes.astype(np.int64)


def overlay(releases: Sequence[Release]) -> Release:
    """Return the release whose cells contain the values that the cells of all releases allow.

    A row that some releases suppress has the cells of the others; a row that all suppress stays
    suppressed. The result claims the model of the first release; `verify` checks whether it holds.

    Parameters:
        releases: At least two releases of the same table.

    Returns:
        The overlay.

    Raises:
        InputError: The releases are not of the same table.

    >>> import pyarrow as pa
    >>> import shoal
    >>> table = shoal.read(pa.table({"age": [31, 33, 47, 48]}), roles={"age": "quasi"})
    >>> one = shoal.read_released(pa.table({"age": ["30-39"] * 2 + ["40-49"] * 2}), table)
    >>> other = shoal.read_released(pa.table({"age": ["30-32"] + ["33-49"] * 3}), table)
    >>> overlay([one, other]).to_native().column("age").to_pylist()
    ['31', '33', '[47, 48]', '[47, 48]']
    """
    check_same_people(releases)
    first = releases[0]
    recodings = {
        name: reduce(_meet, [_as_seen(release, name) for release in releases])
        for name in first.original.quasi
    }
    out = np.logical_and.reduce([_hidden(release) for release in releases])
    run = Run(method="laid over each other")
    return Release(first.original, recodings, first.model, out if out.any() else None, run)


def check_same_people(releases: Sequence[Release]) -> None:
    """Raise an error if releases are from different tables or do not cover the original values."""
    if len(releases) < 2:
        raise InputError("give at least two releases to overlay")
    first = releases[0].original
    for place, release in enumerate(releases, start=1):
        other = release.original
        same = first.quasi == other.quasi and len(first) == len(other)
        if not same or not all(_are_equal(first[name], other[name]) for name in first.quasi):
            raise InputError(
                f"releases 1 and {place} are not from the same table: quasi-identifiers, rows and "
                "their order must be equal"
            )
        kept = ~_hidden(release)
        for name, recoding in release.recodings.items():
            codes = recoding.codes[kept], recoding.column.codes[kept]
            if not recoding.subsets.hold(*codes).all():
                raise InputError(
                    f"release {place} does not cover the original values of column {name!r}"
                )


def _are_equal(one: Column, other: Column) -> bool:
    alike = one.kind == other.kind and one.values.equals(other.values)
    return alike and np.array_equal(one.codes, other.codes)


def _hidden(release: Release) -> Bools:
    if release.suppressed is None:
        return np.zeros(len(release.original), dtype=np.bool_)
    return release.suppressed


def _as_seen(release: Release, name: str) -> Recoding:
    """Return the recoding of a column, with suppressed rows covering all values."""
    recoding = as_published(release.recodings[name], release.classes.ids)
    return recoding.suppress(_hidden(release))


def _meet(one: Recoding, other: Recoding) -> Recoding:
    """Return, row by row, what two recodings of a column leave open together."""
    pairs = group([one.codes, other.codes], [len(one.labels), len(other.labels)])
    left, right = one.codes[pairs.first], other.codes[pairs.first]
    subsets = overlaps(one.subsets.take(left), other.subsets.take(right))
    column = one.column
    low = high = None
    if one.low is not None and other.low is not None:
        assert one.high is not None
        assert other.high is not None
        nothing = subsets.last_below(column.known) < 0  # missing alone has no bounds
        theirs = [
            column.ruler.converted(ends, other.column.ruler) for ends in (other.low, other.high)
        ]
        low = np.where(nothing, np.nan, _tighter(np.fmax, one.low[left], theirs[0][right]))
        high = np.where(nothing, np.nan, _tighter(np.fmin, one.high[left], theirs[1][right]))
    return Recoding(column, pairs.ids, subsets, _labels(column, subsets), low, high)


def _tighter(choose: np.ufunc, one: Floats, other: Floats) -> Floats:
    return np.asarray(choose(one, other), dtype=np.float64)


def overlaps(one: Subsets, other: Subsets) -> Subsets:
    """Return, pair by pair, the members that both subsets have; every pair must share one."""
    width = one.domain + 1
    mine, theirs = (np.repeat(np.arange(len(s)), np.diff(s.indptr)) for s in (one, other))
    starts, stops = theirs * width + other.starts, theirs * width + other.stops
    # runs of the other that end behind the start of mine and start before its end
    begin = np.searchsorted(stops, mine * width + one.starts, side="right")
    end = np.searchsorted(starts, mine * width + one.stops, side="left")
    shared = np.maximum(end - begin, 0)
    ends = np.cumsum(shared)
    run = np.arange(int(ends[-1]) if len(ends) else 0) - np.repeat(ends - shared, shared)
    run += np.repeat(begin, shared)
    own = np.repeat(np.arange(len(mine)), shared)
    indptr = np.concatenate(([0], np.cumsum(np.bincount(mine[own], minlength=len(one)))))
    return Subsets(
        one.domain,
        indptr.astype(np.int64),
        np.maximum(one.starts[own], other.starts[run]).astype(np.int32),
        np.minimum(one.stops[own], other.stops[run]).astype(np.int32),
    )


def _labels(column: Column, subsets: Subsets) -> tuple[str | None, ...]:
    """Return ranges where an ordered column has no gap, sets otherwise."""
    if not column.ordered:
        return set_labels(column, subsets)
    known = subsets.sizes
    if column.missing is not None:
        known = known - (subsets.last == column.missing)
    gapped = np.flatnonzero(subsets.last_below(column.known) - subsets.first + 1 != known)
    texts = list(range_labels(column, subsets))
    for entry, text in zip(gapped.tolist(), set_labels(column, subsets.take(gapped)), strict=True):
        texts[entry] = text
    return tuple(texts)
