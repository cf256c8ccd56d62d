import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.table import recipes


def groups_of(tree, height):
    """The values under each label of a level."""
    found = {}
    for row in tree.rows():
        found.setdefault(row[height], set()).add(row[0])
    return found


@given(st.integers(1, 30), st.integers(0, 50), st.booleans())
def test_random_trees_nest_with_all_leaves_at_one_depth(count, seed, ordered):
    cells = [f"{i:02}" for i in range(count)]
    tree = recipes.random(cells, seed, ordered=ordered)
    assert tree.rows() == recipes.random(cells, seed, ordered=ordered).rows()
    assert tree.values == tuple(cells)
    for fine, coarse in itertools.pairwise(tree.levels[1:]):
        assert len(fine) > len(coarse)  # a level that changes nothing would be no level
    if ordered:
        for height in range(1, tree.height):
            for members in groups_of(tree, height).values():
                places = sorted(map(int, members))
                assert places == list(range(places[0], places[-1] + 1))


def test_random_trees_differ_by_seed_and_by_shuffling():
    cells = [f"{i:02}" for i in range(30)]
    trees = [recipes.random(cells, seed) for seed in range(5)]
    assert len({str(tree.rows()) for tree in trees}) > 1
    assert max(tree.height for tree in trees) > 1
    shuffled = [recipes.random(cells, seed, ordered=False) for seed in range(5)]
    deep = next(tree for tree in shuffled if tree.height > 1)
    spans = [sorted(map(int, g)) for g in groups_of(deep, 1).values()]
    assert any(span != list(range(span[0], span[-1] + 1)) for span in spans)


@pytest.mark.parametrize(
    "options",
    [{"seed": True}, {"seed": "1"}, {"seed": 1.5}, {"seed": -1}, {"ordered": "no"}],
    ids=str,
)
def test_seeds_are_whole_numbers(options):
    with pytest.raises(InputError, match="column 'values': random: seed must be"):
        recipes.random(["a", "b"], **options)
