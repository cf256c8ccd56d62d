"""Ensemble Voting: networks answer together, the class that most of them name wins.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, §4.2.3. Its
threat model grants the attacker everything about the members, so they can be looked at.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.classifier import Classifier, as_classifier, tempered
from shoal.robust.inputs import Intake

_AHEAD = 1e-3  # by which the winner of a vote leads in what an attacker climbs


@dataclass(frozen=True)
class Votes:
    """How an ensemble voted on some rows.

    counts: (rows, classes) networks that named each class.
    labels: (rows,) the class with most votes; of equals the one with the greater mean probability
    over all networks, of equals in that, too, the lowest.
    margins: (rows,) votes of the winner less those of the next class, as a share of all networks.
    tied: (rows,) whether the probabilities had to decide.
    """

    counts: Tensor
    labels: Tensor
    margins: Tensor
    tied: Tensor


class EnsembleVote(Classifier):
    """A vote over members, noisy or not: networks of one make, or an ensemble, or a wrapper.

    Its `logits` are what an attacker of the whole ensemble would climb, as a vote has no slope: the
    mean over the members of log softmax(logits / T). The winner of the vote is raised to the top
    where the mean names another, so that an attack does not end before the vote has turned.
    """

    networks = 1
    alone = True

    def __init__(self, members: Any, *, bounds: tuple[float, float] | None = None) -> None:
        self.members = as_classifier(members, bounds=bounds)
        self.bounds = self.members.bounds
        self.temperatures = torch.ones(1)

    @property
    def width(self) -> int:
        """How many pictures are looked at for each row."""
        return self.members.width

    @property
    def intake(self) -> Intake:
        """How the members take pictures."""
        return self.members.intake

    def classes(self, inputs: Tensor) -> int:
        """Return how many classes the members have."""
        return self.members.classes(inputs)

    def __repr__(self) -> str:
        return f"<EnsembleVote over {self.members!r}>"

    def vote(self, inputs: Tensor) -> Votes:
        """Have every network answer each of (rows, *shape) once, and count."""
        with torch.no_grad():
            counted = [
                count_votes(self.members.logits(self.members.spread(part)), self._temperatures)
                for part in self.members.parts(self.taken(inputs))
            ]
        names = ("counts", "labels", "margins", "tied")
        return Votes(*(torch.cat([getattr(part, name) for part in counted]) for name in names))

    def labels(self, inputs: Tensor) -> Tensor:
        """Return (1, rows) the class that wins."""
        return self.vote(inputs).labels.unsqueeze(0)

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (1, rows, classes) the members' mean log probabilities, the winner's on top."""
        if layer is not None:
            raise InputError("a vote has no layers; use the layers of its members")
        rows = inputs[0]
        answers = self.members.logits(self.members.spread(rows))
        told = tempered(answers, self._temperatures).log_softmax(dim=-1)
        mean = told.mean(dim=0, keepdim=True)
        winners = count_votes(answers.detach(), self._temperatures).labels
        return mean + _raise(mean.detach(), winners.view(1, -1, 1))

    @property
    def _temperatures(self) -> Tensor:
        return self.members.temperatures


def _raise(means: Tensor, winners: Tensor) -> Tensor:
    """Return what puts the winners of (1, rows, classes) on top, 0 where they are."""
    top, own = means.amax(dim=-1, keepdim=True), means.gather(-1, winners)
    lacking = torch.where(means.argmax(dim=-1, keepdim=True) == winners, 0.0, top - own + _AHEAD)
    return torch.zeros_like(means).scatter(-1, winners, lacking)


def count_votes(logits: Tensor, temperatures: Tensor) -> Votes:
    """Count the votes of (networks, rows, classes) answers and break ties."""
    networks, _, classes = logits.shape
    named = logits.argmax(dim=-1)  # (networks, rows); of equals the lowest
    counts = torch.nn.functional.one_hot(named, classes).sum(dim=0)  # (rows, classes)
    likely = tempered(logits, temperatures).softmax(dim=-1).mean(dim=0)
    first = counts == counts.max(dim=1, keepdim=True).values
    labels = torch.where(first, likely, -1.0).argmax(dim=1)
    top = counts.topk(min(2, classes), dim=1).values
    margins = (top[:, 0] - top[:, -1]).double() / networks
    return Votes(counts, labels, margins, first.sum(dim=1) > 1)
