"""Random numbers by address: a draw depends on its seed and its address, not on earlier draws.

Members of an ensemble therefore draw the same numbers alone or together, on any device, and an
interrupted run continues as if it had not been interrupted. The mixing is that of Steele, Lea &
Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014.
"""

from __future__ import annotations

import torch
from torch import Tensor

_GOLDEN = -7046029254386353131  # 0x9E3779B97F4A7C15 as a signed number
_FIRST = -4658895280553007687  # 0xBF58476D1CE4E5B9
_SECOND = -7723592293110705685  # 0x94D049BB133111EB


def words(seeds: Tensor, *address: int | Tensor, count: int) -> Tensor:
    """Return (*seeds.shape, count) 64-bit integers, one for each seed, address and index."""
    # each part of the address stirs the state once; the index comes last, so that counts can differ
    state = _mix(seeds)
    for part in address:
        state = _mix(state + part)
    return _mix(state.unsqueeze(-1) + torch.arange(count, device=seeds.device))


def uniforms(seeds: Tensor, *address: int | Tensor, count: int) -> Tensor:
    """Return (*seeds.shape, count) numbers in [0, 1), multiples of 2⁻²⁴."""
    return _shifted(words(seeds, *address, count=count), 40).to(torch.float32) * 2.0**-24


def permutations(seeds: Tensor, *address: int | Tensor, count: int) -> Tensor:
    """Return (*seeds.shape, count) a permutation of 0 … count − 1 for each seed."""
    return words(seeds, *address, count=count).argsort(dim=-1, stable=True)


def _mix(state: Tensor) -> Tensor:
    state = (state + 1) * _GOLDEN
    state = (state ^ _shifted(state, 30)) * _FIRST
    state = (state ^ _shifted(state, 27)) * _SECOND
    return state ^ _shifted(state, 31)


def _shifted(state: Tensor, bits: int) -> Tensor:
    """Shift right and fill with zeros; torch's own shift copies the sign."""
    return (state >> bits) & ((1 << (64 - bits)) - 1)
