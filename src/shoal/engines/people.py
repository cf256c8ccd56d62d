"""People and households of a table whose rows stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from shoal.core.grouping import group_keys
from shoal.core.people import TEXT_WORDS, Deciding, Unit, deciding_of
from shoal.engines.engine import Engine, Filled
from shoal.errors import RepeatedIdentifier
from shoal.support.arrays import Counts


def refuse_repeated(engine: Engine, names: Sequence[str], file: Path) -> None:
    """Reject identifiers that repeat, if no column identifies people.

    names: the identifiers.
    """
    found = deciding_of(names, lambda name: count_identifier(engine, name))
    if found is not None and found.repeats:
        error = RepeatedIdentifier(found.column, found.distinct, found.filled)
        error.args = (f"{file}: {error}",)
        raise error


def count_identifier(engine: Engine, name: str) -> Deciding | None:
    """Count the values of an identifier; None if it is free text, which decides nothing."""
    found = engine.statistics({}, [name])[name]
    assert isinstance(found, Filled)
    return None if found.words >= TEXT_WORDS else Deciding(name, found.distinct, found.rows)


def unit_of(columns: tuple[str, ...], ids: Counts | None) -> Unit | None:
    """Return the units of tuples, numbered without gaps."""
    if ids is None or not columns:
        return None
    found = group_keys(ids)
    return Unit(tuple(columns), found.ids, len(found))
