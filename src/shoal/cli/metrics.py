"""`shoal metrics`: the information loss of a released file, made by any tool.

If the file is not a generalization of the original, only the distributions are compared.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.shared.console import (
    announce_compilation,
    bars,
    emit,
    grid,
    note,
    number,
    out,
    share,
)
from shoal.cli.shared.options import Hierarchies, Json, Key
from shoal.cli.shared.pairs import Original, Released, load_pair
from shoal.cli.shared.scaling import Scale
from shoal.cli.shared.tables import EveryRole, Form, Roles, arrow_of, grouped, load, of_release
from shoal.errors import InputError, NotCovering
from shoal.release.provenance import Tally, released_of
from shoal.support.wording import counted

if TYPE_CHECKING:
    from shoal.comparison.distributions import Distributions
    from shoal.release.release import Release


_BETTER = {"low": "lower", "high": "higher"}
_PEOPLE = ("released_people", "suppressed_people", "smallest_class", "average_class_people")


@grouped
def metrics(
    *,
    original: Original,
    released: Released,
    metric: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="A metric to compute. Repeatable. Default: all."),
    ] = None,
    raw: Annotated[
        bool, typer.Option("--raw", help="Show values on the scales of the original papers.")
    ] = False,
    by_attribute: Annotated[
        bool, typer.Option("--by-attribute", help="Also show the loss of each column, 0 to 1.")
    ] = False,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The target column, for classification metrics."),
    ] = None,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            metavar="N",
            help="The requested k; average-class-size divides people per class by it.",
        ),
    ] = None,
    key: Key = None,
    roles: EveryRole,
    hierarchy: Hierarchies = None,
    scale: Scale,
    form: Form,
    json: Json = False,
) -> None:
    """Measure the information loss between ORIGINAL and RELEASED.

    If RELEASED is not a generalization of ORIGINAL, such as a file with noise, swapped values or
    synthetic rows, only distributions are compared.

    Published cells may be values, ranges such as [20, 30[ or 20-30, periods, sets, masks such as
    284**, and labels of hierarchies. Each released row must cover its original.

    Rows are matched by position or by --key. Original rows without a released row count as
    suppressed.

    Files that need more than --memory are matched and counted on disk; they may also be folders or
    patterns. Metrics that need more than the counts that fit in memory are listed as not defined.
    """
    from shoal.privacy import KAnonymity

    claim = None if k is None else KAnonymity(k)
    otherwise: dict[str | None, str] = {target: "insensitive"}
    with bars():
        try:
            release = load_pair(
                original,
                released,
                roles,
                hierarchy,
                form,
                key=key,
                otherwise=otherwise,
                claim=claim,
                scale=scale,
            )
        except NotCovering as error:
            if metric or raw or by_attribute or target or scale.engine or scale.memory:
                raise
            show_distributions(original, released, roles, hierarchy, form, error, json=json)
            return
        with announce_compilation(quiet=json):
            data = _measure(release, metric, target, raw=raw, by_attribute=by_attribute)
    emit(json, data, lambda: _show_losses(data))


def _measure(
    release: Release,
    names: list[str] | None,
    target: str | None,
    *,
    raw: bool,
    by_attribute: bool,
) -> dict[str, Any]:
    from shoal.metrics import METRICS, evaluate, undefined
    from shoal.release.released_files import MATCHED

    values = evaluate(release, names, raw=raw, target=target)
    table = release.original
    data: dict[str, Any] = {
        **Tally.of(release.classes).to_dict(),
        "quasi": list(table.quasi),
        "raw": raw,
        "metrics": values,
        "undefined": {} if names else undefined(release, target=target),
    }
    if table.unit is not None and MATCHED in release.run.notes:
        data |= dict.fromkeys(_PEOPLE)  # who is in which class is not certain
    if table.weights is not None:
        certain = MATCHED not in release.run.notes
        data["population"] = _for_population(release, list(values)) if certain else None
    if by_attribute:
        found = {name: METRICS[name].by_attribute for name in values}
        data["by_attribute"] = {name: count(release) for name, count in found.items() if count}
    return data


def _for_population(release: Release, names: list[str]) -> dict[str, Any]:
    """Return losses and errors of estimates, each row counted with its sampling weight."""
    from shoal.metrics import METRICS, estimate_errors, population_losses

    chosen = [name for name in names if METRICS[name].by_record is not None]
    return {
        "losses": population_losses(release, chosen),
        "estimate_errors": estimate_errors(release),
    }


def _show_losses(data: dict[str, Any]) -> None:
    from shoal.metrics import METRICS

    _show_counts(data)
    if data["raw"]:
        rows = grid("metric", "value", "scale", "better")
    else:
        rows = grid("0 = no loss, 1 = all lost", "loss", "what it measures")
    rows.columns[0].no_wrap = True
    for name, value in data["metrics"].items():
        metric = METRICS[name]
        if data["raw"]:
            rows.add_row(name, number(value), metric.raw_range, _BETTER[metric.raw_best])
        else:
            rows.add_row(name, share(value), metric.meaning)
    out.print(rows)
    if "population" in data:
        _show_population(data["population"])
    if "by_attribute" in data:
        _show_by_attribute(data)
    if data["undefined"]:
        out.print()
        reasons = grid("not defined here", "reason")
        reasons.columns[0].no_wrap = True
        for name, reason in data["undefined"].items():
            reasons.add_row(name, reason)
        out.print(reasons)


def _show_population(figures: dict[str, Any] | None) -> None:
    out.print()
    if figures is None:
        out.print("population: not measured, since some rows match several originals; use --key")
        return
    losses = grid("for the population, by sampling weights", "loss")
    for name, value in figures["losses"].items():
        losses.add_row(name, share(value))
    out.print(losses)
    out.print()
    errors = grid("share of the population put on a wrong value", "error")
    for name, value in figures["estimate_errors"].items():
        errors.add_row(name, share(value))
    out.print(errors)


def _show_counts(data: dict[str, Any]) -> None:
    several = data["people"] != data["records"] and data["smallest_class"] is not None
    out.print(
        f"released: {released_of(data)}, in {counted(data['classes'], 'class')}", soft_wrap=True
    )
    if several and data["suppressed"]:
        out.print(
            f"suppressed: {counted(data['suppressed'], 'row')}; "
            f"{counted(data['suppressed_people'], 'person', 'people')} lost all their rows"
        )
    if several and data["classes"]:
        unit = "people" if data["households"] is None else "people, as many households"
        out.print(
            f"classes: at least {data['smallest_class']:,} {unit} and "
            f"{counted(data['smallest_class_rows'], 'row')}; on average "
            f"{data['average_class_people']:,.1f} people and {data['average_class_rows']:,.1f} rows"
        )
    if data["households"] is not None:
        out.print(f"households: {data['households']:,} in the original")
    out.print()


def _show_by_attribute(data: dict[str, Any]) -> None:
    out.print()
    columns = grid("loss of", *data["quasi"])
    columns.columns[0].no_wrap = True
    for name, losses in data["by_attribute"].items():
        columns.add_row(name, *(share(losses[column]) for column in data["quasi"]))
    out.print(columns)


_MOST_CELLS = 0.5  # share of a column


def show_distributions(
    original: Path,
    released: Path,
    roles: Roles,
    hierarchy: Hierarchies,
    form: Form,
    reason: InputError,
    *,
    json: bool,
) -> None:
    """Compare distributions, and state why the metrics of a generalization are not defined.

    Parameters:
        reason: Why the release does not cover the original; raised if most cells of a column
            cannot be read, so that they are labels rather than other values.
    """
    from shoal.comparison.distributions import compare_distributions

    table = load(original, roles, hierarchy, form, quiet=True)
    columns = [*table.quasi, *table.sensitive]
    stated = of_release(released, {**roles.known.file, **form.stated})
    found = compare_distributions(table, arrow_of(released, stated, columns))
    # labels without a hierarchy look like other values, so the first error says what is wrong
    if max(found.unread.values()) > _MOST_CELLS:
        raise reason
    note(f"metrics of generalized cells are not defined: {reason}")
    data: dict[str, Any] = {"truthful": False, "reason": str(reason), **found.to_dict()}
    emit(json, data, lambda: _show_distributions(found))


def _show_distributions(found: Distributions) -> None:
    rows = grid(
        "column", "Hellinger distance of its distribution: 0 = equal, 1 = nothing in common"
    )
    for name, distance in found.hellinger.items():
        rows.add_row(name, number(distance))
    out.print(rows)
    if found.correlations:
        out.print()
        pairs = grid("correlation of", "original", "released")
        for (one, other), (before, after) in found.correlations.items():
            pairs.add_row(f"{one}, {other}", number(before), number(after))
        out.print(pairs)
