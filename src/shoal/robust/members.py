"""Members to train: each with a seed, a temperature, and its own rows or the same rows as all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from shoal.errors import InputError
from shoal.robust import draws
from shoal.robust.ensemble import check_temperatures
from shoal.support.options import check_whole


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
