"""The attacker that `shoal robust` is asked for: a method, what it may do, and where it starts."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from shoal.cli.method_options import method_options
from shoal.cli.robust_files import held_back
from shoal.errors import InputError, unknown

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Classifier, Ensemble, Examples


@dataclass(frozen=True)
class Attacker:
    """Somebody who attacks networks by a method, as far as the threat lets them.

    method: one of `shoal.robust.ATTACKS`.
    vote: whether all networks are attacked as one, not each by itself.
    """

    method: Any
    threat: str
    queries: int
    vote: bool

    @classmethod
    def of(
        cls, method: str, options: list[str] | None, threat: str, queries: int, *, vote: bool
    ) -> Attacker:
        """Return the attacker that options of the command line describe."""
        from shoal.robust import ATTACKS, THREATS

        if method not in ATTACKS:
            raise unknown("no attack", method, ATTACKS)
        if threat not in THREATS:
            raise unknown("no threat model", threat, THREATS)
        if queries < 1:
            raise InputError(f"queries must be 1 or more, not {queries}")
        return cls(_made(ATTACKS[method], method_options(options)), threat, queries, vote)

    def run(self, defended: Classifier, copy: Classifier, start: Start) -> Examples:
        """Attack; what is found is for an evaluation to judge."""
        from shoal.robust import EnsembleVote, attacked

        if self.vote:
            defended, copy = EnsembleVote(defended), EnsembleVote(copy)
        model = attacked(defended, self.threat, copy=copy, queries=self.queries)
        found: Examples = self.method.run(model, start.originals, start.goals)
        return found

    def told(self) -> dict[str, Any]:
        """Return what a file of examples keeps of it."""
        return {
            "method": self.method.name,
            "options": asdict(self.method),
            "threat": self.threat,
            "queries": self.queries if self.threat == "averages" else 1,
            "vote": self.vote,
        }


@dataclass(frozen=True)
class Start:
    """(rows, …) the pictures that an attack starts from, each once for every class but its own."""

    originals: Tensor
    goals: Tensor
    labels: Tensor
    samples: Tensor


def starting(
    ensemble: Ensemble, images: Tensor, labels: Tensor, *, held: float, count: int
) -> Start:
    """Return the first held-back pictures that the vote gets right, towards each other class."""
    from shoal.robust import every_target

    rows = _right(ensemble, images, labels, held_back(len(images), held), count)
    classes = ensemble.architecture.classes if ensemble.architecture else 10
    places, goals, truth = every_target(images[rows], labels[rows], classes)
    return Start(images[rows][places], goals, truth, rows[places])


def _right(ensemble: Ensemble, images: Tensor, labels: Tensor, start: int, count: int) -> Tensor:
    """Return the positions of the first held-back pictures that the vote gets right.

    Blank ones are left out: the size of a change is told against that of the picture.
    """
    import torch

    from shoal.robust import EnsembleVote

    if count < 1:
        raise InputError(f"samples must be 1 or more, not {count}")
    if start == len(images):
        raise InputError("no picture is held back to start from; give --held 0.2")
    held = images[start:]
    voted = EnsembleVote(ensemble).labels(held.to(ensemble.device))[0].cpu()
    usable = (voted == labels[start:]) & (held != 0).flatten(1).any(dim=1)
    rows: Tensor = torch.nonzero(usable).flatten() + start
    if len(rows) < count:
        raise InputError(
            f"samples must be {len(rows)} at most, as many as the vote gets right of the pictures "
            f"held back, not {count}"
        )
    return rows[:count]


def _made(method: type[Any], options: dict[str, Any]) -> Any:
    known = [field.name for field in fields(method)]
    for name in options:
        if name not in known:
            raise unknown(f"{method.name}: no option", name, known)
    return method(**options)
