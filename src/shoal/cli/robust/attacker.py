"""The attacker of `shoal robust`: its method, its threat model, and the pictures it starts from."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import TYPE_CHECKING, Any

from shoal.cli.robust.files import held_back
from shoal.cli.shared.method_options import method_options
from shoal.errors import InputError, unknown

if TYPE_CHECKING:
    from torch import Tensor

    from shoal.robust import Classifier, Ensemble, Examples


@dataclass(frozen=True)
class Attacker:
    """An attacker of networks, with a method and a threat model.

    method: one of `shoal.robust.ATTACKS`.
    vote: whether the vote of all networks is attacked instead of each network separately.
    """

    method: Any
    threat: str
    queries: int
    vote: bool

    @classmethod
    def of(
        cls, method: str, options: list[str] | None, threat: str, queries: int, *, vote: bool
    ) -> Attacker:
        """Return the attacker that the options of the command line describe."""
        from shoal.robust import ATTACKS, THREATS

        if method not in ATTACKS:
            raise unknown("no attack", method, ATTACKS)
        if threat not in THREATS:
            raise unknown("no threat model", threat, THREATS)
        if queries < 1:
            raise InputError(f"queries must be 1 or more, not {queries}")
        return cls(_made(ATTACKS[method], method_options(options)), threat, queries, vote)

    def run(self, defended: Classifier, copy: Classifier, start: Start) -> Examples:
        """Run the attack and return the examples found."""
        from shoal.robust import EnsembleVote, attacked

        if self.vote:
            defended, copy = EnsembleVote(defended), EnsembleVote(copy)
        model = attacked(defended, self.threat, copy=copy, queries=self.queries)
        found: Examples = self.method.run(model, start.originals, start.goals)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the settings that a file of examples stores."""
        return {
            "method": self.method.name,
            "options": asdict(self.method),
            "threat": self.threat,
            "queries": self.queries if self.threat == "averages" else 1,
            "vote": self.vote,
        }


@dataclass(frozen=True)
class Start:
    """(rows, …) the pictures that an attack starts from, once for every class except their own."""

    originals: Tensor
    goals: Tensor
    labels: Tensor
    samples: Tensor


def starting(
    ensemble: Ensemble, images: Tensor, labels: Tensor, *, held: float, count: int
) -> Start:
    """Return the first held-out pictures that the vote classifies correctly, by goal class."""
    from shoal.robust import every_target

    rows = _right(ensemble, images, labels, held_back(len(images), held), count)
    classes = ensemble.architectures[0].classes if ensemble.architectures else 10
    indices, goals, truth = every_target(images[rows], labels[rows], classes)
    return Start(images[rows][indices], goals, truth, rows[indices])


def _right(ensemble: Ensemble, images: Tensor, labels: Tensor, start: int, count: int) -> Tensor:
    """Return the positions of the first held-out pictures that the vote classifies correctly.

    Blank pictures are skipped: the size of a change is relative to the norm of the picture.
    """
    import torch

    from shoal.robust import EnsembleVote

    if count < 1:
        raise InputError(f"samples must be 1 or more, not {count}")
    if start == len(images):
        raise InputError("no picture is held out to start from; give --held 0.2")
    held = images[start:]
    voted = EnsembleVote(ensemble).labels(held.to(ensemble.device))[0].cpu()
    usable = (voted == labels[start:]) & (held != 0).flatten(1).any(dim=1)
    rows: Tensor = torch.nonzero(usable).flatten() + start
    if len(rows) < count:
        raise InputError(
            f"samples must be at most {len(rows)}, the number of held-out pictures that the vote "
            f"classifies correctly, not {count}"
        )
    return rows[:count]


def _made(method: type[Any], options: dict[str, Any]) -> Any:
    known = [field.name for field in fields(method)]
    for name in options:
        if name not in known:
            raise unknown(f"{method.name}: no option", name, known)
    return method(**options)
