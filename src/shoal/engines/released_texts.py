"""The cells of a released file as text, read from their distinct values."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from shoal.core.column import Column, Kind, Role
from shoal.core.publishing.formulas import unescape_formulas
from shoal.core.table import Table
from shoal.core.values.encoding import texts, with_missing
from shoal.core.values.midnights import with_dates_of
from shoal.engines.dictionaries import Encoded, Encoder
from shoal.engines.engine import Dictionary, Values
from shoal.engines.large_table import LargeTable
from shoal.reading.requests import Request
from shoal.support.arrays import Codes


def encode_texts(
    found: Mapping[str, Values], encoder: Encoder, original: Table, names: Mapping[str, str]
) -> dict[str, Encoded]:
    """Return released columns as text.

    Parameters:
        found: The distinct values of each column.
        encoder: Reads the cells of the released file.
        original: The columns of the original, without rows.
        names: The name of each column in the original.
    """
    cells = {name: encoder.cells(name, values.values) for name, values in found.items()}
    longest = max(map(len, cells.values()), default=0)
    data = pa.table({names[name]: _padded(each, longest) for name, each in cells.items()})
    data = with_dates_of(original, unescape_formulas(data, original))
    encoded = {}
    for name, values in found.items():
        plain = with_missing(data.column(names[name]).slice(0, len(values.values)), name)
        coded = pa.array(texts(plain), pa.string()).dictionary_encode(null_encoding="encode")
        codes: Codes = coded.indices.to_numpy(zero_copy_only=False).astype(np.int32)
        domain = len(coded.dictionary)
        text = Column(name, Role.QUASI, Kind.NOMINAL, codes, coded.dictionary)
        counts = np.bincount(codes, values.counts, domain).astype(np.int64)
        encoded[name] = Encoded(text, Dictionary(values.values, codes, domain), counts)
    return encoded


def _padded(cells: Any, length: int) -> Any:
    """Return cells with nulls at the end, so that columns have one length."""
    plain = cells.combine_chunks() if isinstance(cells, pa.ChunkedArray) else cells
    return pa.concat_arrays([plain, pa.nulls(length - len(plain), plain.type)])


class ReleasedTable(LargeTable):
    """A released file on disk, whose cells are text."""

    original: Table  # the columns of the original, without rows

    def encode_values(self, found: Mapping[str, Values]) -> Mapping[str, Encoded]:
        """Return columns of text from their distinct values."""
        encoder = Encoder(self._request, self.types, self.files.name)
        return encode_texts(found, encoder, self.original, {name: name for name in found})


class JoinedTable(LargeTable):
    """An original on disk joined with its release.

    released: the original column of each released one. form: the format of the release, with a
    specification of each of its columns. known: columns that are encoded already.
    """

    released: Mapping[str, str]
    form: Request
    known: Mapping[str, Encoded] | None = None

    @cached_property
    def encoded(self) -> Mapping[str, Encoded]:
        """The columns of both files."""
        if self.known is None:
            return super().encoded
        rest = [name for name in self.published if name not in self.known]
        found = self.engine.statistics(dict.fromkeys(rest, 2))
        values = {name: each for name, each in found.items() if isinstance(each, Values)}
        return {**self.known, **super().encode_values(values)}

    def encode_values(self, found: Mapping[str, Values]) -> Mapping[str, Encoded]:
        """Return the columns of both files from their distinct values."""
        theirs = {name: values for name, values in found.items() if name in self.released}
        encoded = dict(super().encode_values({n: v for n, v in found.items() if n not in theirs}))
        empty = np.zeros(0, dtype=np.int64)
        original = Table(tuple(each.column.take(empty) for each in encoded.values()))
        encoder = Encoder(self.form, self.types, self.files.name)
        return encoded | encode_texts(theirs, encoder, original, self.released)
