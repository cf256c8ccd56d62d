"""`shoal risk records`, `shoal risk columns`: who stands out, and by what."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import about, bars, emit, grid, number, out, share
from shoal.cli.options import File, Hierarchies, Json, Person, names
from shoal.cli.risk_assess import add_household
from shoal.cli.risk_link import arrow_of, published_of, table_of
from shoal.cli.sources import Form, Roles, as_written, grouped, told_apart
from shoal.core.wording import counted
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.table import Table

Fraction = Annotated[
    float | None,
    typer.Option(metavar="X", help="The share of the population that FILE is, above 0 up to 1."),
]


@grouped
def records(
    *,
    file: File,
    roles: Roles,
    population: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A table that holds everybody.")
    ] = None,
    sampling_fraction: Fraction = None,
    threshold: Annotated[
        float, typer.Option(metavar="X", help="The risk that no person should exceed.")
    ] = 0.2,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Tell the risk of each record of FILE, released or raw, to three kinds of attacker.

    Rows are alike that show the same text in the quasi-identifiers. With --population the cells
    are read beside a table of everybody; with --sampling-fraction it is estimated how many people
    outside FILE are like its records.

    With --person, a column of FILE, the risk is that of a person: the highest over her rows. With
    --household the command also shows how likely a household is found.
    """
    from shoal.risk import population_uniqueness, record_risk
    from shoal.risk.k_map import count_people

    known = _quasi(roles)
    stated = {**roles.known.file, **form.stated}
    found = None
    with bars():
        own = as_written(file, stated)
        data = arrow_of(file, own, known)
        table = _as_text(told_apart(data, file, own, known), known, file, _units(roles, data, file))
        if population is not None:
            everybody = arrow_of(population, as_written(population, stated), [], known)
            with about(population):
                for name in known:
                    if name not in everybody.column_names:
                        raise InputError(f"has no column {name!r}")
            person = _present(names(roles.person) or roles.known.person, everybody)
            people = table_of(everybody, roles.known, known, hierarchy, population, person)
            with about(file):
                published = published_of(data, people, known)
                found = count_people(published, people, person=table.person)
        risk = record_risk(
            table, population=found, sampling_fraction=sampling_fraction, threshold=threshold
        )
        told: dict[str, Any] = {"file": str(file), "quasi": known, **risk.to_dict()}
        if found is not None:
            told["k_map"] = found.to_dict()
        unique = population_uniqueness(table, sampling_fraction or 1.0)
        told["uniqueness"] = unique.to_dict()
    emit(json, told, lambda: _show_records(told, threshold))


@grouped
def columns(
    *,
    file: File,
    among: Annotated[
        str, typer.Option(metavar="COLUMNS", help="Columns to combine: a,b,c. Default: all.")
    ] = "",
    most: Annotated[int, typer.Option(metavar="N", help="Columns in a set, at most.")] = 3,
    distinction: Annotated[
        float, typer.Option(metavar="X", help="Distinct rows / rows that make a near-key.")
    ] = 0.9,
    show: Annotated[int, typer.Option(metavar="N", help="Sets to list.")] = 12,
    person: Person = "",
    form: Form,
    json: Json = False,
) -> None:
    """Find the sets of columns of FILE that tell people apart.

    Distinction is the share of rows left if equal ones were merged, separation the share of pairs
    of rows that differ. A set that holds a near-key is not listed: it is one, too.

    With --person, distinction is the average over people of 1 / people who share the values of one
    of her rows, the row that tells most, and separation is about pairs of rows of different people.
    """
    from shoal.reading.checks import check_dates
    from shoal.risk import identifying_columns

    with bars():
        identifying = names(person)
        data = arrow_of(file, form.stated, identifying, [*names(among), *identifying])
        with about(file):
            check_dates(data, form.dates)
        chosen = names(among) or [n for n in _plain(data) if n not in identifying]
        with about(file):
            table = _encoded(data, chosen, identifying)
        found = identifying_columns(table, chosen, most=most, distinction=distinction)
    told = {"file": str(file), **found.to_dict(show)}
    emit(json, told, lambda: _show_columns(told))


