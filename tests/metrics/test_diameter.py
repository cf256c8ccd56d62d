import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.metrics import diameter


def hamming(rows):
    return max(sum(a != b for a, b in zip(u, v, strict=True)) for u in rows for v in rows)


# values that are mostly 0 make pairs that differ everywhere rare
skewed = st.sampled_from([0, 0, 0, 0, 0, 1, 2])


@given(st.lists(st.tuples(skewed, skewed, skewed, skewed), min_size=1, max_size=15))
def test_two_records_decide(released, rows):
    columns = {name: [str(row[j]) for row in rows] for j, name in enumerate("cdef")}
    release = released(columns, range(len(rows)))
    assert diameter(release, raw=True) == hamming(rows)
    assert diameter(release) == 0


def test_records_that_come_closer(released):
    release = released({"c": list("aabb"), "d": list("xyxy")}, (0, 1, 0, 1))
    assert diameter(release, raw=True) == 1  # c is * for all, d is kept
    assert diameter(release) == 0.5


def test_suppressed_records_are_no_distance_away(released):
    release = released({"c": list("aab"), "d": list("xxy")}, (0, 0, -1))
    assert diameter(release, raw=True) == 0
    assert diameter(release) == 1


@pytest.mark.parametrize("attributes", [1, 3])
def test_many_records_with_one_that_stands_out(released, attributes):
    rng = np.random.default_rng(1)
    columns = {f"c{j}": [0] * 300 for j in range(attributes)}
    columns["last"] = [*range(299), 298]
    columns["c0"][int(rng.integers(300))] = 1
    release = released(columns, range(300))
    assert diameter(release, raw=True) == 2
