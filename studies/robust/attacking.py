"""Stages that attack networks, one by one or as one vote."""

from __future__ import annotations

from shoal.robust import CarliniWagner, EnsembleVote, attacked, every_target, judge
from shoal.robust.ensemble import write_tensors
from studies.robust.judging import as_row
from studies.robust.material import (
    AXES,
    CRAFTING,
    MODELS,
    Clock,
    Material,
    mean_of,
    name_of,
)
from studies.runs import Row, Task

KNOWN = ("copy", "further", "queries", "averages")  # attackers who know the defence
_CONFIDENT = 1.0  # by how much, in log probability, a vote under attack is to be turned
_FURTHER = 6.0  # the same for an attacker who overcomes noise: some 400 times as likely


def craft(study: Material, task: Task) -> Row:
    """Attack every network with every picture towards every class but its own."""
    setup = study.setup
    rows = slice(task["first"], task["last"])
    pictures, labels = study.images.tests[rows], study.images.test_labels[rows]
    places, goals, truth = every_target(pictures, labels)
    model = study.ensemble if task["model"] == "plain" else study.noisy(CRAFTING)
    attack = CarliniWagner(
        steps=setup.steps,
        searches=setup.searches,
        constant=setup.constant,
        rate=setup.rate,
        published=task["stage"] == "craft",
    )
    with Clock(study.device) as took:
        found = attack.run(model, pictures[places], goals)
    tensors = {name: getattr(found, name) for name in AXES if hasattr(found, name)}
    tensors |= {"labels": truth, "samples": places + task["first"]}
    write_tensors(study.kept(task), tensors, {}, force=True)
    return {
        "seconds": took.seconds,
        "device": name_of(study.device),
        "examples": found.success.numel(),
        "success": float(found.success.double().mean()),
        "distance": mean_of(found.distances[found.success]),
        "perturbation": mean_of(found.perturbations[found.success]),
        "lengths": [
            mean_of(found.distances[:, places == place][found.success[:, places == place]])
            for place in range(len(pictures))
        ],
    }


def closer(study: Material, task: Task) -> Row:
    """Ours: the same attack on networks without defence, by a search that ends sooner."""
    return craft(study, task)


def adaptive(study: Material, task: Task) -> Row:
    """Ours: an attacker who knows the defence attacks noise and vote as one.

    The threat "further" has a copy, and continues after the copy is fooled.
    """
    setup, further = study.setup, task["threat"] == "further"
    pictures = study.images.tests[: setup.samples]
    places, goals, truth = every_target(pictures, study.images.test_labels[: setup.samples])
    model = attacked(
        EnsembleVote(study.noisy(CRAFTING)),
        "copy" if further else task["threat"],
        copy=EnsembleVote(study.ensemble),
        queries=setup.queries,
    )
    attack = CarliniWagner(
        steps=setup.climbs,
        searches=4,
        rate=0.05,
        constant=1.0,
        confidence=_FURTHER if further else _CONFIDENT,
    )
    with Clock(study.device) as took:
        found = attack.run(model, pictures[places], goals)
    judged = {m: as_row(judge(found, truth, study.judged_by(m), samples=places)) for m in MODELS}
    return {
        "seconds": took.seconds,
        "success": float(found.success.double().mean()),
        "perturbation": mean_of(found.perturbations[found.success]),
        **judged,
    }
