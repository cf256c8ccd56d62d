from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from scipy.sparse import csr_array
from tests.examples import examples
from tests.risk.matchings.enumeration import FLAT, TRUE, UNEVEN, Enumerated, attacks, near

from shoal.errors import InputError
from shoal.risk import Matchings, heuristic, psi, set_heuristic, set_psi
from shoal.risk.attacks import MatchingAttack

ILLNESSES = ("viral", "viral", "viral", "lungs", "lungs")  # of Malik's five diagnoses


def counted(matchings, sets, mapping):
    """Return the probability of each set and the expected people, matching by matching."""
    groups = {each: [i for i, label in enumerate(sets) if label == each] for each in sets}
    chances, people = dict.fromkeys(sorted(groups), Fraction(0)), Fraction(0)
    for columns, chance in matchings:
        for label, rows in groups.items():
            own = {mapping[row] for row in rows}
            if {columns[row] for row in rows} == own:
                chances[label] += chance
            people += chance * sum(columns[row] in own for row in rows)
    return list(chances.values()), people


@examples(60)
@given(attacks(most=6))
def test_sets_are_found_as_often_as_in_a_count_of_all_matchings(attack):
    matrix, mapping = attack
    known = Enumerated(matrix)
    assume(known.permanent > 0)
    matchings = [(columns, weight / known.permanent) for columns, weight in known.found]
    sets = np.random.default_rng(len(matchings)).integers(0, 3, len(matrix)).tolist()
    chances, people = counted(matchings, sets, mapping)
    for form in (matrix, csr_array(matrix)):
        found = set_psi(form, sets, mapping)
        assert found.probabilities == pytest.approx([float(x) for x in chances], abs=1e-9)
        assert found.people == pytest.approx(float(people), abs=1e-9)
        assert found.value == pytest.approx(float(sum(chances)), abs=found.error + 1e-9)


def test_two_illnesses_of_the_worked_examples():
    # the first three rows take x, y, z in 3! orders, the last two u and v in 2!: 12 of 36 matchings
    found = set_psi(FLAT, ILLNESSES, TRUE)
    assert near(found.probabilities[0], Fraction(12, 36))
    assert found.probabilities[0] == pytest.approx(found.probabilities[1])
    assert near(found.value, Fraction(2, 3))


def test_one_person_in_each_set_gives_psi_and_h():
    apart = range(5)
    assert set_psi(UNEVEN, apart, TRUE).value == pytest.approx(psi(UNEVEN, TRUE).value)
    assert set_psi(UNEVEN, apart, TRUE).people == pytest.approx(psi(UNEVEN, TRUE).value)
    assert set_heuristic(UNEVEN, apart, TRUE).value == pytest.approx(heuristic(UNEVEN, TRUE))


def test_an_attack_has_its_own_matrix_and_mapping():
    attack = MatchingAttack(UNEVEN, TRUE, ())
    found, same = attack.set_psi(ILLNESSES), set_psi(UNEVEN, ILLNESSES, TRUE)
    assert (found.value, found.people) == (same.value, same.people)


def test_a_set_of_everyone_is_found():
    for found in (set_psi(UNEVEN, [0] * 5, TRUE), set_heuristic(UNEVEN, [0] * 5, TRUE)):
        assert (found.value, found.people) == (pytest.approx(1), pytest.approx(5))


def test_a_set_whose_records_lie_in_another_component_is_never_found():
    halves = np.kron(np.eye(2), np.ones((2, 2)))
    apart = set_psi(halves, ["a", "b", "c", "c"], [0, 2, 1, 3])
    assert apart.probabilities.tolist() == [0.5, 0, 0]
    assert apart.people == pytest.approx(1.5)  # each of c has one of two records inside
    across = set_psi(halves, ["a", "b", "b", "c"], [0, 2, 1, 3])
    assert across.probabilities.tolist() == [0.5, 0.25, 0.5]  # b needs one record of each half


def test_the_heuristic_multiplies_the_shares_of_rows_inside_the_set():
    matrix = [[0.5, 0.3, 0.2], [0.1, 0.6, 0.3], [0.4, 0.1, 0.5]]
    found = set_heuristic(matrix, ["a", "a", "b"])
    assert found.probabilities == pytest.approx([0.8 * 0.7, 0.5])
    assert found.people == pytest.approx(0.8 + 0.7 + 0.5)
    assert found.error is None
    assert set_heuristic(csr_array(matrix), ["a", "a", "b"]).value == pytest.approx(found.value)


def test_a_distribution_that_no_matrix_gives():
    # both people swap or nobody does: independent pairs would allow a swap of one pair alone
    both = Matchings([[0, 1, 2, 3], [1, 0, 3, 2]], [0.5, 0.5])
    sets = ["a", "b", "b", "c"]
    found, guess = set_psi(both, sets), set_heuristic(both, sets)
    assert found.probabilities.tolist() == [0.5, 0.5, 0.5]
    assert guess.probabilities.tolist() == [0.5, 0.25, 0.5]
    assert found.people == guess.people == 2  # an expectation needs only the pairs


@examples(40)
@given(attacks(most=5))
def test_pairs_of_any_distribution_give_its_exact_psi(attack):
    matrix, mapping = attack
    known = Enumerated(matrix)
    assume(known.permanent > 0)
    weights = np.random.default_rng(len(known.found)).dirichlet(np.ones(len(known.found)))
    matchings = [columns for columns, _ in known.found]
    mixed = Matchings(matchings, weights)
    shared = [sum(a == b for a, b in zip(each, mapping, strict=True)) for each in matchings]
    true = float((weights * shared).sum())
    assert set_psi(mixed, range(len(matrix)), mapping).value == pytest.approx(true)
    assert heuristic(mixed.pairs, mapping) == pytest.approx(true)


@pytest.mark.parametrize(
    ("columns", "chances", "message"),
    [
        ([], [], "at least one"),
        ([[0, 0]], [1.0], "each from 0 to 1 once"),
        ([[0, 1]], [0.5, 0.5], "1 matchings need 1 probabilities, not 2"),
        ([[0, 1], [1, 0]], [0.5, 0.6], "sum to 1"),
        ([[0, 1], [1, 0]], [1.5, -0.5], "0 or more"),
    ],
)
def test_what_is_no_distribution_is_refused(columns, chances, message):
    with pytest.raises(InputError, match=message):
        Matchings(columns, chances)


def test_sets_that_do_not_fit_are_refused_without_their_labels():
    with pytest.raises(InputError, match="one label for each of 2 rows, not 3"):
        set_psi(np.eye(2), "abc")
    with pytest.raises(InputError, match="of one type") as refused:
        set_heuristic(np.eye(2), ["secret", 7])
    assert "secret" not in str(refused.value)
    with pytest.raises(InputError, match="do not sum to 1"):
        set_heuristic(np.ones((2, 2)), [0, 1])
    with pytest.raises(InputError, match="too large to solve exactly"):
        set_psi(np.random.default_rng(0).random((60, 60)), range(60))
