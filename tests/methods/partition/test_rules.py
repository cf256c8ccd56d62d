"""The rules asked while records move say what the privacy models say."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from tests.cases import told
from tests.examples import examples

from shoal import (
    AlphaKAnonymity,
    BetaLikeness,
    Classes,
    DeltaDisclosure,
    EntropyLDiversity,
    KAnonymity,
    LDiversity,
    RecursiveLDiversity,
    Table,
    TCloseness,
)
from shoal.methods.partition._annealing_rules import keeps
from shoal.methods.partition.annealing_rules import rules_of

TREE = {"lungs": ["flu", "cold"], "other": {"joints": ["gout"], "none": ["none"]}}
MODELS = [
    LDiversity(2, "illness"),
    LDiversity(4, "illness"),
    EntropyLDiversity(2, "illness"),
    EntropyLDiversity(1.7, "illness"),
    RecursiveLDiversity(2, 2, "illness"),
    RecursiveLDiversity(1.5, 3, "illness"),
    LDiversity(2, "age"),
    LDiversity(3, "age", count_missing=True),
    EntropyLDiversity(2, "age"),
    EntropyLDiversity(2, "age", count_missing=True),
    RecursiveLDiversity(1.5, 2, "age"),
    RecursiveLDiversity(1.5, 2, "age", count_missing=True),
    TCloseness(0.25, "illness", "equal"),
    TCloseness(0.3, "illness", "hierarchical"),
    TCloseness(0.2, "age"),
    AlphaKAnonymity(0.5, 2, "illness"),
    AlphaKAnonymity(0.4, 2, "illness", "flu"),
    DeltaDisclosure(0.8, "illness"),
    BetaLikeness(0.9, "illness"),
    BetaLikeness(1.0, "illness", enhanced=False),
    LDiversity(3, "illness") & TCloseness(0.4, "illness") & BetaLikeness(2, "age"),
]


@st.composite
def groups(draw):
    rows = draw(st.integers(4, 40))
    illness = draw(
        st.lists(st.sampled_from(["flu", "cold", "gout", "none"]), min_size=rows, max_size=rows)
    )
    age = draw(st.lists(st.none() | st.integers(1, 6), min_size=rows, max_size=rows))
    table = Table.from_arrow(
        pa.table({"q": list(range(rows)), "illness": illness, "age": pa.array(age, pa.int64())}),
        {
            "q": "quasi",
            "illness": {"role": "sensitive", "hierarchy": {"tree": TREE}},
            "age": "sensitive",
        },
    )
    ids = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
    return table, np.unique(ids, return_inverse=True)[1].astype(np.int32)


@given(drawn=groups())
@examples(120)
def test_a_rule_holds_where_its_model_does(drawn):
    table, ids = drawn
    classes = Classes.of(table, ids)
    groups = [np.flatnonzero(ids == group).astype(np.int32) for group in range(len(classes))]
    room = np.zeros(50, dtype=np.int64)
    for model in MODELS:
        rules, without = rules_of(model, table, np.arange(len(table)))
        assert without == ()
        held = [
            keeps(rules, members, len(members), np.int32(-1), np.int32(-1), room)
            for members in groups
        ]
        enough = classes.sizes >= model.least_size  # sizes are no rule
        with told(model):
            assert (held & enough).tolist() == model.holds(classes).tolist()


def test_a_share_at_the_very_limit_is_kept():
    """1 in 10 where 2 in 38 are usual is a gain of 0.9, which no float says exactly."""
    illness = ["cold", *["flu"] * 9, "cold", *["flu"] * 27]
    table = Table.from_arrow(
        pa.table({"q": list(range(38)), "illness": illness}), {"q": "quasi", "illness": "sensitive"}
    )
    model, members = BetaLikeness(0.9, "illness"), np.arange(10, dtype=np.int32)
    rules, _ = rules_of(model, table, np.arange(38))
    ids = (np.arange(38) >= 10).astype(np.int32)
    assert model.holds(Classes.of(table, ids)).all()
    assert keeps(rules, members, 10, np.int32(-1), np.int32(-1), np.zeros(9, dtype=np.int64))


def test_who_leaves_does_not_count_and_who_comes_does():
    table = Table.from_arrow(
        pa.table({"q": [1, 2, 3, 4], "illness": ["flu", "flu", "cold", "gout"]}),
        {"q": "quasi", "illness": "sensitive"},
    )
    rules, _ = rules_of(LDiversity(2, "illness"), table, np.arange(4))
    members, room = np.array([0, 1, 2], dtype=np.int32), np.zeros(9, dtype=np.int64)
    assert keeps(rules, members, 3, np.int32(0), np.int32(-1), room)
    assert not keeps(rules, members, 3, np.int32(2), np.int32(-1), room)
    assert keeps(rules, members, 3, np.int32(2), np.int32(3), room)


def test_sizes_are_no_rule_and_unknown_models_are_named():
    class Odd(KAnonymity):
        name = "odd"

    table = Table.from_arrow(pa.table({"q": [1, 2, 3]}), {"q": "quasi"})
    rules, without = rules_of(KAnonymity(2) & Odd(3), table, np.arange(3))
    assert len(rules.kind) == 0
    assert [part.name for part in without] == ["odd"]
