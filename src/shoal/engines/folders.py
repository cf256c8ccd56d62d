"""Columns that are only in the names of folders: `year=2024/month=3/part.parquet`."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pyarrow as pa

from shoal.errors import InputError

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
