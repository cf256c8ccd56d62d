"""Threat models: what an attacker has, and therefore which model an attack runs on.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, §4.2.4 and
§4.5. Averaging over queries: Athalye, Engstrom, Ilyas & Kwok, "Synthesizing robust adversarial
examples", ICML 2018.
"""

from __future__ import annotations

from typing import Any, Literal

from torch import Tensor

from shoal.errors import InputError, unknown
from shoal.robust.classifier import Classifier, as_classifier
from shoal.robust.inputs import Intake
from shoal.support.options import check_whole

Threat = Literal["queries", "averages", "copy"]
THREATS = {
    "queries": "queries the defended model once per step; Noisy Logit is designed for this",
    "averages": "queries the defended model many times per step and averages the answers",
    "copy": "has a copy of the networks and attacks them without the defence",
}


class Expectation(Classifier):
    """The mean of a model's answers over several queries, which removes much of its noise.

    Parameters:
        model: The defended model.
        queries: Number of queries for each input; the cost of an attack grows by this factor.

    Raises:
        InputError: `queries` is less than 1.

    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> Expectation(network, queries=8)(torch.rand(3, 1, 2, 2)).shape
    torch.Size([3, 2])
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
        """Number of pictures that are processed for each row: one per query and network."""
        return self.queries * self.model.width

    @property
    def intake(self) -> Intake:
        """Device, type and shape of the pictures that the model accepts."""
        return self.model.intake

    def classes(self, inputs: Tensor) -> int:
        """Return the number of classes of the model."""
        return self.model.classes(inputs)

    def __repr__(self) -> str:
        return f"<Expectation over {self.queries} queries of {self.model!r}>"

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) the mean of the answers; all queries run together."""
        repeated = inputs.repeat_interleave(self.queries, dim=1)
        answers = self.model.logits(repeated, layer)
        return answers.unflatten(1, (-1, self.queries)).mean(dim=2)


def attacked(defended: Any, threat: str, *, copy: Any = None, queries: int = 16) -> Classifier:
    """Return the model to run an attack on; judge the examples by the defended model.

    Parameters:
        defended: The defended model.
        threat: A name from `THREATS`.
        copy: The networks without the defence, for the threat "copy".
        queries: Number of queries per step, for the threat "averages".

    Returns:
        The model that the attacker uses.

    Raises:
        InputError: The threat is unknown, or needs `copy`.

    >>> from torch import nn
    >>> attacked(nn.Linear(4, 2), "averages", queries=8)
    <Expectation over 8 queries of <Single network (Linear) on cpu>>
    """
    if threat not in THREATS:
        raise unknown("no threat model", threat, THREATS)
    if threat == "queries":
        return as_classifier(defended)
    if threat == "averages":
        return Expectation(defended, queries)
    if copy is None:
        raise InputError('the threat model "copy" needs the copied networks; give copy=')
    return as_classifier(copy)
