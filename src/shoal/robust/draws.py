"""Random numbers by address: a draw depends on its seed and its place, on nothing before it.

So members of an ensemble draw the same alone or together, on any device, and work that was broken
off goes on as if it had not been. The mixing is that of Steele, Lea & Flood, "Fast splittable
pseudorandom number generators", OOPSLA 2014.
"""

from __future__ import annotations

import torch
from torch import Tensor

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed number
_FIRST = -4658895280553007687  # 0xBF58476D1CE4E5B9
_SECOND = -7723592293110705685  # 0x94D049BB133111EB


def words(seeds: Tensor, *places: int | Tensor, count: int) -> Tensor:
    """Return (*seeds.shape, count) whole numbers of 64 bits, one for each seed, place and index."""
    state = _mix(seeds)
    for place in places:
        state = _mix(state + place)
    return _mix(state.unsqueeze(-1) + torch.arange(count, device=seeds.device))


def uniforms(seeds: Tensor, *places: int | Tensor, count: int) -> Tensor:
    """Return (*seeds.shape, count) numbers from 0 up to but without 1, in steps of 2⁻²⁴."""
    return _shifted(words(seeds, *places, count=count), 40).to(torch.float32) * 2.0**-24


def permutations(seeds: Tensor, *places: int | Tensor, count: int) -> Tensor:
    """Return (*seeds.shape, count) an order of 0 … count − 1 for each seed."""
    return words(seeds, *places, count=count).argsort(dim=-1, stable=True)


def _mix(state: Tensor) -> Tensor:
    state = (state + 1) * _GOLDEN
    state = (state ^ _shifted(state, 30)) * _FIRST
    state = (state ^ _shifted(state, 27)) * _SECOND
    return state ^ _shifted(state, 31)


def _shifted(state: Tensor, bits: int) -> Tensor:
    """Shift to the right, zeros coming in: torch's own shift keeps the sign."""
    return (state >> bits) & ((1 << (64 - bits)) - 1)
