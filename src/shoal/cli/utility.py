"""`shoal utility`: what can still be learned from a released file, from Shoal or not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.console import bars, emit, grid, notes, number, out
from shoal.cli.options import Hierarchies, Json, Key, names
from shoal.cli.sources import EveryRole, Form, grouped, load

Original = Annotated[
    Path, typer.Argument(metavar="ORIGINAL", help="The table as it was: CSV, Parquet, JSON.")
]
Released = Annotated[
    Path, typer.Argument(metavar="RELEASED", help="What was published of it, by any tool.")
]
Target = Annotated[str, typer.Option(metavar="COLUMN", help="What models are to predict.")]
Test = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Raw rows of other people to test on. Default: cross-validation."
    ),
]
Models = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Of logistic-regression (ridge, for numbers), random-forest, k-nearest-neighbours, "
        "gradient-boosting: a,b. Default: all.",
    ),
]
Features = Annotated[
    str,
    typer.Option(metavar="NAME", help="What a cell is to a model: flags, weights, midpoints."),
]
Folds = Annotated[int, typer.Option(metavar="N", help="Of the cross-validation.")]
Task = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="classification or regression. Default: by the target's values."
    ),
]
Also = Annotated[
    str, typer.Option(metavar="COLUMNS", help="Unchanged columns to learn from too: a,b.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="For folds and models.")]


@grouped
def utility(
    *,
    original: Original,
    released: Released,
    target: Target,
    test: Test = None,
    models: Models = "",
    features: Features = "flags",
    folds: Folds = 5,
    task: Task = None,
    also: Also = "",
    seed: Seed = 0,
    key: Key = None,
    roles: EveryRole,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Train models on RELEASED, test them on raw rows, and compare with models of ORIGINAL.

    Cells are read back as for `shoal metrics`. Without --test, models learn from the released rows
    of all folds but one and are tested on the raw rows of that one, those of people whose records
    were suppressed among them.

    Rows go by position, or by --key: originals without a released row count as suppressed.
    """
    from shoal.core.files import check_readable
    from shoal.reading import UnassignedColumns
    from shoal.reading import released as read_released
    from shoal.utility import evaluate

    for file in (original, released, *([] if test is None else [test])):
        check_readable(file)
    otherwise: dict[str | None, str] = {key: "identifier"}
    otherwise |= dict.fromkeys([target, *names(also)], "insensitive")
    with bars():
        table = load(original, roles, hierarchy, form, otherwise=otherwise, quiet=True)
        others = None
        if test is not None:
            otherwise.pop(key)  # people of another table need none
            others = load(test, roles, hierarchy, form, otherwise=otherwise, quiet=True)
        with notes(unless=UnassignedColumns):
            stated = {"missing": roles.known.file.get("missing"), **form.stated}
            release = read_released(released, table, key=key, **stated)
        options: dict[str, Any] = {"models": names(models) or None, "encoding": features}
        options |= {"folds": folds, "seed": seed, "task": task, "also": names(also)}
        found = evaluate(release, target, others, **options)
    data = found.to_dict()
    emit(json, data, lambda: _show(data))


def _show(data: dict[str, Any]) -> None:
    how = "a test table" if data["folds"] is None else f"{data['folds']} folds"
    out.print(
        f"{data['target']}: learned from {data['trained']:,} released records, "
        f"tested on {data['tested']:,} raw ones, {how}\n"
    )
    rows = grid("model", "score", "released", "95 % interval", "raw", "majority", "kept")
    rows.columns[0].no_wrap = True
    for each in data["scores"]:
        interval = "" if each["low"] is None else f"{_told(each['low'])} – {_told(each['high'])}"
        shown = (_told(each[name]) for name in ("raw", "majority", "kept"))
        rows.add_row(each["model"], each["score"], _told(each["value"]), interval, *shown)
    out.print(rows)
    blank = "; – where they teach nothing" if any(e["kept"] is None for e in data["scores"]) else ""
    out.print(f"\nkept: of what raw records teach beyond the majority, 1 = all, 0 = nothing{blank}")


def _told(value: float | None) -> str:
    return "–" if value is None else number(round(value, 4))
