"""Query files with DuckDB, one at a time.

The process shares one database, because opening one takes longer than reading a small file. A
large file gets a database of its own, which returns its memory when it is closed. Both store
nothing, download nothing and write nothing to disk.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.support.files import utf8_path

_LARGE = 1 << 24  # bytes of a file from which a database of its own is worth its memory


def query(
    path: Path, statement: str, parameters: Mapping[str, Any], explain: Callable[[str], str]
) -> Any:
    """Return the result of a statement about `$path` as an Arrow table.

    explain: converts the message of DuckDB, which quotes cells, to one that does not.
    """
    import duckdb

    large = path.stat().st_size >= _LARGE
    cursor = _open() if large else _database(os.getpid()).cursor()
    try:
        asked = cursor.sql(statement, params={"path": exact_pattern(path), **parameters})
        return asked.to_arrow_table()
    except duckdb.InterruptException:
        raise KeyboardInterrupt from None
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except duckdb.Error as error:
        # not chained, because the cause quotes the line
        raise InputError(explain(str(error))) from None
    finally:
        cursor.close()


@cache
def _database(process: int) -> Any:
    """Open the database of this process; a forked child must not use its parent's."""
    return _open()


def _open() -> Any:
    import duckdb

    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "enable_external_file_cache": "false",
        "preserve_insertion_order": "true",
        "python_enable_replacements": "false",
        "temp_directory": "",
    }
    return duckdb.connect(config=settings)


def exact_pattern(path: Path) -> str:
    """Return a pattern that matches only this file, whatever characters its name contains."""
    return re.sub(r"([*?\[])", r"[\1]", utf8_path(path.absolute()))
