"""`shoal verify`: check whether a file meets a guarantee, and how anonymous it is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.projects import verify_set
from shoal.cli.shared.console import (
    about,
    bars,
    emit,
    notes,
)
from shoal.cli.shared.model_checks import check_file
from shoal.cli.shared.options import File, Hierarchies, Json, K, Key, names, wanted_model
from shoal.cli.shared.populations import (
    PopulationFile,
    fit_file,
    needs_population,
    read_population,
)
from shoal.cli.shared.scaling import Scale, check_source
from shoal.cli.shared.sources import (
    Form,
    Roles,
    as_written,
    grouped,
    load,
    of_release,
    with_missing_as_text,
)
from shoal.cli.shared.verified import show_verified
from shoal.core.roles import UnassignedColumns
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.core.table import Table
    from shoal.engines.engine import Source
    from shoal.engines.memory import Budget
    from shoal.privacy.model import Model
    from shoal.reading import Schema
    from shoal.risk.caveats import Caveats


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
    roles: Roles,
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
    'delta-presence(0, 0.5)' need --population, a table of everyone.

    If FILE is the folder of a released project, its keys, joins and guarantee are checked.

    A FILE that needs more than --memory is grouped on disk; it may also be a folder or a pattern,
    also at an address such as s3://bucket/visits.

    The exit status is 1 if the model does not hold.
    """
    wanted = wanted_model(k, model) if k is not None or model else None
    if file.is_dir() and (file / "release.json").is_file():
        if not verify_set(file, wanted, json=json):
            raise typer.Exit(1)
        return
    check_source(file)
    needs = {"--key": key, "--hierarchy": hierarchy, "--population": population}
    choice = scale.choose(file, roles, None, needs)
    if choice.on_disk:
        source = choice.source(file, scale.master)
        data = _on_disk(source, roles, form, choice.budget, wanted, original, unlinked=unlinked)
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
    from shoal.core.linked_rows import link_rows, link_sets
    from shoal.core.verification import covers_rows
    from shoal.privacy import profile
    from shoal.reading import read_released
    from shoal.risk.caveats import caveats

    known = _known(roles)
    source = None
    if original is not None:
        own = Form(**as_written(original, form.stated))
        source = load(original, roles, hierarchy, own, otherwise={key: "identifier"}, quiet=True)
    stated = as_written(file, {**known.file, **form.stated})
    published, links = _published(file, known, source, stated, roles)
    check_askable(published, None, any_size=True)
    as_profiles = wanted is None or not covers_rows(wanted)
    if published.person is not None and not unlinked:
        linked = link_sets(published, published.person.ids, as_profiles=as_profiles)
    else:
        linked = link_rows(published, list(links.values()), as_profiles=as_profiles)
        if linked is not published:
            _check_people(file, source, links)
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
            raise InputError(
                f"{file}: some rows match several rows of the original, so the people of a class "
                "cannot be counted; name a column with unique values with --key, or verify a file "
                "that was written with --keep-order"
            )
        classes = beside.classes
    elif linked.person is None and roles.person and (source is None or source.person is None):
        raise InputError(
            f"{file}: has no column {roles.person!r} to count people; name the original that has "
            "it with --original"
        )
    everyone = None
    if population is not None:
        everyone = read_population(population, published.quasi, roles, hierarchy, form)
        source = None if source is None else replace(source, population=everyone)
    check_askable(replace(classes.table, population=everyone), wanted)
    reached = profile(classes, published.sensitive)
    data = _figures(published.records, classes, published, reached, caveats(classes))
    data["people"] = None if classes.table.person is None else classes.released_people
    data["households"] = classes.table.household is not None
    if wanted is not None:
        fit = None if everyone is None else fit_file(file, classes, everyone, stated)
        data["check"] = check_file(wanted, classes, file, source, key, stated, fit).to_dict()
    return data


