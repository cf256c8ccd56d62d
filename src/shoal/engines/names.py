"""The columns of a source, compared with what is asked of it before any row is read."""

from __future__ import annotations

from pathlib import Path

from shoal.core.column import Role
from shoal.engines.dictionaries import check_type
from shoal.engines.engine import Scanned
from shoal.errors import InputError
from shoal.reading import advice_on_names
from shoal.reading.requests import Request


def check_names(scan: Scanned, request: Request, path: Path) -> None:
    """Reject a source without the asked columns, or with types that engines do not read.

    Parameters:
        scan: How the rows are read.
        request: The roles of columns, and who the people are.
        path: The source in messages.
    """
    names, wanted, units = scan.names, request.specs, request.units
    if not set(wanted) & set(names):
        raise InputError(
            f"{path}: has none of the columns {', '.join(wanted)}; {advice_on_names(wanted, names)}"
        )
    absent = [name for name in sorted(request.expected) if name not in names]
    if absent:
        raise InputError(f"{path}: has no column {absent[0]!r}; there are {', '.join(names)}")
    for what in ("person", "household"):
        for name in units[what]:
            role = Role(wanted.get(name, {}).get("role", Role.IDENTIFIER))
            if role is not Role.IDENTIFIER:
                raise InputError(
                    f"{path}: column {name!r} identifies the {what}, so it cannot be {role}; "
                    "give it the role identifier"
                )
    known = {*wanted, *units["person"], *units["household"]}
    for name, kind in (scan.types or {}).items():
        if name in known and kind is not None:
            check_type(name, kind)
