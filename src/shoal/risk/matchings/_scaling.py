# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernels: sweeps of Sinkhorn scaling, and rounds of messages between types and classes.

    sweep_dense, sweep_edges   one sweep that brings the sums of rows, then of columns, to 1
    gather → send              one round of messages from classes to types and back

The scaled matrix is never stored during sweeps: its entry (i, j) is weights[i, j] · rows[i] ·
columns[j]. Edges are listed row by row, or type by type: those of type t lie at indptr[t] …
indptr[t + 1]. `indices` has the class of each edge; it is empty if every type has all classes, and
then edge e of type t leads to class e − indptr[t]. Each edge has one message upward, from its class
to its type; messages downward follow from those and are not stored. Sums leave out their largest
term and keep it separately, so that the sum of the other messages never is a difference of nearly
equal numbers.
"""

from __future__ import annotations

from shoal.support.compiling import njit


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_dense(weights, rows, columns, sums):
    """Set the factors of rows, then those of columns; return the largest error of a row before.

    weights: (size, size) read. rows, columns: (size,) factors, replaced.
    sums: (size,) scratch: the sums of columns with the new factors of rows.
    Invariant: rows before i have their new factor, and `sums` includes exactly those rows. After
    the sweep the sums of columns are 1.
    """
    size = len(rows)
    worst = 0.0
    sums[:] = 0.0
    for i in range(size):
        # four independent sums, so that no addition waits for the one before
        one, two, three, four = 0.0, 0.0, 0.0, 0.0
        for j in range(0, size - 3, 4):
            one += weights[i, j] * columns[j]
            two += weights[i, j + 1] * columns[j + 1]
            three += weights[i, j + 2] * columns[j + 2]
            four += weights[i, j + 3] * columns[j + 3]
        for j in range(size - size % 4, size):
            one += weights[i, j] * columns[j]
        total = (one + two) + (three + four)
        worst = max(worst, abs(rows[i] * total - 1.0))
        rows[i] = 1.0 / total
        for j in range(size):
            sums[j] += weights[i, j] * rows[i]
    for j in range(size):
        columns[j] = 1.0 / sums[j]
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def sweep_edges(edges, rows, columns, sums):
    """As `sweep_dense`, for entries listed row by row."""
    size = len(rows)
    worst = 0.0
    sums[:] = 0.0
    for i in range(size):
        first, last = edges.indptr[i], edges.indptr[i + 1]
        total = 0.0
        for e in range(first, last):
            total += edges.weights[e] * columns[edges.indices[e]]
        worst = max(worst, abs(rows[i] * total - 1.0))
        rows[i] = 1.0 / total
        for e in range(first, last):
            sums[edges.indices[e]] += edges.weights[e] * rows[i]
    for j in range(size):
        columns[j] = 1.0 / sums[j]
    return worst


@njit(cache=True, nogil=True, error_model="numpy")
def apply_dense(weights, rows, columns, scaled):
    """Write the entries times the factors of their row and column."""
    for i in range(len(rows)):
        for j in range(len(columns)):
            scaled[i, j] = weights[i, j] * rows[i] * columns[j]


@njit(cache=True, nogil=True, error_model="numpy")
def apply_edges(edges, rows, columns, scaled):
    """As `apply_dense`, for entries listed row by row."""
    for i in range(len(rows)):
        for e in range(edges.indptr[i], edges.indptr[i + 1]):
            scaled[e] = edges.weights[e] * rows[i] * columns[edges.indices[e]]


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
    # down: a type sends each class its weight over the sum of the messages from all other classes
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
    # up: computed again edge by edge from the same messages, so that no second array is needed
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
