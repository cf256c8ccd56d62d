from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import KAnonymity, LDiversity, Mondrian, Table


def numbers(*columns, **options):
    """A table of numeric quasi-identifiers a, b, c."""
    data = pa.table(dict(zip("abc", columns, strict=False)))
    return Table.from_arrow(
        data, {name: {"role": "quasi", **options} for name in data.column_names}
    )


def published(table, k, name="a", **options):
    release = shoal.anonymize(table, KAnonymity(k), Mondrian(**options))
    return release.to_arrow().column(name).to_pylist()


@pytest.mark.parametrize(
    ("values", "k", "cells"),
    [
        ([5, 5, 9, 9], 2, [5, 5, 9, 9]),  # already anonymous: nothing changes
        ([1, 2, 8, 9], 2, ["[1, 2]", "[1, 2]", "[8, 9]", "[8, 9]"]),
        ([1, 2, 3, 9], 2, ["[1, 2]", "[1, 2]", "[3, 9]", "[3, 9]"]),  # no other cut leaves two
        ([1, 2, 3], 2, ["*", "*", "*"]),  # too few to cut
        ([1, 1, 1, 9], 2, ["*", "*", "*", "*"]),  # the ones stay together
    ],
)
def test_cuts_where_it_saves_most(values, k, cells):
    assert published(numbers(values), k) == cells


def test_relaxed_divides_equal_records_where_strict_cannot():
    table = numbers([1, 1, 1, 1, 9])
    assert published(table, 2) == ["*"] * 5
    cells = published(table, 2, strict=False)
    assert sorted(map(str, cells)) == ["*", "*", "1", "1", "1"]


def test_relaxed_refuses_a_weighted_table():
    light = numbers([1, 1, 2, 2]).distinct().table
    with pytest.raises(shoal.InputError, match="strict=True"):
        shoal.anonymize(light, KAnonymity(2), Mondrian(strict=False))


def test_weights_decide_which_attribute_is_kept():
    points = [0, 0, 9, 9], [0, 9, 0, 9]
    data = pa.table({"a": points[0], "b": points[1]})
    for heavy, kept in (("a", [0, 0, 9, 9]), ("b", [0, 9, 0, 9])):
        roles = {n: {"role": "quasi", "weight": 3 if n == heavy else 1} for n in "ab"}
        assert published(Table.from_arrow(data, roles), 2, heavy) == kept


def test_nominal_values_are_cut_by_what_loses_least_not_by_code():
    # in alphabetical order no cut separates the towns that go with each age
    data = pa.table({"age": [20, 20, 70, 70, 20, 70], "town": ["a", "c", "b", "d", "a", "b"]})
    table = Table.from_arrow(data, {"age": "quasi", "town": "quasi"})
    release = shoal.anonymize(table, KAnonymity(3))
    assert release.to_arrow().column("age").to_pylist() == [20, 20, 70, 70, 20, 70]
    assert set(release.to_arrow().column("town").to_pylist()) == {"{a, c}", "{b, d}"}


def towns(*values, tree):
    data = pa.table({"town": values})
    return Table.from_arrow(data, {"town": {"role": "quasi", "hierarchy": {"tree": tree}}})


TREE = {"north": ["na", "nb"], "south": ["sa", "sb"]}


def test_with_a_hierarchy_the_lowest_common_ancestor_is_published():
    table = towns("na", "nb", "sa", "sb", tree=TREE)
    assert published(table, 2, "town") == ["north", "north", "south", "south"]


def test_without_using_the_hierarchy_value_sets_are_published():
    table = towns("na", "nb", "sa", "sb", tree=TREE)
    cells = published(table, 2, "town", hierarchies=False)
    assert all(cell.startswith("{") for cell in cells)


def test_cuts_follow_the_branches_of_a_hierarchy():
    # three of a kind each: along the branches nothing but the leaf level is lost
    table = towns("na", "sa", "nb", "sb", "na", "sa", tree=TREE)
    assert set(published(table, 3, "town")) == {"north", "south"}


def test_missing_values_are_kept_apart_where_there_are_enough():
    table = numbers([None, None, 1, 2, 1, 2])
    assert published(table, 2) == [None, None, 1, 2, 1, 2]


def test_a_range_says_that_it_holds_a_missing_value():
    assert published(numbers([None, 1, 2, 9, 9]), 3) == ["*"] * 5
    table = Table.from_arrow(pa.table({"a": pa.array([1, 2, None, 8, 9, 9])}), {"a": "quasi"})
    assert "[8, 9] or missing" in published(table, 2) + published(table, 3)


@pytest.mark.parametrize("summary", ["range", "set", "representative"])
def test_a_class_is_published_by_the_summary_asked_for(summary):
    cells = published(numbers([1, 2, 4, 50, 60, 61]), 3, summary=summary)
    expected = {
        "range": ["[1, 4]"] * 3 + ["[50, 61]"] * 3,
        "set": ["{1, 2, 4}"] * 3 + ["{50, 60, 61}"] * 3,
        "representative": [2, 2, 2, 60, 60, 60],
    }
    assert cells == expected[summary]


@pytest.mark.parametrize(
    "options", [{"summary": "mean"}, {"effort": "most"}, {"strict": 2}, {"hierarchies": "no"}]
)
def test_refuses_options_that_do_not_exist(options):
    with pytest.raises(shoal.InputError, match="must be one of"):
        Mondrian(**options)


