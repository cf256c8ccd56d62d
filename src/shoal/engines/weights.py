"""Sampling weights of a table on disk: checked by their distinct values, and by person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from shoal.core.weights import Weights
from shoal.engines.dictionaries import Encoder
from shoal.engines.engine import Dictionary, Engine, Plan, Values
from shoal.engines.packing import Packing
from shoal.errors import InputError
from shoal.support.arrays import Codes, Floats


@dataclass(frozen=True, eq=False)
class WeightValues:
    """The distinct weights.

    values: (codes,) the weight of each code. dictionary: the code of each value of the source.
    """

    column: str
    values: Floats
    dictionary: Dictionary

    @classmethod
    def of(cls, name: str, encoder: Encoder, found: Values) -> WeightValues:
        """Return the weights of distinct values; wrong ones are an error that counts their rows."""
        weights = Weights.of(name, encoder.cells(name, found.values), found.counts)
        codes = np.arange(len(found.values), dtype=np.int32)
        return cls(name, weights.values, Dictionary(found.values, codes, len(codes)))

    @property
    def domain(self) -> int:
        """Number of codes."""
        return len(self.values)

    def of_rows(self, codes: Codes) -> Weights:
        """Return the weights of rows with these codes."""
        return Weights(self.column, self.values[codes])

    def check_people(self, engine: Engine, file: Path) -> None:
        """Reject people whose rows have different weights.

        Values of the source that are the same number have one code here.
        """
        _, same = np.unique(self.values, return_inverse=True)
        packing = Packing.of({self.column: int(same.max()) + 2})
        rows = engine.release(Plan(packing, {self.column: same.astype(np.int32)}))
        counted = rows.count_classes()
        assert counted.people is not None
        assert rows.total.people is not None
        if int(counted.people.sum()) != int(rows.total.people[0]):
            raise InputError(
                f"{file}: column {self.column!r} is the sampling weight, but some people have rows "
                "with different weights; a weight belongs to a person, so give all rows of a "
                "person the same one"
            )


def column_of_weights(names: Sequence[str], specs: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Return the column of the sampling weights, None if there is none.

    Parameters:
        names: The columns with the role weight.
        specs: The options of each column.
    """
    if not names:
        return None
    if len(names) > 1:
        raise InputError(f"{', '.join(names)} have the role weight; a table has one such column")
    if specs[names[0]].get("publish"):
        raise InputError(
            f"column {names[0]!r}: a weight is published only in memory; leave out publish, or "
            "state a larger memory"
        )
    return names[0]
