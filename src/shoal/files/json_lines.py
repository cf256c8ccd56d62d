"""Read JSON lines as Arrow tables: one object per line, whose keys are the columns.

Text stays text, whole numbers stay exact, nested values stay unchanged.
"""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError
from shoal.files.formats import Format, Notation, typed, with_dates_checked, with_guesses
from shoal.files.query import query
from shoal.files.requests import check_names
from shoal.files.text_files import as_even_lines, as_utf8, open_bytes
from shoal.table.encoding import without_codes

_OBJECTS = "read_ndjson_objects($path, hive_partitioning=false, compression=$compression)"
_NUMBERS = {"UBIGINT", "BIGINT", "DOUBLE", "HUGEINT"}


def read_json_lines(path: Path, form: Format, keep_text: Collection[str]) -> Any:
    """Return a JSON lines file as an Arrow table."""
    with as_utf8(path, form.encoding, marked=False) as file, as_even_lines(file) as even:
        plain = even.path
        # every key becomes two columns: its text c0, c1, … and its JSON type t0, t1, …
        packing = {"compression": "gzip" if plain.suffix.lower() == ".gz" else "uncompressed"}

        def ask(statement: str, **more: str) -> Any:
            return query(plain, statement, {**packing, **more}, lambda _: _explain(path, plain))

        keys = _keys(path, plain, ask)
        parts = ", ".join(
            f"json_extract_string(json, $p{i}) AS c{i}, json_type(json, $p{i}) AS t{i}"
            for i in range(len(keys))
        )
        pointers = {
            f"p{i}": f"/{key.replace('~', '~0').replace('/', '~1')}" for i, key in enumerate(keys)
        }
        table = ask(f"SELECT {parts} FROM {_OBJECTS}", **pointers)
    columns, texts = {}, {}
    for i, key in enumerate(keys):
        texts[key] = without_codes(table.column(f"c{i}"), form.missing_of(key))
        kinds = table.column(f"t{i}")
        columns[key] = texts[key] if key in keep_text else _typed(texts[key], kinds, form.dates)
    data = with_guesses(pa.table(columns), file.guesses)
    return with_dates_checked(data, form.dates, texts)


def _keys(path: Path, plain: Path, ask: Any) -> list[str]:
    """Return all keys, those of the first object first."""
    others = ask(f"SELECT count(*) AS n FROM {_OBJECTS} WHERE json_type(json) <> 'OBJECT'")
    if others.column("n")[0].as_py():
        raise InputError(_explain(path, plain))
    first = ask(f"SELECT json_keys(json) AS k FROM {_OBJECTS} LIMIT 1")
    every = ask(f"SELECT DISTINCT unnest(json_keys(json)) AS k FROM {_OBJECTS}")
    keys = list((first.column("k")[0].as_py() or []) if first.num_rows else [])
    keys += sorted(set(every.column("k").to_pylist()) - set(keys))
    if not keys:
        raise InputError(f"{path}: no records; expected one object {{…}} per line")
    check_names(path, keys)
    return keys


def _typed(cells: Any, kinds: Any, dates: str | None) -> Any:
    """Return texts as the types of JSON that they had: only numbers may become numbers."""
    present = set(kinds.unique().to_pylist()) - {None, "NULL"}
    if present == {"BOOLEAN"}:
        return cells.cast(pa.bool_())
    return typed(cells, numbers=present <= _NUMBERS, notation=Notation(dates=dates))


def _explain(path: Path, plain: Path) -> str:
    """Return a message that names the first line that is not one object."""
    with open_bytes(plain) as handle:
        for number, line in enumerate(handle, start=1):
            if line.strip() and not _is_object(line):
                return f"{path}: line {number} is not one JSON object {{…}}; fix that line"
    return f"{path}: cannot be read as JSON lines; each line must be one object {{…}}"


def _is_object(line: bytes) -> bool:
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False
