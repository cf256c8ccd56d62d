"""`shoal verify`: check whether a file meets a guarantee, and how anonymous it is.

A file in memory is read as plain text and grouped (`_in_memory`). A file whose rows stay on disk is
grouped there (`verify_on_disk`). Both need the original only to count people whom the file does not
identify, and for models that compare a release with its original.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.projects import verify_set
from shoal.cli.shared.console import (
    about,
    bars,
    emit,
    grid,
    note,
    notes,
    number,
    out,
    show_warnings,
    verdict,
)
from shoal.cli.shared.options import File, Hierarchies, Json, K, Key, wanted_model
from shoal.cli.shared.pairs import (
    check_people,
    figures,
    known_columns,
    linking_columns,
    pair_on_disk,
    refuse_unknown_person,
    stated_units,
    unclear_people,
)
from shoal.cli.shared.scaling import Scale, check_source
from shoal.cli.shared.tables import (
    EveryRole,
    Form,
    PopulationFile,
    Roles,
    as_written,
    fit_file,
    grouped,
    load,
    needs_population,
    of_release,
    read_population,
    with_missing_as_text,
)
from shoal.errors import InputError
from shoal.support.wording import counted
from shoal.table.column import Role
from shoal.table.roles import UnassignedColumns

if TYPE_CHECKING:
    from shoal.checking import Published
    from shoal.files.schema import Schema
    from shoal.privacy.model import Model
    from shoal.release.release import Release
    from shoal.release.verification import PopulationFit, Verification
    from shoal.rows.choice import Choice
    from shoal.rows.store import Source
    from shoal.table.classes import Classes
    from shoal.table.table import Table


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
    from shoal.methods import check_askable
    from shoal.privacy import profile
    from shoal.release.released_files import read_released
    from shoal.release.verification import covers_rows
    from shoal.risk.caveats import caveats
    from shoal.table.classes import Classes
    from shoal.table.linked import link_rows

    known = known_columns(roles)
    source = None
    if original is not None:
        own = Form(**as_written(original, form.stated))
        source = load(original, roles, hierarchy, own, otherwise={key: "identifier"}, quiet=True)
    stated = as_written(file, {**known.file, **form.stated})
    # links: what shows that rows are about one person, as an attacker would see it
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
    # the file does not show its people: match the rows with those of the original
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

    from shoal.files.formats import Format
    from shoal.files.reading import read_arrow
    from shoal.release.verification import published_table
    from shoal.table.column import Role
    from shoal.table.table import Table

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


def check_file(
    wanted: Model,
    classes: Classes,
    file: Path,
    original: Table | None,
    key: str | None,
    stated: dict[str, Any],
    fit: Callable[[], PopulationFit] | None,
) -> Verification:
    """Check the model on the classes or, if they do not decide it, with the original.

    A model about matching people and records holds if all classes are large enough.
    """
    from shoal.release.released_files import read_released
    from shoal.release.verification import judge

    # classes that are large enough decide most models without the original
    by_file = original is None or not needs_population(wanted)
    if by_file and all(_is_decided(part, classes) for part in wanted.parts):
        return judge(classes, wanted, fit=fit)
    if original is None:
        raise InputError(
            f"{wanted} compares the release with the original; name the original with --original"
        )
    with notes():
        options = of_release(file, stated)
        return read_released(file, original, key=key, model=wanted, **options).verify()


def _is_decided(part: Any, classes: Classes) -> bool:
    """Return whether classes and population decide a part of the model."""
    return part.by_class or part.by_release or bool(part.holds(classes).all())


_MEANING = {
    "k": "people in the smallest class; higher is better",
    "l": "fewest distinct values in a class, except missing; higher is better",
    "entropy-l": "fewest values in a class by entropy; higher is better",
    "t": "largest distance from the whole table; lower is better",
    "alpha": "largest share of one value; lower is better",
    "delta": "largest log change of a share; lower is better",
    "beta": "largest relative gain of a share; lower is better",
}


def show_verified(data: dict[str, Any]) -> None:
    """Print the verdict, the levels that a file achieves, and its warnings."""
    check = data.get("check")
    if check:
        outcome = "holds" if check["holds"] else "does not hold"
        warnings = data["warnings"]
        out.print(verdict(check["model"], check["holds"], outcome, warnings), soft_wrap=True)
        if not check["holds"]:
            out.print(
                f"  {check['failing']:,} of {counted(check['classes'], 'class')} violate it "
                f"({counted(check['failing_records'], 'record')})"
            )
        show_warnings(data["warnings"])
        out.print()
    who = counted(data["records"], "row")
    if data["people"] is not None:
        who = f"{counted(data['people'], 'person', 'people')} in {who}"
    out.print(f"{who}, {counted(data['classes'], 'class')}")
    if data["people"] is None:
        out.print("each row counts as one person: the file has no declared person column")
    out.print()
    rows = grid("achieved", "", "what it means")
    for name, value in data["reached"].items():
        lacking = f" ({number(value)}: some class lacks a value)" if math.isinf(value) else ""
        rows.add_row(name, number(value), _MEANING[name.partition("(")[0]] + lacking)
    out.print(rows)
    if not check:
        show_warnings(data["warnings"])
    if data["households"]:
        out.print("k counts households where a class has fewer of them than people")


@dataclass(frozen=True)
class Beside:
    """A published file and what it is compared with.

    key, hierarchies: the column that matches rows with the original, and what its cells mean.
    """

    file: Path
    original: Path | None
    key: str | None
    hierarchies: Hierarchies
    choice: Choice

    def release(self, roles: Roles, form: Form, claim: Model | None) -> Release:
        """Return the file with its original, row by row."""
        if self.choice.in_spark:
            raise InputError(
                f"{self.file}: rows are not matched with the original in Spark; use --engine duckdb"
            )
        assert self.original is not None
        return pair_on_disk(
            self.original,
            self.file,
            roles,
            self.hierarchies,
            form,
            self.key,
            {self.key: "identifier"},
            claim,
            self.choice.budget,
        )


def verify_on_disk(
    source: Source,
    roles: Roles,
    form: Form,
    wanted: Model | None,
    beside: Beside,
    *,
    unlinked: bool,
) -> dict[str, Any]:
    """Return what is found about a file whose rows stay on disk."""
    from shoal.checking import baseline_on_disk, published_on_disk
    from shoal.privacy import profile
    from shoal.release.verification import covers_rows
    from shoal.risk.caveats import caveats
    from shoal.rows.store import Links

    known, original, budget = known_columns(roles), beside.original, beside.choice.budget
    settings = {**known.file, **form.stated}
    units: dict[str, Any] = {**stated_units(roles), "rows_are_people": True}
    linking = linking_columns(roles, units["person"], unlinked=unlinked)
    with bars(), notes(unless=UnassignedColumns):
        baseline = None
        if original is not None and any(s["role"] == "sensitive" for s in known.columns.values()):
            own = {**known.file, **as_written(original, form.stated)}
            baseline = baseline_on_disk(original, known.columns, own, units, budget)
        units["rows_are_people"] = roles.rows_are_people
        published = published_on_disk(
            source,
            known.columns,
            settings,
            units,
            budget,
            baseline,
            Links(tuple(linking), people=not unlinked),
            by_profile=wanted is None or not covers_rows(wanted),
        )
        with published.table as table:
            classes: Classes = published.classes
            people, found = published.people, published.caveats()
            households = bool(table.units["household"])
            if people is None and not households:
                matched = _matched(roles, form, beside, units)
                if matched is not None:
                    classes, found = matched, caveats(matched)
                    people, households = matched.released_people, bool(units["household"])
            elif not table.units["person"] and original is not None:
                check_people(beside.file, units["person"], table.links.columns)
            _check(wanted, published, classes)
            reached = profile(classes, published.sensitive)
            data = figures(published.records, classes, published, reached, found)
            data["people"], data["households"] = people, households
            if wanted is not None:
                checked = _judged(wanted, published, classes, roles, form, beside)
                data["check"] = checked.to_dict()
    return data


def _matched(roles: Roles, form: Form, beside: Beside, units: dict[str, Any]) -> Classes | None:
    """Return the classes with the people of the original; None if there are none to count."""
    if beside.original is None or not (units["person"] or units["household"]):
        if roles.person:
            refuse_unknown_person(beside.file, roles.person)
        return None
    release = beside.release(roles, form, None)
    if release.run.notes:
        raise InputError(unclear_people(beside.file))
    if any(spec.get("role") == "insensitive" for spec in roles.columns.values()):
        note(
            "people are matched with the original, so people whom only insensitive columns single "
            "out are not counted"
        )
    classes = release.classes
    shown = tuple(c for c in classes.table.columns if c.role is not Role.INSENSITIVE)
    return replace(classes, table=replace(classes.table, columns=shown))


def _check(wanted: Model | None, published: Published, classes: Classes) -> None:
    """Raise an error for a model that does not apply to the file."""
    if wanted is None:
        return
    for name in wanted.columns:
        if name not in published.sensitive:
            raise InputError(f"{wanted}: column {name!r} is not sensitive; name it in --sensitive")
    wanted.check(published.stand_in() if classes is published.classes else classes.table)


def _judged(
    wanted: Model,
    published: Published,
    classes: Classes,
    roles: Roles,
    form: Form,
    beside: Beside,
) -> Verification:
    """Check the model on the classes, or on rows if it is about more than classes."""
    from shoal.release.verification import judge
    from shoal.table.classes import Classes

    # models over the rows of a person need the rows themselves, grouped by person
    if any(part.over_rows for part in wanted.parts) and classes is published.classes:
        if published.original is not None and wanted.columns:
            raise InputError(
                f"{wanted} is compared with an original only in memory; check its models one by one"
            )
        return judge(Classes.by_quasi(published.rows_of_people(wanted.columns)), wanted)
    decided = (part.by_class or part.by_release or part.holds(classes).all()
               for part in wanted.parts)  # fmt: skip
    if all(decided):
        return judge(classes, wanted)
    if beside.original is None:
        raise InputError(
            f"{wanted} compares the release with the original; name the original with --original"
        )
    return beside.release(roles, form, wanted).verify()
