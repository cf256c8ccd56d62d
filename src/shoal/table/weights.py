"""Sampling weights: how many people of the population each record stands for.

They are read for estimates of the population. k counts people of the sample, whatever their weight.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from shoal.errors import InputError
from shoal.support.arrays import Bools, Counts, Floats, frozen
from shoal.support.wording import counted
from shoal.table.column import Column, Kind, Role
from shoal.table.people import Grouping

if TYPE_CHECKING:
    from shoal.table.people import Unit


@dataclass(frozen=True, eq=False)
class Weights:
    """The sampling weight of each record; `Table.weights` of a table that declares one.

    Attributes:
        column: The column that has the weights.
        values: (rows,) people of the population that each record of the row stands for.

    >>> Weights.of("w", [12.5, 40]).values.tolist()
    [12.5, 40.0]
    """

    column: str
    values: Floats

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", frozen(self.values))

    def __repr__(self) -> str:
        return f"Weights({self.column}, {counted(len(self.values), 'row')})"

    @classmethod
    def of(cls, name: str, cells: Any, counts: Counts | None = None) -> Weights:
        """Return the weights in the cells of a column.

        Parameters:
            counts: (cells,) rows with each cell, for messages.

        Raises:
            InputError: A cell is missing, is not a number, or is not above 0.
        """
        column = Column.encode(name, cells, Role.QUASI)
        if column.kind is not Kind.NUMERIC or pa.types.is_temporal(column.values.type):
            raise InputError(f"column {name!r} is the sampling weight, but it is not a number")
        if column.missing is not None and (column.codes == column.missing).any():
            missing = _rows(column.codes == column.missing, counts)
            raise InputError(
                f"column {name!r} is the sampling weight, but "
                f"{counted(missing, 'row has', 'rows have')} no value in it; fill them in or "
                "remove these rows"
            )
        values = column.values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        weights = values[column.codes]
        wrong = _rows(~(np.isfinite(weights) & (weights > 0)), counts)
        if wrong:
            raise InputError(
                f"column {name!r} is the sampling weight, but in {counted(wrong, 'row')} it is "
                "not above 0; a record stands for at least itself"
            )
        return cls(name, weights.astype(np.float64))

    def take(self, rows: Any) -> Weights:
        """Return the weights of some rows."""
        return Weights(self.column, self.values[rows])

    def check_people(self, person: Unit) -> None:
        """Reject people whose rows have different weights.

        Raises:
            InputError: Some people have; the message counts them.
        """
        of_person = np.empty(person.count)
        of_person[person.ids] = self.values
        wrong = person.ids[self.values != of_person[person.ids]]
        if len(wrong):
            people = counted(len(np.unique(wrong)), "person has", "people have")
            raise InputError(
                f"column {self.column!r} is the sampling weight, but {people} rows with different "
                "weights; a weight belongs to a person, so give all rows of a person the same one"
            )

    def averaged(self, groups: Grouping, counts: Counts | None) -> Weights:
        """Return the average weight of the records of each group of rows."""
        each = self.values if counts is None else self.values * counts
        totals = np.bincount(groups.ids, each, minlength=len(groups))
        return Weights(self.column, totals / groups.sizes(counts))


def _rows(cells: Bools, counts: Counts | None) -> int:
    return int(cells.sum() if counts is None else counts[cells].sum())


def weights_of(
    arrow: Any, specs: Mapping[str, dict[str, Any]]
) -> tuple[Weights | None, dict[str, dict[str, Any]]]:
    """Return the sampling weights, and the specifications of the columns that are stored.

    A published weight is also stored as an insensitive column.
    """
    stored = {name: spec for name, spec in specs.items() if spec["role"] is not Role.WEIGHT}
    named = [name for name in specs if name not in stored]
    if not named:
        return None, stored
    if len(named) > 1:
        raise InputError(f"{', '.join(named)} have the role weight; a table has one such column")
    name = named[0]
    if specs[name].get("publish"):
        stored[name] = {**specs[name], "role": Role.INSENSITIVE}
    return Weights.of(name, arrow.column(name)), stored
