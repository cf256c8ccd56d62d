"""Training: all networks of an ensemble at once, each as if it were trained alone.

    Member       a seed, a temperature, and rows: its own (`partitioned`) or all (`shared`)
    train        for each epoch: shuffle, shift, forward, step; then a checkpoint
    Checkpoint   the state of training in a safetensors file, which contains numbers and no code;
                 one of other data, members or options is rejected

Minimizes the cross-entropy of softmax(logits / T) by stochastic gradient descent with momentum, at
the rate rate / (1 + decay · step): Table 4.2 of Liang, "Algorithms in privacy & security for data
analytics and machine learning", 2020. Starting weights, shuffles and dropout depend only on the
seed of a member.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn import functional

from shoal.errors import InputError, NotConverged
from shoal.robust import draws
from shoal.robust.classifier import (
    Intake,
    answering,
    as_classes,
    as_pictures,
    check_bounds,
    check_classes,
    repeatable,
    usable_device,
)
from shoal.robust.ensemble import (
    Ensemble,
    check_temperatures,
    one_architecture_each,
    read_tensors,
    write_tensors,
)
from shoal.robust.networks import Architecture, seeded
from shoal.robust.stack import Stack, check_trainable, stack
from shoal.support.options import check_range, check_whole
from shoal.support.progress import report

_SHUFFLE, _SHIFT = 1, 2  # addresses of shuffles and shifts among the draws of a member


Network = Architecture | Callable[[], nn.Module]


@dataclass(frozen=True, kw_only=True)
class Training:
    """Options of training.

    Parameters:
        epochs: Number of passes over the training rows.
        batch: Number of rows per step.
        rate: First learning rate.
        decay: How fast the rate falls.
        momentum: Momentum of the gradient descent.
        precision: float32, or bfloat16 for products, which takes half the time on a GPU.
        every: Number of epochs between checkpoints.
        repeatable: Whether CUDA must use deterministic kernels; if not, it uses the fastest.
        shift: Maximum number of pixels by which a picture is moved in each direction, drawn again
            every time; 0 is as published.

    Raises:
        InputError: An option is out of range.

    >>> Training(epochs=20).batch
    128
    """

    epochs: int = 3000
    batch: int = 128
    rate: float = 0.01
    decay: float = 1e-6
    momentum: float = 0.9
    precision: str = "float32"
    every: int = 100
    repeatable: bool = True
    shift: int = 0

    def __post_init__(self) -> None:
        for name in ("epochs", "batch", "every"):
            check_whole(name, getattr(self, name), 1)
        check_whole("shift", self.shift, 0)
        check_range("rate", self.rate, 0, above=True)
        check_range("decay", self.decay, 0)
        check_range("momentum", self.momentum, 0, 1)
        if self.precision not in ("float32", "bfloat16"):
            raise InputError(f"precision must be float32 or bfloat16, not {self.precision!r}")


def train(
    network: Network | Sequence[Network],
    images: Tensor,
    labels: Tensor,
    members: Sequence[Member],
    training: Training | None = None,
    *,
    device: str | torch.device = "cpu",
    checkpoint: str | Path | None = None,
    bounds: tuple[float, float] = (0.0, 1.0),
) -> Ensemble:
    """Train all members and return them as an ensemble.

    Parameters:
        network: An architecture, or a function that returns a new torch module; or a sequence of
            them, one for each member.
        images: (rows, *shape) the training pictures.
        labels: (rows,) their classes.
        members: The networks to train, from `shared` or `partitioned`.
        training: Options of training.
        device: Device to train on.
        checkpoint: A file for the state of training; if it exists, training resumes from it.
        bounds: Lowest and highest value of a pixel.

    Returns:
        The trained ensemble.

    Raises:
        InputError: Pictures, labels, members or the checkpoint do not match the networks.
        NotConverged: The weights of a network are no longer finite.

    >>> import torch
    >>> from torch import nn
    >>> from shoal.robust import shared
    >>> images, labels = torch.rand(20, 4), torch.arange(20) % 2
    >>> members = shared(20, temperatures=[1.0, 5.0])
    >>> train(lambda: nn.Linear(4, 2), images, labels, members, Training(epochs=1))
    <Ensemble of 2 networks (MappedStack) on cpu>
    >>> deep = lambda: nn.Sequential(nn.Linear(4, 3), nn.ReLU(), nn.Linear(3, 2))
    >>> mixed = [lambda: nn.Linear(4, 2), deep]
    >>> train(mixed, images, labels, members, Training(epochs=1)).stack.groups
    ((0,), (1,))
    """
    training = training or Training()
    bounds, chosen = check_bounds(bounds), usable_device(device)
    check_members(members, len(images))
    made = _one_each(network, len(members))
    named = [each for each in made if isinstance(each, Architecture)]
    known = one_architecture_each(named, len(made)) if len(named) == len(made) else None
    pairs = zip(made, members, strict=True)
    networks = stack([_build(each, member.seed) for each, member in pairs]).to(chosen)
    check_trainable(networks)
    intake = Intake(chosen, next(networks.parameters()).dtype, known[0].shape if known else None)
    pictures = as_pictures(images, bounds, intake)
    if training.shift and pictures.ndim != 4:
        raise InputError("shift needs pictures of shape (rows, channels, height, width)")
    classes = known[0].classes if known else None
    truth = as_classes("labels", labels, rows=len(pictures), classes=classes)
    trainer = _Trainer(networks, pictures, truth.to(chosen), members, training)
    saved = Checkpoint(Path(checkpoint), trainer) if checkpoint else None
    done = saved.resume() if saved else 0
    if done > training.epochs:
        raise InputError(
            f"{checkpoint}: already contains {done} epochs, more than epochs = {training.epochs}"
        )
    with repeatable(training.repeatable):
        for epoch in range(done, training.epochs):
            report("training", epoch, training.epochs)
            trainer.run_epoch(epoch)
            if saved and ((epoch + 1) % training.every == 0 or epoch + 1 == training.epochs):
                saved.save(epoch + 1)
    report("training", training.epochs, training.epochs)
    _check_finite(networks)
    return Ensemble(
        networks,
        temperatures=[member.temperature for member in members],
        bounds=bounds,
        architecture=known,
    )


def _one_each(network: Network | Sequence[Network], members: int) -> Sequence[Network]:
    """Return the network of each member.

    Raises:
        InputError: A network is none that can be built, or there are too few or too many.
    """
    several = isinstance(network, Sequence) and not isinstance(network, nn.Module)
    listed: Sequence[Any] = network if several else [network] * members  # type: ignore[assignment]
    for each in listed:
        if isinstance(each, nn.Module) or not callable(getattr(each, "build", each)):
            raise InputError(
                "network must be an architecture or a function that returns a new network for each "
                f"member, such as lambda: nn.Sequential(...), not {type(each).__name__}"
            )
    if len(listed) != members:
        raise InputError(f"there must be one network, or {members}, not {len(listed)}")
    return listed


def _build(network: Network, seed: int) -> nn.Module:
    built: nn.Module = (
        network.build(seed) if isinstance(network, Architecture) else seeded(network, seed)
    )
    return built


def shifted(pictures: Tensor, seeds: Tensor, step: int, most: int) -> Tensor:
    """Move each of (networks, rows, channels, height, width) by up to `most` pixels.

    Pixels that enter a picture repeat its edge.
    """
    networks, rows, _, *size = pictures.shape
    moves = draws.uniforms(seeds, _SHIFT, step, count=2 * rows).view(networks, rows, 2)
    offsets = (moves * (2 * most + 1)).long() - most  # (networks, rows, 2)
    positions = [
        (torch.arange(length, device=seeds.device) + offsets[..., axis, None]).clamp(0, length - 1)
        for axis, length in enumerate(size)
    ]
    # indexed by network, row, source row of each line and source column of each pixel, broadcast
    moved = pictures.movedim(2, -1)  # (networks, rows, height, width, channels)
    net = torch.arange(networks, device=seeds.device).view(-1, 1, 1, 1)
    row = torch.arange(rows, device=seeds.device).view(1, -1, 1, 1)
    chosen = moved[net, row, positions[0].unsqueeze(-1), positions[1].unsqueeze(-2)]
    return chosen.movedim(-1, 2)


def _check_finite(networks: Stack) -> None:
    diverged = int((~networks.finite()).sum())
    if diverged:
        raise NotConverged(f"{diverged} of {networks.networks} networks diverged; lower `rate`")


class _Trainer:
    """Networks in training: weights, momentum, and the rows of each network."""

    def __init__(
        self,
        networks: Stack,
        images: Tensor,
        labels: Tensor,
        members: Sequence[Member],
        training: Training,
    ) -> None:
        self.networks, self.images, self.labels = networks.train(), images, labels
        self.training, device = training, images.device
        self.rows = torch.stack([member.rows for member in members]).to(device)
        self.seeds = torch.tensor([member.seed for member in members], device=device)
        self.temperatures = torch.tensor(
            [float(member.temperature) for member in members], device=device
        )
        self.begun = False  # whether a step was taken
        networks.seed_dropout(self.seeds)
        self.optimizer = torch.optim.SGD(
            networks.parameters(), lr=training.rate, momentum=training.momentum
        )

    def run_epoch(self, epoch: int) -> None:
        """Train once on all rows of every member, each in its own order."""
        size = self.rows.shape[1]
        order = draws.permutations(self.seeds, _SHUFFLE, epoch, count=size)
        batches = self.rows.gather(1, order).split(self.training.batch, dim=1)
        for index, batch in enumerate(batches):
            self._step(epoch * len(batches) + index, batch)

    def _step(self, step: int, batch: Tensor) -> None:
        """Take one step of gradient descent. batch: (networks, rows) positions of pictures."""
        options = self.training
        self.optimizer.param_groups[0]["lr"] = options.rate / (1 + options.decay * step)
        self.networks.set_step(step)
        self.optimizer.zero_grad(set_to_none=True)
        half = options.precision == "bfloat16"
        pictures = self.images[batch]
        if options.shift:
            pictures = shifted(pictures, self.seeds, step, options.shift)
        with (
            torch.autocast(batch.device.type, dtype=torch.bfloat16, enabled=half),
            answering(pictures),
        ):
            logits = self.networks(pictures)
        if not self.begun:
            check_classes("labels", self.labels, logits.shape[-1])
            self.begun = True
        scaled = logits.float() / self.temperatures.view(-1, 1, 1)
        losses = functional.cross_entropy(
            scaled.flatten(0, 1), self.labels[batch].flatten(), reduction="sum"
        )
        # a sum over networks does not mix their gradients: each descends its own mean
        (losses / batch.shape[1]).backward()
        self.optimizer.step()

    def momenta(self) -> dict[str, Tensor]:
        """Return the momentum of each weight, by the weight's name."""
        state = self.optimizer.state
        return {
            name: state[value]["momentum_buffer"]
            for name, value in self.networks.layers.named_parameters()
            if value in state and state[value].get("momentum_buffer") is not None
        }

    def load_momenta(self, momenta: dict[str, Tensor]) -> None:
        """Restore what `momenta` returned."""
        for name, value in self.networks.layers.named_parameters():
            if name in momenta:
                momentum = momenta[name].to(value.device)
                self.optimizer.state[value]["momentum_buffer"] = momentum

    def settings(self) -> dict[str, Any]:
        """Return the settings that must be equal for training to resume."""
        options = {name: getattr(self.training, name) for name in ("batch", "rate", "decay")}
        return {
            **options,
            "momentum": self.training.momentum,
            "precision": self.training.precision,
            "shift": self.training.shift,
            "seeds": self.seeds.tolist(),
            "temperatures": self.temperatures.tolist(),
            "architectures": [list(group) for group in self.networks.groups],
        }


