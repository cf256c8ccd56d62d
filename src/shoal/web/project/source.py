"""The opened file: where it is, how it is read, and who the people in it are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
        """Whether it is still to be said who a person is: nothing is guessed."""
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
    from shoal.reading.spreadsheets import ENDINGS

    return Path(name).suffix.lower() in ENDINGS
