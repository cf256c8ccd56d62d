"""Advice on a poor release: what would keep more of it, measured on a sample.

    advise(release)
        a sample of its people
        the same request on the sample              → what is kept now
        each alternative, one change at a time      → what it would keep, and in how many seconds
            one column left out, then a second, …
            another method, other cells, more rows suppressed

`kept` is the share of the information in the cells of all quasi-identifiers that the table has, 1
minus their normalized certainty penalty; a column that is left out keeps nothing. The guarantee is
the same in every alternative.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from typing import Any, cast

import numpy as np

from shoal.errors import ShoalError
from shoal.methods import METHODS, anonymize
from shoal.metrics import ncp_by_attribute
from shoal.privacy.model import Model
from shoal.release.release import Release
from shoal.table.recoding import Recoding
from shoal.table.table import Table

POOR = 0.7  # share kept below which a release deserves advice
_PEOPLE = 1_000  # of the sample
_MAX_COLUMNS = 3  # left out together
_TRIED_COLUMNS = 8  # of those that lose most, tried alone
_GAIN = 0.02  # least share that an alternative must keep in addition
_SHOWN = 5
_SUPPRESSED = (0.02, 0.05)  # shares of rows tried with methods that may suppress rows


@dataclass(frozen=True)
class Alternative:
    """One change of a request and what it would keep.

    change: the change in words.
    kept: share of the information that is kept, from 0 to 1.
    hidden: share of the cells that are hidden.
    seconds: duration on the sample.
    options: words for the command line that make the change.
    """

    change: str
    kept: float
    hidden: float
    seconds: float
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Advice:
    """What a release keeps, and which alternatives would keep more, best first.

    people: number of people in the sample on which all figures were measured.
    """

    people: int
    now: Alternative
    alternatives: tuple[Alternative, ...]

    def __repr__(self) -> str:
        lines = [f"Advice(kept={self.now.kept:.2f}, on a sample of {self.people:,} people)"]
        lines += [f"  {each.kept:.0%} kept: {each.change}" for each in self.alternatives]
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain data."""
        return asdict(self)


def advise(release: Release, *, people: int = _PEOPLE, slow: bool = True) -> Advice | None:
    """Measure on a sample which changes of a request would keep more information.

    Parameters:
        release: The release of a table in memory.
        people: Number of people to sample; more take longer and are more exact.
        slow: Whether to try methods that take much longer than the release did.

    Returns:
        The advice, without alternatives if none keeps clearly more. None for a release that makes
        a differential privacy claim, because figures of the original are not public, for one whose
        rows are not in memory, and for one with replaced identifiers, which needs their key.
    """
    if release.withheld or release.replaced or type(release) is not Release:
        return None
    table = _sample(release.original, people)
    options = {name: value for name, value in release.run.options.items() if value is not None}
    request = _Request(cast(Model, release.model), release.run.method, options)
    now = _measured("as it is", table, request, table.quasi)
    if now is None:
        return None
    found = [
        each for each in _alternatives(table, request, now, slow) if each.kept > now.kept + _GAIN
    ]
    found.sort(key=lambda each: -each.kept)
    return Advice(table.people, now, tuple(found[:_SHOWN]))


@dataclass(frozen=True)
class _Request:
    """The guarantee and the method of a release."""

    model: Model
    method: str
    options: dict[str, Any]

    def release(self, table: Table) -> Release:
        """Return the release of a sample; lists were accepted or refused before."""
        return anonymize(table, self.model, self.method, list_values=True, **self.options)


def _sample(table: Table, people: int) -> Table:
    """Return people spread evenly over the table in the order of its values, whatever its rows."""
    unit = table.unit
    count = len(table) if unit is None else unit.count
    if count <= people:
        return table
    keys = [column.codes for column in reversed(table.quasi_columns)]
    order = np.lexsort(keys)
    if unit is None:
        rows = order[np.linspace(0, len(order) - 1, people).astype(np.int64)]
        return table.take(np.sort(rows))
    ids = unit.ids[order]
    _, first = np.unique(ids, return_index=True)
    in_order = ids[np.sort(first)]  # people by their first row in that order
    chosen = in_order[np.linspace(0, len(in_order) - 1, people).astype(np.int64)]
    return table.take(np.flatnonzero(np.isin(unit.ids, chosen)))


