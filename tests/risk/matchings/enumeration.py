"""An independent count of matchings: one after the other, in exact fractions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st


def matchings(matrix):
    """Give each perfect matching of the positive entries with its weight."""
    rows = [[(j, Fraction(x)) for j, x in enumerate(row) if x] for row in exactly(matrix)]

    def extend(chosen, weight):
        if len(chosen) == len(rows):
            yield tuple(chosen), weight
            return
        for column, entry in rows[len(chosen)]:
            if column not in chosen:
                yield from extend([*chosen, column], weight * entry)

    return extend([], Fraction(1))


def exactly(matrix):
    """Return the entries as fractions, of floats to their last bit."""
    return [[Fraction(x) for x in row] for row in np.asarray(matrix).tolist()]


class Enumerated:
    """All matchings of a small matrix."""

    def __init__(self, matrix):
        self.size = len(matrix)
        self.found = list(matchings(matrix))
        self.permanent = sum((weight for _, weight in self.found), Fraction(0))

    def marginals(self):
        """Return for each row the probability of each column."""
        shares = [[Fraction(0)] * self.size for _ in range(self.size)]
        for matching, weight in self.found:
            for row, column in enumerate(matching):
                shares[row][column] += weight
        return [[share / self.permanent for share in row] for row in shares]

    def cracks(self, mapping):
        """Return for each row the probability of its true column."""
        return [row[column] for row, column in zip(self.marginals(), mapping, strict=True)]

    def flat(self):
        """Tell whether all weights are equal."""
        return len({weight for _, weight in self.found}) <= 1


def near(value, fraction, error=1e-12):
    """Tell whether a float is a fraction, but for a small relative error."""
    return math.isclose(value, float(fraction), rel_tol=error, abs_tol=1e-300)


@st.composite
def attacks(draw, most=6, kinds=("zeros and ones", "sparse", "stochastic", "repeated", "wild")):
    """Draw a matrix and a mapping; it may have no perfect matching."""
    size = draw(st.integers(1, most))
    kind = draw(st.sampled_from(kinds))
    seed = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    share = draw(st.sampled_from([0.3, 0.6, 1.0]))
    matrix = (seed.random((size, size)) < share).astype(float)
    if kind == "sparse":
        matrix *= seed.integers(1, 9, matrix.shape) / 8
    elif kind == "stochastic":
        matrix = seed.random(matrix.shape) * matrix + np.eye(size)
        matrix /= matrix.sum(axis=1, keepdims=True)
    elif kind == "repeated":
        few = seed.integers(0, 4, (2, 2)).astype(float)
        matrix = few[seed.integers(0, 2, size)][:, seed.integers(0, 2, size)]
    elif kind == "wild":
        matrix *= 10.0 ** seed.integers(-40, 40, matrix.shape)
    return matrix, seed.permutation(size)


# rows Flu, Viral Fever, Cold, Asthma, Tuberculosis; columns u v x y z
TRUE = (2, 3, 4, 0, 1)
WORKED = {  # Malik's examples: entries, permanent, expected cracks
    "00111 01011 01001 10100 11000": (4, Fraction(7, 4)),
    "11110 10010 10001 11111 11000": (7, Fraction(3)),
    "00111 00111 11111 11111 11111": (36, Fraction(13, 9)),
}


def worked(text):
    """Return the matrix of a worked example."""
    return [[int(digit) for digit in row] for row in text.split()]


def hundredths(*rows):
    """Return a matrix of floats that are given in hundredths."""
    return [[entry / 100 for entry in row] for row in rows]


# Malik's Figure 3.4(b) with .02 for (Tuberculosis, y): as printed, row and column sum to 1.03
UNEVEN = hundredths(
    (0, 0, 57, 40, 3),
    (0, 0, 30, 23, 47),
    (34, 29, 3, 30, 4),
    (29, 52, 8, 5, 6),
    (37, 19, 2, 2, 40),
)
FLAT = [[0, 0, 1 / 3, 1 / 3, 1 / 3]] * 2 + [[1 / 3, 1 / 3, 1 / 9, 1 / 9, 1 / 9]] * 3
