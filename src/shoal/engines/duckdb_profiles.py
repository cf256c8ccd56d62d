"""Profiles of linked rows in DuckDB: the set of classes that the rows of a person are in.

A set is compared by a digest: the exclusive or of a keyed hash of each class, under a random key of
the session. Different sets have the same digest of 120 bits with a probability of 2⁻¹²⁰, whatever
the rows are, and nothing has to be sorted or held in memory.
Clarke, Devadas, van Dijk, Gassend, Suh, "Incremental multiset hash functions and their application
to memory integrity checking", ASIACRYPT 2003.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

from shoal.engines.duckdb_session import Session, literal

DIGEST_WORDS = 2
_DIGITS = 15  # of a word, hexadecimal, so that it is a positive 64-bit integer


class Profiles:
    """The profiles of one session; equal sets of classes always have the same digest."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._key = secrets.token_hex(32)

    def joined(self, rows: str, sets: str, keys: Sequence[str], table: str) -> str:
        """Return the query of rows with the words of the profile of the rows linked to them.

        Parameters:
            rows: The query of the rows.
            sets: The column with the number of the set that a row is linked to.
            keys: The words of the class of a row; those of the profile have the next numbers.
            table: A name to store the profiles under.
        """
        cells = ", ".join(f"CAST({key} AS VARCHAR)" for key in keys)
        hashed = f"sha256(concat_ws(' ', {literal(self._key)}, {cells}))"
        pairs = f"SELECT DISTINCT {sets}, {', '.join(keys)} FROM ({rows})"
        words = []
        for place in range(DIGEST_WORDS):
            digits = f"'0x' || substr(h, {1 + place * _DIGITS}, {_DIGITS})"
            words.append(f"bit_xor(CAST({digits} AS BIGINT)) AS k{len(keys) + place}")
        self._session.run(
            f"CREATE OR REPLACE TABLE {table} AS SELECT {sets}, {', '.join(words)} "
            f"FROM (SELECT {sets}, {hashed} AS h FROM ({pairs})) GROUP BY {sets}"
        )
        return f"SELECT * FROM ({rows}) JOIN {table} USING ({sets})"
