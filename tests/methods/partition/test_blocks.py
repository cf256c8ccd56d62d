"""Blocks of nearby groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.methods.partition.annealing import order_by, split_groups


@given(st.integers(0, 10_000), st.integers(1, 300), st.integers(1, 5), st.integers(1, 40))
def test_blocks_have_about_the_size_asked_for(seed, groups, columns, most):
    draw = np.random.default_rng(seed)
    places = draw.integers(0, 2 ** draw.integers(1, 31), (groups, columns)).astype(np.int32)
    sizes = np.bincount(split_groups(places, most, draw))
    assert sizes.sum() == groups
    assert sizes.max() < 2 * most or groups == 1
    assert len(sizes) == 1 or sizes.min() >= 2 * most * 2 // 5


def test_blocks_are_ranges_of_a_single_column():
    places = np.arange(100, dtype=np.int32)[:, np.newaxis] * 2**24
    number = split_groups(places[::-1], 10, np.random.default_rng(1))
    assert (np.diff(number) != 0).sum() == number.max()


def test_equal_groups_are_split_in_their_order():
    number = split_groups(np.zeros((40, 2), dtype=np.int32), 10, np.random.default_rng(1))
    assert number.tolist() == sorted(number.tolist())


@pytest.mark.parametrize("count", [4, 70_000])
def test_records_are_listed_by_block(count):
    block = np.array([2, -1, 0, 2, 3, -1, 0], dtype=np.int32)
    order, starts = order_by(block, count)
    lists = [order[starts[i] : starts[i + 1]].tolist() for i in range(4)]
    assert lists == [[2, 6], [], [0, 3], [4]]
