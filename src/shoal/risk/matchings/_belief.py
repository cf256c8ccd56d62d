# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: one round of messages between types of records and classes of slots.

Edges are listed type by type: those of type t lie at indptr[t] … indptr[t + 1]. `indices` has the
class of each edge; it is empty if every type has all classes, and then edge e of type t leads to
class e − indptr[t]. Each edge has one message upward, from its class to its type; messages downward
follow from those and are not stored. Sums leave out their largest term and keep it separately, so
that the sum of the other messages never is a difference of nearly equal numbers.
"""

from __future__ import annotations

from shoal.support.compiling import njit

LEAST = 1e-300  # replaces 0 as a divisor


@njit(cache=True, nogil=True, error_model="numpy")
def gather(indptr, indices, capacity, upward, rest, best):
    """Sum the messages to each type, without the largest.

    capacity: (classes,) slots of each class. upward: (edges,) messages to types, read.
    rest: (types,) written, the sum of the messages without the largest; a message counts once for
        each slot of its class, the largest one slot less.
    best: (types,) written, the edge of the largest message.
    Invariant: rest[t] and best[t] are final for all types before `row`.
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
    """Send the messages of all types down, and those of all classes up again.

    weights: (edges,). people: (types,) records of each type. rest, best: (types,) from `gather`.
    upward: (edges,) messages to types; replaced edge by edge in the second pass.
    others, top, largest: (classes,) scratch: the sum of the messages to a class without the
        largest, the largest, and its edge.
    Return the largest difference between the probabilities that types and classes give an edge.
    Invariant of the first pass: others[c] + top[c] is the sum of the messages that the types so far
    send to class c. Invariant of the second: the messages of the types so far are replaced, and
    nothing that a later type reads has changed.
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
