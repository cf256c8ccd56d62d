"""`shoal.inspect`: what a table holds, suggested roles, and who stands out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shoal.inspection import describe, suggest_schema
from shoal.support.wording import counted, html_table
from shoal.table.column import Role
from shoal.table.frames import from_frame, is_spark_frame
from shoal.table.roles import as_names


@dataclass(frozen=True, eq=False)
class Inspection:
    """Result of `shoal.inspect`: columns with suggested roles, and the people who stand out.

    Attributes:
        data: Everything that was found, as plain data: the JSON of `shoal inspect`.
    """

    data: dict[str, Any]

    @property
    def roles(self) -> dict[str, str]:
        """Suggested role of each column that gets one, as `shoal.read(roles=…)` takes it."""
        columns = self.data["columns"]
        return {c["name"]: c["role"] for c in columns if c["role"] in list(Role)}

    @property
    def advice(self) -> dict[str, str]:
        """What to do with the other columns: `leave out`, or `decide` for its owner."""
        columns = self.data["columns"]
        return {c["name"]: c["role"] for c in columns if c["role"] not in list(Role)}

    @property
    def hints(self) -> list[str]:
        """What to look at first."""
        found = [
            f"{', '.join(hint['columns'])}: {hint['hint']}" if hint["columns"] else hint["hint"]
            for hint in self.data["hints"]
        ]
        alone = self.data["singling_out"]
        return [*found, *(alone["sentences"] if alone else ())]

    @property
    def schema(self) -> str:
        """A schema to start from, as YAML text; check every role in it."""
        return suggest_schema(self.data, self.data.get("file"))

    def to_dict(self) -> dict[str, Any]:
        """Return everything that was found as plain data."""
        return self.data

    def __repr__(self) -> str:
        listed = ", ".join(f"{c['name']}={c['role']}" for c in self.data["columns"])
        return f"Inspection({counted(self.data['records'], 'row')}, {listed})"

    def _repr_html_(self) -> str:
        rows = [
            (
                c["name"],
                c["type"],
                f"{c['distinct']:,}",
                f"{c['missing']:,}",
                c["role"],
                c["reason"],
            )
            for c in self.data["columns"]
        ]
        return html_table(
            f"{counted(self.data['records'], 'row')}; the roles are suggestions",
            ("column", "type", "distinct values", "missing", "role", "reason"),
            rows,
            self.hints,
        )


def inspect(
    data: Any,
    *,
    quasi: str | Sequence[str] = (),
    sensitive: str | Sequence[str] = (),
    insensitive: str | Sequence[str] = (),
    person: str | Sequence[str] = (),
    household: str | Sequence[str] = (),
    rows_are_people: bool = False,
    sampling_fraction: float | None = None,
) -> Inspection:
    """Look at a table before it is anonymized: types, suggested roles, and who stands out.

    Suggestions come from names, types and counts. Check every one of them.

    Parameters:
        data: A frame (pandas, polars, pyarrow, Spark) or a file. Of a frame of Spark with more than
            100,000 rows, as many are drawn at random and read; the first hint says so.
        quasi: Columns to combine; by default those that are suggested as quasi-identifiers.
        sensitive: Columns to protect; by default those that are suggested as sensitive.
        insensitive: Columns to publish as they are.
        person: Columns that identify the person behind a row; found out by default.
        household: The same for households.
        rows_are_people: State that every row is a different person, although identifiers repeat.
        sampling_fraction: Share of the population that is in the table, to estimate how many people
            are unique in the population.

    Returns:
        An `Inspection`, whose `roles` and `schema` are a start for `shoal.read`.

    Raises:
        InputError: The file cannot be read, or a column does not exist.

    >>> import pyarrow as pa
    >>> people = pa.table({"name": ["Ann", "Bob", "Cid"], "age": [31, 42, 53]})
    >>> inspect(people).roles
    {'name': 'identifier', 'age': 'quasi'}
    """
    hints, read = [], None
    if isinstance(data, (str, Path)):
        from shoal.files.formats import Format
        from shoal.inspection.file_settings import read_well

        read = read_well(Path(data), Format())
        data, hints = read.data, read.hints
    if is_spark_frame(data):
        from shoal.checking import sample_rows

        data, rows = sample_rows(data)
        if data.num_rows < rows:
            hints.append({"columns": [], "hint": _about_sample(data.num_rows, rows)})
            if sampling_fraction is not None:
                sampling_fraction *= data.num_rows / rows
    found = describe(
        from_frame(data),
        as_names(quasi),
        {name: {} for name in as_names(sensitive)},
        sampling_fraction,
        insensitive=as_names(insensitive),
        person=as_names(person),
        household=as_names(household),
        rows_are_people=rows_are_people,
    )
    if read is not None:
        found = read.declared(found)
    return Inspection({**found, "hints": [*hints, *found["hints"]]})


def _about_sample(drawn: int, rows: int) -> str:
    return (
        f"all figures are of {drawn:,} rows, drawn at random from {rows:,}; in the whole table a "
        "smaller share of the people is unique, and identifiers may repeat more often"
    )
