# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: the released classes that lie nearest to a raw record."""

from __future__ import annotations

from shoal.core.compiling import njit


@njit(cache=True, error_model="numpy")
def nearest_votes(steps, begins, entries, members, asked, own, labels, places, room, votes):
    """Share out places among the records nearest to each raw one, itself left out.

    Records equally near share what is left alike.

    steps: how far each entry lies from a raw value, entry by entry, value after value, column
        after column; begins: (asked, columns) where those of a raw record's value begin.
    entries: (columns, classes) of each class; members: (classes, labels) its records.
    asked: (asked,) the class of each raw record, −1 if it was not released; own: its label.
    labels: how many there are; places: how many neighbours a raw record has.
    room: (classes,) to work in; votes: (asked, labels), zeros, which take the answer.
    """
    columns, classes = entries.shape
    for place in range(len(asked)):
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
                    for label in range(labels):
                        there += members[one, label]
                    if one == asked[place]:
                        there -= 1.0
            if there > 0:
                share = min(left / there, 1.0)
                for one in range(classes):
                    if room[one] == near:
                        for label in range(labels):
                            votes[place, label] += share * members[one, label]
                        if one == asked[place]:
                            votes[place, own[place]] -= share
                left -= share * there
            beyond = near
