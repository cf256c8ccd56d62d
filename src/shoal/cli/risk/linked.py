"""`shoal risk linked`: what an attacker with some linked rows of a person finds."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from shoal.cli.risk.link import arrow_of
from shoal.cli.shared.console import about, bars, emit, grid, out, verdict
from shoal.cli.shared.options import File, Json, names
from shoal.cli.shared.scaling import refuse_large
from shoal.cli.shared.sources import Form, as_written, grouped
from shoal.support.wording import count_of, counted


@grouped
def linked(
    *,
    file: File,
    person: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="The columns that link the rows of a person: a pseudonym."
        ),
    ],
    known: Annotated[
        str,
        typer.Option(
            metavar="COLUMNS", help="What an attacker knows of a row. Default: all other columns."
        ),
    ] = "",
    events: Annotated[
        int, typer.Option(metavar="M", help="How many rows of a person the attacker knows.")
    ] = 2,
    k: Annotated[
        int, typer.Option("-k", metavar="N", help="How many people each combination should fit.")
    ] = 5,
    form: Form,
    json: Json = False,
) -> None:
    """Check k^m-anonymity: whether any M rows of a person in FILE fit at least k people.

    The rows of a person are those with the same value in the --person column. A person fits if she
    has each known row at least as often: two equal known rows need two. The count is exact.

    The exit status is 1 if some combination fits fewer than k people.
    """
    from shoal.risk import linked_events

    linking = names(person)
    with bars():
        refuse_large(file)
        data = arrow_of(file, as_written(file, form.stated), linking)
        with about(file):
            found = linked_events(data, linking, names(known), events=events, k=k)
    emit(json, found.to_dict(), lambda: _show(found))
    if not found.holds:
        raise typer.Exit(1)


def _show(found: Any) -> None:
    name = f"k^m-anonymity(k={found.k}, m={found.events})"
    outcome = "holds" if found.holds else "does not hold"
    out.print(verdict(name, found.holds, outcome, []), soft_wrap=True)
    out.print()
    rows = grid("", "")
    rows.add_row("people", f"{found.people:,}")
    rows.add_row("fewest who fit", counted(found.fewest, "person", "people"))
    rows.add_row(f"fit fewer than {found.k}", count_of(found.below, found.people))
    rows.add_row("fit nobody else", count_of(found.alone, found.people))
    out.print(rows)
