"""`shoal compare`: compare the releases of many methods and models."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.padding import Padding

from shoal.cli.shared.console import announce_compilation_of, bars, emit, grid, note, out, share
from shoal.cli.shared.options import (
    File,
    Force,
    Hierarchies,
    Json,
    check_outputs,
    names,
    seed_option,
)
from shoal.cli.shared.scaling import method_options
from shoal.cli.shared.tables import EveryRole, Form, grouped, load
from shoal.errors import InputError
from shoal.support.wording import counted, people_in_rows

if TYPE_CHECKING:
    from shoal.comparison import Comparison

_NEXT_OPTION = re.compile(r",(?=\s*[\w-]+\s*=)")  # a list's commas are not followed by a name


K = Annotated[str, typer.Option("-k", metavar="N,N,…", help="Values of k to try: 3,5,10.")]
Models = Annotated[
    list[str] | None,
    typer.Option(
        metavar="MODEL",
        help="A model to try, joined with each k: 'l-diversity(3, disease)'. Repeatable.",
    ),
]
Methods = Annotated[
    list[str] | None,
    typer.Option(
        metavar="NAME[:OPTION=VALUE,…]",
        help="A method to try: flash:max_suppression=0.05. Repeatable. "
        "Default: mondrian, greedy, sorted, datafly, flash.",
    ),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(metavar="NAME", help="A metric to compute; the first is the loss. Repeatable."),
]
Utility = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Report how much worse models predict this column."),
]
Risk = Annotated[
    bool,
    typer.Option(
        "--risk", help="Also estimate how many people an attacker who knows everyone would find."
    ),
]
Seed = Annotated[int, seed_option("The random seed, for randomized methods.")]
Processes = Annotated[
    int | None, typer.Option(metavar="N", help="Number of parallel runs. Default: one per core.")
]
TimeLimit = Annotated[
    float | None, typer.Option(metavar="SECONDS", help="Stop a run that takes longer.")
]
Folder = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER", help="Store finished runs here, so that the same command can resume."
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", metavar="FILE", help="Write the table of runs: .csv, .tsv or .parquet."
    ),
]
Picture = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Draw loss against risk: .html (interactive), .png or .svg."),
]


@grouped
def compare(
    *,
    file: File,
    k: K = "",
    model: Models = None,
    method: Methods = None,
    metric: Metrics = None,
    utility: Utility = None,
    risk: Risk = False,
    roles: EveryRole,
    hierarchy: Hierarchies = None,
    seed: Seed = 0,
    processes: Processes = None,
    time_limit: TimeLimit = None,
    folder: Folder = None,
    output: Output = None,
    picture: Picture = None,
    force: Force = False,
    form: Form,
    json: Json = False,
) -> None:
    """Run every method with every model on FILE, and compare the loss and the risk of the releases.

    Runs are parallel, each in its own process; a run that fails does not stop the others. No
    release is written: make the one you choose with `shoal anonymize`.

    The exit status is 1 if no run produces a release.
    """
    from shoal.comparison import METHODS_BY_DEFAULT
    from shoal.comparison import compare as run
    from shoal.support.files import check_readable

    check_readable(file)
    check_outputs(output, picture, force=force)
    methods = [_method(text) for text in method] if method else list(METHODS_BY_DEFAULT)
    sizes = _sizes(k)
    with bars():
        table = load(file, roles, hierarchy, form, otherwise={utility: "insensitive"})
        check_outputs(output, picture, force=force)  # now that all inputs are known
        if not json:
            announce_compilation_of(
                [each if isinstance(each, str) else each[0] for each in methods]
            )
        try:
            found = run(
                table,
                models=model or [],
                k=sizes,
                methods=methods,
                seed=seed,
                metrics=metric,
                utility=utility,
                risk=risk,
                processes=processes,
                folder=folder,
                time_limit=time_limit,
            )
        except KeyboardInterrupt:
            if folder is not None:
                note(f"finished runs are stored in {folder}; run the same command to resume")
            raise
    loss = metric[0] if metric else None
    if output is not None:
        found.write(output, force=force)
    if picture is not None and found.done:
        found.picture(picture, loss=loss, force=force)
    front = found.front(loss) if found.done else []
    original = {
        "records": table.records,
        "people": table.people,
        "households": None if table.household is None else table.household.count,
    }
    data = {
        "original": original,
        "runs": list(found.rows),
        "front": [found.rows.index(row) for row in front],
    }

    def show() -> None:
        _show_original(original, table.person_columns)
        _show(found, front, loss)
        if output is not None:
            out.print(f"\nwritten to {output}", soft_wrap=True)
        if picture is not None and found.done:
            out.print(f"picture written to {picture}", soft_wrap=True)

    emit(json, data, show)
    if not found.done:
        raise typer.Exit(1)


def _sizes(text: str) -> list[int]:
    try:
        return [int(part) for part in names(text)]
    except ValueError:
        raise InputError("-k must be whole numbers separated by commas, such as 3,5,10") from None


def _method(text: str) -> tuple[str, dict[str, Any]]:
    """Read `name` or `name:option=value,option=value`."""
    name, _, stated = text.partition(":")
    return name.strip(), method_options(_NEXT_OPTION.split(stated) if stated.strip() else [])


def _show_original(original: dict[str, Any], person_columns: tuple[str, ...]) -> None:
    counts = people_in_rows(original["people"], original["records"])
    if original["households"] is not None:
        counts += f", {counted(original['households'], 'household')}"
    named = f" ({', '.join(person_columns)})" if person_columns else ""
    out.print(f"original: {counts}{named}\n", soft_wrap=True)


def _show(found: Comparison, front: list[dict[str, Any]], loss: str | None) -> None:
    from shoal.metrics import METRICS

    lost = loss or found.ranking_loss or ""
    apart = len({(row["model"], row["k"]) for row in found}) > len({row["k"] for row in found})
    # by identity, because two runs may have equal figures
    best = [id(row) for row in front]
    if found.done:
        learned = [name for name in found.measures if name in ("expected risk", "utility loss")]
        several = any(row["people"] != row["records"] for row in found.done)
        labelled = any(row["hierarchies"] != "none" for row in found.done)
        head = ["", "method", "model" if apart else "k", *(["hierarchies"] if labelled else [])]
        head += ["risk", "loss", *learned, "smallest", *(["people"] if several else [])]
        rows = grid(*head, "suppressed", "time")
        for row in sorted(found.done, key=lambda row: (row["highest risk"], row[lost] or 0.0)):
            rows.add_row(
                "*" if id(row) in best else "",
                _name(row),
                row["model"] if apart else str(row["k"] or ""),
                *([row["hierarchies"]] if labelled else []),
                share(row["highest risk"]),
                *("" if row[name] is None else share(row[name]) for name in (lost, *learned)),
                f"{row['smallest class']:,}",
                *([f"{row['released people']:,}"] if several else []),
                f"{row['suppressed']:,}",
                f"{row['search seconds'] + row['verify seconds']:.2f} s",
            )
        out.print(rows)
        if lost in METRICS:
            out.print(f"\nloss: {lost}, {METRICS[lost].meaning}; 0 = no loss, 1 = everything lost")
        out.print("smallest: people in the smallest class")
        if several:
            out.print("people: people with a released row; suppressed: rows")
        out.print(
            "* on the Pareto front: no other release has less loss without more risk, or less "
            "risk without more loss"
        )
    failures = [row for row in found if row["status"] != "done"]
    if failures:
        out.print(f"\n{len(failures)} of {counted(len(found), 'run')} produced no release")
    for row in failures:
        out.print(f"  {_name(row)}, {row['model']}: {row['status']}", soft_wrap=True)
        out.print(Padding(row["reason"], (0, 0, 0, 4)))


def _name(row: dict[str, Any]) -> str:
    options = ", ".join(f"{name}={value}" for name, value in row["options"].items())
    return f"{row['method']}:{options}" if options else str(row["method"])
