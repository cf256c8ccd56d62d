"""Files that stay where they are: one file, several, a pattern, or a folder of parts."""

from __future__ import annotations

import glob
import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath
from typing import Any

import pyarrow as pa

from shoal.core.publishing.parquet_checks import check_pages
from shoal.engines.engine import Engine
from shoal.engines.folders import Cells, folder_cells, folder_types, shown
from shoal.engines.memory import Budget
from shoal.errors import InputError
from shoal.reading.checks import check_names
from shoal.reading.csv_files import CsvScan, scan_csv
from shoal.reading.formats import Format
from shoal.reading.text_files import unpacked_size
from shoal.support.addresses import address_of
from shoal.support.files import check_readable, is_database, utf8_path
from shoal.support.memory import BYTES_PER_TEXT_BYTE
from shoal.support.wording import counted

PARQUET = (".parquet", ".pq")
_TEXT = (".csv", ".tsv", ".txt")


@dataclass(frozen=True)
class Files:
    """The files of one table.

    name: how messages name them. parquet: whether they are Parquet, else CSV.
    folders: for each file the values that the names of its folders give to further columns.
    copied: what each file is a copy of, for messages; empty if they are no copies.
    """

    name: Path
    paths: tuple[Path, ...]
    parquet: bool
    folders: tuple[Cells, ...] = ()
    copied: tuple[Path, ...] = ()

    def __str__(self) -> str:
        return counted(len(self.paths), "file")

    def scan(self, form: Format, expected: set[str]) -> AbstractContextManager[Scan]:
        """Return how to read the files; columns and types must be the same in all of them."""
        return scan_files(self, form, expected)

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the DuckDB engine, with working files in a folder."""
        from shoal.engines.duckdb_engine import DuckDBEngine
        from shoal.engines.duckdb_session import Session

        return DuckDBEngine(scan, Session(folder, budget, scan.files.name))

    @property
    def named(self) -> tuple[Path, ...]:
        """The name of each file in messages."""
        return self.copied or self.paths

    def text_size(self, budget: Budget) -> int:
        """Return the size of all text files in bytes; what exceeds a budget is not unpacked."""
        most = budget.size // BYTES_PER_TEXT_BYTE
        return sum(unpacked_size(path, most) for path in self.paths)

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
        raise InputError(f"{address}: this needs files on a disk; copy them there first")
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
    for path in inside:
        parquet_by_name(path)
    parquet = check_kind(name, [is_parquet(path) for path in inside])
    return Files(name, tuple(inside), parquet, folder_cells(inside, root))


def _is_data(path: Path, folder: Path) -> bool:
    return path.is_file() and has_data_name(path.relative_to(folder))


def has_data_name(path: PurePath) -> bool:
    """Return whether the name of a file in a folder is that of a part, and not hidden."""
    hidden = any(part.startswith((".", "_")) for part in path.parts)
    endings = {suffix.lower() for suffix in path.suffixes}
    return not hidden and bool(endings & {*PARQUET, *_TEXT})


def copied_name(number: int, path: Path) -> str:
    """Return a name for a copy of a file, with the endings that say how to read it."""
    known = (*PARQUET, *_TEXT, ".gz")
    return f"{number}{''.join(e.lower() for e in path.suffixes if e.lower() in known)}"


def parquet_by_name(path: Path) -> bool:
    """Return whether a file is Parquet by its ending, and refuse one that is no text either."""
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if ending not in (*PARQUET, *_TEXT, ""):
        raise InputError(
            f"{path}: only Parquet and CSV files can stay on disk; read this one with enough memory"
        )
    return ending in PARQUET


def check_kind(name: Path, parquet: Sequence[bool]) -> bool:
    """Return whether all files are Parquet, and refuse a mixture."""
    if len(set(parquet)) > 1:
        raise InputError(f"{name}: mixes Parquet and text files; name files of one kind")
    return parquet[0]


def is_parquet(path: Path) -> bool:
    """Return whether the content of a file is Parquet."""
    with path.open("rb") as handle:
        return handle.read(4) == b"PAR1"


@contextmanager
def scan_files(files: Files, form: Format, expected: set[str]) -> Iterator[Scan]:
    """Yield how to read the files; columns and types must be the same in all of them."""
    if files.parquet:
        yield _scan_parquet(files)
        return
    with ExitStack() as stack:
        texts = [
            stack.enter_context(scan_csv(path, form, expected, name))
            for path, name in zip(files.paths, files.named, strict=True)
        ]
        for text in texts[1:]:
            if text.names != texts[0].names:
                raise _differing(text.source, texts[0].source, "columns")
        names = texts[0].names
        added = _only_in_folders(files, names)
        yield Scan(files, (*names, *added), None, texts, added)


def _scan_parquet(files: Files) -> Scan:
    named = files.named
    schemas = [
        _metadata(path, name).schema.to_arrow_schema()
        for path, name in zip(files.paths, named, strict=True)
    ]
    first = schemas[0]
    for path, schema in zip(named, schemas, strict=True):
        if schema.names != first.names:
            raise _differing(path, named[0], "columns")
        for name, one, other in zip(first.names, first.types, schema.types, strict=True):
            if one != other:
                raise _differing(path, named[0], f"type of column {name!r}")
    check_names(named[0], first.names)
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
    return int(_metadata(path, path).num_rows)


def check_parquet(paths: Sequence[Path], names: Sequence[Path]) -> None:
    """Check the checksums of Parquet files before DuckDB, which ignores them, reads the files.

    names: the name of each file in messages.
    """
    for path, name in zip(paths, names, strict=True):
        try:
            check_pages(path)
        except (pa.ArrowException, OSError, ValueError):
            raise _damaged(name) from None


def _damaged(name: Path) -> InputError:
    return InputError(f"{shown(name)}: is damaged or not Parquet; write the file again")


def _metadata(path: Path, name: Path) -> Any:
    import pyarrow.parquet as pq

    try:
        return pq.read_metadata(utf8_path(path))
    except (pa.ArrowException, OSError, ValueError):
        raise _damaged(name) from None
