"""Memory budgets: read from text, compared with the size of a table."""

from __future__ import annotations

import re
from dataclasses import dataclass

from shoal.errors import InputError
from shoal.support.memory import BYTES_PER_TEXT_BYTE, usable_memory

_UNITS = {"": 1, "B": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_LEAST = 200 * 10**6  # bytes that Shoal and DuckDB need in any case
_LIBRARIES = 400 * 10**6  # bytes of a process with its libraries and kernels
_BYTES_PER_CELL = 45  # of a table in memory with its release, measured on 2 million rows


@dataclass(frozen=True)
class Budget:
    """A number of bytes.

    >>> Budget.parse("1.5GB"), str(Budget(1_500_000_000))
    (Budget(size=1500000000), '1.5 GB')
    """

    size: int

    def __str__(self) -> str:
        unit = next(u for u in "TGMKB" if self.size >= _UNITS[u] or u == "B")
        return f"{self.size / _UNITS[unit]:.3g} {unit if unit == 'B' else f'{unit}B'}"

    @classmethod
    def parse(cls, text: str | int | None) -> Budget:
        """Return the budget that a text such as `4GB` or `512 MiB` states.

        Without a text it is a share of the machine's memory.
        """
        if text is None:
            return cls(usable_memory())
        found = re.fullmatch(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([kmgt]?)(i?)(b?)\s*", str(text).lower())
        if not found or (found[3] and not found[2]):
            raise InputError("memory must be a size such as 4GB or 512MB")
        unit = _UNITS[found[2].upper()]
        if found[3]:
            unit = 1024 ** "KMGT".index(found[2].upper()) * 1024
        size = int(float(found[1]) * unit)
        if size < _LEAST:
            raise InputError(f"memory must be at least {cls(_LEAST)}, not {cls(size)}")
        return cls(size)

    @property
    def for_duckdb(self) -> int:
        """The limit of DuckDB beside the libraries of the process; it uses somewhat more."""
        return max(self.share(0.3), int(0.8 * (self.size - _LIBRARIES)))

    def share(self, part: float) -> int:
        """Return a part of the budget in bytes."""
        return int(self.size * part)


def memory_needed(rows: int | None, columns: int, text_bytes: int) -> Budget:
    """Return the estimated memory that a table needs with its release.

    rows: None if it is not known before the text is read.
    """
    if rows is None:
        return Budget(_LEAST + text_bytes * BYTES_PER_TEXT_BYTE)
    return Budget(_LEAST + rows * columns * _BYTES_PER_CELL)
