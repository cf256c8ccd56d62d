"""An independent judge of releases: plain loops and dicts over published rows, no Shoal code."""

from __future__ import annotations

import math
from collections import Counter, defaultdict


def classes(rows, quasi):
    """Return the published rows that look alike, each class as a list of rows."""
    found = defaultdict(list)
    for row in rows:
        found[tuple(row[name] for name in quasi)].append(row)
    return list(found.values())


def keeps(part, members, everybody):
    """Tell whether one class keeps one model, from its definition."""
    if part.name == "k-anonymity":
        return len(members) >= part.k
    seen = Counter(row[part.column] for row in members)
    before = Counter(row[part.column] for row in everybody)
    share = {value: count / len(members) for value, count in seen.items()}
    usual = {value: count / len(everybody) for value, count in before.items()}
    if part.name == "l-diversity":
        return len(seen) >= part.l
    if part.name == "entropy-l-diversity":
        return -sum(p * math.log(p) for p in share.values()) >= math.log(part.l) - 1e-9
    if part.name == "recursive-l-diversity":
        counts = sorted(seen.values(), reverse=True)
        return counts[0] < part.c * sum(counts[part.l - 1 :])
    if part.name == "t-closeness":
        return sum(abs(share.get(v, 0) - usual[v]) for v in usual) / 2 <= part.t + 1e-9
    if part.name == "alpha-k-anonymity":
        return len(members) >= part.k and max(share.values()) <= part.alpha + 1e-12
    if part.name == "delta-disclosure":
        return all(v in share and abs(math.log(share[v] / usual[v])) < part.delta for v in usual)
    if part.name == "beta-likeness":
        limits = {
            v: min(part.beta, -math.log(p)) if part.enhanced else part.beta
            for v, p in usual.items()
        }
        return all(p <= usual[v] * (1 + limits[v]) + 1e-9 for v, p in share.items())
    raise AssertionError(f"the oracle does not know {part.name}")


def covers(cell, value, paths):
    """Tell whether a published cell may stand for the original value.

    paths: for each value, its labels up the hierarchy, where the column has one.
    """
    text = written(value)
    if cell == value or cell == "*" or written(cell) == text:
        return True
    if value in paths and cell in paths[value]:
        return True
    if not isinstance(cell, str):
        return False
    if cell.endswith(" or missing"):
        return value is None or covers(cell.removesuffix(" or missing"), value, {})
    if cell.startswith("{") and cell.endswith("}"):
        return f", {text}, " in f", {cell[1:-1]}, "
    if cell.startswith("[") and cell.endswith("]") and value is not None:
        ends = cell[1:-1].split(", ")
        if not isinstance(value, str):
            return float(ends[0]) <= float(value) <= float(ends[1])
        order = ["low", "mid", "high"]
        return order.index(ends[0]) <= order.index(value) <= order.index(ends[1])
    return False


def is_kept_or_hidden(cell, value):
    """Tell whether a published cell is the value itself or says nothing."""
    return cell == "*" or written(cell) == written(value)


def written(value):
    """Return a value as text: whole numbers without a point, booleans in lower case."""
    if value is None:
        return "missing"
    if isinstance(value, bool):
        return str(value).lower()
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
