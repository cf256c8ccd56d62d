"""Read released cells against another file than their original.

Without the original, the meaning of a text can be ambiguous. Values of a text column may look like
published forms (`*`, `{a, b}`, `12**`), so a cell there covers the values of all its readings; in
other columns the first reading that covers a value of the other file is used. A text may cover no
value.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column
from shoal.core.people import Unit
from shoal.core.publishing.formulas import unescape_formulas
from shoal.core.subsets import Subsets
from shoal.core.table import Table
from shoal.core.values import encoding
from shoal.core.values.keys import find_keys, unique_keys
from shoal.core.values.midnights import with_dates_of
from shoal.errors import InputError
from shoal.reading.released_cells import Forms, unread_cells
from shoal.reading.released_lists import merged
from shoal.support.arrays import Codes, Counts

_MAX_READINGS = 9  # of one text


def read_published(
    data: Any,
    table: Table,
    names: Sequence[str],
    *,
    in_every_way: bool = True,
    refuse_unread: bool = False,
) -> dict[str, tuple[Codes, Subsets]]:
    """Return, for each column, the entry of each released row and the values that entries cover.

    data: the released file as Arrow; table: the other file, whose values are covered.
    in_every_way: whether all readings of a text count, instead of only the first.
    refuse_unread: whether cells that cannot be read are an error; they would match no one.

    Raises:
        InputError: A cell of an ordered column is neither a value nor a range, or no cell of a
            nominal column covers a value of the other file.
    """
    for name in names:
        if data.column_names.count(name) != 1:
            raise InputError(f"has no column {name!r}, or several; the other file has it")
    data = with_dates_of(table, unescape_formulas(data, table))
    return {
        name: _column(data.column(name), table[name], in_every_way, refuse_unread) for name in names
    }


def _column(
    cells: Any, column: Column, in_every_way: bool, refuse_unread: bool
) -> tuple[Codes, Subsets]:
    plain = encoding.with_missing(cells, column.name)
    encoded = plain.dictionary_encode(null_encoding="encode")
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    forms = Forms(column)
    several = in_every_way and encoding.is_text(column.values.type)
    texts = encoding.texts(encoded.dictionary)
    runs = [
        # a blank means a missing value if there is one, and any value otherwise
        merged(run for way in islice(forms.readings(text), _MAX_READINGS) for run in way.runs)
        if several and text is not None
        else next((way.runs for way in forms.readings(text) if way.runs), ())
        for text in texts
    ]
    if refuse_unread:
        empty = np.array([not each for each in runs], dtype=np.bool_)
        unread = empty & [not forms.understands(text) for text in texts]
        if unread.any() and (column.ordered or empty.all()):
            raise unread_cells(column.name, int(unread[codes].sum()), int(unread.sum()))
    indptr = np.concatenate(([0], np.cumsum([len(each) for each in runs], dtype=np.int64)))
    flat = np.array([run for each in runs for run in each], dtype=np.int32).reshape(-1, 2)
    return codes, Subsets(column.domain, indptr.astype(np.int64), flat[:, 0], flat[:, 1])


def rows_by_key(asked: Any, known: Any, key: str) -> Counts:
    """Return, for each row of `asked`, the row of `known` with the same key, or −1."""
    for data in (asked, known):
        if key not in data.column_names:
            raise InputError(f"key {key!r}: one of the files has no such column")
    wanted = unique_keys(asked.column(key), key, "the identified file")
    return find_keys(wanted, unique_keys(known.column(key), key, "the release"))


def rows_by_person(asked: Any, known: Any, columns: Sequence[str]) -> tuple[Counts, Unit]:
    """Find a row of the same person in another file.

    columns: the columns that identify a person in both files.

    Returns:
        For each row of `asked`, a row of `known` of the same person, or −1; and the person of each
        row of `known`.
    """

    def texts(cells: Any, name: str) -> Any:
        return pa.array(encoding.texts(encoding.with_missing(cells, name)), pa.string())

    both = pa.concat_tables(
        pa.table({name: texts(data.column(name), name) for name in columns})
        for data in (known, asked)
    )
    unit = Unit.of(both, columns, "person")
    mine, theirs = unit.ids[known.num_rows :], unit.ids[: known.num_rows]
    first = np.full(unit.count, -1, dtype=np.int64)
    first[theirs[::-1]] = np.arange(known.num_rows)[::-1]
    return first[mine], unit.take(slice(0, known.num_rows))
