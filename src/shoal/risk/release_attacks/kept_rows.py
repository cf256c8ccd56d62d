"""Rows kept raw: a few released rows that show every quasi-identifier exactly and stand alone.

In a release of generalized classes a single such row isolates a person, although one success among
thousands of predicates is within chance. So these rows are a way to attack of their own. Their
control group is not the same rows tried on other people, which a single row cannot decide, but the
rows of people who were not released: how often such a row fits exactly one released person. The
comparison assumes that a row without a person behind it looks like the row of some other person. A
table of many exact rows may be synthetic and more typical than people are; there the other ways to
attack count, which do not assume this.
"""

from __future__ import annotations

import numpy as np

from shoal.risk.release_attacks.estimates import Trial
from shoal.risk.release_attacks.predicates import Crowd, from_rows, of_people
from shoal.risk.release_attacks.sources import Sources

KEPT = "rows kept raw"
_MAX_ROWS = 30  # more exact rows look like a synthetic table


def try_kept_rows(
    sources: Sources, crowds: list[Crowd], attacks: int, rng: np.random.Generator
) -> Trial | None:
    """Return the trial with rows that are released once and show exact values, None if none are.

    Parameters:
        crowds: The people of the original, and those of the control group if there are any.
        attacks: The maximum number of people of the control group to compare with.
    """
    cells = list(sources.quasi.values())
    once = sources.distinct.first[sources.distinct.sizes() == 1]
    entries = np.stack([column.codes[once] for column in cells], axis=1)
    exact = np.stack([c.sizes[e] == 1 for c, e in zip(cells, entries.T, strict=True)], axis=1)
    entries = entries[exact.all(axis=1)]
    if not 0 < len(entries) <= _MAX_ROWS:
        return None
    predicates = from_rows(cells, entries, np.ones(entries.shape, dtype=np.bool_))
    fits = crowds[0].count(predicates) == 1
    if len(crowds) == 1:
        return Trial(KEPT, int(fits.sum()), len(fits), 0, 0, 0.0) if len(fits) else None
    fits &= crowds[1].count(predicates) == 0
    people = of_people(cells, sources.draw(attacks, rng, control=True))
    others = (crowds[0].count(people) == 1) & (crowds[1].count(people) == 1)
    blind = float(others.mean())
    return Trial(KEPT, int(fits.sum()), len(fits), int(others.sum()), len(others), blind)
