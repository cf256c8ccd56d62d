"""Identifiers in their published form: pseudonyms and other replacements of a column."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa


@dataclass(frozen=True, eq=False)
class Replaced:
    """One identifier as it is published; `Release.replaced` has those of a release.

    Attributes:
        column: The name of the column.
        cells: (rows,) the published cells, as an Arrow array.
        links: Whether equal cells show that rows belong to one person.
        treatment: How the cells were made, in words.
        record: How the cells were made, as plain data, without any secret.
    """

    column: str
    cells: Any = field(repr=False)
    links: bool
    treatment: str
    record: Mapping[str, Any] = field(default_factory=dict)

    def take(self, rows: Any) -> Any:
        """Return the cells of some rows: positions, of which some may be missing, or a slice."""
        if isinstance(rows, slice):
            rows = np.arange(len(self.cells))[rows]
        return self.cells.take(rows if isinstance(rows, pa.Array) else pa.array(rows))
