"""Evaluation: what networks, alone and together, make of adversarial examples.

One tidy row an example (`judge`), and from it the counts by perturbation of equations 4.3.1 to
4.3.5 and Tables 4.3 to 4.8 of Liang, "Algorithms in privacy & security for data analytics and
machine learning", 2020.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.attacks.attack import Examples
from shoal.robust.classifier import Classifier, as_classifier
from shoal.robust.ensemble_vote import EnsembleVote, count_votes
from shoal.robust.inputs import as_classes, check_classes
from shoal.support.arrays import Bools, Floats
from shoal.support.options import check_range, check_whole

_OUTCOMES = ("correct", "target", "other")


@dataclass(frozen=True)
class Judged:
    """Examples and what a model made of them.

    examples: one row each, as an Arrow table.
    networks: how many the model has.
    single_clean, single_attacked: the mean accuracy of one network, before and after.
    """

    examples: Any
    networks: int
    single_clean: float
    single_attacked: float

    @property
    def accuracy_clean(self) -> float:
        """The share of rows that the vote gets right before the attack."""
        return float(np.mean(_column(self.examples, "clean") == _column(self.examples, "label")))

    @property
    def accuracy_attacked(self) -> float:
        """The share of examples that the vote gets right."""
        return float(np.mean(_column(self.examples, "outcome") == "correct"))


def judge(
    examples: Examples, labels: Tensor, model: Any, *, samples: Tensor | None = None
) -> Judged:
    """Put the originals and every example to all networks of a model, and to their vote.

    labels: (rows,) the true classes. samples: (rows,) which picture each row is of.
    Columns: sample, network (that was attacked), goal, label, success, perturbation, clean and
    voted (the vote before and after), margin, to_target and to_other (networks that changed), right
    (networks that are), outcome (correct, target or other).
    """
    attacked, rows = examples.success.shape
    if not attacked * rows:
        raise InputError("there are no examples to judge; give at least one")
    given = as_classifier(model)
    members = given.members if isinstance(given, EnsembleVote) else given
    originals, classes = members.taken(examples.originals), members.classes(examples.originals)
    told = as_classes("labels", labels, rows=rows, classes=classes)
    check_classes("goals", examples.goals, classes)
    of = torch.arange(rows) if samples is None else as_classes("samples", samples, rows=rows)
    clean = originals.expand(examples.adversarial.shape)  # each test has noise of its own
    before, after = _answers(members, clean), _answers(members, examples.adversarial)
    named = after.single  # (networks, attacked, rows)
    changed = named != before.single
    voted, goals, truth = after.vote, examples.goals.to(named.device), told.to(named.device)
    at_goal = named == goals
    columns = {
        "sample": of.expand(attacked, rows),
        "network": torch.arange(attacked).unsqueeze(1).expand(attacked, rows),
        "goal": goals.expand(attacked, rows),
        "label": truth.expand(attacked, rows),
        "success": examples.success,
        "perturbation": examples.perturbations,
        "clean": before.vote,
        "voted": voted,
        "margin": after.margin,
        "to_target": (changed & at_goal).sum(dim=0),
        "to_other": (changed & ~at_goal).sum(dim=0),
        "right": (named == truth).sum(dim=0),
    }
    outcome = torch.where(voted == truth, 0, torch.where(voted == goals, 1, 2))
    return Judged(
        _table(columns, np.array(_OUTCOMES)[outcome.flatten().cpu().numpy()]),
        members.networks,
        float((before.single == truth).double().mean()),
        float((named == truth).double().mean()),
    )


def by_bin(judged: Judged, *, bins: int = 40, greatest: float | None = None) -> Any:
    """Return, for each of equal bins of perturbation, what became of the examples in it.

    Columns: middle, examples, to_target and to_other (mean networks changed, 4.3.2 and 4.3.3),
    vote_to_target and vote_to_other (as shares of all examples, 4.3.4 and 4.3.5), accuracy.
    A mean over no example is missing; what is larger than the bins is in the last.
    """
    import pyarrow as pa

    check_whole("bins", bins, 1)
    if greatest is not None:
        check_range("greatest", greatest, 0, above=True)
    table = judged.examples
    sizes = _column(table, "perturbation")
    edges = size_bins(sizes, bins, greatest)
    places = np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, bins - 1)
    counts = np.bincount(places, minlength=bins)
    moved = _column(table, "voted") != _column(table, "clean")
    at_goal = _column(table, "voted") == _column(table, "goal")

    def total(values: Any) -> Any:
        return np.bincount(places, weights=values, minlength=bins)

    def mean(values: Any) -> Any:
        return pa.array(total(values) / np.maximum(counts, 1), mask=counts == 0)

    return pa.table(
        {
            "middle": (edges[:-1] + edges[1:]) / 2,
            "examples": counts,
            "to_target": mean(_column(table, "to_target")),
            "to_other": mean(_column(table, "to_other")),
            "vote_to_target": total(moved & at_goal) / len(sizes),
            "vote_to_other": total(moved & ~at_goal) / len(sizes),
            "accuracy": mean(_column(table, "outcome") == "correct"),
        }
    )


def size_bins(sizes: Floats, bins: int, greatest: float | None = None) -> Floats:
    """Return (bins + 1,) edges from 0 to the greatest finite size."""
    ended = sizes[np.isfinite(sizes)]
    return np.linspace(0.0, greatest or max(float(ended.max(initial=0.0)), 1e-12), bins + 1)


def accuracies(judged: dict[str, Judged]) -> Any:
    """Return the accuracy of the vote and of one network, before and after (4.3, 4.5, 4.7)."""
    import pyarrow as pa

    return pa.table(
        {
            "model": list(judged),
            "vote_clean": [each.accuracy_clean for each in judged.values()],
            "vote_attacked": [each.accuracy_attacked for each in judged.values()],
            "single_clean": [each.single_clean for each in judged.values()],
            "single_attacked": [each.single_attacked for each in judged.values()],
        }
    )


def classifications(judged: dict[str, Judged]) -> Any:
    """Return the share of examples voted correct, target and other, by model (4.4a, 4.6a, 4.8a)."""
    return _by_outcome(judged, lambda _, those: float(np.mean(those)))


def mean_perturbations(judged: dict[str, Judged]) -> Any:
    """Return the mean perturbation of those, missing where there are none (4.4b, 4.6b, 4.8b)."""

    def mean(table: Any, those: Bools) -> float | None:
        return float(_column(table, "perturbation")[those].mean()) if those.any() else None

    return _by_outcome(judged, mean)


def _by_outcome(judged: dict[str, Judged], of: Any) -> Any:
    import pyarrow as pa

    found: dict[str, list[Any]] = {"model": [], "outcome": [], "value": []}
    for model, each in judged.items():
        outcomes = _column(each.examples, "outcome")
        for outcome in _OUTCOMES:
            found["model"].append(model)
            found["outcome"].append(outcome)
            found["value"].append(of(each.examples, outcomes == outcome))
    types = [("model", pa.string()), ("outcome", pa.string()), ("value", pa.float64())]
    return pa.table(found, schema=pa.schema(types))


@dataclass(frozen=True)
class _Answers:
    """(networks, attacked, rows) what each network names; (attacked, rows) vote and margin."""

    single: Tensor
    vote: Tensor
    margin: Tensor


def _answers(members: Classifier, inputs: Tensor) -> _Answers:
    """Ask for (attacked, rows, *shape) once: networks and vote answer from the same noise."""
    single, votes, margins = [], [], []
    with torch.no_grad():
        for part in members.parts(inputs.flatten(0, 1)):
            logits = members.logits(members.spread(part))
            counted = count_votes(logits, members.temperatures)
            single.append(logits.argmax(dim=-1))
            votes.append(counted.labels)
            margins.append(counted.margins)
    size = inputs.shape[:2]
    return _Answers(
        torch.cat(single, dim=1).unflatten(1, size),
        torch.cat(votes).view(size),
        torch.cat(margins).view(size),
    )


def _table(columns: dict[str, Tensor], outcomes: Any) -> Any:
    import pyarrow as pa

    flat = {name: value.flatten().cpu().numpy() for name, value in columns.items()}
    return pa.table({**flat, "outcome": outcomes})


def _column(table: Any, name: str) -> Any:
    return table[name].to_numpy()
