"""Planted faults are found, the sound mechanism passes, and both as far as can be computed."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.dp.small_mechanisms import EXAMPLES, SameSampleRule, SmallRelease
from tests.examples import examples

from shoal.dp import mechanisms
from shoal.dp.audit import audit
from shoal.dp.audit_exact import audit_exactly
from shoal.dp.claims import DP
from shoal.support.proportions import lower_bound, upper_bound

SOUND = SmallRelease()
SHOWN = ["sensitivity", "fixed-sample", "quasi-only", "dropped-count"]


def exactly(mechanism, first, second):
    ratio = getattr(mechanism, "ratio", None)
    claim = mechanism.claim
    return audit_exactly(
        mechanism.distribution(first), mechanism.distribution(second), claim, ratio=ratio
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_exact_audit_tells_the_sound_mechanism_from_the_others(name):
    example = EXAMPLES[name]
    found = [exactly(example.mechanism, *pair) for pair in example.pairs]
    assert any(each.violated for each in found) is not example.sound
    assert any(each.epsilon_found > each.epsilon for each in found) is not example.sound


@pytest.mark.parametrize("name", ["sound", *SHOWN])
def test_runs_tell_them_apart_too(name):
    example = EXAMPLES[name]
    claim = example.mechanism.claim
    found = audit(example.mechanism, example.pairs, claim, runs=30_000, vectorised=True)
    assert found.violated is not example.sound
    true = [exactly(example.mechanism, *pair) for pair in example.pairs]
    assert found.delta_found < max(each.delta_found for each in true)
    assert found.epsilon_found < max(each.epsilon_found for each in true)


@pytest.mark.parametrize("name", EXAMPLES)
def test_runs_follow_the_distribution_that_is_written_down(name):
    example, runs, error = EXAMPLES[name], 20_000, 1e-6
    table = example.pairs[0][0]
    outcomes = example.mechanism(table, runs, np.random.default_rng(4)).reshape(runs, -1)
    shown, hits = np.unique(outcomes, axis=0, return_counts=True)
    seen = {tuple(row): int(hit) for row, hit in zip(shown.tolist(), hits, strict=True)}
    stated = example.mechanism.distribution(table)
    assert set(seen) <= set(stated)
    for outcome, chance in stated.items():
        hit = seen.get(outcome, 0)
        assert lower_bound(hit, runs, error) <= float(chance) <= upper_bound(hit, runs, error)


@examples(60)
@given(
    st.lists(st.integers(0, 5), min_size=4, max_size=4),
    st.integers(0, 3),
    st.integers(2, 5),
    st.sampled_from([0.2, 0.5, 0.7]),
    st.sampled_from([0.01, 0.3, 1.0, 3.0]),
    st.sampled_from(["expected", "all"]),
)
def test_the_sound_mechanism_keeps_its_claim_on_any_table(table, cell, k, beta, epsilon, score):
    more = [size + (place == cell) for place, size in enumerate(table)]
    mechanism = SmallRelease(k=k, beta=beta, choice_epsilon=epsilon, score=score)
    assert not exactly(mechanism, more, table).violated


def test_the_claim_of_the_sound_mechanism_is_nearly_reached():
    mechanism = replace(SOUND, choice_epsilon=0.01)
    pair = (6, 0, 0, 0), (5, 0, 0, 0)
    found = exactly(mechanism, *pair)
    assert 0.98 * found.delta < found.delta_found < found.delta
    assert found.epsilon_found == pytest.approx(math.log(2))
    claim = mechanism.claim
    kept = audit(mechanism, [pair], claim, runs=100_000, vectorised=True)
    less = DP(claim.epsilon, 0.8 * claim.delta, "a fifth less than is true")
    assert not kept.violated
    assert kept.delta_found > 0.8 * claim.delta
    assert audit(mechanism, [pair], less, runs=100_000, vectorised=True).violated


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 2.0])
def test_the_rule_that_chooses_on_the_sample_is_private_itself(epsilon):
    rule = SameSampleRule(choice_epsilon=epsilon)
    growth = Fraction(math.exp(epsilon))
    samples = [(others, person) for others in range(100) for person in (0, 1)]
    neighbours = [((i, t), (i + 1, t)) for i, t in samples] + [((i, 0), (i, 1)) for i, _ in samples]
    for first, second in neighbours:
        one, two = rule.readiness(*first), rule.readiness(*second)
        assert 0 < one < 1
        for a, b in ((one, two), (1 - one, 1 - two)):
            assert max(a / b, b / a) <= growth


def test_and_yet_its_release_breaks_the_claim_by_far():
    rule = SameSampleRule()
    found = exactly(rule, (91, 1), (91, 0))
    assert found.delta == pytest.approx(2.52789e-6, rel=1e-5)
    assert float(found.delta_found) == pytest.approx(3.84680740866e-4, rel=1e-9)
    assert isinstance(found.delta_found, Fraction)
    assert found.outcomes == tuple((size,) for size in range(75, 93))
    others = [exactly(rule, (size, 1), (size, 0)).delta_found for size in (85, 90, 92, 97)]
    assert max(others) < found.delta_found


def test_of_a_bolder_rule_runs_notice_it():
    rule = SameSampleRule(choice_epsilon=2.0)
    found = audit(rule, [((103, 1), (103, 0))], rule.claim, runs=100_000, vectorised=True)
    assert found.violated
    assert found.delta_found > 100 * rule.claim.delta


@examples(30)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=5), st.data())
def test_the_exponential_choice_spends_its_budget_and_no_more(scores, data):
    moved = [data.draw(st.integers(score, score + 3)) for score in scores]
    assume(moved != scores)
    chances = [
        mechanisms.probabilities(np.array(each, dtype=float), 0.7, 3.0, monotone=True)
        for each in (scores, moved)
    ]
    assert not audit_exactly(*chances, DP(0.7, 0.0, "the choice")).violated
    assert audit_exactly(*chances, DP(0.0, 0.0, "the choice")).violated == (
        len({after - before for before, after in zip(scores, moved, strict=True)}) > 1
    )


@pytest.mark.parametrize("secure", [True, False])
def test_the_draws_of_the_choice_spend_their_budget_and_no_more(secure):
    def chosen(scores, generator):
        seed = None if secure else int(generator.integers(2**31))
        return mechanisms.choose(scores, 2.0, 3.0, monotone=True, seed=seed)

    pair = np.array([0.0, 3.0, 0.0]), np.array([0.0, 0.0, 0.0])
    found = audit(chosen, [pair], DP(2.0, 0.0, "the choice"), runs=1_000)
    assert not found.violated
    assert 0.5 < found.epsilon_found < 1.14  # the truth is 1.136, this pair's share of the budget
