# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: the released classes that lie nearest to a raw record."""

from __future__ import annotations

from shoal.core.compiling import njit


@njit(cache=True, error_model="numpy")
def nearest_votes(steps, begins, entries, members, starts, own, label, weight, places, room, votes):
    """Share out places among the records nearest to each raw one, its person's left out.

    Records equally near share what is left alike.

    steps: how far each entry lies from a raw value, entry by entry, value after value, column
        after column; begins: (asked, columns) where those of a raw record's value begin.
    entries: (columns, classes) of each class; members: (classes, labels) its records.
    starts: (asked + 1,) where the released rows of a raw record's person begin in the next three.
    own, label, weight: (rows of people,) the class, the label and the records of each.
    places: how many neighbours a raw record has.
    room: (classes,) distances; votes: (asked, labels), zeros, which take the answer.

    While a raw record is asked about, its person's records are taken out of `members`.
    """
    columns, classes = entries.shape
    labels = members.shape[1]
    for place in range(len(begins)):
        for row in range(starts[place], starts[place + 1]):
            members[own[row], label[row]] -= weight[row]
        room[:] = 0
        for column in range(columns):
            begin = begins[place, column]
            for one in range(classes):
                room[one] += steps[begin + entries[column, one]]
        left = float(places)
        beyond = -1
        while left > 0:
            near = -1
            for one in range(classes):
                if room[one] > beyond and (near < 0 or room[one] < near):
                    near = room[one]
            if near < 0:
                break
            there = 0.0
            for one in range(classes):
                if room[one] == near:
                    for each in range(labels):
                        there += members[one, each]
            if there > 0:
                share = min(left / there, 1.0)
                for one in range(classes):
                    if room[one] == near:
                        for each in range(labels):
                            votes[place, each] += share * members[one, each]
                left -= share * there
            beyond = near
        for row in range(starts[place], starts[place + 1]):
            members[own[row], label[row]] += weight[row]
