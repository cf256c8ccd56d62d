"""How many records must leave a class, against every part of it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal import Column, Hierarchy, KAnonymity, Table, TCloseness
from shoal.table.classes import Classes

TREE = Hierarchy.from_rows([["0", "low", "*"], ["1", "low", "*"], ["2", "high", "*"]])
MODELS = (
    KAnonymity(3),
    shoal.LDiversity(2, "grade"),
    shoal.EntropyLDiversity(2, "grade"),
    shoal.EntropyLDiversity(1.3, "grade"),
    shoal.RecursiveLDiversity(2, 2, "grade"),
    shoal.RecursiveLDiversity(1.5, 3, "grade"),
    shoal.AlphaKAnonymity(0.5, 2, "grade"),
    shoal.AlphaKAnonymity(0.4, 2, "grade", "1"),
    shoal.BetaLikeness(0.4, "grade"),
    shoal.BetaLikeness(0.4, "grade", enhanced=False),
    shoal.DeltaDisclosure(0.6, "grade"),
    *(TCloseness(t, "grade", kind) for t in (0, 0.1, 0.25) for kind in ("equal", "hierarchical")),
    *(TCloseness(t, "grade", "ordered") for t in (0, 0.1, 0.25)),
    KAnonymity(2) & TCloseness(0.2, "grade", "equal") & shoal.LDiversity(2, "grade"),
)


def rows_of(*histograms, ordered):
    """Return a table with one class for each histogram of the grades 0, 1 and 2."""
    grades = [str(g) for each in histograms for g, count in enumerate(each) for _ in range(count)]
    places = [i for i, each in enumerate(histograms) for _ in range(sum(each))]
    kind = {"kind": "ordinal", "values": ["0", "1", "2"]} if ordered else {"hierarchy": TREE}
    sensitive = Column.encode("grade", grades, role="sensitive", **kind)
    return Table((Column.encode("place", places), sensitive)), np.array(places, dtype=np.int32)


def smallest_removal(model, histogram, rest, ordered):
    """Return the fewest records to remove until a class meets the model, by trying all parts.

    Also returns the class and the rest of the table, as two classes.
    """
    table, ids = rows_of(histogram, rest, ordered=ordered)
    parts = [part for part in product(*(range(n + 1) for n in histogram)) if any(part)]
    inside, by_part = rows_of(*parts, ordered=ordered)
    assert inside["grade"].values.equals(table["grade"].values)
    meets = model.holds(Classes.of(inside, by_part, origin=table))
    kept = max((sum(part) for part, held in zip(parts, meets, strict=True) if held), default=0)
    return sum(histogram) - kept, Classes.of(table, ids, origin=table)


@given(
    histogram=st.tuples(*(st.integers(0, 4) for _ in range(3))).filter(any),
    rest=st.tuples(*(st.integers(1, 6) for _ in range(3))),
    model=st.sampled_from(MODELS),
)
@examples(400)
def test_no_part_of_a_class_that_meets_the_model_is_larger_than_the_bound_allows(
    histogram, rest, model
):
    ordered = "ordered" in str(model)
    if not all(histogram):  # parts must know all grades
        histogram = tuple(n + 1 for n in histogram)
    fewest, classes = smallest_removal(model, histogram, rest, ordered)
    removed = model.fewest_removed(classes)
    assert removed[0] <= fewest
    assert ((removed == 0) == model.holds(classes)).all()
    assert (removed <= classes.rows).all()


@pytest.mark.parametrize(
    ("model", "removed"),
    [
        (KAnonymity(9), 8),  # no part is large enough
        (shoal.LDiversity(3, "grade"), 8),
        (TCloseness(0.5, "grade", "equal"), 0),
        (TCloseness(0.25, "grade", "equal"), 4),  # 3 and 1 remain: 0.25 more than half
        (shoal.AlphaKAnonymity(0.75, 2, "grade"), 4),  # 3 and 1 remain
    ],
)
def test_the_bound_of_a_class_by_hand(model, removed):
    table, ids = rows_of((7, 1, 0), (1, 7, 0), ordered=False)
    classes = Classes.of(table, ids, origin=table)
    assert model.fewest_removed(classes)[0] == removed
