"""What is too much for one go is attacked in parts, with the same result."""

from __future__ import annotations

import pytest
import torch
from tests.robust.attacks.linear import drawn
from tests.robust.attacks.test_success import WAYS

from shoal.robust import ATTACKS, EnsembleVote, Expectation, NoisyLogit
from shoal.robust.attacks import attack
from shoal.support.progress import listening


class Counting(NoisyLogit):
    """A model that keeps the most rows that it was asked about at once."""

    most = 0

    def logits(self, inputs, layer=None):
        self.most = max(self.most, inputs.shape[1])
        return super().logits(inputs, layer)


@pytest.mark.parametrize(("name", "options"), WAYS)
def test_parts_find_what_one_go_finds(name, options, monkeypatch):
    model, *_, originals = drawn(4)
    goals = (model.labels(originals)[0] + 1) % 3
    heard = []
    found = []
    for at_once in (100, 2):  # two networks: one row at a time
        monkeypatch.setattr(attack, "_MAX_PICTURES", at_once)
        with listening(heard.append):
            found.append(ATTACKS[name](**options).run(model, originals, goals))
    whole, parts = found
    assert torch.equal(parts.originals, originals)
    assert torch.equal(parts.goals, goals)
    assert torch.equal(parts.success, whole.success)
    torch.testing.assert_close(parts.adversarial, whole.adversarial, rtol=0, atol=1e-5)
    assert all(progress.done <= progress.total for progress in heard)


def test_parts_go_by_all_that_a_row_costs(monkeypatch):
    clean, *_, originals = drawn(4)
    noisy = Counting(clean, 0.1, seed=1)
    assert [noisy.width, EnsembleVote(noisy).width, Expectation(noisy, 5).width] == [2, 2, 10]
    assert Expectation(EnsembleVote(noisy), 5).width == 10
    monkeypatch.setattr(attack, "_MAX_PICTURES", 20)
    goals = torch.zeros(4, dtype=torch.int64)
    ATTACKS["fgsm"]().run(Expectation(EnsembleVote(noisy), 5), originals, goals)
    assert noisy.most == 10  # two rows, five queries of each; two networks look at every one


def test_nothing_is_attacked_without_fuss():
    model, *_, originals = drawn(4)
    found = ATTACKS["fgsm"]().run(model, originals[:0], torch.zeros(0, dtype=torch.int64))
    assert found.adversarial.shape == (2, 0, 1, 2, 3)
