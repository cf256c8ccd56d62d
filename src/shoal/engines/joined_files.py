"""Two files whose rows are joined by a key or by their position: an original and its release.

DuckDB joins them once; the columns of the release get a name of their own. Every original row is
kept, also without a released one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.core.people import is_person_number
from shoal.core.values.encoding import is_text
from shoal.engines.duckdb_engine import DuckDBEngine
from shoal.engines.duckdb_session import Session
from shoal.engines.duckdb_sources import POSITION, places_of, rows_of
from shoal.engines.engine import Engine
from shoal.engines.memory import Budget
from shoal.engines.sources import Files, Scan
from shoal.errors import InputError
from shoal.reading.formats import Format
from shoal.support.wording import counted


@dataclass(frozen=True)
class JoinedScan:
    """How both files are read; see `Scanned`.

    columns: the released columns, and the name of each in the joined rows. matched: the column that
    says whether a row has a released one. wanted: the columns of the original that are used.
    """

    files: Files
    original: Scan
    released: Scan
    columns: Mapping[str, str]
    matched: str
    wanted: tuple[str, ...]
    key: str | None
    first: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """All columns, those of the original first."""
        return (*self.original.names, *self.columns.values(), self.matched)

    @property
    def types(self) -> Mapping[str, Any]:
        """The Arrow type of each column, None for a column of a text file."""
        mine, theirs = self.original.types or {}, self.released.types or {}
        found: dict[str, Any] = {name: mine.get(name) for name in self.original.names}
        found |= {new: theirs.get(name) for name, new in self.columns.items()}
        return found | {self.matched: pa.bool_()}

    @property
    def guesses(self) -> Mapping[str, str]:
        """Settings of the original file that the data determines."""
        return self.original.guesses


@dataclass(frozen=True)
class JoinedFiles:
    """An original and its release as one source of rows.

    form: the format of the release. columns, matched: as in `JoinedScan`.
    known: the columns of the original with a role.
    key: a column of both with unique values; None to join by position.
    first: how many rows to join by position, None for all.
    """

    original: Files
    released: Files
    form: Format
    columns: Mapping[str, str]
    matched: str
    known: frozenset[str]
    key: str | None = None
    first: int | None = None

    def __str__(self) -> str:
        return f"{self.original} and {self.released}"

    @property
    def name(self) -> Path:
        """The name of the original in messages."""
        return self.original.name

    @contextmanager
    def scan(self, form: Format, expected: set[str]) -> Iterator[JoinedScan]:
        """Return how to read both files."""
        mine = {name for name in expected if name not in (*self.columns.values(), self.matched)}
        with (
            self.original.scan(form, mine) as original,
            self.released.scan(self.form, set(self.columns)) as released,
        ):
            wanted = [n for n in original.names if n in self.known or is_person_number(n)]
            names = self.columns, self.matched, tuple(wanted), self.key, self.first
            yield JoinedScan(self.original, original, released, *names)

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the DuckDB engine of the joined rows."""
        return _JoinedEngine(scan, Session(folder, budget, self.name))


class _JoinedEngine(DuckDBEngine):
    """DuckDB on rows of an original, each with its released row."""

    _scan: Any  # a JoinedScan

    def _open(self) -> str:
        """Join the rows, and return the table with the result."""
        scan: JoinedScan = self._scan
        by_position = scan.key is None
        own, other = places_of(scan.original.names), places_of(scan.released.names)
        mine, theirs = (
            rows_of(self._session, side, f"rows_of_{name}", numbered=by_position)
            for name, side in (("original", scan.original), ("released", scan.released))
        )
        on = (POSITION, POSITION)
        if scan.key is not None:
            on = own[scan.key], other[scan.key]
            self._check_keys(scan.key, on, mine, theirs)
        if scan.first is not None:
            some = f"WHERE {POSITION} < {scan.first}"
            mine, theirs = (f"(SELECT * FROM {rows} {some})" for rows in (mine, theirs))
        columns = [f"o.{own[name]} AS {self._places[name]}" for name in scan.wanted]
        columns += [f"r.{other[n]} AS {self._places[new]}" for n, new in scan.columns.items()]
        columns.append(f"r.{on[1]} IS NOT NULL AS {self._places[scan.matched]}")
        self._session.run(
            f"CREATE TABLE source AS SELECT {', '.join(columns)} FROM {mine} o "
            f"LEFT JOIN {theirs} r ON {_as_text('o', on[0])} = {_as_text('r', on[1])}"
        )
        for table in ("rows_of_original", "rows_of_released"):
            self._session.run(f"DROP TABLE IF EXISTS {table}")
        return "source"

    def _check_keys(self, key: str, on: tuple[str, str], mine: str, theirs: str) -> None:
        """Check that the keys are unique and that every released one is known.

        on: the columns of the key in both tables.
        """
        scan: JoinedScan = self._scan
        for what, side, rows, column in (
            ("the original", scan.original, mine, on[0]),
            ("the release", scan.released, theirs, on[1]),
        ):
            kind = (side.types or {}).get(key, pa.string())
            if not (is_text(kind) or pa.types.is_integer(kind) or pa.types.is_date(kind)):
                raise InputError(f"key {key!r}: values of type {kind} are compared only in memory; "
                                 "name a column of text, whole numbers or dates")  # fmt: skip
            found = self._session.arrow(
                f"SELECT count(*) AS n, count(DISTINCT {column}) AS d FROM {rows}"
            ).to_pylist()[0]
            if found["n"] != found["d"]:
                raise InputError(
                    f"key {key!r}: {found['n'] - found['d']:,} of {counted(found['n'], 'row')} of "
                    f"{what} have no key or the key of another row; name a column with unique "
                    "values"
                )
        cells = _as_text("o", on[0]), _as_text("r", on[1])
        absent = self._session.value(
            f"SELECT count(*) FROM {theirs} r ANTI JOIN {mine} o ON {cells[0]} = {cells[1]}"
        )
        if absent:
            rows = self._session.value(f"SELECT count(*) FROM {theirs}")
            raise InputError(
                f"key {key!r}: {absent:,} of {counted(rows, 'row')} have a key that is not in the "
                "original"
            )


def _as_text(side: str, column: str) -> str:
    return f"CAST({side}.{column} AS VARCHAR)"
