"""How many records may be a person's, before and after, as the report tells and draws it."""

from __future__ import annotations

from typing import Any

import numpy as np

from shoal.core.arrays import Counts
from shoal.core.classes import Classes
from shoal.core.release import Release
from shoal.report.masking import Mask, rounded
from shoal.risk.reidentification import Reidentification

MOST_BARS = 15


def uniqueness(
    release: Release, found: Reidentification, k: int, mask: Mask
) -> list[dict[str, Any]]:
    """Return, before and after, how many people are alone, or among fewer than k alike."""
    before = Reidentification.of_classes(Classes.by_quasi(release.original))
    sides = [(name, one.sizes, one.weights) for name, one in (("before", before), ("after", found))]
    told = []
    for side, sizes, weights in sides:
        people = int(weights.sum())
        alone, few = (int(weights[sizes < size].sum()) for size in (2, k))
        told.append(
            {
                "side": side,
                "alone": mask.count(alone, people),
                "alone_share": mask.share(alone, people),
                "below_k": mask.count(few, people),
                "below_k_share": mask.share(few, people),
                "average": rounded(float((sizes * weights).sum()) / max(people, 1)),
            }
        )
    return told


def size_bars(found: Reidentification, mask: Mask) -> list[dict[str, Any]]:
    """Return how many classes, or people, have how many candidates; the last bar may be open.

    The share of a bar is that of the people whose smallest class it counts. Classes can be counted
    in the release. People by whom they fit cannot, so few of them are not told apart from the next.
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
    """(bars,) the weights of the sizes that fall into each bar."""
    place = np.searchsorted(edges, sizes, side="right") - 1
    return np.bincount(place, weights, len(edges)).astype(np.int64)


def _edges(least: int, greatest: int) -> list[int]:
    """Return where bars begin: at every size; of many, at round ones such as 1, 2, 5, 10."""
    if greatest - least < MOST_BARS:
        return list(range(least, greatest + 1))
    round_ones = (step * 10**power for power in range(19) for step in (1, 2, 5))
    return [least, *(size for size in round_ones if least < size <= greatest)]


def _joined(edges: list[int], heights: list[int], least: int) -> list[int]:
    """Return the edges of bars of at least so many people, each joined to the next if too few."""
    kept: list[int] = []
    held = 0
    for edge, height in zip(edges, heights, strict=True):
        if not kept or held >= least:
            kept.append(edge)
            held = 0
        held += height
    return kept if held >= least or len(kept) < 2 else kept[:-1]
