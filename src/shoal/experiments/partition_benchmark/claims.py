"""What the published study claims, each held against the measured rows.

Nothing here is decided beforehand: a claim is a question to the rows, and the page prints the
answer whichever way it falls.
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Any

from shoal.experiments.claims import Answer, StudyClaim, Test
from shoal.experiments.runs import Row


def of_figure(rows: Sequence[Row], figure: str) -> list[Row]:
    """Return the rows of a figure that have a loss."""
    return [row for row in rows if row["figure"] == figure and row["loss"] is not None]


def ratio(runs: Sequence[Row], one: str, other: str, what: str = "loss", **where: Any) -> float:
    """Return the mean ratio of two methods over the runs that both have."""
    chosen = [r for r in runs if all(r[name] == value for name, value in where.items())]
    tables: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in chosen:
        place = (row["rows"], row["width"], row["k"], row["seed"], row.get("against"))
        tables.setdefault(place, {})[row["method"]] = row[what]
    ratios = [
        pair[one] / pair[other]
        for pair in tables.values()
        if one in pair and other in pair and pair[other] > 0
    ]
    return fmean(ratios)


def values(rows: Sequence[Row], name: str) -> list[Any]:
    """Return the values of a field, ascending."""
    return sorted({row[name] for row in rows})


def _times(number: float) -> str:
    return f"{number:.2f}" if number < 10 else f"{number:.0f}"


def _lower(one: str, other: str, **where: Any) -> Test:
    """Ask whether a method loses less than another on average."""

    def test(rows: Sequence[Row]) -> Answer:
        found = ratio(rows, one, other, **where)
        return found < 1, f"loss of {one} over {other}: {_times(found)} on average"

    return test


def _quicker(one: str, other: str, factor: float = 1.0) -> Test:
    def test(rows: Sequence[Row]) -> Answer:
        found = ratio(rows, one, other, "seconds")
        return found < factor, f"time of {one} over {other}: {_times(found)} on average"

    return test


def _wide(rows: Sequence[Row]) -> Answer:
    by = [r for r in rows if r["against"] == "attributes"]
    widths = values(by, "width")
    told, grows = [], []
    for method in ("split-carry", "greedy"):
        first, last = (ratio(by, method, "optimal", width=w) for w in (widths[0], widths[-1]))
        told.append(f"{method} {_times(first)} at {widths[0]}, {_times(last)} at {widths[-1]}")
        grows.append(last > first * 1.02)
    return not any(grows), "loss over the optimum's: " + "; ".join(told)


def _equal_at_times(rows: Sequence[Row]) -> Answer:
    pairs = [
        (a["loss"], b["loss"])
        for a in rows
        for b in rows
        if a["method"] == "split-carry"
        and b["method"] == "optimal"
        and all(a[n] == b[n] for n in ("rows", "width", "seed", "against"))
    ]
    same = sum(a <= b * (1 + 1e-9) for a, b in pairs)
    return same / len(pairs) > 0, f"it reached the optimum in {same} of {len(pairs)} tables"


def _by_k(one: str, other: str, *, small: bool | None, large: bool) -> Test:
    """Ask whether a method loses less than another at the largest k, and so or not at the least."""

    def test(rows: Sequence[Row]) -> Answer:
        least, most = values(rows, "k")[0], values(rows, "k")[-1]
        first, last = ratio(rows, one, other, k=least), ratio(rows, one, other, k=most)
        holds = (last < 1) == large and (small is None or (first < 1) == small)
        return holds, (
            f"loss of {one} over {other}: {_times(first)} at k = {least}, {_times(last)} at "
            f"k = {most}"
        )

    return test


def _narrows(rows: Sequence[Row]) -> Answer:
    few, many = values(rows, "rows")[0], values(rows, "rows")[-1]
    first = ratio(rows, "greedy", "doka-hungarian", rows=few)
    last = ratio(rows, "greedy", "doka-hungarian", rows=many)
    told = f"{_times(first)} at {few:,} rows, {_times(last)} at {many:,}"
    return last < first, f"loss of greedy over doka-hungarian: {told}"


def _best_doka(rows: Sequence[Row]) -> Answer:
    found = {
        name: ratio(rows, name, "doka-hungarian") for name in ("doka-greedy", "doka-sort-greedy")
    }
    told = ", ".join(f"{name} {_times(value)}" for name, value in found.items())
    return min(found.values()) > 1, f"loss over doka-hungarian: {told}"


def _far_worse(rows: Sequence[Row]) -> Answer:
    found = ratio(rows, "mondrian", "greedy")
    return found > 1.5, f"loss of mondrian over greedy: {_times(found)} on average"


def _mondrian_grows(name: str) -> Test:
    def test(rows: Sequence[Row]) -> Answer:
        places = values(rows, name)
        first, last = (
            ratio(rows, "mondrian", "greedy", **{name: place}) for place in (places[0], places[-1])
        )
        told = f"{_times(first)} at {name} = {places[0]}, {_times(last)} at {name} = {places[-1]}"
        return last > first, f"loss of mondrian over greedy: {told}"

    return test


def _initial_beats_mondrian(rows: Sequence[Row]) -> Answer:
    loss, time = (ratio(rows, "initial", "mondrian", what) for what in ("loss", "seconds"))
    told = f"initial over mondrian: loss {_times(loss)}, time {_times(time)}"
    return loss < 1 and time < 1, told


def _between(rows: Sequence[Row]) -> Answer:
    found = ratio(rows, "mondrian", "initial")
    return 9 <= found <= 56, f"loss of mondrian over the initial solution: {_times(found)}"


def _annealed(rows: Sequence[Row]) -> Answer:
    others = [m for m in values(rows, "method") if m != "anneal" and not m.startswith("doka")]
    found = {other: ratio(rows, "anneal", other) for other in others if other != "optimal"}
    told = ", ".join(f"{other} {_times(value)}" for other, value in found.items())
    return max(found.values()) < 1, f"loss of anneal over {told}"


OWN = "Annealing loses least of all methods that give k-anonymity (ours)"
CLAIMS = (
    StudyClaim("3.2", "Split & Carry is closer to the optimum than Greedy Search",
          _lower("split-carry", "greedy")),
    StudyClaim("3.2", "More attributes do not take either method further from the optimum", _wide),
    StudyClaim("3.2", "Split & Carry sometimes finds the optimum", _equal_at_times),
    StudyClaim("3.2", "Greedy Search takes negligible time against the optimum",
          _quicker("greedy", "optimal", 0.1)),
    StudyClaim("3.2", OWN, _annealed),
    StudyClaim("3.3", "Doka Hungarian loses least of the three freeform methods", _best_doka),
    StudyClaim("3.3", "Mondrian loses far more than Greedy Search", _far_worse),
    StudyClaim("3.3", "Greedy Search gains a slight advantage over K-Member as k grows",
          _by_k("greedy", "k-member", small=None, large=True)),
    StudyClaim("3.3",
          "Greedy Search beats Doka Greedy for small k, and loses to it for larger ones",
          _by_k("greedy", "doka-greedy", small=True, large=False)),
    StudyClaim("3.3", "With more rows Greedy Search comes closer to Doka Hungarian", _narrows),
    StudyClaim("3.3", OWN, _annealed),
    StudyClaim("3.5", "Split & Carry loses less than Doka Greedy",
          _lower("split-carry S=3", "doka-greedy")),
    StudyClaim("3.5", "Split & Carry loses less than Doka SortGreedy",
          _lower("split-carry S=3", "doka-sort-greedy")),
    StudyClaim("3.5", "The initial solution beats Mondrian in loss and time",
          _initial_beats_mondrian),
    StudyClaim("3.5", OWN, _annealed),
    StudyClaim("3.6", "Split & Carry loses less than Greedy Search",
          _lower("split-carry", "greedy")),
    StudyClaim("3.6", "Split & Carry loses less than K-Member", _lower("split-carry", "k-member")),
    StudyClaim("3.6", "Split & Carry is quicker than Greedy Search",
          _quicker("split-carry", "greedy")),
    StudyClaim("3.6", "Greedy Search is quicker than K-Member", _quicker("greedy", "k-member")),
    StudyClaim("3.6", "Mondrian loses 9 to 56 times what the initial solution loses", _between),
    StudyClaim("3.6", OWN, _annealed),
    StudyClaim("3.7", "K-Member loses less than Greedy Search at k = 5, and more at large k",
          _by_k("greedy", "k-member", small=False, large=True)),
    StudyClaim("3.7", "Mondrian falls further behind as k grows", _mondrian_grows("k")),
    StudyClaim("3.7", OWN, _annealed),
    StudyClaim("3.8", "Greedy Search loses less than K-Member at k = 100",
          _lower("greedy", "k-member", k=100)),
    StudyClaim("3.8", "Mondrian falls further behind with more attributes",
          _mondrian_grows("width")),
    StudyClaim("3.8", OWN, _annealed),
)  # fmt: skip
