# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: states of a sweep over columns, the steps between them, and sums along the steps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shoal.support.compiling import njit

_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_EMPTY = -1


class Choices(NamedTuple):
    """What the next column may be matched with.

    shifts: (choices,) where in a state the used rows of each kind are counted.
    fields: (choices,) the largest number that fits there; counts: (choices,) rows of the kind.
    ending, ended: bits of the kinds that no later column may have, and what they must hold.
    """

    shifts: Any
    fields: Any
    counts: Any
    ending: int
    ended: int


class Steps(NamedTuple):
    """Steps from the states before a column to those after it.

    source, target: (steps,) states; choice: (steps,) the kind of row; free: (steps,) how many of
    its rows are left to choose from. Steps of one source lie together.
    """

    source: Any
    target: Any
    choice: Any
    free: Any


@njit(cache=True, nogil=True, error_model="numpy")
def expand(states, choices, steps, table, found):
    """Write the steps that leave the states; return how many, and how many states they reach.

    table: (2^b,) room, _EMPTY throughout, larger than the states that can be reached.
    found: room for the states that are reached.
    """
    mask = len(table) - 1
    made, reached = 0, 0
    for source in range(len(states)):
        state = states[source]
        for choice in range(len(choices.shifts)):
            used = (state >> choices.shifts[choice]) & choices.fields[choice]
            if used == choices.counts[choice]:
                continue
            after = state + (np.int64(1) << choices.shifts[choice])
            if after & choices.ending != choices.ended:
                continue
            after &= ~choices.ending
            place = np.int64((np.uint64(after) * _SPREAD) >> np.uint64(32)) & mask
            while table[place] != _EMPTY and found[table[place]] != after:
                place = (place + 1) & mask
            if table[place] == _EMPTY:
                table[place] = reached
                found[reached] = after
                reached += 1
            steps.source[made] = source
            steps.target[made] = table[place]
            steps.choice[made] = choice
            steps.free[made] = choices.counts[choice] - used
            made += 1
    return made, reached


@njit(cache=True, nogil=True, error_model="numpy")
def push(steps, weights, before, after):
    """Add up what reaches each state: every way of the columns so far."""
    after[:] = 0.0
    for s in range(len(steps.source)):
        weight = weights[steps.choice[s]] * steps.free[s]
        after[steps.target[s]] += before[steps.source[s]] * weight


@njit(cache=True, nogil=True, error_model="numpy")
def pull(steps, weights, ways, after, before, shares, lost):
    """Add up what each state leads to, and the share of each choice in all ways.

    ways: (states before,) from `push`; lost: (choices,) what the additions to `shares` dropped.
    """
    before[:] = 0.0
    for s in range(len(steps.source)):
        choice, source = steps.choice[s], steps.source[s]
        led = weights[choice] * steps.free[s] * after[steps.target[s]]
        before[source] += led
        added = ways[source] * led
        total = shares[choice] + added
        if shares[choice] >= added:
            lost[choice] += (shares[choice] - total) + added
        else:
            lost[choice] += (added - total) + shares[choice]
        shares[choice] = total


@njit(cache=True, nogil=True, error_model="numpy")
def push_whole(steps, before, after):
    """As `push` with weights of 1, in whole numbers of 32-bit digits, lowest first."""
    digits = before.shape[1]
    after[:] = 0
    for s in range(len(steps.source)):
        source, target = steps.source[s], steps.target[s]
        free = np.uint64(steps.free[s])
        for d in range(digits):
            after[target, d] += before[source, d] * free
    for state in range(len(after)):
        carry = np.uint64(0)
        for d in range(digits):
            total = after[state, d] + carry
            after[state, d] = total & np.uint64(0xFFFFFFFF)
            carry = total >> np.uint64(32)
