"""Expectation: the average answer of many queries, which is how an attacker sees through noise.

Athalye, Engstrom, Ilyas & Kwok, "Synthesizing robust adversarial examples", ICML 2018.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from shoal.robust.classifier import Classifier, as_classifier
from shoal.robust.inputs import Intake
from shoal.support.options import check_whole


class Expectation(Classifier):
    """The mean of a model's answers over so many queries, and the mean of their gradients.

    queries: how often each input is put; an attack of n steps costs n times as many.
    """

    def __init__(self, model: Any, queries: int) -> None:
        check_whole("queries", queries, 1)
        self.model = as_classifier(model)
        self.queries = queries
        self.networks = self.model.networks
        self.alone = self.model.alone
        self.temperatures = self.model.temperatures
        self.bounds = self.model.bounds

    @property
    def width(self) -> int:
        """How many pictures are looked at for each row: as many as queries, by each network."""
        return self.queries * self.model.width

    @property
    def intake(self) -> Intake:
        """How the model takes pictures."""
        return self.model.intake

    def classes(self, inputs: Tensor) -> int:
        """Return how many classes the model has."""
        return self.model.classes(inputs)

    def __repr__(self) -> str:
        return f"<Expectation over {self.queries} queries of {self.model!r}>"

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) the mean of the answers, all asked at once."""
        repeated = inputs.repeat_interleave(self.queries, dim=1)
        answers = self.model.logits(repeated, layer)
        return answers.unflatten(1, (-1, self.queries)).mean(dim=2)
