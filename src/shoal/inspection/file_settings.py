"""Read a file for inspection, with the options that it needs to be read well.

A file is read once as stated. If its texts turn out to be numbers or dates in another notation, or
contain sure codes of missing values, it is read again with the options that say so. They are part
of the suggested schema, so that the release reads the file in the same way. What may be read in two
ways, such as 03/04/2024, is never guessed: it stays text and is named in a hint.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from shoal.errors import InputError
from shoal.files.formats import Format, guesses_of
from shoal.files.reading import read_arrow
from shoal.inspection.hints import misread_texts, padded
from shoal.inspection.shapes import Codes, find_codes
from shoal.table.column import Column
from shoal.table.encoding import is_text


@dataclass(frozen=True)
class Read:
    """A table, and the options that were found to be needed to read it.

    options: settings of the file format, such as `{"dates": "MM/DD/YYYY"}`.
    missing: for each column, the codes that were read as missing values.
    """

    data: Any
    options: dict[str, Any] = field(default_factory=dict)
    missing: dict[str, tuple[str, ...]] = field(default_factory=dict)

    @property
    def hints(self) -> list[dict[str, Any]]:
        """What was read in which way, as hints."""
        said = ", ".join(f"{name} {value!r}" for name, value in self.options.items())
        found = [{"columns": [], "hint": f"the file was read with {said}"}] if said else []
        by_codes: dict[tuple[str, ...], list[str]] = {}
        for name, codes in self.missing.items():
            by_codes.setdefault(codes, []).append(name)
        for codes, names in by_codes.items():
            hint = f"{' '.join(codes)} was read as a missing value, as the schema states"
            found.append({"columns": names, "hint": hint})
        return found

    def declared(self, described: dict[str, Any]) -> dict[str, Any]:
        """Return the description of the table with what the schema has to state."""
        for column in described["columns"]:
            column["read_as_missing"] = list(self.missing.get(column["name"], ()))
        return {**described, "file": {**guesses_of(self.data), **self.options}}


def read_well(path: Path, form: Format, expected: Collection[str] = ()) -> Read:
    """Read a file as stated, and again with the options that its texts need.

    Parameters:
        path: The file.
        form: The stated format; it takes precedence.
        expected: Columns that the file should have.

    Raises:
        InputError: The file cannot be read as stated.
    """
    data = read_arrow(path, form, expected=expected)
    options: dict[str, Any] = {}
    if form.trim is None and padded(data):
        options = {"trim": True}
        form = replace(form, trim=True)
        data = read_arrow(path, form, expected=[name.strip() for name in expected])
    codes = {
        name: find_codes(Column.encode(name, data.column(name).unique()))
        for name in data.column_names
        if is_text(data.schema.field(name).type)
    }
    missing = {
        name: tuple(each.rows)
        for name, each in codes.items()
        if each.rows and each.are_sure and name not in form.missing_in
    }
    notation = _needed(data, form, codes)
    if not notation and not missing:
        return Read(data, options)
    again = replace(form, **notation, missing_in={**form.missing_in, **missing})
    try:
        return Read(read_arrow(path, again, expected=expected), {**options, **notation}, missing)
    except InputError:  # some values have another form: they stay text
        return Read(data, options)


def _needed(data: Any, form: Format, codes: Mapping[str, Codes]) -> dict[str, Any]:
    """Return the options that all texts agree on and that change no column read otherwise."""
    found: dict[str, set[Any]] = {}
    for hint in misread_texts(data, codes):
        for name, value in hint["options"].items():
            found.setdefault(name, set()).add(value)
    kinds = data.schema.types
    conflicts = {
        "decimal": any(pa.types.is_floating(kind) or pa.types.is_decimal(kind) for kind in kinds),
        "dates": any(pa.types.is_temporal(kind) for kind in kinds),
    }
    return {
        name: values.pop()
        for name, values in found.items()
        if len(values) == 1 and getattr(form, name) is None and not conflicts.get(name)
    }
