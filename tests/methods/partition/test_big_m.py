"""The published program, on tables small enough to try everything."""

from __future__ import annotations

from itertools import combinations
from math import inf

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import KAnonymity, Table
from shoal.methods.partition.big_m import solve_big_m
from shoal.methods.partition.column_generation import GroupingProblem
from shoal.methods.partition.records import lay_out
from shoal.support.progress import working_time


def mixed(seed, rows=7):
    """Whole numbers, fractions, ranks, names and unequal weights."""
    draw = np.random.default_rng(seed)
    data = pa.table(
        {
            "age": draw.integers(20, 60, rows),
            "size": draw.random(rows).round(3),
            "rank": draw.choice(["a", "b", "c"], rows),
            "word": draw.choice(["x", "y", "z"], rows),
        }
    )
    roles = {
        "age": {"role": "quasi", "weight": 2},
        "size": "quasi",
        "rank": {"role": "quasi", "kind": "ordinal", "order": ["a", "b", "c"]},
        "word": {"role": "quasi", "kind": "nominal", "weight": 0.5},
    }
    return Table.from_arrow(data, roles)


def penalty(table, members):
    """The weighted penalties (NCP) of a group, from the definition."""
    total = 0.0
    for column in table.quasi_columns:
        codes = [int(column.codes[i]) for i in members]
        if column.ordered:
            low, high = column.extent
            places = [float(column.positions[c]) for c in codes]
            share = (max(places) - min(places)) / (high - low) if high > low else 0.0
        else:
            share = (len(set(codes)) - 1) / column.domain
        total += column.weight * share * len(codes)
    return total


def least(table, k):
    """The least sum of penalties over all groupings."""

    def best(left):
        if not left:
            return 0.0
        first, *others = left
        found = [inf]
        for size in range(k, len(left) + 1):
            for more in combinations(others, size - 1):
                rest = [i for i in others if i not in more]
                if not rest or len(rest) >= k:
                    found.append(penalty(table, (first, *more)) + best(rest))
        return min(found)

    return best(list(range(len(table))))


@pytest.mark.parametrize(("seed", "rows", "k"), [(0, 7, 2), (1, 7, 3), (2, 6, 2), (3, 8, 3)])
def test_the_program_finds_the_least_penalty(seed, rows, k):
    table = mixed(seed, rows)
    release = shoal.anonymize(table, KAnonymity(k), "optimal", solver="big-m", time_limit=None)
    assert release.proof.loss == pytest.approx(least(table, k), rel=1e-6)
    assert release.proof.proven
    assert release.run.notes == ("proven optimal",)


def test_rows_that_hang_together_by_links_are_one_group():
    # three pairs of twins, and k = 2: links alone could chain them
    ages = [30, 30, 31, 31, 60, 60]
    table = Table.from_arrow(pa.table({"age": ages}), {"age": "quasi"})
    release = shoal.anonymize(table, KAnonymity(2), "optimal", solver="big-m")
    assert release.proof.loss == 0
    assert np.bincount(release.classes.ids).tolist() == [2, 2, 2]


@pytest.mark.parametrize("seconds", [0.0, 0.05])
def test_a_program_stopped_early_keeps_its_start_or_better_and_a_bound(seconds):
    table = mixed(4, 9)
    records = lay_out(table)
    first = np.minimum(np.arange(9) // 3, 2).astype(np.int32)
    problem = GroupingProblem(records, 3, first, working_time() + seconds)
    begun = problem.loss
    solve_big_m(problem, table.take(records.rows))
    best = least(table, 3)
    assert problem.loss <= begun
    assert problem.bound * records.scale <= best * (1 + 1e-6)
    assert best <= problem.loss * records.scale * (1 + 1e-6)


def test_what_the_program_cannot_say_is_refused():
    many = Table.from_arrow(pa.table({"age": range(201)}), {"age": "quasi"})
    with pytest.raises(shoal.InputError, match="at most 200 rows, not 201"):
        shoal.anonymize(many, KAnonymity(2), "optimal", solver="big-m")
    holes = Table.from_arrow(pa.table({"age": [1, 2, None, 4, 5, 6]}), {"age": "quasi"})
    with pytest.raises(shoal.InputError, match="'age' has missing values"):
        shoal.anonymize(holes, KAnonymity(2), "optimal", solver="big-m")
