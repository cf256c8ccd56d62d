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
        quoted = '"' + text.replace('"', '""') + '"'
        return any(f", {way}, " in f", {cell[1:-1]}, " for way in (text, quoted))
    if cell.startswith("[") and cell.endswith("]") and value is not None:
        ends = cell[1:-1].split(", ")
        if not isinstance(value, str):
            return float(ends[0]) <= float(value) <= float(ends[1])
        order = ["low", "mid", "high"]
        if not {*ends, value} <= set(order):
            return False
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


def fits(rows, everybody, quasi, paths):
    """Return, for each original, the published rows (by place) that may stand for it.

    paths: for each column with a hierarchy, the labels of each value.
    """
    seen = {}

    def is_in(name, cell, value):
        key = name, written(cell), written(value)
        if key not in seen:
            seen[key] = covers(cell, value, paths.get(name, {}))
        return seen[key]

    return [
        {
            j
            for j, row in enumerate(rows)
            if all(is_in(name, row[name], was[name]) for name in quasi)
        }
        for was in everybody
    ]


def keeps_coverage(part, graph):
    """Tell whether people, each with the records that they fit, keep a model of coverage.

    Record i is person i's own.
    """
    load = Counter(record for records in graph for record in records)
    people = all(len(records) >= part.k for records in graph)
    records = all(load[record] >= part.k for record in range(len(graph)))
    if part.name == "one-k-anonymity":
        return people
    if part.name == "k-one-anonymity":
        return records
    if part.name == "k-k-anonymity":
        return people and records
    if part.name == "k-concealment":
        return all(
            sum(_may_have(graph, person, record) for record in graph[person]) >= part.k
            for person in range(len(graph))
        )
    if part.name == "freeform-anonymity":
        return people and records and _deals_out(graph, part.k)
    raise AssertionError(f"the oracle does not know {part.name}")


def _may_have(graph, person, record):
    """Tell whether the others can still be matched once a person has this record.

    They start from their own; whose is taken moves on, until somebody takes the person's.
    """
    moving, moved = [record], {record}
    while moving:
        if person == record:
            return True
        for other in graph[moving.pop()] - moved:
            if other == person:
                return True
            moved.add(other)
            moving.append(other)
    return False


def _deals_out(graph, k):
    """Tell whether each person can have k records and each record k people, no pair twice."""
    held = [set() for _ in graph]
    holders = [set() for _ in graph]

    def serve(person, asked):
        for record in sorted(graph[person] - held[person]):
            if record in asked:
                continue
            asked.add(record)
            if len(holders[record]) < k:
                break
            if any(_pass_on(other, record, asked) for other in sorted(holders[record])):
                break
        else:
            return False
        held[person].add(record)
        holders[record].add(person)
        return True

    def _pass_on(person, record, asked):
        if not serve(person, asked):
            return False
        held[person].remove(record)
        holders[record].remove(person)
        return True

    return all(serve(person, set()) for person in range(len(graph)) for _ in range(k))
