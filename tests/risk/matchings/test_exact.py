import math
from fractions import Fraction
from unittest.mock import patch

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
from shoal.risk.matchings import solver
from shoal.risk.matchings.exact import all_marginals, exact, exact_cost
from shoal.risk.matchings.structure import split


def band(size, half, weigh=np.ones):
    """Return a matrix whose entries lie near the diagonal."""
    apart = np.abs(np.arange(size)[:, None] - np.arange(size))
    return np.where(apart <= half, weigh(apart.shape), 0.0)


@pytest.mark.parametrize("text", WORKED)
def test_worked_examples(text):
    permanent, cracks = WORKED[text]
    found = exact(worked(text), TRUE)
    assert near(found.permanent, permanent)
    assert near(found.psi, cracks)


def test_an_uneven_attack():
    found = exact(UNEVEN, TRUE)
    assert near(found.permanent, Fraction(4750747, 78125000))
    assert near(found.psi, Fraction(204860909, 152023904))
    elsewhere = exact(UNEVEN, (4, 0, 1, 2, 3))
    assert round(elsewhere.psi, 4) == round(1369 / 4355, 4) == 0.3144  # Malik's Ψ(Q)


def test_a_flat_attack_tells_no_more_than_its_zeros():
    found, zeros = exact(FLAT, TRUE), exact(np.array(FLAT) > 0, TRUE)
    assert near(found.permanent, Fraction(4, 81))
    assert near(found.psi, Fraction(13, 9))
    assert np.allclose(found.marginals, zeros.marginals, rtol=1e-13)


ROUTES = {  # rows up to which sets are looked at; how much longer a sweep may take
    "subsets": {"_SMALL_ROWS": 8},
    "sweep": {"_SMALL_ROWS": 0},
    "glynn": {"_SMALL_ROWS": 0, "_GLYNN_PENALTY_SECONDS": -1e9},
}


@given(attacks(most=8))
@examples(60)
def test_every_figure_is_that_of_all_matchings(attack):
    matrix, mapping = attack
    known = Enumerated(matrix)
    if not known.found:
        with pytest.raises(InputError, match="no perfect matching"):
            exact(matrix, mapping)
        return
    cracks, log_known = known.cracks(mapping), math.log(float(known.permanent))
    for route, settings in ROUTES.items():
        with patch.multiple(solver, **settings):
            found = exact(matrix, mapping)
        assert {taken.route for taken in found.routes} <= {"single", route}
        assert abs(found.log_permanent - log_known) <= found.error + 1e-15 * (1 + abs(log_known))
        assert abs(found.psi - sum(cracks)) <= found.psi_error
        assert found.error < 1e-11
        assert found.psi_error < 1e-10
        assert np.allclose(found.marginals, [float(p) for p in cracks], rtol=1e-11, atol=1e-12)


@given(attacks(most=6))
@examples(40)
def test_all_marginals_are_those_of_all_matchings(attack):
    matrix, _ = attack
    known = Enumerated(matrix)
    assume(known.found)
    shares = [[float(share) for share in row] for row in known.marginals()]
    for settings in ROUTES.values():
        with patch.multiple(solver, **settings):
            assert np.allclose(all_marginals(matrix), shares, rtol=1e-11, atol=1e-14)


def test_a_true_record_that_is_ruled_out_is_never_found():
    found = exact([[1, 1, 0], [1, 1, 0], [1, 1, 1]], [2, 0, 1])
    assert found.marginals.tolist() == [0.0, 0.5, 0.0]
    assert found.psi == 0.5


def test_nothing_depends_on_the_order_or_the_scale():
    generator = np.random.default_rng(4)
    matrix = generator.random((13, 13)) * (generator.random((13, 13)) < 0.7) + np.eye(13)
    rows, columns = generator.permutation(13), generator.permutation(13)
    moved = matrix[rows][:, columns] * generator.random((13, 1)) * 1e9
    mapping = np.argsort(columns)[rows]
    found, other = exact(matrix), exact(moved, mapping)
    assert np.allclose(found.marginals[rows], other.marginals, rtol=1e-11)


@pytest.mark.parametrize("size", [17, 19])
def test_without_structure_three_ways_agree(size):
    matrix = np.random.default_rng(size).random((size, size))
    found = exact(matrix)
    assert [taken.route for taken in found.routes] == ["glynn"]
    assert np.allclose(np.diagonal(all_marginals(matrix)), found.marginals, atol=1e-12)
    border = np.zeros((size, 1))
    laplace = [
        matrix[0, j] * exact(np.delete(np.delete(matrix, 0, 0), j, 1)).permanent
        for j in range(size)
    ]
    assert math.isclose(found.permanent, math.fsum(laplace), rel_tol=1e-11)
    assert math.isclose(found.marginals[0], laplace[0] / math.fsum(laplace), rel_tol=1e-11)
    alone = exact(np.block([[matrix, border], [border.T, np.ones((1, 1))]]))
    assert alone.psi == pytest.approx(found.psi + 1, rel=1e-12)


