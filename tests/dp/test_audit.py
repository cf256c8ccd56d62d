"""An audit finds what is wrong, and accuses nobody without reason."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples, times

from shoal.dp.audit import Coded, audit, strongest_sets
from shoal.dp.claims import DP
from shoal.errors import InputError

TRUTH = 0.75  # the truth of a coin with ε = ln 3


def claim(epsilon, delta=0.0):
    return DP(epsilon, delta, "an answer")


def answer(secret, runs, generator):
    """Randomised response: the truth three times in four."""
    return np.where(generator.random(runs) < TRUTH, secret, 1 - secret)


def answer_once(secret, generator):
    return "yes" if (generator.random() < TRUTH) == secret else "no"


def noisy(value, runs, generator):
    """Laplace noise of scale 1: ε = 1 for values at most 1 apart."""
    return value + generator.laplace(0, 1, runs)


def test_what_is_found_comes_close_to_the_truth_from_below():
    found = audit(answer, [(1, 0)], claim(0.5), runs=100_000, vectorised=True)
    assert np.log(3) - 0.05 < found.epsilon_found < np.log(3)
    assert 0.75 - 0.25 * np.exp(0.5) - 0.02 < found.delta_found < 0.75 - 0.25 * np.exp(0.5)
    assert found.violated
    assert (found.runs, found.tested) == (100_000, 50_000)


def test_a_true_claim_is_let_pass_and_the_report_does_not_boast():
    found = audit(answer, [(1, 0)], claim(np.log(3)), runs=20_000, vectorised=True)
    assert not found.violated
    assert "proves nothing" in found.report()
    assert f"{found.noticeable_delta:.2g}" in found.report()
    assert np.log(3) < found.noticeable_epsilon < np.log(3) + 0.3


def test_a_mechanism_that_answers_once_is_run_again_and_again():
    found = audit(answer_once, [(True, False)], claim(0.5), runs=4_000)
    assert found.violated
    assert re.search(r"outcome '(yes|no)'", found.event)
    assert "the claim is false" in found.report()
    assert "yes" not in repr(found)
    assert found.to_dict()["violated"] is True
    assert len(found.to_dict()["findings"]) == len(found.findings)


def test_of_several_pairs_the_worst_is_told():
    def only_the_second(pair, runs, generator):
        return answer(pair[1], runs, generator) if pair[0] == 2 else np.zeros(runs, dtype=int)

    pairs = [((1, 1), (1, 0)), ((2, 1), (2, 0)), ((3, 1), (3, 0))]
    found = audit(only_the_second, pairs, claim(0.1), runs=5_000, vectorised=True)
    assert found.worst.pair == 2
    assert {each.pair for each in found.findings if each.delta > 0} == {2}
    assert found.event.startswith("pair 2")


@pytest.mark.parametrize(("first", "likelier"), [(1, "first"), (0, "second")])
def test_a_fault_is_found_in_either_direction(first, likelier):
    def rare(secret, runs, generator):
        return ((generator.random(runs) < 0.05) & (secret == 1)).astype(int)

    found = audit(rare, [(first, 1 - first)], claim(1.0), runs=10_000, vectorised=True)
    assert found.violated
    assert (found.worst.likelier, found.worst.others) == (likelier, 0)
    assert found.worst.event == "outcome 1"


def test_events_stated_beforehand_are_tested_on_all_runs():
    events = {"the answer is yes": lambda outcomes: outcomes == 1}
    found = audit(answer, [(1, 0)], claim(0.5), runs=5_000, vectorised=True, events=events)
    assert (found.tested, len(found.findings)) == (5_000, 2)
    assert "the answer is yes" in found.event
    once = {"yes": lambda outcome: outcome == "yes"}
    assert audit(answer_once, [(True, False)], claim(0.5), runs=4_000, events=once).violated


def test_real_numbers_are_compared_in_bins():
    found = audit(noisy, [(0.0, 1.0)], claim(0.8), runs=100_000, vectorised=True)
    assert found.violated
    assert found.epsilon_found < 1
    assert not audit(noisy, [(0.0, 1.0)], claim(1.0), runs=100_000, vectorised=True).violated


def test_bins_are_cut_without_a_look_at_the_runs_tested():
    seen = np.random.default_rng(3).random(1000)
    altered = np.where(np.arange(1000) < 500, seen, seen + 10)
    assert Coded.of(seen, seen, 500).labels == Coded.of(altered, altered, 500).labels


@pytest.mark.parametrize(
    ("mechanism", "epsilon"),
    [
        (answer, np.log(3)),
        (lambda _, runs, generator: generator.integers(0, 300, runs), 0.0),  # much to choose from
    ],
    ids=["coin", "die"],
)
def test_nobody_is_accused_more_often_than_stated(mechanism, epsilon):
    options = {"runs": 400, "confidence": 0.8, "vectorised": True}
    accused = [
        audit(mechanism, [(1, 0)], claim(epsilon), seed=seed, **options).violated
        for seed in range(times(100))
    ]
    assert np.mean(accused) < 0.2


def test_the_same_seed_gives_the_same_audit_and_another_does_not():
    def once(seed):
        return audit(answer, [(1, 0)], claim(1.0), runs=1_000, seed=seed, vectorised=True)

    assert once(1) == once(1)
    assert once(1).findings != once(2).findings


@examples(40)
@given(st.data())
def test_equal_outcomes_get_one_number_and_others_another(data):
    big = data.draw(st.sampled_from([2, 2**40]))
    row = st.tuples(*[st.integers(-big, big)] * 3)
    rows = data.draw(st.lists(row, min_size=2, max_size=12))
    half = len(rows) // 2
    table = np.array(rows, dtype=np.int64)
    coded = Coded.of(table[:half], table[half:], half)
    codes = [*coded.first, *coded.second]
    assert [coded.labels[code] for code in codes] == rows
    assert len(coded.labels) == len(set(rows))


@examples(40)
@given(st.lists(st.integers(0, 9), min_size=8, max_size=8), st.randoms())
def test_events_are_chosen_without_a_look_at_the_runs_tested(outcomes, shuffler):
    """Whatever the tested half shows, the outcomes inside are the same."""

    def chosen(tested, as_array):
        first, second = ([*outcomes[i : i + 4], *tested[i : i + 4]] for i in (0, 4))
        coded = Coded.of(*(np.array(each) if as_array else each for each in (first, second)), 4)
        size = len(coded.labels)
        counts = [np.bincount(codes[:4], minlength=size) for codes in (coded.first, coded.second)]
        return [
            {label for label, is_in in zip(coded.labels, inside, strict=True) if is_in}
            for inside in strongest_sets(*counts, (0.5, 0.0), 0.1)
        ]

    tested = [shuffler.randrange(20) for _ in range(8)]
    for as_array in (True, False):
        assert chosen(outcomes, as_array) == chosen(tested, as_array)


def test_the_event_is_the_one_that_is_likelier_here():
    hits, others = np.array([500, 300, 200]), np.array([100, 300, 600])
    for inside in strongest_sets(hits, others, (0.5, 0.0), 1e-3):
        assert inside.tolist() == [True, False, False]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"pairs": []}, "needs at least one pair"),
        ({"events": {}}, "events is empty"),
        ({"runs": 1}, "runs must be 2 or more"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1"),
    ],
)
def test_what_makes_no_audit_is_refused(options, told):
    asked = {"pairs": [(1, 0)], "runs": 100, **options}
    with pytest.raises(InputError, match=told):
        audit(answer, claim=claim(1.0), vectorised=True, **asked)


def test_several_real_numbers_are_refused():
    def two(value, runs, generator):
        return generator.random((runs, 2))

    with pytest.raises(InputError, match="several real numbers"):
        audit(two, [(1, 0)], claim(1.0), runs=100, vectorised=True)


def test_words_in_an_array_are_refused():
    def word(value, runs, generator):
        return np.array(["yes"] * runs)

    with pytest.raises(InputError, match="must be numbers"):
        audit(word, [(1, 0)], claim(1.0), runs=100, vectorised=True)


@pytest.mark.parametrize("outcome", [np.nan, np.inf, 5.0])
def test_a_number_that_is_shown_on_one_input_only_gives_it_away(outcome):
    def spoilt(value, runs, generator):
        return np.where(generator.random(runs) < 0.1 * value, outcome, generator.random(runs))

    assert audit(spoilt, [(1, 0)], claim(1.0), runs=10_000, vectorised=True).violated


def test_booleans_are_outcomes():
    def fair(value, runs, generator):
        return generator.random(runs) < 0.5

    assert not audit(fair, [(1, 0)], claim(0.0), runs=1_000, vectorised=True).violated
