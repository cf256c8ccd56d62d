# mypy: allow-untyped-defs, allow-untyped-calls, allow-untyped-decorators
"""Kernel: the released classes that lie nearest to a raw record."""

from __future__ import annotations

from shoal.support.compiling import njit


@njit(cache=True, error_model="numpy")
def nearest_votes(
    steps, begins, entries, members, starts, own, label, weight, neighbours, distance, votes
):
    """Distribute the votes of each raw record among its nearest records, its own person's excluded.

    Records at the same distance share the remaining votes equally.

    steps: distance of each entry from each raw value: entries adjacent, value after value, column
        after column.
    begins: (tests, columns) offset in `steps` of the distances of a raw record's value.
    entries: (columns, classes) entry of each class.
    members: (classes, labels) number of records.
    starts: (tests + 1,) offset of the rows of a raw record's person in the next three arrays.
    own, label, weight: (rows of people,) class, label and number of records of each row.
    neighbours: number of votes of a raw record.
    distance: (classes,) scratch: distance of each class from the raw record.
    votes: (tests, labels) zeros, receives the result.

    Invariants: while a raw record is processed, its person's records are removed from `members`.
    All records up to the distance `beyond` have their votes, and `left` votes remain.
    """
    columns, classes = entries.shape
    labels = members.shape[1]
    for test in range(len(begins)):
        for row in range(starts[test], starts[test + 1]):
            members[own[row], label[row]] -= weight[row]
        distance[:] = 0
        for column in range(columns):
            begin = begins[test, column]
            for one in range(classes):
                distance[one] += steps[begin + entries[column, one]]
        # distances are few and whole: visit them in ascending order until all votes are given
        left = float(neighbours)
        beyond = -1
        while left > 0:
            near = -1
            for one in range(classes):
                if distance[one] > beyond and (near < 0 or distance[one] < near):
                    near = distance[one]
            if near < 0:
                break
            there = 0.0
            for one in range(classes):
                if distance[one] == near:
                    for each in range(labels):
                        there += members[one, each]
            if there > 0:
                share = min(left / there, 1.0)
                for one in range(classes):
                    if distance[one] == near:
                        for each in range(labels):
                            votes[test, each] += share * members[one, each]
                left -= share * there
            beyond = near
        for row in range(starts[test], starts[test + 1]):
            members[own[row], label[row]] += weight[row]