_FORMAT = "shoal-checkpoint-1"


class Trained(Protocol):
    """Networks in training."""

    networks: Stack
    images: Tensor
    labels: Tensor
    rows: Tensor

    def momenta(self) -> dict[str, Tensor]:
        """Return the momentum of each weight, by the weight's name."""

    def load_momenta(self, momenta: dict[str, Tensor]) -> None:
        """Restore what `momenta` returned."""

    def settings(self) -> dict[str, Any]:
        """Return the settings that must be equal for training to resume."""


class Checkpoint:
    """The file with the state of one training run."""

    def __init__(self, path: Path, training: Trained) -> None:
        self.path = path
        self.training = training
        self.settings = {"format": _FORMAT, **training.settings(), "data": _digest(training)}

    def save(self, epochs: int) -> None:
        """Write the state after this number of epochs; replaces the last one."""
        tensors = {f"weight/{name}": w for name, w in self.training.networks.weights().items()}
        tensors |= {f"momentum/{name}": m for name, m in self.training.momenta().items()}
        write_tensors(self.path, tensors, {**self.settings, "epochs": epochs}, force=True)

    def resume(self) -> int:
        """Restore the state in the file, and return its epochs; 0 if there is no file.

        Raises:
            InputError: The file belongs to another training run.
        """
        if not self.path.exists():
            return 0
        tensors, settings = read_tensors(self.path, _FORMAT)
        epochs = settings.pop("epochs", 0)
        if settings != self.settings:
            other = [name for name in self.settings if settings.get(name) != self.settings[name]]
            raise InputError(
                f"{self.path}: this checkpoint belongs to another training run "
                f"({', '.join(other)} differ); remove the file, or name another"
            )
        parts: dict[str, dict[str, Tensor]] = {"weight": {}, "momentum": {}}
        for name, value in tensors.items():
            kind, _, weight = name.partition("/")
            parts.setdefault(kind, {})[weight] = value
        try:
            self.training.networks.load_weights(parts["weight"])
        except RuntimeError:
            raise InputError(
                f"{self.path}: this checkpoint belongs to networks of another architecture"
            ) from None
        self.training.load_momenta(parts["momentum"])
        return int(epochs)


