"""Stages that train networks."""

from __future__ import annotations

from dataclasses import replace

from shoal.robust import (
    ARCHITECTURES,
    Ensemble,
    EnsembleVote,
    NoisyLogit,
    Training,
    partitioned,
    shared,
    train,
)
from studies.robust.material import JUDGING, Clock, Material, name_of
from studies.runs import Row, Task

_SHIFT = 2  # pixels
_KEPT = 30  # checkpoints of a training


def trained(study: Material, task: Task) -> Row:
    """Train the networks that are attacked."""
    return _learned(study, task, _lessons(task["epochs"], task["precision"]))


def moved(study: Material, task: Task) -> Row:
    """Ours: the same networks from pictures moved by a pixel or two, which are not attacked."""
    how = _lessons(task["moved_epochs"], task["precision"])
    return _learned(study, task, replace(how, shift=_SHIFT))


def _lessons(epochs: int, precision: str) -> Training:
    return Training(epochs=epochs, precision=precision, every=max(1, epochs // _KEPT))


def _learned(study: Material, task: Task, how: Training) -> Row:
    setup, images = study.setup, study.images
    learned = len(images.pictures) - setup.validation
    if setup.partitioned:
        members = partitioned(learned, setup.temperatures, size=setup.rows, seed=setup.seed)
    else:
        members = shared(min(learned, setup.rows), setup.temperatures, seed=setup.seed)
    path = study.kept(task)
    path.parent.mkdir(parents=True, exist_ok=True)
    checkpoint = path.with_suffix(".checkpoint")
    resumed = checkpoint.exists()
    with Clock(study.device) as took:
        found = train(
            ARCHITECTURES[setup.data],
            images.pictures,
            images.labels,
            members,
            how,
            device=study.device,
            checkpoint=checkpoint,
        )
    found.save(path, force=True)
    costs = {"seconds": took.seconds, "resumed": resumed, "device": name_of(study.device)}
    return {**costs, **_validated(study, found)}


def _validated(study: Material, networks: Ensemble) -> Row:
    """Ask each network and the vote about the pictures held back, without noise and with."""
    count = study.setup.validation
    pictures = study.images.pictures[-count:].to(study.device)
    labels = study.images.labels[-count:]
    found: Row = {"temperatures": study.setup.temperatures}
    asked = {"plain": networks, "noisy": NoisyLogit(networks, study.setup.noise, seed=JUDGING)}
    for model, each in asked.items():
        found[f"single_{model}"] = each.accuracy(pictures, labels).tolist()
        found[f"vote_{model}"] = float(EnsembleVote(each).accuracy(pictures, labels)[0])
    return found
