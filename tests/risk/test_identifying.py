from collections import Counter
from dataclasses import replace
from itertools import combinations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.metrics.strategies import tables
from tests.risk.with_people import unit

from shoal.errors import InputError
from shoal.risk import identifying_columns
from shoal.table.table import Table


def table_of(**columns):
    return Table.from_arrow(pa.table(columns), dict.fromkeys(columns, "quasi"))


def by_hand(table, names):
    rows = [
        values
        for row, values in enumerate(
            zip(*(table[name].codes.tolist() for name in names), strict=True)
        )
        for _ in range(1 if table.counts is None else int(table.counts[row]))
    ]
    seen, pairs = Counter(rows), list(combinations(rows, 2))
    apart = sum(a != b for a, b in pairs) / len(pairs) if pairs else 1.0
    alone = sum(count == 1 for count in seen.values()) / len(rows)
    return len(seen) / len(rows), apart, alone


@examples(60)
@given(table=tables())
def test_every_set_is_measured_as_by_hand(table):
    found = identifying_columns(table, table.quasi, most=3, distinction=1.0)
    for one in found.sets:
        wanted = by_hand(table, one.columns)
        assert (one.distinction, one.separation, one.alone) == pytest.approx(wanted)
        assert (one.low, one.high, one.counted) == (one.separation, one.separation, True)
    names = range(1, min(3, len(table.quasi)) + 1)
    every = [set(c) for size in names for c in combinations(table.quasi, size)]
    keys = [set(key.columns) for key in found.keys]
    assert len(found.sets) + found.skipped == len(every)
    looked = [set(one.columns) for one in found.sets]
    for one in every:  # what is skipped holds a key
        assert one in looked or any(key < one for key in keys)
    for key in keys:
        assert by_hand(table, sorted(key))[0] == 1
        assert not any(other < key for other in keys)


def test_sets_are_ranked_and_near_keys_minimal():
    table = table_of(a=[1, 1, 2, 2], b=[1, 2, 1, 2], c=[1, 2, 3, 3], d=[1, 1, 1, 1])
    found = identifying_columns(table, most=2, distinction=1.0)
    assert [key.columns for key in found.keys] == [("a", "b"), ("b", "c")]
    assert {one.columns for one in found.sets[:2]} == {("a", "b"), ("b", "c")}
    assert found.skipped == 0
    assert [one.columns for one in found.sets[2:3]] == [("c",)]  # before sets no better but larger
    deeper = identifying_columns(table, most=3, distinction=1.0)
    assert deeper.skipped == 3  # those that hold a + b or b + c
    assert deeper.keys == found.keys


def large(rows=3000):
    rng = np.random.default_rng(6)
    return table_of(
        a=rng.integers(0, 60, rows), b=rng.integers(0, 40, rows), c=rng.integers(0, 900, rows)
    )


def test_large_tables_are_looked_at_in_a_sample_and_the_best_sets_counted():
    table = large()
    whole = {one.columns: one for one in identifying_columns(table, most=2, distinction=1).sets}
    found = identifying_columns(table, most=2, distinction=1.0, sample=1000, counted=2)
    assert (found.sampled, found.rows) == (1000, 3000)
    assert sum(one.counted for one in found.sets) == 2
    for one in found.sets:
        true = whole[one.columns]
        assert one == true or not one.counted
        assert one.low <= true.separation <= one.high
        assert one.distinction >= true.distinction


def test_a_near_key_of_the_sample_must_be_one_of_the_table():
    found = identifying_columns(large(), ["a", "b", "c"], most=2, distinction=0.9, sample=60)
    whole = identifying_columns(large(), ["a", "b", "c"], most=2, distinction=0.9)
    assert [key.columns for key in found.keys] == [key.columns for key in whole.keys]
    assert found.keys == whole.keys
    assert found.keys


def test_identifiers_are_left_out_unless_asked_for():
    roles = {"id": "identifier", "age": "quasi", "ill": "sensitive", "note": "insensitive"}
    data = pa.table({name: [1, 2, 3] for name in roles})
    found = identifying_columns(Table.from_arrow(data, roles), most=1)
    assert {one.columns for one in found.sets} == {("age",), ("ill",)}


@pytest.mark.parametrize(
    ("options", "told"),
    [({"most": 0}, "most must be"), ({"distinction": 0}, "distinction"), ({"sample": 1}, "sample")],
)
def test_options_are_checked(options, told):
    with pytest.raises(InputError, match=told):
        identifying_columns(large(10), **options)


def test_too_many_sets_are_refused():
    table = table_of(**{f"c{i}": [1] for i in range(60)})
    with pytest.raises(InputError, match="sets of columns are too many"):
        identifying_columns(table, most=5)


def people_by_hand(person, rows):
    """Distinction, separation and the share of people alone, from the values of each row."""
    sharing = {}
    for who, values in zip(person, rows, strict=True):
        sharing.setdefault(values, set()).add(who)
    best = {}
    for who, values in zip(person, rows, strict=True):
        best[who] = max(best.get(who, 0), 1 / len(sharing[values]))
    pairs = [
        values != others
        for (who, values), (other, others) in combinations(zip(person, rows, strict=True), 2)
        if who != other
    ]
    apart = sum(pairs) / len(pairs) if pairs else 1.0
    alone = sum(risk == 1 for risk in best.values()) / len(best)
    return sum(best.values()) / len(best), apart, alone


@given(table=tables(), data=st.data())
@examples(60)
def test_a_set_of_columns_singles_out_people_and_not_rows(table, data):
    many = len(table)
    person = data.draw(st.lists(st.integers(0, 3), min_size=many, max_size=many))
    table = replace(table, counts=None, person=unit(person))
    found = identifying_columns(table, table.quasi, most=3, distinction=1.0)
    assert (found.rows, found.people) == (many, len(set(person)))
    measured = {}
    for one in found.sets:
        rows = list(zip(*(table[name].codes.tolist() for name in one.columns), strict=True))
        measured[one.columns] = (one.distinction, one.separation, one.alone)
        assert measured[one.columns] == pytest.approx(people_by_hand(person, rows))
    for fine, figures in measured.items():  # what is skipped would be a key, too
        for coarse, others in measured.items():
            if set(coarse) < set(fine):
                assert all(a >= b - 1e-9 for a, b in zip(figures, others, strict=True))


def test_nobody_is_alone_with_values_of_her_own_rows():
    table = replace(table_of(a=[1, 1, 2, 3]), person=unit("xxyy"))
    (found,) = identifying_columns(table).sets
    assert (found.distinction, found.alone) == (1.0, 1.0)
    shared = replace(table_of(a=[1, 1, 1, 2]), person=unit("xxyx"))
    (found,) = identifying_columns(shared).sets
    assert (found.distinction, found.alone) == (0.75, 0.5)


def test_a_sample_takes_all_rows_of_a_person():
    draw = np.random.default_rng(0)
    person = np.repeat(np.arange(400), 5)
    table = replace(table_of(a=draw.integers(0, 6, 2000).tolist()), person=unit(person.tolist()))
    found = identifying_columns(table, sample=1000, counted=0)
    assert (found.sampled, found.rows, found.people) == (1000, 2000, 400)
    (one,) = found.sets
    exact = identifying_columns(table).sets[0].separation
    assert not one.counted
    assert one.low <= exact <= one.high
