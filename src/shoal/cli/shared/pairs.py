"""Read a released file together with its original, and identify the people of a released file.

`load_pair` matches the rows of the two files, in memory or on disk. The other functions serve
`shoal verify`, which often has the released file only.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import note, notes
from shoal.cli.shared.options import Hierarchies, names
from shoal.cli.shared.scaling import Scale, refuse_large
from shoal.cli.shared.tables import (
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
    from shoal.files.schema import Schema
    from shoal.release.release import Release
    from shoal.risk.caveats import Caveats
    from shoal.rows.memory import Budget
    from shoal.table.classes import Classes


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
    from shoal.release.released_files import read_released
    from shoal.support.files import check_readable
    from shoal.table.roles import UnassignedColumns

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
    from shoal.files.requests import request_of
    from shoal.release.matching_stored import Pair
    from shoal.rows.file_sources import find_files
    from shoal.table.column import Role
    from shoal.table.roles import UnassignedColumns

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
    # all parts of a release have the format of its first one
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

    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow

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


def known_columns(roles: Roles) -> Schema:
    """Return the roles needed here; quasi-identifiers become nominal text."""
    from shoal.files.schema import Schema
    from shoal.identifiers.replacement import Coarsening

    roles.check()
    kept = {}
    for name, spec in roles.columns.items():
        if spec.get("role") == "quasi" or isinstance(spec.get("replace"), Coarsening):
            kept[name] = {"role": "quasi", "kind": "nominal"}
        elif spec.get("role") == "sensitive":
            kept[name] = spec
        elif spec.get("role") == "insensitive":
            kept[name] = {"role": "insensitive"}
    return Schema(kept, roles.known.file)


def stated_units(roles: Roles) -> dict[str, tuple[str, ...]]:
    """Return the columns that identify people and households, by options or the schema."""
    return {
        "person": tuple(names(roles.person)) or roles.known.person,
        "household": tuple(names(roles.household)) or roles.known.household,
    }


def linking_columns(roles: Roles, person: Collection[str], *, unlinked: bool) -> list[str]:
    """Return the columns whose replaced values link the rows of a person.

    Parameters:
        person: The columns that identify people.
        unlinked: Whether these will be removed before publication.
    """
    linking = [
        name
        for name, spec in roles.columns.items()
        if getattr(spec.get("replace"), "links_rows", False)
    ]
    return [name for name in linking if not (unlinked and name in person)]


def check_people(file: Path, person: Sequence[str], links: Collection[str]) -> None:
    """Refuse to count sets of linked rows as people if people have several of them.

    Parameters:
        person: The columns of the original that identify people.
        links: The columns that link rows.
    """
    if not set(person) <= set(links):
        raise InputError(
            f"{file}: {', '.join(links)} links rows, but people are identified by "
            f"{', '.join(person)}, which the file does not show"
        )


def refuse_unknown_person(file: Path, person: str) -> None:
    """Raise an error about a column of people that neither the file nor its original has."""
    raise InputError(
        f"{file}: has no column {person!r} to count people; name the original that has it with "
        "--original"
    )


def unclear_people(file: Path) -> str:
    """Return why people cannot be counted if rows match several rows of the original."""
    return (
        f"{file}: some rows match several rows of the original, so the people of a class cannot be "
        "counted; name a column with unique values with --key, or verify a file that was written "
        "with --keep-order"
    )


def figures(
    records: int, classes: Classes, published: Any, reached: dict[str, float], found: Caveats
) -> dict[str, Any]:
    """Return the figures of a file as plain data, without its people and its check."""
    from shoal.risk.caveats import to_dict

    return {
        "records": records,
        "people": None,
        "households": False,
        "classes": len(classes),
        "quasi": list(published.quasi),
        "sensitive": list(published.sensitive),
        "reached": reached,
        "same_value": {each.column: to_dict(each) for each in found.same_value},
        "singling_out": found.singling_out.to_dict(),
        "warnings": found.sentences(),
    }
