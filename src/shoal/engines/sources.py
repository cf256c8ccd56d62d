"""Files that stay where they are: one file, several, a pattern, or a folder of parts."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.engines.engine import Engine
from shoal.engines.folders import Cells, folder_cells, folder_types, shown
from shoal.engines.memory import Budget
from shoal.errors import InputError
from shoal.reading.checks import check_names
from shoal.reading.csv_files import CsvScan, scan_csv
from shoal.reading.formats import Format
from shoal.support.addresses import address_of
from shoal.support.files import check_readable, is_database, utf8_path
from shoal.support.wording import counted

_PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class Files:
    """The files of one table.

    name: how messages name them. parquet: whether they are Parquet, else CSV.
    folders: for each file the values that the names of its folders give to further columns.
    """

    name: Path
    paths: tuple[Path, ...]
    parquet: bool
    folders: tuple[Cells, ...] = ()

    def __str__(self) -> str:
        return counted(len(self.paths), "file")

    def scan(self, form: Format, expected: set[str]) -> AbstractContextManager[Scan]:
        """Return how to read the files; columns and types must be the same in all of them."""
        return scan_files(self, form, expected)

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the DuckDB engine, with working files in a folder."""
        from shoal.engines.duckdb_engine import DuckDBEngine

        return DuckDBEngine(scan, folder, budget)

    @property
    def several(self) -> bool:
        """Whether there is more than one file, or a folder."""
        return len(self.paths) > 1 or self.name != self.paths[0]

    @property
    def size(self) -> int:
        """Size of all files in bytes; compressed text counts five times."""
        return sum(
            path.stat().st_size * (5 if path.suffix.lower() == ".gz" else 1) for path in self.paths
        )

    def rows(self) -> int | None:
        """Return the number of rows of Parquet files, None for text."""
        return sum(map(parquet_rows, self.paths)) if self.parquet else None


@dataclass(frozen=True)
class Scan:
    """How an engine reads files.

    names: the columns. types: the Arrow type of each column of Parquet files, None for text.
    texts: how DuckDB reads each text file. folders: the columns that only folders name.
    """

    files: Files
    names: tuple[str, ...]
    types: Mapping[str, Any] | None
    texts: Sequence[CsvScan] = field(default=())
    folders: tuple[str, ...] = ()

    @property
    def guesses(self) -> dict[str, str]:
        """File settings that the data determines."""
        return dict(self.texts[0].guesses) if self.texts else {}


def find_files(source: str | Path) -> Files:
    """Return the files that a path, a folder or a pattern such as `visits-*.csv` names."""
    name = Path(source)
    if is_database(source):
        raise InputError("a database is read into memory; leave out memory and engine")
    if (address := address_of(source)) is not None:
        raise InputError(
            f"{address}: object stores are read by Spark: use engine spark, or copy the files to a "
            "disk first"
        )
    root = name
    if name.is_dir():
        inside = sorted(path for path in name.rglob("*") if _is_data(path, name))
        if not inside:
            raise InputError(f"{name}: has no Parquet or CSV files")
    elif name.exists() or not glob.has_magic(str(source)):
        inside = [name]
    else:
        inside = sorted(Path(found) for found in glob.glob(str(source), recursive=True))  # noqa: PTH207
        if not inside:
            raise InputError(f"{source}: no file matches; check the pattern")
        plain = itertools.takewhile(lambda part: not glob.has_magic(part), name.parts)
        root = Path(*plain)
    for path in inside:
        check_readable(path)
    kinds = {_is_parquet(path) for path in inside}
    if len(kinds) > 1:
        raise InputError(f"{name}: mixes Parquet and text files; name files of one kind")
    return Files(name, tuple(inside), kinds.pop(), folder_cells(inside, root))


def _is_data(path: Path, folder: Path) -> bool:
    hidden = any(part.startswith((".", "_")) for part in path.relative_to(folder).parts)
    endings = {suffix.lower() for suffix in path.suffixes}
    return path.is_file() and not hidden and bool(endings & {*_PARQUET, *_TEXT})


def _is_parquet(path: Path) -> bool:
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if ending not in (*_PARQUET, *_TEXT, ""):
        raise InputError(
            f"{path}: only Parquet and CSV files can stay on disk; read this one with enough memory"
        )
    with path.open("rb") as handle:
        return handle.read(4) == b"PAR1"


@contextmanager
def scan_files(files: Files, form: Format, expected: set[str]) -> Iterator[Scan]:
    """Yield how to read the files; columns and types must be the same in all of them."""
    if files.parquet:
        yield _scan_parquet(files)
        return
    with ExitStack() as stack:
        texts = [stack.enter_context(scan_csv(path, form, expected)) for path in files.paths]
        for text in texts[1:]:
            if text.names != texts[0].names:
                raise _differing(text.source, texts[0].source, "columns")
        names = texts[0].names
        added = _only_in_folders(files, names)
        yield Scan(files, (*names, *added), None, texts, added)


def _scan_parquet(files: Files) -> Scan:
    schemas = [_metadata(path).schema.to_arrow_schema() for path in files.paths]
    first = schemas[0]
    for path, schema in zip(files.paths, schemas, strict=True):
        if schema.names != first.names:
            raise _differing(path, files.paths[0], "columns")
        for name, one, other in zip(first.names, first.types, schema.types, strict=True):
            if one != other:
                raise _differing(path, files.paths[0], f"type of column {name!r}")
    check_names(files.paths[0], first.names)
    types = dict(zip(first.names, first.types, strict=True))
    added = _only_in_folders(files, first.names)
    types |= {n: kind for n, kind in folder_types(files.folders).items() if n in added}
    return Scan(files, tuple(types), types, folders=added)


def _only_in_folders(files: Files, names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns that the names of folders have and the files do not."""
    return tuple(name for name in files.folders[0] if name not in names)


def _differing(path: Path, first: Path, what: str) -> InputError:
    return InputError(
        f"{shown(path)}: its {what} differ from {first.name}; all parts must be alike"
    )


def parquet_rows(path: Path) -> int:
    """Return the number of rows of a Parquet file."""
    return int(_metadata(path).num_rows)


def _metadata(path: Path) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(utf8_path(path))
    except (pa.ArrowException, OSError, ValueError):
        raise InputError(
            f"{shown(path)}: is damaged or not Parquet; write the file again"
        ) from None
