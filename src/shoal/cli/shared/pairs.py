"""Read a released file together with its original."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import note, notes
from shoal.cli.shared.options import Hierarchies
from shoal.cli.shared.scaling import Scale, refuse_large
from shoal.cli.shared.sources import (
    EveryRole,
    Form,
    Roles,
    hierarchies_of,
    load,
    of_release,
    roles_with,
)
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.release import Release
    from shoal.engines.memory import Budget

Original = Annotated[
    Path, typer.Argument(metavar="ORIGINAL", help="The original table: CSV, Parquet, JSON lines.")
]
Released = Annotated[
    Path, typer.Argument(metavar="RELEASED", help="The released table, made by any tool.")
]
_PUBLISHED = (
    r"^(.*\*|[\[\](].*,.*[\[\])]|\{.*,.*\})$"  # cells of releases, rarely of original tables
)


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
    scale: Scale | None = None,
) -> Release:
    """Read a release with its original; files in the wrong order are an error.

    otherwise: roles of columns that have none by the schema or an option.
    claim: the guarantee that the release claims.
    scale: the memory that may be used; None to read both files into memory.
    """
    from shoal.reading import UnassignedColumns, read_released
    from shoal.support.files import check_readable

    more = {key: "identifier", **(otherwise or {})}
    quasi = [name for name, spec in roles.columns.items() if spec.get("role") == "quasi"]
    if scale is not None:
        budget = scale.choose_pair(original, released, roles)
        if budget is not None:
            return pair_on_disk(
                original, released, roles, hierarchy, form, key, more, claim, budget
            )
    refuse_large(original, released)
    for file in (original, released):
        check_readable(file)
    with detect_swapped_files("ORIGINAL", original, released, quasi):
        table = load(original, roles, hierarchy, form, otherwise=more, quiet=True)
        stated = of_release(released, {**roles.known.file, **form.stated})
        with notes(unless=UnassignedColumns):
            release = read_released(released, table, key=key, model=claim, **stated)
    for text in release.run.notes:
        note(text)
    return release


def pair_on_disk(
    original: Path,
    released: Path,
    roles: Roles,
    hierarchy: Hierarchies,
    form: Form,
    key: str | None,
    otherwise: Mapping[str | None, str],
    claim: Any,
    budget: Budget,
) -> Release:
    """Return the weighted release of two files whose rows stay on disk.

    Parameters: as for `load_pair`; budget: the memory that may be used.
    """
    from shoal.core.column import Role
    from shoal.engines.paired import Pair
    from shoal.engines.sources import find_files
    from shoal.reading import UnassignedColumns
    from shoal.reading.requests import request_of

    roles.check()
    stated = roles_with(roles, otherwise)
    units = roles.units
    request = request_of(
        roles.known,
        stated,
        hierarchies_of(hierarchy),
        units["person"],
        units["household"],
        units["rows_are_people"],
        form.stated,
    )
    files = find_files(original), find_files(released)
    settings = of_release(files[1].paths[0], {**roles.known.file, **form.stated})
    target = next((n for n, role in otherwise.items() if role == Role.INSENSITIVE and n), None)
    with notes(unless=UnassignedColumns):
        release = Pair(*files, request, settings, budget, target).read(key, claim)
    for text in release.run.notes:
        note(text)
    if any(spec["role"] == Role.WEIGHT for spec in request.specs.values()):
        note("sampling weights are used in memory only: there are no figures about the population")
    return release


@contextmanager
def detect_swapped_files(
    first: str, raw: Path, released: Path, columns: list[str]
) -> Iterator[None]:
    """Replace an input error raised inside by a clearer one if the files look swapped."""
    try:
        yield
    except InputError:
        check_order(first, raw, released, columns)
        raise


def check_order(first: str, raw: Path, released: Path, columns: list[str]) -> None:
    """Raise an error if the original looks like a release and the release does not."""
    if _is_published(raw, columns) and not _is_published(released, columns):
        raise InputError(
            f"{raw} looks like a release, and {released} does not; {first} comes first and "
            "RELEASED second: swap the two files"
        ) from None


def _is_published(file: Path, columns: list[str]) -> bool:
    """Return whether most cells of at least one column are ranges, sets or masks."""
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
