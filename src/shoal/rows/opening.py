"""`shoal.open`: a table of any size, which is anonymized where its rows are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.files.requests import request_of
from shoal.rows.choice import source_of
from shoal.rows.large_table import LargeTable
from shoal.rows.memory import Budget
from shoal.rows.replacing import with_coarser_identifiers
from shoal.table.frames import is_spark_frame


def open(
    source: str | Path | Any,
    schema: Any = None,
    *,
    roles: Mapping[str, Any] | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    person: str | Sequence[str] = (),
    household: str | Sequence[str] = (),
    rows_are_people: bool = False,
    delimiter: str | None = None,
    quote: str | None = None,
    encoding: str | None = None,
    missing: Sequence[str] | None = None,
    decimal: str | None = None,
    dates: str | None = None,
    header: bool | None = None,
    trim: bool | None = None,
    memory: str | int | None = None,
    partition_rows: int | None = None,
    processes: int | None = None,
    engine: str = "duckdb",
    master: str | None = None,
) -> LargeTable:
    r"""Open a table of any size where it is, for `shoal.anonymize`.

    Nothing is read into memory as a whole: the distinct tuples are anonymized, and the rows are
    written from the files.

    Parameters:
        source: A Parquet or CSV file, a folder of them, or a pattern such as `"visits-*.parquet"`;
            or a frame of Spark, whose rows stay in Spark. Files at an address such as
            `s3://bucket/visits` are copied to the disk through fsspec.
        schema: As for `shoal.read`, like all parameters up to `trim`.
        roles: `{column: role}`.
        hierarchies: `{column: CSV path, Hierarchy or recipe}`.
        person: The columns that identify the person of a row.
        household: The columns that identify households.
        rows_are_people: State that every row is a different person, even if identifiers repeat.
        delimiter: The delimiter of a CSV file.
        quote: The quote character of a CSV file.
        encoding: The encoding of a text file.
        missing: Texts that mean a missing value.
        decimal: The decimal mark of numbers.
        dates: The format of dates.
        header: Whether the first line of a CSV file contains the column names.
        trim: Whether spaces around the cells and the column names of a CSV file are removed.
        memory: The memory that may be used, such as `"4GB"`; by default 70 % of the machine's.
        partition_rows: Rows of a partition, at most about, for methods that separate equal
            records; by default as many as fit in memory, up to 500,000.
        processes: Number of worker processes for partitions; by default one per core.
        engine: What works on the rows of files: "duckdb", or "spark", which reads addresses
            without a copy.
        master: Where Spark runs: `"local[2]"`, a cluster, or `"sc://host"`; by default the active
            session, or a local one.

    Returns:
        The table, which reads its files when it is anonymized.

    Raises:
        InputError: The files, the schema or an option is wrong.

    >>> import shoal
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ages.csv")
    ...     size = path.write_text("age,sex\n" + "31,f\n47,m\n" * 5)
    ...     with shoal.open(path, roles={"age": "quasi", "sex": "quasi"}) as table:
    ...         print(table)
    LargeTable(1 file, quasi=['age', 'sex'])
    """
    form: dict[str, Any] = {"delimiter": delimiter, "quote": quote, "encoding": encoding}
    form |= {"missing": missing, "decimal": decimal, "dates": dates, "header": header}
    form["trim"] = trim
    asked = request_of(schema, roles, hierarchies, person, household, rows_are_people, form)
    in_spark = engine == "spark" or is_spark_frame(source)
    asked = with_coarser_identifiers(asked, in_spark=in_spark)
    budget = Budget.parse(memory)
    files = source_of(source, engine, master, budget)
    return LargeTable(files, asked, budget, partition_rows, processes)


__all__ = ["LargeTable", "open"]
