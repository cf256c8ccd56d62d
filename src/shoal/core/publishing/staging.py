"""Rows that arrive in batches, written to one file or to a folder of Parquet or CSV parts.

Everything is staged beside the target, so that it can be checked as written before it is renamed.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

import pyarrow as pa

from shoal.core.publishing.writing import (
    BATCH,
    check_ending,
    dates_at_midnight,
    decoded,
    open_writer,
    write_table,
)
from shoal.errors import OutputError
from shoal.support.addresses import AddressPath, FolderPath, address_of, on_this_disk
from shoal.support.files import replace_file
from shoal.support.folders import MANIFEST, replace_folder
from shoal.support.memory import return_memory
from shoal.support.object_stores import Store
from shoal.support.options import check_choice
from shoal.support.outputs import as_output
from shoal.support.progress import report

PART_ROWS = 16 * BATCH  # about 4 million
Parts = Literal["parquet", "csv"]


def writes_parts(path: str | Path) -> bool:
    """Return whether a name means a folder of parts: it has no ending, or ends in a slash.

    >>> writes_parts("release"), writes_parts("release.v2/"), writes_parts("release.csv")
    (True, True, False)
    """
    ends = isinstance(path, FolderPath) or str(path).endswith(("/", os.sep))
    return ends or not Path(path).suffix


@dataclass
class Staging:
    """The files of an output before they are renamed.

    path: the name in messages. place: the temporary file, or the folder of parts.
    ending: of each part.
    """

    path: Path
    place: Path
    in_parts: bool
    ending: str = ".parquet"
    files: list[Path] = field(default_factory=list)
    rows: list[int] = field(default_factory=list)

    def write(self, batches: Iterable[Any], schema: Any, total: int) -> None:
        """Write tables of at most `BATCH` rows each, all but the last of exactly as many."""
        writer, done = self._open(schema), 0
        try:
            for batch in batches:
                if self.in_parts and self.rows[-1] >= PART_ROWS:
                    writer.close()
                    writer = self._open(schema)
                writer.write_table(batch)
                self.rows[-1] += batch.num_rows
                done += batch.num_rows
                report("write", done, total)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError, pa.ArrowTypeError):
            raise OutputError(
                f"{self.path}: a column's type does not fit this format; write Parquet instead"
            ) from None
        finally:
            writer.close()
        if self.in_parts:
            self.write_manifest(schema)

    def _open(self, schema: Any) -> Any:
        file = self.place
        if self.in_parts:
            file = self.place / f"part-{len(self.files):05}{self.ending}"
        self.files.append(file)
        self.rows.append(0)
        return open_writer(file, schema)

    def write_manifest(self, schema: Any) -> None:
        """Write which parts there are, and their numbers of rows."""
        content = {
            "format": 1,
            "columns": schema.names,
            "rows": sum(self.rows),
            "parts": [
                {"name": file.name, "rows": rows, "bytes": file.stat().st_size}
                for file, rows in zip(self.files, self.rows, strict=True)
            ],
        }
        text = json.dumps(content, indent=2, ensure_ascii=False)
        (self.place / MANIFEST).write_text(f"{text}\n", encoding="utf-8")


def is_text_output(path: str | Path, parts: Parts = "parquet") -> bool:
    """Return whether an output is text; reject an unknown ending.

    parts: the format of the parts, if the name means a folder.

    >>> is_text_output("release.csv"), is_text_output("release"), is_text_output("release", "csv")
    (True, False, True)
    """
    check_choice("parts", parts, get_args(Parts))
    return parts == "csv" if writes_parts(path) else check_ending(Path(path)) != ".parquet"


def write_output(
    table: Any, path: str | Path, *, force: bool = False, parts: Parts = "parquet"
) -> None:
    """Write an Arrow table to a file or a folder of parts, completely or not at all."""
    return_memory(table.num_rows)
    if not writes_parts(path) and address_of(path) is None:
        write_table(table, Path(path), force=force)
        return
    if is_text_output(path, parts):
        table = dates_at_midnight(table)
    starts = range(0, table.num_rows, BATCH)
    batches = (decoded(table.slice(start, BATCH)) for start in starts)
    with staged(path, force=force, parts=parts) as staging:
        staging.write(batches, decoded(table.slice(0, 0)).schema, table.num_rows)


@contextmanager
def staged(path: str | Path, *, force: bool = False, parts: Parts = "parquet") -> Iterator[Staging]:
    """Yield the staging of an output; it replaces the target when the block ends without error.

    An output at an address is staged on the disk and copied there at the end.
    """
    path = on_this_disk(path)
    address, target = address_of(path), Path(path)
    if address is not None:
        ending = None if writes_parts(path) else check_ending(target)
        with Store(address).uploaded(ending) as place:
            yield Staging(AddressPath(address), place, ending is None, f".{parts}")
        return
    if writes_parts(path):
        with as_output(replace_folder(target, force=force), target) as folder:
            yield Staging(target, folder, in_parts=True, ending=f".{parts}")
        return
    check_ending(target)
    with as_output(replace_file(target, force=force), target) as temporary:
        yield Staging(target, temporary, in_parts=False)
