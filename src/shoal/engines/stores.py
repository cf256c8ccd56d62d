"""Files at addresses such as s3://bucket/visits, which fsspec lists and copies to the disk.

Every file is copied once, before anything is read: all passes over the rows see the same bytes,
and DuckDB needs no extension.
"""

from __future__ import annotations

import errno
import glob
import itertools
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from shoal.engines.engine import Engine
from shoal.engines.folders import Cells, folder_cells, shown
from shoal.engines.memory import Budget
from shoal.engines.sources import (
    Files,
    Scan,
    check_kind,
    copied_name,
    find_files,
    has_data_name,
    is_parquet,
    parquet_by_name,
)
from shoal.errors import InputError, OutputError, ShoalError
from shoal.reading.formats import Format
from shoal.support.addresses import AddressPath, address_of
from shoal.support.files import is_database
from shoal.support.object_stores import open_store
from shoal.support.progress import report
from shoal.support.temporaries import temporary_folder
from shoal.support.wording import counted

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
