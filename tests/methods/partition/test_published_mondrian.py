"""Mondrian as published: the widest attribute is cut at its median."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import KAnonymity, LDiversity, Mondrian, Table


def numbers(*columns):
    data = pa.table(dict(zip("abc", columns, strict=False)))
    return Table.from_arrow(data, dict.fromkeys(data.column_names, "quasi"))


def groups(release):
    """The rows of each class."""
    ids = release.classes.ids
    return {tuple(np.flatnonzero(ids == i).tolist()) for i in range(int(ids.max()) + 1)}


def naive(points, rows, k, widths):
    """The classes of strict Mondrian, by the definition."""
    extent = {}
    for j, width in enumerate(widths):
        values = [points[i][j] for i in rows]
        extent[j] = (max(values) - min(values)) / width if width else 0
    for j in sorted(extent, key=lambda j: -extent[j]):
        median = sorted(points[i][j] for i in rows)[(len(rows) - 1) // 2]
        left = [i for i in rows if points[i][j] <= median]
        right = [i for i in rows if points[i][j] > median]
        if len(left) >= k and len(right) >= k:
            return naive(points, left, k, widths) | naive(points, right, k, widths)
    return {tuple(rows)}


few = st.integers(0, 9)


@given(st.lists(st.tuples(few, few, few), min_size=2, max_size=40), st.integers(2, 4))
def test_the_classes_are_those_of_the_definition(points, k):
    if len(points) < k:
        return
    widths = [max(column) - min(column) for column in zip(*points, strict=True)]
    expected = naive(points, list(range(len(points))), k, widths)
    cells = {}  # classes that publish the same cells are one class
    for rows in expected:
        box = tuple((min(c), max(c)) for c in zip(*(points[i] for i in rows), strict=True))
        cells.setdefault(box, []).extend(rows)
    release = shoal.anonymize(
        numbers(*zip(*points, strict=True)), KAnonymity(k), Mondrian(cuts="median")
    )
    assert groups(release) == {tuple(sorted(rows)) for rows in cells.values()}


@pytest.mark.parametrize(
    ("ages", "k", "cells"),
    [
        ([1, 2, 8, 9], 2, ["[1, 2]", "[1, 2]", "[8, 9]", "[8, 9]"]),
        ([1, 2, 3, 4, 9], 2, ["[1, 3]", "[1, 3]", "[1, 3]", "[4, 9]", "[4, 9]"]),
        ([1, 5, 5, 5], 2, ["*"] * 4),  # the median is the greatest value
    ],
)
def test_values_up_to_the_median_are_the_left_side(ages, k, cells):
    release = shoal.anonymize(numbers(ages), KAnonymity(k), Mondrian(cuts="median"))
    assert release.to_arrow().column("a").to_pylist() == cells


def test_relaxed_cuts_in_halves_and_separates_records_at_the_median():
    table = numbers([1, 5, 5, 5, 5, 5])
    relaxed = Mondrian(cuts="median", strict=False)
    release = shoal.anonymize(table, KAnonymity(3), relaxed)
    assert sorted(map(str, release.to_arrow().column("a").to_pylist())) == ["*"] * 3 + ["5"] * 3
    assert release.verify()


@given(st.lists(st.integers(0, 99), min_size=4, max_size=60, unique=True), st.integers(2, 4))
def test_relaxed_halves_until_a_class_has_fewer_than_twice_k_records(ages, k):
    method = Mondrian(cuts="median", strict=False)
    release = shoal.anonymize(numbers(ages), KAnonymity(k), method)
    assert release.classes.sizes.min() >= k
    assert release.classes.sizes.max() < 2 * k


def test_the_model_is_checked_on_both_sides():
    data = pa.table({"a": [1, 2, 8, 9], "s": ["x", "x", "y", "y"]})
    table = Table.from_arrow(data, {"a": "quasi", "s": "sensitive"})
    model = KAnonymity(2) & LDiversity(2, "s")
    release = shoal.anonymize(table, model, Mondrian(cuts="median"))
    assert len(release.classes) == 1


def test_a_column_with_a_hierarchy_is_cut_between_branches():
    towns = ["aa", "ab", "ac", "ba", "bb", "ca"]
    data = pa.table({"town": towns})
    tree = shoal.hierarchies.mask(towns)
    table = Table.from_arrow(data, {"town": "quasi"}, {"town": tree})
    release = shoal.anonymize(table, KAnonymity(3), Mondrian(cuts="median"))
    cells = release.to_arrow().column("town").to_pylist()
    assert cells == ["a*"] * 3 + ["*"] * 3


def test_the_default_loses_no_more_than_the_published_cuts():
    rng = np.random.default_rng(3)
    table = numbers(*(rng.integers(0, 60, 400).tolist() for _ in range(3)))
    loss = {
        cuts: shoal.metrics.ncp(shoal.anonymize(table, KAnonymity(5), Mondrian(cuts=cuts)))
        for cuts in ("best", "median")
    }
    assert loss["best"] < loss["median"]


def test_effort_is_for_the_best_cuts_only():
    with pytest.raises(shoal.InputError, match="cuts='best' only"):
        Mondrian(cuts="median", effort="high")
    with pytest.raises(shoal.InputError, match="cuts must be one of best, median"):
        Mondrian(cuts="widest")
