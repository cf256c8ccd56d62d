"""Figures of de Spoelberch, "The limits of information loss metrics as measures for utility", 2020.

Tables 4.1 to 4.5. Its BIRTH is cmc here.
"""

from __future__ import annotations

from studies.metrics.releases import ALGORITHMS, METRICS, TABLES, UTILITIES

# table 4.1, in the order of METRICS, without the last
SINGLE: dict[str, dict[str, float]] = {
    table: dict(zip(METRICS[:11], rates, strict=True))
    for table, rates in {
        "cmc": (0.572, 0.604, 0.716, 0.561, 0.579, 0.622, 0.613, 0.559, 0.573, 0.572, 0.556),
        "ring": (0.593, 0.644, 0.591, 0.587, 0.604, 0.621, 0.573, 0.562, 0.599, 0.605, 0.554),
        "adult": (0.676, 0.572, 0.592, 0.661, 0.589, 0.607, 0.579, 0.621, 0.609, 0.604, 0.552),
        "heart": (0.752, 0.774, 0.768, 0.747, 0.748, 0.872, 0.728, 0.748, 0.748, 0.75, 0.742),
    }.items()
}
# table 4.2
META = {"cmc": 0.763, "ring": 0.649, "adult": 0.667, "heart": 0.883}
# how metrics here differ from those of the document, under the name of the metric
DEPARTURES = {
    "information-loss": "Information loss departs from its source: a range costs its published "
    "bounds over the extent of the column, there the values of its class over the number of "
    "values; a category costs its level, and without a hierarchy, as in Mondrian's releases, all "
    "or nothing.",
    "average-class-size": "Average class size does too: it goes from 0 for the classes of the "
    "original table to 1 for a single class, without k, and a suppressed record counts as one in a "
    "class of all; there it is records over k times classes, over the same of a suppressed table.",
}
Grid = dict[tuple[str, str], float]  # of what it was trained on, and what it is used on


def _grid(names: tuple[str, ...], *rows: tuple[float, ...]) -> Grid:
    """Return a table without its diagonal."""
    return {
        (used, on): rate
        for used, row in zip(names, rows, strict=True)
        for on, rate in zip([name for name in names if name != used], row, strict=True)
    }


# tables 4.3 to 4.5
TRANSFER: dict[str, Grid] = {
    "algorithm": _grid(ALGORITHMS, (0.765, 0.668), (0.823, 0.631), (0.606, 0.607)),
    "table": _grid(
        tuple(TABLES),
        (0.567, 0.583, 0.719),
        (0.696, 0.641, 0.781),
        (0.585, 0.627, 0.75),
        (0.723, 0.671, 0.75),
    ),
    "utility": _grid(
        UTILITIES,
        (0.554, 0.721, 0.507, 0.673, 0.63),
        (0.611, 0.696, 0.696, 0.642, 0.58),
        (0.632, 0.646, 0.627, 0.652, 0.558),
        (0.576, 0.727, 0.685, 0.622, 0.607),
        (0.705, 0.648, 0.708, 0.623, 0.638),
        (0.643, 0.701, 0.723, 0.701, 0.645),
    ),
}
