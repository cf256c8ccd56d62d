"""Tuning: the scale and distribution of noise, and the number of networks.

More noise lowers the accuracy on clean pictures and the success of attacks; more networks recover
accuracy. A sweep shows the trade-off, and the publisher chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.attacks.attack import Examples
from shoal.robust.classifier import Classifier, as_classes, as_classifier
from shoal.robust.ensemble import count_votes
from shoal.robust.noise import check_noise, deviation_of
from shoal.robust.noisy_logit import NoisyLogit
from shoal.support.options import check_range
from shoal.support.progress import report

Craft = Callable[[Classifier], Examples]


def sweep(
    model: Any,
    images: Tensor,
    labels: Tensor,
    craft: Examples | Craft,
    attacked_labels: Tensor,
    *,
    scales: Sequence[float],
    distributions: Sequence[str] = ("laplace",),
    networks: Sequence[int] | None = None,
    seed: int = 0,
) -> Any:
    """Measure the accuracy of a model for each distribution, scale and number of networks.

    Parameters:
        model: The networks to defend.
        images: (pictures, *shape) clean pictures.
        labels: (pictures,) their true classes.
        craft: Examples against a copy of the networks, or a function that attacks each noisy model.
        attacked_labels: (rows,) the true classes of the originals of the examples.
        scales: Scales of noise to try.
        distributions: Distributions of noise to try.
        networks: Numbers of networks to try, always the first; by default all networks.
        seed: Seed of the noise.

    Returns:
        An Arrow table with the columns distribution, scale, deviation, networks, single_clean,
        vote_clean, margin (mean on clean pictures), vote_attacked (share of examples that the vote
        classifies correctly) and vote_target (share that it classifies as the goal).

    Raises:
        InputError: Pictures, labels or options do not match the model.

    >>> import torch
    >>> from torch import nn
    >>> from shoal.robust import FGSM
    >>> network, images, labels = nn.Linear(4, 2), torch.rand(2, 4), torch.tensor([0, 1])
    >>> craft = FGSM().run(network, images, 1 - labels)
    >>> sweep(network, images, labels, craft, labels, scales=[0, 0.1])["scale"].to_pylist()
    [0.0, 0.1]
    """
    import pyarrow as pa

    model = as_classifier(model)
    counts = list(networks or [model.networks])
    if not all(1 <= count <= model.networks for count in counts):
        raise InputError(
            f"networks must be from 1 to {model.networks}, the number of networks in the model"
        )
    settings = list(product(distributions, scales))
    if not settings:
        raise InputError("give at least one scale and at least one distribution to try")
    for distribution, scale in settings:  # before any work
        check_noise(scale, distribution)
    images, labels = _checked(model, images, labels)
    rows: list[dict[str, Any]] = []
    for index, (distribution, scale) in enumerate(settings):
        report("sweep", index, len(settings))
        noisy = NoisyLogit(model, scale, distribution, seed=seed)
        examples = craft if isinstance(craft, Examples) else craft(noisy)
        truth = as_classes("attacked_labels", attacked_labels, rows=len(examples.goals))
        clean = _answers(noisy, images)
        attacked = _answers(noisy, examples.adversarial.flatten(0, 1))
        setting = {
            "distribution": distribution,
            "scale": float(scale),
            "deviation": deviation_of(distribution, scale),
        }
        for count in counts:
            measures = _measured(model, clean, attacked, examples, labels, truth, count)
            rows.append({**setting, "networks": count, **measures})
    report("sweep", len(settings), len(settings))
    return pa.Table.from_pylist(rows)


def choose(swept: Any, *, least_accuracy: float) -> dict[str, Any]:
    """Choose the most robust setting that is accurate enough on clean pictures.

    Parameters:
        swept: The table that `sweep` returns.
        least_accuracy: Minimum accuracy of the vote on clean pictures.

    Returns:
        The row with the highest accuracy on examples; among equal ones the row with the least
        noise, then with the fewest networks.

    Raises:
        InputError: No row is accurate enough.

    >>> import pyarrow as pa
    >>> row = {"vote_clean": 0.9, "vote_attacked": 0.5, "deviation": 0.1, "networks": 3}
    >>> table = pa.Table.from_pylist([row, {**row, "vote_clean": 0.7, "vote_attacked": 0.6}])
    >>> choose(table, least_accuracy=0.8)["vote_attacked"]
    0.5
    """
    check_range("least_accuracy", least_accuracy, 0, 1)
    fit = [row for row in swept.to_pylist() if row["vote_clean"] >= least_accuracy]
    if not fit:
        most = max(swept["vote_clean"].to_pylist(), default=0.0)
        raise InputError(
            f"no setting reaches an accuracy of {least_accuracy:.1%} on clean pictures; the best "
            f"reaches {most:.1%}"
        )
    return min(fit, key=lambda row: (-row["vote_attacked"], row["deviation"], row["networks"]))


def _checked(model: Classifier, images: Any, labels: Any) -> tuple[Tensor, Tensor]:
    """Check pictures and their classes and convert them for the model."""
    pictures = model.taken(images)
    if not len(pictures):
        raise InputError("there are no clean pictures to measure accuracy on; give at least one")
    classes = model.classes(pictures)
    return pictures, as_classes("labels", labels, rows=len(pictures), classes=classes)


def _answers(model: Classifier, inputs: Tensor) -> Tensor:
    with torch.no_grad():
        answers = [model.logits(model.spread(part)) for part in model.parts(inputs)]
        return torch.cat(answers, dim=1)


def _measured(
    model: Classifier,
    clean: Tensor,
    attacked: Tensor,
    examples: Examples,
    labels: Tensor,
    attacked_labels: Tensor,
    count: int,
) -> dict[str, float]:
    """Count the votes of the first networks; only examples against one of them count."""
    temperatures, truth = model.temperatures[:count], labels.to(model.device)
    votes = count_votes(clean[:count], temperatures)
    # examples against network i count only if network i votes; those made without a network always
    against = len(examples.adversarial)
    used = min(count, against) if against == model.networks else against
    rows = used * len(examples.goals)
    predicted = count_votes(attacked[:count, :rows], temperatures).labels.view(used, -1)
    return {
        "single_clean": _share(clean[:count].argmax(dim=-1) == truth),
        "vote_clean": _share(votes.labels == truth),
        "margin": float(votes.margins.mean()),
        "vote_attacked": _share(predicted == attacked_labels.to(model.device)),
        "vote_target": _share(predicted == examples.goals.to(model.device)),
    }


def _share(right: Tensor) -> float:
    return float(right.double().mean())
