"""Samarati: the lowest height with an anonymous node, found by bisection; then least suppression.

Samarati, "Protecting respondents' identities in microdata release", TKDE 13(6), 2001.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.anonymize.lattice.lattice import Node
from shoal.anonymize.lattice.searching import Ground, check_share
from shoal.anonymize.lattice.views import release_at, view
from shoal.core.provenance import Candidate
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.privacy.model import Model


@dataclass(frozen=True, kw_only=True)
class Samarati:
    """Full-domain generalization with the least sum of levels.

    max_suppression: share of records that may be suppressed instead of generalized; never all.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=Samarati(max_suppression=0.1))
    Release(samarati, k-anonymity(k=5), rows=100, classes=4, suppressed=0)
    """

    name: ClassVar[str] = "samarati"
    max_suppression: float = 0.05

    def __post_init__(self) -> None:
        check_share("max_suppression", self.max_suppression)

    def search(self, table: Table, model: Model) -> Release:
        """Return the release that suppresses least at the lowest height with an anonymous node."""
        ground = Ground.of(table, model, self.max_suppression)
        found, evaluated = _lowest(ground)
        if not found:
            raise ground.infeasible()
        return release_at(
            ground.lattice,
            tuple(found[0].node.values()),
            model,
            candidates=found,
            evaluated=evaluated,
            notes=ground.notes,
        )


def _lowest(ground: Ground) -> tuple[list[Candidate], int]:
    """Return the anonymous nodes of the lowest height with any, and the number of evaluated nodes.

    Heights are bisected; if the model is not monotone they are tried one by one from below.
    """
    heights, top = np.indices(ground.lattice.shape).sum(axis=0), sum(ground.lattice.heights)
    low, high, evaluated = 0, top, 0
    found: list[Candidate] = []
    while low <= high:
        height = (low + high) // 2 if ground.monotone else low
        level = [tuple(int(i) for i in node) for node in np.argwhere(heights == height)]
        evaluated += len(level)
        here = _anonymous(ground, level, height / max(top, 1))
        if here and not ground.monotone:
            return here, evaluated
        if here:
            found, high = here, height - 1
        else:
            low = height + 1
    return found, evaluated


def _anonymous(ground: Ground, nodes: list[Node], height: float) -> list[Candidate]:
    """Return the anonymous ones among some nodes, with the least suppression first."""
    kept = []
    for node in nodes:
        if not ground.possible[node]:
            continue
        suppressed = (
            ground.suppressed(node)
            if ground.by_size
            else view(ground.lattice, node, ground.model).suppressed
        )
        if suppressed <= ground.limit:
            kept.append(Candidate(ground.lattice.named(node), height, suppressed))
    return sorted(kept, key=lambda c: (c.suppressed, tuple(c.node.values())))
