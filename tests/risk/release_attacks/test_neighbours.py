"""The nearest released rows, against a naive search over all pairs."""

import numpy as np
import pyarrow as pa
import pytest

from shoal.risk.release_attacks.attacked_tables import read_sources
from shoal.risk.release_attacks.neighbours import Space

PEOPLE = pa.table({"age": [20, 30, 40, 60], "sex": ["f", "m", "f", None]})


def nearest(people, released, count=1, names=("age", "sex")):
    sources = read_sources(people, released, None, quasi=list(names))
    space = Space(sources, list(names), np.arange(len(sources.distinct)))
    found = space.search(np.arange(people.num_rows), count)
    return found.distances, np.where(found.rows >= 0, sources.distinct.first[found.rows], -1)


def test_a_value_inside_a_released_range_is_at_distance_0():
    released = pa.table({"age": ["[20, 35]", "[36, 60]"], "sex": ["*", "*"]})
    distances, rows = nearest(PEOPLE, released)
    assert rows[:, 0].tolist() == [0, 0, 1, 1]
    assert distances[:, 0] == pytest.approx(0, abs=1e-6)


def test_a_category_costs_1_and_a_number_its_share_of_the_range():
    released = pa.table({"age": [30], "sex": ["f"]})
    distances, _ = nearest(PEOPLE, released)
    unit = np.diff(np.quantile([20, 30, 40, 60], [0.05, 0.95]))[0]
    assert distances[:, 0] == pytest.approx([10 / unit, 1, 10 / unit, 30 / unit + 1])


def test_missing_is_near_to_missing_only():
    people = pa.table({"age": [20, None], "sex": ["f", "f"]})
    released = pa.table({"age": [None, 20], "sex": ["f", "f"]})
    assert nearest(people, released)[1][:, 0].tolist() == [1, 0]


def test_a_precise_row_comes_before_a_suppressed_one():
    released = pa.table({"age": ["*", "20"], "sex": ["*", "f"]})
    distances, rows = nearest(PEOPLE, released, 2)
    assert rows[0].tolist() == [1, 0]
    assert distances[0, 0] < distances[0, 1] < 1e-6


def test_fewer_rows_than_neighbours_leave_gaps():
    distances, rows = nearest(PEOPLE, pa.table({"age": [30], "sex": ["f"]}), 3)
    assert rows[:, 1:].max() == -1
    assert np.isinf(distances[:, 1:]).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_search_finds_what_a_naive_search_finds(seed):
    rng = np.random.default_rng(seed)
    count = 300
    people = pa.table(
        {
            "age": rng.integers(18, 90, count),
            "income": rng.lognormal(10, 1, count).round(2),
            "town": [f"town {t}" for t in rng.integers(0, 25, count)],
        }
    )
    names = list(people.column_names)
    released = pa.table(
        {
            "age": [f"[{a}, {a + w}]" for a, w in rng.integers([18, 0], [80, 9], (count, 2))],
            "income": rng.lognormal(10, 1, count).round(2),
            "town": [f"{{town {t}, town {u}}}" for t, u in rng.integers(0, 25, (count, 2))],
        }
    )
    distances, _ = nearest(people, released, 3, names)
    sources = read_sources(people, released, None, quasi=names)
    expected = np.zeros((count, count))
    for name, cells in sources.quasi.items():
        if name == "town":
            texts = released.column(name).to_pylist()
            inside = [[t in text[1:-1].split(", ") for text in texts] for t in
                      people.column(name).to_pylist()]  # fmt: skip
            expected += ~np.array(inside)
        else:
            point = people.column(name).to_numpy()[:, None]
            low, high = cells.low[cells.codes], cells.high[cells.codes]
            gap = np.maximum(np.maximum(low - point, point - high), 0)
            expected += np.minimum(gap / cells.unit, 1)
    assert distances == pytest.approx(np.sort(expected, axis=1)[:, :3], abs=1e-6)
