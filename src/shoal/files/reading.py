"""Read a table with roles from a file, a database or a data frame.

    `read`        request (schema and options merged) ─→ Arrow table ─→ missing texts to nulls
                  ─→ declared types ─→ `Table`; errors name the file
    `read_arrow`  the file as an Arrow table, by the reader of its ending: CSV, Parquet, JSON lines,
                  spreadsheets, survey files; a database by its address

The types of CSV and JSON are inferred from text; Parquet keeps its types. Errors name the line,
never its content.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.files.csv_files import read_csv
from shoal.files.formats import PLAIN, Format, guesses_of
from shoal.files.query import read_query
from shoal.files.requests import (
    Request,
    as_declared,
    check_dates,
    check_kinds,
    check_rows,
    request_of,
)
from shoal.files.schema import Schema
from shoal.files.text_files import check_unpacked
from shoal.files.typed_files import (
    SPREADSHEETS,
    SURVEYS,
    read_json_lines,
    read_parquet,
    read_spreadsheet,
    read_survey,
)
from shoal.identifiers.replacements import coarsened
from shoal.support.addresses import is_database
from shoal.support.files import check_readable
from shoal.support.memory import return_memory
from shoal.support.wording import option
from shoal.table.frames import from_frame, origin_of
from shoal.table.roles import warn_unassigned, without_missing
from shoal.table.table import Table

__all__ = [
    "Format",
    "Schema",
    "read",
    "read_arrow",
]


def read(
    source: Any,
    schema: str | Path | Mapping[str, Any] | Schema | None = None,
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
    sheet: str | None = None,
    query: str | None = None,
) -> Table:
    """Read a table from a file, a database or a frame (pandas, polars, pyarrow).

    Files are CSV, Parquet and JSON lines; with the extras `excel` and `survey` also spreadsheets
    and files of Stata, SPSS and SAS, whose value labels become ordered categories. With the extra
    `sql` the source may be `postgresql://host/database`.

    The index of a data frame is ignored, and the options of files do not apply to it.

    Parameters:
        source: The path of a file, or a data frame.
        schema: A YAML file, or its content as a mapping.
        roles: `{column: role}`, or a mapping with role, type, values and other options of a column;
            they take precedence over the schema. Columns without a role are not published; one
            warning names them.
        hierarchies: `{column: CSV path, Hierarchy or recipe}`, such as
            `{"age": {"intervals": [5]}}`.
        person: The columns that identify the person of a row; they are never published, and every
            guarantee counts people instead of rows. They take precedence over the schema.
        household: The columns that identify households; k then counts households as well.
        rows_are_people: State that every row is a different person, even if identifiers repeat.
        delimiter: The delimiter of a CSV file; detected by default.
        quote: The quote character of a CSV file; detected by default.
        encoding: The encoding of a text file; detected by default.
        missing: Texts that mean a missing value, such as `["?", "NA"]`, in addition to empty
            fields.
        decimal: The decimal mark of numbers, `","` or `"."`; by default `"."`.
        dates: The format of dates, such as `"DD.MM.YYYY"`; by default like 2024-03-09.
        header: Whether the first line of a CSV file contains the column names. With `False` the
            columns are column_1, column_2, …; by default a first line that looks like data is an
            error.
        trim: Whether spaces around the cells and the column names of a CSV file are removed; by
            default they stay.
        sheet: The sheet of a spreadsheet; needed if it has several.
        query: The query to run on a database, such as `"SELECT * FROM patients"`.

    Returns:
        The table.

    Raises:
        InputError: The file, the schema or an option is wrong.

    >>> import pyarrow as pa
    >>> ages = pa.table({"age": [31, 33, 47, 48], "disease": ["flu", "asthma", "flu", "gout"]})
    >>> read(ages, roles={"age": "quasi", "disease": "sensitive"})
    Table(rows=4, quasi=['age'], sensitive=['disease'])
    """
    options: dict[str, Any]
    options = {"delimiter": delimiter, "quote": quote, "encoding": encoding, "missing": missing}
    options |= {"decimal": decimal, "dates": dates, "header": header, "trim": trim}
    options |= {"sheet": sheet, "query": query}
    asked = request_of(schema, roles, hierarchies, person, household, rows_are_people, options)
    if isinstance(source, (str, Path)):
        path = Path(source)
        data = read_arrow(
            path, asked.form, asked.text, may_be_empty=asked.declared, expected=asked.expected
        )
        table = _table(data, asked, path)
    else:
        if asked.stated:
            stated = ", ".join(asked.stated)
            raise InputError(f"{stated}: for files only; change the data frame itself")
        table = _table(from_frame(source), asked)
        table = origin_of(source, table)
    return_memory(len(table))
    warn_unassigned(table.unassigned, stacklevel=2)
    return table


def _table(data: Any, asked: Request, path: Path | None = None) -> Table:
    """Return the table; errors name the file."""
    specs, notation = asked.specs, asked.form.notation if path is not None else PLAIN
    if path is not None and not set(specs) & set(data.column_names):
        # the first line may be a person's record, so it is not shown
        raise InputError(
            f"{path}: has none of the columns {', '.join(specs)}; "
            f"{advice_on_names(specs, data.column_names)}"
        )
    try:
        if not any(str(spec.get("type")).startswith("date") for spec in specs.values()):
            check_dates(data, notation.dates)  # a declared date has a check of its own
        data = without_missing(data, specs)
        check_kinds(data, specs)
        declared = as_declared(data, specs, notation)
        table = coarsened(Table.from_arrow(declared, specs, asked.trees, **asked.units))
        return replace(table, guessed=tuple(guesses_of(data)))
    except InputError as error:
        if path is not None:
            error.args = (f"{path}: {error}", *error.args[1:])
        raise


def advice_on_names(wanted: Iterable[str], names: Iterable[str]) -> str:
    """Return what to do about a file that has none of the wanted columns."""
    folded = {name.strip().casefold() for name in names}
    if folded & {name.casefold() for name in wanted}:
        return (
            "some differ only in case or spaces; write names exactly as in the file, or remove the "
            f"spaces with {option('trim', True)}"
        )
    return (
        "does it begin with a line of names, and is the delimiter right? `shoal inspect` lists "
        "its columns"
    )


def read_arrow(
    path: Path,
    form: Format,
    keep_text: Collection[str] | None = None,
    *,
    may_be_empty: bool = False,
    expected: Collection[str] = (),
) -> Any:
    r"""Return a file as an Arrow table.

    Parameters:
        path: The file; its ending sets the format. A database is `postgresql://host/database`.
        form: The format of a text file, as far as it is known.
        keep_text: Columns that are released unchanged, which stay text; None infers the types of
            all columns.
        may_be_empty: Accept a file without rows.
        expected: Columns that the file should have; if it has one, its first line is a header.

    Returns:
        The table.

    Raises:
        InputError: The file cannot be read, or has no rows.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     size = Path(folder, "ages.csv").write_text("age;sex\n31;f\n47;m\n")
    ...     read_arrow(Path(folder, "ages.csv"), Format(delimiter=";")).to_pydict()
    {'age': [31, 47], 'sex': ['f', 'm']}
    """
    source: Path | str = path
    if is_database(path):
        source, table = "the query", read_query(str(path), form.query)
    else:
        check_readable(path)
        reader = reader_of(path)
        if reader in (read_csv, read_json_lines):
            check_unpacked(path)
        if reader is read_csv:
            table = read_csv(path, form, keep_text or (), expected)
        else:
            table = reader(path, form, keep_text or ())
    if not may_be_empty:
        check_rows(source, table)
    return table


def reader_of(path: Path) -> Callable[[Path, Format, Collection[str]], Any]:
    """Return the function that reads a file, by its ending or its first bytes."""
    endings = [suffix.lower() for suffix in path.suffixes if suffix.lower() != ".gz"]
    ending = endings[-1] if endings else ""
    if ending in SPREADSHEETS:
        return read_spreadsheet
    if ending in SURVEYS:
        return read_survey
    if ending in (".parquet", ".pq"):
        return read_parquet
    if ending in (".jsonl", ".ndjson", ".json"):
        return read_json_lines
    with path.open("rb") as handle:
        return read_parquet if handle.read(4) == b"PAR1" else read_csv
