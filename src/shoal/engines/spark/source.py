"""A frame of Spark as a source of rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from shoal.engines.engine import Engine
from shoal.engines.memory import Budget
from shoal.engines.spark.failures import explained
from shoal.engines.spark.types import check_zone, types_of
from shoal.errors import InputError
from shoal.reading.checks import check_names
from shoal.reading.formats import Format


@dataclass(frozen=True, eq=False)
class SparkScan:
    """How rows of a frame are read; see `Scanned`."""

    name: Path
    frame: Any
    names: tuple[str, ...]
    types: Mapping[str, Any] | None
    guesses: Mapping[str, str] = field(default_factory=dict)
    budget: Budget = field(default_factory=lambda: Budget.parse(None))


@dataclass(frozen=True, eq=False)
class SparkFrame:
    """The rows of a frame.

    name: how messages name it. text: whether all cells are text of a file, whose types are
    inferred. guesses: file settings that the data determines.
    """

    frame: Any
    name: Path = Path("the Spark frame")
    text: bool = False
    guesses: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        return "Spark frame" if self.name == Path("the Spark frame") else str(self.name)

    @contextmanager
    def scan(self, form: Format, expected: set[str]) -> Iterator[SparkScan]:
        """Yield how to read the rows."""
        if self.frame.isStreaming:
            raise InputError("a streaming frame has no end; anonymize a frame of all its rows")
        with explained("describe the frame"):
            names, types = tuple(self.frame.columns), types_of(self.frame)
        check_names(self.name, names)
        for name in expected & set(names):
            check_zone(name, types[name])
        if form.decimal not in (None, ".") and not self.text:
            raise InputError("decimal: numbers of a frame have no decimal mark; leave it out")
        known = None if self.text else types
        yield SparkScan(self.name, self.frame, names, known, self.guesses)

    def engine(self, scan: Any, folder: Path, budget: Budget) -> Engine:
        """Return the Spark engine; Spark has its own folders for working files."""
        from shoal.engines.spark.spark_engine import SparkEngine

        return SparkEngine(replace(scan, budget=budget))
