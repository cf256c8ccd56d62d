"""Figures of Li, as published in 2019.

Li, "Improving a de-identification algorithm that achieves both k-anonymity and differential
privacy", 2019, chapter 5.
"""

from __future__ import annotations

# tables 5.2 and 5.6; the second published table, IPUMS, is not among the tables here
ACCURACY: dict[str, dict[str, float]] = {
    "adult": {
        "majority": 0.754,
        "raw": 0.830,
        "ola": 0.770,
        "safe-la, published": 0.759,
        "FLR, published": 0.530,
    },
}
# table 5.7
SECONDS: dict[str, dict[str, float]] = {
    "adult": {
        "raw": 0.24,
        "ola": 3491.57,
        "safe-la, published": 2491.76,
        "FLR, published": 0.082,
    },
}
COLUMNS = {"raw": 100, "ola": 63, "safe-la, published": 19, "FLR, published": 100}  # on adult
# table 5.3, seconds by attributes: every node counted, and every other row guessed
LATTICE_SECONDS = {
    4: (5.404, 4.217),
    6: (19.279, 11.480),
    8: (258.358, 141.733),
    10: (2473.51, 1336.08),
}
INTERPOLATED = (0.7592, 0.7576)  # table 5.4: without and with
GOOD = {4: (0.8, 0.01), 6: (0.3, 0.02)}  # figure 5.1 at ε′ = 0.5: chance, and penalty in percent
GOOD_ON_SECOND = (1.0, 0.03)  # figure 5.5, the same of the second table
