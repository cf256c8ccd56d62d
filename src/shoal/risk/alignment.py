"""Released files without their original: the same people are aligned by position or by a key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core.classes import SUPPRESSED, Classes
from shoal.core.column import Kind, Role
from shoal.core.grouping import group
from shoal.core.publishing.frames import from_frame
from shoal.core.table import Table
from shoal.core.values import encoding
from shoal.core.values.keys import find_keys, unique_keys
from shoal.errors import InputError
from shoal.support.arrays import Codes, Counts
from shoal.support.wording import counted


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
        whole = pa.concat_tables(parts, promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        raise InputError(
            "a column has different types in the releases; read it as text in all of them"
        ) from None
    return whole.take(pa.array(np.argsort(np.concatenate(order))))


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
        found = group([codes for codes, _ in encoded], [len(values) for _, values in encoded])
        ids[place] = found.ids
    return ids
