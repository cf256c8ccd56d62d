"""Released cells read beside another file than their original: by what they say, and no more.

There is no original to settle how a text is meant. Values of a column of text may look like
published forms (`*`, `{a, b}`, `12**`), so that a cell there admits what any way to read it admits;
in other columns the first way that admits a value of the other file is taken. A text may admit
nobody.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from shoal.core import values as ground
from shoal.core.arrays import Codes, Counts
from shoal.core.column import Column
from shoal.core.formulas import unescape_formulas
from shoal.core.people import Unit
from shoal.core.subsets import Subsets
from shoal.core.table import Table
from shoal.core.wording import counted
from shoal.errors import InputError
from shoal.reading.released_cells import Forms, unread_cells
from shoal.reading.released_lists import merged

_MAX_WAYS = 9  # to read one text that are tried


def read_published(
    data: Any,
    table: Table,
    names: Sequence[str],
    *,
    in_every_way: bool = True,
    refuse_unread: bool = False,
) -> dict[str, tuple[Codes, Subsets]]:
    """Return, for each column, the entry of each released row and what entries admit.

    data: the released file as Arrow; table: the other file, whose values are admitted.
    in_every_way: whether text is read in all ways, and not in the first one alone.
    refuse_unread: refuse a column whose cells cannot be read, which would fit nobody.

    Raises:
        InputError: A cell of an ordered column is neither a value nor a range, or no cell at all of
            a nominal column admits a value of the other file.
    """
    for name in names:
        if data.column_names.count(name) != 1:
            raise InputError(f"has no column {name!r}, or several; the other file has it")
    data = unescape_formulas(data, table)
    return {
        name: _column(data.column(name), table[name], in_every_way, refuse_unread) for name in names
    }


def _column(
    cells: Any, column: Column, in_every_way: bool, refuse_unread: bool
) -> tuple[Codes, Subsets]:
    plain = ground.combined(cells, column.name)
    if pa.types.is_null(plain.type):
        plain = plain.cast(pa.string())
    encoded = plain.dictionary_encode(null_encoding="encode")
    codes: Codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
    forms = Forms(column)
    several = in_every_way and ground.is_text(column.values.type)
    texts = ground.texts(encoded.dictionary)
    runs = [
        # a blank stands for a missing value first, and for everything only if there is none
        merged(run for way in islice(forms.readings(text), _MAX_WAYS) for run in way.runs)
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
    """(asked,) the row of `known` with the same key, −1 where there is none."""
    told = []
    for data in (asked, known):
        if key not in data.column_names:
            raise InputError(f"key {key!r}: one of the files has no such column")
        cells = pa.array(ground.texts(ground.combined(data.column(key), key)), pa.string())
        repeated = len(cells) - len(pc.unique(cells.drop_null()))
        if repeated:
            raise InputError(
                f"key {key!r}: {repeated:,} of {counted(len(cells), 'row')} with no key or one "
                "that another row has; take a column that tells all rows apart"
            )
        told.append(cells)
    rows: Counts = pc.index_in(told[0], value_set=told[1]).fill_null(-1).to_numpy().astype(np.int64)
    return rows


def rows_by_person(asked: Any, known: Any, columns: Sequence[str]) -> tuple[Counts, Unit]:
    """Find a row of the same person in another file.

    columns: what identifies a person in both files.

    Returns:
        (asked,) a row of `known` of the same person, −1 where there is none; and whom each row of
        `known` is about.
    """
    texts = [
        {
            name: pa.array(ground.texts(ground.combined(data.column(name), name)), pa.string())
            for name in columns
        }
        for data in (known, asked)
    ]
    both = pa.concat_tables([pa.table(each) for each in texts])
    unit = Unit.of(both, columns, "person")
    mine, theirs = unit.ids[known.num_rows :], unit.ids[: known.num_rows]
    first = np.full(unit.count, -1, dtype=np.int64)
    first[theirs[::-1]] = np.arange(known.num_rows)[::-1]
    return first[mine], unit.take(slice(0, known.num_rows))
