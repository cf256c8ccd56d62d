"""Files as sources of rows: found by path, pattern or address, and scanned where they are.

    find_source ── a path, a folder, a pattern ──────▶ Files
        └───────── an address, s3://bucket/visits ──▶ StoredFiles ── copied once ──▶ Files
                                                                                       │ scan
    names, types, how each text is read ◀── Scan ◀─────────────────────────────────────┘

Copies let all passes over the rows see the same bytes, and DuckDB needs no extension for addresses.
The folders of `year=2024/month=3/part.parquet` name columns too.
"""

from __future__ import annotations

import errno
import glob
import itertools
import re
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePath, PurePosixPath
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from shoal.errors import InputError, OutputError, ShoalError
from shoal.files.csv_files import CsvScan, scan_csv
from shoal.files.formats import Format
from shoal.files.parquet_checks import check_pages
from shoal.files.requests import check_names
from shoal.files.text_files import unpacked_size
from shoal.rows.memory import Budget
from shoal.rows.store import Engine
from shoal.support.addresses import AddressPath, address_of, is_database
from shoal.support.files import check_readable, temporary_folder, utf8_path
from shoal.support.memory import BYTES_PER_TEXT_BYTE
from shoal.support.object_stores import open_store
from shoal.support.progress import report
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
        from shoal.rows.duckdb_engine import DuckDBEngine
        from shoal.rows.duckdb_session import Session

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


_MISSING = "__HIVE_DEFAULT_PARTITION__"
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")  # without leading zeros, so that no text is lost

Cells = Mapping[str, str | None]  # the value of each folder column


def folder_cells(paths: Sequence[Path], root: Path) -> tuple[Cells, ...]:
    """Return the values that the folders of each file name, below a root.

    >>> folder_cells([Path("visits/year=2024/a.csv")], Path("visits"))
    ({'year': '2024'},)
    """
    found = tuple(_cells(path, root) for path in paths)
    for path, cells in zip(paths, found, strict=True):
        if list(cells) != list(found[0]):
            raise InputError(
                f"{shown(path)}: its folders name other columns than those of "
                f"{shown(paths[0])}; all parts must be alike"
            )
    return found


def _cells(path: Path, root: Path) -> Cells:
    parents = path.relative_to(root).parts[:-1] if path.is_relative_to(root) else ()
    pairs = [part.partition("=") for part in parents if "=" in part]
    return {
        unquote(name): None if value in (_MISSING, "") else unquote(value)
        for name, _, value in pairs
    }


def shown(path: Path) -> Path:
    """Return a path without the values that its folders name, for messages."""
    return type(path)(*(re.sub(r"=.+", "=…", part) for part in path.parts[:-1]), path.name)


def folder_types(cells: Sequence[Cells]) -> dict[str, Any]:
    """Return the Arrow type of each folder column: an integer if all values are, else text."""
    types = {}
    for name in cells[0]:
        values = [each[name] for each in cells if each[name] is not None]
        whole = values and all(_INTEGER.fullmatch(value or "") for value in values)
        types[name] = pa.int64() if whole else pa.string()
    return types


_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)


