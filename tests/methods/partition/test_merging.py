from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal import AlphaKAnonymity, BetaLikeness, KAnonymity, LDiversity, Table, TCloseness
from shoal.methods.partition.merging import Merger
from shoal.methods.partition.records import lay_out
from shoal.table.classes import Classes

MODELS = [
    LDiversity(2, "illness"),
    KAnonymity(3) & LDiversity(3, "illness"),
    AlphaKAnonymity(0.6, 2, "illness"),
    TCloseness(0.3, "illness"),
    BetaLikeness(1, "illness"),
]


def patients(ages, illness):
    data = pa.table({"age": ages, "illness": list(illness)})
    return Table.from_arrow(data, {"age": "quasi", "illness": "sensitive"})


def mended(table, ids, model):
    """Mend groups given by row; return the groups by row."""
    records = lay_out(table, model.columns)
    ids = np.array(ids, dtype=np.int32)[records.rows]
    return records.by_row(Merger.of(records, table).merge(ids, model))


@st.composite
def cases(draw):
    rows = draw(st.integers(4, 40))
    ages = draw(st.lists(st.integers(0, 30), min_size=rows, max_size=rows))
    illness = draw(st.lists(st.sampled_from("abcd"), min_size=rows, max_size=rows))
    groups = draw(st.integers(1, rows // 2))
    ids = np.arange(rows) % groups
    return patients(ages, illness), ids, draw(st.sampled_from(MODELS))


@given(case=cases())
@examples(150)
def test_groups_are_joined_until_the_model_holds(case):
    table, before, model = case
    whole = Classes.of(table, np.zeros(len(table), dtype=np.int32))
    after = mended(table, before, model)
    assert sorted(set(after.tolist())) == list(range(int(after.max()) + 1))
    for group in range(int(before.max()) + 1):
        assert len(set(after[before == group].tolist())) == 1  # no group is divided
    if model.holds(whole).all():
        assert model.holds(Classes.of(table, after)).all()
    else:
        assert set(after.tolist()) == {0}


def test_groups_that_keep_the_model_stay():
    table = patients([1, 2, 5, 6, 8, 9], "abbaab")
    ids = [0, 0, 1, 1, 2, 2]
    assert mended(table, ids, LDiversity(2, "illness")).tolist() == ids


@pytest.mark.parametrize(
    ("ages", "illness", "joined"),
    [
        # the first group wants another illness; the second is nearest and has one
        ([1, 2, 5, 6, 20, 21], "aaabab", [0, 0, 0, 0, 1, 1]),
        # the nearest group has none, so both wanting ones seek further
        ([1, 2, 5, 6, 20, 21], "aaaaab", [0, 0, 0, 0, 0, 0]),
        # the nearer of two that have one
        ([1, 2, 30, 31, 14, 15], "aaabba", [0, 0, 1, 1, 0, 0]),
        # the group at 3 is nearer but shows the same illness: the one at 9 is taken
        ([1, 2, 3, 4, 9, 10, 60, 61], "aaaabcab", [0, 0, 0, 0, 0, 0, 1, 1]),
    ],
)
def test_the_cheapest_partner_that_helps_is_chosen(ages, illness, joined):
    ids = np.arange(len(ages)) // 2
    found = mended(patients(ages, illness), ids, LDiversity(2, "illness")).tolist()
    assert [found.index(g) for g in found] == [joined.index(g) for g in joined]


def test_a_partner_that_helps_goes_before_a_cheaper_one_that_does_not():
    """The two in the middle are nearest to each other, yet each finds help on its outer side."""
    table = patients([0, 1, 10, 11, 13, 14, 23, 24], "abaaaaab")
    found = mended(table, [0, 0, 1, 1, 2, 2, 3, 3], LDiversity(2, "illness")).tolist()
    assert found == [0, 0, 0, 0, 1, 1, 1, 1]


def test_small_groups_are_joined_for_k():
    table = patients([1, 2, 3, 50, 51, 52], "aaaaaa")
    found = mended(table, [0, 0, 1, 2, 2, 2], KAnonymity(3)).tolist()
    assert found == [0, 0, 0, 1, 1, 1]