def _figures(
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


def _on_disk(
    source: Source,
    roles: Roles,
    form: Form,
    budget: Budget,
    wanted: Model | None,
    original: Path | None,
    *,
    unlinked: bool,
) -> dict[str, Any]:
    """Return what is found about a file whose rows stay on disk."""
    from shoal.core.verification import judge
    from shoal.engines.large_verification import baseline_on_disk, published_on_disk
    from shoal.privacy import profile

    known = _known(roles)
    stated = {**known.file, **form.stated}
    units = {
        "person": tuple(names(roles.person)) or roles.known.person,
        "household": tuple(names(roles.household)) or roles.known.household,
        "rows_are_people": True,
    }
    linking = any(_links(spec) for spec in roles.columns.values())
    if (units["person"] or linking) and not unlinked:
        raise InputError(
            f"{source.name}: linked rows of a person are checked only in memory; state more "
            "--memory, or --unlinked if the person column will be removed before publication"
        )
    with bars(), notes(unless=UnassignedColumns):
        baseline = None
        if original is not None:
            own = {**known.file, **as_written(original, form.stated)}
            baseline = baseline_on_disk(original, known.columns, own, units, budget)
        published = published_on_disk(source, known.columns, stated, units, budget, baseline)
        classes = published.classes
        _check_columns(wanted, published.sensitive)
        reached = profile(classes, published.sensitive)
        data = _figures(published.records, classes, published, reached, published.caveats())
        data["people"] = classes.released_people if units["person"] else None
        data["households"] = bool(units["household"])
        if wanted is not None:
            data["check"] = judge(classes, wanted).to_dict()
        published.table.close()
    return data


def _check_columns(wanted: Model | None, sensitive: Sequence[str]) -> None:
    """Raise an error for a model of a column that is not sensitive."""
    for name in () if wanted is None else wanted.columns:
        if name not in sensitive:
            raise InputError(f"{wanted}: column {name!r} is not sensitive; name it in --sensitive")


def _published(
    file: Path, known: Schema, original: Table | None, stated: dict[str, Any], roles: Roles
) -> tuple[Table, dict[str, Any]]:
    """Read a file with its quasi-identifiers as plain text: cells are equal if their text is.

    People and households are identified by the columns that the file has. The second part are the
    replaced identifiers in the file that link its rows.
    """
    from shoal.core.column import Role
    from shoal.core.table import Table
    from shoal.core.verification import published_table
    from shoal.reading import Format, read_arrow

    quasi = [name for name, spec in known.columns.items() if spec["role"] == "quasi"]
    with notes():
        linking = [n for n, spec in roles.columns.items() if _links(spec)]
        data = read_arrow(file, Format(**stated), [*quasi, *linking], expected=quasi)
        data = with_missing_as_text(data, file, stated, quasi)
    units: dict[str, Any] = {
        "person": names(roles.person) or roles.known.person,
        "household": names(roles.household) or roles.known.household,
    }
    here: dict[str, Any] = {
        what: each for what, each in units.items() if set(each) <= set(data.column_names)
    }
    with about(file):
        table = Table.from_arrow(data, _in_file(known.columns, data.column_names), **here)
        links = {name: data.column(name) for name in linking if name in data.column_names}
        if original is None:
            return table, links
        read = published_table(data, original)
        unchecked = tuple(table[name] for name in table.names(Role.INSENSITIVE))
        columns = (*read.columns, *unchecked)
        read = replace(read, columns=columns, person=table.person, household=table.household)
        return read, links


def _links(spec: dict[str, Any]) -> bool:
    """Return whether a column is replaced by values that link the rows of one person."""
    return getattr(spec.get("replace"), "links_rows", False)


def _check_people(file: Path, original: Table | None, links: Mapping[str, Any]) -> None:
    """Refuse to count sets of linked rows as people if people have several of them."""
    person = None if original is None else original.person
    if person is not None and not set(person.columns) <= set(links):
        raise InputError(
            f"{file}: {', '.join(links)} links rows, but people are identified by "
            f"{', '.join(person.columns)}, which the file does not show"
        )


def _in_file(columns: dict[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the columns without insensitive columns that are not in the file."""
    return {
        name: spec
        for name, spec in columns.items()
        if spec["role"] != "insensitive" or name in names
    }


def _known(roles: Roles) -> Schema:
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
