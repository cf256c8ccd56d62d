"""What claims say, and that none promises more than its arithmetic."""

import json
import math

import pytest

from shoal import InputError
from shoal.dp import DP, DPUnderSampling, sampling_delta

CHOSEN = DPUnderSampling.of(75, 0.7, 0.1)


def test_the_whole_budget_is_that_of_choice_and_sample():
    assert CHOSEN.epsilon == pytest.approx(0.1 - math.log(0.3))
    assert CHOSEN.delta == sampling_delta(75, 0.7)
    assert CHOSEN.sampling_epsilon == pytest.approx(-math.log(0.3))
    assert str(CHOSEN) == "differential privacy under sampling(0.7, 1.304, 2.154e-07)"


def test_the_words_are_about_the_full_table_and_any_one_record():
    words = CHOSEN.describe()
    assert "Adding or removing any one record of the input" in words
    assert "at most 3.684 times as likely as before, plus a probability of 2.154e-07" in words
    assert "each record of the full table with probability 0.7" in words
    assert "nproven" not in words
    assert "testing" not in words


def test_the_arithmetic_is_spelled_out():
    lines = CHOSEN.arithmetic()
    assert "choice of the recoding: ε′ = 0.1" in lines
    assert "sample: -ln(1 - β) = 1.204" in lines
    assert "total: ε = 0.1 + 1.204 = 1.304" in lines
    assert any("δ = 2.154e-07, tight form" in line and "n = 82" in line for line in lines)
    assert "neighbours: two tables that differ by one added or removed record" in lines
    assert "public: k, β, the hierarchies" in lines


@pytest.mark.parametrize(
    ("spent", "told"),
    [
        (1.5, "sample: 1.5, more than -ln(1 - β) = 1.204"),
        (1.0, "sample: 1, less than -ln(1 - β) = 1.204, which increases δ"),
    ],
)
def test_a_sample_may_spend_more_or_less(spent, told):
    claim = DPUnderSampling.of(75, 0.7, 0.1, sampling_epsilon=spent)
    assert told in claim.arithmetic()
    assert claim.delta == pytest.approx(sampling_delta(75, 0.7, spent))


def test_the_papers_mechanism_is_marked_as_unproven():
    claim = DPUnderSampling.of(75, 0.7, 0.1, proven=False)
    assert str(claim).endswith("(unproven)")
    assert claim.describe().startswith("Unproven.")
    assert claim.delta == sampling_delta(75, 0.7, form="published")
    assert (
        claim.arithmetic()[-1]
        == "proof: none; the recoding was chosen on the sample that is released"
    )


def test_draws_that_can_be_repeated_are_for_testing():
    claim = DPUnderSampling.of(75, 0.7, 0.1, seeded=True, public=("k", "n0"))
    assert str(claim).endswith("(for testing only)")
    assert claim.describe().endswith("for testing only.")
    assert "public: k, n0" in claim.arithmetic()


def test_a_larger_delta_may_be_claimed_and_a_smaller_not():
    stated = {"beta": 0.7, "epsilon": CHOSEN.epsilon, "k": 75, "choice_epsilon": 0.1}
    assert DPUnderSampling(**stated, delta=1e-6).delta == 1e-6
    with pytest.raises(InputError, match=r"delta must be 2\.154e-07 or more for k = 75"):
        DPUnderSampling(**stated, delta=2e-7)
    with pytest.raises(InputError, match=r"delta must be 2\.528e-06 or more"):
        DPUnderSampling(**stated, delta=1e-6, proven=False)


def test_general_claims_say_what_they_are_about():
    claim = DP(1, 0, "the coefficients")
    assert str(claim) == "differential privacy(1, 0)"
    assert "any event in the coefficients at most 2.718 times as likely" in claim.describe()
    assert "chance" not in claim.describe()


@pytest.mark.parametrize("claim", [CHOSEN, DP(1.0, 1e-6, "the counts")])
def test_claims_can_be_written_down(claim):
    told = json.loads(json.dumps(claim.to_dict()))
    assert (told["claim"], told["epsilon"], told["delta"]) == (
        str(claim),
        claim.epsilon,
        claim.delta,
    )


@pytest.mark.parametrize(("epsilon", "delta"), [(-1, 0), (math.inf, 0), (1, 2), (math.nan, 0)])
def test_budgets_that_are_none_are_refused(epsilon, delta):
    with pytest.raises(InputError, match="must be"):
        DP(epsilon, delta, "anything")
