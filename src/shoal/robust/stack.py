"""Networks that run as one, each with its own weights and its own inputs.

A chain of plain layers runs as grouped convolutions and batched matrix products; any other network
is mapped over its stacked weights (`torch.func`). Networks of several architectures form one such
stack for each. Members never affect each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy

import torch
from torch import Tensor, nn

from shoal.errors import InputError, unknown
from shoal.robust.networks import (
    Dropout,
    StackedConv2d,
    StackedFlatten,
    pools_first,
    stacked_layers,
    unfolded,
    with_own_dropout,
)


class Stack(nn.Module):  # type: ignore[misc]
    """Several networks: (networks, rows, *shape) in, (networks, rows, classes) out.

    layers: the layers of one network; each weight has the axis of networks first.
    """

    def __init__(self, networks: int, layers: nn.Module) -> None:
        super().__init__()
        self.networks = networks
        self.layers = layers

    @property
    def device(self) -> torch.device:
        """The device of the weights."""
        return next(self.parameters()).device

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the networks of each architecture."""
        return (tuple(range(self.networks)),)

    @property
    def layer_names(self) -> tuple[str, ...]:
        """Names of the layers whose output can be requested, as in `nn.Module.named_modules`."""
        return tuple(name for name, _ in self.layers.named_modules() if name)

    def forward(self, inputs: Tensor, layer: str | None = None) -> Tensor:
        """Return each network's output for its own rows, at the last layer or at a named one."""
        if layer is not None and layer not in self.layer_names:
            raise unknown("no layer", layer, self.layer_names)
        return self._answer(inputs, layer)

    def _answer(self, inputs: Tensor, layer: str | None) -> Tensor:
        raise NotImplementedError

    def weights(self) -> dict[str, Tensor]:
        """Return the stacked weights and buffers by name."""
        return dict(self.layers.state_dict())

    def load_weights(self, weights: dict[str, Tensor]) -> None:
        """Replace the weights by others in the form that `weights` returns."""
        self.layers.load_state_dict(weights)

    def weights_of(self, position: int) -> dict[str, Tensor]:
        """Return the weights and buffers of one network by name."""
        return {name: values[position] for name, values in self.weights().items()}

    def finite(self) -> Tensor:
        """Return (networks,) whether all weights of each network are finite."""
        found = torch.ones(self.networks, dtype=torch.bool, device=self.device)
        for values in self.parameters():
            found &= values.detach().isfinite().flatten(1).all(dim=1)
        return found

    def seed_dropout(self, seeds: Tensor) -> None:
        """Set a different seed for every dropout layer and network."""
        for index, part in enumerate(self._dropouts()):
            part.seed = seeds.to(self.device) * 64 + index

    def set_step(self, step: int) -> None:
        """Set the training step of dropout."""
        for part in self._dropouts():
            part.step.fill_(step)

    def _dropouts(self) -> list[Dropout]:
        return [part for part in self.layers.modules() if isinstance(part, Dropout)]


class ChainStack(Stack):
    """Chains of plain layers, each layer run for all networks at once."""

    def _answer(self, inputs: Tensor, layer: str | None) -> Tensor:
        state, folded = inputs, False
        parts = list(self.layers.named_children())
        if layer is not None:
            parts = parts[: 1 + [name for name, _ in parts].index(layer)]
        for part in pools_first([part for _, part in parts]):
            state = part(state)
            folded = isinstance(part, StackedConv2d) or (
                folded and not isinstance(part, StackedFlatten)
            )
        return unfolded(state, self.networks) if folded else state


class MappedStack(Stack):
    """Networks of any architecture, mapped over their stacked weights."""

    def _answer(self, inputs: Tensor, layer: str | None) -> Tensor:
        named = {**dict(self.layers.named_parameters()), **dict(self.layers.named_buffers())}

        def one(values: dict[str, Tensor], rows: Tensor) -> Tensor:
            seen: list[Tensor] = []
            part = self.layers.get_submodule(layer) if layer is not None else self.layers
            hook = part.register_forward_hook(lambda _m, _i, output: seen.append(output))
            try:
                torch.func.functional_call(self.layers, values, (rows,))
            finally:
                hook.remove()
            return seen[-1]

        return torch.func.vmap(one, randomness="different")(named, inputs)

    def set_step(self, step: int) -> None:
        """Set the training step of dropout."""
        for part in self._dropouts():
            part.step = torch.full_like(part.seed, step)


