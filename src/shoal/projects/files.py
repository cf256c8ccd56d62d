"""Released tables on disk: rows in an order of their published values, and a record of the set.

The order is found by DuckDB, which keeps what exceeds memory in `TMPDIR`.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from shoal.core.publishing.writing import BATCH, open_writer
from shoal.engines.duckdb_session import explained
from shoal.engines.memory import Budget
from shoal.errors import InputError, unknown
from shoal.projects.treatments import Published
from shoal.reading.engine import exact_pattern
from shoal.support.documents import read_json
from shoal.support.file_names import inside
from shoal.support.files import utf8_path
from shoal.support.memory import return_memory
from shoal.support.temporaries import temporary_folder

RECORD = "release.json"
FORMAT = {"name": "shoal-set", "version": 1}
_TABLE = {
    "file": str,
    "sha256": str,
    "rows": int,
    "key": (str, None),
    "foreign": {str: str},
    "joined": {str: int},
    "people": [str],
    "quasi": [str],
    "sensitive": [str],
    "left_out?": int,
    str: object,
}
_RECORD = {"format": object, "model": [str], "person": str, "tables": {str: _TABLE}, str: object}
_ENDINGS = (".csv", ".tsv", ".parquet")
_MEMORY = 10**9  # bytes that DuckDB may use, if no budget is stated
_SHARE = 0.75  # of what DuckDB may use otherwise
_CHUNK_BYTES = 1 << 20


@contextmanager
def database(source: Path, budget: Budget | None = None) -> Iterator[Any]:
    """Yield a DuckDB database in memory that spills to `TMPDIR` and loads nothing else.

    source: what is read, for messages. budget: the memory that may be used.
    """
    import duckdb

    unlike = f"{source}: a file does not have the columns of the record"
    shown = str(budget or Budget(_MEMORY))
    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "memory_limit": f"{_limit(budget)}B",
            "temp_directory": utf8_path(folder / "spill"),
            "preserve_insertion_order": "true",
        }
        with explained(source, folder.parent, shown, lambda _: unlike):
            connection = duckdb.connect(config=settings)
            try:
                yield connection
            finally:
                connection.close()


def _limit(budget: Budget | None) -> int:
    """Return the bytes that DuckDB may use beside the batches that are written."""
    return _MEMORY if budget is None else int(_SHARE * budget.for_duckdb)


def write_published(published: Published, path: Path, budget: Budget | None = None) -> None:
    """Write a table, sorted by its published values; budget: the memory that may be used."""
    unsorted = path.with_name(f"{path.stem}.unsorted")
    batches = published.batches()
    first = next(batches)
    with pq.ParquetWriter(utf8_path(unsorted), first.schema, compression="lz4") as writer:
        writer.write_table(first)
        for batch in batches:
            writer.write_table(batch.cast(first.schema))
    with database(path, budget) as connection:
        rows = connection.sql(
            "SELECT * FROM read_parquet($path, hive_partitioning=false) ORDER BY ALL",
            params={"path": exact_pattern(unsorted)},
        )
        with open_writer(path, first.schema) as writer:
            for batch in _batches(rows.to_arrow_reader(BATCH)):
                writer.write_table(batch.cast(first.schema))
    unsorted.unlink()
    return_memory(published.rows)


def _batches(reader: Any) -> Iterator[Any]:
    """Yield tables of `BATCH` rows, the last with the rest, whatever the batches of a reader."""
    waiting: list[Any] = []
    rows = 0
    for batch in reader:
        waiting.append(batch)
        rows += batch.num_rows
        while rows >= BATCH:
            joined = pa.Table.from_batches(waiting)
            yield joined.slice(0, BATCH)
            waiting, rows = joined.slice(BATCH).to_batches(), rows - BATCH
    if rows:
        yield pa.Table.from_batches(waiting)


def write_record(folder: Path, record: dict[str, Any]) -> None:
    """Write the record of a set."""
    text = json.dumps({"format": FORMAT, **record}, indent=2, ensure_ascii=False)
    (folder / RECORD).write_text(text + "\n", encoding="utf-8")


def read_record(folder: Path) -> dict[str, Any]:
    """Return the record of a set.

    Raises:
        InputError: The record has another shape, or its parts contradict each other; the message
            names the part.
    """
    path = folder / RECORD
    record: dict[str, Any] = read_json(path, _RECORD)
    if record["format"] != FORMAT:
        raise InputError(f"{path}: not the record of a released set of this version")
    if not record["model"]:
        raise InputError(f"{path}: model must state the guarantee")
    tables, person = record["tables"], record["person"]
    if person not in tables:
        raise unknown(f"{path}: person must name a table: no table", person, tables)
    if not tables[person]["quasi"]:
        raise InputError(f"{path}: tables.{person}.quasi must not be empty")
    for name, table in tables.items():
        where = f"{path}: tables.{name}"
        if inside(folder, table["file"], f"{where}.file").suffix not in _ENDINGS:
            raise InputError(f"{where}.file must end in {', '.join(_ENDINGS)}")
        for column, to in table["foreign"].items():
            if to not in tables or tables[to]["key"] is None:
                raise InputError(f"{where}.foreign.{column} names no table with a key")
            if column not in table["joined"]:
                raise InputError(f"{where}.joined.{column} is missing")
        if table["people"] and not _leads_to(person, name, tables):
            raise InputError(f"{where}.people does not lead to the people")
    return record


def _leads_to(person: str, name: str, tables: dict[str, Any]) -> bool:
    """Return whether the first foreign keys to people of a table, and so on, end at the people."""
    for _ in tables:
        named = tables[name]["people"]
        if name == person or not named or named[0] not in tables[name]["foreign"]:
            break
        name = tables[name]["foreign"][named[0]]
    return name == person


def digest(path: Path) -> str:
    """Return the SHA-256 of a file."""
    sha256 = hashlib.sha256()
    with path.open("rb") as handle:
        while chunk := handle.read(_CHUNK_BYTES):
            sha256.update(chunk)
    return sha256.hexdigest()
