# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: one round of messages between records and slots."""

from __future__ import annotations

from shoal.support.compiling import njit

LEAST = 1e-300  # stands for nothing in a quotient


@njit(cache=True, nogil=True, error_model="numpy")
def gather(indptr, indices, capacity, upward, rest, best):
    """Sum the messages to each type, but for its largest.

    upward: (edges,) messages to a type. rest, best: (types,) the sum without the largest, and its
    edge, so that no difference of nearly equal numbers is taken.
    """
    for row in range(len(rest)):
        start, stop = indptr[row], indptr[row + 1]
        top, most, total = start, -1.0, 0.0
        for e in range(start, stop):
            if upward[e] > most:
                top, most = e, upward[e]
        for e in range(start, stop):
            slots = capacity[indices[e] if len(indices) else e - start]
            total += (slots - (e == top)) * upward[e]
        rest[row], best[row] = total, top


@njit(cache=True, nogil=True, error_model="numpy")
def send(indptr, indices, weights, people, upward, rest, best, others, top, largest):
    """Send each type's messages down, and each class's up again, in place.

    others, top, largest: (classes,) the sum of messages without the largest, it, and its edge.
    Return how far the chances that types and classes see are apart: 0 where nothing changed.
    """
    others[:], top[:], largest[:] = 0.0, 0.0, -1
    for row in range(len(rest)):
        start, most = indptr[row], upward[best[row]]
        for e in range(start, indptr[row + 1]):
            c = indices[e] if len(indices) else e - start
            without = rest[row] if e == best[row] else rest[row] + most - upward[e]
            down = weights[e] / max(without, LEAST)
            if down > top[c]:
                others[c] += top[c] + (people[row] - 1) * down
                top[c], largest[c] = down, e
            else:
                others[c] += people[row] * down
    apart = 0.0
    for row in range(len(rest)):
        start, most = indptr[row], upward[best[row]]
        for e in range(start, indptr[row + 1]):
            c = indices[e] if len(indices) else e - start
            without = rest[row] if e == best[row] else rest[row] + most - upward[e]
            down = weights[e] / max(without, LEAST)
            left = others[c] if e == largest[c] else others[c] + top[c] - down
            apart = max(apart, abs(upward[e] / (rest[row] + most) - down / (others[c] + top[c])))
            upward[e] = weights[e] / max(left, LEAST)
    return apart
