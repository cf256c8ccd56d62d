"""What `shoal verify` needs to know about a published file, in memory and on disk."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.cli.shared.options import names
from shoal.cli.shared.sources import Roles
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.reading import Schema
    from shoal.risk.caveats import Caveats


def known_columns(roles: Roles) -> Schema:
    """Return the roles needed here; quasi-identifiers become nominal text."""
    from shoal.identifiers.replacement import Coarsening
    from shoal.reading import Schema

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
