import re
from unittest import mock

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.files import writing
from shoal.files.writing import canonical

CELLS = st.one_of(
    st.none(), st.integers(-3, 12).map(str), st.sampled_from(["[5, 9]", "[10, 14]", "*", "", "a"])
)


def ordered(values):
    column = values if isinstance(values, pa.Array) else pa.array(values)
    return [values[i] for i in canonical(pa.table({"c": column})).tolist()]


@pytest.mark.parametrize(
    "values",
    [
        ["2", "10", None],
        ["-1.5", "2", "10"],
        ["[5, 9]", "[10, 14]", "[100, 110]"],
        ["2020-01-31", "2020-02-01", "*"],
        ["A1", "A2", "A10"],
        [1.5, 2.25, 30.0],
        [None, None],
    ],
)
def test_values_go_by_number_and_missing_ones_come_last(values):
    for seed in range(3):
        mixed = np.random.default_rng(seed).permutation(len(values))
        assert ordered([values[i] for i in mixed]) == values


@given(st.lists(st.tuples(CELLS, CELLS), max_size=12), st.randoms())
def test_the_order_follows_from_the_rows_alone(rows, random):
    def table(rows):
        return pa.table(
            {name: pa.array([row[i] for row in rows], pa.string()) for i, name in enumerate("ab")}
        )

    mixed = random.sample(rows, len(rows))
    once, again = (table(rows).take(pa.array(canonical(table(rows)))) for rows in (rows, mixed))
    assert once.equals(again)


def test_dictionaries_and_unused_entries_do_not_matter():
    plain = pa.array(["b", "a", "b"])
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 1, 2]), pa.array(["zz", "a", "b"]))
    assert canonical(pa.table({"c": coded})).tolist() == canonical(pa.table({"c": plain})).tolist()


def test_a_nested_column_has_an_order_too():
    assert ordered([[2], [1], None]) == [[1], [2], None]


@given(st.lists(st.none() | st.text(max_size=3), min_size=1, max_size=12))
def test_many_texts_have_the_order_of_few_by_character(texts):
    with mock.patch.object(writing, "MAX_NATURAL", 0):
        ranks = writing.rank_values(pa.array(texts, pa.string()))
    expected = sorted(set(texts), key=lambda text: (text is None, (text or "").encode()))
    words = [text for text in texts if text is not None]
    if not all(re.fullmatch(writing.IS_NUMBER, word) for word in words):
        assert [expected[rank] for rank in np.unique(ranks, return_inverse=True)[1]] == texts
