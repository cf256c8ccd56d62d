# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: sums along the steps of a sweep over released items, with and without a marked item."""

from __future__ import annotations

from typing import Any, NamedTuple

from shoal.support.compiling import njit


class Levels(NamedTuple):
    """All steps of a sweep, released item by released item.

    begins: (levels + 1,) where the steps of each begin; states: (levels + 2,) where the states
        before each begin, and those after the last.
    source, target: (steps,) the states before and after, counted within their level.
    deadline: (steps,) whose item is taken; free: (steps,) how many there are to take.
    """

    begins: Any
    states: Any
    source: Any
    target: Any
    deadline: Any
    free: Any


@njit(cache=True, nogil=True, error_model="numpy")
def forth(levels, ways, totals):
    """Add up every way to each state; each level sums to 1, and `totals` has what it summed to."""
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
    """Add up every way from each state to the end; the largest of a level is 1."""
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
    """Write the chance that an item of this deadline is taken at level `top`.

    chances: (top - bottom + 1,) for an item that waits from level bottom, bottom + 1, … on.
    room: (2, most states of a level) is written over.
    """
    marked, other = room[0], room[1]
    for level in range(top, bottom - 1, -1):
        here, there = levels.states[level], levels.states[level + 1]
        marked, other = other, marked
        marked[: there - here] = 0.0
        for s in range(levels.begins[level], levels.begins[level + 1]):
            if level < top:
                others = levels.free[s] - (levels.deadline[s] == deadline)
                marked[levels.source[s]] += other[levels.target[s]] * others
            elif levels.deadline[s] == deadline:
                marked[levels.source[s]] += led[there + levels.target[s]]
        found, every = 0.0, 0.0
        for state in range(there - here):
            marked[state] /= peaks[level]
            found += ways[here + state] * marked[state]
            every += ways[here + state] * led[here + state]
        chances[level - bottom] = found / every
