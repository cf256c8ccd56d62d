"""The settings of the study of robust predictions, at the published size and reduced."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

from studies.runs import Task


@dataclass(frozen=True, kw_only=True)
class Setup:
    """One study.

    rows: that a network learns from; its own where `partitioned`, else the same for all.
    noise: Laplace's b.
    samples, twos, threes: pictures attacked, and used for superimposition of two and of three.
    steps, searches, constant, rate: of Carlini–Wagner.
    queries: asked for each step by the attacker who averages.
    climbs: steps of an attack on the whole vote, for each constant.
    precision: of the products in training.
    moved_epochs: of a second training, on pictures moved by up to two pixels; 0 leaves it out.
    """

    data: str
    networks: int
    hottest: float
    rows: int
    validation: int
    partitioned: bool
    epochs: int
    noise: float
    samples: int = 9
    twos: int = 30
    threes: int = 10
    steps: int = 1000
    searches: int = 9
    constant: float = 1e-3
    rate: float = 0.01
    queries: int = 16
    climbs: int = 300
    precision: str = "float32"
    moved_epochs: int = 0
    seed: int = 0

    @property
    def temperatures(self) -> list[float]:
        """One for each network, in equal steps up to the hottest."""
        return [self.hottest * (n + 1) / self.networks for n in range(self.networks)]

    @property
    def crafted(self) -> int:
        """How many pictures have examples made of them."""
        return max(self.samples, self.twos, self.threes)

    def training(self) -> Task:
        """Return the task of training: all that the networks depend on."""
        return {"stage": "train", **self._settings(*_TRAINING)}

    def crafting(self, model: str, first: int, last: int) -> Task:
        """Return the task of attacking each network with some of the pictures."""
        chosen = self._settings(*_TRAINING, "noise", "steps", "searches", "constant", "rate")
        return {"stage": "craft", "model": model, "first": first, "last": last, **chosen}

    def task(self, stage: str, **settings: Any) -> Task:
        """Return another task, with all of this study."""
        return {"stage": stage, **settings, **asdict(self)}

    def _settings(self, *names: str) -> dict[str, Any]:
        return {name: getattr(self, name) for name in names}


_TRAINING = (
    "data",
    "networks",
    "hottest",
    "rows",
    "validation",
    "partitioned",
    "epochs",
    "precision",
    "seed",
)
_MNIST = Setup(
    data="mnist",
    networks=50,
    hottest=500.0,
    rows=1_100,
    validation=5_000,
    partitioned=True,
    epochs=3_000,
    moved_epochs=1_000,
    noise=0.5,
)
_CIFAR10 = Setup(
    data="cifar10",
    networks=50,
    hottest=500.0,
    rows=45_000,
    validation=5_000,
    partitioned=False,
    epochs=150,
    noise=0.03,
)
_DIGITS = replace(
    _MNIST,
    data="digits",
    networks=10,
    hottest=10.0,
    rows=120,
    validation=400,
    moved_epochs=0,
    noise=0.15,
)
PUBLISHED = {"mnist": _MNIST, "cifar10": _CIFAR10, "digits": _DIGITS}
_FEWER: dict[str, Any] = {
    "moved_epochs": 0,
    "samples": 5,
    "twos": 6,
    "threes": 5,
    "steps": 200,
    "searches": 5,
    "constant": 0.1,
    "rate": 0.05,
}
REDUCED = {
    "mnist": replace(_MNIST, networks=5, hottest=50.0, epochs=60, queries=4, climbs=100, **_FEWER),
    "cifar10": replace(
        _CIFAR10,
        networks=3,
        hottest=3.0,
        rows=4_000,
        epochs=8,
        queries=4,
        climbs=100,
        **_FEWER,
    ),
    "digits": replace(
        _MNIST,
        data="digits",
        networks=3,
        hottest=3.0,
        rows=400,
        validation=400,
        epochs=60,
        noise=0.15,
        queries=4,
        climbs=100,
        **_FEWER,
    ),
}


def setup_for(data: str, *, full: bool, device: str) -> Setup:
    """Return the published study, or a reduced one for a processor."""
    chosen = PUBLISHED[data] if full else REDUCED[data]
    return replace(chosen, precision="bfloat16") if device == "cuda" else chosen
