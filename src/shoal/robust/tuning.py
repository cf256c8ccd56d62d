"""Tuning: how much noise, of which shape, over how many networks.

More noise costs accuracy on clean pictures and takes it from attacks; more networks give it back. A
sweep shows the trade-off, and the publisher chooses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.attacks.attack import Examples
from shoal.robust.classifier import Classifier, as_classifier
from shoal.robust.ensemble_vote import count_votes
from shoal.robust.inputs import as_classes
from shoal.robust.noise_shapes import check_noise, deviation_of
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
    """Return an Arrow table, one row for each shape, scale and number of networks (the first n).

    craft: examples found against a copy, or what finds them against each noisy model in turn.
    attacked_labels: (rows,) the true classes of the pictures that the examples start from.
    Columns: distribution, scale, deviation, networks, single_clean, vote_clean, margin (mean, on
    clean pictures), vote_attacked (share right), vote_target (share that names the goal).
    """
    import pyarrow as pa

    model = as_classifier(model)
    counts = list(networks or [model.networks])
    if not all(1 <= count <= model.networks for count in counts):
        raise InputError(
            f"networks must be from 1 to {model.networks}, the number of networks in the model"
        )
    tried = list(product(distributions, scales))
    if not tried:
        raise InputError("give at least one scale and at least one distribution to try")
    for distribution, scale in tried:  # before any work
        check_noise(scale, distribution)
    images, labels = _checked(model, images, labels)
    rows: list[dict[str, Any]] = []
    for place, (distribution, scale) in enumerate(tried):
        report("sweep", place, len(tried))
        noisy = NoisyLogit(model, scale, distribution, seed=seed)
        examples = craft if isinstance(craft, Examples) else craft(noisy)
        truth = as_classes("attacked_labels", attacked_labels, rows=len(examples.goals))
        clean = _asked(noisy, images)
        attacked = _asked(noisy, examples.adversarial.flatten(0, 1))
        told = {
            "distribution": distribution,
            "scale": float(scale),
            "deviation": deviation_of(distribution, scale),
        }
        for count in counts:
            found = _measured(model, clean, attacked, examples, labels, truth, count)
            rows.append({**told, "networks": count, **found})
    report("sweep", len(tried), len(tried))
    return pa.Table.from_pylist(rows)


def choose(swept: Any, *, least_accuracy: float) -> dict[str, Any]:
    """Return the row of a sweep that holds best among those accurate enough on clean pictures.

    Of equals, the one with the least noise, then with the fewest networks.
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
    """Return pictures and their classes as the model takes them, and refuse what is none."""
    pictures = model.taken(images)
    if not len(pictures):
        raise InputError("there are no clean pictures to measure accuracy on; give at least one")
    classes = model.classes(pictures)
    return pictures, as_classes("labels", labels, rows=len(pictures), classes=classes)


def _asked(model: Classifier, inputs: Tensor) -> Tensor:
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
    """Count the votes of the first networks; only examples made against one of them count."""
    temperatures, truth = model.temperatures[:count], labels.to(model.device)
    votes = count_votes(clean[:count], temperatures)
    against = len(examples.adversarial)
    used = min(count, against) if against == model.networks else against
    rows = used * len(examples.goals)
    named = count_votes(attacked[:count, :rows], temperatures).labels.view(used, -1)
    return {
        "single_clean": _share(clean[:count].argmax(dim=-1) == truth),
        "vote_clean": _share(votes.labels == truth),
        "margin": float(votes.margins.mean()),
        "vote_attacked": _share(named == attacked_labels.to(model.device)),
        "vote_target": _share(named == examples.goals.to(model.device)),
    }


def _share(right: Tensor) -> float:
    return float(right.double().mean())
