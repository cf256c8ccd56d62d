"""Stages in which the networks and their vote classify examples."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import torch
from torch import Tensor

from shoal.robust import Examples, Judged, judge, scale_for, superimpose
from shoal.robust import sweep as sweep_noise
from studies.robust.material import Material
from studies.runs import Row, Task

_DEVIATIONS = (0.0, 0.1, 0.2, 0.4, 0.7, 1.0, 1.5, 2.0)  # of noise, as multiples of the study's
CLEAN = 1000  # clean pictures of a sweep, over all draws
_SHAPES = ("laplace", "normal", "uniform")


def single(study: Material, task: Task) -> Row:
    """Tables 4.3 and 4.4, figures 4.1 to 4.6: all networks and the vote on each example."""
    found, labels, samples = study.examples(task["model"], study.setup.samples)
    return as_row(judge(found, labels, study.judged_by(task["model"]), samples=samples))


def own(study: Material, task: Task) -> Row:
    """Section 4.4: the answer of the attacked network to its own example."""
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
    """Tables 4.5 to 4.8: sums of the smallest perturbations of a picture."""
    count = task["count"]
    pictures = {2: study.setup.twos, 3: study.setup.threes}[count]
    found, labels, samples = study.examples(task["model"], pictures)
    together = superimpose(found, count)
    return {
        "enough": float(together.success.double().mean()),
        **as_row(judge(together, labels, study.judged_by(task["model"]), samples=samples)),
    }


def sweep(study: Material, _: Task) -> Row:
    """Answer an open question of the thesis: how much noise, of which shape, for how many networks.

    Uses examples that transfer most: three perturbations found against copies. A draw is one
    attacked picture with its targets, and a part of the clean pictures.
    """
    found, labels, samples = study.examples("plain", study.setup.threes)
    together = superimpose(found, 3)
    each = min(CLEAN, len(study.images.tests)) // study.setup.threes
    deviations = [step * study.setup.noise * 2**0.5 for step in _DEVIATIONS]
    most = study.setup.networks
    counts = sorted({1, 3, 5, 10, 20, most} & set(range(1, most + 1)))
    rows: list[Row] = []
    for draw, shape in product(range(study.setup.threes), _SHAPES):
        tests, mine = slice(draw * each, (draw + 1) * each), samples == draw
        swept = sweep_noise(
            study.ensemble,
            study.images.tests[tests].to(study.device),
            study.images.test_labels[tests],
            _only(together, mine.to(study.device)),
            labels[mine],
            scales=[scale_for(shape, deviation) for deviation in deviations],
            distributions=[shape],
            networks=counts,
            seed=draw,
        )
        rows += [{**row, "draw": draw} for row in swept.to_pylist()]
    return {"swept": rows}


def _only(examples: Examples, mine: Tensor) -> Examples:
    """Return the examples of some rows."""
    return replace(
        examples,
        originals=examples.originals[mine],
        goals=examples.goals[mine],
        adversarial=examples.adversarial[:, mine],
        success=examples.success[:, mine],
    )


def as_row(judged: Judged) -> Row:
    """Return the results as plain values: the means, and one column per field."""
    return {
        "vote_clean": judged.accuracy_clean,
        "vote_attacked": judged.accuracy_attacked,
        "single_clean": judged.single_clean,
        "single_attacked": judged.single_attacked,
        "networks": judged.networks,
        "columns": judged.examples.to_pydict(),
    }
