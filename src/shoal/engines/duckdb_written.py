"""The classes of written files, counted by DuckDB from the text or values that they contain."""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from shoal.core.publishing.formulas import unescape_names
from shoal.engines.duckdb_released import counted_of, pack_words
from shoal.engines.duckdb_session import Session, literal
from shoal.engines.duckdb_sources import parquet_files, places_of
from shoal.engines.engine import PERSON, Counted
from shoal.engines.memory import Budget
from shoal.engines.packing import Packing
from shoal.engines.sources import check_parquet
from shoal.reading.engine import exact_pattern
from shoal.support.files import utf8_path
from shoal.support.temporaries import temporary_folder


def count_written(
    session: Session,
    files: Sequence[Path],
    labels: Mapping[str, Any],
    value: str | None,
    text: bool,
) -> Counted:
    """Count the classes of written files, by a further column if one is named.

    labels: for each column the published cells, in the order of their codes.
    value: if `labels` does not have it, its distinct cells are counted as people.
    text: whether the files are CSV.
    """
    by_person = value is not None and value not in labels
    quasi = [name for name in labels if name != value]
    counted = [*quasi, *([] if by_person or value is None else [value])]
    if not text:
        check_parquet(files, files)
    names, source = written_rows(files, [*quasi, *([] if value is None else [value])])
    places = places_of(names)
    listed = "".join(f"{places[name]}, " for name in counted)
    counts = "count(*) AS n"
    if by_person and value is not None:
        person = places[value]
        counts += f", count(DISTINCT {person}) + count(*) - count({person}) AS {PERSON}"
    cells: dict[str, str] = {}
    joins = []
    for number, name in enumerate(counted):
        kept = pa.table({"v": labels[name], "r": np.arange(len(labels[name]), dtype=np.int64)})
        session.store(f"labels{number}", kept)
        same = f"g.{places[name]} IS NOT DISTINCT FROM labels{number}.v"
        joins.append(f"LEFT JOIN labels{number} ON {same}")
        cells[name] = f"labels{number}.r"
    packing = Packing.of({name: len(labels[name]) + 1 for name in quasi})
    packed = pack_words(packing, cells) if quasi else []
    words = [f"{word} AS k{j}" for j, word in enumerate(packed)]
    if value in cells:
        words.append(f"{cells[value]} AS v")
    words += ["n", PERSON] if by_person else ["n"]
    found = session.arrow(
        f"SELECT {', '.join(words)} FROM (SELECT {listed}{counts} FROM {source} GROUP BY ALL) g "
        f"{' '.join(joins)}"
    )
    return counted_of(found, len(packed))


def count_on_disk(
    files: Sequence[Path], labels: Mapping[str, Any], value: str | None, text: bool, budget: Budget
) -> Counted:
    """Count the classes of written files in a database of their own."""
    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        session = Session(folder, budget, files[0].parent)
        try:
            return count_written(session, files, labels, value, text)
        finally:
            session.close()


def written_rows(
    files: Sequence[Path], expected: Sequence[str], *, missing: bool = False
) -> tuple[list[str], str]:
    """Return the names of the columns of written files, and what to select from; c0, c1, … there.

    Nothing about a text file is detected. A missing cell is empty, and an empty text is quoted; a
    missing cell of the only column is quoted too, because an empty line would not be a row.

    expected: the names before formulas in them were escaped.
    missing: whether quoted empty texts are missing in all files.
    """
    if files[0].suffix == ".parquet":
        names = list(pq.read_schema(utf8_path(files[0])).names)
        return names, parquet_files(files, len(names))
    sign = "\t" if files[0].suffix == ".tsv" else ","
    with files[0].open(encoding="utf-8", newline="") as handle:
        names = list(unescape_names(next(csv.reader(handle, delimiter=sign), []), expected))
    paths = ", ".join(literal(exact_pattern(path)) for path in files)
    columns = ", ".join(f"{place}: 'VARCHAR'" for place in places_of(names).values())
    quoted_nulls = "true" if missing or len(names) == 1 else "false"
    return names, (
        f"read_csv([{paths}], auto_detect=false, header=true, columns={{{columns}}}, "
        f"delim={literal(sign)}, quote='\"', escape='\"', nullstr='', strict_mode=true, "
        "null_padding=false, hive_partitioning=false, new_line='\\n', compression='none', "
        f"allow_quoted_nulls={quoted_nulls})"
    )
