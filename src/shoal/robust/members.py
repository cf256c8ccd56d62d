"""Who is to be trained: a seed, a temperature, and rows of one's own or the same for all."""

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
    """One network to be trained: its seed, its temperature, and the rows that it learns from."""

    seed: int
    temperature: float
    rows: Tensor


def partitioned(
    rows: int, temperatures: Sequence[float], *, size: int | None = None, seed: int = 0
) -> list[Member]:
    """Return a member for each temperature, no two of which see the same row.

    size: rows of each; by default as many as there are for all.
    """
    networks = len(temperatures)
    if not networks:
        raise InputError("give at least one temperature, one for each network")
    wanted = max(1, rows // networks) if size is None else size
    check_whole("size", wanted, 1)
    if networks * wanted > rows:
        raise InputError(
            f"{networks} networks with {wanted} rows each need more rows than the {rows} given"
        )
    order = draws.permutations(torch.tensor(seed), count=rows)
    parts = order[: networks * wanted].view(networks, -1)
    return _members(temperatures, list(parts), seed)


def shared(rows: int, temperatures: Sequence[float], *, seed: int = 0) -> list[Member]:
    """Return a member for each temperature, all of which see all rows."""
    check_whole("rows", rows, 1)
    return _members(temperatures, [torch.arange(rows)] * len(temperatures), seed)


def check_members(members: Sequence[Member], pictures: int) -> None:
    """Refuse members that cannot learn together, or not from so many pictures."""
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
