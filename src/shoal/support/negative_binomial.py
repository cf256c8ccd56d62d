"""The expected inverse of a negative binomial count, exactly.

If f people of a class were drawn, each with probability p, the class has F ≥ f people with
probability C(F − 1, f − 1) p^f (1 − p)^(F − f).
Benedetti & Franconi, "Statistical and technological solutions for controlled data dissemination",
1998; Rinott, "On models for statistical disclosure risk estimation", 2003.
"""

from __future__ import annotations

import numpy as np

from shoal.support.arrays import Floats

_MAX_CLOSED = 8  # people up to which the closed form is used, for p below one half
_MAX_TERMS = 2000  # the series needs some 400 at most


def expected_inverse(drawn: Floats, share: Floats) -> Floats:
    """Return E(1/F) for classes of which some people were drawn.

    It is p^f / f · ₂F₁(f, f; f + 1; 1 − p). With x = p / (1 − p), it is x ln(1/p) for f = 1,
    x − x² ln(1/p) for f = 2 and x/2 − x² + x³ ln(1/p) for f = 3; each following value is
    x (1/f − the value before). For p from one half up, where these would lose digits, and for
    larger f it is the series p / f · Σ j! / ((f + 1) … (f + j)) · (1 − p)^j of positive terms.

    Parameters:
        drawn: f, the people who were drawn, 1 or more.
        share: p, the probability that a person is drawn, above 0 and at most 1.

    >>> expected_inverse(np.array([1.0, 2.0]), np.array([0.5, 1.0])).round(6).tolist()
    [0.693147, 0.5]
    """
    f, p = np.asarray(drawn, dtype=np.float64), np.asarray(share, dtype=np.float64)
    found = np.empty(len(f))
    closed = (p < 0.5) & (f <= _MAX_CLOSED)
    found[closed] = _closed(f[closed], p[closed])
    found[~closed] = _series(f[~closed], p[~closed])
    return found


def _closed(f: Floats, p: Floats) -> Floats:
    ratio = p / (1 - p)
    value = -ratio * np.log(p)
    found = value.copy()
    for size in range(2, _MAX_CLOSED + 1):
        value = ratio * (1 / (size - 1) - value)
        found = np.where(f == size, value, found)
    return found


def _series(f: Floats, p: Floats) -> Floats:
    term = np.ones(len(f))
    total = term.copy()
    for j in range(1, _MAX_TERMS):
        term = term * (1 - p) * j / (f + j)
        total += term
        if (term < 1e-17 * total).all():
            break
    return p / f * total
