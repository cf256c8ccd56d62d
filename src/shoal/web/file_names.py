"""Names of files that come from a browser: shown, and never used as a path."""

from __future__ import annotations

import re
import unicodedata
from pathlib import PurePosixPath

_MAX_LENGTH = 120  # characters
_COMPRESSED = frozenset({".gz", ".zst", ".bz2", ".xz"})


def display_name(name: str) -> str:
    r"""Return the name of an uploaded file to show: without folders and control characters.

    >>> display_name("C:\\people\\patients\x00.csv"), display_name("../"), display_name("")
    ('patients.csv', 'table', 'table')
    """
    last = re.split(r"[/\\]", name.rstrip("/\\"))[-1]
    return _printable(last).strip(". ")[:_MAX_LENGTH] or "table"


def table_suffix(name: str) -> str:
    """Return the ending of a file name, with that of compression: it decides how a file is read.

    >>> table_suffix("a.csv"), table_suffix("a.csv.gz"), table_suffix("a"), table_suffix("v1.2.csv")
    ('.csv', '.csv.gz', '', '.csv')
    """
    suffixes = PurePosixPath(name).suffixes
    kept = 2 if suffixes and suffixes[-1].lower() in _COMPRESSED else 1
    return "".join(suffixes[-kept:]).lower()


def _printable(text: str) -> str:
    """Return a text without characters that are invisible or change its direction."""
    return "".join(c for c in text if unicodedata.category(c)[0] != "C" and c not in "\u2028\u2029")
