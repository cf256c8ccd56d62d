"""The type of frame that a table was read from, so that a release has the same type."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.core.table import Table


@dataclass(frozen=True, eq=False)
class Origin:
    """Where a table came from.

    library: `pandas`, `polars` or another one, whose releases are pyarrow tables.
    index: the labels of a pandas frame's rows, None elsewhere.
    """

    library: str = "pyarrow"
    index: Any = None

    def take(self, rows: Any) -> Origin:
        """Return the origin of the rows at these positions."""
        return self if self.index is None else replace(self, index=self.index[rows])


def origin_of(data: Any, table: Table) -> Table:
    """Return the table with the type of the frame that it was read from."""
    library = type(data).__module__.partition(".")[0]
    index = getattr(data, "index", None) if library == "pandas" else None
    return replace(table, origin=Origin(library, index))
