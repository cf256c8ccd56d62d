"""`shoal utility`: how well models trained on a released file predict, made by any tool."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shoal.cli.shared.console import bars, emit, grid, number, out
from shoal.cli.shared.options import Hierarchies, Json, Key, names, seed_option
from shoal.cli.shared.pairs import Original, Released, load_pair
from shoal.cli.shared.tables import EveryRole, Form, grouped, load
from shoal.support.wording import counted, rows_about

Target = Annotated[str, typer.Option(metavar="COLUMN", help="The column that models predict.")]
Test = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Original rows of other people to test on. Default: cross-validation."
    ),
]
Models = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Some of logistic-regression (ridge for numbers), random-forest, "
        "k-nearest-neighbours, gradient-boosting: a,b. Default: all.",
    ),
]
Features = Annotated[
    str,
    typer.Option(metavar="NAME", help="The encoding of cells: flags, weights or midpoints."),
]
Folds = Annotated[int, typer.Option(metavar="N", help="Number of cross-validation folds.")]
Task = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="classification or regression. Default: by the target's values."
    ),
]
Also = Annotated[
    str, typer.Option(metavar="COLUMNS", help="Unchanged columns to use as further features: a,b.")
]
Seed = Annotated[int, seed_option("The random seed of folds and models.")]


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
    """Train models on RELEASED, test them on original rows, and compare with models of ORIGINAL.

    Cells are read as in `shoal metrics`. Without --test, the command cross-validates: models are
    trained on the released rows of all folds except one, and tested on the original rows of that
    fold, including rows that were suppressed. With --person, all rows of a person are in the same
    fold, and rows of the test file about people of ORIGINAL are left out.

    Rows are matched by position or by --key. Original rows without a released row count as
    suppressed.
    """
    from shoal.support.files import check_readable
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
    design = "a test table" if data["folds"] is None else f"{data['folds']} folds"
    out.print(
        f"{data['target']}: trained on "
        f"{rows_about(data['trained'], data['trained_people'], 'released')}, tested on "
        f"{rows_about(data['tested'], data['tested_people'], 'raw')}, {design}\n",
        soft_wrap=True,
    )
    if data["left_out"]:
        out.print(
            f"left out of the test table: {counted(data['left_out'], 'row')} about people in "
            "ORIGINAL\n",
            soft_wrap=True,
        )
    rows = grid("model", "score", "released", "95 % interval", "raw", "majority", "kept")
    rows.columns[0].no_wrap = True
    for each in data["scores"]:
        low, high = _figure(each["low"]), _figure(each["high"])
        interval = "" if each["low"] is None else f"{low} – {high}"
        shown = (_figure(each["raw"]), _figure(each["majority"]), _kept(each))
        rows.add_row(each["model"], each["score"], _figure(each["value"]), interval, *shown)
    out.print(rows)
    out.print(
        "\nkept: the improvement over the majority baseline with released rows, as a share of the "
        "improvement with raw rows"
    )
    kept = {_kept(each) for each in data["scores"]}
    if "none" in kept:
        out.print("none: models of released rows are no better than the baseline")
    if "–" in kept:
        out.print("–: models of raw rows barely beat the baseline, so the share is not meaningful")


def _kept(score: dict[str, Any]) -> str:
    """Return the share kept: "–" if it is not meaningful, "none" if it is not positive."""
    if not score["meaningful"]:
        return "–"
    return "none" if score["kept"] <= 0 else _figure(score["kept"])


def _figure(value: float | None) -> str:
    return "–" if value is None else number(round(value, 4))
