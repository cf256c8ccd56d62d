"""Figures of Li, as published in 2019.

Li, "Improving a de-identification algorithm that achieves both k-anonymity and differential
privacy", 2019, chapter 5.
"""

from __future__ import annotations

# table 5.6; the second published table, IPUMS, is not among the tables here
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
# table 5.2, on adult: accuracy with six attributes, and the share of the drawn rows that is kept
SIX = {"raw": 0.819, "safe-la, published": 0.752, "majority": 0.754}
SIX_KEPT = 19_518 / 21_113
# tables 5.1 and 5.5: what 1 stands for, and δ by k, for each β
BETAS = (0.60, 0.65, 0.70, 0.75, 0.80)
DELTAS: dict[str, tuple[float, dict[int, str]]] = {
    "adult": (
        1e-5,
        {
            55: "1.59 2.40 5.00 9.72 34.4",
            60: "0.71 1.29 3.30 9.72 13.2",
            65: "0.32 0.80 1.12 3.09 6.73",
            70: "0.14 0.26 0.74 1.23 6.73",
            75: "0.06 0.11 0.25 1.23 3.86",
            80: "0.03 0.07 0.17 0.39 1.51",
        },
    ),
    "ipums": (
        1e-6,
        {
            75: "0.64 1.05 2.53 12.3 38.6",
            80: "0.29 0.65 1.68 3.93 15.1",
            85: "0.13 0.30 0.58 1.59 5.86",
        },
    ),
}
DELTA_ROWS = {"adult": 30_162, "ipums": 141_634}
