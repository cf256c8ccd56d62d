from fractions import Fraction

import numpy as np
import pytest
from tests.risk.matchings.enumeration import TRUE, Enumerated, near

from shoal.errors import InputError
from shoal.risk.attacks import Network

THIRD, SIXTH, NINTH = Fraction(1, 3), Fraction(1, 6), Fraction(1, 9)


def equals(matrix, fractions):
    return all(
        near(found, right)
        for row, told in zip(matrix, fractions, strict=True)
        for found, right in zip(row, told, strict=True)
    )


def test_malik_figure_3_1():
    # λ2 mixes the last three, λ1 the first two with one of those, λ3 one way out of each
    network = Network(wires=5).mix([2, 3, 4]).mix([0, 1, 3]).mix([3, 4])
    attack = network.attack(outputs=[2, 3, 4, 0, 1], mapping=TRUE)  # u v x y z
    few = [[0, SIXTH, SIXTH, THIRD, THIRD]] * 2
    many = [[THIRD, 2 * NINTH, 2 * NINTH, NINTH, NINTH]] * 3
    assert equals(attack.matrix, few + many)


def test_malik_figure_3_3_is_flat():
    network = Network(wires=5).mix([2, 3, 4]).mix([0, 1, 4])
    attack = network.attack(outputs=[2, 3, 4, 0, 1], mapping=TRUE)
    few, many = [[0, 0, THIRD, THIRD, THIRD]], [[THIRD, THIRD, NINTH, NINTH, NINTH]]
    assert equals(attack.matrix, few * 2 + many * 3)
    known = Enumerated([[float(x) for x in row] for row in attack.matrix])
    assert near(float(known.permanent), Fraction(4, 81))
    assert len(known.found) == 36
    assert near(float(sum(known.cracks(TRUE))), Fraction(13, 9))


def test_blocks_with_chances_of_their_own_multiply():
    lazy = [[0.75, 0.25], [0.25, 0.75]]
    network = Network(3).mix([0, 1], lazy).mix([1, 2])
    expected = [[0.75, 0.125, 0.125], [0.25, 0.375, 0.375], [0, 0.5, 0.5]]
    assert network.matrix.tolist() == expected


def test_the_order_of_a_block_s_wires_is_that_of_its_matrix():
    swap = [[0, 1, 0], [0, 0, 1], [1, 0, 0]]  # what enters on wires 2, 0, 1 leaves on 0, 1, 2
    assert Network(3).mix([2, 0, 1], swap).matrix.argmax(axis=1).tolist() == [1, 2, 0]


def test_networks_follow_each_other_and_lie_side_by_side():
    pair = Network(2).mix([0, 1])
    both = pair.beside(pair)
    assert both.matrix.tolist() == np.kron(np.eye(2), np.full((2, 2), 0.5)).tolist()
    whole = both.then(Network(4).mix([0, 2]).mix([1, 3]))
    assert whole.matrix.tolist() == np.full((4, 4), 0.25).tolist()


def test_any_network_gives_rows_and_columns_that_sum_to_one():
    rng, network = np.random.default_rng(1), Network(9)
    for _ in range(20):
        network = network.mix(rng.permutation(9)[: rng.integers(1, 6)].tolist())
    assert network.matrix.sum(axis=0) == pytest.approx(1)
    assert network.matrix.sum(axis=1) == pytest.approx(1)


@pytest.mark.parametrize(
    ("wires", "chances", "message"),
    [
        ([0, 3], "uniform", "one wire from 0 to 2, each once"),
        ([0, 0], "uniform", "each once"),
        ([], "uniform", "at least one"),
        ([0.5], "uniform", "one wire from 0 to 2"),
        ([0, 1], "even", "'uniform' or a doubly stochastic matrix, not 'even'"),
        ([0, 1], np.eye(3), "each of its 2 wires, not 3"),
        ([0, 1], [[1, 0], [1, 0]], "2 columns of the attack matrix do not sum to 1"),
    ],
)
def test_a_block_that_does_not_fit_is_refused(wires, chances, message):
    with pytest.raises(InputError, match=message):
        Network(3).mix(wires, chances)


def test_networks_that_do_not_fit_are_refused():
    with pytest.raises(InputError, match="a network with 3 wires cannot feed a network with 2"):
        Network(3).then(Network(2))
    with pytest.raises(InputError, match="wires must be a whole number"):
        Network(0)
