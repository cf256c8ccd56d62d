# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: the released classes that lie nearest to a raw record."""

from __future__ import annotations

from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def nearest_votes(steps, begins, entries, members, starts, own, label, weight, places, room, votes):
    """Distribute the votes of each raw record among its nearest records, its own person's excluded.

    Records at the same distance share the remaining votes equally.

    steps: distance of each entry from a raw value, by entry, then by value, then by column;
        begins: (asked, columns) offset of the distances of a raw record's value.
    entries: (columns, classes) entry of each class; members: (classes, labels) number of records.
    starts: (asked + 1,) offset of the rows of a raw record's person in the next three arrays.
    own, label, weight: (rows of people,) class, label and number of records of each row.
    places: number of neighbours of a raw record.
    room: (classes,) scratch array for distances; votes: (asked, labels) zeros, receives the result.

    Invariant: while a raw record is processed, its person's records are removed from `members`.
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
