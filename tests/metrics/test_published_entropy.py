"""The entropy metric of Li, 2019, equations 3.5 and 3.6, next to our metrics."""

import math
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal import metrics
from shoal.privacy import KAnonymity
from shoal.release.release import Release
from shoal.table.hierarchy import Hierarchy
from shoal.table.recoding import Recoding
from shoal.table.table import Table

TREE = Hierarchy.from_rows(
    [("a", "ab", "*"), ("b", "ab", "*"), ("c", "cde", "*"), ("d", "cde", "*"), ("e", "cde", "*")]
)
UP = {0: lambda v: v, 1: lambda v: "ab" if v in "ab" else "cde", 2: lambda _: "*"}


def as_printed(columns, levels):
    """Sum −log2 Pr(a | b) over all cells: rows with the value over rows with its generalization."""
    total = 0.0
    for cells, level in zip(columns, levels, strict=True):
        published = [UP[level](value) for value in cells]
        values, shown = Counter(cells), Counter(published)
        total -= sum(
            math.log2(values[value] / shown[label])
            for value, label in zip(cells, published, strict=True)
        )
    return total


def released(columns, levels):
    """Return the full-domain generalization of columns over one tree."""
    data = {f"c{i}": cells for i, cells in enumerate(columns)}
    roles = {name: {"role": "quasi", "hierarchy": TREE} for name in data}
    table = Table.from_arrow(pa.table(data), roles)
    recodings = {
        name: Recoding.at_level(table[name], level)
        for name, level in zip(data, levels, strict=True)
    }
    return Release(table, recodings, KAnonymity(2))


def test_a_table_that_can_be_worked_out_on_paper():
    # level 1: a and b once each under ab, c twice and d once under cde
    cells = list("abccd")
    bits = 2 * math.log2(2) + 2 * math.log2(3 / 2) + math.log2(3)
    assert as_printed([cells], [1]) == pytest.approx(bits)
    assert metrics.entropy(released([cells], [1]), raw=True) == pytest.approx(bits)


@given(
    st.lists(st.tuples(*[st.sampled_from("abcde")] * 2), min_size=1, max_size=12),
    st.tuples(*[st.integers(0, 2)] * 2),
)
@examples(60)
def test_a_full_domain_release_has_the_same_entropy_by_both_definitions(rows, levels):
    columns = [list(cells) for cells in zip(*rows, strict=True)]
    release, printed = released(columns, levels), as_printed(columns, levels)
    assert metrics.entropy(release, raw=True) == pytest.approx(printed, abs=1e-9)
    assert metrics.non_uniform_entropy(release, raw=True) == pytest.approx(printed, abs=1e-9)