def _quasi(roles: Roles) -> list[str]:
    roles.check()
    found = [name for name, spec in roles.columns.items() if spec.get("role") == "quasi"]
    if not found:
        raise InputError("name with --quasi the columns that others know")
    return found


def _units(roles: Roles, data: Any, file: Path) -> dict[str, Any]:
    """Return the columns of the file that identify people and households.

    Those that the schema names may be missing, as a release has none of them.
    """
    found: dict[str, Any] = {}
    for what in ("person", "household"):
        asked = names(getattr(roles, what))
        lacking = [name for name in asked if name not in data.column_names]
        if lacking:
            raise InputError(
                f"{file}: has no column {lacking[0]!r} that identifies a {what}; `shoal risk "
                "assess` reads a release beside its original, which has it"
            )
        known = () if what == "person" and roles.rows_are_people else getattr(roles.known, what)
        found[what] = tuple(asked) or _present(known, data)
    return found


def _present(columns: Sequence[str], data: Any) -> tuple[str, ...]:
    """Return the columns if the data has them all, and else none."""
    return tuple(columns) if set(columns) <= set(data.column_names) else ()


def _as_text(data: Any, known: list[str], file: Path, units: dict[str, Any]) -> Table:
    from shoal.core.table import Table

    with about(file):
        roles = {name: {"role": "quasi", "kind": "nominal"} for name in known}
        return Table.from_arrow(data, roles, **units)


def _plain(data: Any) -> list[str]:
    """Return the columns whose values can be compared."""
    import pyarrow as pa

    return [field.name for field in data.schema if not pa.types.is_nested(field.type)]


def _encoded(data: Any, chosen: list[str], person: list[str]) -> Table:
    from shoal.core.table import Table

    roles = {name: {"role": "quasi", "kind": "nominal"} for name in chosen}
    return Table.from_arrow(data, roles, person=person)


def _who(people: int, records: int, name: str) -> str:
    rows = counted(records, name)
    return rows if people == records else f"{counted(people, 'person', 'people')} in {rows}"


def _show_records(data: dict[str, Any], threshold: float) -> None:
    out.print(
        f"{_who(data['people'], data['records'], 'record')}; {data['basis']}\n", soft_wrap=True
    )
    rows = grid("attacker", "highest risk", "average", f"above {number(threshold)}", "who")
    for each in data["attackers"]:
        above = f"{each['at_risk']:,} ({share(each['share_at_risk'])})"
        told = (share(each["highest"]), share(each["average"]), above, each["knows"])
        rows.add_row(each["attacker"], *told)
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
            f"\n{people} that fits fewer people of the population than of FILE: the population is "
            "not complete, and the people of FILE were counted instead",
            soft_wrap=True,
        )
    show_uniqueness(data["uniqueness"])


def show_uniqueness(found: dict[str, Any]) -> None:
    """Print how many people are alone in the sample, and in the population if it is larger."""
    people = counted(found["sample_uniques"], "person", "people")
    alone = f"{people} ({share(found['sample_share'])})"
    out.print(f"\nalone with their values: {alone}")
    if found["sampling_fraction"] == 1:
        return
    between = f"95 % between {found['low']:,.0f} and {found['high']:,.0f}"
    if math.isnan(found["low"]):
        between = "without an interval, as too few refits had a fit"
    out.print(
        f"alone in a population of about {found['population']:,.0f}: {found['uniques']:,.0f} "
        f"people ({share(found['share'])}), {between}, by {found['model']}",
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
    out.print(f"{who}; sets of columns by how far they tell them apart\n")
    show_sets(data["sets"])
    if data["sampled"] < data["rows"]:
        out.print(f"\nsets with ~ were looked at in {data['sampled']:,} rows only")
    if data["keys"]:
        out.print(f"\nnear-keys, of a distinction of {number(data['wanted'])} or more:")
        show_sets(data["keys"])


def show_sets(found: list[dict[str, Any]]) -> None:
    """Print sets of columns with their figures."""
    rows = grid("columns", "distinction", "separation", "alone")
    for each in found:
        mark = "" if each["counted"] else "~"
        told = (f"{mark}{share(each[name])}" for name in ("distinction", "separation", "alone"))
        rows.add_row(", ".join(each["columns"]), *told)
    out.print(rows)
