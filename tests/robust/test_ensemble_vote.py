"""Votes are counted as by hand, and ties are broken as said."""

from __future__ import annotations

from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tests.examples import examples
from tests.robust.closeness import close

from shoal.errors import InputError
from shoal.robust import EnsembleVote, Expectation, NoisyLogit
from shoal.robust.ensemble import count_votes

answers = st.integers(1, 4).flatmap(
    lambda classes: st.lists(
        st.lists(st.integers(-2, 2), min_size=classes, max_size=classes), min_size=1, max_size=6
    )
)


def told(rows):
    """Count by hand: the winner, the margin, whether there was a tie."""
    logits = torch.tensor(rows, dtype=torch.float32)
    counted = Counter(max(range(len(r)), key=lambda i: (r[i], -i)) for r in rows)
    most = max(counted.values())
    first = [c for c, n in counted.items() if n == most]
    likely = logits.softmax(-1).mean(0)
    winner = max(sorted(first), key=lambda c: (float(likely[c]), -c))
    others = [*sorted(counted.values(), reverse=True), 0]
    margin = 0 if len(rows[0]) == 1 else (others[0] - others[1]) / len(rows)
    return winner, margin, len(first) > 1


@given(answers)
@examples(80)
def test_votes_are_those_counted_by_hand(rows):
    logits = torch.tensor(rows, dtype=torch.float32).unsqueeze(1)
    found = count_votes(logits, torch.ones(len(rows)))
    expected = told(rows)
    assert (int(found.labels), float(found.margins), bool(found.tied)) == expected
    assert int(found.counts.sum()) == len(rows)


@pytest.mark.parametrize(
    ("rows", "winner", "tied"),
    [
        ([[5, 0, 0], [5, 0, 0], [0, 9, 0]], 0, False),  # two against one, however sure
        ([[1, 0, 0], [0, 2, 0]], 1, True),  # one each: the surer wins
        ([[1, 0, 0], [0, 1, 0]], 0, True),  # and equally sure: the lowest
        ([[0, 0, 0]], 0, False),  # a network that cannot tell names the lowest
    ],
)
def test_ties_are_broken_as_said(rows, winner, tied):
    found = count_votes(torch.tensor(rows, dtype=torch.float32).unsqueeze(1), torch.ones(len(rows)))
    assert (int(found.labels), bool(found.tied)) == (winner, tied)


def test_temperatures_tell_how_sure_a_network_is():
    logits = torch.tensor([[[3.0, 0.0]], [[0.0, 9.0]]])
    assert int(count_votes(logits, torch.tensor([1.0, 1.0])).labels) == 1
    assert int(count_votes(logits, torch.tensor([1.0, 90.0])).labels) == 0


def test_a_vote_is_at_least_as_good_as_most_members(ensemble, digits):
    images, labels = digits[0][1000:], digits[1][1000:]
    voted = EnsembleVote(ensemble)
    assert float(voted.accuracy(images, labels)) >= float(ensemble.accuracy(images, labels).min())
    votes = voted.vote(images[:7])
    assert votes.counts.sum(1).tolist() == [3] * 7
    assert torch.equal(votes.labels, voted.labels(images[:7])[0])


def test_noise_and_vote_together_come_again_by_their_seed(ensemble, digits):
    def voted():
        return EnsembleVote(NoisyLogit(ensemble, 0.4, seed=8)).vote(digits[0][:40])

    assert torch.equal(voted().counts, voted().counts)
    assert not torch.equal(voted().counts, EnsembleVote(ensemble).vote(digits[0][:40]).counts)


def test_an_attacker_of_the_vote_climbs_mean_log_probabilities(ensemble, digits):
    rows = digits[0][:3].clone().requires_grad_()
    found = EnsembleVote(ensemble)(rows)
    expected = ensemble.probabilities(rows).log().mean(0)
    assert (found.argmax(-1) == expected.argmax(-1)).all()  # then nothing needs to be raised
    assert close(found, expected, rtol=1e-4, atol=1e-4)
    assert torch.autograd.grad(found.sum(), rows)[0].abs().sum() > 0
    with pytest.raises(InputError, match="no layers"):
        EnsembleVote(ensemble)(rows, "0")


def test_the_winner_of_the_vote_is_on_top_of_what_an_attacker_climbs(ensemble):
    vote = EnsembleVote(ensemble)
    rows = torch.rand(400, 1, 8, 8, generator=torch.Generator().manual_seed(0)).requires_grad_()
    found, mean = vote(rows), ensemble.probabilities(rows).log().mean(0)
    winners = vote.labels(rows.detach())[0]
    assert (mean.argmax(-1) != winners).any()  # the vote need not follow the mean
    assert torch.equal(found.argmax(-1), winners)
    raised = (found - mean).abs() > 1e-4
    assert not raised[torch.arange(10) != winners.unsqueeze(1)].any()  # nobody else is
    slopes = [torch.autograd.grad(each.sum(), rows)[0] for each in (found, mean)]
    assert close(*slopes, rtol=1e-3, atol=1e-5)


def test_expectation_is_the_mean_of_so_many_queries(ensemble, digits):
    rows = digits[0][:2]
    many = Expectation(NoisyLogit(ensemble, 0.3, seed=4), 5)(rows)
    noisy = NoisyLogit(ensemble, 0.3, seed=4)
    asked = noisy.logits(ensemble.spread(rows.repeat_interleave(5, 0)))
    assert close(many, asked.view(3, 2, 5, -1).mean(2))
    near = Expectation(NoisyLogit(ensemble, 0.02, seed=4), 64)(rows)
    assert (near - ensemble(rows)).abs().max() < (noisy(rows) - ensemble(rows)).abs().max()
    with pytest.raises(InputError, match="1 or more"):
        Expectation(ensemble, 0)
