"""Bands such as `20-29`, `[0-10)`, `65+` or `Under 5`, and their order."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise

_N = r"(-?\d+(?:\.\d+)?)\s*([km]?)"
_UNITS = r"\b(years?|yrs?|y/?o|old|ages?|aged|jahre?|ans|anos|eur|usd|gbp|kg|cm|mm|days?|months?)\b"
_RANGE = re.compile(
    rf"[\[(\]]?\s*{_N}\s*(?:-|–|—|−|/|,|;|to|through|bis|a|until|and under)\s*"
    rf"(?:<|under|less than)?\s*{_N}\s*[\])\[]?"
)
_BELOW = re.compile(
    rf"(?:<=?|≤|under|below|less than|up to|at most|younger than|fewer than|unter)\s*{_N}"
    rf"|{_N}\s*(?:and|or|&|und)\s*(?:under|below|less|younger|fewer|lower|juenger)"
)
_ABOVE = re.compile(
    rf"(?:>=?|≥|over|above|more than|at least|older than|greater than|ueber|über|ab)\s*{_N}"
    rf"|{_N}\s*(?:\+|plus|(?:and|or|&|und)\s*(?:over|above|more|older|up|upwards?|greater|higher"
    r"|aelter|mehr))"
)
_ONE = re.compile(_N)
_SCALE = {"": 1.0, "k": 1e3, "m": 1e6}


def band(text: str) -> tuple[float, float] | None:
    """Return the ends of a band, or None if the text is not a band; a number is a band.

    >>> band("20 to 29 Years"), band("$10,000 - $19,999"), band("85 and over"), band("red")
    ((20.0, 29.0), (10000.0, 19999.0), (85.0, inf), None)
    """
    plain = re.sub(r"(?<=\d)[,'](?=\d{3}\b)", "", text.strip().casefold())
    plain = re.sub(r"[$€£]", "", re.sub(_UNITS, "", plain)).strip()
    if match := _ONE.fullmatch(plain):
        return (_number(*match.groups()),) * 2
    if match := _RANGE.fullmatch(plain):
        low, low_scale, high, high_scale = match.groups()
        ends = _number(low, low_scale or high_scale), _number(high, high_scale)
        return ends if ends[0] < ends[1] else None
    if match := _BELOW.fullmatch(plain):
        return -math.inf, _number(*[part for part in match.groups() if part is not None])
    if match := _ABOVE.fullmatch(plain):
        return _number(*[part for part in match.groups() if part is not None]), math.inf
    return None


def _number(digits: str, scale: str = "") -> float:
    return float(digits) * _SCALE[scale]


def order_bands(labels: Sequence[str]) -> list[str] | None:
    """Return bands from the lowest to the highest, or None if some overlap or are not bands.

    >>> order_bands(["65+", "<18", "18-64"]), order_bands(["1-5", "3-9"])
    (['<18', '18-64', '65+'], None)
    """
    ends = {label: band(label) for label in labels}
    found = {label: pair for label, pair in ends.items() if pair is not None}
    if len(found) < max(len(ends), 2) or all(low == high for low, high in found.values()):
        return None
    ordered = sorted(found, key=lambda label: found[label])
    apart = all(found[one][1] <= found[next_one][0] for one, next_one in pairwise(ordered))
    return ordered if apart and len(set(found.values())) == len(found) else None