def _measured(
    change: str,
    table: Table,
    request: _Request,
    quasi: tuple[str, ...],
    options: tuple[str, ...] = (),
) -> Alternative | None:
    """Make a release of the sample; None if this request cannot be met.

    quasi: all quasi-identifiers of the table, of which some may have been left out.
    """
    begun = time.perf_counter()
    try:
        release = request.release(table)
    except ShoalError:
        return None
    seconds = time.perf_counter() - begun
    lost = ncp_by_attribute(release)
    kept = sum(1 - lost[name] for name in lost) / len(quasi)
    hidden = np.mean([1.0 if name not in lost else _hidden(release, name) for name in quasi])
    return Alternative(change, kept, float(hidden), seconds, options)


def _hidden(release: Release, name: str) -> float:
    """Return the share of the rows whose cell excludes nothing, suppressed rows included."""
    recoding: Recoding = release.recodings[name]
    return float(recoding.subsets.whole[recoding.codes].mean())


def _alternatives(
    table: Table, request: _Request, now: Alternative, slow: bool
) -> Iterator[Alternative]:
    """Yield the alternatives that can be met."""
    yield from _fewer_columns(table, request, now)
    for change, other, options in _other_requests(table, request, slow):
        found = _measured(change, table, other, table.quasi, options)
        if found is not None:
            yield found


def _fewer_columns(table: Table, request: _Request, now: Alternative) -> Iterator[Alternative]:
    """Yield the best column to leave out, then the best further one, while that keeps more."""
    left_out: tuple[str, ...] = ()
    best = now
    while len(left_out) < min(_MAX_COLUMNS, len(table.quasi) - 1):
        remaining = [name for name in table.quasi if name not in left_out]
        tried = []
        for name in remaining[: None if len(remaining) <= _TRIED_COLUMNS else _TRIED_COLUMNS]:
            names = (*left_out, name)
            change = f"leave out {' and '.join(names)}"
            options = ("--identifier", ",".join(names))
            found = _measured(change, _without(table, names), request, table.quasi, options)
            if found is not None:
                tried.append((found, name))
        if not tried:
            return
        found, name = max(tried, key=lambda pair: pair[0].kept)
        if found.kept <= best.kept:
            return
        left_out, best = (*left_out, name), found
        yield found


def _without(table: Table, names: tuple[str, ...]) -> Table:
    return replace(table, columns=tuple(c for c in table.columns if c.name not in names))


def _other_requests(
    table: Table, request: _Request, slow: bool
) -> Iterator[tuple[str, _Request, tuple[str, ...]]]:
    """Yield other methods and models, each with its words for the command line."""
    method = METHODS[request.method]
    if getattr(method, "by_level", False):
        yield "method mondrian", _Request(request.model, "mondrian", {}), ("--method", "mondrian")
        most = float(request.options.get("max_suppression", 1))
        for share in _SUPPRESSED:
            if share > most:
                options = {**request.options, "max_suppression": share}
                words = ("-O", f"max_suppression={share}")
                change = f"suppress up to {share:.0%} of the rows"
                yield change, _Request(request.model, request.method, options), words
    elif request.method == "mondrian":
        if request.options.get("hierarchies", True):
            options = {**request.options, "hierarchies": False}
            words = ("-O", "hierarchies=false")
            yield "ranges and sets instead of labels", replace(request, options=options), words
        if slow:
            words = ("--method", "anneal")
            change = "method anneal (ranges and sets; slower)"
            yield change, _Request(request.model, "anneal", {"seed": 0}), words
