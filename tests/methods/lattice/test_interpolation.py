"""Guessed nodes are means of fixed others; their sensitivity is tried with the node choice."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.methods.lattice.drawing import draw_table

from shoal import InputError
from shoal.methods.lattice.node_choice import (
    DictionaryInterpolation,
    LevelInterpolation,
    NodeChoice,
)

shapes = st.lists(st.integers(1, 4), min_size=1, max_size=4).filter(lambda s: max(s) > 1)


def steps(node, shape):
    """The neighbours of a node, with the attribute that differs."""
    for j, level in enumerate(node):
        for other in (level - 1, level + 1):
            if 0 <= other < shape[j]:
                yield j, (*node[:j], other, *node[j + 1 :])


@examples(80)
@given(shapes, st.booleans(), st.integers(0, 10**6))
def test_every_other_row_is_the_mean_over_its_neighbours(shape, even, seed):
    values = np.random.default_rng(seed).normal(size=shape)
    found = LevelInterpolation(even).fill(values)
    guessed = LevelInterpolation(even).guessed(tuple(shape))
    for node in product(*map(range, shape)):
        assert guessed[node] == (sum(node) % 2 == (0 if even else 1))
        if guessed[node]:
            near = [other for _, other in steps(node, shape)]
            assert not guessed[tuple(zip(*near, strict=True))].any()
            assert found[node] == pytest.approx(np.mean([values[other] for other in near]))
        else:
            assert found[node] == values[node]


@examples(80)
@given(shapes, st.data(), st.integers(0, 10**6))
def test_one_level_is_the_mean_of_those_below_and_above(shape, data, seed):
    attribute = data.draw(st.sampled_from([j for j, levels in enumerate(shape) if levels > 1]))
    level = data.draw(st.integers(0, shape[attribute] - 1))
    values = np.random.default_rng(seed).normal(size=shape)
    found = DictionaryInterpolation(attribute, level).fill(values)
    for node in product(*map(range, shape)):
        if node[attribute] != level:
            assert found[node] == values[node]
            continue
        near = [values[other] for j, other in steps(node, shape) if j == attribute]
        assert found[node] == pytest.approx(np.mean(near))


def test_what_is_guessed_is_read_nowhere():
    values = np.arange(24.0).reshape(2, 3, 4)
    for fill in (LevelInterpolation(), LevelInterpolation(True), DictionaryInterpolation(1, 1)):
        hidden = np.where(fill.guessed(values.shape), np.nan, values)
        assert np.array_equal(fill.fill(values), fill.fill(hidden))


def test_values_on_a_line_are_guessed_exactly_inside():
    values = 2.0 * np.arange(5)
    assert DictionaryInterpolation(0, 2).fill(values).tolist() == values.tolist()
    assert LevelInterpolation().fill(values).tolist() == values.tolist()
    assert DictionaryInterpolation(0, 4).fill(values).tolist() == [0, 2, 4, 6, 6]


def test_only_what_the_data_say_is_guessed():
    drawn = draw_table(np.random.default_rng(3), attributes=3, rows=30)
    options = {"k": 2, "beta": 0.7, "epsilon": 1, "n0": 30}
    exact = NodeChoice.of(drawn.table, **options)
    guess = NodeChoice.of(drawn.table, **options, interpolation=LevelInterpolation())
    assert np.array_equal(guess.generalization, exact.generalization)
    assert np.array_equal(guess.kept, LevelInterpolation().fill(exact.kept))
    error = np.abs(guess.scores - exact.scores)
    assert error.max() > 0
    assert not error[~LevelInterpolation().guessed(exact.lattice.shape)].any()
    assert 0 < exact.distance(guess) < 1


def test_what_cannot_be_guessed_is_refused():
    with pytest.raises(InputError, match="no level 3 of attribute 0"):
        DictionaryInterpolation(0, 3).fill(np.zeros((3, 2)))
    with pytest.raises(InputError, match="no level 0 of attribute 2"):
        DictionaryInterpolation(2, 0).fill(np.zeros((3, 2)))
    with pytest.raises(InputError, match="single level"):
        DictionaryInterpolation(1, 0).fill(np.zeros((3, 1)))
    with pytest.raises(InputError, match="level must be"):
        DictionaryInterpolation(0, -1)
