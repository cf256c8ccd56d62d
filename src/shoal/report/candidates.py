"""How many records match each person, before and after anonymization."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.classes import Classes
from shoal.core.release import Release
from shoal.report.masking import Mask, rounded
from shoal.risk.reidentification import Reidentification
from shoal.support.arrays import Counts

MAX_BARS = 15


def uniqueness(
    release: Release,
    found: Reidentification,
    k: int,
    mask: Mask,
    before: tuple[Counts, Counts] | None = None,
) -> list[dict[str, Any]]:
    """Return, before and after, how many people are unique or match fewer than k records.

    before: the sizes of the original tuples, and how many have each, if the rows do not show them.
    """
    if before is None:
        original = Reidentification.of_classes(Classes.by_quasi(release.original))
        before = original.sizes, original.weights
    else:
        before = before[0], before[0] * before[1]
    sides = [("before", *before), ("after", found.sizes, found.weights)]
    counts = []
    for side, sizes, weights in sides:
        people = int(weights.sum())
        alone, few = (int(weights[sizes < size].sum()) for size in (2, k))
        counts.append(
            {
                "side": side,
                "alone": mask.count(alone, people),
                "alone_share": mask.share(alone, people),
                "below_k": mask.count(few, people),
                "below_k_share": mask.share(few, people),
                "average": rounded(float((sizes * weights).sum()) / max(people, 1)),
            }
        )
    return counts


def size_bars(found: Reidentification, mask: Mask) -> list[dict[str, Any]]:
    """Return how many classes, or people, have each number of candidates; the last bar may be open.

    The share of a bar is the share of people whose smallest class it counts. Anyone can count the
    classes of a release. People by number of candidates cannot be counted there, so bars of few
    people are merged with the next.
    """
    if not len(found.sizes):
        return []
    sizes = found.class_sizes if found.by_class else found.sizes
    edges = _edges(int(sizes.min()), int(sizes.max()))
    people = _heights(edges, found.sizes, found.weights)
    heights = _heights(edges, sizes, np.ones_like(sizes))
    if not found.by_class:
        edges = _joined(edges, people.tolist(), mask.least)
        heights = people = _heights(edges, sizes, found.weights)
    ends: list[int | None] = [edge - 1 for edge in edges[1:]]
    ends.append(edges[-1] if int(sizes.max()) == edges[-1] else None)
    return [
        {
            "from": edges[bar],
            "to": ends[bar],
            "number": int(heights[bar]),
            "share": rounded(people[bar] / max(found.people, 1)),
        }
        for bar in range(len(edges))
    ]


def _heights(edges: list[int], sizes: Counts, weights: Counts) -> Counts:
    """Return, for each bar, the total weight of the sizes in it."""
    bar = np.searchsorted(edges, sizes, side="right") - 1
    return np.bincount(bar, weights, len(edges)).astype(np.int64)


def _edges(least: int, greatest: int) -> list[int]:
    """Return where bars begin: at every size, or at 1, 2, 5, 10, … if there are many sizes."""
    if greatest - least < MAX_BARS:
        return list(range(least, greatest + 1))
    round_ones = (step * 10**power for power in range(19) for step in (1, 2, 5))
    return [least, *(size for size in round_ones if least < size <= greatest)]


def _joined(edges: list[int], heights: list[int], least: int) -> list[int]:
    """Return the edges after merging each bar with fewer than `least` people into the next."""
    kept: list[int] = []
    held = 0
    for edge, height in zip(edges, heights, strict=True):
        if not kept or held >= least:
            kept.append(edge)
            held = 0
        held += height
    return kept if held >= least or len(kept) < 2 else kept[:-1]
