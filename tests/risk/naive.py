"""An independent count of what releases give away: loops over single people, no arrays."""

from __future__ import annotations

from collections import Counter


def people(release):
    """Return the row of each released person, a row as often as its count says."""
    counts = release.original.counts
    hidden = release.suppressed
    return [
        row
        for row in range(len(release.original))
        if hidden is None or not hidden[row]
        for _ in range(1 if counts is None else int(counts[row]))
    ]


def look(release, row):
    """Return what is published of a row, None where it is left out."""
    if release.suppressed is not None and release.suppressed[row]:
        return None
    return tuple(recoding.labels[recoding.codes[row]] for recoding in release.recodings.values())


def cells(release, row):
    """Return the codes that each published cell of a row may stand for; all where left out."""
    hidden = look(release, row) is None
    return {
        name: set(range(recoding.column.domain))
        if hidden
        else set(recoding.subsets.members(int(recoding.codes[row])).tolist())
        for name, recoding in release.recodings.items()
    }


def fits(boxes, table, row):
    """Tell whether a person fits cells."""
    return all(int(table[name].codes[row]) in box for name, box in boxes.items())


def by_class(release):
    """Return, for each released person, the rows of the people published alike."""
    every = people(release)
    return [[o for o in every if look(release, o) == look(release, row)] for row in every]


def by_coverage(release):
    """Return, for each released person, the rows whose cells they fit."""
    every = people(release)
    boxes = {row: cells(release, row) for row in every}
    return [[o for o in every if fits(boxes[o], release.original, row)] for row in every]


def values(release, rows, name):
    """Return how often rows show each value."""
    return Counter(int(release.original[name].codes[row]) for row in rows)
