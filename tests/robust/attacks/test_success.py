"""Success is what the attacked model answered, whatever noise it answered from."""

from __future__ import annotations

import pytest
from tests.robust.attacks.linear import drawn

from shoal.robust import ATTACKS, Classifier, NoisyLogit

QUICK = {
    "carlini-wagner": {"steps": 30, "searches": 3, "rate": 0.05, "constant": 0.1},
    "lbfgs": {"steps": 8, "searches": 3},
    "jsma": {"share": 0.9},
}


class Remembering(Classifier):
    """A model that keeps what it was asked by each network, and which class it named."""

    def __init__(self, model):
        self.model, self.named = model, {}
        self.networks, self.temperatures, self.bounds = 2, model.temperatures, model.bounds

    def logits(self, inputs, layer=None):
        answer = self.model.logits(inputs, layer)
        for network, rows in enumerate(inputs.detach()):
            for row, label in zip(rows, answer[network].argmax(-1).tolist(), strict=True):
                self.named.setdefault((network, row.numpy().tobytes()), set()).add(label)
        return answer


WAYS = [(name, QUICK.get(name, {})) for name in ATTACKS]
WAYS.append(("carlini-wagner", {**QUICK["carlini-wagner"], "published": True}))


@pytest.mark.parametrize(("name", "options"), WAYS)
def test_what_succeeded_was_answered_so(name, options):
    clean, *_, originals = drawn(4)
    model = Remembering(NoisyLogit(clean, 0.15, seed=3))
    goals = (clean.labels(originals)[0] + 1) % 3
    found = ATTACKS[name](**options).run(model, originals, goals)
    assert found.success.any()
    for network, row in found.success.nonzero().tolist():
        example = found.adversarial[network, row].contiguous().numpy().tobytes()
        assert int(goals[row]) in model.named[network, example]
