"""Datafly: generalize the column with the most values until few records violate the model.

Greedy: fast, always terminates, rarely optimal.
Sweeney, "Achieving k-anonymity privacy protection using generalization and suppression",
IJUFKS 10(5), 2002; as described by de Spoelberch (2020), algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from shoal.anonymize.lattice.lattice import Lattice
from shoal.anonymize.lattice.searching import check_share
from shoal.anonymize.lattice.views import most_suppressed, release_at, view
from shoal.core.release import Release
from shoal.core.table import Table
from shoal.errors import Infeasible
from shoal.privacy.model import Model
from shoal.support.wording import counted


@dataclass(frozen=True, kw_only=True)
class Datafly:
    """Full-domain generalization, one column per step.

    max_suppression: share of records that may be suppressed instead of generalized; by default the
        paper's rule, at most k records.

    >>> import shoal
    >>> table = shoal.datasets.patients(100)
    >>> shoal.anonymize(table, k=5, method=Datafly(max_suppression=0.1))
    Release(datafly, k-anonymity(k=5), rows=100, classes=4, suppressed=0)
    """

    name: ClassVar[str] = "datafly"
    max_suppression: float | None = None

    def __post_init__(self) -> None:
        if self.max_suppression is not None:
            check_share("max_suppression", self.max_suppression)

    def search(self, table: Table, model: Model) -> Release:
        """Return the first release on the greedy path that meets the model."""
        lattice = Lattice.of(table)
        node, steps = [0] * len(lattice.columns), 0
        limit = self._limit(lattice, model)
        while True:
            found = view(lattice, node, model)
            steps += 1
            if found.suppressed <= limit and found.kept.any():
                return release_at(lattice, node, model, evaluated=steps)
            coarser = [j for j, top in enumerate(lattice.heights) if node[j] < top]
            if not coarser:
                raise Infeasible(
                    f"{model} cannot be met: {found.suppressed:,} of "
                    f"{counted(table.records, 'record')} break it even if every "
                    "column is fully generalized"
                )
            values = [len(np.unique(codes)) for codes in lattice.codes(node, found.tuples)]
            node[max(coarser, key=lambda j: values[j])] += 1

    def _limit(self, lattice: Lattice, model: Model) -> int:
        if self.max_suppression is not None:
            return most_suppressed(lattice, self.max_suppression)
        return model.least_size if model.least_size > 1 else 0
