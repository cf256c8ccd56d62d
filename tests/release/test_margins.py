"""Weighted rows made from counts have exactly these counts."""

from __future__ import annotations

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.release.margins import Margins
from shoal.table.pairs import Pairs

RECORDS = st.lists(
    st.tuples(*[st.integers(0, 2)] * 5, st.booleans()), min_size=1, max_size=40
)  # two cells, two values, another value, whether it is suppressed


def counted(items):
    counts = Counter(items)
    keys = sorted(counts)
    return keys, np.array([counts[key] for key in keys], dtype=np.int64)


@given(RECORDS)
def test_rows_have_the_classes_and_the_pairs_of_each_column(records):
    kept = [r for r in records if not r[5]]
    classes, sizes = counted(r[:2] for r in kept)
    cells = {n: np.array([c[n] for c in classes], dtype=np.int32) for n in range(2)}
    pairs, lost = {}, {}
    for n in range(2):
        keys, counts = counted((r[n], r[2 + n]) for r in kept)
        both = np.array(keys, dtype=np.int32).reshape(-1, 2)
        pairs[n] = Pairs(both[:, 0], both[:, 1], counts)
    for n in range(3):
        lost[n] = np.bincount([r[2 + n] for r in records if r[5]], minlength=3).astype(np.int64)
    others = {2: np.bincount([r[4] for r in kept], minlength=3).astype(np.int64)}
    rows = Margins(sizes, cells, pairs, lost, others).rows()
    assert rows.counts.sum() == len(records)
    out = rows.classes == len(sizes)
    assert rows.counts[out].sum() == len(records) - len(kept)
    assert np.array_equal(np.bincount(rows.classes[~out], rows.counts[~out], len(sizes)), sizes)
    for n in range(2):
        made = Counter()
        for c, code, count in zip(rows.classes, rows.codes[n], rows.counts, strict=True):
            made[(cells[n][c] if c < len(sizes) else "lost", code)] += int(count)
        assert made == Counter(("lost" if r[5] else r[n], r[2 + n]) for r in records)
    for gone in (False, True):
        values = np.bincount(rows.codes[2][out == gone], rows.counts[out == gone], 3)
        assert (
            values.tolist()
            == np.bincount([r[4] for r in records if r[5] == gone], minlength=3).tolist()
        )
