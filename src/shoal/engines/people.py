"""People and households of a table whose rows stay where they are."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from shoal.core.column import Column
from shoal.core.grouping import group_keys
from shoal.core.people import TEXT_WORDS, Deciding, Unit, deciding_of
from shoal.core.table import Table
from shoal.engines.engine import Engine, Filled, Tuples
from shoal.errors import RepeatedIdentifier
from shoal.support.arrays import Counts

if TYPE_CHECKING:
    from shoal.engines.large_table import LargeTable


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


def weighted_table(source: LargeTable, columns: Sequence[Column], found: Tuples) -> Table:
    """Return distinct tuples of a table as a weighted table, with their people and households."""
    units = source.units
    return Table(
        tuple(columns),
        found.counts,
        source.unassigned,
        unit_of(units["person"], found.person),
        unit_of(units["household"], found.household),
        units["rows_are_people"],
        source.guessed,
    )
