"""Variants of tables for studies: same seed, same variant, and nothing lost or made up."""

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal import InputError, KAnonymity, Kind, Table
from shoal.datasets import binned, permuted, random_hierarchies, random_k

ROLES = {
    "age": "quasi",
    "grade": {"role": "quasi", "kind": "ordinal"},
    "town": "quasi",
    "ill": "sensitive",
}


def people(rows=120):
    return Table.from_arrow(
        pa.table(
            {
                "age": pa.array([None if i == 7 else (i * 37) % 100 for i in range(rows)]),
                "grade": [i % 5 for i in range(rows)],
                "town": ["abcdef"[i % 6] for i in range(rows)],
                "ill": ["yes" if i % 3 else "no" for i in range(rows)],
            }
        ),
        ROLES,
    )


def test_numbers_of_many_values_go_into_bins_of_equal_width():
    table = people()
    found = binned(table, 10)["age"]
    ages = table["age"].to_arrow().to_pylist()
    low, high = min(a for a in ages if a is not None), max(a for a in ages if a is not None)
    for age, told in zip(ages, found.to_arrow().to_pylist(), strict=True):
        if age is None:
            assert told is None
            continue
        least, most = map(int, told.split(" to "))
        assert least <= age <= most
        assert most - least < (high - low) / 10
    assert (found.kind, found.known) == (Kind.ORDINAL, 10)
    starts = [int(text.split()[0]) for text in found.labels[:10]]
    assert starts == sorted(starts)


def test_columns_of_few_values_or_none_are_not_binned():
    table = people()
    found = binned(table)
    assert found["grade"] is table["grade"]
    assert found["town"] is table["town"]
    assert binned(table, columns=["town"])["age"] is table["age"]


@given(st.integers(0, 10**6))
def test_a_permuted_table_holds_the_same_values_in_another_order(seed):
    table = people(30)
    found = permuted(table, seed)
    assert found.to_arrow().equals(table.to_arrow())
    assert all(found[name].kind is Kind.ORDINAL for name in found.quasi)
    assert found["ill"] is table["ill"]
    again = permuted(table, seed)
    assert all(found[n].labels == again[n].labels for n in found.quasi)
    assert found["age"].labels[-1] is None  # missing stays last


def test_orders_differ_by_seed_and_by_column():
    table = people()
    found = [permuted(table, seed)["age"].labels for seed in range(5)]
    assert len(set(found)) == 5
    twins = Table.from_arrow(
        pa.table({"a": range(20), "b": range(20)}), {"a": "quasi", "b": "quasi"}
    )
    both = permuted(twins)
    assert both["a"].labels != both["b"].labels
    assert permuted(table, columns=["age"])["town"] is table["town"]


def test_mondrian_cuts_along_a_permuted_order():
    table = permuted(people(), 3)
    release = shoal.anonymize(table, KAnonymity(5), hierarchies=False)
    cells = release.recodings["town"]
    runs = np.diff(cells.subsets.indptr)
    assert (runs == 1).all()  # consecutive in the drawn order
    assert release.verify()


@pytest.mark.parametrize("ordered", [True, False])
def test_random_trees_over_every_column(ordered):
    table = people()
    found = random_hierarchies(table, 4, ordered=ordered)
    again = random_hierarchies(table, 4, ordered=ordered)
    assert all(found[n].hierarchy.rows() == again[n].hierarchy.rows() for n in found.quasi)
    assert found["ill"].hierarchy is None
    release = shoal.anonymize(found, KAnonymity(3), "datafly")
    assert release.verify()
    together = [
        (np.diff(np.flatnonzero(level.groups[: table["grade"].known] == group)) == 1).all()
        for level in found["grade"].hierarchy.levels
        for group in range(len(level))
    ]
    assert all(together) or not ordered


def test_random_k_is_two_and_a_poisson_number_more():
    drawn = random_k(4000, seed=1)
    assert min(drawn) == 2
    assert np.mean(drawn) == pytest.approx(3, abs=0.06)
    assert drawn == random_k(4000, seed=1)
    assert drawn != random_k(4000, seed=2)
    assert set(random_k(10, mean=0, least=5)) == {5}


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda table: binned(table, 1), "bins must be a whole number, 2 or more"),
        (lambda table: permuted(table, -1), "seed must be"),
        (lambda table: random_hierarchies(table, 1.5), "seed must be"),
        (lambda table: permuted(table, columns=["ill"]), "'ill' is sensitive"),
        (lambda table: random_k(3, mean=-1), "mean must be at least 0"),
        (lambda table: random_k(3, least=0), "least must be"),
    ],
)
def test_what_is_asked_wrongly_is_refused(call, message):
    with pytest.raises(InputError, match=message):
        call(people(10))
