"""Evaluation: how networks, alone and together, classify adversarial examples.

    attacked   what an attacker has decides the model that the attack runs on
    judge      one tidy row for each example: how the networks and their vote classify it
    by_bin, accuracies, classifications, mean_perturbations
               equations 4.3.1 to 4.3.5 and Tables 4.3 to 4.8, counted from these rows

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, §4.2.4 and
§4.5. Averaging over queries (`Expectation`): Athalye, Engstrom, Ilyas & Kwok, "Synthesizing robust
adversarial examples", ICML 2018.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from shoal.errors import InputError, unknown
from shoal.robust.attacks.attack import Examples
from shoal.robust.classifier import Classifier, Intake, as_classes, as_classifier, check_classes
from shoal.robust.ensemble import EnsembleVote, count_votes
from shoal.support.arrays import Bools, Floats
from shoal.support.options import check_range, check_whole

_OUTCOMES = ("correct", "target", "other")


@dataclass(frozen=True)
class Judged:
    """Examples and how a model classified them; `judge` returns them.

    Attributes:
        examples: Arrow table with one row per example.
        networks: Number of networks of the model.
        single_clean: Mean accuracy of a single network before the attack.
        single_attacked: Mean accuracy of a single network on the examples.
    """

    examples: Any
    networks: int
    single_clean: float
    single_attacked: float

    @property
    def accuracy_clean(self) -> float:
        """Share of rows that the vote classifies correctly before the attack."""
        return float(np.mean(_column(self.examples, "clean") == _column(self.examples, "label")))

    @property
    def accuracy_attacked(self) -> float:
        """Share of examples that the vote classifies correctly."""
        return float(np.mean(_column(self.examples, "outcome") == "correct"))


def judge(
    examples: Examples, labels: Tensor, model: Any, *, samples: Tensor | None = None
) -> Judged:
    """Classify the originals and every example with all networks of a model, and by their vote.

    Parameters:
        examples: The examples.
        labels: (rows,) the true classes.
        model: The model that defends itself.
        samples: (rows,) the picture of each row; by default each row is another picture.

    Returns:
        A row per example, with the columns sample, network (the attacked one), goal, label,
        success, perturbation, clean and voted (the vote before and after the attack), margin,
        to_target and to_other (number of networks that changed), right (number of networks that
        are correct), and outcome (correct, target or other).

    Raises:
        InputError: There are no examples, or labels and goals are no classes of the model.

    >>> import torch
    >>> from torch import nn
    >>> from shoal.robust import FGSM
    >>> network, labels = nn.Linear(4, 2), torch.tensor([0, 1])
    >>> examples = FGSM().run(network, torch.rand(2, 4), 1 - labels)
    >>> judge(examples, labels, network).examples.num_rows
    2
    """
    attacked, rows = examples.success.shape
    if not attacked * rows:
        raise InputError("there are no examples to judge; give at least one")
    given = as_classifier(model)
    members = given.members if isinstance(given, EnsembleVote) else given
    originals, classes = members.taken(examples.originals), members.classes(examples.originals)
    truth = as_classes("labels", labels, rows=rows, classes=classes)
    check_classes("goals", examples.goals, classes)
    pictures = torch.arange(rows) if samples is None else as_classes("samples", samples, rows=rows)
    clean = originals.expand(examples.adversarial.shape)  # each query has its own noise
    before, after = _answers(members, clean), _answers(members, examples.adversarial)
    named = after.single  # (networks, attacked, rows)
    changed = named != before.single
    voted, goals, truth = after.vote, examples.goals.to(named.device), truth.to(named.device)
    at_goal = named == goals
    columns = {
        "sample": pictures.expand(attacked, rows),
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
    """Summarize the examples in bins of perturbation of equal width.

    Parameters:
        judged: The result of `judge`.
        bins: Number of bins.
        greatest: Upper end of the last bin, which also has all larger perturbations; by default the
            greatest finite perturbation.

    Returns:
        An Arrow table with a row per bin and the columns middle, examples, to_target and to_other
        (mean number of networks that changed, 4.3.2 and 4.3.3), vote_to_target and vote_to_other
        (shares of all examples, 4.3.4 and 4.3.5), and accuracy. A mean over no example is missing.

    Raises:
        InputError: `bins` is less than 1, or `greatest` is not above 0.

    >>> import torch
    >>> from torch import nn
    >>> from shoal.robust import FGSM
    >>> network, labels = nn.Identity(), torch.tensor([0, 1])
    >>> pictures = torch.tensor([[0.6, 0.4], [0.1, 0.9]])
    >>> judged = judge(FGSM().run(network, pictures, 1 - labels), labels, network)
    >>> by_bin(judged, bins=4)["examples"].to_pylist()
    [0, 0, 0, 2]
    """
    import pyarrow as pa

    check_whole("bins", bins, 1)
    if greatest is not None:
        check_range("greatest", greatest, 0, above=True)
    table = judged.examples
    sizes = _column(table, "perturbation")
    edges = size_bins(sizes, bins, greatest)
    bin_of = np.clip(np.searchsorted(edges, sizes, side="right") - 1, 0, bins - 1)
    counts = np.bincount(bin_of, minlength=bins)
    moved = _column(table, "voted") != _column(table, "clean")
    at_goal = _column(table, "voted") == _column(table, "goal")

    def total(values: Any) -> Any:
        return np.bincount(bin_of, weights=values, minlength=bins)

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
    finite = sizes[np.isfinite(sizes)]
    return np.linspace(0.0, greatest or max(float(finite.max(initial=0.0)), 1e-12), bins + 1)


def accuracies(judged: dict[str, Judged]) -> Any:
    """Return the accuracy of the vote and of one network, before and after the attack.

    Parameters:
        judged: Results of `judge` by the name of the model.

    Returns:
        An Arrow table with a row per model (Tables 4.3, 4.5 and 4.7 of the thesis).

    >>> import torch
    >>> from torch import nn
    >>> from shoal.robust import FGSM
    >>> network, labels = nn.Identity(), torch.tensor([0, 1])
    >>> pictures = torch.tensor([[0.6, 0.4], [0.1, 0.9]])
    >>> judged = judge(FGSM().run(network, pictures, 1 - labels), labels, network)
    >>> accuracies({"identity": judged}).select(["vote_clean", "vote_attacked"]).to_pylist()
    [{'vote_clean': 1.0, 'vote_attacked': 0.5}]
    """
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
    """Return the share of examples that the vote classifies as correct, target and other.

    Parameters:
        judged: Results of `judge` by the name of the model.

    Returns:
        An Arrow table with a row per model and outcome (Tables 4.4a, 4.6a and 4.8a of the thesis).

    >>> import torch
    >>> from torch import nn
    >>> from shoal.robust import FGSM
    >>> network, labels = nn.Identity(), torch.tensor([0, 1])
    >>> pictures = torch.tensor([[0.6, 0.4], [0.1, 0.9]])
    >>> judged = judge(FGSM().run(network, pictures, 1 - labels), labels, network)
    >>> classifications({"identity": judged})["value"].to_pylist()
    [0.5, 0.5, 0.0]
    """
    return _by_outcome(judged, lambda _, those: float(np.mean(those)))


def mean_perturbations(judged: dict[str, Judged]) -> Any:
    """Return the mean perturbation of the examples by outcome.

    Parameters:
        judged: Results of `judge` by the name of the model.

    Returns:
        An Arrow table with a row per model and outcome; the mean is missing if there is no example
        (Tables 4.4b, 4.6b and 4.8b of the thesis).

    >>> import torch
    >>> from torch import nn
    >>> from shoal.robust import FGSM
    >>> network, labels = nn.Identity(), torch.tensor([0, 1])
    >>> pictures = torch.tensor([[0.6, 0.4], [0.1, 0.9]])
    >>> judged = judge(FGSM().run(network, pictures, 1 - labels), labels, network)
    >>> found = mean_perturbations({"identity": judged}).to_pylist()
    >>> [(row["outcome"], round(row["value"], 3)) for row in found if row["value"]]
    [('correct', 0.312), ('target', 0.392)]
    """

    def mean(table: Any, those: Bools) -> float | None:
        return float(_column(table, "perturbation")[those].mean()) if those.any() else None

    return _by_outcome(judged, mean)


def _by_outcome(judged: dict[str, Judged], measure: Any) -> Any:
    import pyarrow as pa

    columns: dict[str, list[Any]] = {"model": [], "outcome": [], "value": []}
    for model, each in judged.items():
        outcomes = _column(each.examples, "outcome")
        for outcome in _OUTCOMES:
            columns["model"].append(model)
            columns["outcome"].append(outcome)
            columns["value"].append(measure(each.examples, outcomes == outcome))
    types = [("model", pa.string()), ("outcome", pa.string()), ("value", pa.float64())]
    return pa.table(columns, schema=pa.schema(types))


@dataclass(frozen=True)
class _Answers:
    """Predictions of each network (networks, attacked, rows); vote, margin (attacked, rows)."""

    single: Tensor
    vote: Tensor
    margin: Tensor


def _answers(members: Classifier, inputs: Tensor) -> _Answers:
    """Query (attacked, rows, *shape) once: networks and vote use the same noise."""
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


Threat = Literal["queries", "averages", "copy"]
THREATS = {
    "queries": "queries the defended model once per step; Noisy Logit is designed for this",
    "averages": "queries the defended model many times per step and averages the answers",
    "copy": "has a copy of the networks and attacks them without the defence",
}


class Expectation(Classifier):
    """The mean of a model's answers over several queries, which removes much of its noise.

    Parameters:
        model: The defended model.
        queries: Number of queries for each input; the cost of an attack grows by this factor.

    Raises:
        InputError: `queries` is less than 1.

    >>> import torch
    >>> from torch import nn
    >>> network = nn.Sequential(nn.Flatten(), nn.Linear(4, 2))
    >>> Expectation(network, queries=8)(torch.rand(3, 1, 2, 2)).shape
    torch.Size([3, 2])
    """

    def __init__(self, model: Any, queries: int) -> None:
        check_whole("queries", queries, 1)
        self.model = as_classifier(model)
        self.queries = queries
        self.networks = self.model.networks
        self.alone = self.model.alone
        self.temperatures = self.model.temperatures
        self.bounds = self.model.bounds

    @property
    def width(self) -> int:
        """Number of pictures that are processed for each row: one per query and network."""
        return self.queries * self.model.width

    @property
    def intake(self) -> Intake:
        """Device, type and shape of the pictures that the model accepts."""
        return self.model.intake

    def classes(self, inputs: Tensor) -> int:
        """Return the number of classes of the model."""
        return self.model.classes(inputs)

    def __repr__(self) -> str:
        return f"<Expectation over {self.queries} queries of {self.model!r}>"

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) the mean of the answers; all queries run together."""
        repeated = inputs.repeat_interleave(self.queries, dim=1)
        answers = self.model.logits(repeated, layer)
        return answers.unflatten(1, (-1, self.queries)).mean(dim=2)


def attacked(defended: Any, threat: str, *, copy: Any = None, queries: int = 16) -> Classifier:
    """Return the model to run an attack on; judge the examples by the defended model.

    Parameters:
        defended: The defended model.
        threat: A name from `THREATS`.
        copy: The networks without the defence, for the threat "copy".
        queries: Number of queries per step, for the threat "averages".

    Returns:
        The model that the attacker uses.

    Raises:
        InputError: The threat is unknown, or needs `copy`.

    >>> from torch import nn
    >>> attacked(nn.Linear(4, 2), "averages", queries=8)
    <Expectation over 8 queries of <Single network (Linear) on cpu>>
    """
    if threat not in THREATS:
        raise unknown("no threat model", threat, THREATS)
    if threat == "queries":
        return as_classifier(defended)
    if threat == "averages":
        return Expectation(defended, queries)
    if copy is None:
        raise InputError('the threat model "copy" needs the copied networks; give copy=')
    return as_classifier(copy)
