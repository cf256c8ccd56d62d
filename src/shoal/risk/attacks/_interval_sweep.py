# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: sums along the steps of a sweep over released items, with and without a marked item.

Level l is the l-th released item. The states before level l have the numbers states[l] …
states[l + 1] − 1 in one array over all levels; the last state is the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.support.compiling import njit


class Levels(NamedTuple):
    """All steps of a sweep, level by level; read only.

    begins: (levels + 1,) the first step of each level.
    states: (levels + 2,) the first state before each level, then the end and the number of states.
    source, target: (steps,) the states before and after, numbered in their level from 0.
    deadline: (steps,) the deadline of the item that is taken.
    free: (steps,) the items of that deadline that can be taken.
    """

    begins: Any
    states: Any
    source: Any
    target: Any
    deadline: Any
    free: Any


@njit(cache=True, nogil=True, error_model="numpy")
def forth(levels, ways, totals):
    """Sum the ways from the start to each state, scaled so that each level sums to 1.

    ways: (states,) written. totals: (levels,) written, the sums before scaling.
    Invariant: ways of the levels up to the current one are final.
    """
    ways[:] = 0.0
    ways[0] = 1.0
    for level in range(len(levels.begins) - 1):
        here, there = levels.states[level], levels.states[level + 1]
        for s in range(levels.begins[level], levels.begins[level + 1]):
            ways[there + levels.target[s]] += ways[here + levels.source[s]] * levels.free[s]
        total = 0.0
        for state in range(there, levels.states[level + 2]):
            total += ways[state]
        totals[level] = total
        for state in range(there, levels.states[level + 2]):
            ways[state] /= total


@njit(cache=True, nogil=True, error_model="numpy")
def back(levels, led, peaks):
    """Sum the ways from each state to the end, scaled so that the largest of a level is 1.

    led: (states,) written. peaks: (levels,) written, the largest sums before scaling.
    Invariant: led of the levels after the current one are final.
    """
    led[:] = 0.0
    led[-1] = 1.0
    for level in range(len(levels.begins) - 2, -1, -1):
        here, there = levels.states[level], levels.states[level + 1]
        for s in range(levels.begins[level], levels.begins[level + 1]):
            led[here + levels.source[s]] += led[there + levels.target[s]] * levels.free[s]
        peak = 0.0
        for state in range(here, there):
            peak = max(peak, led[state])
        peaks[level] = peak
        for state in range(here, there):
            led[state] /= peak


@njit(cache=True, nogil=True, error_model="numpy")
def mark(levels, ways, led, peaks, deadline, bottom, top, room, chances):
    """Write the probability that an item of this deadline is taken at level `top`.

    ways, led, peaks: from `forth` and `back`.
    chances: (top − bottom + 1,) written, for items that wait from level bottom, bottom + 1, … on.
    room: (2, states of the widest level) scratch.
    Invariant: `marked` has, for each state before the current level, the ways to the end on which
    one marked item is taken at `top`, scaled as `led`; `other` has the same after the level.
    """
    marked, other = room[0], room[1]
    for level in range(top, bottom - 1, -1):
        here, there = levels.states[level], levels.states[level + 1]
        marked, other = other, marked
        marked[: there - here] = 0.0
        for s in range(levels.begins[level], levels.begins[level + 1]):
            # below `top` the marked item still waits: one fewer of its deadline can be taken
            if level < top:
                others = levels.free[s] - (levels.deadline[s] == deadline)
                marked[levels.source[s]] += other[levels.target[s]] * others
            elif levels.deadline[s] == deadline:
                marked[levels.source[s]] += led[there + levels.target[s]]
        taken, every = 0.0, 0.0
        for state in range(there - here):
            marked[state] /= peaks[level]
            taken += ways[here + state] * marked[state]
            every += ways[here + state] * led[here + state]
        chances[level - bottom] = taken / every
