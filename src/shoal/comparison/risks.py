"""What risk a release leaves, in two figures for a picture.

The prosecutor's highest risk and the marketer's average one: who knows a person's quasi-identifiers
picks one of the records that may be theirs.
El Emam & Dankar, "Protecting privacy using k-anonymity", JAMIA 15(5), 2008.
"""

from __future__ import annotations

import numpy as np

from shoal.core.release import Release


def risks(release: Release) -> dict[str, float]:
    """Return the highest and the average chance to pick the right record, 0 where none is left.

    Records published alike cannot be told apart. Where a model of who may be whom is claimed and
    the classes alone do not keep it, a person has the records that they fit, and for the highest
    risk no more of them than the model reaches.
    """
    classes = release.classes
    if not len(classes):
        return {"highest risk": 0.0, "average risk": 0.0}
    loose = [p for p in release.model.parts if not p.by_class and not p.holds(classes).all()]
    if not loose:
        released = int(classes.sizes.sum())
        return {
            "highest risk": 1 / int(classes.sizes.min()),
            "average risk": len(classes) / released,
        }
    rows = np.flatnonzero(classes.ids >= 0)
    coverage, counts = release.coverage.take(rows), release.original.counts
    fitting = coverage.released()
    reached = min(float(fitting.min()), *(part.level_for(coverage) for part in loose))
    weights = np.ones(len(rows)) if counts is None else counts[rows]
    return {
        "highest risk": 1 / reached,
        "average risk": float((weights / fitting).sum() / weights.sum()),
    }
