"""Local recoding: rounds of full-domain recoding, each on the rows that earlier ones left."""

from __future__ import annotations

from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal import Flash, Hierarchy, KAnonymity, LDiversity, Ola
from shoal.methods.lattice import local
from shoal.methods.lattice.objectives import LevelCosts

ROWS = {
    "age": [["1", "low", "*"], ["2", "low", "*"], ["3", "high", "*"], ["4", "high", "*"]],
    "town": [["a", "north", "*"], ["b", "north", "*"], ["c", "south", "*"]],
}


def table_of(rows):
    columns = {name: [row[j] for row in rows] for j, name in enumerate(("age", "town", "ill"))}
    roles = {
        "age": {"role": "quasi", "kind": "nominal", "hierarchy": Hierarchy.from_rows(ROWS["age"])},
        "town": {
            "role": "quasi",
            "kind": "nominal",
            "hierarchy": Hierarchy.from_rows(ROWS["town"]),
        },
        "ill": "sensitive",
    }
    return shoal.Table.from_arrow(pa.table(columns), roles)


def label(tree, value, level):
    return next(row for row in tree if row[0] == value)[level]


def cost(rows, node):
    """Return the mean share of other leaves in the group of each value."""
    total = 0.0
    for j, (name, level) in enumerate(zip(ROWS, node, strict=True)):
        tree = ROWS[name]
        for row in rows:
            mine = label(tree, row[j], level)
            size = sum(each[level] == mine for each in tree)
            total += (size - 1) / (len(tree) - 1) / len(ROWS)
    return total / len(rows)


def kept_at(rows, node, k):
    def key(row):
        return tuple(
            label(ROWS[name], row[j], level)
            for j, (name, level) in enumerate(zip(ROWS, node, strict=True))
        )

    sizes: dict[tuple[str, ...], int] = {}
    for row in rows:
        sizes[key(row)] = sizes.get(key(row), 0) + 1
    return [sizes[key(row)] >= k for row in rows], [key(row) for row in rows]


def by_hand(rows, k, step):
    """Return the published cells of each row, None if it is suppressed."""
    published: list[tuple[str, ...] | None] = [None] * len(rows)
    left = list(range(len(rows)))
    while left:
        here = [rows[i] for i in left]
        possible = []
        for node in product(range(3), range(3)):
            kept, keys = kept_at(here, node, k)
            if sum(kept) >= step * len(here) and any(kept):
                possible.append((round(cost(here, node), 12), node, kept, keys))
        if not possible:
            break
        _, _, kept, keys = min(possible)
        for place, (keep, key) in enumerate(zip(kept, keys, strict=True)):
            if keep:
                published[left[place]] = key
        left = [i for i, keep in zip(left, kept, strict=True) if not keep]
    return published


people = st.lists(
    st.tuples(st.sampled_from("1234"), st.sampled_from("abc"), st.sampled_from("xy")),
    min_size=4,
    max_size=14,
)


@given(rows=people, step=st.sampled_from([0.02, 0.3, 0.6]))
@examples(40)
def test_each_round_takes_the_cheapest_node_that_publishes_enough_rows(rows, step):
    table = table_of(rows)
    made = local._rounds(table, KAnonymity(2), 1 - step, lambda part: LevelCosts(part, "loss"))
    found = [
        None
        if number < 0
        else tuple(
            label(ROWS[name], row[j], level)
            for j, (name, level) in enumerate(zip(ROWS, made.nodes[number], strict=True))
        )
        for row, number in zip(rows, made.of_row.tolist(), strict=True)
    ]
    assert found == by_hand(rows, 2, step)


@pytest.mark.parametrize("method", [Flash, Ola])
@pytest.mark.parametrize("objective", ["loss", "precision", "discernibility", "entropy"])
def test_no_more_rows_are_left_than_may_be_suppressed(method, objective):
    table = shoal.datasets.patients(400, seed=3)
    model = KAnonymity(3) & LDiversity(3, "diagnosis")
    options = {"local": True, "objective": objective, "max_suppression": 0.01}
    release = shoal.anonymize(table, model, method(**options))
    assert release.suppressed is None or release.suppressed.sum() <= 4


def test_smaller_steps_lose_less_on_a_table_with_dense_and_thin_regions():
    table = shoal.datasets.patients(3000, seed=1)
    losses = [
        shoal.metrics.evaluate(shoal.anonymize(table, k=5, method=Flash(local=True, step=step)))[
            "granularity"
        ]
        for step in (0.02, 0.3)
    ]
    whole = shoal.metrics.evaluate(shoal.anonymize(table, k=5, method=Flash()))["granularity"]
    assert losses[0] < losses[1] < whole
