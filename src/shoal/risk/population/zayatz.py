"""Zayatz: population classes are assumed to have the sizes of the sample classes.

Needs no fit; overestimates if the sample is small.
Zayatz, "Estimation of the number of unique population elements using a sample", ASA, 1991.
"""

from __future__ import annotations

import numpy as np

from shoal.risk.population.frequencies import Frequencies
from shoal.support.arrays import Floats, weighted_sum


def stays_alone(sample: Frequencies, people: float) -> float:
    """Return the probability that a sample unique is a population unique, by Bayes' rule.

    P(F = 1 | f = 1) = p(1)·P(f = 1 | F = 1) / Σ p(j)·P(f = 1 | F = j), p(j) the share of sample
    classes of size j, f hypergeometric: a class of F among N people, n of them drawn.
    """
    if not sample.uniques:
        return 0.0
    drawn = _drawn_once(sample, people)
    alone = sample.uniques * sample.records / people
    return alone / weighted_sum(drawn, sample.classes)


def _drawn_once(sample: Frequencies, people: float) -> Floats:
    """Return P(f = 1 | F = j) for each size j: j·C(N − j, n − 1) / C(N, n)."""
    from scipy.special import gammaln

    j, n = sample.sizes.astype(np.float64), float(sample.records)
    rest = people - n  # not drawn; at least j − 1 of them must be in the class
    possible = j - 1 <= rest + 1e-9
    left = np.where(possible, rest - j + 2, 1.0)
    log = gammaln(people - j + 1) - gammaln(n) - gammaln(left)
    log -= gammaln(people + 1) - gammaln(n + 1) - gammaln(rest + 1)
    return np.asarray(np.where(possible, j * np.exp(log), 0.0), dtype=np.float64)
