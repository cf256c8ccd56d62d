"""`shoal risk suda`: which records are unique on few columns."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli.risk.link import arrow_of
from shoal.cli.risk.record import Fraction, as_text, quasi_of, units_of, weight_of
from shoal.cli.shared.console import announce_compilation, bars, emit, grid, number, out, share
from shoal.cli.shared.options import File, Json
from shoal.cli.shared.scaling import refuse_large
from shoal.cli.shared.sources import Form, Roles, as_written, grouped, with_missing_as_text
from shoal.support.wording import counted


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