def _digest(training: Trained) -> str:
    digest = sha256()
    for values in (training.images, training.labels, training.rows):
        digest.update(values.detach().cpu().contiguous().numpy().tobytes())
    return digest.hexdigest()


@dataclass(frozen=True)
class Member:
    """One network to train.

    Parameters:
        seed: Seed of its starting weights, shuffles and dropout.
        temperature: Divisor of its logits in the softmax.
        rows: Positions of its training pictures.

    >>> import torch
    >>> Member(seed=1, temperature=2.0, rows=torch.arange(3)).rows
    tensor([0, 1, 2])
    """

    seed: int
    temperature: float
    rows: Tensor


def partitioned(
    rows: int, temperatures: Sequence[float], *, size: int | None = None, seed: int = 0
) -> list[Member]:
    """Return a member for each temperature; no two members share a training row.

    Parameters:
        rows: Number of training pictures.
        temperatures: Temperature of each member.
        size: Number of rows of each member; by default as many as possible.
        seed: Seed of the assignment and of the members' own seeds.

    Returns:
        The members.

    Raises:
        InputError: There are no temperatures, or not enough rows.

    >>> [len(member.rows) for member in partitioned(10, [1.0, 1.0, 5.0])]
    [3, 3, 3]
    """
    networks = len(temperatures)
    if not networks:
        raise InputError("give at least one temperature, one for each network")
    each = max(1, rows // networks) if size is None else size
    check_whole("size", each, 1)
    if networks * each > rows:
        raise InputError(
            f"{networks} networks with {each} rows each need more rows than the {rows} given"
        )
    order = draws.permutations(torch.tensor(seed), count=rows)
    parts = order[: networks * each].view(networks, -1)
    return _members(temperatures, list(parts), seed)


def shared(rows: int, temperatures: Sequence[float], *, seed: int = 0) -> list[Member]:
    """Return a member for each temperature; all members train on all rows.

    Parameters:
        rows: Number of training pictures.
        temperatures: Temperature of each member.
        seed: Seed of the members' own seeds.

    Returns:
        The members.

    >>> [len(member.rows) for member in shared(10, [1.0, 5.0])]
    [10, 10]
    """
    check_whole("rows", rows, 1)
    return _members(temperatures, [torch.arange(rows)] * len(temperatures), seed)


def check_members(members: Sequence[Member], pictures: int) -> None:
    """Raise an error if members cannot be trained together on this number of pictures."""
    if not members:
        raise InputError("there are no members to train; make some with shared or partitioned")
    lengths = {len(member.rows) for member in members}
    if len(lengths) != 1 or 0 in lengths:
        raise InputError("all members of an ensemble must have the same number of rows, at least 1")
    for rows in (member.rows for member in members):
        if int(rows.min()) < 0 or int(rows.max()) >= pictures:
            raise InputError(f"members refer to rows beyond the {pictures} pictures given")
    check_temperatures([member.temperature for member in members], len(members))


def _members(temperatures: Sequence[float], rows: Sequence[Tensor], seed: int) -> list[Member]:
    seeds = (draws.words(torch.tensor(seed), count=len(temperatures)) & (2**48 - 1)).tolist()
    return [Member(*each) for each in zip(seeds, temperatures, rows, strict=True)]
