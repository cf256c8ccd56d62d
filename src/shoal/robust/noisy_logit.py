"""Noisy Logit: every query is answered from a noisy copy of its input.

Averaging cannot recover the clean answer exactly, since the network bends the noise; an attacker
with many queries comes near all the same (`Expectation`), and one who holds a copy of the network
is not hindered at all. Liang, "Algorithms in privacy & security for data analytics and machine
learning", 2020, §4.2.2.
"""

from __future__ import annotations

from typing import Any, NoReturn
from weakref import WeakKeyDictionary

from torch import Tensor

from shoal.errors import InputError
from shoal.robust.classifier import Classifier, as_classifier
from shoal.robust.inputs import Intake
from shoal.robust.noise import Noise

_BEHIND: WeakKeyDictionary[NoisyLogit, tuple[Classifier, Noise]]  # what no attribute leads to


class NoisyLogit(Classifier):
    """A model that adds noise to what it is asked: z′ = F(x + g), at every layer.

    Rows, networks and queries each get noise of their own. No attribute of the wrapper leads to the
    model behind it: that guards against leaks by accident, not against code that runs in the same
    process. Answers have gradients, for attacks to climb; a service sends numbers only.

    model: a torch module, several in a sequence, or a classifier.
    scale: Laplace's b, the normal's standard deviation, or the greatest size of uniform noise.
    distribution: laplace, normal or uniform.
    seed: for tests and experiments only, where noise must come again.
    """

    def __init__(
        self,
        model: Any,
        scale: float,
        distribution: str = "laplace",
        *,
        seed: int | None = None,
        bounds: tuple[float, float] | None = None,
    ) -> None:
        hidden = as_classifier(model, bounds=bounds)
        _BEHIND[self] = hidden, Noise(scale, distribution, seed)
        self.scale = float(scale)
        self.distribution = distribution
        self.networks = hidden.networks
        self.alone = hidden.alone
        self.temperatures = hidden.temperatures.clone()
        self.bounds = hidden.bounds

    @property
    def width(self) -> int:
        """How many pictures are looked at for each row."""
        return _BEHIND[self][0].width

    @property
    def intake(self) -> Intake:
        """How the model takes pictures."""
        return _BEHIND[self][0].intake

    def classes(self, inputs: Tensor) -> int:
        """Return how many classes the model has."""
        return _BEHIND[self][0].classes(inputs)

    def __repr__(self) -> str:
        return f"<NoisyLogit over {self.networks} networks, {self.distribution}({self.scale:g})>"

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) each network's answer to its own rows made noisy."""
        hidden, noise = _BEHIND[self]
        return hidden.logits(inputs + noise.like(inputs), layer)

    def __reduce__(self) -> NoReturn:
        raise InputError("a noisy model cannot be copied or pickled; save the model it wraps")


_BEHIND = WeakKeyDictionary()
