"""Two files about the same people: as they were, and as they were published, in this order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import note, notes
from shoal.cli.options import Hierarchies
from shoal.cli.sources import EveryRole, Form, load, of_release
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.release import Release

Original = Annotated[
    Path, typer.Argument(metavar="ORIGINAL", help="The table as it was: CSV, Parquet, JSON.")
]
Released = Annotated[
    Path, typer.Argument(metavar="RELEASED", help="What was published of it, by any tool.")
]
_PUBLISHED = r"^(.*\*|[\[\](].*,.*[\[\])]|\{.*,.*\})$"  # cells of releases, seldom of raw tables


def load_pair(
    original: Path,
    released: Path,
    roles: EveryRole,
    hierarchy: Hierarchies,
    form: Form,
    *,
    key: str | None = None,
    otherwise: Mapping[str | None, str] | None = None,
    claim: Any = None,
) -> Release:
    """Read a release beside its original; files in the wrong order are told.

    otherwise: roles of columns that neither the schema nor an option gives one.
    claim: the guarantee that the release is to claim.
    """
    from shoal.core.files import check_readable
    from shoal.reading import UnassignedColumns
    from shoal.reading import released as read_released

    for file in (original, released):
        check_readable(file)
    more = {key: "identifier", **(otherwise or {})}
    quasi = [name for name, spec in roles.columns.items() if spec.get("role") == "quasi"]
    with swap_told("ORIGINAL", original, released, quasi):
        table = load(original, roles, hierarchy, form, otherwise=more, quiet=True)
        stated = of_release(released, {**roles.known.file, **form.stated})
        with notes(unless=UnassignedColumns):
            release = read_released(released, table, key=key, model=claim, **stated)
    for text in release.run.notes:
        note(text)
    return release


@contextmanager
def swap_told(first: str, raw: Path, released: Path, columns: list[str]) -> Iterator[None]:
    """Say of files that cannot be read together that they seem to be swapped, where they do."""
    try:
        yield
    except InputError:
        check_order(first, raw, released, columns)
        raise


def check_order(first: str, raw: Path, released: Path, columns: list[str]) -> None:
    """Refuse a release where the raw table is to stand, and the other way round."""
    if _is_published(raw, columns) and not _is_published(released, columns):
        raise InputError(
            f"{raw} looks like a release, and {released} does not; {first} comes first, RELEASED "
            "second: swap the two files"
        ) from None


def _is_published(file: Path, columns: list[str]) -> bool:
    """Whether cells of the columns are ranges, sets or masks, in one column at least."""
    import warnings

    import pyarrow as pa
    import pyarrow.compute as pc

    from shoal.reading import Format, read_arrow

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            data = read_arrow(file, Format(), columns, expected=columns)
    except InputError:
        return False
    texts = (
        data.column(name).combine_chunks().cast(pa.large_string()).drop_null()
        for name in columns
        if name in data.column_names and not pa.types.is_nested(data.schema.field(name).type)
    )
    return any(
        2 * (pc.sum(pc.match_substring_regex(cells, _PUBLISHED)).as_py() or 0) > len(cells)
        for cells in texts
    )
