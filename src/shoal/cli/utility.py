"""`shoal utility`: what can still be learned from a released file, from Shoal or not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.console import bars, emit, grid, number, out
from shoal.cli.options import Hierarchies, Json, Key, names, seed_option
from shoal.cli.pairs import Original, Released, load_pair
from shoal.cli.sources import EveryRole, Form, grouped, load
from shoal.core.wording import counted, rows_about

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
Seed = Annotated[int, seed_option("For folds and models.")]


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
    were suppressed among them. With --person all rows of a person are in one fold, and rows of the
    test file about people of ORIGINAL are left out.

    Rows go by position, or by --key: originals without a released row count as suppressed.
    """
    from shoal.core.files import check_readable
    from shoal.utility import evaluate

    if test is not None:
        check_readable(test)
    otherwise: dict[str | None, str] = dict.fromkeys([target, *names(also)], "insensitive")
    with bars():
        release = load_pair(
            original, released, roles, hierarchy, form, key=key, otherwise=otherwise
        )
        others = None
        if test is not None:
            others = load(test, roles, hierarchy, form, otherwise=otherwise, quiet=True)
        options: dict[str, Any] = {"models": names(models) or None, "encoding": features}
        options |= {"folds": folds, "seed": seed, "task": task, "also": names(also)}
        found = evaluate(release, target, others, **options)
    data = found.to_dict()
    emit(json, data, lambda: _show(data))


def _show(data: dict[str, Any]) -> None:
    how = "a test table" if data["folds"] is None else f"{data['folds']} folds"
    out.print(
        f"{data['target']}: trained on "
        f"{rows_about(data['trained'], data['trained_people'], 'released')}, tested on "
        f"{rows_about(data['tested'], data['tested_people'], 'raw')}, {how}\n",
        soft_wrap=True,
    )
    if data["left_out"]:
        out.print(
            f"left out of the test table: {counted(data['left_out'], 'row')} about people who are "
            "in ORIGINAL\n",
            soft_wrap=True,
        )
    rows = grid("model", "score", "released", "95 % interval", "raw", "majority", "kept")
    rows.columns[0].no_wrap = True
    for each in data["scores"]:
        interval = "" if each["low"] is None else f"{_told(each['low'])} – {_told(each['high'])}"
        shown = (_told(each["raw"]), _told(each["majority"]), _kept(each))
        rows.add_row(each["model"], each["score"], _told(each["value"]), interval, *shown)
    out.print(rows)
    out.print("\nkept: of what raw records teach beyond the majority, 1 = all, 0 = nothing")
    told = {_kept(each) for each in data["scores"]}
    if "none" in told:
        out.print("none: the release teaches nothing, or misleads")
    if "–" in told:
        out.print("–: raw records themselves teach too little to tell")


def _kept(score: dict[str, Any]) -> str:
    """Return what is kept, where it says something: far below 0 is nothing, too."""
    if not score["telling"]:
        return "–"
    return "none" if score["kept"] <= 0 else _told(score["kept"])


def _told(value: float | None) -> str:
    return "–" if value is None else number(round(value, 4))
