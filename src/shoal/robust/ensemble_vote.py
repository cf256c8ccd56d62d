"""Ensemble Voting: the class that most networks predict wins.

Liang, "Algorithms in privacy & security for data analytics and machine learning", 2020, §4.2.3. Its
threat model gives the attacker full knowledge of the members, so they are not hidden.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust.classifier import Classifier, as_classifier, tempered
from shoal.robust.inputs import Intake

_LEAD = 1e-3  # of the winner of a vote in the logits that an attack uses


@dataclass(frozen=True)
class Votes:
    """The votes of an ensemble on some rows, from `EnsembleVote.vote`.

    Attributes:
        counts: (rows, classes) number of networks that predict each class.
        labels: (rows,) the class with most votes; ties are broken by the higher mean probability
            over all networks, then by the lower class.
        margins: (rows,) votes of the winner minus those of the next class, as a share of all
            networks.
        tied: (rows,) whether the tie had to be broken by probabilities.

    >>> import torch
    >>> from torch import nn
    >>> votes = EnsembleVote([nn.Linear(4, 2), nn.Linear(4, 2)]).vote(torch.rand(3, 4))
    >>> votes.counts.sum(dim=1)
    tensor([2, 2, 2])
    """

    counts: Tensor
    labels: Tensor
    margins: Tensor
    tied: Tensor


class EnsembleVote(Classifier):
    """A vote over networks, with or without noise.

    A vote has no gradient. `logits` therefore returns what an attacker of the whole ensemble would
    use: the mean over the members of log softmax(logits / T). If the mean prefers another class
    than the vote, the winner of the vote is raised to the top, so that an attack does not stop
    before the vote has changed.

    Parameters:
        members: Networks in a sequence, of one architecture or of several, an ensemble, or a noisy
            model.
        bounds: Lowest and highest value of a pixel; by default the members', or 0 and 1.

    >>> import torch
    >>> from torch import nn
    >>> EnsembleVote([nn.Linear(4, 2), nn.Linear(4, 2)]).labels(torch.rand(3, 4)).shape
    torch.Size([1, 3])
    """

    networks = 1
    alone = True

    def __init__(self, members: Any, *, bounds: tuple[float, float] | None = None) -> None:
        self.members = as_classifier(members, bounds=bounds)
        self.bounds = self.members.bounds
        self.temperatures = torch.ones(1)

    @property
    def width(self) -> int:
        """Number of pictures that are processed for each row."""
        return self.members.width

    @property
    def intake(self) -> Intake:
        """Device, type and shape of the pictures that the members accept."""
        return self.members.intake

    def classes(self, inputs: Tensor) -> int:
        """Return the number of classes of the members."""
        return self.members.classes(inputs)

    def __repr__(self) -> str:
        return f"<EnsembleVote over {self.members!r}>"

    def vote(self, inputs: Tensor) -> Votes:
        """Return the votes of all networks on (rows, *shape); each network answers a row once."""
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
        """Return (1, rows, classes) mean log probabilities, with the winner of the vote on top."""
        if layer is not None:
            raise InputError("a vote has no layers; use the layers of its members")
        rows = inputs[0]
        answers = self.members.logits(self.members.spread(rows))
        log_shares = tempered(answers, self._temperatures).log_softmax(dim=-1)
        mean = log_shares.mean(dim=0, keepdim=True)
        winners = count_votes(answers.detach(), self._temperatures).labels
        return mean + _raise(mean.detach(), winners.view(1, -1, 1))

    @property
    def _temperatures(self) -> Tensor:
        return self.members.temperatures


def _raise(means: Tensor, winners: Tensor) -> Tensor:
    """Return what to add to (1, rows, classes) means so that the winners lead, 0 if they do."""
    top, own = means.amax(dim=-1, keepdim=True), means.gather(-1, winners)
    lacking = torch.where(means.argmax(dim=-1, keepdim=True) == winners, 0.0, top - own + _LEAD)
    return torch.zeros_like(means).scatter(-1, winners, lacking)


def count_votes(logits: Tensor, temperatures: Tensor) -> Votes:
    """Count the votes in (networks, rows, classes) logits and break ties."""
    networks, _, classes = logits.shape
    named = logits.argmax(dim=-1)  # (networks, rows); the lowest class of a tie
    counts = torch.nn.functional.one_hot(named, classes).sum(dim=0)  # (rows, classes)
    likely = tempered(logits, temperatures).softmax(dim=-1).mean(dim=0)
    first = counts == counts.max(dim=1, keepdim=True).values
    labels = torch.where(first, likely, -1.0).argmax(dim=1)
    top = counts.topk(min(2, classes), dim=1).values
    margins = (top[:, 0] - top[:, -1]).double() / networks
    return Votes(counts, labels, margins, first.sum(dim=1) > 1)
