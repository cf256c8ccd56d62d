"""`shoal verify`: check whether a file meets a guarantee, and how anonymous it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.projects import verify_set
from shoal.cli.shared.console import (
    about,
    emit,
    notes,
)
from shoal.cli.shared.model_checks import check_file
from shoal.cli.shared.options import File, Hierarchies, Json, K, Key, wanted_model
from shoal.cli.shared.populations import (
    PopulationFile,
    fit_file,
    needs_population,
    read_population,
)
from shoal.cli.shared.published_files import (
    check_people,
    figures,
    known_columns,
    linking_columns,
    refuse_unknown_person,
    stated_units,
    unclear_people,
)
from shoal.cli.shared.scaling import Scale, check_source
from shoal.cli.shared.sources import (
    EveryRole,
    Form,
    Roles,
    as_written,
    grouped,
    load,
    of_release,
    with_missing_as_text,
)
from shoal.cli.shared.verified import show_verified
from shoal.cli.shared.verified_on_disk import Beside, verify_on_disk
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.table import Table
    from shoal.privacy.model import Model
    from shoal.reading import Schema


@grouped
def verify(
    *,
    file: File,
    k: K = None,
    model: Annotated[
        list[str] | None,
        typer.Option(
            metavar="MODEL",
            help="A model to check, such as 't-closeness(0.2, disease)'. Repeatable.",
        ),
    ] = None,
    roles: EveryRole,
    original: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The original table, the baseline of t, delta and beta. Default: FILE itself.",
        ),
    ] = None,
    key: Key = None,
    population: PopulationFile = None,
    hierarchy: Hierarchies = None,
    unlinked: Annotated[
        bool,
        typer.Option(
            "--unlinked", help="The --person column will be removed from FILE before publication."
        ),
    ] = False,
    scale: Scale,
    form: Form,
    json: Json = False,
) -> None:
    """Check whether FILE, made by any tool, meets a privacy model, and report its k, l and t.

    Most released files do not show which rows belong to one person, so the command counts rows. To
    count people, name the --person column and the --original that has it: rows are then matched by
    --key, by position or by their values. If FILE itself has the column, its rows are linked, and
    the model must hold for all rows of a person together; --unlinked checks each row on its own.

    Models about matching people and records, such as 'freeform-anonymity(5)', also need --original:
    the cells of FILE are compared with it, using the hierarchies if these are given. 'k-map(5)' and
    'delta-presence(0, 0.5)' need --population, a table of everyone: a --person with several rows
    counts once there, and a repeated --identifier is refused if no person is named.

    If FILE is the folder of a released project, its keys, joins and guarantee are checked.

    A FILE that needs more than --memory is grouped on disk; it may also be a folder or a pattern,
    also at an address such as s3://bucket/visits.

    The exit status is 1 if the model does not hold.
    """
    wanted = wanted_model(k, model) if k is not None or model else None
    if file.is_dir() and (file / "release.json").is_file():
        if not verify_set(file, wanted, scale, json=json):
            raise typer.Exit(1)
        return
    check_source(file)
    choice = scale.choose(file, roles, None, {"--population": population})
    if choice.on_disk:
        beside = Beside(file, original, key, hierarchy, choice)
        source = choice.source(file, scale.master)
        data = verify_on_disk(source, roles, form, wanted, beside, unlinked=unlinked)
    else:
        data = _in_memory(
            file, wanted, roles, original, key, population, hierarchy, form, unlinked=unlinked
        )
    emit(json, data, lambda: show_verified(data))
    if wanted is not None and not data["check"]["holds"]:
        raise typer.Exit(1)


def _in_memory(
    file: Path,
    wanted: Model | None,
    roles: Roles,
    original: Path | None,
    key: str | None,
    population: Path | None,
    hierarchy: list[str] | None,
    form: Form,
    *,
    unlinked: bool,
) -> dict[str, Any]:
    """Return what is found about a file that is read into memory."""
    from shoal.anonymize import check_askable
    from shoal.core.classes import Classes
    from shoal.core.linked_rows import link_rows
    from shoal.core.verification import covers_rows
    from shoal.privacy import profile
    from shoal.reading import read_released
    from shoal.risk.caveats import caveats

    known = known_columns(roles)
    source = None
    if original is not None:
        own = Form(**as_written(original, form.stated))
        source = load(original, roles, hierarchy, own, otherwise={key: "identifier"}, quiet=True)
    stated = as_written(file, {**known.file, **form.stated})
    published, links = _published(file, known, source, stated, roles, unlinked=unlinked)
    check_askable(published, None, any_size=True)
    as_profiles = wanted is None or not covers_rows(wanted)
    linked = link_rows(published, list(links.values()), as_profiles=as_profiles)
    if linked is not published and published.person is None and source is not None:
        check_people(file, () if source.person is None else source.person.columns, links)
    if linked is not published and wanted is not None and needs_population(wanted):
        raise InputError(
            f"{wanted} compares single rows with the population, but {file} links the rows of a "
            "person; state --unlinked if what links them will be removed before publication"
        )
    classes = Classes.by_quasi(linked, origin=source)
    if linked.unit is None and source is not None and source.unit is not None:
        with notes():
            beside = read_released(file, source, key=key, **of_release(file, stated))
        if beside.run.notes:
            raise InputError(unclear_people(file))
        classes = beside.classes
    elif linked.person is None and roles.person and (source is None or source.person is None):
        refuse_unknown_person(file, roles.person)
    everyone = None
    if population is not None:
        everyone = read_population(population, published.quasi, roles, hierarchy, form)
        source = None if source is None else replace(source, population=everyone)
    check_askable(replace(classes.table, population=everyone), wanted)
    reached = profile(classes, published.sensitive)
    data = figures(published.records, classes, published, reached, caveats(classes))
    data["people"] = None if classes.table.person is None else classes.released_people
    data["households"] = classes.table.household is not None
    if wanted is not None:
        fit = None if everyone is None else fit_file(file, classes, everyone, stated)
        data["check"] = check_file(wanted, classes, file, source, key, stated, fit).to_dict()
    return data


def _published(
    file: Path,
    known: Schema,
    original: Table | None,
    stated: dict[str, Any],
    roles: Roles,
    *,
    unlinked: bool,
) -> tuple[Table, dict[str, Any]]:
    """Read a file with its quasi-identifiers as plain text: cells are equal if their text is.

    People and households are identified by the columns that the file has. The second part is what
    links the rows of the file: its people, unless they are `unlinked`, and replaced identifiers.
    """
    import pyarrow as pa

    from shoal.core.column import Role
    from shoal.core.table import Table
    from shoal.core.verification import published_table
    from shoal.reading import Format, read_arrow

    quasi = [name for name, spec in known.columns.items() if spec["role"] == "quasi"]
    with notes():
        units = stated_units(roles)
        linking = linking_columns(roles, units["person"], unlinked=unlinked)
        data = read_arrow(file, Format(**stated), [*quasi, *linking], expected=quasi)
        data = with_missing_as_text(data, file, stated, quasi)
    here: dict[str, Any] = {
        what: each for what, each in units.items() if set(each) <= set(data.column_names)
    }
    if not here.get("person"):
        here["rows_are_people"] = roles.rows_are_people
    with about(file):
        table = Table.from_arrow(data, _in_file(known.columns, data.column_names), **here)
        links = {name: data.column(name) for name in linking if name in data.column_names}
        if table.person is not None and not unlinked:
            links[", ".join(table.person.columns)] = pa.chunked_array([table.person.ids])
        if original is None:
            return table, links
        read = published_table(data, original)
        unchecked = tuple(table[name] for name in table.names(Role.INSENSITIVE))
        columns = (*read.columns, *unchecked)
        read = replace(read, columns=columns, person=table.person, household=table.household)
        return read, links


def _in_file(columns: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the columns without insensitive columns that are not in the file."""
    return {
        name: spec
        for name, spec in columns.items()
        if spec["role"] != "insensitive" or name in names
    }
