"""Stages that put examples to the networks and to their vote."""

from __future__ import annotations

import torch

from shoal.robust import Judged, judge, scale_for, superimpose
from shoal.robust import sweep as sweep_noise
from studies.robust.material import Material
from studies.runs import Row, Task

_DEVIATIONS = (0.0, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0)  # of noise, as multiples of the study's
_SHAPES = ("laplace", "normal", "uniform")


def single(study: Material, task: Task) -> Row:
    """Tables 4.3 and 4.4, figures 4.1 to 4.6: all networks and the vote on each example."""
    found, labels, samples = study.examples(task["model"], study.setup.samples)
    return told_of(judge(found, labels, study.judged_by(task["model"]), samples=samples))


def own(study: Material, task: Task) -> Row:
    """Section 4.4: what the attacked network itself makes of its example."""
    found, labels, samples = study.examples(task["model"], study.setup.samples)
    with torch.no_grad():
        named = study.judged_by(task["model"]).logits(found.adversarial).argmax(dim=-1).cpu()
    goals = found.goals.cpu()
    return {
        "correct": float((named == labels).double().mean()),
        "target": float((named == goals).double().mean()),
        "networks": len(named),
        "columns": {
            "sample": samples.tolist(),
            "goal": goals.tolist(),
            "label": labels.tolist(),
            "named": named.tolist(),
            "perturbation": found.perturbations.cpu().tolist(),
        },
    }


def superimposed(study: Material, task: Task) -> Row:
    """Tables 4.5 to 4.8: the smallest perturbations of a picture laid over each other."""
    count = task["count"]
    pictures = {2: study.setup.twos, 3: study.setup.threes}[count]
    found, labels, samples = study.examples(task["model"], pictures)
    together = superimpose(found, count)
    return {
        "enough": float(together.success.double().mean()),
        **told_of(judge(together, labels, study.judged_by(task["model"]), samples=samples)),
    }


def sweep(study: Material, _: Task) -> Row:
    """Ask the thesis's open question: how much noise, of which shape, over how many networks.

    Judged on examples that carry over most: three perturbations found against copies.
    """
    found, labels, _ = study.examples("plain", study.setup.threes)
    together = superimpose(found, 3)
    tests = slice(0, 1000)
    deviations = [step * study.setup.noise * 2**0.5 for step in _DEVIATIONS]
    most = study.setup.networks
    counts = sorted({1, 3, 5, 10, 20, most} & set(range(1, most + 1)))
    rows: list[Row] = []
    for shape in _SHAPES:
        swept = sweep_noise(
            study.ensemble,
            study.images.tests[tests].to(study.device),
            study.images.test_labels[tests],
            together,
            labels,
            scales=[scale_for(shape, deviation) for deviation in deviations],
            distributions=[shape],
            networks=counts,
        )
        rows += swept.to_pylist()
    return {"swept": rows}


def told_of(judged: Judged) -> Row:
    """Return what was judged as plain values: the means, and one column a field."""
    return {
        "vote_clean": judged.accuracy_clean,
        "vote_attacked": judged.accuracy_attacked,
        "single_clean": judged.single_clean,
        "single_attacked": judged.single_attacked,
        "networks": judged.networks,
        "columns": judged.examples.to_pydict(),
    }
