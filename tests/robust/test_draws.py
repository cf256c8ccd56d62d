"""Draws depend on their seed and place alone."""

from __future__ import annotations

import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.robust import draws

MASK = 2**64 - 1
numbers = st.integers(-(2**62), 2**62)


def mixed(state):
    """Mix one number, by whole numbers of Python's."""
    state = (state + 1) * 0x9E3779B97F4A7C15 & MASK
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9 & MASK
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB & MASK
    return state ^ (state >> 31)


@given(numbers, st.integers(0, 10**6), st.integers(1, 9))
@examples(40)
def test_words_are_those_of_plain_arithmetic(seed, place, count):
    found = draws.words(torch.tensor(seed), place, count=count)
    start = mixed(mixed(seed & MASK) + place)
    assert [word & MASK for word in found.tolist()] == [mixed(start + i) for i in range(count)]


@given(st.lists(numbers, min_size=2, max_size=5), st.integers(0, 99))
@examples(20)
def test_a_seed_draws_alone_what_it_draws_among_others(seeds, place):
    together = draws.uniforms(torch.tensor(seeds), place, count=7)
    for seed, row in zip(seeds, together, strict=True):
        assert torch.equal(draws.uniforms(torch.tensor(seed), place, count=7), row)


def test_uniforms_spread_evenly_below_one():
    found = draws.uniforms(torch.tensor(3), 1, count=100_000)
    assert found.min() >= 0
    assert found.max() < 1
    counts = torch.histc(found, 20, 0, 1)
    assert ((counts - 5000) ** 2 / 5000).sum() < 50  # chi-square, 19 degrees: 1 in 10,000


@given(st.integers(1, 50), numbers)
@examples(20)
def test_an_order_names_each_place_once_and_changes_with_the_epoch(count, seed):
    orders = [draws.permutations(torch.tensor(seed), 1, epoch, count=count) for epoch in range(2)]
    assert all(order.sort().values.tolist() == list(range(count)) for order in orders)
    assert count < 20 or not torch.equal(*orders)
