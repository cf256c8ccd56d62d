"""The risk of records: `shoal risk records`, `shoal risk columns` and `shoal risk suda`.

All three read one file, released or original, as text: rows are equal if their cells look equal.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.risk.assess import add_household
from shoal.cli.shared.console import (
    about,
    announce_compilation,
    bars,
    emit,
    grid,
    notes,
    number,
    out,
    share,
)
from shoal.cli.shared.options import File, Hierarchies, Json, Person, names
from shoal.cli.shared.scaling import Scale, check_source, refuse_large
from shoal.cli.shared.tables import (
    Form,
    Roles,
    arrow_of,
    as_written,
    grouped,
    published_of,
    read_population,
    with_missing_as_text,
)
from shoal.errors import InputError
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.rows.choice import Choice
    from shoal.rows.store import Source
    from shoal.table.table import Table


Fraction = Annotated[
    float | None,
    typer.Option(metavar="X", help="The share of the population in FILE, above 0 up to 1."),
]


@grouped
def records(
    *,
    file: File,
    roles: Roles,
    population: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table of the whole population.")
    ] = None,
    sampling_fraction: Fraction = None,
    threshold: Annotated[
        float, typer.Option(metavar="X", help="The risk that no person should exceed.")
    ] = 0.2,
    hierarchy: Hierarchies = None,
    scale: Scale,
    form: Form,
    json: Json = False,
) -> None:
    """Report the re-identification risk of FILE, released or original, for three kinds of attacker.

    Rows are equal if their quasi-identifiers have the same text. With --population, the cells are
    compared with a table of the whole population; with --sampling-fraction, the command estimates
    how many people outside FILE match its records.

    With --person, a column of FILE, the risk of a person is the highest risk of their rows. With
    --household, the command also reports the risk of households.

    With --weight, a column of FILE that states how many people a row stands for, the command also
    reports the individual risk after Benedetti and Franconi, and how many people are expected to be
    found.

    A FILE that needs more than --memory is grouped on disk, without --population and --weight; it
    may also be a folder or a pattern.
    """
    from shoal.risk import individual_risk, population_uniqueness, record_risk
    from shoal.risk.individual_risk import count_people

    results: dict[str, Any]
    known = quasi_of(roles)
    stated = {**roles.known.file, **form.stated}
    found = None
    check_source(file)
    needs = {"--population": population, "--weight": roles.weight, "--hierarchy": hierarchy}
    choice = scale.choose(file, roles, None, needs)
    if choice.on_disk:
        source = choice.source(file, scale.master)
        results = {"file": str(file), "quasi": known}
        results |= _on_disk(source, known, roles, stated, choice, sampling_fraction, threshold)
        emit(json, results, lambda: _show_records(results, threshold))
        return
    with bars():
        own = as_written(file, stated)
        data = arrow_of(file, own, known)
        texts = with_missing_as_text(data, file, own, known)
        units, weight = units_of(roles, data.column_names, file), weight_of(roles, data, file)
        table = as_text(texts, known, file, units, weight)
        if population is not None:
            people = read_population(population, known, roles, hierarchy, form)
            with about(file):
                published = published_of(data, people, known)
                found = count_people(published, people, person=table.person)
        risk = record_risk(
            table, population=found, sampling_fraction=sampling_fraction, threshold=threshold
        )
        results = {"file": str(file), "quasi": known, **risk.to_dict()}
        if found is not None:
            results["k_map"] = found.to_dict()
        if table.weights is not None:
            results["individual"] = individual_risk(table, threshold=threshold).to_dict()
        unique = population_uniqueness(table, sampling_fraction or 1.0)
        results["uniqueness"] = unique.to_dict()
    emit(json, results, lambda: _show_records(results, threshold))


def _on_disk(
    source: Source,
    known: list[str],
    roles: Roles,
    stated: dict[str, Any],
    choice: Choice,
    sampling_fraction: float | None,
    threshold: float,
) -> dict[str, Any]:
    """Return the risk of a file whose rows stay on disk."""
    from shoal.checking import published_on_disk
    from shoal.files.formats import Format
    from shoal.risk import population_uniqueness, record_risk
    from shoal.rows.file_sources import copied
    from shoal.table.roles import UnassignedColumns

    with bars(), notes(unless=UnassignedColumns), copied(source) as files:
        with files.scan(Format(**stated), set()) as scan:
            units = {**units_of(roles, scan.names, source.name), "rows_are_people": True}
        specs = {name: {"role": "quasi", "kind": "nominal"} for name in known}
        published = published_on_disk(files, specs, stated, units, choice.budget)
        try:
            # only the sizes of classes are in memory: record risk depends on nothing else
            sizes = published.class_sizes()
        finally:
            published.table.close()
        found = record_risk(sizes, sampling_fraction=sampling_fraction, threshold=threshold)
        unique = population_uniqueness(sizes, sampling_fraction or 1.0)
    return {**found.to_dict(), "uniqueness": unique.to_dict()}


@grouped
def columns(
    *,
    file: File,
    among: Annotated[
        str, typer.Option(metavar="COLUMNS", help="Columns to combine: a,b,c. Default: all.")
    ] = "",
    most: Annotated[int, typer.Option(metavar="N", help="Maximum number of columns in a set.")] = 3,
    distinction: Annotated[
        float, typer.Option(metavar="X", help="Smallest distinction of a near-key.")
    ] = 0.9,
    show: Annotated[int, typer.Option(metavar="N", help="Number of sets to list.")] = 12,
    person: Person = "",
    form: Form,
    json: Json = False,
) -> None:
    """Find the sets of columns of FILE that distinguish people.

    Distinction is the number of distinct rows divided by the number of rows; separation is the
    share of pairs of rows that differ. A set that contains a near-key is also a near-key, and is
    not listed.

    With --person, distinction is the average over people of 1 / (people who share the values of the
    person's rarest row), and separation counts pairs of rows of different people.
    """
    from shoal.files.requests import check_dates
    from shoal.risk import identifying_columns

    with bars():
        identifying = names(person)
        refuse_large(file)
        data = arrow_of(file, form.stated, identifying, [*names(among), *identifying])
        with about(file):
            check_dates(data, form.dates)
        chosen = names(among) or [n for n in _plain(data) if n not in identifying]
        with about(file):
            table = _encoded(data, chosen, identifying)
        found = identifying_columns(table, chosen, most=most, distinction=distinction)
    results = {"file": str(file), **found.to_dict(show)}
    emit(json, results, lambda: _show_columns(results))


def quasi_of(roles: Roles) -> list[str]:
    """Return the quasi-identifiers that schema or options name; none is an error."""
    roles.check()
    found = [name for name, spec in roles.columns.items() if spec.get("role") == "quasi"]
    if not found:
        raise InputError("no quasi-identifier is given; name columns that others know with --quasi")
    return found


def units_of(roles: Roles, present: Sequence[str], file: Path) -> dict[str, Any]:
    """Return the columns of a file, which has some columns, that identify people and households.

    Columns that the schema names may be missing, because a release does not have them.
    """
    found: dict[str, Any] = {}
    for what in ("person", "household"):
        asked = names(getattr(roles, what))
        lacking = [name for name in asked if name not in present]
        if lacking:
            raise InputError(
                f"{file}: has no column {lacking[0]!r} that identifies a {what}; use `shoal risk "
                "assess`, which reads a release with its original"
            )
        known = () if what == "person" and roles.rows_are_people else getattr(roles.known, what)
        found[what] = tuple(asked) or _present(known, present)
    return found


def weight_of(roles: Roles, data: Any, file: Path) -> str | None:
    """Return the column of the file that has the sampling weight.

    One that the schema names may be missing, because a release does not have it.
    """
    asked = names(roles.weight)
    if asked and asked[0] not in data.column_names:
        raise InputError(f"{file}: has no column {asked[0]!r} with the sampling weight")
    found = [name for name, spec in roles.columns.items() if spec.get("role") == "weight"]
    if len(found) > 1:
        raise InputError(f"{', '.join(found)} have the role weight; name one column")
    return found[0] if found and found[0] in data.column_names else None


def _present(columns: Sequence[str], present: Sequence[str]) -> tuple[str, ...]:
    """Return the columns if all of them are present, or else none."""
    return tuple(columns) if set(columns) <= set(present) else ()


def as_text(
    data: Any, known: list[str], file: Path, units: dict[str, Any], weight: str | None = None
) -> Table:
    """Return a file as a table whose quasi-identifiers are text, with its people and weights."""
    from shoal.table.table import Table

    with about(file):
        roles: dict[str, Any] = {name: {"role": "quasi", "kind": "nominal"} for name in known}
        if weight is not None:
            roles[weight] = "weight"
        return Table.from_arrow(data, roles, **units)


def _plain(data: Any) -> list[str]:
    """Return the columns whose values can be compared."""
    import pyarrow as pa

    return [field.name for field in data.schema if not pa.types.is_nested(field.type)]


def _encoded(data: Any, chosen: list[str], person: list[str]) -> Table:
    from shoal.table.table import Table

    roles = {name: {"role": "quasi", "kind": "nominal"} for name in chosen}
    return Table.from_arrow(data, roles, person=person)


def _who(people: int, records: int, name: str) -> str:
    rows = counted(records, name)
    return rows if people == records else f"{counted(people, 'person', 'people')} in {rows}"


def _show_records(data: dict[str, Any], threshold: float) -> None:
    out.print(
        f"{_who(data['people'], data['records'], 'record')}; {data['basis']}\n", soft_wrap=True
    )
    rows = grid("attacker", "highest risk", "average", f"above {number(threshold)}", "knowledge")
    for each in data["attackers"]:
        above = f"{each['at_risk']:,} ({share(each['share_at_risk'])})"
        figures = (share(each["highest"]), share(each["average"]), above)
        rows.add_row(each["attacker"], *figures, each["knows"])
    marketer = data["marketer"]
    rows.add_row("marketer", "", share(marketer["average"]), "", marketer["knows"])
    out.print(rows)
    if data["household"] is not None:
        out.print()
        households = grid("", "")
        add_household(households, data["household"])
        out.print(households)
    if data["short"]:
        people = counted(data["short"], "person has a record", "people have a record")
        out.print(
            f"\n{people} that matches fewer people of the population than of FILE: the population "
            "table is incomplete, and the people of FILE were counted instead",
            soft_wrap=True,
        )
    if "individual" in data:
        _show_individual(data["individual"])
    show_uniqueness(data["uniqueness"])


def _show_individual(found: dict[str, Any]) -> None:
    """Print the risk that follows from the sampling weights."""
    out.print(
        "\nindividual risk by sampling weights (Benedetti and Franconi), for a population of "
        f"about {found['represented']:,.0f}:",
        soft_wrap=True,
    )
    rows = grid("", "")
    rows.add_row("expected re-identifications", number(found["expected"]))
    rows.add_row("average risk", share(found["average"]))
    rows.add_row("highest risk", share(found["highest"]))
    above = f"{found['at_risk']:,} ({share(found['share_at_risk'])})"
    rows.add_row(f"people above {number(found['threshold'])}", above)
    if found["household"] is not None:
        add_household(rows, found["household"])
    out.print(rows)


def show_uniqueness(found: dict[str, Any]) -> None:
    """Print how many people are unique in the sample, and in the population if it is larger."""
    people = counted(found["sample_uniques"], "person", "people")
    unique = f"{people} ({share(found['sample_share'])})"
    out.print(f"\nunique in the file: {unique}")
    if found["sampling_fraction"] == 1:
        return
    interval = f"95 % confidence interval {found['low']:,.0f} to {found['high']:,.0f}"
    if math.isnan(found["low"]):
        interval = "without an interval, because too few refits succeeded"
    out.print(
        f"unique in a population of about {found['population']:,.0f}: {found['uniques']:,.0f} "
        f"people ({share(found['share'])}), {interval}, by {found['model']}",
        soft_wrap=True,
    )
    others = ", ".join(
        f"{name} {'no fit' if value is None else format(value, ',.0f')}"
        for name, value in found["estimates"].items()
    )
    out.print(f"  all models: {others}")
    out.print(f"  {found['limits']}", soft_wrap=True)


def _show_columns(data: dict[str, Any]) -> None:
    who = _who(data["people"], data["rows"], "row")
    out.print(f"{who}; sets of columns by how well they distinguish them\n")
    show_sets(data["sets"])
    if data["sampled"] < data["rows"]:
        out.print(f"\n~: measured on a sample of {data['sampled']:,} rows")
    if data["keys"]:
        out.print(f"\nnear-keys, with a distinction of {number(data['wanted'])} or more:")
        show_sets(data["keys"])


def show_sets(found: list[dict[str, Any]]) -> None:
    """Print sets of columns with their figures."""
    rows = grid("columns", "distinction", "separation", "unique")
    for each in found:
        mark = "" if each["counted"] else "~"
        figures = (f"{mark}{share(each[name])}" for name in ("distinction", "separation", "alone"))
        rows.add_row(", ".join(each["columns"]), *figures)
    out.print(rows)


@grouped
def suda(
    *,
    file: File,
    roles: Roles,
    most: Annotated[
        int | None,
        typer.Option(metavar="N", help="Maximum number of columns in a set. Default: all."),
    ] = None,
    sampling_fraction: Fraction = None,
    form: Form,
    json: Json = False,
) -> None:
    """Score the records of FILE, released or original, by how few columns single them out (SUDA2).

    A minimal sample unique is a set of columns on which a record is unique, although it is not
    unique on any part of the set. The fewer columns it has, the more it adds to the score of the
    record. Columns that contribute most are the ones to generalize first.

    With --sampling-fraction or --weight, the command also reports DIS-SUDA scores: estimates of the
    probability that a match with a record is correct.

    With --person, a set singles out a person if no other person has the values of one of their
    rows.
    """
    from shoal.risk import suda as score

    known = quasi_of(roles)
    stated = {**roles.known.file, **form.stated}
    with bars():
        own = as_written(file, stated)
        refuse_large(file)
        data = arrow_of(file, own, known)
        units, weight = units_of(roles, data.column_names, file), weight_of(roles, data, file)
        texts = with_missing_as_text(data, file, own, known)
        table = as_text(texts, known, file, units, weight)
        with announce_compilation(quiet=json):
            found = score(table, most=most, sampling_fraction=sampling_fraction)
    results = {"file": str(file), "records": table.records, **found.to_dict()}
    emit(json, results, lambda: _show(results))


def _show(data: dict[str, Any]) -> None:
    people = counted(data["people"], "person", "people")
    out.print(
        f"{people}; {data['at_risk']:,} have a minimal sample unique of up to "
        f"{counted(data['most'], 'column')}; highest score {number(data['highest'])}\n",
        soft_wrap=True,
    )
    rows = grid("columns in the set", "minimal sample uniques")
    for size, count in enumerate(data["by_size"], start=1):
        rows.add_row(f"{size}", f"{count:,}")
    out.print(rows)
    out.print("\nshare of the total score from sets with the column; sets overlap:")
    rows = grid("column", "share")
    for name, part in sorted(data["by_column"].items(), key=lambda each: -each[1]):
        rows.add_row(name, share(part))
    out.print(rows)
    if data["dis"] is None:
        out.print("\nfor DIS-SUDA, state --sampling-fraction or --weight")
        return
    out.print(
        f"\nDIS-SUDA, sampling fraction {share(data['sampling_fraction'])}: a match with a unique "
        f"record is correct with probability {share(data['dis'])}; by record, at most "
        f"{share(data['dis_highest'])}",
        soft_wrap=True,
    )
    rows = grid("DIS-SUDA score", "people")
    for part in data["dis_intervals"]:
        rows.add_row(f"above {part['above']:g}, up to {part['to']:g}", f"{part['people']:,}")
    out.print(rows)
