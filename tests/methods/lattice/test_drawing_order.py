"""Records are drawn in an order that depends on published values, whoever they belong to."""

from collections import Counter, defaultdict
from unittest import mock

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

import shoal
from shoal import KAnonymity, Table
from shoal.methods.lattice import sampled_draw
from shoal.methods.lattice.sampled_draw import blocks_of_units, order_units
from shoal.table.column import Column
from shoal.table.people import Unit

rows_of_units = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=40)


def numbered(values):
    distinct, ids = np.unique(values, return_inverse=True)
    return Unit(("who",), ids.astype(np.int32), len(distinct))


@examples(60)
@given(rows_of_units)
def test_units_are_in_the_order_of_their_tuples(rows):
    unit = numbered([who for who, _ in rows])
    tuples = np.array([letter for _, letter in rows], dtype=np.int32)
    profiles = defaultdict(Counter)
    for who, letter in zip(unit.ids.tolist(), tuples.tolist(), strict=True):
        profiles[who][letter] += 1
    ranks = order_units(unit, tuples, None)
    assert sorted(ranks.tolist()) == list(range(unit.count))
    words = [sorted(profiles[who].items()) for who in np.argsort(ranks).tolist()]
    assert words == sorted(words)


@examples(40)
@given(rows_of_units, st.integers(1, 9))
def test_blocks_have_the_records_of_whole_units(rows, most):
    units = np.sort([who for who, _ in rows])
    counts = np.array([1 + letter for _, letter in rows])
    with mock.patch.object(sampled_draw, "_BLOCK", most):
        blocks = list(blocks_of_units(units, counts))
    assert [row for block in blocks for row in range(block.start, block.stop)] == [
        *range(len(rows))
    ]
    for block in blocks:
        assert not set(units[block]) & set(units[block.stop :])
        assert counts[block].sum() <= most or len(set(units[block])) == 1


def visits(rows, counts=None):
    """A table of rows (who, letter), the people numbered by their names."""
    letters = [letter for _, letter in rows]
    role = {"type": "text", "values": list("abcd")}
    column = Column.encode("letter", ["abcd"[letter] for letter in letters], **role)
    return Table((column,), counts, person=numbered([who for who, _ in rows]))


@examples(40)
@given(rows_of_units, st.integers(1, 3), st.integers(0, 9), st.randoms(use_true_random=False))
def test_a_seed_gives_one_release_of_rows_in_any_order_and_of_counted_rows(rows, most, seed, draw):
    options = {"max_rows_per_person": most, "n0": 20, "epsilon": 3.0, "allow_large_delta": True}
    other = [(10 - who, letter) for who, letter in rows]  # the same people, in another order
    draw.shuffle(other)
    pairs = Counter(other)
    tables = (visits(rows), visits(other), visits(list(pairs), np.array(list(pairs.values()))))
    with mock.patch.object(sampled_draw, "_BLOCK", draw.randrange(1, 50)):
        one, two, counted = (
            shoal.anonymize(table, KAnonymity(2), "safe-la", seed=seed, **options)
            for table in tables
        )
    assert one.to_arrow().equals(two.to_arrow())
    assert one.to_arrow().equals(counted.to_arrow())
    assert one.verify() == two.verify() == counted.verify()
