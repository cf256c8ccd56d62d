import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.sparse import csr_array
from tests.examples import examples
from tests.risk.matchings.enumeration import (
    FLAT,
    TRUE,
    UNEVEN,
    WORKED,
    Enumerated,
    attacks,
    near,
    worked,
)

from shoal.errors import InputError
from shoal.risk import expected_cracks, heuristic, psi
from shoal.risk.matchings import psi as module
from shoal.risk.matchings.structure import split

UNEVEN_CRACKS = Fraction(204860909, 152023904)


def leaning(size, own):
    """Ones, with `own` more for the true pairs, and its Ψ in closed form."""
    derangements = [1, 0]
    for k in range(2, size + 1):
        derangements.append((k - 1) * (derangements[-1] + derangements[-2]))
    weights = [
        Fraction(math.comb(size, k) * derangements[k]) * (own + 1) ** (size - k)
        for k in range(size + 1)
    ]
    cracks = sum((size - k) * weight for k, weight in enumerate(weights)) / sum(weights)
    return np.ones((size, size)) + own * np.eye(size), float(cracks)


@pytest.mark.parametrize("text", WORKED)
def test_worked_examples(text):
    _, cracks = WORKED[text]
    for found in (psi(worked(text), TRUE), expected_cracks(worked(text), TRUE)):
        assert near(found.value, cracks)
        assert found.low <= float(cracks) <= found.high
        assert (found.method, found.guarantee, found.rhat) == ("exact", "exact", None)


def test_the_uneven_example_and_its_flat_sister():
    assert near(psi(UNEVEN, TRUE).value, UNEVEN_CRACKS)
    assert psi(UNEVEN, (4, 0, 1, 2, 3)).value == pytest.approx(0.3144, abs=5e-5)  # as printed
    assert near(psi(FLAT, TRUE).value, Fraction(13, 9))
    assert near(expected_cracks(UNEVEN, TRUE).value, Fraction(13, 9))


@examples(60)
@given(attacks())
def test_small_attacks_are_exact(attack):
    matrix, mapping = attack
    true = Enumerated(matrix)
    assume(true.permanent > 0)
    found = psi(matrix, mapping)
    assert found.guarantee == "exact"
    assert found.marginals == pytest.approx([float(x) for x in true.cracks(mapping)], abs=1e-9)
    certain = sum(chance == 1 for chance in true.cracks(mapping))
    assert found.forced == certain


def test_a_walk_beside_exact_parts(monkeypatch):
    matrix = np.zeros((30, 30))
    matrix[:20, :20] = np.random.default_rng(0).random((20, 20))
    matrix[20:29, 20:29] = np.random.default_rng(1).random((9, 9))
    matrix[29] = matrix[29, 29] = 1.0  # the last row may have any column, but others need theirs
    true = psi(matrix)
    monkeypatch.setattr(module, "_MAX_SECONDS", 1e-5)
    found = psi(matrix, seed=3)
    assert (true.guarantee, found.guarantee, found.method) == ("exact", "95 %", "worm")
    assert found.value == pytest.approx(true.value, rel=0.015)
    assert found.low <= found.value <= found.high
    assert found.forced == 1
    assert found.marginals[29] == 1
    assert found.rhat < 1.05
    assert found.steps > 0


def test_true_pairs_that_are_ruled_out_add_nothing(monkeypatch):
    matrix = np.random.default_rng(4).random((14, 14)) + 0.1
    mapping = np.roll(np.arange(14), 1)
    matrix[np.arange(5), mapping[:5]] = 0
    true = psi(matrix, mapping)
    monkeypatch.setattr(module, "_MAX_SECONDS", 0.0)
    found = psi(matrix, mapping, seed=1)
    assert found.method == "worm"
    assert found.value == pytest.approx(true.value, rel=0.015)
    assert (found.marginals[:5] == 0).all()
    assert psi(np.eye(14), mapping).value == 0


@pytest.mark.parametrize("form", [np.asarray, csr_array])
def test_a_larger_attack_is_walked(form):
    matrix, true = leaning(60, 30)
    found = psi(form(matrix + np.random.default_rng(0).random((60, 60)) * 1e-9), seed=1)
    assert (found.method, found.guarantee) == ("worm", "95 %")
    assert found.high - found.low <= 0.02 * found.value * (1 + 1e-9)
    assert found.value == pytest.approx(true, rel=0.02)
    assert found.marginals.sum() == pytest.approx(true, rel=0.02)


def test_the_same_for_a_seed_on_any_number_of_threads():
    matrix = np.random.default_rng(2).random((50, 50))
    one, two, other = (psi(matrix, seed=s, threads=t) for s, t in ((1, 1), (1, 2), (2, 1)))
    assert (one.value, one.low, one.high) == (two.value, two.low, two.high)
    assert np.array_equal(one.marginals, two.marginals)
    assert one.value != other.value


def test_fast_says_that_nothing_is_certain():
    matrix = np.random.default_rng(3).random((12, 12))
    found = psi(matrix, method="fast")
    assert (found.method, found.guarantee) == ("belief propagation", "none")
    assert (found.low, found.high) == (0, 12)
    assert found.value == pytest.approx(psi(matrix).value, rel=0.02)


def test_fast_on_listed_pairs_and_forced_ones():
    matrix = csr_array(np.kron(np.eye(3), np.ones((2, 2))))
    found = psi(matrix, [0, 1, 2, 4, 3, 5], method="fast")
    assert found.value == pytest.approx(2.0)
    assert psi(np.triu(np.ones((4, 4))), method="fast").forced == 4


@pytest.mark.parametrize(("size", "own", "off"), [(20, 20, 0.19), (1000, 1000, 0.44)])
def test_the_heuristic_is_far_too_low_near_a_permutation(size, own, off):
    matrix, true = leaning(size, own)
    assert heuristic(matrix / (size + own)) < (1 - off) * true


@pytest.mark.parametrize(("size", "half"), [(30, 1), (60, 2)])
def test_degrees_scaling_and_messages_fail_on_bands(size, half):
    apart = np.abs(np.arange(size)[:, None] - np.arange(size))
    matrix = (apart <= half).astype(float)
    true = psi(matrix, method="exact").value
    assert (1 / matrix.sum(axis=1)).sum() < 0.9 * true
    assert psi(matrix, method="fast").value < 0.9 * true


def test_messages_fail_near_a_permutation():
    matrix, true = leaning(20, 20)
    assert psi(matrix, method="fast").value > 1.1 * true


def test_what_is_no_attack_is_refused():
    with pytest.raises(InputError, match="no perfect matching"):
        psi([[1, 0], [1, 0]])
    with pytest.raises(InputError, match="as many rows as columns"):
        psi(np.ones((2, 3)))
    with pytest.raises(InputError, match="negative"):
        psi([[1, -1], [0, 1]])
    with pytest.raises(InputError, match="2 columns of the attack matrix do not sum to 1"):
        psi([[0.5, 0.5], [1, 0]], sums="both")
    with pytest.raises(InputError, match="method must be one of auto, exact, fast"):
        psi(np.eye(2), method="quick")
    with pytest.raises(InputError, match="half_width must be more than 0"):
        psi(np.eye(2), half_width=0)
    with pytest.raises(InputError, match="too large to solve exactly"):
        psi(np.random.default_rng(0).random((60, 60)), method="exact")


def test_a_checked_attack_is_taken_as_it_is():
    structure = split(UNEVEN, TRUE)
    assert near(psi(structure).value, UNEVEN_CRACKS)
