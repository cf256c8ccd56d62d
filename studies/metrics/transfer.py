"""How often Meta-Metrics name the better release, at home and elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

from studies.metrics import published
from studies.metrics.pairs import Pairs, mean_rate
from studies.metrics.releases import ALGORITHMS, UTILITIES
from studies.metrics.singles import values
from studies.runs import Row, groups

Cells = dict[tuple[str, str], list[Row]]


def at_home(rows: Sequence[Row], fits: Sequence[Row]) -> list[Row]:
    """Return the rate of each table's Meta-Metrics on releases held out, as in table 4.2."""
    cells = _cells(rows)
    found = []
    for (table,), part in groups(fits, "table"):
        pairs = [_held(cells, same, place[1]) for place, same in _models(part)]
        row = {"table": table, **mean_rate(pairs), "published": published.META[table]}
        found.append(row)
    return found


def by_algorithm(rows: Sequence[Row], fits: Sequence[Row]) -> list[Row]:
    """Return the same for each table and algorithm."""
    cells = _cells(rows)
    found = []
    for (table, algorithm), part in groups(fits, "table", "algorithm"):
        pairs = [_held(cells, same, place[1]) for place, same in _models(part)]
        found.append({"table": table, "algorithm": algorithm, **mean_rate(pairs)})
    return found


def to_algorithms(rows: Sequence[Row], fits: Sequence[Row]) -> list[Row]:
    """Return rates on releases by another algorithm, as in table 4.3."""
    return _elsewhere("algorithm", ALGORITHMS, rows, fits)


def to_tables(rows: Sequence[Row], fits: Sequence[Row]) -> list[Row]:
    """Return rates on releases of another table, as in table 4.4."""
    names = tuple(dict.fromkeys(row["table"] for row in rows))
    return _elsewhere("table", names, rows, fits)


def _elsewhere(
    what: str, names: Sequence[str], rows: Sequence[Row], fits: Sequence[Row]
) -> list[Row]:
    cells = _cells(rows)
    pairs: dict[tuple[str, str], list[Pairs]] = {
        (used, on): [] for used in names for on in names if used != on
    }
    for fit in fits:
        for place, said in fit["elsewhere"].items():
            table, algorithm = place.split("/")
            there = {"table": table, "algorithm": algorithm}
            if there[what] != fit[what]:
                true = values(cells[table, algorithm], fit["utility"])
                pairs[fit[what], there[what]].append(Pairs.of(said, true))
    return [
        {"used": used, "on": on, **mean_rate(each), "published": _published(what, used, on)}
        for (used, on), each in pairs.items()
    ]


def to_utilities(rows: Sequence[Row], fits: Sequence[Row]) -> list[Row]:
    """Return rates on another utility of the releases held out, as in table 4.5."""
    cells = _cells(rows)
    found = []
    for used in UTILITIES:
        part = [fit for fit in fits if fit["utility"] == used]
        for on in UTILITIES:
            if on != used:
                pairs = [_held(cells, same, on) for _, same in _models(part)]
                labels = {"used": used, "on": on, **mean_rate(pairs)}
                found.append({**labels, "published": _published("utility", used, on)})
    return found


def predictions(rows: Sequence[Row], fits: Sequence[Row]) -> list[Row]:
    """Return each held-out release with its utility, predicted and found, as in figure 4.9."""
    cells = _cells(rows)
    kept = ("table", "algorithm", "utility", "split")
    found = []
    for fit in fits:
        cell = cells[fit["table"], fit["algorithm"]]
        for number, said in zip(fit["held"], fit["said"], strict=True):
            labels = {name: fit[name] for name in kept}
            true = cell[number][fit["utility"]]
            found.append({**labels, "release": number, "predicted": said, "found": true})
    return found


def _cells(rows: Sequence[Row]) -> Cells:
    return {(place[0], place[1]): part for place, part in groups(rows, "table", "algorithm")}


def _models(fits: Sequence[Row]) -> list[tuple[tuple[str, str], list[Row]]]:
    """Return the splits of one table, algorithm and utility together."""
    found = groups(fits, "table", "utility", "algorithm")
    return [((place[0], place[1]), same) for place, same in found]


def _held(cells: Cells, splits: Sequence[Row], utility: str) -> Pairs:
    """Compare the releases that a split holds out with each other, split by split."""
    parts = []
    for fit in splits:
        true = values(cells[fit["table"], fit["algorithm"]], utility)[fit["held"]]
        parts.append(Pairs.of(fit["said"], true))
    return Pairs.apart(parts)


def _published(what: str, used: str, on: str) -> float | None:
    return published.TRANSFER[what].get((used, on))
