"""Dropping: an identifier that is not published, as is any identifier without a replacement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from shoal.identifiers.replacement import Context, Replacement


@dataclass(frozen=True)
class Drop(Replacement):
    """The column is left out of the release; this is the default, stated."""

    name: ClassVar[str] = "drop"
    links: ClassVar[bool] = False

    def publish(self, column: str, cells: Any, context: Context) -> None:
        """Return that nothing is published."""
