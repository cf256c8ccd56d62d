"""Files to Arrow tables, through DuckDB: CSV, Parquet, JSON lines.

CSV and JSON arrive as text and are typed by `inference`; Parquet keeps its types. Errors name the
line, never what stands there.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.core.files import check_readable
from shoal.errors import InputError
from shoal.reading.inference import typed
from shoal.reading.text_files import as_utf8, open_bytes, sniff


@dataclass(frozen=True)
class Format:
    """How to read a text file; what is None is found out.

    missing: texts that mean a missing value, besides nothing at all.
    names: column names of a file without a header line.
    """

    delimiter: str | None = None
    quote: str | None = None
    encoding: str | None = None
    missing: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        for option in ("delimiter", "quote"):
            sign = getattr(self, option)
            if sign is not None and len(sign) > 1:
                raise InputError(f"{option} must be a single character, not {sign!r}")
        if self.delimiter == "":
            raise InputError("delimiter must be a single character")


def read_arrow(path: Path, form: Format, keep_text: Collection[str] | None = None) -> Any:
    """Return a file as an Arrow table.

    keep_text: columns that are carried unchanged, so their text is left alone; None types all.
    """
    check_readable(path)
    return _reader(path)(path, form, keep_text or ())


def _reader(path: Path) -> Callable[[Path, Format, Collection[str]], Any]:
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if ending in (".xlsx", ".xls", ".ods"):
        raise InputError(f"{path}: spreadsheets are not read; save the sheet as CSV")
    if ending in (".parquet", ".pq"):
        return _read_parquet
    if ending in (".jsonl", ".ndjson", ".json"):
        return _read_json_lines
    with path.open("rb") as handle:
        return _read_parquet if handle.read(4) == b"PAR1" else _read_csv


def _read_csv(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    with as_utf8(path, form.encoding) as plain:
        dialect = sniff(plain, path, form.delimiter, form.quote)
        names = form.names or dialect.header
        _check_names(path, names)
        options = {
            "delim": dialect.delimiter,
            "quote": dialect.quote,
            "escape": dialect.quote,
            "header": form.names is None,
            "nullstr": ["", *form.missing],
            "columns": dict.fromkeys(names, "VARCHAR"),
            "compression": "gzip" if plain.suffix.lower() == ".gz" else "none",
        }
        table = _query(
            path,
            "SELECT * FROM read_csv($path, auto_detect=false, strict_mode=true, "
            "null_padding=false, delim=$delim, quote=$quote, escape=$escape, header=$header, "
            "nullstr=$nullstr, columns=$columns, compression=$compression)",
            {"path": str(plain), **options},
        )
    _check_rows(path, table)
    return pa.table(
        {n: table.column(n) if n in keep_text else typed(table.column(n)) for n in names}
    )


def _check_names(path: Path, names: Sequence[str]) -> None:
    unnamed = [place for place, name in enumerate(names, start=1) if not name.strip()]
    if unnamed:
        raise InputError(f"{path}: column {unnamed[0]} of the header line has no name; name it")
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{path}: column {name!r} occurs more than once; rename one of them")
        seen.add(name)
    folded = {name.casefold() for name in names}
    if len(folded) < len(names):
        raise InputError(f"{path}: two column names differ only in case; rename one of them")


def _read_parquet(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    table = _query(path, "SELECT * FROM read_parquet($path)", {"path": str(path)})
    _check_rows(path, table)
    return table


def _read_json_lines(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    with open_bytes(path) as handle:
        if handle.read(64).lstrip()[:1] not in (b"{", b""):
            raise InputError(f"{path}: not JSON lines; each line must be one object {{…}}")
    source = {"path": str(path)}
    objects = "read_ndjson_objects($path)"
    first = _query(path, f"SELECT json_keys(json) AS k FROM {objects} LIMIT 1", source)
    every = _query(path, f"SELECT DISTINCT unnest(json_keys(json)) AS k FROM {objects}", source)
    keys = list((first.column("k")[0].as_py() or []) if first.num_rows else [])
    keys += sorted(set(every.column("k").to_pylist()) - set(keys))
    if not keys:
        raise InputError(f"{path}: no records")
    _check_names(path, keys)
    pointers = [f"/{key.replace('~', '~0').replace('/', '~1')}" for key in keys]
    parts = ", ".join(
        f"json_extract_string(json, $p{i}) AS c{i}, json_type(json, $p{i}) AS t{i}"
        for i in range(len(keys))
    )
    named = {f"p{i}": pointer for i, pointer in enumerate(pointers)}
    table = _query(path, f"SELECT {parts} FROM {objects}", {**source, **named})
    _check_rows(path, table)
    return pa.table(
        {
            key: _json_typed(table.column(f"c{i}"), table.column(f"t{i}"))
            for i, key in enumerate(keys)
        }
    )


def _json_typed(cells: Any, kinds: Any) -> Any:
    found = set(kinds.unique().to_pylist()) - {None, "NULL"}
    if found == {"BOOLEAN"}:
        return cells.cast(pa.bool_())
    return typed(cells, numbers=found <= {"UBIGINT", "BIGINT", "DOUBLE", "HUGEINT"})


def _check_rows(path: Path, table: Any) -> None:
    if not table.num_rows:
        raise InputError(f"{path}: has a header but no rows; nothing to anonymize")


def _query(path: Path, statement: str, parameters: dict[str, Any]) -> Any:
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "preserve_insertion_order": "true",
    }
    connection = duckdb.connect(config=settings)
    try:
        return connection.sql(statement, params=parameters).to_arrow_table()
    except duckdb.Error as error:
        # the cause quotes the line, so it is not chained
        raise InputError(_explain(path, str(error))) from None
    finally:
        connection.close()


def _explain(path: Path, message: str) -> str:
    line = re.search(r"(?:on|at) [Ll]ine:? (\d+)|in line (\d+)", message)
    where = f"line {next(g for g in line.groups() if g)}" if line else "somewhere"
    columns = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if columns:
        wanted, found = columns.groups()
        return f"{path}: {where} has {found} fields where the header has {wanted}; mend that line"
    if "unterminated quote" in message:
        return f"{path}: {where} opens a quote that is never closed; close or remove it"
    if "Maximum line size" in message:
        return f"{path}: {where} is over 2 MB long; is a quote left open, or the delimiter wrong?"
    if "unicode" in message.lower():
        return f"{path}: {where} is not valid text; state the encoding"
    return f"{path}: cannot be read ({where}); check delimiter, quotes and line ends"