def test_threads_change_nothing():
    matrix = np.random.default_rng(2).random((20, 20))
    one, two = exact(matrix), exact(matrix, threads=3)
    assert one.log_permanent == two.log_permanent
    assert np.array_equal(one.marginals, two.marginals)
    with pytest.raises(InputError, match="threads must be a whole number"):
        exact(matrix, threads=0)


def test_a_long_band_is_swept():
    size = 1000
    for matrix in (band(size, 4), csr_array(band(size, 4))):
        found = exact(matrix)
        assert found.routes == ((size, "sweep"),)
        assert found.psi == pytest.approx(118.14601031112657, rel=1e-11)
        assert found.psi_error < 1e-8
    fibonacci = [1, 1]
    for _ in range(size - 1):
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    tridiagonal = exact(band(size, 1))
    assert math.isclose(tridiagonal.log_permanent, math.log(fibonacci[size]), rel_tol=1e-14)
    expected = [fibonacci[i] * fibonacci[size - 1 - i] / fibonacci[size] for i in range(size)]
    assert np.allclose(tridiagonal.marginals, expected, rtol=1e-12)


def test_a_shuffled_band_is_found_again():
    generator = np.random.default_rng(3)
    matrix = band(150, 3, generator.random)
    rows, columns = generator.permutation(150), generator.permutation(150)
    mixed = exact(matrix[rows][:, columns], np.argsort(columns)[rows])
    assert mixed.psi == pytest.approx(exact(matrix).psi, rel=1e-11)


def test_people_and_records_that_are_alike_are_counted():
    assert exact(np.ones((400, 400))).psi == pytest.approx(1, rel=1e-12)
    assert exact(np.ones((400, 400))).log_permanent == pytest.approx(math.lgamma(401), rel=1e-13)
    weights = np.array([[3.0, 1.0], [1.0, 2.0]])
    rows, columns = np.repeat([0, 1], [120, 80]), np.repeat([0, 1], [90, 110])
    found = exact(weights[rows][:, columns])
    terms = {  # people of the first kind with records of the first kind
        both: math.comb(120, both)
        * math.comb(80, 90 - both)
        * Fraction(3) ** both
        * 2 ** (80 - 90 + both)
        for both in range(10, 91)
    }
    total = sum(terms.values())
    mean = sum(both * term for both, term in terms.items()) / total
    each = [mean / (120 * 90), (120 - mean) / (120 * 110), (80 - 90 + mean) / (80 * 110)]
    psi = 90 * each[0] + 30 * each[1] + 80 * each[2]
    assert found.psi == pytest.approx(float(psi), rel=1e-12)
    log_total = math.log(total.numerator) - math.log(total.denominator)
    log_total += math.lgamma(91) + math.lgamma(111)
    assert found.log_permanent == pytest.approx(log_total, rel=1e-13)


def test_a_wide_range_hides_no_kinds():
    weights = np.array([[1.0, 1e-8, 3.0], [1e-9, 1.0, 1e-12], [1e-3, 1e-7, 1e-5]])
    matrix = weights[np.repeat([0, 1, 2], 12)][:, np.repeat([2, 0, 1], 12)]
    found, spread = exact(matrix), exact(matrix * np.logspace(-3, 9, 36))
    assert [taken.route for taken in found.routes] == ["sweep"]
    assert exact_cost(matrix).seconds < 1
    for kind in range(3):
        alike = found.marginals[12 * kind : 12 * (kind + 1)]
        assert np.ptp(alike) == 0
    assert 0 < found.psi < 36
    assert spread.psi == pytest.approx(found.psi, rel=1e-9)


def test_what_is_too_much_is_refused_and_its_cost_known_before():
    matrix = np.random.default_rng(0).random((200, 200))
    assert exact_cost(matrix).seconds == math.inf
    with pytest.raises(InputError, match="200 rows form one component that is too large"):
        exact(matrix)
    with pytest.raises(InputError, match="30 rows form one component"):
        all_marginals(matrix[:30, :30])
    assert exact_cost(matrix[:30, :30]).route == "glynn"
    assert 0.5 < exact_cost(matrix[:30, :30]).seconds < 60
    assert exact_cost(band(1000, 4)).seconds < 5
    assert exact_cost(matrix[:20, :20], every=True).route == "subsets"
    assert exact_cost(np.eye(3)).seconds == 0


def test_the_dearest_part_names_the_route_and_all_are_paid_for():
    dense, narrow = np.random.default_rng(0).random((24, 24)), band(40, 2)
    dear, cheap = exact_cost(dense), exact_cost(narrow)
    assert (dear.route, cheap.route) == ("glynn", "sweep")
    together = np.zeros((64, 64))
    together[:40, :40], together[40:, 40:] = narrow, dense
    for matrix in (together, together[::-1, ::-1]):
        found = exact_cost(matrix)
        assert (found.route, found.megabytes) == (dear.route, max(dear.megabytes, cheap.megabytes))
        assert found.seconds == pytest.approx(dear.seconds + cheap.seconds)


def test_a_structure_is_taken_as_it_is():
    structure = split(UNEVEN, TRUE)
    assert exact(structure).psi == exact(UNEVEN, TRUE).psi
    assert exact_cost(structure) == exact_cost(UNEVEN)
    assert np.array_equal(all_marginals(structure), all_marginals(UNEVEN))