@dataclass(frozen=True)
class StoredFiles:
    """The files of one table in a store.

    name: how messages name them. store: the file system of fsspec. paths: the files in it.
    sizes: of each file in bytes, None if the store does not say. names: the address of each file.
    folders: as in `Files`.
    """

    name: Path
    store: Any = field(repr=False)
    paths: tuple[str, ...]
    sizes: tuple[int | None, ...]
    names: tuple[Path, ...]
    folders: tuple[Cells, ...]

    def __str__(self) -> str:
        return counted(len(self.paths), "file")

    @contextmanager
    def scan(self, form: Format, expected: set[str]) -> Iterator[Scan]:
        """Yield how to read copies of the files, which are removed after the block."""
        with copied(self) as files, files.scan(form, expected) as scan:
            yield scan

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the DuckDB engine, with working files in a folder."""
        engine: Engine = scan.files.engine(scan, folder, budget)
        return engine

    def copy_to(self, folder: Path) -> Files:
        """Return copies of the files in a folder."""
        total = sum(size or 0 for size in self.sizes)
        if total > shutil.disk_usage(folder).free:
            raise _full(folder)
        copies, done = [], 0
        report("copy", 0, total or None)
        listed = zip(self.paths, self.sizes, self.names, strict=True)
        for number, (path, size, name) in enumerate(listed):
            copy = folder / copied_name(number, name)
            with _reached(name, folder):
                self.store.get_file(path, str(copy))
            found = copy.stat().st_size
            if size is not None and found != size:
                raise InputError(f"{shown(name)}: was changed while it was copied; start again")
            if not found:
                raise InputError(f"{shown(name)}: the file is empty")
            copies.append(copy)
            done += found
            report("copy", done, total or None)
        parquet = check_kind(self.name, [is_parquet(copy) for copy in copies])
        return Files(self.name, tuple(copies), parquet, self.folders, self.names)


@contextmanager
def copied(source: Any) -> Iterator[Any]:
    """Yield a source that can be scanned several times: copies of the files, if in a store."""
    if not isinstance(source, StoredFiles):
        yield source
        return
    with temporary_folder(Path(tempfile.gettempdir())) as folder:
        yield source.copy_to(folder)


def find_source(source: str | Path) -> Files | StoredFiles:
    """Return the files that a path, an address, a folder or a pattern names."""
    address = None if is_database(source) else address_of(source)
    if address is None:
        return find_files(source)
    if address.startswith("file://"):
        return find_files(address.removeprefix("file://"))
    return _find_stored(address)


def _find_stored(address: str) -> StoredFiles:
    name = AddressPath(address)
    store, path = open_store(address)
    with _reached(name):
        store.invalidate_cache()
        info = _info(store, path)
        if info is None and not glob.has_magic(address):
            raise InputError(f"{address}: no such file; check the address and the credentials")
        if info is None:
            root, listed = _matching(store, address, path)
        elif info["type"] == "directory":
            root, listed = address, _inside(store, address, path)
        else:
            root, listed = address, {"": {**info, "name": path}}
    inside = sorted(listed, key=PurePosixPath)
    names = [AddressPath(f"{root.rstrip('/')}/{each}") if each else name for each in inside]
    check_kind(name, [parquet_by_name(each) for each in names])
    sizes = tuple(listed[each].get("size") for each in inside)
    for each, size in zip(names, sizes, strict=True):
        if size == 0:
            raise InputError(f"{shown(each)}: the file is empty")
    paths = tuple(listed[each]["name"] for each in inside)
    cells = folder_cells(names, AddressPath(root))
    return StoredFiles(name, store, paths, sizes, tuple(names), cells)


def _info(store: Any, path: str) -> Any:
    try:
        return store.info(path)
    except FileNotFoundError:
        return None


def _inside(store: Any, address: str, path: str) -> dict[str, Any]:
    """Return the data files of a folder, by their path inside it."""
    found = _below(store.find(path, detail=True), path)
    data = {name: info for name, info in found.items() if has_data_name(PurePosixPath(name))}
    if not data:
        raise InputError(f"{address}: has no Parquet or CSV files")
    return data


def _matching(store: Any, address: str, path: str) -> tuple[str, dict[str, Any]]:
    """Return the folder before the first pattern, and the files that match, by their path in it."""
    scheme, *parts = AddressPath(address).parts
    plain = itertools.takewhile(lambda part: not glob.has_magic(part), parts)
    root = f"{scheme}//{'/'.join(plain)}"
    found = _below(store.glob(path, detail=True), open_store(root)[1])
    data = {name: info for name, info in found.items() if not _is_hidden(name)}
    if not data:
        raise InputError(f"{address}: no file matches; check the pattern and the credentials")
    return root, data


def _below(found: Any, root: str) -> dict[str, Any]:
    files = {path: info for path, info in found.items() if info["type"] == "file"}
    inside = root.rstrip("/") + "/" if root.strip("/") else ""
    below = {}
    for path, info in files.items():
        if not path.startswith(inside):  # its folders could name columns
            raise InputError("the store lists files outside the folder of the address")
        if relative := path.removeprefix(inside).strip("/"):
            below[relative] = {**info, "name": path}
    return below


def _is_hidden(name: str) -> bool:
    return any(part.startswith(".") for part in PurePosixPath(name).parts)


@contextmanager
def _reached(name: Path, folder: Path | None = None) -> Iterator[None]:
    """Turn errors of a store, whose messages may hold credentials, into errors that do not.

    folder: where copies go.
    """
    try:
        yield
    except ShoalError:
        raise
    except Exception as error:  # of any package, with any message
        if folder is not None and isinstance(error, OSError) and error.errno in _FULL:
            raise _full(folder) from None
        raise InputError(
            f"{shown(name)}: cannot be read ({type(error).__name__}); check the address and the "
            "credentials"
        ) from None


def _full(folder: Path) -> OutputError:
    return OutputError(
        f"{folder.parent}: has no space left for copies of the files; name another folder in TMPDIR"
    )
