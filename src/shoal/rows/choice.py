"""Where a table is anonymized: in memory, or on disk if it does not fit in the budget.

    file or files, memory, engine ── choose ──▶ Choice: in memory, in DuckDB or in Spark, and why
    path or frame ──────────────── source_of ──▶ the rows of that engine

`runs_on_disk` and its neighbours say which methods run on a table whose rows stay on disk, and how:
on distinct tuples, on partitions, or on a sample.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.errors import InputError, unknown
from shoal.rows.file_sources import PARQUET, Files, find_files, find_source
from shoal.rows.memory import Budget, memory_needed
from shoal.rows.store import Source
from shoal.support.addresses import address_of, is_database
from shoal.support.wording import option
from shoal.table.frames import is_spark_frame

ENGINES = ("duckdb", "spark")
_SMALL = 50 * 10**6  # bytes of a file that fits in any memory


@dataclass(frozen=True)
class Choice:
    """Where a table is anonymized, and why.

    reason: a sentence for the user, empty if there is nothing to report.
    """

    on_disk: bool
    budget: Budget
    reason: str = ""
    engine: str = "duckdb"

    @property
    def in_spark(self) -> bool:
        """Whether Spark works on the rows."""
        return self.engine == "spark"

    def source(self, path: Path, master: str | None = None) -> Source:
        """Return the rows of a path for the engine; master: where Spark runs."""
        return source_of(path, self.engine, master, self.budget)


def choose(
    source: Path, memory: str | int | None, engine: str | None, algorithm: Any, columns: int
) -> Choice:
    """Return where to anonymize a source.

    Parameters:
        source: A file, a folder or a pattern, also at an address.
        memory: The stated budget, None if none is stated.
        engine: The stated engine, which always works on disk.
        algorithm: The method, which decides too if no budget is stated; None if any will do.
        columns: Number of columns with a role.

    >>> choose(Path("missing.csv"), None, None, None, 3).on_disk
    False
    """
    budget = Budget.parse(memory)
    if engine is not None and engine not in ENGINES:
        raise unknown("no engine", engine, ENGINES)
    if engine == "spark":
        why = f"the rows stay in Spark; distinct tuples may take {budget} of the driver's memory"
        return Choice(True, budget, why, engine)
    if engine is not None:
        return Choice(True, budget, f"the rows stay on disk: {engine} works within {budget}")
    if is_database(source):
        return Choice(False, budget)
    if address_of(source) is not None:
        why = f"files at an address are copied to the disk; duckdb works within {budget}"
        return Choice(True, budget, why)
    if not source.is_file():
        several = source.is_dir() or any(sign in str(source) for sign in "*?[")
        why = f"several files stay on disk; duckdb works within {budget}"
        return Choice(several, budget, why if several else "")
    if memory is None and _are_small([source]):
        return Choice(False, budget)
    try:
        files = find_files(source)
    except InputError:  # a format that is read into memory
        return Choice(False, budget)
    needed = _needed(files, columns, budget)
    return _by_size(needed, budget, memory, algorithm, "table is")


def choose_all(
    sources: Mapping[Path, int], memory: str | int | None, engine: str | None, algorithm: Any
) -> Choice:
    """Return where to anonymize several tables together.

    Parameters:
        sources: The file of each table, with its number of columns with a role.
        memory: As for `choose`, like the other parameters.
        engine: Only "duckdb" works on several tables.
        algorithm: The method.
    """
    budget = Budget.parse(memory)
    if engine not in (None, "duckdb"):
        raise InputError(
            f"several tables are released by duckdb, not by {engine}; use the engine duckdb, or "
            "leave it out"
        )
    if engine is not None:
        return Choice(True, budget, f"the rows stay on disk: {engine} works within {budget}")
    if memory is None and _are_small(sources):
        return Choice(False, budget)
    least = memory_needed(0, 0, 0).size
    needed = least
    for path, columns in sources.items():
        files = find_files(path)
        needed += _needed(files, columns, budget).size - least
    return _by_size(Budget(needed), budget, memory, algorithm, "tables are")


def _are_small(paths: Collection[Path]) -> bool:
    """Return whether files fit in any memory; a short one of Parquet may have many rows."""
    if any(path.suffix.lower() in PARQUET for path in paths):
        return False
    return sum(path.stat().st_size for path in paths) < _SMALL


def _needed(files: Files, columns: int, budget: Budget) -> Budget:
    """Return the memory that the files need; of text that exceeds the budget, at least that."""
    rows = files.rows()
    return memory_needed(rows, columns, files.text_size(budget) if rows is None else 0)


def _by_size(
    needed: Budget, budget: Budget, memory: str | int | None, algorithm: Any, what: str
) -> Choice:
    """Return where to anonymize rows that need this much memory; what: the tables in words."""
    if needed.size <= budget.size:
        reason = f"the {what} read into memory: about {needed} of {budget}"
        if draws_records(algorithm):  # its number of rows is not public
            reason = f"the {what} read into memory"
        return Choice(False, budget, reason if memory is not None else "")
    same = algorithm is None or runs_on_tuples(algorithm) or draws_records(algorithm)
    if memory is None and not same and not chooses_a_method(algorithm):
        return Choice(False, budget)
    reason = f"the rows stay on disk: in memory they need about {needed}, more than {budget}"
    if draws_records(algorithm):  # their number is not public
        reason = f"the rows stay on disk: duckdb works within {budget}"
    return Choice(True, budget, reason)


def source_of(source: Any, engine: str, master: str | None, budget: Budget) -> Source:
    """Return the rows of a frame of Spark, or of files for an engine.

    Parameters:
        source: A frame, a file, a folder or a pattern, also at an address.
        engine: One of `ENGINES`.
        master: Where Spark runs, None for the active session.
        budget: The memory that may be used.
    """
    if engine not in ENGINES:
        raise unknown("no engine", engine, ENGINES)
    if master is not None and engine != "spark":
        raise InputError(f"{option('master', master)} states where Spark runs; state "
                         f"{option('engine', 'spark')} too")  # fmt: skip
    if is_spark_frame(source):
        from shoal.rows.spark.frame_sources import SparkFrame

        return SparkFrame(source)
    if engine == "duckdb":
        return find_source(source)
    from shoal.rows.spark.frame_sources import SparkFiles

    return SparkFiles(Path(source), master, budget)


_BY_TUPLE = ("datafly", "samarati", "mingen", "incognito", "ola", "flash", "mondrian")
_GROUPING = ("sorted", "greedy", "k-member", "split-carry", "optimal", "anneal", "mondrian")
_FREEFORM = ("doka-greedy", "doka-sort-greedy", "doka-hungarian")


def runs_on_tuples(algorithm: Any) -> bool:
    """Return whether a method treats equal records alike, so that distinct tuples are enough."""
    by_tuple = getattr(algorithm, "by_tuple", getattr(algorithm, "name", "") in _BY_TUPLE)
    return bool(by_tuple and getattr(algorithm, "strict", True))


def runs_on_disk(algorithm: Any) -> bool:
    """Return whether a method runs on a table whose rows stay on disk."""
    other = draws_records(algorithm) or chooses_a_method(algorithm)
    return other or runs_on_tuples(algorithm) or runs_on_partitions(algorithm)


def chooses_a_method(algorithm: Any) -> bool:
    """Return whether a method chooses another one, on disk among those that run there."""
    return hasattr(algorithm, "choose_by")


def draws_records(algorithm: Any) -> bool:
    """Return whether a method draws records, and claims differential privacy for it."""
    return hasattr(algorithm, "price")


def runs_on_partitions(algorithm: Any) -> bool:
    """Return whether a method groups records, so that it can run on partitions."""
    return getattr(algorithm, "name", "") in _GROUPING


def refusal(algorithm: Any) -> InputError:
    """Return the error of a method that needs the table in memory."""
    name = getattr(algorithm, "name", type(algorithm).__name__)
    why = ""
    if name in _FREEFORM:
        why = (
            ": its records rarely look alike, so written rows cannot be checked by counting "
            "classes, only by comparing all people with all records"
        )
    others = dict.fromkeys((*_BY_TUPLE, *_GROUPING, "safe-la", "auto"))
    return InputError(
        f"{name} needs the table in memory{why}; state a larger memory, or use one of "
        f"{', '.join(others)}"
    )
