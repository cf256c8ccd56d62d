"""Losses of all classes of a small table, measured on published cells, and the best division."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from hypothesis import strategies as st
from tests.methods.partition.plain import tables

from shoal import KAnonymity, metrics
from shoal.release.release import Release


def class_losses(table, k, *, use_hierarchies=False, largest=None):
    """Return the loss of every class of k records or more, by the rows in it."""
    found = {}
    for size in range(k, (largest or len(table)) + 1):
        for rows in combinations(range(len(table)), size):
            found[rows] = size * published_loss(table.take(list(rows)), k, use_hierarchies)
    return found


def published_loss(rows, k, use_hierarchies):
    """Return the loss of a record if these rows are one class."""
    ids = np.zeros(len(rows), dtype=np.int32)
    release = Release.of_groups(rows, ids, 1, KAnonymity(k), use_hierarchies=use_hierarchies)
    return metrics.gcp(release)


def best_division(rows, losses):
    """Return the least loss of a division of all rows into classes, by trying all of them."""
    if not rows:
        return 0.0
    least = np.inf
    for members, loss in losses.items():
        if members[0] == rows[0] and loss < least and set(members) <= set(rows):
            rest = tuple(row for row in rows if row not in members)
            least = min(least, loss + best_division(rest, losses))
    return least


@st.composite
def small_tables(draw):
    """A table of a few rows, and k."""
    table = draw(tables(least=4, most=8))
    return table, draw(st.sampled_from([2, 3]))
