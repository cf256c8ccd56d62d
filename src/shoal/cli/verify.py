"""`shoal verify`: whether any file keeps a guarantee, and how anonymous it is."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shoal.cli.console import about, emit, grid, notes, number, out, verdict
from shoal.cli.options import File, Hierarchies, Json, K, Key, wanted_model
from shoal.cli.sources import Form, Roles, as_written, grouped, load, of_release, told_apart
from shoal.core.wording import counted
from shoal.errors import InputError

if TYPE_CHECKING:
    from shoal.core.classes import Classes
    from shoal.core.table import Table
    from shoal.core.verification import Verification
    from shoal.privacy.model import Model
    from shoal.reading import Schema

_MEANING = {
    "k": "people in the smallest class; more is better",
    "l": "fewest values in a class; more is better",
    "entropy-l": "fewest, rare ones counting less; more is better",
    "t": "distance from the whole table; less is better",
    "alpha": "largest share of one value; less is better",
    "delta": "largest log change of a share; less is better",
    "beta": "largest relative gain of a share; less is better",
}


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
    roles: Roles,
    original: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The original table; t, delta and beta compare with it. Default: FILE itself.",
        ),
    ] = None,
    key: Key = None,
    hierarchy: Hierarchies = None,
    form: Form,
    json: Json = False,
) -> None:
    """Tell whether FILE, from Shoal or not, keeps a model, and what k, l, t it has.

    Models of who may be whom, such as 'freeform-anonymity(5)', need --original: the cells of FILE
    are read back, with labels of hierarchies if these are known, and its rows go by position or
    by --key.

    The exit status is 1 if the model is not kept.
    """
    from shoal.anonymize import check_askable
    from shoal.core.classes import Classes
    from shoal.core.files import check_readable
    from shoal.privacy import profile

    check_readable(file)
    wanted = wanted_model(k, model) if k is not None or model else None
    known = _known(roles)
    source = None
    if original is not None:
        told = Form(**as_written(original, form.stated))
        source = load(original, roles, hierarchy, told, otherwise={key: "identifier"}, quiet=True)
    stated = as_written(file, {**known.file, **form.stated})
    published = _published(file, known, source, stated)
    check_askable(published, wanted)
    classes = Classes.by_quasi(published, origin=source)
    reached = profile(classes, published.sensitive)
    data: dict[str, Any] = {
        "records": published.records,
        "classes": len(classes),
        "quasi": list(published.quasi),
        "sensitive": list(published.sensitive),
        "reached": reached,
    }
    if wanted is not None:
        data["check"] = _check(wanted, classes, file, source, key, stated).to_dict()
    emit(json, data, lambda: _show(data))
    if wanted is not None and not data["check"]["holds"]:
        raise typer.Exit(1)


def _check(
    wanted: Model,
    classes: Classes,
    file: Path,
    original: Table | None,
    key: str | None,
    stated: dict[str, Any],
) -> Verification:
    """Ask the classes, and where they do not settle who may be whom, the file beside its original.

    Such a model holds if all classes are large enough.
    """
    from shoal.core.verification import judge
    from shoal.reading import released

    if all(part.by_class or bool(part.holds(classes).all()) for part in wanted.parts):
        return judge(classes, wanted)
    if original is None:
        raise InputError(f"{wanted} is about who may be whom; name the original with --original")
    with notes():
        told = of_release(file, stated)
        return released(file, original, key=key, model=wanted, **told).verify()


def _published(file: Path, known: Schema, original: Table | None, stated: dict[str, Any]) -> Table:
    """Read a file with its quasi-identifiers as bare text: equal cells are alike, no more."""
    from shoal.core.table import Table
    from shoal.core.verification import published_table
    from shoal.reading import Format, read_arrow

    quasi = [name for name, spec in known.columns.items() if spec["role"] == "quasi"]
    with notes():
        data = read_arrow(file, Format(**stated), quasi)
        data = told_apart(data, file, stated, quasi)
    with about(file):
        table = Table.from_arrow(data, known.columns)
        return table if original is None else published_table(data, original)


def _known(roles: Roles) -> Schema:
    """Return the roles that matter here; how quasi-identifiers were once read does not."""
    from shoal.reading import Schema

    roles.check()
    kept = {}
    for name, spec in roles.columns.items():
        if spec.get("role") == "quasi":
            kept[name] = {"role": "quasi", "kind": "nominal"}
        elif spec.get("role") == "sensitive":
            kept[name] = spec
    return Schema(kept, roles.known.file)


def _show(data: dict[str, Any]) -> None:
    check = data.get("check")
    if check:
        told = "holds" if check["holds"] else "does not hold"
        out.print(verdict(check["model"], check["holds"], told), soft_wrap=True)
        if not check["holds"]:
            out.print(
                f"  {check['failing']:,} of {counted(check['classes'], 'class')} break it "
                f"({counted(check['failing_records'], 'record')})"
            )
        out.print()
    out.print(f"{counted(data['records'], 'record')} in {counted(data['classes'], 'class')}\n")
    rows = grid("reached", "", "what it means")
    for name, value in data["reached"].items():
        lacking = " (∞: some class lacks a value)" if math.isinf(value) else ""
        rows.add_row(name, number(value), _MEANING[name.partition("(")[0]] + lacking)
    out.print(rows)
