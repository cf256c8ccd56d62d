"""Studies that can be repeated: `shoal experiment NAME --out DIR`, one study a module."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from shoal.errors import InputError


@dataclass(frozen=True)
class Experiment:
    """One study.

    module: where it lives; its `run(out, full=, data=)` writes tables, pictures and a page, and
        returns the page's path.
    data: tables that it can be run on, the first by default.
    """

    about: str
    module: str
    data: tuple[str, ...]

    def run(self, out: Path, *, full: bool = False, data: str | None = None) -> Path:
        """Run the study into a folder; what is there already is not computed again."""
        chosen = data or self.data[0]
        if chosen not in self.data:
            raise InputError(f"no data {chosen!r} for this; there are {', '.join(self.data)}")
        study: Any = import_module(self.module)
        page: Path = study.run(out, full=full, data=chosen)
        return page


EXPERIMENTS: Mapping[str, Experiment] = {
    "partition-benchmark": Experiment(
        "Methods that group records: loss and time against rows, k and attributes "
        "(Liang 2020, figures 3.2 to 3.8)",
        "shoal.experiments.partition_benchmark",
        ("census-income", "fars", "adult"),
    ),
}

__all__ = ["EXPERIMENTS", "Experiment"]