class MixedStack(Stack):
    """Networks of several architectures: a stack for each, and the positions of its networks."""

    def __init__(self, parts: Sequence[Stack], groups: Sequence[Sequence[int]]) -> None:
        super().__init__(sum(map(len, groups)), nn.ModuleList(parts))
        self._groups = tuple(map(tuple, groups))
        order = [position for group in self._groups for position in group]
        self._back = sorted(range(self.networks), key=order.__getitem__)

    @property
    def groups(self) -> tuple[tuple[int, ...], ...]:
        """Positions of the networks of each architecture."""
        return self._groups

    @property
    def layer_names(self) -> tuple[str, ...]:
        """Names of the layers that all networks have."""
        first, *others = (part.layer_names for part in self.layers)
        return tuple(name for name in first if all(name in names for names in others))

    def _answer(self, inputs: Tensor, layer: str | None) -> Tensor:
        pairs = zip(self.layers, self._groups, strict=True)
        answers = [part(_at(inputs, group), layer) for part, group in pairs]
        if len({answer.shape[1:] for answer in answers}) > 1:
            what = "numbers of classes" if layer is None else f"outputs at the layer {layer!r}"
            raise InputError(f"the networks of the ensemble have different {what}")
        return _at(torch.cat(answers), self._back)

    def weights_of(self, position: int) -> dict[str, Tensor]:
        """Return the weights and buffers of one network by name."""
        for part, group in zip(self.layers, self._groups, strict=True):
            if position in group:
                return dict(part.weights_of(group.index(position)))
        raise IndexError(position)

    def finite(self) -> Tensor:
        """Return (networks,) whether all weights of each network are finite."""
        return _at(torch.cat([part.finite() for part in self.layers]), self._back)

    def seed_dropout(self, seeds: Tensor) -> None:
        """Set a different seed for every dropout layer and network."""
        for part, group in zip(self.layers, self._groups, strict=True):
            part.seed_dropout(_at(seeds, group))

    def set_step(self, step: int) -> None:
        """Set the training step of dropout."""
        for part in self.layers:
            part.set_step(step)


def _at(values: Tensor, positions: Sequence[int]) -> Tensor:
    """Return some entries of the first axis, without a copy if they follow each other."""
    first = positions[0]
    if list(positions) == list(range(first, first + len(positions))):
        return values[first : first + len(positions)]
    return values[list(positions)]


def stack(networks: Sequence[nn.Module]) -> Stack:
    """Return networks as one, with a stack for each architecture."""
    if isinstance(networks, nn.Module) or not all(isinstance(n, nn.Module) for n in networks):
        raise InputError("the networks of an ensemble must be a list of torch modules")
    if not networks:
        raise InputError("an ensemble needs at least one network")
    groups = _alike([(_weights(each), _layers(each)) for each in networks])
    if len(groups) > 1:
        _check_type_and_device(networks)
    parts = [_stack_alike([networks[position] for position in group]) for group in groups]
    return parts[0] if len(parts) == 1 else MixedStack(parts, groups)


def _stack_alike(networks: Sequence[nn.Module]) -> Stack:
    """Return networks of one architecture as one."""
    layers = stacked_layers(networks)
    if layers is not None:
        return ChainStack(len(networks), layers)
    return MappedStack(len(networks), _with_stacked_values(networks))


def _alike(descriptions: Sequence[object]) -> list[list[int]]:
    """Return the positions of equal descriptions, in order of first appearance."""
    groups: list[list[int]] = []
    for position, description in enumerate(descriptions):
        same = next((group for group in groups if descriptions[group[0]] == description), None)
        if same is None:
            groups.append([position])
        else:
            same.append(position)
    return groups


def _check_type_and_device(networks: Sequence[nn.Module]) -> None:
    weights = [value for network in networks for value in network.parameters()]
    if len({(value.dtype, value.device) for value in weights}) > 1:
        raise InputError(
            "the weights of the networks of an ensemble must have one type, on one device"
        )


def _weights(network: nn.Module) -> list[object]:
    """Return the name, shape, type and device of all weights."""
    weights = network.state_dict().items()
    return [(name, value.shape, value.dtype, value.device) for name, value in weights]


def _layers(network: nn.Module) -> list[object]:
    """Return the type and options of all layers."""
    return [(name, type(part), part.extra_repr()) for name, part in network.named_modules()]


def check_trainable(networks: Stack) -> None:
    """Raise an error if training changes more than the weights of the networks."""
    if any(getattr(part, "track_running_stats", False) for part in networks.modules()):
        raise InputError(
            "batch normalization that keeps running statistics cannot be trained in an ensemble; "
            "make it with track_running_stats=False, or use group normalization"
        )


def _with_stacked_values(networks: Sequence[nn.Module]) -> nn.Module:
    """Return a copy of the first network with the stacked weights of all."""
    copies = [with_own_dropout(deepcopy(network)) for network in networks]
    skeleton = copies[0]
    for path, part in skeleton.named_modules():
        parts = [copied.get_submodule(path) for copied in copies]
        for name in [name for name, _ in part.named_parameters(recurse=False)]:
            values = torch.stack([getattr(each, name).detach() for each in parts])
            setattr(part, name, nn.Parameter(values))
        for name in [name for name, _ in part.named_buffers(recurse=False)]:
            setattr(part, name, torch.stack([getattr(each, name) for each in parts]))
    return skeleton
