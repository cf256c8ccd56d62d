"""Reidentification: how likely somebody picks the right record who knows a person.

Who knows the quasi-identifiers of a person in the release, as a prosecutor may, picks one of the
records that may be theirs: the fewer these are, the greater the risk.
El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from shoal.core.arrays import Counts
from shoal.core.release import Release
from shoal.risk.candidates import loose_parts


@dataclass(frozen=True, eq=False)
class Reidentification:
    """How many released records may be whose.

    by_class: whether the guarantee rests on classes; if not, on whom each record fits.
    sizes, weights: one pair for each class, or row: its candidates, the people who have as many.
    fewest: candidates of the person worst off, 0 where nobody is released.
    """

    by_class: bool
    sizes: Counts
    weights: Counts
    fewest: float

    @classmethod
    def of(cls, release: Release) -> Reidentification:
        """Count them: people published alike, or where classes do not settle it, who fits whom.

        In the latter case nobody is said to have more of them than the model reaches.
        """
        classes, loose = release.classes, loose_parts(release)
        if not loose:
            fewest = int(classes.sizes.min()) if len(classes) else 0
            return cls(True, classes.sizes, classes.sizes, float(fewest))
        rows = np.flatnonzero(classes.ids >= 0)
        coverage, counts = release.coverage.take(rows), release.original.counts
        fitting = coverage.released()
        weights = np.ones(len(rows), dtype=np.int64) if counts is None else counts[rows]
        reached = min(float(fitting.min()), *(part.level_for(coverage) for part in loose))
        return cls(False, fitting, weights, reached)

    def __repr__(self) -> str:
        return f"Reidentification(people={self.people}, fewest={self.fewest:g})"

    @property
    def people(self) -> int:
        """Released records."""
        return int(self.weights.sum())

    @property
    def highest_risk(self) -> float:
        """The chance to pick the right record of the person worst off, 0 where there is none."""
        return 1 / self.fewest if self.fewest else 0.0

    @property
    def average_risk(self) -> float:
        """The chance to pick the right record, averaged over people, 0 where there are none."""
        return float((self.weights / self.sizes).sum() / self.people) if self.people else 0.0
