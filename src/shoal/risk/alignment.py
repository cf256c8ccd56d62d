"""Releases aligned without their original, and the best assignment of people to records.

    aligned           the classes of several releases over the same people, by position or by a key
    best_assignment   one record for each person, rare matches preferred; people with equal values
                      are one node, and so are records with equal cells, which makes it a
                      transportation problem, whose best solutions are integers

Problems with too many edges for a proven optimum are linked rarest first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.errors import InputError
from shoal.support.arrays import Codes, Counts, Floats
from shoal.support.progress import report
from shoal.support.wording import counted
from shoal.table import encoding
from shoal.table.classes import SUPPRESSED, Classes
from shoal.table.column import Kind, Role
from shoal.table.coverage import Fits
from shoal.table.declared import find_keys, unique_keys
from shoal.table.frames import from_frame
from shoal.table.people import group, sum_by
from shoal.table.table import Table


def aligned(
    frames: Sequence[Any], roles: Mapping[str, Any], key: str | None = None
) -> tuple[Classes, ...]:
    """Return the classes of several releases over the same people.

    Parameters:
        frames: The released tables.
        roles: As for a table; quasi-identifiers must be in every frame. Sensitive columns that all
            frames have must have the same value for a person everywhere.
        key: A column that all frames have and that is unique in each; a person without a row in one
            frame counts as suppressed there. Without a key, all rows must be present in the same
            order.

    Returns:
        The classes of each release, with aligned rows.

    Raises:
        InputError: No column is a quasi-identifier, a frame lacks a column, rows cannot be aligned,
            or sensitive values of a person differ.

    >>> import pyarrow as pa
    >>> one = pa.table({"id": [1, 2, 3], "age": ["30-39", "30-39", "40-49"]})
    >>> other = pa.table({"id": [3, 2, 1], "age": ["40-44", "30-34", "30-34"]})
    >>> [classes.ids.tolist() for classes in aligned([one, other], {"age": "quasi"}, key="id")]
    [[0, 0, 1], [0, 0, 1]]
    """
    data = [from_frame(frame) for frame in frames]
    specs = {name: {"role": t} if isinstance(t, str) else dict(t) for name, t in roles.items()}
    quasi = [name for name, spec in specs.items() if spec.get("role") == Role.QUASI]
    if not quasi:
        raise InputError("no column is a quasi-identifier; name the columns that others may know")
    _check_columns(data, [*quasi, *([] if key is None else [key])])
    sensitive = [
        name
        for name, spec in specs.items()
        if spec.get("role") == Role.SENSITIVE and all(name in d.column_names for d in data)
    ]
    places = _in_order(data) if key is None else _by_key([d.column(key) for d in data], key)
    people = _people(data, places, [*quasi, *sensitive])
    for number, (frame, place) in enumerate(zip(data, places, strict=True), start=1):
        for name in sensitive:
            _check_agreement(number, name, frame.column(name), people.column(name), place)
    read = {name: {"role": Role.QUASI, "kind": Kind.NOMINAL} for name in quasi}
    table = Table.from_arrow(people, {**read, **{name: specs[name] for name in sensitive}})
    return tuple(
        Classes.of(table, _ids(frame, quasi, place, len(table)))
        for frame, place in zip(data, places, strict=True)
    )


def _check_columns(data: Sequence[Any], names: Sequence[str]) -> None:
    for number, frame in enumerate(data, start=1):
        for name in names:
            if frame.column_names.count(name) != 1:
                raise InputError(f"release {number} must have exactly one column {name!r}")


def _in_order(data: Sequence[Any]) -> list[Counts]:
    rows = [frame.num_rows for frame in data]
    if len(set(rows)) > 1:
        raise InputError(
            f"the releases have {', '.join(map(str, rows))} rows, so they cannot be aligned by "
            "position; give as key a column that all releases have and that is unique in each"
        )
    return [np.arange(count) for count in rows]


def _by_key(columns: Sequence[Any], name: str) -> list[Counts]:
    """Return, for the rows of each release, the index of the person among all people."""
    keys = [
        unique_keys(column, name, f"release {number}")
        for number, column in enumerate(columns, start=1)
    ]
    known = pc.unique(pa.concat_arrays(keys))
    return [find_keys(each, known) for each in keys]


def _people(data: Sequence[Any], places: Sequence[Counts], names: Sequence[str]) -> Any:
    """Return one row for each person, from the first release that has one, in index order."""
    seen = np.zeros(max((int(p.max(initial=-1)) for p in places), default=-1) + 1, dtype=np.bool_)
    parts, order = [], []
    for frame, place in zip(data, places, strict=True):
        fresh = np.flatnonzero(~seen[place])
        parts.append(frame.select(names).take(pa.array(fresh)))
        order.append(place[fresh])
        seen[place] = True
    try:
        joined = pa.concat_tables(parts, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(
            "a column has different types in the releases; read it as text in all of them"
        ) from None
    return joined.take(pa.array(np.argsort(np.concatenate(order))))


def _check_agreement(number: int, name: str, cells: Any, people: Any, place: Counts) -> None:
    mine = encoding.with_missing(cells, name)
    theirs = encoding.with_missing(people, name).take(pa.array(place))
    try:
        same = pc.equal(mine.cast(theirs.type), theirs)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        raise InputError(
            f"column {name!r} of release {number} has another type than in earlier releases"
        ) from None
    both_missing = pc.and_(pc.is_null(mine), pc.is_null(theirs))
    agree = pc.if_else(pc.is_null(same), both_missing, same)
    wrong = len(agree) - (pc.sum(agree).as_py() or 0)
    if wrong:
        raise InputError(
            f"column {name!r}: {wrong:,} of {counted(len(agree), 'row')} of release {number} "
            "differ from the same row of an earlier release; if the order of rows differs, give as "
            "key a column that all releases have and that is unique in each"
        )


def _ids(frame: Any, quasi: Sequence[str], place: Counts, people: int) -> Codes:
    ids = np.full(people, SUPPRESSED, dtype=np.int32)
    encoded = [encoding.encode(frame.column(name), name) for name in quasi]
    if len(place):
        alike = group([codes for codes, _ in encoded], [len(values) for _, values in encoded])
        ids[place] = alike.ids
    return ids


_MAX_EDGES = 400_000  # edges that are solved exactly, in some seconds


@dataclass(frozen=True, eq=False)
class Assignment:
    """The number of links between each kind of people and each kind of records.

    Parameters:
        people, records: (edges,) the kinds.
        linked: (edges,) the number of links.
        exact: Whether no assignment has a greater weight; if not, links were chosen rarest first.
    """

    people: Codes
    records: Codes
    linked: Counts
    exact: bool

    def __repr__(self) -> str:
        return f"Assignment(links={int(self.linked.sum())}, exact={self.exact})"


def best_assignment(fits: Fits) -> Assignment:
    """Return the assignment of greatest weight.

    The weight of a pair is 1 / √(records that the person fits · people who fit the record), so a
    match counts more if there are fewer alternatives on either side.
    """
    indptr, records = fits.edges
    # people who fit the same records are interchangeable: one node for all of them
    kinds = _alike(indptr, records)
    first = np.unique(kinds, return_index=True)[1]
    widths = np.diff(indptr)[first]
    begins = np.concatenate(([0], np.cumsum(widths)))
    edges = np.repeat(indptr[first] - begins[:-1], widths) + np.arange(int(begins[-1]))
    people = np.repeat(np.arange(len(first), dtype=np.int32), widths)
    by_person, by_record = fits.degrees
    rarity = by_person[first][people].astype(np.float64) * by_record[records[edges]]
    supply = sum_by(kinds, len(first), fits.people)
    report("link", 0, 1)
    exact = len(edges) <= _MAX_EDGES
    solve = _solve if exact else _rarest_first
    flow = solve(people, records[edges], 1 / np.sqrt(rarity), supply, fits.copies)
    report("link", 1, 1)
    linked = _dealt(flow, people, begins, kinds, fits.people, indptr)
    every = np.repeat(np.arange(len(fits.people), dtype=np.int32), np.diff(indptr))
    return Assignment(every, records, linked, exact)


def _alike(indptr: Counts, records: Codes) -> Codes:
    """(kinds of people,) the same number for kinds that fit the same records."""
    seen: dict[bytes, int] = {}
    ends = zip(indptr[:-1].tolist(), indptr[1:].tolist(), strict=True)
    kinds = [seen.setdefault(records[a:b].tobytes(), len(seen)) for a, b in ends]
    return np.array(kinds, dtype=np.int32)


def _dealt(
    flow: Counts, people: Codes, begins: Counts, kinds: Codes, supply: Counts, indptr: Counts
) -> Counts:
    """Distribute the links of interchangeable people among them, and return the links of each edge.

    People and links of one kind are intervals on a line; an overlap is a link.
    """
    #   people   |--- a ---|--- b ---|- c -|      supply of each, in the order of their kinds
    #   links    |-- r1 --|---- r2 ----|- r3 -    flow of the kind into each kind of records
    linked = np.zeros(int(indptr[-1]), dtype=np.int64)
    used = np.flatnonzero(flow)
    if not len(used):
        return linked
    order = np.argsort(kinds, kind="stable")
    interval_ends = np.cumsum(supply[order])  # of each person
    offsets = np.concatenate(([0], np.cumsum(sum_by(kinds, len(begins) - 1, supply))))
    before = np.concatenate(([0], np.cumsum(flow)))
    starts = offsets[people[used]] + before[used] - before[begins[people[used]]]
    stops = starts + flow[used]
    cuts = np.unique(np.concatenate([starts, stops, interval_ends]))
    lows, lengths = cuts[:-1], np.diff(cuts)
    edge = np.searchsorted(starts, lows, side="right") - 1
    inside = (edge >= 0) & (lows < stops[edge])
    edge, lows, lengths = edge[inside], lows[inside], lengths[inside]
    person = order[np.searchsorted(interval_ends, lows, side="right")]
    rank = used[edge] - begins[people[used[edge]]]
    np.add.at(linked, indptr[person] + rank, lengths)
    return linked


def _solve(
    people: Codes, records: Codes, weights: Floats, supply: Counts, demand: Counts
) -> Counts:
    """Solve the transportation problem at a vertex, where all flows are integers."""
    from scipy.optimize import linprog
    from scipy.sparse import csr_array

    edges = len(people)
    if not edges:
        return np.zeros(0, dtype=np.int64)
    rows = np.concatenate([people.astype(np.int64), records.astype(np.int64) + len(supply)])
    columns = np.tile(np.arange(edges), 2)
    shape = (len(supply) + len(demand), edges)
    limits = csr_array((np.ones(2 * edges), (rows, columns)), shape=shape)
    solution = linprog(
        -weights, A_ub=limits, b_ub=np.concatenate([supply, demand]), method="highs-ds"
    )
    flow: Counts = np.rint(solution.x).astype(np.int64)
    return flow


def _rarest_first(
    people: Codes, records: Codes, weights: Floats, supply: Counts, demand: Counts
) -> Counts:
    """Link along the heaviest edges first; the total weight is at least half of the best."""
    left, free = supply.tolist(), demand.tolist()
    linked = np.zeros(len(people), dtype=np.int64)
    ends = list(zip(people.tolist(), records.tolist(), strict=True))
    for edge in np.argsort(-weights, kind="stable").tolist():
        person, record = ends[edge]
        count = min(left[person], free[record])
        if count:
            linked[edge] = count
            left[person] -= count
            free[record] -= count
    return linked
