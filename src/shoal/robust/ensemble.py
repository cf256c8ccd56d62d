"""An ensemble: networks that are queried, trained, saved and loaded as one, and their vote.

    Ensemble       networks of one architecture or of several, and a temperature for each
    save, load     safetensors with a description; the shapes are checked before a network is built
    EnsembleVote   the class that most networks predict wins; ties by the mean probability

The threat model gives the attacker full knowledge of the members, so they are not hidden. Liang,
"Algorithms in privacy & security for data analytics and machine learning", 2020, §4.2.3.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from shoal.errors import InputError, ShoalError
from shoal.robust.classifier import (
    Classifier,
    Intake,
    answering,
    as_classifier,
    check_bounds,
    tempered,
    usable_device,
)
from shoal.robust.networks import Architecture
from shoal.robust.stack import Stack, stack
from shoal.support.files import check_readable, replace_file

_FORMAT = "shoal-ensemble-1"
_KINDS = {  # the contents of each file format
    _FORMAT: "an ensemble",
    "shoal-examples-1": "adversarial examples",
    "shoal-checkpoint-1": "a checkpoint of training",
}
_METADATA_KEY = "shoal"  # of a file's description in its metadata


class Ensemble(Classifier):
    """Trained networks, of one architecture or of several.

    Parameters:
        networks: The networks; their weights no longer collect gradients.
        temperatures: Divisor of the logits in the softmax of each network; by default 1.
        bounds: Lowest and highest value of a pixel.
        architecture: The architecture of all networks, or a sequence with that of each; a saved
            ensemble can be loaded with it.

    Raises:
        InputError: The bounds or the temperatures are invalid, or the architectures have different
            pictures or classes.

    >>> import torch
    >>> from torch import nn
    >>> ensemble = Ensemble.of([nn.Linear(4, 2), nn.Linear(4, 2)])
    >>> ensemble(torch.rand(3, 4)).shape
    torch.Size([2, 3, 2])
    """

    def __init__(
        self,
        networks: Stack,
        *,
        temperatures: Sequence[float] | None = None,
        bounds: tuple[float, float] = (0.0, 1.0),
        architecture: Architecture | Sequence[Architecture] | None = None,
    ) -> None:
        self.stack = networks.eval().requires_grad_(False)
        self.networks = networks.networks
        divisors = [1.0] * self.networks if temperatures is None else list(temperatures)
        check_temperatures(divisors, self.networks)
        self.temperatures = torch.tensor(divisors, dtype=torch.float32, device=networks.device)
        self.bounds = check_bounds(bounds)
        self.architectures = one_architecture_each(architecture, self.networks)

    @property
    def architecture(self) -> Architecture | None:
        """The architecture of all networks; None if it is unknown or they have several."""
        known = set(self.architectures or ())
        return known.pop() if len(known) == 1 else None

    @property
    def intake(self) -> Intake:
        """Device and type of the weights, and the shape of pictures that the networks expect."""
        weight = next(self.stack.parameters(), self.temperatures)
        shape = self.architectures[0].shape if self.architectures else None
        return Intake(weight.device, weight.dtype, shape)

    def classes(self, inputs: Tensor) -> int:
        """Return the number of classes."""
        return self.architectures[0].classes if self.architectures else super().classes(inputs)

    def __repr__(self) -> str:
        names = dict.fromkeys(each.name for each in self.architectures or ())
        kind = ", ".join(names) or type(self.stack).__name__
        return f"<Ensemble of {self.networks} networks ({kind}) on {self.device}>"

    @classmethod
    def of(cls, networks: Sequence[nn.Module], **options: Any) -> Ensemble:
        """Return networks as an ensemble.

        Networks with the same layers run as one; each other architecture adds a run.

        Parameters:
            networks: Torch modules for the same pictures and classes.
            options: Those of the constructor.

        Raises:
            InputError: The weights differ in type or device.
        """
        return cls(stack(networks), **options)

    def logits(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return (networks, rows, classes) the answer of each network to its own rows."""
        with answering(inputs):
            answer: Tensor = self.stack(inputs, layer)
        return answer

    def subset(self, members: Sequence[int]) -> Ensemble:
        """Return an ensemble of some of the networks, by their positions.

        Raises:
            InputError: A position is out of range, or the architecture is unknown.
        """
        if not self.architectures:
            raise InputError("only networks with a named architecture can be extracted")
        if not all(0 <= member < self.networks for member in members):
            raise InputError(f"members must be positions from 0 to {self.networks - 1}")
        known, networks = [self.architectures[member] for member in members], []
        for member, architecture in zip(members, known, strict=True):
            networks.append(architecture.build(0))
            networks[-1].load_state_dict(self.stack.weights_of(member))
        return Ensemble(
            stack(networks).to(self.device),
            temperatures=self.temperatures[list(members)].tolist(),
            bounds=self.bounds,
            architecture=known,
        )

    def to(self, device: str | torch.device) -> Ensemble:
        """Move the weights to another device, and return the ensemble."""
        chosen = usable_device(device)
        self.stack.to(chosen)
        self.temperatures = self.temperatures.to(chosen)
        return self

    def save(self, path: str | Path, *, force: bool = False) -> None:
        """Write the ensemble as safetensors, which contain numbers and no code.

        Parameters:
            path: The file.
            force: Whether to replace an existing file.
        """
        write_tensors(Path(path), self.stack.weights(), self._description(), force=force)

    def _description(self) -> dict[str, Any]:
        return {
            "format": _FORMAT,
            "networks": self.networks,
            "temperatures": self.temperatures.tolist(),
            "bounds": list(self.bounds),
            "architecture": self._described_architectures(),
        }

    def _described_architectures(self) -> Any:
        """Return one description for all networks, a list with one for each, or None."""
        if self.architecture:
            return self.architecture.to_dict()
        return [each.to_dict() for each in self.architectures] if self.architectures else None

    @classmethod
    def load(
        cls,
        path: str | Path,
        *,
        build: Callable[[int], nn.Module] | Sequence[Callable[[int], nn.Module]] | None = None,
        device: str | torch.device = "cpu",
    ) -> Ensemble:
        """Read an ensemble that `save` wrote.

        Parameters:
            path: The file.
            build: Returns a network for a seed, or a sequence of such functions, one for each
                network; needed if the architectures have no name.
            device: Where to put the weights.

        Raises:
            InputError: The file is damaged or no ensemble, or needs `build`.
        """
        chosen = usable_device(device)
        weights, saved = read_tensors(Path(path), _FORMAT)
        try:
            known = _read_architectures(saved["architecture"])
            temperatures = [float(value) for value in saved["temperatures"]]
            networks, bounds = saved["networks"], check_bounds(saved["bounds"])
        except (KeyError, TypeError, ValueError, InputError):
            raise InputError(
                f"{path}: the file is damaged; the description of its networks is missing"
            ) from None
        if not known and build is None:
            raise InputError(
                f"{path}: its networks have no named architecture; in Python, give build="
            )
        wrong = f"{path}: its weights do not fit this network"
        given = [build] if callable(build) else list(build or ())
        builders = given or [each.build for each in known]
        if not weights or not _fit(weights, networks, len(builders)):
            raise InputError(wrong)
        stacked = stack([each(0) for each in builders] * (networks // len(builders)))
        try:
            stacked.load_weights(weights)
        except RuntimeError:
            raise InputError(wrong) from None
        named = known or None
        return cls(stacked.to(chosen), temperatures=temperatures, bounds=bounds, architecture=named)


def check_temperatures(temperatures: Sequence[float], networks: int) -> None:
    """Raise an error unless there is one temperature above 0 for each network."""
    if len(temperatures) != networks or not all(0 < each < math.inf for each in temperatures):
        raise InputError(f"there must be {networks} temperatures, all above 0")


def one_architecture_each(
    architecture: Architecture | Sequence[Architecture] | None, networks: int
) -> tuple[Architecture, ...] | None:
    """Return the architecture of each network, None if it is unknown.

    Raises:
        InputError: There are neither one nor as many as networks, or they do not fit together.
    """
    if architecture is None or isinstance(architecture, Architecture):
        return None if architecture is None else (architecture,) * networks
    known = tuple(architecture) * (networks if len(architecture) == 1 else 1)
    if len(known) != networks:
        raise InputError(f"there must be one architecture, or {networks}, not {len(known)}")
    if len({(each.shape, each.classes) for each in known}) > 1:
        raise InputError("the architectures of an ensemble must have the same pictures and classes")
    return known


def _read_architectures(description: Any) -> list[Architecture]:
    """Return the architecture of all networks, or that of each; none if they have no name."""
    listed = description if isinstance(description, list) else [description] * bool(description)
    return [Architecture.from_dict(each) for each in listed]


def _fit(weights: dict[str, Tensor], networks: int, builders: int) -> bool:
    """Return whether weights may be those of some networks, before any network is built."""
    if builders == 1:
        return {weight.shape[:1] for weight in weights.values()} == {(networks,)}
    return builders == networks


def write_tensors(
    path: Path, tensors: dict[str, Tensor], description: dict[str, Any], *, force: bool
) -> None:
    """Write tensors and their description atomically."""
    from safetensors.torch import save_file

    saved = {name: value.detach().cpu().contiguous() for name, value in tensors.items()}
    with replace_file(path, force=force) as temporary:
        save_file(saved, str(temporary), metadata={_METADATA_KEY: json.dumps(description)})


def _check_form(path: Path, description: Any, form: str) -> None:
    found = description.get("format") if isinstance(description, dict) else None
    if found != form:
        other = f"; it is {_KINDS[found]}" if found in _KINDS else ""
        raise InputError(f"{path}: not {_KINDS[form]} that Shoal saved{other}")


def read_tensors(path: Path, form: str | None = None) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Return the tensors and the description that `write_tensors` wrote.

    form: the required format; a file of another format is rejected before its tensors are read.
    """
    from safetensors import SafetensorError, safe_open

    check_readable(path)
    try:
        with safe_open(str(path), framework="pt") as opened:
            description = json.loads((opened.metadata() or {}).get(_METADATA_KEY, "{}"))
            if form is not None:
                _check_form(path, description, form)
            names = opened.keys()
            return {name: opened.get_tensor(name) for name in names}, description
    except ShoalError:
        raise
    except (SafetensorError, ValueError, OSError, RecursionError):
        raise InputError(f"{path}: not a safetensors file, or the file is damaged") from None


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
    # a constant offset, without a gradient: attackers see the slopes of the mean
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