def loss(members, extents):
    spans = [max(c) - min(c) for c in zip(*members, strict=True)]
    return len(members) * sum(s / e for s, e in zip(spans, extents, strict=True) if e)


@given(
    st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6), st.integers(0, 3)), min_size=4).filter(
        lambda rows: len(rows) < 6
    )
)
def test_below_three_k_the_best_single_cut_is_taken(rows):
    """Two parts at most, so brute force over every threshold of every attribute is the oracle."""
    release = shoal.anonymize(numbers(*zip(*rows, strict=True)), KAnonymity(2), Mondrian())
    extents = [max(c) - min(c) for c in zip(*rows, strict=True)]
    options = [loss(rows, extents)]
    for column in range(3):
        for low, _ in pairwise(sorted({row[column] for row in rows})):
            left = [row for row in rows if row[column] <= low]
            right = [row for row in rows if row[column] > low]
            if min(len(left), len(right)) >= 2:
                options.append(loss(left, extents) + loss(right, extents))
    found = shoal.metrics.class_loss(release) * 3 * len(rows)
    assert found == pytest.approx(min(options))


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), min_size=6, max_size=60))
def test_no_class_could_still_be_cut_by_a_threshold(rows):
    k = 3
    release = shoal.anonymize(numbers(*zip(*rows, strict=True)), KAnonymity(k), Mondrian())
    for members in np.unique(release.classes.ids):
        chosen = [rows[i] for i in np.flatnonzero(release.classes.ids == members)]
        for column in range(2):
            for low, _ in pairwise(sorted({row[column] for row in chosen})):
                left = sum(row[column] <= low for row in chosen)
                assert min(left, len(chosen) - left) < k


@given(st.lists(st.integers(0, 200), min_size=140, max_size=260), st.integers(2, 9))
def test_more_than_64_values_are_still_cut_to_the_end(values, k):
    release = shoal.anonymize(numbers(values), KAnonymity(k), Mondrian())
    for members in np.unique(release.classes.ids):
        chosen = [values[i] for i in np.flatnonzero(release.classes.ids == members)]
        for low in sorted(set(chosen))[:-1]:
            left = sum(v <= low for v in chosen)
            assert min(left, len(chosen) - left) < k


def test_more_effort_does_not_lose_more():
    table = shoal.datasets.patients(2000, seed=1)
    losses = [
        shoal.metrics.published_loss(shoal.anonymize(table, KAnonymity(5), Mondrian(effort=effort)))
        for effort in ("low", "normal", "high")
    ]
    assert losses == sorted(losses, reverse=True)


def test_where_the_best_cut_breaks_the_model_the_next_is_tried():
    # by age each side shows one illness only; by sex each shows both
    data = pa.table(
        {
            "age": [20, 20, 20, 20, 90, 90, 90, 90],
            "sex": ["f", "m", "f", "m", "f", "m", "f", "m"],
            "ill": ["x", "x", "x", "x", "y", "y", "y", "y"],
        }
    )
    table = Table.from_arrow(data, {"age": "quasi", "sex": "quasi", "ill": "sensitive"})
    release = shoal.anonymize(table, KAnonymity(2) & LDiversity(2, "ill"))
    assert release.to_arrow().column("sex").to_pylist() == ["f", "m"] * 4
    assert set(release.to_arrow().column("age").to_pylist()) == {"*"}


def test_columns_without_weight_are_not_kept_at_the_cost_of_others():
    data = pa.table({"a": [1, 2, 8, 9], "b": [5, 6, 5, 6]})
    roles = {"a": {"role": "quasi"}, "b": {"role": "quasi", "weight": 0}}
    assert published(Table.from_arrow(data, roles), 2) == ["[1, 2]", "[1, 2]", "[8, 9]", "[8, 9]"]


def test_a_balanced_cut_is_preferred_while_sides_can_be_cut_again():
    assert math.isclose(
        shoal.metrics.class_loss(
            shoal.anonymize(numbers(list(range(16))), KAnonymity(2), Mondrian(effort="low"))
        ),
        1 / 15,
    )


def test_loses_no_more_than_the_best_peer_on_the_census_table():
    try:
        table = shoal.datasets.load("adult")
    except shoal.InputError:
        pytest.skip("the public tables are not here")
    for k, most in ((5, 0.0291), (10, 0.0505)):
        release = shoal.anonymize(table, KAnonymity(k), Mondrian(hierarchies=False))
        assert shoal.metrics.class_loss(release) <= most


def test_says_when_effort_has_no_effect():
    table = shoal.datasets.patients(200, seed=2)
    model = KAnonymity(2) & LDiversity(2, "diagnosis")
    assert shoal.anonymize(table, model).run.notes == ()
    (note,) = shoal.anonymize(table, model, effort="high").run.notes
    assert "k-anonymity only" in note


def test_one_known_value_is_not_mixed_with_missing_for_nothing():
    # the column's extent is nothing, yet "30 or missing" tells nothing either
    data = pa.table({"a": pa.array([30, 30, None, None]), "b": [1, 2, 1, 2]})
    roles = {"a": {"role": "quasi", "hierarchy": {"intervals": [10]}}, "b": "quasi"}
    table = Table.from_arrow(data, {**roles, "b": {"role": "quasi", "weight": 0.5}})
    assert published(table, 2) == [30, 30, None, None]
