"""Addresses of object stores and distributed file systems, such as s3://bucket/name."""

from __future__ import annotations

import re
from pathlib import Path

_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+")  # one letter is a drive


def address_of(path: str | Path) -> str | None:
    """Return a path as an address, None if it is an ordinary path.

    A `Path` has lost one of the two slashes.

    >>> address_of(Path("s3://bucket/visits")), address_of("visits.csv"), address_of("C:/a.csv")
    ('s3://bucket/visits', None, None)
    """
    found = _ADDRESS.match(str(path))
    if found is None:
        return None
    slashes = ":///" if found[1] == "file" else "://"
    return f"{found[1]}{slashes}{str(path)[found.end() :]}"
