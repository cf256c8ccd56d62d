"""The option --population: a table of everyone, which k-map and delta-presence compare with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from shoal.cli.shared.console import about, note
from shoal.cli.shared.options import Hierarchies, names
from shoal.cli.shared.sources import Form, Roles, as_written
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.core.population_fit import PopulationFit
    from shoal.core.table import Table
    from shoal.privacy.model import Model

PopulationFile = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A table of everyone with the quasi-identifiers, for k-map and delta-presence.",
    ),
]


def read_population(
    file: Path, columns: Sequence[str], roles: Roles, hierarchy: Hierarchies, form: Form
) -> Table:
    """Read a table of everyone; its people and households are identified as those of the table.

    If it does not have these columns, each row counts as a person, and an identifier that repeats
    is refused as in the table.

    columns: the quasi-identifiers, all of which it must have.
    """
    from shoal.cli.risk.link import arrow_of, table_of

    stated = as_written(file, {**roles.known.file, **form.stated})
    units = {
        "person": () if roles.rows_are_people else names(roles.person) or roles.known.person,
        "household": names(roles.household) or roles.known.household,
    }
    naming = [name for name, spec in roles.columns.items() if spec.get("role") == "identifier"]
    hidden = list(dict.fromkeys([*naming, *units["person"], *units["household"]]))
    data = arrow_of(file, stated, hidden, list(columns))
    with about(file):
        for name in columns:
            if name not in data.column_names:
                raise InputError(f"has no column {name!r}")
    for what, named in units.items():
        units[what] = _present(what, named, data, file)
    return table_of(
        data,
        roles.known,
        list(columns),
        hierarchy,
        file,
        units["person"],
        household=units["household"],
        identifier=[name for name in naming if name in data.column_names],
        rows_are_people=roles.rows_are_people,
    )


def _present(what: str, named: Sequence[str], data: Any, file: Path) -> tuple[str, ...]:
    """Return the columns of a unit that the population has: all of them, or none with a note."""
    lacking = [name for name in named if name not in data.column_names]
    if lacking and len(lacking) < len(named):
        raise InputError(
            f"{file}: has no column {lacking[0]!r}; {', '.join(named)} together identify a {what}"
        )
    if lacking and what == "person":
        note(f"{file}: has no column {lacking[0]!r}, so each of its rows counts as a person")
    return () if lacking else tuple(named)


def with_population(
    table: Any, file: Path | None, roles: Roles, hierarchy: Hierarchies, form: Form
) -> Any:
    """Return the table with the population of a file, if one is named."""
    if file is None:
        return table
    return replace(table, population=read_population(file, table.quasi, roles, hierarchy, form))


def needs_population(model: Model) -> bool:
    """Return whether a part of the model compares a release with a population."""
    return any(part.needs_population for part in model.parts)


def fit_file(
    file: Path, classes: Classes, everyone: Table, stated: dict[str, Any]
) -> Callable[[], PopulationFit]:
    """Return a function that finds who of the population fits the rows of the file."""

    def fit() -> PopulationFit:
        from shoal.cli.risk.link import arrow_of, published_of
        from shoal.core.fitting import fit_people
        from shoal.core.population_fit import PopulationFit

        columns = list(classes.table.quasi)
        with about(file):
            published = published_of(arrow_of(file, stated, columns), everyone, columns)
        places = np.arange(len(classes.ids))
        return PopulationFit.between(
            fit_people(published, everyone), places, everyone, classes.table
        )

    return fit
