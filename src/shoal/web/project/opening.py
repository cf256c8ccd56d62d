"""The opened file, and the questions about it that the screens Open and Describe ask the analyst.

look      the first rows as text, and the settings they were read with, before all is read
examine   all rows: the columns with suggested roles, and what identifies a person
Source    what the project keeps of both
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.files.csv_files import read_csv, scan_csv
from shoal.files.formats import Format
from shoal.files.parquet_checks import open_parquet
from shoal.files.query import query
from shoal.files.reading import read_arrow, reader_of
from shoal.files.typed_files import read_parquet
from shoal.support.files import check_readable
from shoal.table import encoding
from shoal.web.project.analyst import Desk, FileRequest

_FEW_VALUES = 1_000  # of a column whose most common value is looked for


def look(_: Desk, file: FileRequest) -> dict[str, Any]:
    """Return the first rows of a file and the settings it was read with.

    Parameters:
        _: The desk of the analyst.
        file: The file.

    Returns:
        Fields of `Source`: preview, detected, sheets, size, warnings and form, in which the sheet
        of a spreadsheet is filled in.
    """
    form, sheets = dict(file.form), list_sheets(_, file.path)
    if len(sheets) > 1 and "sheet" not in form:
        form["sheet"] = _first_table(file.path, form, sheets)
    found = preview(file.path, Format(**form), PREVIEW_ROWS)
    rows = tuple(tuple("" if cell is None else cell for cell in row) for row in found.rows)
    return {
        "preview": Preview(found.names, rows),
        "detected": found.settings,
        "sheets": sheets,
        "size": Path(file.path).stat().st_size,
        "warnings": found.warnings,
        "form": form,
    }


def list_sheets(_: Desk, path: Path) -> tuple[str, ...]:
    """Return the names of the sheets of a spreadsheet; none for other files.

    Parameters:
        _: The desk of the analyst.
        path: The file.
    """
    from shoal.files.typed_files import sheet_names

    return tuple(sheet_names(path)) if is_spreadsheet(path) else ()


def _first_table(path: Path, form: Mapping[str, Any], sheets: Sequence[str]) -> str:
    """Return the first sheet that has a table; others may have notes."""
    for sheet in sheets:
        try:
            preview(path, Format(**form, sheet=sheet), PREVIEW_ROWS)
        except InputError:
            continue
        return sheet
    return sheets[0]


def examine(desk: Desk, file: FileRequest, units: Mapping[str, Any]) -> dict[str, Any]:
    """Read the whole file and describe its columns and people.

    Parameters:
        desk: The desk of the analyst.
        file: The file.
        units: The stated unit of protection: `person`, `household`, `rows_are_people`.

    Returns:
        The result of `shoal.inspection.describe`, and `question`: who the people are, if an
        identifier repeats; `sampled`: the rows of the sample, if the rows stay on disk, and
        `refused`: the columns that are left out then.
    """
    from shoal.inspection import describe
    from shoal.table.people import deciding_identifier

    data, disk = desk.data(file), desk.on_disk
    if disk is not None:
        found = disk.describe(units)
        deciding = found.pop("deciding")
    else:
        found = describe(data, **units)
        identifiers = [c["name"] for c in found["columns"] if c["role"] == "identifier"]
        identifiers = [name for name in identifiers if name not in found["household"]]
        deciding = deciding_identifier(data, identifiers)
    for column in found["columns"]:
        if 1 < column["distinct"] <= _FEW_VALUES:
            column["common"] = _common(data.column(column["name"]))
    question = None
    if deciding is not None and (deciding.repeats or units.get("person")):
        question = PersonQuestion(
            deciding.column, deciding.distinct, found["records"], tuple(found["person"])
        )
    sampled = 0 if disk is None else data.num_rows
    refused = () if disk is None else disk.refused
    return {**found, "question": question, "sampled": sampled, "refused": refused}


def _common(cells: Any) -> float:
    """Return the share of the filled cells that have the most common value."""
    import pyarrow.compute as pc

    filled = cells.drop_null()
    counts = pc.value_counts(filled).field("counts") if len(filled) else None
    return 0.0 if counts is None else float(pc.max(counts).as_py() / len(filled))


def make_example(_: Desk, path: Path, rows: int) -> int:
    """Write a table of invented patients.

    Parameters:
        _: The desk of the analyst.
        path: The CSV file to write.
        rows: The number of patients.

    Returns:
        The number of rows.
    """
    import pyarrow.csv

    from shoal.datasets import patients

    pyarrow.csv.write_csv(patients(rows).to_arrow(), path)
    return rows


@dataclass(frozen=True)
class FilePreview:
    """The first rows of a file.

    Parameters:
        names: The column names.
        rows: The first rows as text; None is a missing value.
        settings: Of a CSV file: its delimiter, quote, encoding and header, stated or detected.
        warnings: What the reader reports about the file, without cell values.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[str | None, ...], ...] = field(default=(), repr=False)
    settings: dict[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


def preview(path: str | Path, form: Format | None = None, rows: int = 1_000) -> FilePreview:
    r"""Return the first rows of a file, as text.

    Parameters:
        path: The file.
        form: Its format, as far as it is known.
        rows: The number of rows.

    Returns:
        The preview.

    Raises:
        InputError: The file cannot be read.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     size = Path(folder, "ages.csv").write_text("age;sex\n31;f\n47;\n")
    ...     found = preview(Path(folder, "ages.csv"))
    >>> found.names, found.settings["delimiter"]
    (('age', 'sex'), ';')
    """
    path, form = Path(path), form or Format()
    check_readable(path)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        reader = reader_of(path)
        if reader is read_csv:
            found = _csv(path, form, rows)
        else:
            data = _head(path, form, rows) if reader is read_parquet else read_arrow(path, form)
            found = FilePreview(tuple(data.column_names), _texts(data.slice(0, rows)))
    reported = tuple(str(each.message).removeprefix(f"{path}: ") for each in caught)
    return FilePreview(found.names, found.rows, found.settings, reported)


def _csv(path: Path, form: Format, rows: int) -> FilePreview:
    with scan_csv(path, form) as scan:
        statement = f"{scan.statement.rstrip()} LIMIT {int(rows)}"
        data = query(scan.path, statement, scan.options, scan.explain)
        settings = {
            "delimiter": scan.options["delim"],
            "quote": scan.options["quote"],
            "encoding": form.encoding or scan.guesses.get("encoding", "utf-8"),
            "header": scan.options["header"],
        }
    columns = [data.column(key).to_pylist() for key in scan.keys]
    return FilePreview(scan.names, tuple(zip(*columns, strict=True)), settings)


def _head(path: Path, form: Format, rows: int) -> Any:
    """Return the first rows of a Parquet file; one that is damaged is read whole, for its error."""
    import pyarrow as pa

    try:
        with open_parquet(path) as file:
            batches = [next(file.iter_batches(batch_size=rows))] if file.metadata.num_rows else []
            return pa.Table.from_batches(batches, file.schema_arrow)
    except (pa.ArrowException, OSError, ValueError):
        return read_arrow(path, form)


def _texts(data: Any) -> tuple[tuple[str | None, ...], ...]:
    columns = [_text(data.column(name)) for name in data.column_names]
    return tuple(zip(*columns, strict=True))


def _text(cells: Any) -> list[str | None]:
    import pyarrow as pa

    if pa.types.is_nested(cells.type):
        return [None if cell is None else "[…]" for cell in cells.to_pylist()]
    return list(encoding.texts(cells.combine_chunks()))


PREVIEW_ROWS = 1_000


@dataclass(frozen=True)
class Preview:
    """The first rows of the file, as text.

    Parameters:
        names: The column names.
        rows: At most 1,000 rows; an empty text is a missing value.
    """

    names: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = field(default=(), repr=False)


@dataclass(frozen=True)
class PersonQuestion:
    """An identifier repeats, so the owner has to say who the person behind a row is.

    Parameters:
        column: The identifier that repeats.
        distinct: Its number of distinct values.
        rows: The number of rows.
        suggested: The answer that is filled in: the column, or empty if each row is a person.
    """

    column: str
    distinct: int
    rows: int
    suggested: tuple[str, ...] = ()


@dataclass(frozen=True)
class Source:
    """The opened file.

    Parameters:
        path: The file on this computer; an upload is in the private workspace.
        name: The name of the file as its owner knows it.
        uploaded: Whether `path` is a copy in the workspace, which is removed at the end.
        form: The stated settings of the file: delimiter, quote, encoding, header, missing, decimal,
            dates, sheet. They are options of `shoal.read`.
        detected: Settings that were detected, such as `{"delimiter": ";"}`.
        sheets: The sheets of a spreadsheet, empty for other files.
        size: Bytes of the file.
        rows: Number of rows; None until the whole file is read.
        people: Number of people; None until the whole file is read.
        about: Rows, people and households in words.
        preview: The first rows.
        warnings: What to check, in sentences without cell values.
        question: Who the people are, if that has to be answered.
        person: The columns that identify the person of a row.
        household: The columns that identify the household of a row.
        rows_are_people: Whether the owner states that every row is a different person.
        sampled: Rows of the sample that suggestions and estimates come from, if the rows stay on
            disk because the table is larger than the memory; 0 if it is in memory.
        refused: Columns that are left out, because their type needs the table in memory.
    """

    path: Path
    name: str
    uploaded: bool = False
    form: Mapping[str, Any] = field(default_factory=dict)
    detected: Mapping[str, str] = field(default_factory=dict)
    sheets: tuple[str, ...] = ()
    size: int = 0
    rows: int | None = None
    people: int | None = None
    about: str = ""
    preview: Preview = field(default_factory=Preview)
    warnings: tuple[str, ...] = ()
    question: PersonQuestion | None = None
    person: tuple[str, ...] = ()
    household: tuple[str, ...] = ()
    rows_are_people: bool = False
    sampled: int = 0
    refused: tuple[str, ...] = ()

    @property
    def on_disk(self) -> bool:
        """Whether the rows stay on disk."""
        return self.sampled > 0

    @property
    def stem(self) -> str:
        """The name of the file without folders and ending, for the names of outputs."""
        return Path(self.name).stem or "table"

    @property
    def asks_for_person(self) -> bool:
        """Whether the owner still has to say what identifies a person: nothing is guessed."""
        return self.question is not None and not self.person and not self.rows_are_people

    @property
    def units(self) -> dict[str, Any]:
        """The unit of protection, as `shoal.read` takes it."""
        return {
            "person": self.person,
            "household": self.household,
            "rows_are_people": self.rows_are_people,
        }


def is_spreadsheet(name: str | Path) -> bool:
    """Return whether a file is a spreadsheet, by its ending.

    >>> is_spreadsheet("patients.xlsx"), is_spreadsheet("patients.csv")
    (True, False)
    """
    from shoal.files.typed_files import SPREADSHEETS

    return Path(name).suffix.lower() in SPREADSHEETS
