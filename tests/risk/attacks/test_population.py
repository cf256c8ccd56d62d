from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples

from shoal.errors import InputError
from shoal.risk.attacks import population_attack
from shoal.risk.matchings.exact import exact


def enumerated(weights, presence, truth):
    """Return for each record the chance that it is given to its person, over all ways."""
    people, records = weights.shape
    total, right = Fraction(0), [Fraction(0)] * records
    for chosen in permutations(range(people), records):
        weight = Fraction(1)
        for record, person in enumerate(chosen):
            weight *= Fraction(float(presence[person])) * Fraction(float(weights[person, record]))
        for person in set(range(people)) - set(chosen):
            weight *= 1 - Fraction(float(presence[person]))
        total += weight
        for record, person in enumerate(chosen):
            right[record] += weight * (person == truth[record])
    return total, right


@given(st.integers(1, 3), st.integers(0, 3), st.integers(0, 2**32 - 1))
@examples(60)
def test_equals_the_enumeration_of_all_ways_to_fill_the_table(records, absent, seed):
    rng = np.random.default_rng(seed)
    people = records + absent
    weights = rng.integers(0, 5, (people, records)) / 4
    truth = rng.permutation(people)[:records]
    weights[truth, np.arange(records)] = 1
    presence = rng.integers(1, 4, people) / 4
    attack = population_attack(weights, presence, truth)
    total, right = enumerated(weights, presence, truth)
    assert total > 0
    found = exact(attack.structure)
    assert found.marginals[truth].tolist() == pytest.approx([float(r / total) for r in right])
    assert found.psi == pytest.approx(float(sum(right) / total))
    assert set(np.flatnonzero(attack.present)) == set(truth.tolist())


def test_a_person_who_is_hardly_ever_in_the_table_hides_nobody():
    weights = np.ones((2, 1))  # both fit the one record
    even, sure = (
        exact(population_attack(weights, chances, [0]).structure).psi
        for chances in ([0.5, 0.5], [0.9, 0.1])
    )
    assert even == pytest.approx(1 / 2)
    assert sure == pytest.approx(81 / 82)


def test_one_chance_for_all_changes_nothing():
    weights, truth = np.array([[1, 2], [3, 1], [1, 1.0]]), [0, 1]
    few, many = (exact(population_attack(weights, p, truth).structure).psi for p in (0.1, 0.8))
    assert few == pytest.approx(many)


def test_a_prior_keeps_who_is_present():
    attack = population_attack(np.ones((2, 1)), 0.5, [1])
    weighed = attack.with_prior([[1, 1], [3, 1]], "A rumour.")
    assert exact(weighed.structure).psi == pytest.approx(3 / 4)


@pytest.mark.parametrize(
    ("weights", "presence", "truth", "message"),
    [
        (np.ones((1, 2)), 0.5, [0, 0], "no more records than people"),
        (np.ones(3), 0.5, [0], "one row for each person"),
        (np.ones((2, 1)), [0.5], [2], "truth must name a person from 0 to 1"),
        (np.ones((2, 2)), 0.5, [0, 0], "each person at most once"),
        (np.ones((2, 1)), [0.5, 1.5], [0], "1 value is missing or outside"),
        (np.ones((2, 1)), [0.5, 0.5, 0.5], [0], "one probability for each of the 2 people"),
        ([[-1.0], [1.0]], 0.5, [0], "1 entry of the attack matrix is negative"),
    ],
)
def test_what_does_not_fit_is_refused(weights, presence, truth, message):
    with pytest.raises(InputError, match=message):
        population_attack(weights, presence, truth)


def test_only_people_in_the_table_are_found():
    found = population_attack(np.ones((4, 2)), 0.5, [3, 1]).psi()
    assert found.value == pytest.approx(2 / 4)
    assert found.marginals[[0, 2]].tolist() == [0, 0]
