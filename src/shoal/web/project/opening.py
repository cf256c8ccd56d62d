"""Questions that the Open and Describe screens ask the analyst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.web.project.desk import Desk, FileRequest
from shoal.web.project.source import PREVIEW_ROWS, PersonQuestion, Preview, is_spreadsheet

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
    from shoal.reading import Format
    from shoal.reading.previews import preview

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
    from shoal.reading.spreadsheets import sheet_names

    return tuple(sheet_names(path)) if is_spreadsheet(path) else ()


def _first_table(path: Path, form: Mapping[str, Any], sheets: Sequence[str]) -> str:
    """Return the first sheet that has a table; others may have notes."""
    from shoal.reading import Format
    from shoal.reading.previews import preview

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
    from shoal.core.people import deciding_identifier
    from shoal.inspection import describe

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
