"""Ways to learn from people with and without a promise to them, one run at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shoal.dp import bernoulli, sampling_delta
from shoal.methods import anonymize
from shoal.methods.lattice.node_choice import LevelInterpolation, NodeChoice
from shoal.methods.lattice.sampled_draw import in_large_classes
from shoal.privacy.k_anonymity import KAnonymity
from shoal.support.arrays import Counts
from studies.lattice.models import (
    PUBLISHED_FORM,
    TIGHT_FORM,
    Shown,
    learn,
    learn_privately,
    majority,
    plain,
    private_model,
)
from studies.lattice.tables import Study
from studies.runs import Row, Stopwatch

EPSILON = 1.704  # of the whole release, as published
CHOICE = 0.5  # of which for the node, as published
BETA = 0.7
SPARING = 0.1  # for the node, where the settings are ours
PLANNED_BETA = 0.5

Split = tuple[Counts, Counts]
Method = Callable[[Study, Split, int], Row]


def published_delta(study: Study) -> float:
    """Return the δ that the published study claims at its k and β."""
    return float(sampling_delta(study.k, BETA, form="published"))


def _majority(study: Study, split: Split, seed: int) -> Row:
    return majority(study, *split)


def _raw(few: bool) -> Method:
    def run(study: Study, split: Split, seed: int) -> Row:
        shown = plain(study.few if few else study.wide, split[0])
        return {**learn(study, shown, split[1]), "rows": len(split[0])}

    return run


def _released(method: str, options: Callable[[Study], Mapping[str, Any]], *, few: bool) -> Method:
    """Return a method that learns from a release."""

    def run(study: Study, split: Split, seed: int) -> Row:
        train, test = split
        settings = dict(options(study))
        part = study.few_part(train) if few else study.part(train)
        if method == "safe-la":
            settings["seed"] = seed
        k = settings.pop("k", study.k)
        with Stopwatch() as took:
            release = anonymize(part, KAnonymity(k), method, **settings)
        gone = release.suppressed
        kept = train if gone is None else train[~gone]
        assert release.node is not None
        return _learned(study, release.node, kept, test, took.seconds, few=few)

    return run


def _learned(
    study: Study,
    node: Mapping[str, int],
    kept: Counts,
    test: Counts,
    seconds: float,
    *,
    few: bool,
) -> Row:
    found = learn(study, Shown(study.few if few else study.wide, node, kept), test)
    levels = list(node.values())
    return {**found, "rows": len(kept), "release": seconds, "node": levels}


def _interpolated(study: Study, split: Split, seed: int) -> Row:
    """Draw the node by scores half of which are guessed; the rest as the sound mechanism has it."""
    train, test = split
    part = study.part(train)
    with Stopwatch() as took:
        choice = NodeChoice.of(
            part,
            k=study.k,
            beta=BETA,
            epsilon=CHOICE,
            penalty=study.penalty,
            n0=study.n0,
            interpolation=LevelInterpolation(),
        )
        node = choice.draw(seed)
        drawn = np.flatnonzero(bernoulli(len(part), BETA, seed + 1))
        kept = drawn[in_large_classes(part.take(drawn), node, study.k)]
    return _learned(study, choice.lattice.named(node), train[kept], test, took.seconds, few=False)


def _private(options: Mapping[str, Any], *, few: bool = False) -> Method:
    def run(study: Study, split: Split, seed: int) -> Row:
        model = private_model(study, EPSILON, few=few, options=options, seed=seed)
        return learn_privately(study, model, *split, few=few)

    return run


def as_published(study: Study) -> dict[str, Any]:
    """Return the options of ε-safe LA as published."""
    return {
        "epsilon": EPSILON,
        "choice": CHOICE,
        "beta": BETA,
        "penalty": study.penalty,
        "n0": study.n0,
    }


def _ours(study: Study) -> dict[str, Any]:
    return {"epsilon": EPSILON, "choice": SPARING, "beta": BETA, "n0": study.n0}


def _planned(study: Study) -> dict[str, Any]:
    """Return options with the same ε and no larger a δ than published; k is the least for them."""
    delta = published_delta(study)
    return {**_ours(study), "beta": PLANNED_BETA, "delta": delta, "k": 2}


METHODS: Mapping[str, Method] = {
    "majority": _majority,
    "raw": _raw(few=False),
    "raw, few attributes": _raw(few=True),
    "ola": _released("ola", lambda _: {"max_suppression": 0.15}, few=False),
    "safe-la, published": _released(
        "safe-la", lambda study: {**as_published(study), "published": True}, few=False
    ),
    "safe-la, sound": _released("safe-la", as_published, few=False),
    "safe-la, sound, interpolated": _interpolated,
    "safe-la, sound, few attributes": _released("safe-la", _ours, few=True),
    "safe-la, sound, few, planned k": _released("safe-la", _planned, few=True),
    "FLR, published": _private(PUBLISHED_FORM),
    "FLR, less noise": _private(TIGHT_FORM),
    "FLR, less noise, few": _private(TIGHT_FORM, few=True),
}


def run_once(study: Study, method: str, seed: int) -> Row:
    """Split afresh, learn by one method, and test."""
    found = METHODS[method](study, study.split(seed), seed)
    return {**found, "seconds": found.get("release", 0.0) + found["fit"]}
