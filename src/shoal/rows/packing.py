"""Tuples of small codes packed into 62-bit words, which compare like the tuples.

In numpy, and as expressions of SQL in the dialect that all stores speak.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from shoal.support.arrays import Codes, Counts

_BITS = 62  # of a word, so that it is a positive 64-bit integer


@dataclass(frozen=True)
class Place:
    """Where a code is stored: in a word, above `shift` bits."""

    word: int
    shift: int
    bits: int


@dataclass(frozen=True)
class Packing:
    """The place of each column; earlier columns have higher bits.

    >>> packing = Packing.of({"age": 100, "sex": 2})
    >>> packing.pack({"age": np.array([31]), "sex": np.array([1])})[0].tolist()
    [63]
    """

    places: Mapping[str, Place]
    words: int

    @classmethod
    def of(cls, domains: Mapping[str, int]) -> Packing:
        """Return the packing of columns with these numbers of codes, in this order."""
        found: dict[str, tuple[int, int]] = {}
        word, used = 0, 0
        for name, domain in domains.items():
            bits = max(int(domain) - 1, 1).bit_length()
            if used + bits > _BITS:
                word, used = word + 1, 0
            used += bits
            found[name] = (word, bits)
        places, below = {}, dict.fromkeys(range(word + 1), 0)
        for name, (index, bits) in reversed(found.items()):
            places[name] = Place(index, below[index], bits)
            below[index] += bits
        return cls({name: places[name] for name in domains}, word + 1)

    def pack(self, codes: Mapping[str, Codes | Counts]) -> list[Counts]:
        """Return the words of tuples, given by their columns."""
        rows = len(next(iter(codes.values())))
        packed = [np.zeros(rows, dtype=np.int64) for _ in range(self.words)]
        for name, place in self.places.items():
            packed[place.word] |= codes[name].astype(np.int64) << place.shift
        return packed

    def unpack(self, words: Sequence[Counts], name: str) -> Codes:
        """Return the codes of one column."""
        place = self.places[name]
        codes = (words[place.word] >> place.shift) & ((1 << place.bits) - 1)
        found: Codes = codes.astype(np.int32)
        return found

    def word_columns(self, prefix: str = "k") -> list[str]:
        """Return the columns of the words, by default of those of classes."""
        return [f"{prefix}{j}" for j in range(self.words)]

    def pack_in_sql(self, cells: Mapping[str, str]) -> list[str]:
        """Return the expression of each word, from the expressions of its columns.

        >>> Packing.of({"age": 100, "sex": 2}).pack_in_sql({"age": "d0", "sex": "d1"})
        ['(CAST(d0 AS BIGINT) * 2 + CAST(d1 AS BIGINT) * 1)']
        """
        # products and sums, not shifts: DuckDB knows their range, and groups and sorts fewer bytes
        parts: list[list[str]] = [[] for _ in range(self.words)]
        for name, place in self.places.items():
            parts[place.word].append(f"CAST({cells[name]} AS BIGINT) * {1 << place.shift}")
        return [f"({' + '.join(part)})" for part in parts]

    def select_words(self, cells: Mapping[str, str], prefix: str = "k") -> str:
        """Return the expressions of the words with the names of their columns."""
        words = zip(self.pack_in_sql(cells), self.word_columns(prefix), strict=True)
        return ", ".join(f"{word} AS {column}" for word, column in words)

    def unpack_in_sql(self, name: str, prefix: str = "k") -> str:
        """Return the expression of the codes of one column, from the columns of words.

        >>> Packing.of({"age": 100, "sex": 2}).unpack_in_sql("age")
        'CAST((k0 >> 1) & 127 AS INT)'
        """
        place = self.places[name]
        mask = (1 << place.bits) - 1
        return f"CAST(({prefix}{place.word} >> {place.shift}) & {mask} AS INT)"
